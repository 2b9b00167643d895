#include "sim/workload/ane/ane_array.h"

#include "sim/workload/element_type.h"
#include "sim/base/checksum.h"
#include "units/cpu/cpu_random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum element_type type_of(enum ane_format format)
{
    return format == ANE_F16 ? ELEMENT_F16 : format == ANE_I8 ? ELEMENT_I8 : ELEMENT_U8;
}

/* ---- making ---- */

static enum ane_tensor_role role_of(enum ane_port_kind kind)
{
    return kind == ANE_PORT_OUTPUT ? ANE_TENSOR_OUTPUT : ANE_TENSOR_INPUT;
}

void ane_array_of_port(const struct ane_program *program, unsigned bar, struct ane_array *v)
{
    const struct ane_port *p = &program->port[bar];
    const unsigned element = ane_format_bytes(p->format);
    *v = (struct ane_array){.role = role_of(p->kind), .format = p->format, .bar = bar, .low = -1, .high = 1};
    snprintf(v->name, sizeof v->name, "%s", p->name);
    if (p->format != ANE_F16) {
        v->low = p->format == ANE_I8 ? -128 : 0;
        v->high = p->format == ANE_I8 ? 128 : 256;
    }
    if (!p->channels || !p->height || !p->width) {
        v->rank = 1;
        v->shape[0] = p->bytes / element;
        v->stride[0] = element;
        return;
    }
    v->rank = 3;
    v->shape[0] = p->channels;
    v->shape[1] = p->height;
    v->shape[2] = p->width;
    v->stride[0] = p->plane;
    v->stride[1] = p->row;
    v->stride[2] = element;
}

void ane_array_of_tensor(const struct ane_kernel_tensor *t, struct ane_array *v)
{
    *v = (struct ane_array){.role = t->role,
                            .format = ANE_F16,
                            .bar = t->bar,
                            .rank = t->rank,
                            .offset = t->offset,
                            .fill = t->fill,
                            .low = t->low,
                            .high = t->high};
    snprintf(v->name, sizeof v->name, "%s", t->name);
    for (unsigned i = 0; i < t->rank && i < ANE_ARRAY_RANK; i++) {
        v->shape[i] = t->shape[i];
        v->stride[i] = t->stride[i];
    }
}

uint64_t ane_array_count(const struct ane_array *v)
{
    uint64_t count = 1;
    for (unsigned i = 0; i < v->rank; i++)
        count *= v->shape[i];
    return count;
}

uint64_t ane_array_extent(const struct ane_array *v)
{
    uint64_t last = v->offset;
    for (unsigned i = 0; i < v->rank; i++) {
        if (!v->shape[i])
            return 0;
        last += (v->shape[i] - 1) * v->stride[i];
    }
    return last + ane_format_bytes(v->format);
}

