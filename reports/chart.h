/* The kinds of charts. A chart is described by plain data and drawn into a frame of any width; pages draw each chart twice, wide
 * and narrow. Numbers that are not finite are left out. The caller gives the texts that appear under the pointer.
 */
#ifndef ORCHARD_REPORTS_CHART_H
#define ORCHARD_REPORTS_CHART_H

#include "reports/scale.h"
#include "reports/svg.h"

struct chart_axis {
    const char *label, *unit; /* a unit of "" or "1" is not written */
    bool log;
    bool si;          /* the quantity takes SI prefixes */
    bool zero;        /* a linear axis begins at 0 */
    double low, high; /* both 0 = the range of the data */
    bool whole;       /* ticks at whole numbers only */
};

struct chart_point {
    double x, y;
    double low, high; /* interval of y; both NAN = none */
    const char *name; /* appears under the pointer; NULL = nothing does */
};

struct chart_series {
    const char *name; /* in the legend; NULL = not in the legend */
    unsigned colour;  /* 0 .. SVG_COLOURS - 1 */
    enum svg_mark mark;
    bool hollow, line, dashed;
    const struct chart_point *point;
    size_t points;
};

/* Points and lines over two axes. */
struct chart_xy {
    struct chart_axis x, y;
    const struct chart_series *series;
    size_t count;
    bool diagonal; /* y = x */
    double band;   /* > 1: the area from x / band to x * band */
    double height; /* 0 = follows the width */
};
void chart_xy(struct text *out, const struct svg_frame *frame, const void *chart_xy);

/* Predicted over measured values: equal logarithmic axes, the diagonal, and the band x / 1.25 .. x * 1.25. */
struct chart_scatter {
    const char *unit;
    const struct chart_series *series;
    size_t count;
};
void chart_scatter(struct text *out, const struct svg_frame *frame, const void *chart_scatter);

/* The most that a machine can do, over operations per byte. */
struct chart_roof {
    const char *name;       /* "m1_4p4e_8g gpu f32" */
    double peak, bandwidth; /* operations per second, bytes per second */
    unsigned colour;
    bool dashed;
};
struct chart_roofline {
    const char *rate_unit; /* "flop/s" */
    const struct chart_roof *roof;
    size_t roofs;
    const struct chart_series *series; /* x operations per byte, y operations per second */
    size_t count;
};
void chart_roofline(struct text *out, const struct svg_frame *frame, const void *chart_roofline);

/* Horizontal bars with intervals, one row for each name. */
struct chart_bar {
    const char *name, *shown; /* shown: the value as text, to the right of the bar */
    double value, low, high;
    unsigned colour;
};
struct chart_bars {
    struct chart_axis axis;
    const struct chart_bar *bar;
    size_t bars;
};
void chart_bars(struct text *out, const struct svg_frame *frame, const void *chart_bars);

/* Stacked bars, one row for each name: values[row * segments + segment]. */
struct chart_stack {
    struct chart_axis axis;
    const char *const *rows;
    size_t row_count;
    const char *const *segments;
    size_t segment_count;
    const double *values;
    const char *const *shown; /* texts of the values for the pointer, in the same order; NULL = the numbers */
};
void chart_stack(struct text *out, const struct svg_frame *frame, const void *chart_stack);

/* Lines of text, such as the source of a program, each with its number and a stacked bar of what it costs in front of it. */
struct chart_listing_row {
    const char *number;   /* NULL = an interruption: lines are left out here */
    const char *text;     /* spaces in front stay */
    const double *values; /* of the segments; NULL = no bar */
    const char *shown;    /* the sum, beside the bar; NULL = nothing */
    const char *hover;    /* under the pointer; NULL = nothing */
};
struct chart_listing {
    struct chart_axis axis;
    const char *const *segments;
    size_t segment_count;
    const struct chart_listing_row *row;
    size_t rows;
};
void chart_listing(struct text *out, const struct svg_frame *frame, const void *chart_listing);

/* How far each input moves the response: bars around the base, from the least to the greatest response that the input causes
 * alone. The caller puts the largest first. */
struct chart_swing {
    const char *name, *low_name, *high_name; /* low_name, high_name: the settings there */
    double low, high;                        /* least and greatest response */
};
struct chart_tornado {
    struct chart_axis axis;
    double base;
    const struct chart_swing *swing;
    size_t swings;
};
void chart_tornado(struct text *out, const struct svg_frame *frame, const void *chart_tornado);

/* Points whose two values should both be small, and the line of those that no other point beats in both. */
struct chart_pareto {
    struct chart_axis x, y;
    const struct chart_point *point;
    const bool *front;
    size_t points;
};
void chart_pareto(struct text *out, const struct svg_frame *frame, const void *chart_pareto);

/* Small pictures side by side, with the same scale of y. */
struct chart_panel {
    const char *title;
    struct chart_axis x;
    const struct chart_series *series;
    size_t count;
};
struct chart_curves {
    struct chart_axis y;
    const struct chart_panel *panel;
    size_t panels;
};
void chart_curves(struct text *out, const struct svg_frame *frame, const void *chart_curves);

/* Quantities over time, thinned to what the width can show; least and greatest values are kept. */
struct chart_lines {
    struct chart_axis time, y;
    const struct chart_series *series;
    size_t count;
};
void chart_lines(struct text *out, const struct svg_frame *frame, const void *chart_lines);

/* Intervals of work on lanes. */
struct chart_interval {
    unsigned lane, colour;
    double begin, end;
    const char *name;
};
struct chart_timeline {
    struct chart_axis time;
    const char *const *lanes;
    size_t lane_count;
    const struct chart_interval *interval;
    size_t intervals;
};
void chart_timeline(struct text *out, const struct svg_frame *frame, const void *chart_timeline);

#endif
