/* Convolution and matrix product: operands as panels of columns, sums by the host's kernels, the way out.
 *
 * Products of one output are taken channel after channel, in a channel row after row of the kernel, `mac_group` at a time: the
 * order in which dense banks stream the coefficients (isa/ane/ane_bank.c, from joshuaswarren/mil-hwx-compiler). Sparse banks
 * stream the taps of one stride phase after those of another and leave out zeros; their products are taken in the same order as
 * dense ones (own choice: no probe of sums covers them). Taps outside the image are products with 0, and so are those that fill
 * up the last group. Columns of a panel are output pixels, or output channels where that wastes fewer lanes: which of the two is
 * the host's matter, the sums are the same.
 */
#include "units/ane/ane_internal.h"

#include <stdlib.h>

enum { LANES = ANE_MAC_LANES, ALIGN = 64, CHUNK = 16 /* floats copied at once */ };
/* Partial sums are watched where an operand's size times the weights' sum could come near the limit; half of it leaves room for
 * the rounding of the group's adder. */
#define SAFE_PART 0.5f

struct gemm {
    struct ane_job *job;
    uint32_t groups, channels_in, channels_out; /* channels of one group */
    uint32_t width, height;                     /* of the padded image, with what the kernel reads beyond */
    size_t taps, k;                             /* products of an output; rounded up to groups of the adder */
    uint32_t pixels;
    bool by_channel;    /* columns are output channels */
    float *image;       /* [channels of all groups][height][width] */
    float *weight;      /* [output channels of all groups][k] */
    float *bias;        /* of each output channel */
    float *channel_sum; /* sum of the sizes of a channel's weights */
    float *column;      /* by_channel: [groups][pixels][k] */
    float *result;      /* [output channels][pixels] */
    float largest;      /* of the image, by size */
};

static float *room_for(uint64_t floats)
{
    const uint64_t bytes = (floats * sizeof(float) + ALIGN) & ~(uint64_t)(ALIGN - 1);
    return floats > (uint64_t)1 << 40 ? NULL : aligned_alloc(ALIGN, bytes);
}

static float *zeros_for(uint64_t floats)
{
    float *room = room_for(floats);
    if (room)
        memset(room, 0, floats * sizeof *room);
    return room;
}

typedef float four __attribute__((vector_size(16)));
typedef int32_t four_words __attribute__((vector_size(16)));

/* Sum or maximum of sizes; several chains, because one would wait for its own result. */
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

/* ---- operands ---- */

/* A row of the source, spread by the steps of a transposed convolution, at its place in the padded image. */
static void put_row(const struct gemm *g, uint32_t channel, uint32_t row, const float *from)
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
    const struct gemm *g = context;
    const struct ane_task *t = g->job->task;
    float *row = room_for(t->width_in);
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

static bool load_image(struct gemm *g)
{
    const struct ane_task *t = g->job->task;
    const uint64_t floats = (uint64_t)t->channels_in * g->height * g->width;
    g->image = zeros_for(floats + CHUNK);
    if (!g->image || !ane_parallel(g->job->threads, (uint64_t)t->channels_in * t->height_in, load_rows, g))
        return ane_fault_memory(g->job);
    g->largest = sizes(g->image, floats, false);
    return true;
}

static bool weights_from_banks(struct gemm *g)
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
static bool weights_from_source(struct gemm *g)
{
    const struct ane_task *t = g->job->task;
    for (uint32_t c = 0; c < t->channels_out; c++)
        ane_dma_load(g->job->core, &g->job->second, 0, c, 0, (uint32_t)g->taps, true, g->weight + c * g->k);
    return true;
}

static bool load_weights(struct gemm *g)
{
    const struct ane_task *t = g->job->task;
    g->weight = g->k == g->taps ? room_for(t->channels_out * (uint64_t)g->k) : zeros_for(t->channels_out * (uint64_t)g->k);
    g->bias = zeros_for(t->channels_out);
    g->channel_sum = zeros_for(t->channels_out);
    if (!g->weight || !g->bias || !g->channel_sum)
        return ane_fault_memory(g->job);
    if (!(t->ne_op == ANE_NE_MATMUL ? weights_from_source(g) : weights_from_banks(g)))
        return false;
    for (uint32_t c = 0; c < t->channels_out; c++)
        g->channel_sum[c] = sizes(g->weight + c * g->k, g->taps, true);
    return true;
}

