/* Panels of columns for the MAC kernels: one row per tap, one column per output pixel or output channel. */
#include "units/ane/ane_mac_internal.h"

enum { LANES = ANE_MAC_LANES };

/* Where the window of an output pixel begins in a plane. */
static uint32_t window_place(const struct ane_gemm *g, uint32_t pixel)
{
    const struct ane_task *t = g->job->task;
    return pixel / t->width_out * t->stride_y * g->width + pixel % t->width_out * t->stride_x;
}

/* Neighbouring columns of a panel whose windows are neighbours, too. */
struct side_by_side {
    uint32_t column, length, place;
};

static uint32_t find_runs(const struct ane_gemm *g, uint32_t first, uint32_t count, struct side_by_side run[LANES])
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

/* Fills one row of a panel: the same tap of all windows. Whole chunks are copied; the excess is overwritten or cleared
 * afterwards.
 */
static void gather_tap(const float *plane, const struct side_by_side *run, uint32_t runs, uint32_t count, float *to)
{
    for (uint32_t r = 0; r < runs; r++)
        for (uint32_t i = 0; i < run[r].length; i += ANE_GEMM_CHUNK)
            memcpy(to + run[r].column + i, plane + run[r].place + i, ANE_GEMM_CHUNK * sizeof *to);
    for (uint32_t i = count; i < LANES; i++)
        to[i] = 0;
}

void ane_gemm_pixel_panel(const struct ane_gemm *g, uint32_t group, uint32_t first, uint32_t count, float *panel)
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

/* Transposes weights, a few taps at a time, so that the writes stay close together. */
void ane_gemm_channel_panel(const struct ane_gemm *g, uint32_t first, uint32_t count, float *panel)
{
    for (size_t k = 0; k < g->k; k += ANE_GEMM_CHUNK) {
        const size_t taps = g->k - k < ANE_GEMM_CHUNK ? g->k - k : ANE_GEMM_CHUNK;
        for (uint32_t i = 0; i < LANES; i++) {
            const float *from = g->weight + (first + (i < count ? i : 0)) * g->k + k;
            for (size_t j = 0; j < taps; j++)
                panel[(k + j) * LANES + i] = i < count ? from[j] : 0;
        }
    }
}

/* Copies all windows of a group as columns. */
static void gather_columns(const struct ane_gemm *g, uint32_t group, float *to)
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

bool ane_gemm_make_columns(struct ane_gemm *g)
{
    const uint64_t each = (uint64_t)g->pixels * g->k;
    g->column = ane_gemm_zeros(each * g->groups);
    if (!g->column)
        return ane_fault_memory(g->job);
    for (uint32_t group = 0; group < g->groups; group++)
        gather_columns(g, group, g->column + group * each);
    return true;
}
