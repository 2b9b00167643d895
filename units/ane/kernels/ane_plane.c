#include "units/ane/kernels/ane_plane.h"

/* Lines per row: the most that are no wider than `widest` and divide the image, without a gap after them. 0 = none. */
static uint32_t lines_per_row(uint64_t widest, uint32_t h, uint32_t w)
{
    for (uint32_t lines = h; lines > 0; lines--) {
        const uint64_t width = (uint64_t)lines * w;
        if (h % lines == 0 && width <= widest && (lines == h || width * ANE_HALF_BYTES % ANE_ROW_BYTES == 0))
            return lines;
    }
    return 0;
}

struct ane_planes ane_planes_place(struct ane_builder *b, uint32_t n, uint32_t c, uint32_t h, uint32_t w, uint32_t rows_max)
{
    struct ane_planes p = {.n = n, .c = c, .h = h, .w = w, .rows = 1, .width = 1};
    /* A row of all channels and its neighbours pass through the tile memory: rows of a quarter of it, if they are not too many.
     */
    const uint64_t quarter = b->request->limits.l2_bytes / 4 / ANE_HALF_BYTES / c, widest = b->request->limits.dimension_max;
    uint32_t lines = lines_per_row(quarter < widest ? quarter : widest, h, w);
    if (!lines || h / lines > rows_max)
        lines = lines_per_row(widest, h, w);
    if (lines && h / lines <= rows_max) {
        p.rows = h / lines;
        p.width = lines * w;
    } else if (lines) {
        ane_build_limit(b, "planes of %ux%u make %u rows, %s gathers at most %u", (unsigned)h, (unsigned)w, (unsigned)(h / lines),
                        ane_build_generation(b), (unsigned)rows_max);
    } else {
        ane_build_limit(
            b, "planes of %ux%u: beyond %u elements (%s) only lines that together make multiples of 32 follow one another",
            (unsigned)h, (unsigned)w, (unsigned)b->request->limits.dimension_max, ane_build_generation(b));
    }
    return p;
}

static void name_planes(struct ane_builder *b, const struct ane_planes *p, const char *name, enum ane_tensor_role role,
                        const struct ane_view *view, double low, double high)
{
    struct ane_kernel_tensor *t = ane_build_tensor(b, name, role, view, low, high);
    ane_tensor_axis(t, p->n, ane_view_bytes(view));
    ane_tensor_axis(t, p->c, view->plane);
    ane_tensor_axis(t, p->h, (uint64_t)p->w * ANE_HALF_BYTES);
    ane_tensor_axis(t, p->w, ANE_HALF_BYTES);
}

struct ane_view ane_planes_input(struct ane_builder *b, const struct ane_planes *p, const char *name, double low, double high)
{
    const struct ane_view view = ane_build_input(b, name, p->n, p->c, p->rows, p->width);
    name_planes(b, p, name, ANE_TENSOR_INPUT, &view, low, high);
    return view;
}

struct ane_view ane_planes_output(struct ane_builder *b, const struct ane_planes *p, const char *name)
{
    const struct ane_view view = ane_build_output(b, name, p->n, p->c, p->rows, p->width);
    name_planes(b, p, name, ANE_TENSOR_OUTPUT, &view, 0, 0);
    return view;
}

struct ane_view ane_planes_values(struct ane_builder *b, const struct ane_planes *p, const char *name)
{
    const struct ane_view view = ane_build_output(b, name, p->n, p->c, 1, 1);
    struct ane_kernel_tensor *t = ane_build_tensor(b, name, ANE_TENSOR_OUTPUT, &view, 0, 0);
    ane_tensor_axis(t, p->n, ane_view_bytes(&view));
    ane_tensor_axis(t, p->c, view.plane);
    return view;
}