/* ---- panels ---- */

/* Where the window of an output pixel begins in a plane. */
static uint32_t window_place(const struct gemm *g, uint32_t pixel)
{
    const struct ane_task *t = g->job->task;
    return pixel / t->width_out * t->stride_y * g->width + pixel % t->width_out * t->stride_x;
}

/* Neighbouring columns of a panel whose windows are neighbours as well. */
struct side_by_side {
    uint32_t column, length, place;
};

static uint32_t find_runs(const struct gemm *g, uint32_t first, uint32_t count, struct side_by_side run[LANES])
{
    uint32_t runs = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t place = window_place(g, first + i);
        if (runs && run[runs - 1].place + run[runs - 1].length == place)
            run[runs - 1].length++;
        else
            run[runs++] = (struct side_by_side){i, 1, place};
    }
    return runs;
}

/* One row of a panel: the same tap of all windows. Whole chunks are copied; what they write too much comes again or is cleared.
 */
static void gather_tap(const float *plane, const struct side_by_side *run, uint32_t runs, uint32_t count, float *to)
{
    for (uint32_t r = 0; r < runs; r++)
        for (uint32_t i = 0; i < run[r].length; i += CHUNK)
            memcpy(to + run[r].column + i, plane + run[r].place + i, CHUNK * sizeof *to);
    for (uint32_t i = count; i < LANES; i++)
        to[i] = 0;
}

static void pixel_panel(const struct gemm *g, uint32_t group, uint32_t first, uint32_t count, float *panel)
{
    const struct ane_task *t = g->job->task;
    const float *plane = g->image + (uint64_t)group * g->channels_in * g->height * g->width;
    struct side_by_side run[LANES];
    const uint32_t runs = find_runs(g, first, count, run);
    for (uint32_t c = 0; c < g->channels_in; c++, plane += (uint64_t)g->height * g->width)
        for (uint32_t y = 0; y < t->kernel_height; y++)
            for (uint32_t x = 0; x < t->kernel_width; x++, panel += LANES)
                gather_tap(plane + (uint64_t)y * g->width + x, run, runs, count, panel);
    memset(panel, 0, (g->k - g->taps) * LANES * sizeof *panel);
}

/* Weights turned round, a few taps at a time so that what is written stays near. */
static void channel_panel(const struct gemm *g, uint32_t first, uint32_t count, float *panel)
{
    for (size_t k = 0; k < g->k; k += CHUNK) {
        const size_t taps = g->k - k < CHUNK ? g->k - k : CHUNK;
        for (uint32_t i = 0; i < LANES; i++) {
            const float *from = g->weight + (first + (i < count ? i : 0)) * g->k + k;
            for (size_t j = 0; j < taps; j++)
                panel[(k + j) * LANES + i] = i < count ? from[j] : 0;
        }
    }
}

/* All windows of a group as columns. */
static void gather_columns(const struct gemm *g, uint32_t group, float *to)
{
    const struct ane_task *t = g->job->task;
    for (uint32_t pixel = 0; pixel < g->pixels; pixel++) {
        const float *plane = g->image + (uint64_t)group * g->channels_in * g->height * g->width + window_place(g, pixel);
        float *row = to + (uint64_t)pixel * g->k;
        for (uint32_t c = 0; c < g->channels_in; c++, plane += (uint64_t)g->height * g->width)
            for (uint32_t y = 0; y < t->kernel_height; y++, row += t->kernel_width)
                memcpy(row, plane + (uint64_t)y * g->width, t->kernel_width * sizeof *row);
    }
}

static bool make_columns(struct gemm *g)
{
    const uint64_t each = (uint64_t)g->pixels * g->k;
    g->column = zeros_for(each * g->groups);
    if (!g->column)
        return ane_fault_memory(g->job);
    for (uint32_t group = 0; group < g->groups; group++)
        gather_columns(g, group, g->column + group * each);
    return true;
}

/* ---- sums ---- */

/* Sums that came near the limit on their way are infinite when they reached it. */
static void apply_limit(const struct gemm *g, const struct ane_mac_block *b, uint32_t count)
{
    const float limit = (float)g->job->core->numeric.mac_overflow;
    for (size_t row = 0; row < b->rows; row++)
        for (uint32_t i = 0; i < count; i++) {
            float *sum = b->out + row * LANES + i, peak;
            if (b->peak[row * LANES + i] >= limit)
                *sum = ane_mac_column(b, b->panel + i, b->weight + row * b->k, limit, &peak);
        }
}

