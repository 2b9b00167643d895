#include "reports/chart_parts.h"

#include <math.h>
#include <stdio.h>

enum { ROW = 26, BAR = 18 };

static void draw_interval(struct svg *svg, const struct chart_interval *v, const struct scale *s, double top)
{
    const double from = scale_at(s, v->begin), to = fmax(scale_at(s, v->end), from + 0.6);
    const double y = top + ROW * (double)v->lane + (ROW - BAR) / 2.0;
    char classes[32];
    snprintf(classes, sizeof classes, "bar f%u", v->colour % SVG_COLOURS);
    svg_rect(svg, classes, from, y, to - from, BAR, v->name);
}

void chart_timeline(struct text *out, const struct svg_frame *frame, const void *description)
{
    const struct chart_timeline *const c = description;
    const double names = chart_names_width(c->lanes, sizeof *c->lanes, c->lane_count, frame->width);
    struct chart_box box = {names, 4, frame->width - 12, 4 + ROW * (double)c->lane_count};
    struct scale s = {.from = box.left, .to = box.right};
    struct svg svg;
    double low = 0, high = 0;
    char title[160], cut[160];

    for (size_t i = 0; i < c->intervals; i++)
        chart_range_add(&low, &high, c->interval[i].end, false);
    chart_axis_fit(&c->time, low, high, &s, (unsigned)((s.to - s.from) / 70));
    svg_begin(&svg, out, frame, box.bottom + 42);
    chart_draw_x(&svg, &box, &s, chart_axis_title(&c->time, &s, title, sizeof title));
    for (size_t i = 0; i < c->lane_count; i++)
        svg_text(&svg, "", SVG_END, names - 8, box.top + ROW * ((double)i + 0.5) + 4,
                 svg_text_cut(c->lanes[i], names - 8, cut, sizeof cut));
    for (size_t i = 0; i < c->intervals; i++)
        draw_interval(&svg, &c->interval[i], &s, box.top);
    svg_end(&svg);
}
