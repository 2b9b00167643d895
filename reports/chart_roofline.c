#include "reports/chart_parts.h"

#include <math.h>
#include <stdlib.h>

/* Finds the ends of the axis of intensity, such that all points and the edge of every roof are inside. */
static void intensity_range(const struct chart_roofline *c, double *low, double *high)
{
    *low = *high = NAN;
    for (size_t i = 0; i < c->roofs; i++)
        chart_range_add(low, high, c->roof[i].peak / c->roof[i].bandwidth, true);
    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < c->series[i].points; k++)
            chart_range_add(low, high, c->series[i].point[k].x, true);
    struct scale s = {.from = 0, .to = 1};
    scale_fit(&s, isnan(*low) ? 0.1 : *low / 8, isnan(*high) ? 100 : *high * 4, true, false, 6);
    *low = s.low;
    *high = s.high;
}

/* A roof has three points: its beginning, its edge and its end. */
static void roof_series(const struct chart_roof *r, double low, double high, struct chart_point point[3],
                        struct chart_series *series)
{
    const double edge = fmin(fmax(r->peak / r->bandwidth, low), high);
    const double at[3] = {low, edge, high};
    for (int i = 0; i < 3; i++)
        point[i] = (struct chart_point){at[i], fmin(r->peak, at[i] * r->bandwidth), NAN, NAN, NULL};
    *series = (struct chart_series){r->name, r->colour, SVG_NO_MARK, false, true, r->dashed, point, 3};
}

void chart_roofline(struct text *out, const struct svg_frame *frame, const void *description)
{
    const struct chart_roofline *const c = description;
    struct chart_series *const all = calloc(c->roofs + c->count + 1, sizeof *all);
    struct chart_point(*const edge)[3] = calloc(c->roofs + 1, sizeof *edge);
    double low, high;

    if (!all || !edge) {
        out->failed = true;
    } else {
        intensity_range(c, &low, &high);
        for (size_t i = 0; i < c->roofs; i++)
            roof_series(&c->roof[i], low, high, edge[i], &all[i]);
        for (size_t i = 0; i < c->count; i++)
            all[c->roofs + i] = c->series[i];
        const struct chart_xy xy = {
            .x = {.label = "operations per byte of DRAM traffic", .unit = "flop/byte", .log = true, .low = low, .high = high},
            .y = {.label = "rate", .unit = c->rate_unit, .log = true, .si = true},
            .series = all,
            .count = c->roofs + c->count,
        };
        chart_xy(out, frame, &xy);
    }
    free(all);
    free(edge);
}
