/* Points and lines over two axes, which most charts are made of. */
#include "reports/chart_parts.h"

#include <math.h>
#include <stdio.h>

/* ---- series ---- */

static bool has_place(const struct chart_point *p, const struct scale *x, const struct scale *y)
{
    return isfinite(p->x) && isfinite(p->y) && (!x->log || p->x > 0) && (!y->log || p->y > 0);
}

/* Leaves out vertices that the line through the others misses by less than LINE_ERROR ("swinging door"): as long as some slope
 * from the last vertex passes all points since then closely enough, only the newest point is remembered. */
#define LINE_ERROR 0.15 /* pixels */
struct door {
    double x, y, low, high; /* the last vertex, and the range of slopes that pass all points since then */
    double next_x, next_y;  /* the newest point */
    bool begun, waiting;
};

static void door_end(struct svg *svg, struct door *d)
{
    if (d->waiting)
        svg_path_to(svg, d->next_x, d->next_y);
    d->waiting = false;
}

static void door_vertex(struct door *d, double x, double y)
{
    d->x = x;
    d->y = y;
    d->low = -HUGE_VAL;
    d->high = HUGE_VAL;
    d->begun = true;
}

static void door_to(struct svg *svg, struct door *d, double x, double y)
{
    if (!d->begun || x <= (d->waiting ? d->next_x : d->x)) { /* the first point, or a vertical line */
        door_end(svg, d);
        svg_path_to(svg, x, y);
        door_vertex(d, x, y);
        return;
    }
    const double slope = (y - d->y) / (x - d->x);
    if (d->waiting && (slope < d->low || slope > d->high)) {
        const double vx = d->next_x, vy = d->next_y;
        door_end(svg, d);
        door_vertex(d, vx, vy);
    }
    d->low = fmax(d->low, (y - LINE_ERROR - d->y) / (x - d->x));
    d->high = fmin(d->high, (y + LINE_ERROR - d->y) / (x - d->x));
    d->next_x = x;
    d->next_y = y;
    d->waiting = true;
}

/* A line within one column of pixels: where it enters, its lowest and highest points, where it leaves. */
struct column {
    double x, first, low, high, last;
    bool open;
};

static void flush(struct svg *svg, struct door *door, struct column *c)
{
    if (!c->open)
        return;
    door_to(svg, door, c->x, c->first);
    if (c->low != c->first && c->low != c->last)
        door_to(svg, door, c->x, c->low);
    if (c->high != c->first && c->high != c->last)
        door_to(svg, door, c->x, c->high);
    if (c->last != c->first)
        door_to(svg, door, c->x, c->last);
    c->open = false;
}

/* At most four points are left in each column of pixels; a line of few points keeps them all. */
static void draw_line(struct svg *svg, const struct chart_series *s, const struct scale *x, const struct scale *y)
{
    const bool thin_out = (double)s->points > x->to - x->from;
    struct column c = {0};
    struct door door = {0};
    char classes[48];
    svg_path_begin(svg);
    for (size_t i = 0; i < s->points; i++) {
        const struct chart_point *p = &s->point[i];
        if (!has_place(p, x, y))
            continue;
        const double px = thin_out ? floor(scale_at(x, p->x)) : scale_at(x, p->x), py = scale_at(y, p->y);
        if (!c.open || px != c.x || !thin_out) {
            flush(svg, &door, &c);
            c = (struct column){px, py, py, py, py, true};
        }
        c.low = fmin(c.low, py);
        c.high = fmax(c.high, py);
        c.last = py;
    }
    flush(svg, &door, &c);
    door_end(svg, &door);
    snprintf(classes, sizeof classes, "curve s%u%s", s->colour % SVG_COLOURS, s->dashed ? " dash thin" : "");
    svg_path_end(svg, classes, false);
}

static void draw_points(struct svg *svg, const struct chart_series *s, double radius, const struct scale *x,
                        const struct scale *y)
{
    char classes[48];
    snprintf(classes, sizeof classes, "curve thin s%u", s->colour % SVG_COLOURS);
    for (size_t i = 0; i < s->points; i++) {
        const struct chart_point *p = &s->point[i];
        if (has_place(p, x, y) && isfinite(p->low) && isfinite(p->high) && p->high > p->low)
            svg_line(svg, classes, scale_at(x, p->x), scale_at(y, p->low), scale_at(x, p->x), scale_at(y, p->high));
    }
    svg_marks_begin(svg, s->colour, s->hollow);
    for (size_t i = 0; i < s->points; i++)
        if (has_place(&s->point[i], x, y))
            svg_draw_mark(svg, s->mark, scale_at(x, s->point[i].x), scale_at(y, s->point[i].y), radius, s->point[i].name);
    svg_marks_end(svg);
}

