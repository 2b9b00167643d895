#include "sim/workload/cpu/program_args.h"

#include "isa/array_count.h"
#include "isa/float_bits.h"
#include "sim/base/suggest.h"
#include "units/cpu/cpu_random.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char program_args_help[] =
    "Arguments of --args, one for each parameter of the function (AAPCS64: general registers x0.., vector registers\n"
    "v0.., then the stack):\n"
    "  42  -1  0x10            integer or pointer value\n"
    "  3.5f  2.0d              float, double\n"
    "  TYPE:SHAPE[:INIT]       buffer; TYPE f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64, SHAPE 1024 or 64x64x3\n"
    "  buf:BYTES[:INIT]        buffer of bytes; sizes take K, M, G (1024, ...)\n"
    "  in:FILE.npy             the array of a file, read-only\n"
    "  inout:FILE.npy[:OUT.npy]  the array of a file; written to OUT.npy afterwards if that is given\n"
    "  out:TYPE:SHAPE[:FILE.npy]  zeroed buffer; written to FILE.npy afterwards if that is given\n"
    "  str:TEXT                address of a zero-terminated string\n"
    "  threadgroup:BYTES       threadgroup memory, for a pointer to it of a GPU source\n"
    "  NAME=FORM               GPU sources in a row: a buffer with a name; then NAME alone is that buffer again\n"
    "INIT: zero (default), seq (0, 1, 2, ...), rand:SEED (floats in [-1, 1), integers of any value), fill:VALUE.\n"
    "A number for a buffer in constant memory of a GPU source (constant float &f) is a buffer of that number.\n"
    "Every buffer that is not read-only is reported with a checksum (FNV-1a, 64 bits) of its bytes.\n";

static const struct element {
    const char *name;
    enum npy_type type;
    bool bf16;
} elements[] = {
    {"f16", NPY_F16, false}, {"bf16", NPY_U16, true}, {"f32", NPY_F32, false},   {"f64", NPY_F64, false}, {"i8", NPY_I8, false},
    {"i16", NPY_I16, false}, {"i32", NPY_I32, false}, {"i64", NPY_I64, false},   {"u8", NPY_U8, false},   {"u16", NPY_U16, false},
    {"u32", NPY_U32, false}, {"u64", NPY_U64, false}, {"bool", NPY_BOOL, false},
};

const char *program_arg_type_name(const struct program_arg *arg)
{
    for (size_t i = 0; i < ARRAY_COUNT(elements); i++)
        if (elements[i].type == arg->array.type && elements[i].bf16 == arg->bf16)
            return elements[i].name;
    return "?";
}

/* ---- words of the grammar ---- */

/* Copies the text up to the next ':' to `word`; *rest is what follows the colon, NULL at the end. */
static bool next_word(const char **rest, char *word, size_t size)
{
    if (!*rest)
        return false;
    const char *const colon = strchr(*rest, ':');
    const size_t n = colon ? (size_t)(colon - *rest) : strlen(*rest);
    if (n + 1 > size)
        return false;
    memcpy(word, *rest, n);
    word[n] = 0;
    *rest = colon ? colon + 1 : NULL;
    return true;
}

static bool parse_type(const char *word, struct program_arg *arg, struct orch_error *error)
{
    struct suggest s;
    char phrase[96];
    suggest_start(&s, word);
    for (size_t i = 0; i < ARRAY_COUNT(elements); i++) {
        if (strcmp(word, elements[i].name) == 0) {
            arg->array.type = elements[i].type;
            arg->bf16 = elements[i].bf16;
            return true;
        }
        suggest_offer(&s, elements[i].name);
    }
    return orch_fail(error, ORCH_USAGE, "unknown element type '%.60s'%s", word, suggest_phrase(&s, phrase, sizeof phrase));
}

bool program_arg_count(const char *text, char **end, uint64_t *count)
{
    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    *count = strtoull(text, end, 10);
    const unsigned shift = **end == 'K' ? 10 : **end == 'M' ? 20 : **end == 'G' ? 30 : 0;
    *end += shift != 0;
    return errno == 0 && *count <= UINT64_MAX >> shift && (*count <<= shift, true);
}

