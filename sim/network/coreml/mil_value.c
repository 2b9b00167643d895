/* Values of programs: written in the program itself, or in a file of weights, which the program names by file and offset. */
#include "sim/base/checksum.h"
#include "sim/network/coreml/mil.h"

#include <stdlib.h>
#include <string.h>

/* Fields of Value, ValueType, TensorType and TensorValue. */
enum { VALUE_TYPE = 2, VALUE_IMMEDIATE = 3, VALUE_BLOB = 5, BLOB_FILE = 1, BLOB_OFFSET = 2 };
enum { TYPE_TENSOR = 1, TENSOR_KIND = 1, TENSOR_DIMENSIONS = 3, DIMENSION_CONSTANT = 1 };
enum { OF_FLOATS = 1, OF_INTS = 2, OF_BOOLS = 3, OF_STRINGS = 4, OF_LONGS = 5, OF_DOUBLES = 6, OF_BYTES = 7 };
enum { KIND_BOOL = 1, KIND_STRING = 2 };

enum { RECORD_BYTES = 64 };
#define RECORD_MARK 0xDEADBEEFU

/* Element types: their number in programs, that in files of weights, how many bits, and what they become. */
static const struct element {
    unsigned kind, blob, bits;
    enum net_type type;
    bool is_signed;
} elements[] = {
    {10, 1, 16, NET_F16, false},  {11, 2, 32, NET_F32, false}, {31, 3, 8, NET_U8, false},    {21, 4, 8, NET_I8, true},
    {13, 5, 16, NET_BF16, false}, {22, 6, 16, NET_I16, true},  {32, 7, 16, NET_U16, false},  {25, 8, 4, NET_I8, true},
    {37, 9, 1, NET_U8, false},    {36, 10, 2, NET_U8, false},  {35, 11, 4, NET_U8, false},   {39, 12, 3, NET_U8, false},
    {38, 13, 6, NET_U8, false},   {23, 14, 32, NET_I32, true}, {33, 15, 32, NET_U32, false}, {24, 0, 64, NET_I64, true},
    {34, 0, 64, NET_U64, false},  {12, 0, 64, NET_F64, false}, {1, 0, 8, NET_BOOL, false},
};

static const struct element *element_of(int64_t kind)
{
    for (size_t k = 0; k < sizeof elements / sizeof *elements; k++)
        if ((int64_t)elements[k].kind == kind)
            return &elements[k];
    return NULL;
}

bool mil_shape(struct pb type, int64_t *shape, size_t *dims, int64_t *kind)
{
    const struct pb tensor = pb_message(type, TYPE_TENSOR);
    struct pb rest = tensor;
    *dims = 0;
    *kind = pb_integer(tensor, TENSOR_KIND, 0);
    for (struct pb_field f; pb_next(&rest, &f);) {
        if (f.number != TENSOR_DIMENSIONS || !f.is_bytes)
            continue;
        if (*dims < NET_DIMS_MAX)
            shape[*dims] = pb_has(f.body, DIMENSION_CONSTANT) ? pb_integer(pb_message(f.body, DIMENSION_CONSTANT), 1, 0) : -1;
        ++*dims;
    }
    return pb_has(type, TYPE_TENSOR) && *dims <= NET_DIMS_MAX;
}

/* ---- files of weights ---- */

struct mil_file {
    struct mil_file *next;
    struct pb name;
    uint8_t *bytes;
    size_t size;
};

static const struct mil_file *open_file(struct mil_program *p, struct pb name)
{
    static const char beside[] = "@model_path/";
    struct orch_error error = {0};
    char text[1000];
    for (const struct mil_file *f = p->files; f; f = f->next)
        if (pb_same(f->name, name))
            return f;
    struct mil_file *const file = calloc(1, sizeof *file);
    if (!file) {
        coreml_fail(p->c, ORCH_INTERNAL, "out of memory");
        return NULL;
    }
    pb_copy(name, text, sizeof text);
    if (!p->c->folder_of || strncmp(text, beside, sizeof beside - 1) != 0)
        coreml_fail(p->c, ORCH_USAGE, "weights in '%.80s', which is not below @model_path", text);
    else if (!coreml_read_inside(p->c->folder_of, text + sizeof beside - 1, &file->bytes, &file->size, &error))
        coreml_fail(p->c, error.exit_code, "%s", error.text);
    if (p->c->failed) {
        free(file);
        return NULL;
    }
    p->c->model->content = checksum_add(p->c->model->content, file->bytes, file->size);
    file->name = name;
    file->next = p->files;
    p->files = file;
    return file;
}

