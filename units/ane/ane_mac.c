/* Convolution and matrix product: operands become panels of columns, the host's kernels compute the sums, and the results are
 * stored.
 *
 * The products of one output are taken channel after channel, and in a channel row after row of the kernel, `mac_group` at a
 * time: the order in which dense banks stream the coefficients (isa/ane/ane_bank.c, from joshuaswarren/mil-hwx-compiler). Sparse
 * banks stream the taps of one stride phase after those of another and leave out zeros; here their products are taken in the same
 * order as those of dense banks (our choice: no probe of sums covers them). Taps outside the image are products with 0, and so
 * are those that fill up the last group. Columns of a panel are output pixels, or output channels where that wastes fewer lanes.
 * That choice concerns only the host; the sums are the same.
 */
#include "units/ane/ane_mac_internal.h"

#include <stdlib.h>

enum { LANES = ANE_MAC_LANES };
/* Partial sums are watched where an operand's magnitude times the sum of the weights could come near the limit; one half leaves
 * room for the rounding of the group's adder. */
#define SAFE_PART 0.5f

/* Sums that came near the limit on the way are infinite if they reached it. */
static void apply_limit(const struct ane_gemm *g, const struct ane_mac_block *b, uint32_t count)
{
    const float limit = (float)g->job->core->numeric.mac_overflow;
    for (size_t row = 0; row < b->rows; row++)
        for (uint32_t i = 0; i < count; i++) {
            float *sum = b->out + row * LANES + i, peak;
            if (b->peak[row * LANES + i] >= limit)
                *sum = ane_mac_column(b, b->panel + i, b->weight + row * b->k, limit, &peak);
        }
}

static void multiply(const struct ane_gemm *g, const float *panel, const float *rows, uint32_t row_count, uint32_t count,
                     bool watch, float *out, float *peak)
{
    const struct ane_numeric *rules = &g->job->core->numeric;
    const struct ane_mac_block b = {.panel = panel,
                                    .weight = rows,
                                    .out = out,
                                    .peak = watch ? peak : NULL,
                                    .k = g->k,
                                    .rows = row_count,
                                    .group = rules->mac_group > 1 ? rules->mac_group : 1,
                                    .align = g->job->core->group_align};
    g->job->core->set->mac(&b);
    if (watch)
        apply_limit(g, &b, count);
}

static bool must_watch(const struct ane_gemm *g, uint32_t first_channel, uint32_t channels)
{
    float most = 0;
    for (uint32_t c = 0; c < channels; c++)
        most = fmaxf(most, g->channel_sum[first_channel + c]);
    return most * g->largest >= SAFE_PART * (float)g->job->core->numeric.mac_overflow;
}

struct scratch {
    float *panel, *out, *peak;
};

enum { ROWS_AT_ONCE = 32 };

static bool open_scratch(const struct ane_gemm *g, struct scratch *s)
{
    s->panel = ane_gemm_room((uint64_t)g->k * LANES + ANE_GEMM_CHUNK);
    s->out = ane_gemm_room((uint64_t)ROWS_AT_ONCE * LANES);
    s->peak = ane_gemm_room((uint64_t)ROWS_AT_ONCE * LANES);
    return s->panel && s->out && s->peak;
}

static void close_scratch(struct scratch *s)
{
    free(s->panel);
    free(s->out);
    free(s->peak);
}

static void pixel_tile(const struct ane_gemm *g, const struct scratch *s, uint32_t group, uint32_t first, uint32_t count)
{
    const uint32_t base = group * g->channels_out;
    ane_gemm_pixel_panel(g, group, first, count, s->panel);
    for (uint32_t c = 0; c < g->channels_out; c += ROWS_AT_ONCE) {
        const uint32_t rows = g->channels_out - c < ROWS_AT_ONCE ? g->channels_out - c : ROWS_AT_ONCE;
        multiply(g, s->panel, g->weight + (base + c) * (uint64_t)g->k, rows, count, must_watch(g, base + c, rows), s->out,
                 s->peak);
        for (uint32_t r = 0; r < rows; r++)
            memcpy(g->result + (uint64_t)(base + c + r) * g->pixels + first, s->out + r * LANES, count * sizeof(float));
    }
}

