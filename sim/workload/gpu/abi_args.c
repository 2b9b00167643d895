/* Arguments: their places in the argument block, the start contents of buffers, and what these should hold afterwards. */
#include "isa/array_count.h"
#include "sim/workload/gpu/abi_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const known_members[] = {
    "name",           "offset_bytes", "size_bytes", "uniform_halfreg", "kind",    "dtype", "count",    "bytes", "initial",
    "initial_sha256", "generator",    "expected",   "expected_sha256", "compare", "value", "bytes_hex"};

static bool read_type(const struct json_node *node, struct abi_arg *arg)
{
    const char *const text = json_find_string(node, "dtype", NULL);
    arg->type = ELEMENT_TYPE_COUNT;
    if (text && (arg->type = element_type_find(text)) == ELEMENT_TYPE_COUNT)
        return json_wrong(node, "dtype", "unknown element type \"%.20s\"; use f32 f16 bf16 f64 u8 i8 u16 i16 u32 i32 u64 i64",
                          text);
    return json_ok(node);
}

/* ---- scalars ---- */

static bool read_bytes_hex(const struct json_node *node, struct abi_arg *arg, bool *given)
{
    const char *const text = json_find_string(node, "bytes_hex", NULL);
    *given = false;
    if (!text)
        return json_ok(node);
    if (strlen(text) != 2 * arg->size || strspn(text, "0123456789abcdefABCDEF") != strlen(text))
        return json_wrong(node, "bytes_hex", "expected %u hexadecimal digits, in memory order", 2 * arg->size);
    for (uint32_t i = 0; i < arg->size; i++) {
        const char two[3] = {text[2 * i], text[2 * i + 1], 0};
        arg->scalar[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    *given = true;
    return true;
}

static bool read_value(const struct json_node *node, struct abi_arg *arg)
{
    uint8_t bytes[8] = {0};
    const double number = json_find_number(node, "value", JSON_ANY, 0);
    json_object *const o = json_member(node, "value").value;
    if (!json_ok(node))
        return false;
    if (!element_write(arg->type, number, bytes))
        return json_wrong(node, "value", "%.17g does not fit %s", number, element_type_name(arg->type));
    if (element_type_bytes(arg->type) == 8 && arg->type != ELEMENT_F64 && json_object_is_type(o, json_type_int)) {
        const uint64_t exact = json_object_get_int64(o) < 0 ? (uint64_t)json_object_get_int64(o) : json_object_get_uint64(o);
        memcpy(bytes, &exact, sizeof exact);
    }
    memcpy(arg->scalar, bytes, sizeof bytes);
    return true;
}

static bool read_scalar(const struct json_node *node, struct abi_arg *arg)
{
    bool given;
    if (arg->type == ELEMENT_TYPE_COUNT)
        return json_wrong(node, "dtype", "is missing; a scalar needs one, such as u32 or f32");
    arg->size = element_type_bytes(arg->type);
    const uint64_t size = json_find_integer(node, "size_bytes", 1, 8, arg->size);
    if (size != arg->size)
        return json_wrong(node, "size_bytes", "%s has %u bytes, not %" PRIu64, element_type_name(arg->type), arg->size, size);
    if (!read_bytes_hex(node, arg, &given))
        return false;
    if (!json_has(node, "value"))
        return given || json_wrong(node, "value", "is missing; a scalar needs value or bytes_hex");
    uint8_t from_hex[8];
    memcpy(from_hex, arg->scalar, sizeof from_hex);
    if (!read_value(node, arg))
        return false;
    if (given && memcmp(from_hex, arg->scalar, arg->size) != 0)
        return json_wrong(node, "bytes_hex", "is not the %s in \"value\"; keep one of the two", element_type_name(arg->type));
    return true;
}

/* ---- buffers ---- */

static bool read_extent(const struct json_node *node, struct abi_arg *arg)
{
    const uint64_t bytes = json_find_integer(node, "bytes", 1, ABI_BUFFERS_MAX, 0);
    arg->count = json_find_integer(node, "count", 1, ABI_BUFFERS_MAX, arg->count);
    if (!json_ok(node))
        return false;
    if (arg->type == ELEMENT_TYPE_COUNT)
        return (!arg->count && !bytes) || json_wrong(node, "dtype", "is missing; count and bytes need an element type");
    const unsigned each = element_type_bytes(arg->type);
    if (bytes && bytes % each)
        return json_wrong(node, "bytes", "is not a multiple of the %u bytes of %s", each, element_type_name(arg->type));
    if (arg->count && bytes && arg->count * each != bytes)
        return json_wrong(node, "bytes", "count says %" PRIu64 " x %u bytes; correct one of them", arg->count, each);
    if (!arg->count)
        arg->count = bytes / each;
    arg->bytes = arg->count * each;
    return true;
}

enum content { CONTENT_NONE, CONTENT_ZEROS, CONTENT_GENERATOR, CONTENT_FILE };

/* Tells whether a text means zeros, a generator, or the name of a file. */
static bool classify(const struct json_node *node, const char *member, const char *text, enum element_type type,
                     enum content *kind, struct abi_generator *generator)
{
    const char *reason;
    *kind = CONTENT_FILE;
    if (strcmp(text, "zeros") == 0)
        *kind = CONTENT_ZEROS;
    else if (type != ELEMENT_TYPE_COUNT && abi_generator_parse(text, type, generator, &reason))
        *kind = CONTENT_GENERATOR;
    else if (strstr(text, " seed") || strstr(text, "*index"))
        return json_wrong(node, type == ELEMENT_TYPE_COUNT ? "dtype" : member, "\"%.60s\": %s", text,
                          type == ELEMENT_TYPE_COUNT ? "generated contents need an element type" : reason);
    return true;
}

static bool read_initial(struct abi_reader *r, const struct json_node *node, struct abi_arg *arg)
{
    const char *const member = json_has(node, "initial") ? "initial" : "generator";
    const char *const text = json_find_string(node, member, NULL);
    enum content kind = CONTENT_ZEROS;
    uint8_t *bytes;
    size_t size;
    if (!json_ok(node) || (text && !classify(node, member, text, arg->type, &kind, &arg->generator)))
        return false;
    arg->start = kind == CONTENT_FILE ? ABI_START_BYTES : kind == CONTENT_GENERATOR ? ABI_START_GENERATED : ABI_START_ZEROS;
    return kind != CONTENT_FILE || (abi_read_file(r, node, member, text, "initial_sha256", &bytes, &size) &&
                                    abi_take_elements(node, member, text, bytes, size, arg, &arg->initial));
}

static bool make_expected(const struct json_node *node, struct abi_arg *arg, enum content kind, const struct abi_generator *g)
{
    arg->expected = calloc(1, arg->bytes);
    if (!arg->expected)
        return json_wrong(node, "expected", "%" PRIu64 " bytes do not fit into memory", arg->bytes);
    if (kind == CONTENT_GENERATOR)
        abi_generator_fill(g, arg->type, arg->count, arg->expected);
    return true;
}

static bool read_expected(struct abi_reader *r, const struct json_node *node, struct abi_arg *arg)
{
    const char *const text = json_find_string(node, "expected", NULL);
    struct abi_generator generator;
    enum content kind;
    uint8_t *bytes;
    size_t size;
    if (!text)
        return abi_read_digest(node, "expected_sha256", arg->digest, &arg->has_digest);
    arg->unchanged = strcmp(text, "unchanged") == 0;
    if (arg->unchanged)
        return true;
    if (!classify(node, "expected", text, arg->type, &kind, &generator))
        return false;
    if (kind != CONTENT_FILE)
        return make_expected(node, arg, kind, &generator);
    return abi_read_file(r, node, "expected", text, "expected_sha256", &bytes, &size) &&
           abi_take_elements(node, "expected", text, bytes, size, arg, &arg->expected);
}

static bool read_compare(const struct json_node *node, struct abi_arg *arg)
{
    static const char *const modes[] = {"bits", "float_eq", "tol"};
    const struct json_node rule = json_find_object(node, "compare");
    if (!rule.value)
        return json_ok(node);
    json_require(&rule, "mode", "say bits, float_eq or tol");
    arg->compare.mode = (enum abi_compare_mode)json_get_word(&rule, "mode", modes, ARRAY_COUNT(modes));
    arg->compare.rtol = json_find_number(&rule, "rtol", JSON_ANY, arg->compare.rtol);
    arg->compare.atol = json_find_number(&rule, "atol", JSON_ANY, arg->compare.atol);
    if (!(arg->compare.rtol >= 0 && arg->compare.atol >= 0))
        json_wrong(&rule, NULL, "rtol and atol must not be negative");
    return json_ok(node);
}

static bool read_buffer(struct abi_reader *r, const struct json_node *node, struct abi_arg *arg)
{
    const uint64_t size = json_find_integer(node, "size_bytes", 1, 64, 8);
    arg->size = 8;
    if (size != 8)
        return json_wrong(node, "size_bytes", "a buffer is passed as its 64-bit address: 8 bytes");
    if (!read_extent(node, arg) || !read_initial(r, node, arg))
        return false;
    if (arg->type == ELEMENT_TYPE_COUNT || !arg->count)
        return json_wrong(node, arg->count ? "dtype" : "count", "is missing; a buffer needs its element type and count");
    return read_compare(node, arg) && read_expected(r, node, arg);
}

/* ---- layout ---- */

static bool read_offset(const struct json_node *node, struct abi_arg *arg, const struct agx_argument *assembled, uint32_t *next)
{
    const uint32_t align = arg->size < 2 ? 2 : arg->size;
    const bool has_half = json_has(node, "uniform_halfreg"), has_offset = json_has(node, "offset_bytes");
    arg->offset = assembled ? assembled->offset_bytes : (*next + align - 1) / align * align;
    const uint64_t half = json_find_integer(node, "uniform_halfreg", 0, 511, arg->offset / 2);
    arg->offset = (uint32_t)json_find_integer(node, "offset_bytes", 0, 1022, arg->offset);
    if (!json_ok(node))
        return false;
    if (has_half && !has_offset)
        arg->offset = (uint32_t)half * 2;
    if (has_half && half != arg->offset / 2)
        return json_wrong(node, "uniform_halfreg", "is not half of offset_bytes %u; keep one of the two", arg->offset);
    if (arg->offset % 2)
        return json_wrong(node, "offset_bytes", "must be even: uniforms are half-words");
    if (arg->offset + arg->size > 1024)
        return json_wrong(node, "offset_bytes", "the argument ends beyond the 1024 bytes of the uniform file");
    if (*next < arg->offset + arg->size)
        *next = arg->offset + arg->size;
    return true;
}

static bool read_arg(struct abi_reader *r, const struct json_node *node, struct abi_arg *arg, unsigned number, uint32_t *next)
{
    json_no_misspelling(node, known_members, ARRAY_COUNT(known_members));
    const char *const name = json_find_string(node, "name", NULL), *const kind = json_find_string(node, "kind", NULL);
    if (!read_type(node, arg))
        return false;
    if (name && (!name[0] || strlen(name) >= sizeof arg->name || strchr(name, '/')))
        return json_wrong(node, "name", "expected 1 to 47 letters without /");
    if (name)
        snprintf(arg->name, sizeof arg->name, "%s", name);
    else
        snprintf(arg->name, sizeof arg->name, "arg%u", number);
    if (kind && strcmp(kind, "buffer") != 0 && strcmp(kind, "scalar") != 0)
        return json_wrong(node, "kind", "\"%.20s\" is neither buffer nor scalar", kind);
    arg->buffer = kind ? kind[0] == 'b' : !json_has(node, "value") && !json_has(node, "bytes_hex");
    const struct agx_argument *assembled = abi_assembled_arg(r, arg->name);
    if (assembled && !arg->buffer && arg->type == ELEMENT_TYPE_COUNT)
        arg->type = element_type_find(assembled->type);
    if (!(arg->buffer ? read_buffer(r, node, arg) : read_scalar(node, arg)))
        return false;
    if (assembled && assembled->bytes != arg->size)
        return json_wrong(node, NULL, "the assembler text has %s as %s, of %u bytes", arg->name, assembled->type,
                          assembled->bytes);
    return read_offset(node, arg, assembled, next);
}

static bool overlap(const struct abi_kernel *k, unsigned *a, unsigned *b)
{
    for (*a = 0; *a < k->args; ++*a)
        for (*b = 0; *b < *a; ++*b)
            if (k->arg[*a].offset < k->arg[*b].offset + k->arg[*b].size &&
                k->arg[*b].offset < k->arg[*a].offset + k->arg[*a].size)
                return true;
    return false;
}

static bool check_args(const struct abi_reader *r, const struct json_node *top, uint32_t end)
{
    struct abi_kernel *k = r->kernel;
    uint64_t bytes = 0;
    unsigned a, b;
    k->argument_bytes = (end + 1) & ~1u;
    k->argument_bytes = (uint32_t)json_find_integer(top, "argument_block_bytes", 0, 1024, k->argument_bytes);
    if (!json_ok(top))
        return false;
    if (k->argument_bytes < end)
        return json_wrong(top, "argument_block_bytes", "the arguments need %u bytes", end);
    if (overlap(k, &a, &b))
        return json_wrong(top, "args", "%s and %s overlap in the argument block; leave offset_bytes out to have them placed",
                          k->arg[b].name, k->arg[a].name);
    for (a = 0; a < k->args; a++) {
        bytes += k->arg[a].bytes;
        for (b = 0; b < a; b++)
            if (strcmp(k->arg[a].name, k->arg[b].name) == 0)
                return json_wrong(top, "args", "two arguments are named %s", k->arg[a].name);
    }
    if (bytes > ABI_BUFFERS_MAX)
        return json_wrong(top, "args", "the buffers have %" PRIu64 " bytes together; at most 8 GiB can be simulated", bytes);
    if (k->constants_count && 2 * k->constants_first < end)
        return json_wrong(top, "constants", "they overwrite the arguments, which end at half-word %u", end / 2);
    return true;
}

bool abi_read_args(struct abi_reader *r, const struct json_node *top)
{
    struct abi_kernel *k = r->kernel;
    const struct json_node list = json_find_array(top, "args", 0, ABI_ARGS_MAX);
    struct json_node item;
    uint32_t next = 0;
    for (struct json_walk walk = {.of = &list}; json_next(&walk, &item);) {
        struct abi_arg *const arg = &k->arg[k->args++];
        if (!read_arg(r, &item, arg, k->args, &next))
            return false;
    }
    return json_ok(top) && abi_check_assembled_args(r, top) && check_args(r, top, next);
}
