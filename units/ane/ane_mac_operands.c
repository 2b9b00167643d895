/* Operands of convolutions and matrix products: the padded image, weights from banks or from the second source. */
#include "units/ane/ane_mac_internal.h"

#include <stdlib.h>

enum { ALIGN = 64 };

float *ane_gemm_room(uint64_t floats)
{
    const uint64_t bytes = (floats * sizeof(float) + ALIGN) & ~(uint64_t)(ALIGN - 1);
    return floats > (uint64_t)1 << 40 ? NULL : aligned_alloc(ALIGN, bytes);
}

float *ane_gemm_zeros(uint64_t floats)
{
    float *room = ane_gemm_room(floats);
    if (room)
        memset(room, 0, floats * sizeof *room);
    return room;
}

typedef float four __attribute__((vector_size(16)));
typedef int32_t four_words __attribute__((vector_size(16)));

/* Sum or maximum of magnitudes, in several chains, because a single one would wait for its own result. */
static float sizes(const float *value, uint64_t count, bool sum)
{
    four part[4] = {{0}};
    float all = 0;
    uint64_t i = 0;
    for (; i + 16 <= count; i += 16)
        for (int j = 0; j < 4; j++) {
            four size;
            memcpy(&size, value + i + 4 * j, sizeof size);
            size = (four)((four_words)size & 0x7fffffff);
            const four_words more = size > part[j];
            part[j] = sum ? part[j] + size : (four)(((four_words)size & more) | ((four_words)part[j] & ~more));
        }
    for (; i < count; i++)
        all = sum ? all + fabsf(value[i]) : fmaxf(all, fabsf(value[i]));
    for (int j = 0; j < 16; j++)
        all = sum ? all + part[j / 4][j % 4] : fmaxf(all, part[j / 4][j % 4]);
    return all;
}

/* Puts a row of the source, spread by the steps of a transposed convolution, into its place in the padded image. */
static void put_row(const struct ane_gemm *g, uint32_t channel, uint32_t row, const float *from)
{
    const struct ane_task *t = g->job->task;
    const uint64_t y = (uint64_t)row * t->step_y + t->pad_top;
    if (y >= g->height)
        return;
    float *to = g->image + ((uint64_t)channel * g->height + y) * g->width;
    for (uint64_t i = 0, x = t->pad_left; i < t->width_in && x < g->width; i++, x += t->step_x)
        to[x] = t->input_relu && from[i] < 0 ? 0 : from[i];
}

static bool load_rows(void *context, uint64_t first, uint64_t end)
{
    const struct ane_gemm *g = context;
    const struct ane_task *t = g->job->task;
    float *row = ane_gemm_room(t->width_in);
    if (!row)
        return false;
    for (uint64_t i = first; i < end; i++) {
        const uint32_t channel = (uint32_t)(i / t->height_in), y = (uint32_t)(i % t->height_in);
        ane_dma_load(g->job->core, &g->job->source, 0, channel, y, t->width_in, true, row);
        put_row(g, channel, y, row);
    }
    free(row);
    return true;
}

bool ane_gemm_load_image(struct ane_gemm *g)
{
    const struct ane_task *t = g->job->task;
    const uint64_t floats = (uint64_t)t->channels_in * g->height * g->width;
    g->image = ane_gemm_zeros(floats + ANE_GEMM_CHUNK);
    if (!g->image || !ane_parallel(g->job->threads, (uint64_t)t->channels_in * t->height_in, load_rows, g))
        return ane_fault_memory(g->job);
    g->largest = sizes(g->image, floats, false);
    return true;
}

static bool weights_from_banks(struct ane_gemm *g)
{
    struct ane_job *job = g->job;
    const struct ane_task *t = job->task;
    const struct ane_numeric *rules = &job->core->numeric;
    struct ane_weights w = {0};
    struct isa_error error = {.text = ""};
    if (!ane_weights_unpack(t, job->coefficients, job->coefficient_bytes, &w, &error))
        return ane_fault(job, UNIT_FAULT_UNMAPPED, error.offset, "coefficients: %s", error.text);
    const bool fits = w.channels == t->channels_out && w.per_channel == g->taps;
    for (size_t c = 0; fits && c < w.channels; c++) {
        job->core->set->expand(rules, true, (const uint8_t *)(w.weight + c * g->taps), g->weight + c * g->k, g->taps);
        g->bias[c] = w.bias ? ane_operand_value(rules, w.bias[c]) : 0;
    }
    for (unsigned i = 0; i < ANE_BANKS; i++)
        job->counts->coefficient_bytes += t->bank[i].enabled ? t->bank[i].bytes : 0;
    const size_t channels = w.channels, per_channel = w.per_channel;
    ane_weights_free(&w);
    return fits || ane_fault(job, UNIT_FAULT_UNMODELLED, 0, "%zu x %zu weights for a convolution of %u x %zu", channels,
                             per_channel, (unsigned)t->channels_out, g->taps);
}

/* Plane c of the second source holds the coefficients of output channel c, one after another along the width. */
static bool weights_from_source(struct ane_gemm *g)
{
    const struct ane_task *t = g->job->task;
    for (uint32_t c = 0; c < t->channels_out; c++)
        ane_dma_load(g->job->core, &g->job->second, 0, c, 0, (uint32_t)g->taps, true, g->weight + c * g->k);
    return true;
}

bool ane_gemm_load_weights(struct ane_gemm *g)
{
    const struct ane_task *t = g->job->task;
    g->weight =
        g->k == g->taps ? ane_gemm_room(t->channels_out * (uint64_t)g->k) : ane_gemm_zeros(t->channels_out * (uint64_t)g->k);
    g->bias = ane_gemm_zeros(t->channels_out);
    g->channel_sum = ane_gemm_zeros(t->channels_out);
    if (!g->weight || !g->bias || !g->channel_sum)
        return ane_fault_memory(g->job);
    if (!(t->ne_op == ANE_NE_MATMUL ? weights_from_source(g) : weights_from_banks(g)))
        return false;
    for (uint32_t c = 0; c < t->channels_out; c++)
        g->channel_sum[c] = sizes(g->weight + c * g->k, g->taps, true);
    return true;
}
