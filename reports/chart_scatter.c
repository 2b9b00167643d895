#include "reports/chart_parts.h"

#include <math.h>

void chart_scatter(struct text *out, const struct svg_frame *frame, const void *description)
{
    const struct chart_scatter *const c = description;
    struct chart_xy xy = {
        .x = {.label = "measured", .unit = c->unit, .log = true},
        .y = {.label = "predicted", .unit = c->unit, .log = true},
        .series = c->series,
        .count = c->count,
        .diagonal = true,
        .band = 1.25,
        .height = fmin(frame->width * 0.85, 520),
    };
    double low = NAN, high = NAN;
    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < c->series[i].points; k++) {
            chart_range_add(&low, &high, c->series[i].point[k].x, true);
            chart_range_add(&low, &high, c->series[i].point[k].y, true);
        }
    if (isfinite(low) && isfinite(high)) {
        xy.x.low = xy.y.low = low;
        xy.x.high = xy.y.high = high;
    }
    chart_xy(out, frame, &xy);
}
