/* The code of a launch: which image, where its programs begin, which constants go into uniforms. */
#include "sim/workload/gpu/abi_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the list of `file` in "targets" names the chip's GPU. */
static bool listed(const struct json_node *targets, const char *file, const char *target)
{
    json_object *const list = json_peek(targets->value, file, json_type_array);
    for (size_t i = 0; list && i < json_object_array_length(list); i++) {
        json_object *const o = json_object_array_get_idx(list, i);
        if (json_object_is_type(o, json_type_string) && strcmp(json_object_get_string(o), target) == 0)
            return true;
    }
    return false;
}

static bool is_text(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && (strcmp(dot, ".s") == 0 || strcmp(dot, ".agx") == 0);
}

/* Reads the image: the variant with coherent atomics where the chip needs it and the description has one. */
static bool read_image(struct abi_reader *r, const struct json_node *top, const struct json_node *files)
{
    struct abi_kernel *k = r->kernel;
    json_require(files, "code", "name the file with the machine code or assembler text");
    const char *const plain = json_get_string(files, "code"), *const coherent = json_find_string(files, "code_g13x", NULL);
    const struct json_node targets = json_find_object(top, "targets");
    if (!json_ok(top))
        return false;
    const bool second = coherent && (r->target->coherent_atomics || listed(&targets, coherent, r->target->name));
    const char *const name = second ? coherent : plain;
    snprintf(k->code_name, sizeof k->code_name, "%s", name);
    if (!abi_read_file(r, files, second ? "code_g13x" : "code", name, NULL, &k->code, &k->code_bytes))
        return false;
    const uint64_t stated = json_find_integer(top, "binary_size", 1, UINT32_MAX, 0);
    uint8_t digest[ABI_DIGEST_BYTES], real[ABI_DIGEST_BYTES];
    bool given;
    const char *member = second ? "code_g13x_sha256" : "code_sha256";
    if (!abi_read_digest(top, member, digest, &given))
        return false;
    abi_sha256(k->code, k->code_bytes, real);
    if (given && memcmp(digest, real, sizeof real) != 0)
        return json_wrong(top, member, "does not match %.100s; restore the file or correct the description", name);
    if (stated && stated != k->code_bytes && !is_text(name))
        return json_wrong(top, "binary_size", "%.100s has %zu bytes; restore the file or correct the description", name,
                          k->code_bytes);
    return !is_text(name) || abi_assemble(r, files);
}

static bool read_place(const struct abi_reader *r, const struct json_node *node, uint32_t *offset)
{
    const struct abi_kernel *k = r->kernel;
    *offset = (uint32_t)json_find_integer(node, "offset", 0, UINT32_MAX, *offset);
    if (*offset % 2 || *offset + 2ull > k->code_bytes)
        json_wrong(node, "offset", "expected an even offset inside the %zu bytes of %s", k->code_bytes, k->code_name);
    return json_ok(node);
}

static bool read_constants(struct abi_reader *r, const struct json_node *top)
{
    struct abi_kernel *k = r->kernel;
    const struct json_node node = json_find_object(top, "constants");
    if (!node.value)
        return json_ok(top);
    k->constants_offset = (uint32_t)json_find_integer(&node, "file_offset", 0, UINT32_MAX, k->constants_offset);
    json_require(&node, "first_uniform_halfreg", "say where the constants go");
    json_require(&node, "count_halfregs", "say how many half-words the constants have");
    k->constants_first = (uint32_t)json_get_integer(&node, "first_uniform_halfreg", 0, 511);
    k->constants_count = (uint32_t)json_get_integer(&node, "count_halfregs", 1, 512);
    if (k->constants_first + k->constants_count > 512)
        json_wrong(&node, "count_halfregs", "%u half-words from %u on do not fit the 512 of the uniform file", k->constants_count,
                   k->constants_first);
    if (k->constants_offset + 2ull * k->constants_count > k->code_bytes)
        json_wrong(&node, "file_offset", "the constants end beyond the %zu bytes of %s", k->code_bytes, k->code_name);
    return json_ok(top);
}

bool abi_read_code(struct abi_reader *r, const struct json_node *top)
{
    struct abi_kernel *k = r->kernel;
    json_require(top, "files", "add \"files\": {\"code\": \"FILE\"}");
    const struct json_node files = json_get_object(top, "files"), main = json_find_object(top, "main"),
                           preamble = json_find_object(top, "preamble");
    if (!json_ok(top) || !read_image(r, top, &files) || !read_place(r, &main, &k->main_offset))
        return false;
    k->has_preamble = k->has_preamble || preamble.value;
    return (!preamble.value || (json_require(&preamble, "offset", "say where the preamble begins") &&
                                read_place(r, &preamble, &k->preamble_offset))) &&
           read_constants(r, top);
}
