#include "sim/base/npy.h"

#include "sim/base/file_read.h"
#include "sim/base/output_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "array data are copied as they are");

static const char magic[6] = {(char)0x93, 'N', 'U', 'M', 'P', 'Y'};

enum { VERSION_AT = 6, LENGTH_AT = 8, HEADER_ALIGN = 64, HEADER_LIMIT = 1 << 20 };

static const struct {
    const char *name;
    uint8_t bytes;
} types[NPY_TYPE_COUNT] = {
    [NPY_F16] = {"f2", 2}, [NPY_F32] = {"f4", 4}, [NPY_F64] = {"f8", 8}, [NPY_I8] = {"i1", 1},
    [NPY_I16] = {"i2", 2}, [NPY_I32] = {"i4", 4}, [NPY_I64] = {"i8", 8}, [NPY_U8] = {"u1", 1},
    [NPY_U16] = {"u2", 2}, [NPY_U32] = {"u4", 4}, [NPY_U64] = {"u8", 8}, [NPY_BOOL] = {"b1", 1},
};

size_t npy_type_bytes(enum npy_type type)
{
    return types[type].bytes;
}

const char *npy_type_name(enum npy_type type)
{
    return types[type].name;
}

bool npy_is(const void *bytes, size_t size)
{
    return size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

bool npy_measure(struct npy_array *array)
{
    uint64_t count = 1;
    bool empty = false;
    for (unsigned i = 0; i < array->dims; i++) {
        if (array->shape[i] == 0)
            empty = true;
        else if (__builtin_mul_overflow(count, array->shape[i], &count))
            return false;
    }
    array->count = empty ? 0 : count;
    return !__builtin_mul_overflow(array->count, (uint64_t)npy_type_bytes(array->type), &array->bytes);
}

/* ---- the header: a Python dictionary of three entries ---- */

struct scanner {
    const char *text;
    size_t at, size;
    size_t file_offset; /* of text[0], for error lines */
    struct orch_error *error;
};

static bool expected(const struct scanner *s, const char *what)
{
    return orch_fail(s->error, ORCH_USAGE, "byte %zu of the .npy header: expected %s", s->file_offset + s->at, what);
}

static void skip_blanks(struct scanner *s)
{
    while (s->at < s->size && (s->text[s->at] == ' ' || s->text[s->at] == '\n' || s->text[s->at] == '\t'))
        s->at++;
}

static bool accept(struct scanner *s, char c)
{
    skip_blanks(s);
    if (s->at >= s->size || s->text[s->at] != c)
        return false;
    s->at++;
    return true;
}

static bool accept_word(struct scanner *s, const char *word)
{
    const size_t n = strlen(word);
    skip_blanks(s);
    if (n > s->size - s->at || memcmp(s->text + s->at, word, n) != 0)
        return false;
    s->at += n;
    return true;
}

/* A quoted string without escapes, which is all that the format uses. */
static bool scan_string(struct scanner *s, char *out, size_t size, const char *what)
{
    skip_blanks(s);
    if (s->at >= s->size || (s->text[s->at] != '\'' && s->text[s->at] != '"'))
        return expected(s, what);
    const char quote = s->text[s->at++];
    size_t n = 0;
    while (s->at < s->size && s->text[s->at] != quote && s->text[s->at] >= ' ' && s->text[s->at] <= '~' && n + 1 < size)
        out[n++] = s->text[s->at++];
    out[n] = 0;
    return accept(s, quote) ? true : expected(s, "the end of a short quoted string");
}

static bool scan_number(struct scanner *s, uint64_t *value)
{
    skip_blanks(s);
    const size_t start = s->at;
    *value = 0;
    while (s->at < s->size && s->text[s->at] >= '0' && s->text[s->at] <= '9') {
        const uint64_t digit = (uint64_t)(s->text[s->at++] - '0');
        if (__builtin_mul_overflow(*value, UINT64_C(10), value) || __builtin_add_overflow(*value, digit, value))
            return expected(s, "a dimension below 2^64");
    }
    accept_word(s, "L"); /* Python 2 wrote long integers this way */
    return s->at > start ? true : expected(s, "a dimension");
}

static bool scan_type(struct scanner *s, enum npy_type *type)
{
    char text[32];
    skip_blanks(s);
    if (s->at < s->size && s->text[s->at] == '[')
        return orch_fail(s->error, ORCH_USAGE, "the .npy file holds records; save one plain array");
    if (!scan_string(s, text, sizeof text, "the element type as a string like '<f4'"))
        return false;
    const char order = text[0], *name = text + (order == '<' || order == '|' || order == '=' || order == '>');
    if (strcmp(name, "?") == 0)
        name = "b1";
    for (unsigned i = 0; i < NPY_TYPE_COUNT; i++) {
        if (strcmp(name, types[i].name) != 0)
            continue;
        if (order == '>' && types[i].bytes > 1)
            return orch_fail(s->error, ORCH_USAGE, "the .npy file is big-endian ('%s'); save it with dtype '<%s'", text, name);
        *type = (enum npy_type)i;
        return true;
    }
    if (strcmp(name, "V2") == 0 || strcmp(name, "bfloat16") == 0)
        return orch_fail(s->error, ORCH_USAGE,
                         "element type '%s' of the .npy file: bfloat16 has no .npy type; save it as "
                         "'<f4' or as its bits in '<u2'",
                         text);
    return orch_fail(s->error, ORCH_USAGE,
                     "element type '%s' of the .npy file is not read; expected one of f2 f4 f8 i1 i2 "
                     "i4 i8 u1 u2 u4 u8 b1, little-endian",
                     text);
}

static bool scan_shape(struct scanner *s, struct npy_array *array)
{
    array->dims = 0;
    if (!accept(s, '('))
        return expected(s, "a shape like (3, 4)");
    while (!accept(s, ')')) {
        if (array->dims == NPY_MAX_DIMS)
            return expected(s, "at most 32 dimensions");
        if (!scan_number(s, &array->shape[array->dims++]))
            return false;
        if (!accept(s, ',')) {
            if (array->dims == 1)
                return expected(s, "',' (a shape of one dimension is written (3,))");
            return accept(s, ')') ? true : expected(s, "',' or ')'");
        }
    }
    return true;
}

static bool scan_order(struct scanner *s, bool *fortran_order)
{
    *fortran_order = accept_word(s, "True");
    return *fortran_order || accept_word(s, "False") ? true : expected(s, "True or False");
}

static bool scan_entry(struct scanner *s, struct npy_array *array, unsigned *seen)
{
    enum { DESCR = 1, ORDER = 2, SHAPE = 4 };
    char key[32];
    if (!scan_string(s, key, sizeof key, "a key in quotes"))
        return false;
    if (!accept(s, ':'))
        return expected(s, "KEY: VALUE");
    const unsigned bit = strcmp(key, "descr") == 0           ? DESCR
                         : strcmp(key, "fortran_order") == 0 ? ORDER
                         : strcmp(key, "shape") == 0         ? SHAPE
                                                             : 0;
    if (bit == 0 || (*seen & bit))
        return expected(s, "the keys descr, fortran_order and shape, once each");
    *seen |= bit;
    if (bit == DESCR)
        return scan_type(s, &array->type);
    return bit == ORDER ? scan_order(s, &array->fortran_order) : scan_shape(s, array);
}

static bool scan_header(struct scanner *s, struct npy_array *array)
{
    unsigned seen = 0;
    if (!accept(s, '{'))
        return expected(s, "'{'");
    while (!accept(s, '}')) {
        if (!scan_entry(s, array, &seen))
            return false;
        if (!accept(s, ',')) {
            if (!accept(s, '}'))
                return expected(s, "',' or '}'");
            break;
        }
    }
    skip_blanks(s);
    if (seen != 7)
        return expected(s, "the keys descr, fortran_order and shape, once each");
    return s->at == s->size ? true : expected(s, "the end of the header");
}

bool npy_parse(const void *bytes, size_t size, struct npy_array *array, struct orch_error *error)
{
    const uint8_t *const file = bytes;
    memset(array, 0, sizeof *array);
    if (!npy_is(bytes, size))
        return orch_fail(error, ORCH_USAGE, "not a .npy file: it does not start with \\x93NUMPY");
    if (size < 12)
        return orch_fail(error, ORCH_USAGE, "the .npy file is cut off: %zu bytes, the header alone has more", size);
    const unsigned version = file[VERSION_AT];
    if (version < 1 || version > 3)
        return orch_fail(error, ORCH_USAGE, ".npy version %u.%u, expected 1.0, 2.0 or 3.0", version, file[VERSION_AT + 1]);
    uint32_t length = 0;
    const size_t length_bytes = version == 1 ? 2 : 4, start = LENGTH_AT + length_bytes;
    memcpy(&length, file + LENGTH_AT, length_bytes);
    if (length > size - start || length > HEADER_LIMIT)
        return orch_fail(error, ORCH_USAGE,
                         "the .npy header of %" PRIu32 " bytes at byte %zu does not fit the file of %zu "
                         "bytes",
                         length, start, size);
    struct scanner s = {(const char *)file + start, 0, length, start, error};
    if (!scan_header(&s, array))
        return false;
    if (!npy_measure(array))
        return orch_fail(error, ORCH_USAGE, "the shape in the .npy header is larger than 2^64 bytes");
    const size_t data_at = start + length;
    if (array->bytes != size - data_at)
        return orch_fail(error, ORCH_USAGE, "%s: the shape needs %zu bytes of data from byte %zu on, the file has %zu",
                         array->bytes > size - data_at ? "the .npy file is cut off" : "the .npy file has bytes behind its array",
                         array->bytes, data_at, size - data_at);
    array->data = file + data_at;
    return true;
}

/* ---- files ---- */

bool npy_load(const char *path, struct npy_array *array, struct orch_error *error)
{
    size_t size = 0;
    memset(array, 0, sizeof *array);
    FILE *const file = fopen(path, "rb");
    if (!file)
        return orch_fail(error, ORCH_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    uint8_t *bytes = NULL;
    const bool read =
        file_read_all(file, SIZE_MAX, &bytes, &size) || orch_fail(error, ORCH_USAGE, "cannot be read: %s", strerror(errno));
    fclose(file);
    if (read && npy_parse(bytes, size, array, error)) {
        array->owned = bytes;
        return true;
    }
    free(bytes);
    memset(array, 0, sizeof *array);
    return orch_fail_in(error, "%s", path);
}

void npy_release(struct npy_array *array)
{
    free(array->owned);
    array->owned = NULL;
    array->data = NULL;
}

/* Appends text. *used also counts what does not fit any more, and so grows past `size`. */
__attribute__((format(printf, 4, 5))) static void append(char *text, size_t size, size_t *used, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(*used < size ? text + *used : NULL, *used < size ? size - *used : 0, format, args);
    va_end(args);
    *used += n > 0 ? (size_t)n : 0;
}

size_t npy_header(const struct npy_array *array, char *text, size_t size)
{
    enum { START = LENGTH_AT + 2 }; /* version 1: 32 dimensions of 20 digits stay far below 64 KiB */
    size_t used = START;
    append(text, size, &used, "{'descr': '%c%s', 'fortran_order': %s, 'shape': (", npy_type_bytes(array->type) > 1 ? '<' : '|',
           npy_type_name(array->type), array->fortran_order ? "True" : "False");
    for (unsigned i = 0; i < array->dims; i++)
        append(text, size, &used, "%" PRIu64 "%s", array->shape[i], array->dims == 1 ? "," : i + 1 < array->dims ? ", " : "");
    append(text, size, &used, "), }");
    const size_t total = (used + 1 + HEADER_ALIGN - 1) / HEADER_ALIGN * HEADER_ALIGN;
    if (total > size)
        return 0;
    memset(text + used, ' ', total - used);
    text[total - 1] = '\n';
    memcpy(text, magic, sizeof magic);
    text[VERSION_AT] = 1;
    text[VERSION_AT + 1] = 0;
    const uint16_t length = (uint16_t)(total - START);
    memcpy(text + LENGTH_AT, &length, sizeof length);
    return total;
}

bool npy_save(const char *path, const struct npy_array *array, struct orch_error *error)
{
    char header[4096];
    const size_t length = npy_header(array, header, sizeof header);
    struct output_file *const file = output_file_open(path, OUTPUT_PLAIN, error);
    if (!file)
        return false;
    /* The commit reports a write that failed. */
    fwrite(header, 1, length, output_file_stream(file));
    if (array->bytes > 0)
        fwrite(array->data, 1, array->bytes, output_file_stream(file));
    return output_file_commit(file, error);
}