static bool parse_shape(const char *word, struct program_arg *arg, struct orch_error *error)
{
    struct npy_array *a = &arg->array;
    const char *at = word;
    a->dims = 0;
    for (;;) {
        char *end = NULL;
        if (a->dims == NPY_MAX_DIMS || !program_arg_count(at, &end, &a->shape[a->dims]) || a->shape[a->dims] == 0 ||
            (*end && *end != 'x'))
            return orch_fail(error, ORCH_USAGE, "'%.60s' is not a shape; expected one to 32 sizes like 1024 or 64x64x3", word);
        a->dims++;
        if (*end == 0)
            break;
        at = end + 1;
    }
    return npy_measure(a) ? true : orch_fail(error, ORCH_USAGE, "the shape %.60s is larger than 2^64 bytes", word);
}

static bool parse_init(const char **rest, struct program_arg *arg, struct orch_error *error)
{
    char word[64], *end = NULL;
    if (!*rest)
        return true;
    if (!next_word(rest, word, sizeof word))
        return orch_fail(error, ORCH_USAGE, "the initialisation is too long");
    if (strcmp(word, "zero") == 0) {
        arg->fill = PROGRAM_FILL_ZERO;
    } else if (strcmp(word, "seq") == 0) {
        arg->fill = PROGRAM_FILL_SEQUENCE;
    } else if (strcmp(word, "rand") == 0) {
        arg->fill = PROGRAM_FILL_RANDOM;
        if (!next_word(rest, word, sizeof word) || (arg->seed = strtoull(word, &end, 0), !*word || *end))
            return orch_fail(error, ORCH_USAGE, "rand needs a seed: rand:1");
    } else if (strcmp(word, "fill") == 0) {
        arg->fill = PROGRAM_FILL_VALUE;
        if (!next_word(rest, word, sizeof word) || (arg->value = strtod(word, &end), !*word || *end))
            return orch_fail(error, ORCH_USAGE, "fill needs a number: fill:1.5");
    } else {
        return orch_fail(error, ORCH_USAGE, "unknown initialisation '%.40s'; expected zero, seq, rand:SEED or fill:VALUE", word);
    }
    return *rest ? orch_fail(error, ORCH_USAGE, "'%.60s' is left over", *rest) : true;
}

/* ---- kinds of argument ---- */

static bool parse_typed(const char *word, const char **rest, struct program_arg *arg, struct orch_error *error)
{
    char shape[256];
    if (!parse_type(word, arg, error))
        return false;
    if (!next_word(rest, shape, sizeof shape))
        return orch_fail(error, ORCH_USAGE, "a shape must follow the element type: %.20s:1024", word);
    return parse_shape(shape, arg, error);
}

static bool set_save_path(struct program_arg *arg, const char *path, struct orch_error *error)
{
    if (!path)
        return true;
    if (!*path)
        return orch_fail(error, ORCH_USAGE, "the name of the output file is empty");
    if (arg->bf16)
        return orch_fail(error, ORCH_USAGE, "bf16 has no .npy type: leave the file out, or take u16 for the bits");
    arg->save_path = strdup(path);
    return arg->save_path ? true : orch_no_memory(error);
}

static bool parse_buffer(const char **rest, struct program_arg *arg, struct orch_error *error)
{
    char word[256];
    arg->array.type = NPY_U8;
    if (!next_word(rest, word, sizeof word))
        return orch_fail(error, ORCH_USAGE, "a size in bytes must follow: buf:4096");
    if (isalpha((unsigned char)word[0])) /* buf:f32:1024 means f32:1024 */
        return parse_typed(word, rest, arg, error) && parse_init(rest, arg, error);
    return parse_shape(word, arg, error) && parse_init(rest, arg, error);
}

static bool parse_out(const char **rest, struct program_arg *arg, struct orch_error *error)
{
    char word[64];
    if (!next_word(rest, word, sizeof word))
        return orch_fail(error, ORCH_USAGE, "an element type must follow: out:f32:64x64");
    return parse_typed(word, rest, arg, error) && set_save_path(arg, *rest, error);
}

