/* What the kinds of charts share: legends, axes, ranges. */
#ifndef ORCHARD_REPORTS_CHART_PARTS_H
#define ORCHARD_REPORTS_CHART_PARTS_H

#include "reports/chart.h"

enum { CHART_LINE_HEIGHT = 18, CHART_NARROW = 560 };

/* The part of a picture in which data are drawn. */
struct chart_box {
    double left, top, right, bottom;
};

struct chart_key {
    const char *name;
    unsigned colour;
    enum svg_mark mark; /* SVG_NO_MARK: a line, or a square when `area` */
    bool hollow, dashed, area;
};
/* The height that the legend needs in a width; 0 without keys. Keys without a name are left out. */
double chart_legend_height(const struct chart_key *keys, size_t count, double width);
void chart_legend(struct svg *svg, const struct chart_key *keys, size_t count, double top);
/* Writes the keys of series to `keys` and returns their number. */
size_t chart_keys_of(const struct chart_series *series, size_t count, struct chart_key *keys, size_t room);

/* Extends low..high, which begin as NAN, to a value. Values that a logarithmic axis cannot show are left out. */
void chart_range_add(double *low, double *high, double value, bool log);
void chart_axis_fit(const struct chart_axis *axis, double low, double high, struct scale *scale, unsigned wanted);
/* "time [ms]"; returns text. */
const char *chart_axis_title(const struct chart_axis *axis, const struct scale *scale, char *text, size_t size);

/* Draw grid lines with labels, and the title. The labels of y stand right-aligned to the left of the box, those of x below it. */
void chart_draw_x(struct svg *svg, const struct chart_box *box, const struct scale *scale, const char *title);
void chart_draw_y(struct svg *svg, const struct chart_box *box, const struct scale *scale, const char *title);
/* The width that the labels of an axis need. */
double chart_label_width(const struct scale *scale);

/* Draws series with scales that are set. */
void chart_draw_series(struct svg *svg, const struct chart_series *series, size_t count, const struct scale *x,
                       const struct scale *y);

/* The width of the column of names beside rows of bars. */
double chart_names_width(const char *const *names, size_t stride, size_t count, double width);

#endif
