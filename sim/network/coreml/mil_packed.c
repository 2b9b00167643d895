/* Constants that are packed: scaled integers, tables, masks. They are unpacked on import. */
#include "sim/network/coreml/mil.h"

#include <stdlib.h>
#include <string.h>

static const struct net_array *array_of(struct mil_op *o, const char *name)
{
    const net_id id = mil_in(o, name);
    const struct net_array *const a = id == NET_NONE ? NULL : o->c->model->value[id].constant;
    if (!a && !o->c->failed)
        coreml_fail(o->c, ORCH_UNMODELLED, "%s is not constant", name);
    return a;
}

static struct net_array *new_floats(struct mil_op *o, const int64_t *shape, unsigned dims)
{
    struct net_array *const a = o->c->failed ? NULL : net_array_new(NET_F32, shape, dims, o->c->error);
    if (!a)
        o->c->failed = true;
    return a;
}

void mil_constant_op(struct mil_op *o)
{
    o->out[0] = mil_value(o, "val", 0);
    if (o->out[0].kind == COREML_NOTHING)
        coreml_fail(o->c, ORCH_USAGE, "val is missing");
}

void mil_constexpr_cast(struct mil_op *o)
{
    o->out[0] = mil_value(o, "source_val", 0);
}

/* ---- scale (q - zero point) ---- */

/* Along an axis, or all the same. */
static void scaled(struct mil_op *o, const char *data)
{
    struct coreml *const c = o->c;
    const net_id q = mil_in(o, data), scale = mil_in(o, "scale"), zero = mil_maybe(o, "zero_point");
    int64_t shape[NET_DIMS_MAX], axis = mil_int(o, "axis", 0);
    const unsigned rank = coreml_rank(c, q);
    axis += axis < 0 ? rank : 0;
    if (!c->failed && coreml_rank(c, scale) > 0 && (axis < 0 || axis >= (int64_t)rank))
        coreml_fail(c, ORCH_USAGE, "axis %lld of %u", (long long)axis, rank);
    for (unsigned d = 0; d < rank; d++)
        shape[d] = (int64_t)d == axis ? -1 : 1;
    const bool spread = !c->failed && coreml_rank(c, scale) > 0;
    net_id x = coreml_cast(c, q, NET_F32);
    if (zero != NET_NONE) {
        const net_id z = coreml_cast(c, zero, NET_F32);
        x = coreml_two(c, "Sub", x, coreml_rank(c, z) > 0 ? coreml_reshape(c, z, shape, rank) : z);
    }
    mil_set(o, coreml_two(c, "Mul", x, spread ? coreml_reshape(c, scale, shape, rank) : scale));
}

void mil_affine(struct mil_op *o)
{
    scaled(o, "quantized_data");
}

void mil_dequantize(struct mil_op *o)
{
    scaled(o, "input");
}

/* clip(round(x / scale) + zero point), as a number */
void mil_quantize(struct mil_op *o)
{
    struct coreml *const c = o->c;
    char text[16];
    const bool is_signed = strcmp(mil_word(o, "output_dtype", "int8", text, sizeof text), "int8") == 0;
    const net_id x = mil_in(o, "input"), scale = mil_in(o, "scale"), zero = mil_maybe(o, "zero_point");
    int64_t shape[NET_DIMS_MAX], axis = mil_int(o, "axis", 0);
    const unsigned rank = coreml_rank(c, x);
    axis += axis < 0 ? rank : 0;
    for (unsigned d = 0; d < rank; d++)
        shape[d] = (int64_t)d == axis ? -1 : 1;
    const bool spread = !c->failed && coreml_rank(c, scale) > 0;
    net_id q = coreml_one(c, "Round", coreml_two(c, "Div", x, spread ? coreml_reshape(c, scale, shape, rank) : scale));
    if (zero != NET_NONE) {
        const net_id z = coreml_cast(c, zero, NET_F32);
        q = coreml_two(c, "Add", q, coreml_rank(c, z) > 0 ? coreml_reshape(c, z, shape, rank) : z);
    }
    mil_set(o, coreml_clip(c, q, is_signed ? -128 : 0, is_signed ? 127 : 255));
}

/* ---- blocks ---- */

/* The element of an array whose dimensions divide those of the data: block by block. */
static int64_t of_block(const struct net_array *data, const struct net_array *blocks, int64_t index)
{
    int64_t at = 0, step = 1;
    for (unsigned d = data->dims; d-- > 0;) {
        const int64_t place = index % data->shape[d];
        at += place / (data->shape[d] / blocks->shape[d]) * step;
        step *= blocks->shape[d];
        index /= data->shape[d];
    }
    return at;
}

static bool divides(struct mil_op *o, const struct net_array *data, const struct net_array *blocks)
{
    bool ok = data && blocks && data->dims == blocks->dims;
    for (unsigned d = 0; ok && d < data->dims; d++)
        ok = blocks->shape[d] > 0 && data->shape[d] % blocks->shape[d] == 0;
    if (!ok)
        coreml_fail(o->c, ORCH_USAGE, "scales that do not divide the data");
    return ok;
}