/* FILE.npy[:OUT.npy]: only a colon after ".npy" separates the names, so that a name may contain other colons. */
static bool parse_file(const char *text, bool with_output, struct program_arg *arg, struct orch_error *error)
{
    const char *const split = with_output ? strstr(text, ".npy:") : NULL;
    const size_t n = split ? (size_t)(split - text) + 4 : strlen(text);
    char *path = strndup(text, n);
    if (!path)
        return orch_no_memory(error);
    const bool ok =
        *path ? npy_load(path, &arg->array, error) : orch_fail(error, ORCH_USAGE, "the name of a .npy file must follow");
    free(path);
    if (ok && arg->array.bytes == 0)
        return orch_fail(error, ORCH_USAGE, "%.200s: the array is empty", text);
    return ok && set_save_path(arg, split ? split + 5 : NULL, error);
}

static bool parse_string(const char *text, struct program_arg *arg, struct orch_error *error)
{
    arg->array.type = NPY_U8;
    arg->array.dims = 1;
    arg->array.shape[0] = strlen(text) + 1;
    arg->text = text;
    arg->read_only = true;
    return npy_measure(&arg->array) ? true : orch_no_memory(error);
}

static bool parse_float(const char *text, struct program_arg *arg, struct orch_error *error)
{
    char *end = NULL;
    const double value = strtod(text, &end);
    if (end == text)
        return orch_fail(error, ORCH_USAGE, "not an argument; `run " ORCH_OPTION("help") "` lists the forms");
    if (strcmp(end, "f") == 0) {
        arg->bits = f32_bits(strtof(text, NULL)); /* rounded once, from the decimal text */
        arg->kind = PROGRAM_ARG_FLOAT;
        return true;
    }
    if (strcmp(end, "d") != 0)
        return orch_fail(error, ORCH_USAGE, "a number that is not an integer needs its type: %.40sf (float) or %.40sd (double)",
                         *end ? "3.5" : text, *end ? "3.5" : text);
    arg->bits = f64_bits(value);
    arg->kind = PROGRAM_ARG_DOUBLE;
    return true;
}

static bool parse_number(const char *text, struct program_arg *arg, struct orch_error *error)
{
    char *end = NULL;
    errno = 0;
    arg->kind = PROGRAM_ARG_INTEGER;
    arg->bits = *text == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    if (end != text && *end == 0)
        return errno ? orch_fail(error, ORCH_USAGE, "the integer does not fit 64 bits") : true;
    return parse_float(text, arg, error);
}

static bool parse_any(const char *text, struct program_arg *arg, struct orch_error *error)
{
    char word[64];
    const char *rest = text;
    if (isdigit((unsigned char)*text) || *text == '-' || *text == '+' || *text == '.')
        return parse_number(text, arg, error);
    arg->kind = PROGRAM_ARG_POINTER;
    if (!strchr(text, ':') || !next_word(&rest, word, sizeof word))
        return orch_fail(error, ORCH_USAGE, "not an argument; expected a number, TYPE:SHAPE, buf:, in:, inout:, out: or str:");
    if (strcmp(word, "buf") == 0)
        return parse_buffer(&rest, arg, error);
    if (strcmp(word, "out") == 0)
        return parse_out(&rest, arg, error);
    if (strcmp(word, "str") == 0)
        return parse_string(rest, arg, error);
    arg->read_only = strcmp(word, "in") == 0;
    if (arg->read_only || strcmp(word, "inout") == 0)
        return parse_file(rest, !arg->read_only, arg, error);
    return parse_typed(word, &rest, arg, error) && parse_init(&rest, arg, error);
}

bool program_arg_parse(const char *text, struct program_arg *arg, struct orch_error *error)
{
    memset(arg, 0, sizeof *arg);
    if (parse_any(text, arg, error))
        return true;
    program_arg_release(arg);
    return orch_fail_in(error, "argument '%.80s'", text);
}

void program_arg_release(struct program_arg *arg)
{
    npy_release(&arg->array);
    free(arg->save_path);
    arg->save_path = NULL;
}

/* ---- contents ---- */

