#include "reports/chart_parts.h"

void chart_lines(struct text *out, const struct svg_frame *frame, const void *description)
{
    const struct chart_lines *const c = description;
    const struct chart_xy xy = {
        .x = c->time, .y = c->y, .series = c->series, .count = c->count, .height = frame->width < CHART_NARROW ? 220 : 260};
    chart_xy(out, frame, &xy);
}
