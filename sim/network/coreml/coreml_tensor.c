/* Contents of arrays: little-endian bytes of a type, and the weights of neural networks, which may be packed to some bits. */
#include "sim/network/coreml/coreml_internal.h"

#include <stdlib.h>
#include <string.h>

/* Fields of WeightParams and of what it holds. */
enum { WEIGHTS_F32 = 1, WEIGHTS_F16 = 2, WEIGHTS_RAW = 30, WEIGHTS_I8 = 31, WEIGHTS_QUANTISATION = 40 };
enum { QUANTISATION_BITS = 1, QUANTISATION_LINEAR = 101, QUANTISATION_TABLE = 102, LINEAR_SCALE = 1, LINEAR_BIAS = 2 };

enum { CHUNK = 256, TABLE_MAX = 256 };

static struct net_array *new_array(struct coreml *c, enum net_type type, const int64_t *shape, unsigned dims)
{
    struct net_array *const a = c->failed ? NULL : net_array_new(type, shape, dims, c->error);
    if (!a && !c->failed) {
        c->failed = true;
        orch_fail_in(c->error, "%s", c->place);
    }
    return a;
}

static bool counted(struct coreml *c, const int64_t *shape, unsigned dims, int64_t *count)
{
    bool ok = dims <= NET_DIMS_MAX;
    for (unsigned d = 0; ok && d < dims; d++)
        ok = shape[d] >= 0;
    ok = ok && net_shape_count(NET_F32, shape, dims, count);
    if (!ok)
        coreml_fail(c, ORCH_USAGE, "a constant of an impossible shape");
    return ok;
}

static bool enough(struct coreml *c, size_t got, int64_t wanted)
{
    if (got != (size_t)wanted)
        coreml_fail(c, ORCH_USAGE, "%zu weights or bytes are there, %lld are wanted", got, (long long)wanted);
    return !c->failed;
}

struct net_array *coreml_from_bytes(struct coreml *c, enum net_type type, struct pb bytes, const int64_t *shape, unsigned dims)
{
    const bool real = net_type_is_float(type);
    const bool kept = type == NET_BOOL || type == NET_I8 || type == NET_U8;
    const enum net_type to = real ? NET_F32 : kept ? type : NET_I64;
    const size_t size = net_type_bytes(type);
    int64_t count;
    if (!counted(c, shape, dims, &count) || !enough(c, pb_size(bytes), count * (int64_t)size))
        return NULL;
    struct net_array *const a = new_array(c, to, shape, dims);
    for (int64_t at = 0; a && at < count; at += CHUNK) {
        const size_t some = (size_t)(count - at < CHUNK ? count - at : CHUNK);
        double number[CHUNK];
        int64_t whole[CHUNK];
        uint64_t aligned[CHUNK];
        memcpy(aligned, bytes.at + (size_t)at * size, some * size);
        if (real) {
            net_read_doubles(type, aligned, 0, 1, some, number);
            net_write_doubles(to, a->data, at, some, number);
        } else {
            net_read_integers(type, aligned, 0, 1, some, whole);
            net_write_integers(to, a->data, at, some, whole);
        }
    }
    return a;
}

/* ---- weights of neural networks ---- */

struct scale {
    float *scale, *bias;
    size_t scales, biases;
    float table[TABLE_MAX];
    bool by_table;
};

static float *floats_of(struct coreml *c, struct pb message, unsigned number, int64_t most, size_t *count)
{
    *count = pb_floats(message, number, NULL, 0);
    if (*count > (size_t)most) {
        coreml_fail(c, ORCH_USAGE, "%zu scales for %lld rows", *count, (long long)most);
        return NULL;
    }
    float *const list = calloc(*count + 1, sizeof *list);
    if (list)
        pb_floats(message, number, list, *count);
    else
        coreml_fail(c, ORCH_INTERNAL, "out of memory");
    return list;
}