/* Rounds to nearest even into a format of 1 + exponent_bits + fraction_bits = 16 bits (f16: 5, 10; bf16: 8, 7). */
static uint16_t narrow(double x, int exponent_bits, int fraction_bits)
{
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint16_t sign = (uint16_t)(signbit(x) ? 0x8000 : 0), infinity = (uint16_t)(((1 << exponent_bits) - 1) << fraction_bits);
    int exponent = 0;
    if (isnan(x))
        return (uint16_t)(sign | infinity | 1 << (fraction_bits - 1));
    frexp(x, &exponent); /* |x| in [2^(exponent-1), 2^exponent) */
    if (isinf(x) || exponent - 1 > bias)
        return sign | infinity;
    const int lowest = 1 - bias, scale = x == 0 || exponent - 1 < lowest ? lowest : exponent - 1;
    /* In units of the last place of this binade; a carry into the next exponent is the correct rounding. */
    const uint32_t units = (uint32_t)nearbyint(ldexp(fabs(x), fraction_bits - scale));
    return (uint16_t)(sign | (units + ((uint32_t)(scale - lowest) << fraction_bits)));
}

static void store_element(const struct program_arg *arg, uint8_t *at, double real, uint64_t integer)
{
    const float single = (float)real;
    const uint8_t truth = integer & 1;
    uint16_t half;
    switch (arg->array.type) {
    case NPY_F64: memcpy(at, &real, sizeof real); return;
    case NPY_F32: memcpy(at, &single, sizeof single); return;
    case NPY_F16:
        half = narrow(real, 5, 10);
        memcpy(at, &half, sizeof half);
        return;
    case NPY_BOOL: *at = truth; return;
    default: break;
    }
    if (arg->bf16) {
        half = narrow(real, 8, 7);
        memcpy(at, &half, sizeof half);
        return;
    }
    memcpy(at, &integer, npy_type_bytes(arg->array.type)); /* low bytes: little-endian */
}

static uint64_t to_integer(double value)
{
    if (value >= 0)
        return value < 18446744073709551616.0 ? (uint64_t)value : UINT64_MAX;
    return value >= -9223372036854775808.0 ? (uint64_t)(int64_t)value : (uint64_t)INT64_MIN;
}

static void fill_elements(const struct program_arg *arg, uint8_t *host)
{
    const size_t step = npy_type_bytes(arg->array.type);
    const uint64_t constant = isnan(arg->value) ? 0 : to_integer(arg->value);
    uint64_t state = arg->seed;
    if (arg->fill == PROGRAM_FILL_ZERO)
        return;
    for (uint64_t i = 0; i < arg->array.count; i++) {
        if (arg->fill == PROGRAM_FILL_SEQUENCE) {
            store_element(arg, host + i * step, (double)i, i);
        } else if (arg->fill == PROGRAM_FILL_VALUE) {
            store_element(arg, host + i * step, arg->value, constant);
        } else {
            const uint64_t bits = cpu_random(&state);
            store_element(arg, host + i * step, (double)(bits >> 11) * 0x1p-52 - 1.0, bits);
        }
    }
}

void program_arg_fill(const struct program_arg *arg, uint8_t *zeros)
{
    if (arg->text)
        memcpy(zeros, arg->text, arg->array.bytes);
    else if (arg->array.data)
        memcpy(zeros, arg->array.data, arg->array.bytes);
    else
        fill_elements(arg, zeros);
}

bool program_arg_place(struct program_arg *arg, struct mem_space *space, struct orch_error *error)
{
    if (arg->kind != PROGRAM_ARG_POINTER)
        return true;
    arg->bits = mem_space_alloc(space, arg->array.bytes, MEM_LINE_BYTES);
    uint8_t *host = arg->bits ? mem_at(space, arg->bits, arg->array.bytes, MEM_WRITE) : NULL;
    if (!host)
        return orch_fail(error, ORCH_USAGE, "a buffer of %zu bytes does not fit the simulated address space", arg->array.bytes);
    program_arg_fill(arg, host);
    if (arg->read_only && !mem_space_protect(space, arg->bits, arg->array.bytes, MEM_READ))
        return orch_fail(error, ORCH_INTERNAL, "a buffer could not be protected");
    return true;
}
