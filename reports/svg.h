/* Static SVG, with which charts are drawn. Colours are classes of chart.css, never attributes, so that pages and single pictures
 * follow the reader's light or dark setting. y grows downwards; units are pixels of the view box.
 */
#ifndef ORCHARD_REPORTS_SVG_H
#define ORCHARD_REPORTS_SVG_H

#include "reports/text.h"

/* How a picture is framed. */
struct svg_frame {
    double width;
    const char *title, *description; /* read out in place of the picture */
    bool hover;                      /* names of points appear under the pointer */
    bool standalone;                 /* a file of its own, with name space, style and background inside */
};

struct svg {
    struct text *out;
    double width, height;
    bool hover, in_path;
};

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };
enum svg_mark { SVG_NO_MARK, SVG_CIRCLE, SVG_SQUARE, SVG_TRIANGLE, SVG_DIAMOND, SVG_CROSS, SVG_MARKS };

enum { SVG_COLOURS = 8 }; /* colours of the palette: classes f0 ... (fill) and s0 ... (stroke) */

void svg_begin(struct svg *svg, struct text *out, const struct svg_frame *frame, double height);
void svg_end(struct svg *svg);
void svg_line(struct svg *svg, const char *classes, double x1, double y1, double x2, double y2);
/* `name` appears under the pointer; NULL = nothing does. */
void svg_rect(struct svg *svg, const char *classes, double x, double y, double width, double height, const char *name);
void svg_text(struct svg *svg, const char *classes, enum svg_anchor anchor, double x, double y, const char *string);
/* Marks of one kind and colour are drawn in a group. */
void svg_marks_begin(struct svg *svg, unsigned colour, bool hollow);
void svg_draw_mark(struct svg *svg, enum svg_mark mark, double x, double y, double radius, const char *name);
void svg_marks_end(struct svg *svg);
void svg_path_begin(struct svg *svg);
void svg_path_to(struct svg *svg, double x, double y);
void svg_path_end(struct svg *svg, const char *classes, bool closed);

/* The approximate width of a text in the style of the charts. */
double svg_text_width(const char *string);
/* Shortens a text to a width, with an ellipsis; returns `cut`. */
const char *svg_text_cut(const char *string, double width, char *cut, size_t size);

#endif
