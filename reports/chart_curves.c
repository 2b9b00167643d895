/* Small pictures side by side, with the same scale of y. */
#include "reports/chart_parts.h"

#include <math.h>
#include <string.h>

struct layout {
    unsigned columns;
    double width, height, plot; /* width and height of a cell, height of its box */
    double left;                /* space before the first column, for the labels of y */
    double top;                 /* space above, for the legend */
};

static void range_of(const struct chart_curves *c, double *low, double *high)
{
    *low = *high = NAN;
    for (size_t p = 0; p < c->panels; p++)
        for (size_t i = 0; i < c->panel[p].count; i++)
            for (size_t k = 0; k < c->panel[p].series[i].points; k++) {
                const struct chart_point *const q = &c->panel[p].series[i].point[k];
                chart_range_add(low, high, q->y, c->y.log);
                chart_range_add(low, high, q->low, c->y.log);
                chart_range_add(low, high, q->high, c->y.log);
            }
}

static void draw_panel(struct svg *svg, const struct chart_curves *c, size_t index, const struct layout *l, struct scale y)
{
    const struct chart_panel *const p = &c->panel[index];
    const unsigned column = (unsigned)(index % l->columns), row = (unsigned)(index / l->columns);
    struct chart_box box;
    struct scale x = {0};
    double low = NAN, high = NAN;
    char title[160], cut[160];

    box.left = l->left + column * l->width + (column ? 10 : 0);
    box.right = l->left + (column + 1) * l->width - 8;
    box.top = l->top + row * l->height + 24;
    box.bottom = box.top + l->plot;
    for (size_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < p->series[i].points; k++)
            chart_range_add(&low, &high, p->series[i].point[k].x, p->x.log);
    x.from = box.left + 6;
    x.to = box.right - 6;
    chart_axis_fit(&p->x, low, high, &x, (unsigned)fmax(2, l->width / 70));
    y.from = box.bottom;
    y.to = box.top;
    for (unsigned i = 0; i < y.ticks; i++) {
        const double at = scale_at(&y, y.tick[i]);
        char label[SCALE_LABEL];
        svg_line(svg, "grid", box.left, at, box.right, at);
        if (column == 0)
            svg_text(svg, "soft", SVG_END, box.left - 6, at + 4, scale_label(&y, y.tick[i], label));
    }
    /* An axis needs no title when that of the panel names it. */
    chart_axis_title(&p->x, &x, title, sizeof title);
    chart_draw_x(svg, &box, &x, strcmp(title, p->title) == 0 ? NULL : title);
    svg_text(svg, "strong", SVG_START, box.left, box.top - 8, svg_text_cut(p->title, box.right - box.left, cut, sizeof cut));
    chart_draw_series(svg, p->series, p->count, &x, &y);
}

void chart_curves(struct text *out, const struct svg_frame *frame, const void *description)
{
    const struct chart_curves *const c = description;
    const bool narrow = frame->width < CHART_NARROW;
    const unsigned most = narrow ? 1 : 3;
    struct layout l = {.columns = c->panels < most ? (unsigned)(c->panels ? c->panels : 1) : most, .plot = narrow ? 150 : 170};
    struct chart_key keys[64];
    struct scale y = {.from = l.plot, .to = 0};
    struct svg svg;
    double low, high;
    char title[160];
    const size_t key_count = c->panels ? chart_keys_of(c->panel[0].series, c->panel[0].count, keys, 64) : 0;

    range_of(c, &low, &high);
    chart_axis_fit(&c->y, low, high, &y, 4);
    l.left = chart_label_width(&y) + 12;
    l.width = (frame->width - l.left) / l.columns;
    l.height = l.plot + 70;
    l.top = chart_legend_height(keys, key_count, frame->width) + 24;
    const size_t rows = (c->panels + l.columns - 1) / l.columns;
    svg_begin(&svg, out, frame, l.top + l.height * (double)rows);
    chart_legend(&svg, keys, key_count, 0);
    svg_text(&svg, "soft", SVG_START, 0, l.top - 6, chart_axis_title(&c->y, &y, title, sizeof title));
    for (size_t i = 0; i < c->panels; i++)
        draw_panel(&svg, c, i, &l, y);
    svg_end(&svg);
}