void mil_files_free(struct mil_program *p)
{
    for (struct mil_file *f = p->files, *next; f; f = next) {
        next = f->next;
        free(f->bytes);
        free(f);
    }
    p->files = NULL;
}

static uint64_t little(const uint8_t *p, unsigned bytes)
{
    uint64_t n = 0;
    for (unsigned k = 0; k < bytes; k++)
        n |= (uint64_t)p[k] << 8 * k;
    return n;
}

/* The bytes that a record at the offset stands for. The padding of a record is not read: files of older tools have anything
 * there.
 */
static struct pb blob_of(struct mil_program *p, struct pb blob, const struct element *e)
{
    const struct pb nothing = {NULL, NULL, &p->c->wire};
    const struct mil_file *const f = open_file(p, pb_message(blob, BLOB_FILE));
    const uint64_t offset = (uint64_t)pb_integer(blob, BLOB_OFFSET, 0);
    if (!f)
        return nothing;
    if (offset > f->size || f->size - offset < RECORD_BYTES || little(f->bytes + offset, 4) != RECORD_MARK) {
        coreml_fail(p->c, ORCH_USAGE, "no weights at %llu of %zu bytes", (unsigned long long)offset, f->size);
        return nothing;
    }
    const uint64_t type = little(f->bytes + offset + 4, 4), bytes = little(f->bytes + offset + 8, 8);
    const uint64_t start = little(f->bytes + offset + 16, 8);
    if (type != e->blob || start > f->size || bytes > f->size - start) {
        coreml_fail(p->c, ORCH_USAGE,
                    "weights at %llu: type %llu, %llu bytes from %llu on; the file has %zu bytes, the type is %u",
                    (unsigned long long)offset, (unsigned long long)type, (unsigned long long)bytes, (unsigned long long)start,
                    f->size, e->blob);
        return nothing;
    }
    return (struct pb){f->bytes + start, f->bytes + start + bytes, &p->c->wire};
}

/* ---- arrays ---- */

/* Fewer than eight bits an element, the first in the lowest bits. */
static struct net_array *unpack(struct mil_program *p, const struct element *e, struct pb bytes, const int64_t *shape,
                                size_t dims, int64_t count)
{
    if (pb_size(bytes) != ((uint64_t)count * e->bits + 7) / 8) {
        coreml_fail(p->c, ORCH_USAGE, "%zu bytes for %lld elements of %u bits", pb_size(bytes), (long long)count, e->bits);
        return NULL;
    }
    struct net_array *const a = net_array_new(e->type, shape, (unsigned)dims, p->c->error);
    for (int64_t k = 0; a && k < count; k++) {
        unsigned value = 0;
        for (unsigned b = 0; b < e->bits; b++) {
            const uint64_t at = (uint64_t)k * e->bits + b;
            value |= (bytes.at[at / 8] >> at % 8 & 1U) << b;
        }
        if (e->is_signed && value >> (e->bits - 1))
            value |= ~0U << e->bits;
        ((uint8_t *)a->data)[k] = (uint8_t)value;
    }
    return a;
}

static struct net_array *of_bytes(struct mil_program *p, const struct element *e, struct pb bytes, const int64_t *shape,
                                  size_t dims, int64_t count)
{
    return e->bits < 8 ? unpack(p, e, bytes, shape, dims, count) : coreml_from_bytes(p->c, e->type, bytes, shape, (unsigned)dims);
}

static bool as_many(struct mil_program *p, size_t got, int64_t count)
{
    if (got != (size_t)count)
        coreml_fail(p->c, ORCH_USAGE, "%zu numbers for %lld elements", got, (long long)count);
    return !p->c->failed;
}

