#include "reports/chart_parts.h"

#include <math.h>
#include <stdio.h>

enum { ROW = 28, BAR = 16 };

/* Draws one half of a bar, from the base to the response at a setting, with the name of the setting beside it. */
static void draw_end(struct svg *svg, const struct chart_swing *w, bool high, double base, const struct scale *s, double y)
{
    const double value = high ? w->high : w->low, from = scale_at(s, base), to = scale_at(s, value);
    const char *const setting = high ? w->high_name : w->low_name;
    char hover[256];
    if (!isfinite(value))
        return;
    snprintf(hover, sizeof hover, "%.100s = %.60s: %.4g", w->name, setting ? setting : high ? "high" : "low", value);
    svg_rect(svg, high ? "bar f3" : "bar f0", fmin(from, to), y - BAR / 2.0, fabs(to - from), BAR, hover);
}

/* Writes the names of both settings beyond the ends of the bar, if there is room for them. */
static void draw_settings(struct svg *svg, const struct chart_swing *w, const struct scale *s, const struct chart_box *box,
                          double y)
{
    const bool turned = w->low > w->high;
    const char *const left = turned ? w->high_name : w->low_name, *const right = turned ? w->low_name : w->high_name;
    const double from = scale_at(s, fmin(w->low, w->high)), to = scale_at(s, fmax(w->low, w->high));
    if (left && from - 4 - svg_text_width(left) > box->left)
        svg_text(svg, "soft", SVG_END, from - 4, y + 4, left);
    if (right && to + 4 + svg_text_width(right) < svg->width)
        svg_text(svg, "soft", SVG_START, to + 4, y + 4, right);
}

void chart_tornado(struct text *out, const struct svg_frame *frame, const void *description)
{
    static const struct chart_key keys[] = {{.name = "at the setting where it is least", .colour = 0, .area = true},
                                            {.name = "where it is greatest", .colour = 3, .area = true}};
    const struct chart_tornado *const c = description;
    const double names = chart_names_width(&c->swing->name, sizeof *c->swing, c->swings, frame->width);
    const double legend = chart_legend_height(keys, 2, frame->width);
    struct chart_box box = {names, legend + 4, frame->width - 60, legend + 4 + ROW * (double)c->swings};
    struct scale s = {.from = box.left + 50, .to = box.right};
    struct svg svg;
    double low = c->base, high = c->base;
    char title[160], cut[160];

    for (size_t i = 0; i < c->swings; i++) {
        chart_range_add(&low, &high, c->swing[i].low, c->axis.log);
        chart_range_add(&low, &high, c->swing[i].high, c->axis.log);
    }
    chart_axis_fit(&c->axis, low, high, &s, (unsigned)((s.to - s.from) / 80));
    svg_begin(&svg, out, frame, box.bottom + 42);
    chart_legend(&svg, keys, 2, 0);
    chart_draw_x(&svg, &box, &s, chart_axis_title(&c->axis, &s, title, sizeof title));
    for (size_t i = 0; i < c->swings; i++) {
        const struct chart_swing *const w = &c->swing[i];
        const double y = box.top + ROW * ((double)i + 0.5);
        svg_text(&svg, "", SVG_END, names - 8, y + 4, svg_text_cut(w->name, names - 8, cut, sizeof cut));
        draw_end(&svg, w, false, c->base, &s, y);
        draw_end(&svg, w, true, c->base, &s, y);
        draw_settings(&svg, w, &s, &box, y);
    }
    svg_line(&svg, "whisker", scale_at(&s, c->base), box.top, scale_at(&s, c->base), box.bottom);
    svg_end(&svg);
}