static bool read_scale(struct coreml *c, struct pb quantisation, unsigned bits, int64_t rows, struct scale *s)
{
    const struct pb linear = pb_message(quantisation, QUANTISATION_LINEAR);
    s->by_table = pb_has(quantisation, QUANTISATION_TABLE);
    if (s->by_table) {
        const struct pb table = pb_message(quantisation, QUANTISATION_TABLE);
        const size_t count = pb_floats(table, 1, s->table, TABLE_MAX);
        return enough(c, count, INT64_C(1) << bits);
    }
    s->scale = floats_of(c, linear, LINEAR_SCALE, rows, &s->scales);
    s->bias = floats_of(c, linear, LINEAR_BIAS, rows, &s->biases);
    if (!c->failed && ((s->scales != 1 && s->scales != (size_t)rows) || (s->biases > 1 && s->biases != (size_t)rows)))
        coreml_fail(c, ORCH_USAGE, "%zu scales and %zu biases for %lld rows", s->scales, s->biases, (long long)rows);
    return !c->failed;
}

/* One stream of bits, the most significant first. */
static unsigned field_of(const uint8_t *bytes, uint64_t index, unsigned bits)
{
    unsigned value = 0;
    for (unsigned k = 0; k < bits; k++) {
        const uint64_t at = index * bits + k;
        value = value << 1 | (bytes[at / 8] >> (7 - at % 8) & 1);
    }
    return value;
}

static bool unpack(struct coreml *c, struct pb weights, struct net_array *a, int64_t rows)
{
    const struct pb quantisation = pb_message(weights, WEIGHTS_QUANTISATION);
    const bool is_signed = pb_has(weights, WEIGHTS_I8);
    const struct pb raw = pb_message(weights, is_signed ? WEIGHTS_I8 : WEIGHTS_RAW);
    const int64_t bits = pb_integer(quantisation, QUANTISATION_BITS, 8), per_row = rows ? a->count / rows : 1;
    struct scale s = {.scale = NULL};
    if (bits < 1 || bits > 8 || (is_signed && bits != 8))
        coreml_fail(c, ORCH_USAGE, "weights of %lld bits", (long long)bits);
    bool ok =
        !c->failed && enough(c, pb_size(raw), (a->count * bits + 7) / 8) && read_scale(c, quantisation, (unsigned)bits, rows, &s);
    float *const to = a->data;
    for (int64_t k = 0; ok && k < a->count; k++) {
        const unsigned q = field_of(raw.at, (uint64_t)k, (unsigned)bits);
        const size_t row = (size_t)(k / (per_row ? per_row : 1));
        const float number = is_signed ? (float)(int8_t)q : (float)q;
        to[k] = s.by_table ? s.table[q]
                           : number * s.scale[s.scales == 1 ? 0 : row] + (s.biases ? s.bias[s.biases == 1 ? 0 : row] : 0);
    }
    free(s.scale);
    free(s.bias);
    return ok;
}

net_id coreml_weights(struct coreml *c, struct pb layer, unsigned number, const int64_t *shape, unsigned dims)
{
    const struct pb weights = pb_message(layer, number), half = pb_message(weights, WEIGHTS_F16);
    int64_t count;
    if (!counted(c, shape, dims, &count))
        return NET_NONE;
    if (pb_size(half))
        return coreml_constant(c, coreml_from_bytes(c, NET_F16, half, shape, dims));
    const bool packed = pb_has(weights, WEIGHTS_RAW) || pb_has(weights, WEIGHTS_I8);
    const size_t floats = packed ? 0 : pb_floats(weights, WEIGHTS_F32, NULL, 0);
    /* Packed weights take at least a bit each: what is asked for is in proportion to the file. */
    const bool plausible = packed ? count / 8 <= (int64_t)pb_size(weights) : enough(c, floats, count);
    if (packed && !plausible)
        coreml_fail(c, ORCH_USAGE, "fewer weights are there than %lld", (long long)count);
    struct net_array *const a = plausible ? new_array(c, NET_F32, shape, dims) : NULL;
    if (a && !packed)
        pb_floats(weights, WEIGHTS_F32, a->data, floats);
    if (a && packed && !unpack(c, weights, a, dims ? shape[0] : 1)) {
        net_array_release(a);
        return NET_NONE;
    }
    return a ? coreml_constant(c, a) : NET_NONE;
}