void chart_draw_series(struct svg *svg, const struct chart_series *series, size_t count, const struct scale *x,
                       const struct scale *y)
{
    size_t marks = 0;
    for (size_t i = 0; i < count; i++)
        marks += series[i].mark != SVG_NO_MARK ? series[i].points : 0;
    const double radius = marks > 300 ? 3.4 : marks > 60 ? 4 : 5;
    for (size_t i = 0; i < count; i++)
        if (series[i].line && series[i].points)
            draw_line(svg, &series[i], x, y);
    for (size_t i = 0; i < count; i++)
        if (series[i].mark != SVG_NO_MARK)
            draw_points(svg, &series[i], radius, x, y);
}

/* ---- the whole picture ---- */

static void ranges(const struct chart_xy *c, double x[2], double y[2])
{
    x[0] = x[1] = y[0] = y[1] = NAN;
    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < c->series[i].points; k++) {
            const struct chart_point *p = &c->series[i].point[k];
            chart_range_add(&x[0], &x[1], p->x, c->x.log);
            chart_range_add(&y[0], &y[1], p->y, c->y.log);
            chart_range_add(&y[0], &y[1], p->low, c->y.log);
            chart_range_add(&y[0], &y[1], p->high, c->y.log);
        }
}

/* Draws y = factor * x over logarithmic axes, cut off where it leaves the picture. */
static void slanted(const struct scale *x, const struct scale *y, double factor, double at[4])
{
    const double from = fmax(x->low, y->low / factor), to = fmin(x->high, y->high / factor);
    at[0] = scale_at(x, from);
    at[1] = scale_at(y, from * factor);
    at[2] = scale_at(x, to);
    at[3] = scale_at(y, to * factor);
}

static void draw_diagonal(struct svg *svg, const struct chart_xy *c, const struct scale *x, const struct scale *y)
{
    double above[4], below[4], middle[4];
    if (c->band > 1) {
        slanted(x, y, c->band, above);
        slanted(x, y, 1 / c->band, below);
        svg_path_begin(svg);
        svg_path_to(svg, x->from, y->from);
        svg_path_to(svg, above[0], above[1]);
        svg_path_to(svg, above[2], above[3]);
        svg_path_to(svg, x->to, y->to);
        svg_path_to(svg, below[2], below[3]);
        svg_path_to(svg, below[0], below[1]);
        svg_path_end(svg, "band", true);
    }
    slanted(x, y, 1, middle);
    svg_line(svg, "diagonal", middle[0], middle[1], middle[2], middle[3]);
}

void chart_xy(struct text *out, const struct svg_frame *frame, const void *description)
{
    const struct chart_xy *const c = description;
    const bool narrow = frame->width < CHART_NARROW;
    struct chart_key keys[64];
    struct scale x = {0}, y = {0};
    struct svg svg;
    double xs[2], ys[2];
    char title[160];
    const size_t key_count = chart_keys_of(c->series, c->count, keys, sizeof keys / sizeof keys[0]);
    const double legend = chart_legend_height(keys, key_count, frame->width);
    const double plot = c->height > 0 ? c->height : narrow ? frame->width * 0.75 : frame->width * 0.42;
    struct chart_box box = {.top = legend + 26, .right = frame->width - 12};

    box.bottom = box.top + plot;
    ranges(c, xs, ys);
    y.from = box.bottom;
    y.to = box.top;
    chart_axis_fit(&c->y, ys[0], ys[1], &y, (unsigned)(plot / 45));
    box.left = chart_label_width(&y) + 12;
    x.from = box.left;
    x.to = box.right;
    chart_axis_fit(&c->x, xs[0], xs[1], &x, (unsigned)((box.right - box.left) / 75));
    svg_begin(&svg, out, frame, box.bottom + 42);
    chart_legend(&svg, keys, key_count, 0);
    chart_draw_y(&svg, &box, &y, chart_axis_title(&c->y, &y, title, sizeof title));
    chart_draw_x(&svg, &box, &x, chart_axis_title(&c->x, &x, title, sizeof title));
    if (c->diagonal && x.log && y.log)
        draw_diagonal(&svg, c, &x, &y);
    chart_draw_series(&svg, c->series, c->count, &x, &y);
    svg_end(&svg);
}
