/* The code of a launch: which image, where its programs begin, which constants go into uniforms. */
#include "sim/workload/gpu/abi_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the list of `file` in "targets" names the chip's GPU. */
static bool listed(const struct abi_node *targets, const char *file, const char *target)
{
    struct json_object *list = abi_member(targets, file);
    if (!list || !json_object_is_type(list, json_type_array))
        return false;
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        struct json_object *o = json_object_array_get_idx(list, i);
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

/* The variant with coherent atomics where the chip wants it and there is one. */
static bool read_image(struct abi_reader *r, const struct abi_node *top, const struct abi_node *files)
{
    struct abi_kernel *k = r->kernel;
    struct abi_node targets;
    const char *plain = NULL, *coherent = NULL;
    if (!abi_required(files, "code", "name the file with the machine code or assembler text") ||
        !abi_text(files, "code", &plain) || !abi_text(files, "code_g13x", &coherent) || !abi_object(top, "targets", &targets))
        return false;
    const bool second = coherent && (r->target->coherent_atomics || listed(&targets, coherent, r->target->name));
    const char *const name = second ? coherent : plain;
    snprintf(k->code_name, sizeof k->code_name, "%s", name);
    uint64_t stated = 0;
    if (!abi_read_file(r, files, second ? "code_g13x" : "code", name, NULL, &k->code, &k->code_bytes) ||
        !abi_whole(top, "binary_size", 1, UINT32_MAX, &stated))
        return false;
    uint8_t digest[ABI_DIGEST_BYTES], real[ABI_DIGEST_BYTES];
    bool given;
    const char *member = second ? "code_g13x_sha256" : "code_sha256";
    if (!abi_read_digest(top, member, digest, &given))
        return false;
    abi_sha256(k->code, k->code_bytes, real);
    if (given && memcmp(digest, real, sizeof real) != 0)
        return abi_wrong(top, member, "does not match %.100s; restore the file or correct the description", name);
    if (stated && stated != k->code_bytes && !is_text(name))
        return abi_wrong(top, "binary_size", "%.100s has %zu bytes; restore the file or correct the description", name,
                         k->code_bytes);
    return !is_text(name) || abi_assemble(r, files);
}

static bool read_place(const struct abi_reader *r, const struct abi_node *node, uint32_t *offset)
{
    const struct abi_kernel *k = r->kernel;
    if (!abi_whole32(node, "offset", 0, UINT32_MAX, offset))
        return false;
    if (*offset % 2 || *offset + 2ull > k->code_bytes)
        return abi_wrong(node, "offset", "expected an even offset inside the %zu bytes of %s", k->code_bytes, k->code_name);
    return true;
}

static bool read_constants(struct abi_reader *r, const struct abi_node *top)
{
    struct abi_kernel *k = r->kernel;
    struct abi_node node;
    if (!abi_object(top, "constants", &node))
        return false;
    if (!node.object)
        return true;
    if (!abi_whole32(&node, "file_offset", 0, UINT32_MAX, &k->constants_offset) ||
        !abi_required(&node, "first_uniform_halfreg", "say where the constants go") ||
        !abi_required(&node, "count_halfregs", "say how many half-words the constants have") ||
        !abi_whole32(&node, "first_uniform_halfreg", 0, 511, &k->constants_first) ||
        !abi_whole32(&node, "count_halfregs", 1, 512, &k->constants_count))
        return false;
    if (k->constants_first + k->constants_count > 512)
        return abi_wrong(&node, "count_halfregs", "%u half-words from %u on do not fit the 512 of the uniform file",
                         k->constants_count, k->constants_first);
    if (k->constants_offset + 2ull * k->constants_count > k->code_bytes)
        return abi_wrong(&node, "file_offset", "the constants end behind the %zu bytes of %s", k->code_bytes, k->code_name);
    return true;
}

bool abi_read_code(struct abi_reader *r, const struct abi_node *top)
{
    struct abi_kernel *k = r->kernel;
    struct abi_node files, main, preamble;
    if (!abi_required(top, "files", "add \"files\": {\"code\": \"FILE\"}") || !abi_object(top, "files", &files) ||
        !read_image(r, top, &files) || !abi_object(top, "main", &main) || !abi_object(top, "preamble", &preamble) ||
        !read_place(r, &main, &k->main_offset))
        return false;
    k->has_preamble = k->has_preamble || preamble.object;
    return (!preamble.object || (abi_required(&preamble, "offset", "say where the preamble begins") &&
                                 read_place(r, &preamble, &k->preamble_offset))) &&
           read_constants(r, top);
}
