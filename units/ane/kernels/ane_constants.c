#include "units/ane/kernels/ane_constants.h"

#include "isa/ane/ane_bank.h"
#include "isa/ane/ane_half.h"
#include "isa/array_count.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COEFFICIENT_ALIGN = 64, INT8_MAX_ABS = 127 };

float ane_constant_half(float value)
{
    return (float)ane_half_round((double)value);
}

/* ---- values ---- */

static double random_uniform(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static uint16_t *to_half(const float *value, uint64_t count, float scale)
{
    uint16_t *half = malloc((count ? count : 1) * sizeof *half);
    for (uint64_t i = 0; half && i < count; i++)
        half[i] = ane_half_bits((double)(value[i] / scale));
    return half;
}

static float largest(const float *value, uint64_t count)
{
    float most = 0;
    for (uint64_t i = 0; i < count; i++)
        most = fabsf(value[i]) > most ? fabsf(value[i]) : most;
    return most;
}

/* The scale of int8 weights: a power of two, so that native int8 and weights folded to fp16 give the same bits. */
static float int8_scale(const float *value, uint64_t count)
{
    const float most = largest(value, count);
    int exponent;
    if (most == 0)
        return 1;
    frexpf(most / INT8_MAX_ABS, &exponent);
    return ldexpf(1, exponent - 1) * INT8_MAX_ABS >= most ? ldexpf(1, exponent - 1) : ldexpf(1, exponent);
}

static void round_int8(float *value, uint64_t count)
{
    const float scale = int8_scale(value, count);
    for (uint64_t i = 0; i < count; i++)
        value[i] = nearbyintf(value[i] / scale) * scale;
}

static bool round_palette(float *value, uint64_t count, unsigned bits)
{
    uint16_t codebook[256];
    uint16_t *half = to_half(value, count, 1);
    struct ane_palette palette;
    const bool ok = half && ane_palette_choose(half, count, true, bits, codebook);
    if (ok)
        ane_palette_prepare(&palette, codebook, bits);
    for (uint64_t i = 0; ok && i < count; i++)
        value[i] = (float)palette.value[ane_palette_index(&palette, half[i])];
    free(half);
    return ok;
}

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Sets the smaller half of the weights to 0. */
static bool prune(float *value, uint64_t count)
{
    float *size = malloc(count * sizeof *size);
    if (!size)
        return false;
    for (uint64_t i = 0; i < count; i++)
        size[i] = fabsf(value[i]);
    qsort(size, count, sizeof *size, by_value);
    const float threshold = size[count / 2];
    for (uint64_t i = 0; i < count; i++)
        value[i] = fabsf(value[i]) < threshold ? 0 : value[i];
    free(size);
    return true;
}

static bool round_as_asked(enum ane_weight_type type, float *value, uint64_t count)
{
    switch (type) {
    case ANE_WEIGHT_I8: round_int8(value, count); return true;
    case ANE_WEIGHT_PALETTE4: return round_palette(value, count, 4);
    case ANE_WEIGHT_PALETTE8: return round_palette(value, count, 8);
    case ANE_WEIGHT_PALETTE6: return round_palette(value, count, 6);
    case ANE_WEIGHT_PALETTE2: return round_palette(value, count, 2);
    case ANE_WEIGHT_SPARSE: return prune(value, count);
    default: return true;
    }
}

/* The MAC engines take denormal factors for 0 (sbryngelson/ane-guide). Where a good part of the weights would be lost that way,
 * all are multiplied by a power of two, and the descriptor's scale of results divides by it: exact but for what would have been
 * lost. What Apple's compiler does with such weights is not known. */
enum { LIFT_MOST_LOG2 = 14, LOST_SHARE = 64 };

static unsigned lift_log2(const float *value, uint64_t count)
{
    const float normal = 0x1p-14f;
    uint64_t lost = 0, used = 0;
    for (uint64_t i = 0; i < count; i++) {
        used += value[i] != 0;
        lost += value[i] != 0 && fabsf(value[i]) < normal;
    }
    if (lost == 0 || lost * LOST_SHARE < used)
        return 0;
    unsigned log2 = 0;
    for (float most = largest(value, count); log2 < LIFT_MOST_LOG2 && most < 0.5f; most *= 2)
        log2++;
    return log2;
}

static float lifted_scale(const struct ane_conv *conv, uint64_t count, uint32_t channels)
{
    unsigned log2 = lift_log2(conv->weight, count);
    const float most = conv->bias ? largest(conv->bias, channels) : 0; /* the bias is multiplied as well and stays in range */
    while (log2 > 0 && ldexpf(most, (int)log2) > 0x1p14f)
        log2--;
    return ldexpf(1, -(int)log2);
}

/* The size of sparse coefficients hangs on their values. */
bool ane_build_is_blank(const struct ane_builder *b)
{
    return b->request->blank && b->request->weights != ANE_WEIGHT_SPARSE;
}

static float *blank_constant(struct ane_builder *b, const char *name, uint64_t count)
{
    float *const value = b->failed ? NULL : calloc(count ? count : 1, sizeof *value);
    b->constants++;
    if (!value)
        ane_build_fail(b, "out of memory for %s", name);
    return value;
}

float *ane_build_constant(struct ane_builder *b, const char *name, uint64_t count, double low, double high)
{
    const struct ane_kernel_request *q = b->request;
    if (ane_build_is_blank(b))
        return blank_constant(b, name, count);
    const unsigned index = b->constants++;
    const float *given = index < ARRAY_COUNT(q->constant) ? q->constant[index] : NULL;
    uint64_t state = q->seed ^ (uint64_t)(index + 1) << 32;
    float *value = b->failed ? NULL : malloc((count ? count : 1) * sizeof *value);
    if (!value) {
        ane_build_fail(b, "out of memory for %s", name);
        return NULL;
    }
    for (uint64_t i = 0; i < count; i++)
        value[i] = ane_constant_half(given ? given[i] : (float)(low + (high - low) * random_uniform(&state)));
    return value;
}

float *ane_build_weights(struct ane_builder *b, const char *name, uint64_t count, double low, double high)
{
    if (ane_build_is_blank(b))
        return blank_constant(b, name, count);
    const unsigned index = b->constants;
    const float *const given = index < ARRAY_COUNT(b->request->constant) ? b->request->constant[index] : NULL;
    const int log2 = given && b->request->weights == ANE_WEIGHT_F16 ? (int)lift_log2(given, count) : 0;
    float *value = ane_build_constant(b, name, count, low, high);
    for (uint64_t i = 0; value && log2 && i < count; i++)
        value[i] = ldexpf(ane_constant_half(ldexpf(given[i], log2)), -log2);
    if (value && !round_as_asked(b->request->weights, value, count)) {
        ane_build_fail(b, "out of memory for %s", name);
        free(value);
        value = NULL;
    }
    return value;
}

/* ---- packing ---- */

bool ane_constants_append(struct ane_builder *b, const uint8_t *bytes, size_t size)
{
    struct ane_pack *pack = &b->pack;
    const size_t padded = (size + COEFFICIENT_ALIGN - 1) / COEFFICIENT_ALIGN * COEFFICIENT_ALIGN;
    if (pack->used + padded > pack->room) {
        const size_t room = pack->used + padded + pack->room;
        uint8_t *grown = realloc(pack->bytes, room);
        if (!grown) {
            ane_build_fail(b, "out of memory");
            return false;
        }
        pack->bytes = grown;
        pack->room = room;
    }
    memset(pack->bytes + pack->used, 0, padded);
    memcpy(pack->bytes + pack->used, bytes, size);
    pack->used += padded;
    return true;
}

/* Sets the format of the banks; *scale is the value of one unit. Formats that a generation streams: sbryngelson/ane-guide. */
static void set_format(const struct ane_builder *b, const struct ane_conv *conv, uint64_t count, struct ane_task *task,
                       float *scale)
{
    const struct ane_limits *limits = &b->request->limits;
    *scale = 1;
    if (conv->plain)
        return;
    switch (b->request->weights) {
    case ANE_WEIGHT_I8:
        if (limits->int8_weights) {
            task->kernel_format = ANE_KERNEL_I8;
            *scale = ane_build_is_blank(b) ? 1 : int8_scale(conv->weight, count);
        }
        break;
    case ANE_WEIGHT_PALETTE4: task->palette_bits = limits->int4_palette ? 4 : 0; break;
    case ANE_WEIGHT_PALETTE8: task->palette_bits = 8; break;
    /* M1 streams 396 MB of 6-bit weights at 52.7 GB/s (Anemll/anemll-bench), its rate for fp16: they arrive as 6 bits there, too.
     */
    case ANE_WEIGHT_PALETTE6: task->palette_bits = 6; break;
    case ANE_WEIGHT_PALETTE2: task->palette_bits = 2; break;
    case ANE_WEIGHT_SPARSE: task->sparse = limits->sparse_weights; break;
    default: break;
    }
}

/* Blank coefficients are all alike, so there it counts what they were made from. */
static bool equal_coefficients(const struct ane_builder *b, const struct ane_conv *conv, size_t at, size_t bytes)
{
    if (bytes != b->packed.bytes)
        return false;
    if (ane_build_is_blank(b))
        return conv->weight == b->packed.weight && conv->bias == b->packed.bias;
    return memcmp(b->pack.bytes + at, b->pack.bytes + b->packed.at, bytes) == 0;
}

/* Equal coefficients of two convolutions one behind the other lie in the program once. (Apple's compiler names coefficients by a
 * hash of what they hold: symbols K<hash>_ne_<i> in tinygrad's extra/accel/ane/ops.) `at`: where those of this task begin. */
static void share_equal(struct ane_builder *b, const struct ane_conv *conv, struct ane_task *task, size_t at)
{
    const size_t bytes = b->pack.used - at;
    if (!equal_coefficients(b, conv, at, bytes)) {
        b->packed.at = at;
        b->packed.bytes = bytes;
        b->packed.weight = conv->weight;
        b->packed.bias = conv->bias;
        return;
    }
    for (unsigned i = 0; i < ANE_BANKS; i++)
        if (task->bank[i].enabled)
            task->bank[i].base -= (uint32_t)(at - b->packed.at);
    b->pack.used = at;
}

static void pack_values(struct ane_builder *b, const struct ane_conv *conv, uint64_t count, struct ane_task *task, float scale)
{
    uint16_t *weight = to_half(conv->weight, count, scale);
    uint16_t *bias = conv->bias ? to_half(conv->bias, task->channels_out, scale) : NULL;
    if (!weight || (conv->bias && !bias))
        ane_build_fail(b, "out of memory for weights");
    else if (!ane_weights_pack(task, weight, bias, &b->pack, b->error))
        b->failed = true;
    free(weight);
    free(bias);
}

void ane_constants_pack(struct ane_builder *b, const struct ane_conv *conv, struct ane_task *task)
{
    const uint64_t taps = (uint64_t)conv->kernel_width * conv->kernel_height;
    const uint64_t per_channel = taps * (conv->depthwise ? 1 : task->channels_in / conv->groups);
    const uint64_t count = per_channel * task->channels_out;
    const size_t at = b->pack.used;
    float scale;
    set_format(b, conv, count, task, &scale);
    if (ane_build_is_blank(b)) {
        b->failed = !ane_weights_reserve(task, &b->pack, b->error);
    } else {
        if (b->request->weights == ANE_WEIGHT_F16 && !conv->plain)
            scale = lifted_scale(conv, count, task->channels_out);
        task->post_scale *= scale;
        pack_values(b, conv, count, task, scale);
    }
    if (!b->failed)
        share_equal(b, conv, task, at);
}