/* Writes the shape as "64x56x56"; returns text. */
static const char *ane_array_shape_text(const struct ane_array *v, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (unsigned i = 0; i < v->rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%llu", i ? "x" : "", (unsigned long long)v->shape[i]);
    return text;
}

/* ---- walking ---- */

/* Visits all elements in order, the last index fastest. */
struct walk {
    const struct ane_array *array;
    uint64_t index[ANE_ARRAY_RANK];
    uint64_t at; /* byte offset in the buffer */
};

static struct walk walk_begin(const struct ane_array *v)
{
    return (struct walk){.array = v, .at = v->offset};
}

static void walk_next(struct walk *w)
{
    for (unsigned i = w->array->rank; i-- > 0;) {
        w->at += w->array->stride[i];
        if (++w->index[i] < w->array->shape[i])
            return;
        w->at -= w->index[i] * w->array->stride[i];
        w->index[i] = 0;
    }
}

/* A causal mask: the last row sees all columns, each row before it sees one less. */
static double causal(const struct ane_array *v, const struct walk *w)
{
    const unsigned rows = v->rank - 2, columns = v->rank - 1;
    return w->index[columns] + v->shape[rows] > w->index[rows] + v->shape[columns] ? -40000 : 0;
}

void ane_array_generate(const struct ane_array *v, uint64_t seed, uint8_t *buffer)
{
    const uint64_t count = ane_array_count(v);
    const enum element_type type = type_of(v->format);
    struct walk w = walk_begin(v);
    for (uint64_t i = 0; i < count; i++, walk_next(&w)) {
        const double uniform = v->low + (v->high - v->low) * (double)(cpu_random(&seed) >> 11) * 0x1p-53;
        const double number = v->fill == ANE_FILL_CAUSAL && v->rank >= 2 ? causal(v, &w) : uniform;
        element_write(type, v->format == ANE_F16 ? number : (double)(int64_t)number, buffer + w.at);
    }
}

uint64_t ane_array_checksum(const struct ane_array *v, const uint8_t *buffer)
{
    const uint64_t count = ane_array_count(v);
    const unsigned element = ane_format_bytes(v->format);
    uint64_t hash = CHECKSUM_START;
    struct walk w = walk_begin(v);
    for (uint64_t i = 0; i < count; i++, walk_next(&w))
        hash = checksum_add(hash, buffer + w.at, element);
    return hash;
}

void ane_array_read(const struct ane_array *v, const uint8_t *buffer, double *values)
{
    const uint64_t count = ane_array_count(v);
    struct walk w = walk_begin(v);
    for (uint64_t i = 0; i < count; i++, walk_next(&w))
        values[i] = element_read(type_of(v->format), buffer + w.at);
}

uint64_t ane_array_dense_bytes(const struct ane_array *v)
{
    return ane_array_count(v) * ane_format_bytes(v->format);
}

void ane_array_pack(const struct ane_array *v, const uint8_t *buffer, uint8_t *dense)
{
    const uint64_t count = ane_array_count(v);
    const unsigned element = ane_format_bytes(v->format);
    struct walk w = walk_begin(v);
    for (uint64_t i = 0; i < count; i++, walk_next(&w))
        memcpy(dense + i * element, buffer + w.at, element);
}

void ane_array_unpack(const struct ane_array *v, const uint8_t *dense, uint8_t *buffer)
{
    const uint64_t count = ane_array_count(v);
    const unsigned element = ane_format_bytes(v->format);
    struct walk w = walk_begin(v);
    for (uint64_t i = 0; i < count; i++, walk_next(&w))
        memcpy(buffer + w.at, dense + i * element, element);
}

float *ane_array_floats(const struct ane_array *v, const uint8_t *dense)
{
    const uint64_t count = ane_array_count(v);
    float *values = malloc((count ? count : 1) * sizeof *values);
    for (uint64_t i = 0; values && i < count; i++)
        values[i] = (float)element_read(type_of(v->format), dense + i * ane_format_bytes(v->format));
    return values;
}

/* ---- files ---- */

/* Dimensions are compared from the right; those that only one of the two has must be 1. */
static bool same_shape(const struct ane_array *v, const struct npy_array *a)
{
    const unsigned longest = a->dims > v->rank ? a->dims : v->rank;
    if (a->dims == 1 && a->count == ane_array_count(v))
        return true;
    for (unsigned i = 1; i <= longest; i++)
        if ((i <= a->dims ? a->shape[a->dims - i] : 1) != (i <= v->rank ? v->shape[v->rank - i] : 1))
            return false;
    return true;
}

static bool check_file(const struct ane_array *v, const struct npy_array *a, const char *path, struct orch_error *error)
{
    char have[128] = "", want[128];
    size_t used = 0;
    if (element_type_of_npy(a->type) == ELEMENT_TYPE_COUNT)
        return orch_fail(error, ORCH_USAGE, "%.200s: %s has elements of type %s; numbers are needed", path, v->name,
                         npy_type_name(a->type));
    if (same_shape(v, a))
        return true;
    for (unsigned i = 0; i < a->dims && used < sizeof have; i++)
        used += (size_t)snprintf(have + used, sizeof have - used, "%s%llu", i ? "x" : "", (unsigned long long)a->shape[i]);
    return orch_fail(error, ORCH_USAGE, "%.200s: %.100s, %s has %s (or %llu elements in one row)", path, have, v->name,
                     ane_array_shape_text(v, want, sizeof want), (unsigned long long)ane_array_count(v));
}

/* Index in the file of the element that the walk has reached; `number` is its index in the walk. */
static uint64_t place_in_file(const struct npy_array *a, const struct walk *w, uint64_t number)
{
    uint64_t at = 0, step = 1;
    if (!a->fortran_order || a->dims < 2)
        return number;
    for (unsigned d = 0; d < a->dims; d++) {
        const unsigned from_right = a->dims - d;
        if (from_right <= w->array->rank)
            at += w->index[w->array->rank - from_right] * step;
        step *= a->shape[d];
    }
    return at;
}

static bool open_file(const struct ane_array *v, const char *path, struct npy_array *a, struct orch_error *error)
{
    if (!npy_load(path, a, error))
        return false;
    if (check_file(v, a, path, error))
        return true;
    npy_release(a);
    return false;
}

bool ane_array_load(const struct ane_array *v, const char *path, uint8_t *buffer, struct orch_error *error)
{
    struct npy_array a;
    const uint64_t count = ane_array_count(v);
    if (!open_file(v, path, &a, error))
        return false;
    const enum element_type from = element_type_of_npy(a.type), to = type_of(v->format);
    struct walk w = walk_begin(v);
    bool ok = true;
    for (uint64_t i = 0; ok && i < count; i++, walk_next(&w)) {
        const double number = element_read(from, a.data + place_in_file(&a, &w, i) * npy_type_bytes(a.type));
        ok = element_write(to, number, buffer + w.at) ||
             orch_fail(error, ORCH_USAGE, "%.200s: %g does not fit %s, whose elements are %s", path, number, v->name,
                       element_type_name(to));
    }
    npy_release(&a);
    return ok;
}

float *ane_array_load_floats(const struct ane_array *v, const char *path, struct orch_error *error)
{
    struct npy_array a;
    const uint64_t count = ane_array_count(v);
    if (!open_file(v, path, &a, error))
        return NULL;
    float *values = malloc((count ? count : 1) * sizeof *values);
    struct walk w = walk_begin(v);
    for (uint64_t i = 0; values && i < count; i++, walk_next(&w))
        values[i] = (float)element_read(element_type_of_npy(a.type), a.data + place_in_file(&a, &w, i) * npy_type_bytes(a.type));
    npy_release(&a);
    if (!values)
        orch_no_memory(error);
    return values;
}

bool ane_array_save(const struct ane_array *v, const char *path, const uint8_t *buffer, struct orch_error *error)
{
    struct npy_array a = {.type = element_type_npy(type_of(v->format)), .dims = v->rank};
    uint8_t *dense = malloc(ane_array_dense_bytes(v) + 1);
    if (!dense)
        return orch_no_memory(error);
    ane_array_pack(v, buffer, dense);
    for (unsigned i = 0; i < v->rank; i++)
        a.shape[i] = v->shape[i];
    a.data = dense;
    const bool ok = npy_measure(&a) && npy_save(path, &a, error);
    free(dense);
    return ok;
}