static void channel_tile(const struct ane_gemm *g, const struct scratch *s, uint32_t group, uint32_t first, uint32_t count)
{
    const uint32_t channel = group * g->channels_out + first;
    const bool watch = must_watch(g, channel, count);
    ane_gemm_channel_panel(g, channel, count, s->panel);
    for (uint32_t p = 0; p < g->pixels; p += ROWS_AT_ONCE) {
        const uint32_t rows = g->pixels - p < ROWS_AT_ONCE ? g->pixels - p : ROWS_AT_ONCE;
        multiply(g, s->panel, g->column + ((uint64_t)group * g->pixels + p) * g->k, rows, count, watch, s->out, s->peak);
        for (uint32_t r = 0; r < rows; r++)
            for (uint32_t i = 0; i < count; i++)
                g->result[(uint64_t)(channel + i) * g->pixels + p + r] = s->out[r * LANES + i];
    }
}

static uint64_t tiles_of(const struct ane_gemm *g)
{
    return ((g->by_channel ? g->channels_out : g->pixels) + LANES - 1) / LANES;
}

static bool run_tiles(void *context, uint64_t first, uint64_t end)
{
    const struct ane_gemm *g = context;
    const uint64_t tiles = tiles_of(g);
    const uint32_t columns = g->by_channel ? g->channels_out : g->pixels;
    struct scratch s;
    const bool ok = open_scratch(g, &s);
    for (uint64_t i = first; ok && i < end; i++) {
        const uint32_t at = (uint32_t)(i % tiles) * LANES, count = columns - at < LANES ? columns - at : LANES;
        (g->by_channel ? channel_tile : pixel_tile)(g, &s, (uint32_t)(i / tiles), at, count);
    }
    close_scratch(&s);
    return ok;
}

/* ---- results ---- */

static bool store_rows(void *context, uint64_t first, uint64_t end)
{
    const struct ane_gemm *g = context;
    const struct ane_task *t = g->job->task;
    uint64_t clamped = 0;
    for (uint64_t i = first; i < end; i++) {
        const uint32_t channel = (uint32_t)(i / t->height_out), row = (uint32_t)(i % t->height_out);
        float *value = g->result + i * t->width_out;
        clamped += ane_finish_row(g->job, g->bias[channel], value, t->width_out);
        ane_dma_store(g->job->core, &g->job->result, 0, channel, row, t->width_out, value);
    }
    __atomic_fetch_add(&g->job->counts->table_clamped, clamped, __ATOMIC_RELAXED);
    return true;
}

static bool multiply_all(struct ane_gemm *g)
{
    const struct ane_task *t = g->job->task;
    const uint64_t outputs = (uint64_t)t->channels_out * g->pixels;
    g->result = ane_gemm_room(outputs);
    if (!g->result || !ane_parallel(g->job->threads, tiles_of(g) * g->groups, run_tiles, g) ||
        !ane_parallel(ane_store_threads(g->job), (uint64_t)t->channels_out * t->height_out, store_rows, g))
        return ane_fault_memory(g->job);
    g->job->counts->macs += outputs * g->taps;
    g->job->counts->elements += outputs;
    if (t->nonlinear == ANE_TABLE)
        g->job->counts->table_lookups += outputs;
    return true;
}

/* ---- the task ---- */

/* True when the first channel of a group follows the last channel of the previous group. */
static bool groups_adjoin(const struct ane_operand *operand, uint32_t channels, uint32_t groups)
{
    const bool strides = operand->place == ANE_PLACE_DRAM || operand->place == ANE_PLACE_L2;
    return groups <= 1 || !strides || operand->group == (uint64_t)operand->plane * (channels / groups);
}