void mil_blockwise(struct mil_op *o)
{
    const struct net_array *const data = array_of(o, "data"), *const scale = array_of(o, "scale");
    const struct net_array *const offset = mil_has(o, "offset") ? array_of(o, "offset") : NULL;
    if (o->c->failed || !divides(o, data, scale) || (offset && !divides(o, data, offset)))
        return;
    struct net_array *const a = new_floats(o, data->shape, data->dims);
    for (int64_t k = 0; a && k < data->count; k++) {
        const double zero = offset ? net_array_double(offset, of_block(data, offset, k)) : 0;
        const double number = net_array_double(scale, of_block(data, scale, k)) * (net_array_double(data, k) - zero);
        ((float *)a->data)[k] = (float)number;
    }
    if (a)
        mil_set(o, coreml_constant(o->c, a));
}

/* ---- tables ---- */

static unsigned bits_of(int64_t entries)
{
    unsigned bits = 0;
    while (bits < 9 && INT64_C(1) << bits < entries)
        bits++;
    return bits;
}

/* Up to opset CoreML7: indices in a stream of bits, the lowest first, and one table. */
static struct net_array *from_stream(struct mil_op *o, const struct net_array *stream, const struct net_array *table)
{
    int64_t shape[NET_DIMS_MAX], count = 0;
    const size_t dims = mil_ints(o, "shape", shape, NET_DIMS_MAX);
    const unsigned bits = bits_of(table->count);
    bool ok = !o->c->failed && bits >= 1 && bits <= 8 && table->count == INT64_C(1) << bits && stream->type == NET_U8;
    for (size_t d = 0; ok && d < dims; d++)
        ok = shape[d] >= 0;
    ok = ok && net_shape_count(NET_F32, shape, (unsigned)dims, &count) && stream->count == (count * bits + 7) / 8;
    if (!ok) {
        coreml_fail(o->c, ORCH_USAGE, "indices that do not fit the table and the shape");
        return NULL;
    }
    struct net_array *const a = new_floats(o, shape, (unsigned)dims);
    const uint8_t *const from = stream->data;
    for (int64_t k = 0; a && k < count; k++) {
        unsigned index = 0;
        for (unsigned b = 0; b < bits; b++) {
            const int64_t at = k * bits + b;
            index |= (from[at / 8] >> at % 8 & 1U) << b;
        }
        ((float *)a->data)[k] = (float)net_array_double(table, index);
    }
    return a;
}

/* From opset CoreML8 on: tables [groups .., entries, vector], one for each group of rows. */
static struct net_array *from_groups(struct mil_op *o, const struct net_array *index, const struct net_array *table)
{
    struct net_array groups = *table;
    const bool fits = table->dims == index->dims + 2 && table->shape[table->dims - 1] == 1;
    if (!fits) {
        coreml_fail(o->c, ORCH_UNMODELLED, "a table of vectors, or of other dimensions than the indices");
        return NULL;
    }
    groups.dims = index->dims;
    const int64_t entries = table->shape[index->dims];
    if (!divides(o, index, &groups))
        return NULL;
    struct net_array *const a = new_floats(o, index->shape, index->dims);
    for (int64_t k = 0; a && k < index->count && !o->c->failed; k++) {
        const int64_t entry = net_array_integer(index, k);
        if (entry < 0 || entry >= entries)
            coreml_fail(o->c, ORCH_USAGE, "index %lld of a table of %lld", (long long)entry, (long long)entries);
        else
            ((float *)a->data)[k] = (float)net_array_double(table, of_block(index, &groups, k) * entries + entry);
    }
    return a;
}

void mil_table(struct mil_op *o)
{
    const struct net_array *const index = array_of(o, "indices"), *const table = array_of(o, "lut");
    if (o->c->failed)
        return;
    struct net_array *const a = mil_has(o, "shape") ? from_stream(o, index, table) : from_groups(o, index, table);
    if (o->c->failed)
        net_array_release(a);
    else
        mil_set(o, coreml_constant(o->c, a));
}

/* ---- masks ---- */

void mil_sparse(struct mil_op *o)
{
    const struct net_array *const mask = array_of(o, "mask"), *const data = array_of(o, "nonzero_data");
    int64_t shape[NET_DIMS_MAX], count = 0, used = 0;
    if (o->c->failed)
        return;
    const bool stream = mil_has(o, "shape");
    const size_t dims = stream ? mil_ints(o, "shape", shape, NET_DIMS_MAX) : mask->dims;
    bool ok = !o->c->failed && mask->type == NET_U8;
    if (ok && !stream)
        memcpy(shape, mask->shape, sizeof shape);
    for (size_t d = 0; ok && d < dims; d++)
        ok = shape[d] >= 0;
    ok = ok && net_shape_count(NET_F32, shape, (unsigned)dims, &count) && mask->count == (stream ? (count + 7) / 8 : count);
    if (!ok)
        coreml_fail(o->c, ORCH_USAGE, "a mask that does not fit the shape");
    struct net_array *const a = new_floats(o, shape, (unsigned)dims);
    const uint8_t *const bits = mask->data;
    for (int64_t k = 0; a && k < count && !o->c->failed; k++) {
        if (!(stream ? bits[k / 8] >> k % 8 & 1 : bits[k]))
            continue;
        if (used == data->count)
            coreml_fail(o->c, ORCH_USAGE, "more marks than numbers");
        else
            ((float *)a->data)[k] = (float)net_array_double(data, used++);
    }
    if (o->c->failed)
        net_array_release(a);
    else
        mil_set(o, coreml_constant(o->c, a));
}