static struct net_array *of_numbers(struct mil_program *p, unsigned how, struct pb body, const int64_t *shape, size_t dims,
                                    int64_t count)
{
    const bool real = how == OF_FLOATS;
    const size_t got = real ? pb_floats(body, 1, NULL, 0) : pb_integers(body, 1, NULL, 0);
    if (!as_many(p, got, count))
        return NULL;
    const enum net_type type = real ? NET_F32 : how == OF_BOOLS ? NET_BOOL : NET_I64;
    struct net_array *const a = net_array_new(type, shape, (unsigned)dims, p->c->error);
    int64_t *const whole = a && !real ? calloc(got + 1, sizeof *whole) : NULL;
    if (a && real)
        pb_floats(body, 1, a->data, got);
    if (whole) {
        pb_integers(body, 1, whole, got);
        net_write_integers(type, a->data, 0, got, whole);
    }
    free(whole);
    return a;
}

static struct net_array *of_doubles(struct mil_program *p, struct pb body, const int64_t *shape, size_t dims, int64_t count)
{
    struct pb bytes = pb_message(body, 1);
    const double single = pb_real(body, 1, 0);
    if (pb_size(bytes) || count != 1)
        return coreml_from_bytes(p->c, NET_F64, bytes, shape, (unsigned)dims);
    struct net_array *const a = net_array_new(NET_F32, shape, (unsigned)dims, p->c->error);
    if (a)
        net_write_doubles(NET_F32, a->data, 0, 1, &single);
    return a;
}

static struct net_array *immediate(struct mil_program *p, const struct element *e, struct pb tensor, const int64_t *shape,
                                   size_t dims, int64_t count)
{
    struct pb_field f;
    while (pb_next(&tensor, &f))
        switch (f.is_bytes ? f.number : 0) {
        case OF_FLOATS:
        case OF_INTS:
        case OF_BOOLS:
        case OF_LONGS: return of_numbers(p, f.number, f.body, shape, dims, count);
        case OF_DOUBLES: return of_doubles(p, f.body, shape, dims, count);
        case OF_BYTES: return of_bytes(p, e, pb_message(f.body, 1), shape, dims, count);
        default: break;
        }
    if (as_many(p, 0, count))
        return net_array_new(net_type_is_float(e->type) ? NET_F32
                             : e->type == NET_BOOL      ? NET_BOOL
                                                        : NET_I64,
                             shape, (unsigned)dims, p->c->error);
    return NULL;
}

struct coreml_value mil_constant(struct mil_program *p, struct pb value)
{
    int64_t shape[NET_DIMS_MAX], kind, count = 0;
    size_t dims;
    const struct pb type = pb_message(value, VALUE_TYPE), now = pb_message(pb_message(value, VALUE_IMMEDIATE), 1);
    const struct coreml_value nothing = {.kind = COREML_NOTHING};
    if (!mil_shape(type, shape, &dims, &kind)) {
        coreml_fail(p->c, ORCH_UNMODELLED, "a constant that is no tensor");
        return nothing;
    }
    if (kind == KIND_STRING)
        return (struct coreml_value){.kind = COREML_WORD, .word = pb_message(pb_message(now, OF_STRINGS), 1)};
    const struct element *const e = element_of(kind);
    bool ok = e != NULL;
    for (size_t d = 0; ok && d < dims; d++)
        ok = shape[d] >= 0;
    if (!ok || !net_shape_count(NET_F32, shape, (unsigned)dims, &count)) {
        coreml_fail(p->c, e ? ORCH_USAGE : ORCH_UNMODELLED, e ? "a constant of an impossible shape" : "a constant of type %lld",
                    (long long)kind);
        return nothing;
    }
    struct net_array *const a = pb_has(value, VALUE_BLOB)
                                    ? of_bytes(p, e, blob_of(p, pb_message(value, VALUE_BLOB), e), shape, dims, count)
                                    : immediate(p, e, now, shape, dims, count);
    if (p->c->failed) {
        net_array_release(a);
        return nothing;
    }
    return coreml_tensor(coreml_constant(p->c, a));
}