static bool check(struct ane_job *job, uint32_t groups)
{
    const struct ane_task *t = job->task;
    if (!t->kernel_width || !t->kernel_height || !t->stride_x || !t->stride_y || !t->step_x || !t->step_y)
        return ane_fault(job, UNIT_FAULT_UNMODELLED, 0, "a convolution with a kernel, stride or step of 0");
    if (!groups || t->channels_in % groups || t->channels_out % groups)
        return ane_fault(job, UNIT_FAULT_UNMODELLED, 0, "%u channels to %u in %u groups", (unsigned)t->channels_in,
                         (unsigned)t->channels_out, (unsigned)groups);
    if (t->ne_op == ANE_NE_CONVOLUTION &&
        !(groups_adjoin(&t->source, t->channels_in, t->groups) && groups_adjoin(&t->result, t->channels_out, t->groups)))
        return ane_fault(job, UNIT_FAULT_UNMODELLED, 0, "convolution groups whose channels do not follow one another");
    if (t->ne_op == ANE_NE_MATMUL && (t->kernel_width != 1 || t->kernel_height != 1 || t->second.place == ANE_PLACE_NONE))
        return ane_fault(job, UNIT_FAULT_UNMODELLED, 0, "a product of tensors with a kernel of %ux%u", (unsigned)t->kernel_height,
                         (unsigned)t->kernel_width);
    if (t->nonlinear == ANE_TABLE && t->ne_op == ANE_NE_CONVOLUTION)
        return ane_fault(job, UNIT_FAULT_UNMODELLED, 0, "a table beside weights in the same banks (no public program has it)");
    return true;
}

/* Prefers fewer idle lanes; when equal, pixels, whose panels are cheaper to fill. */
static bool prefer_channels(const struct ane_gemm *g)
{
    const uint64_t by_pixel = (g->pixels + LANES - 1) / LANES * LANES * (uint64_t)g->channels_out;
    const uint64_t by_channel = (g->channels_out + LANES - 1) / LANES * LANES * (uint64_t)g->pixels;
    return by_channel < by_pixel;
}

static bool shapes(struct ane_gemm *g)
{
    const struct ane_task *t = g->job->task;
    const uint64_t group = g->job->core->numeric.mac_group > 1 ? g->job->core->numeric.mac_group : 1;
    const uint64_t width = (t->width_out - 1) * (uint64_t)t->stride_x + t->kernel_width;
    const uint64_t height = (t->height_out - 1) * (uint64_t)t->stride_y + t->kernel_height;
    const uint64_t pixels = (uint64_t)t->width_out * t->height_out;
    g->channels_in = t->channels_in / g->groups;
    g->channels_out = t->channels_out / g->groups;
    g->taps = (size_t)g->channels_in * t->kernel_width * t->kernel_height;
    g->k = (g->taps + group - 1) / group * group;
    if (width * height > UINT32_MAX || pixels > UINT32_MAX)
        return ane_fault(g->job, UNIT_FAULT_UNMODELLED, 0, "an image of %llu pixels", (unsigned long long)(width * height));
    g->width = (uint32_t)width;
    g->height = (uint32_t)height;
    g->pixels = (uint32_t)pixels;
    g->by_channel = prefer_channels(g);
    return true;
}

bool ane_run_mac(struct ane_job *job)
{
    const struct ane_task *t = job->task;
    struct ane_gemm g = {.job = job, .groups = t->depthwise ? t->channels_in : t->groups};
    const bool ok = check(job, g.groups) && shapes(&g) && (t->nonlinear != ANE_TABLE || ane_lut_open(job)) &&
                    ane_gemm_load_image(&g) && ane_gemm_load_weights(&g) && (!g.by_channel || ane_gemm_make_columns(&g)) &&
                    multiply_all(&g);
    free(g.image);
    free(g.weight);
    free(g.bias);
    free(g.channel_sum);
    free(g.column);
    free(g.result);
    return ok;
}