static void multiply(const struct gemm *g, const float *panel, const float *rows, uint32_t row_count, uint32_t count, bool watch,
                     float *out, float *peak)
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

static bool must_watch(const struct gemm *g, uint32_t first_channel, uint32_t channels)
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

static bool open_scratch(const struct gemm *g, struct scratch *s)
{
    s->panel = room_for((uint64_t)g->k * LANES + CHUNK);
    s->out = room_for((uint64_t)ROWS_AT_ONCE * LANES);
    s->peak = room_for((uint64_t)ROWS_AT_ONCE * LANES);
    return s->panel && s->out && s->peak;
}

static void close_scratch(struct scratch *s)
{
    free(s->panel);
    free(s->out);
    free(s->peak);
}

static void pixel_tile(const struct gemm *g, const struct scratch *s, uint32_t group, uint32_t first, uint32_t count)
{
    const uint32_t base = group * g->channels_out;
    pixel_panel(g, group, first, count, s->panel);
    for (uint32_t c = 0; c < g->channels_out; c += ROWS_AT_ONCE) {
        const uint32_t rows = g->channels_out - c < ROWS_AT_ONCE ? g->channels_out - c : ROWS_AT_ONCE;
        multiply(g, s->panel, g->weight + (base + c) * (uint64_t)g->k, rows, count, must_watch(g, base + c, rows), s->out,
                 s->peak);
        for (uint32_t r = 0; r < rows; r++)
            memcpy(g->result + (uint64_t)(base + c + r) * g->pixels + first, s->out + r * LANES, count * sizeof(float));
    }
}

static void channel_tile(const struct gemm *g, const struct scratch *s, uint32_t group, uint32_t first, uint32_t count)
{
    const uint32_t channel = group * g->channels_out + first;
    const bool watch = must_watch(g, channel, count);
    channel_panel(g, channel, count, s->panel);
    for (uint32_t p = 0; p < g->pixels; p += ROWS_AT_ONCE) {
        const uint32_t rows = g->pixels - p < ROWS_AT_ONCE ? g->pixels - p : ROWS_AT_ONCE;
        multiply(g, s->panel, g->column + ((uint64_t)group * g->pixels + p) * g->k, rows, count, watch, s->out, s->peak);
        for (uint32_t r = 0; r < rows; r++)
            for (uint32_t i = 0; i < count; i++)
                g->result[(uint64_t)(channel + i) * g->pixels + p + r] = s->out[r * LANES + i];
    }
}

static uint64_t tiles_of(const struct gemm *g)
{
    return ((g->by_channel ? g->channels_out : g->pixels) + LANES - 1) / LANES;
}

static bool run_tiles(void *context, uint64_t first, uint64_t end)
{
    const struct gemm *g = context;
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

/* ---- the way out ---- */

static bool store_rows(void *context, uint64_t first, uint64_t end)
{
    const struct gemm *g = context;
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

static bool multiply_all(struct gemm *g)
{
    const struct ane_task *t = g->job->task;
    const uint64_t outputs = (uint64_t)t->channels_out * g->pixels;
    g->result = room_for(outputs);
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

/* The first channel of a group lies behind the last of the group before. */
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

/* Fewer idle lanes win; equal: pixels, whose panels are cheaper to fill. */
static bool prefer_channels(const struct gemm *g)
{
    const uint64_t by_pixel = (g->pixels + LANES - 1) / LANES * LANES * (uint64_t)g->channels_out;
    const uint64_t by_channel = (g->channels_out + LANES - 1) / LANES * LANES * (uint64_t)g->pixels;
    return by_channel < by_pixel;
}

static bool shapes(struct gemm *g)
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
    struct gemm g = {.job = job, .groups = t->depthwise ? t->channels_in : t->groups};
    const bool ok = check(job, g.groups) && shapes(&g) && (t->nonlinear != ANE_TABLE || ane_lut_open(job)) && load_image(&g) &&
                    load_weights(&g) && (!g.by_channel || make_columns(&g)) && multiply_all(&g);
    free(g.image);
    free(g.weight);
    free(g.bias);
    free(g.channel_sum);
    free(g.column);
    free(g.result);
    return ok;
}
