#include "reports/chart_parts.h"

#include <math.h>
#include <stdio.h>

enum { ROW = 26, BAR = 14 };

static void range_of(const struct chart_bars *c, double *low, double *high)
{
    *low = *high = NAN;
    for (size_t i = 0; i < c->bars; i++) {
        chart_range_add(low, high, c->bar[i].value, c->axis.log);
        chart_range_add(low, high, c->bar[i].low, c->axis.log);
        chart_range_add(low, high, c->bar[i].high, c->axis.log);
    }
}

static void draw_whisker(struct svg *svg, const struct scale *s, double low, double high, double y)
{
    const double from = scale_at(s, low), to = scale_at(s, high);
    if (!isfinite(low) || !isfinite(high) || !(high > low))
        return;
    svg_line(svg, "whisker", from, y, to, y);
    svg_line(svg, "whisker", from, y - 4, from, y + 4);
    svg_line(svg, "whisker", to, y - 4, to, y + 4);
}

static void draw_bar(struct svg *svg, const struct chart_bar *b, const struct scale *s, double names, double top)
{
    char classes[32], cut[160], hover[256];
    const double from = s->log ? s->from : scale_at(s, 0), to = scale_at(s, b->value), y = top + ROW / 2.0;
    svg_text(svg, "", SVG_END, names - 8, y + 4, svg_text_cut(b->name, names - 8, cut, sizeof cut));
    svg_text(svg, "soft", SVG_START, s->to + 8, y + 4, b->shown ? b->shown : "");
    if (!isfinite(b->value))
        return;
    snprintf(classes, sizeof classes, "bar f%u", b->colour % SVG_COLOURS);
    snprintf(hover, sizeof hover, "%.120s: %.80s", b->name, b->shown ? b->shown : "");
    svg_rect(svg, classes, fmin(from, to), y - BAR / 2.0, fabs(to - from), BAR, hover);
    draw_whisker(svg, s, b->low, b->high, y);
}

void chart_bars(struct text *out, const struct svg_frame *frame, const void *description)
{
    const struct chart_bars *const c = description;
    const double names = chart_names_width(&c->bar->name, sizeof *c->bar, c->bars, frame->width);
    struct chart_box box = {.left = names, .top = 4, .bottom = 4 + ROW * (double)c->bars};
    struct scale s = {.from = names};
    struct svg svg;
    double low, high, shown = 0;
    char title[160];

    for (size_t i = 0; i < c->bars; i++)
        shown = fmax(shown, svg_text_width(c->bar[i].shown));
    box.right = s.to = frame->width - shown - 14;
    range_of(c, &low, &high);
    chart_axis_fit(&c->axis, low, high, &s, (unsigned)((s.to - s.from) / 70));
    svg_begin(&svg, out, frame, box.bottom + 42);
    chart_draw_x(&svg, &box, &s, chart_axis_title(&c->axis, &s, title, sizeof title));
    for (size_t i = 0; i < c->bars; i++)
        draw_bar(&svg, &c->bar[i], &s, names, box.top + ROW * (double)i);
    svg_end(&svg);
}
