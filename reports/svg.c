#include "reports/svg.h"

#include "reports/assets.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Widths at 12 pixels in the wider of the usual sans-serif fonts: the means of small letters, of capitals and of the widest. */
#define LETTER_WIDTH  7.4
#define CAPITAL_WIDTH 8.6
#define WIDE_WIDTH    11.7

static void attribute(struct svg *svg, const char *name, double value)
{
    text_printf(svg->out, " %s=\"", name);
    text_coordinate(svg->out, value);
    text_put(svg->out, "\"");
}

static void classes_of(struct svg *svg, const char *classes)
{
    if (classes && *classes)
        text_printf(svg->out, " class=\"%s\"", classes);
}

/* Ends an element that may have a name for the pointer. */
static void finish(struct svg *svg, const char *element, const char *name)
{
    if (!svg->hover || !name) {
        text_put(svg->out, "/>\n");
        return;
    }
    text_put(svg->out, "><title>");
    text_xml(svg->out, name);
    text_printf(svg->out, "</title></%s>\n", element);
}

void svg_begin(struct svg *svg, struct text *out, const struct svg_frame *frame, double height)
{
    *svg = (struct svg){out, frame->width, height, frame->hover, false};
    text_put(out, "<svg class=\"chart\"");
    if (frame->standalone)
        text_put(out, " xmlns=\"http://www.w3.org/2000/svg\"");
    const double margin = frame->standalone ? 12 : 0;
    text_printf(out, " viewBox=\"%.0f %.0f %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" role=\"img\" aria-label=\"", -margin,
                -margin, frame->width + 2 * margin, height + 2 * margin, frame->width + 2 * margin, height + 2 * margin);
    text_xml(out, frame->title);
    text_put(out, "\">\n<title>");
    text_xml(out, frame->title);
    text_put(out, "</title>\n");
    if (frame->description) {
        text_put(out, "<desc>");
        text_xml(out, frame->description);
        text_put(out, "</desc>\n");
    }
    if (frame->standalone) {
        text_put(out, "<style>\n");
        text_put(out, report_chart_css);
        text_put(out, "</style>\n");
        svg_rect(svg, "page", -margin, -margin, frame->width + 2 * margin, height + 2 * margin, NULL);
    }
}

void svg_end(struct svg *svg)
{
    text_put(svg->out, "</svg>\n");
}

void svg_line(struct svg *svg, const char *classes, double x1, double y1, double x2, double y2)
{
    text_put(svg->out, "<line");
    classes_of(svg, classes);
    attribute(svg, "x1", x1);
    attribute(svg, "y1", y1);
    attribute(svg, "x2", x2);
    attribute(svg, "y2", y2);
    text_put(svg->out, "/>\n");
}

void svg_rect(struct svg *svg, const char *classes, double x, double y, double width, double height, const char *name)
{
    text_put(svg->out, "<rect");
    classes_of(svg, classes);
    attribute(svg, "x", x);
    attribute(svg, "y", y);
    attribute(svg, "width", width > 0 ? width : 0);
    attribute(svg, "height", height > 0 ? height : 0);
    finish(svg, "rect", name);
}

void svg_text(struct svg *svg, const char *classes, enum svg_anchor anchor, double x, double y, const char *string)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    text_put(svg->out, "<text");
    classes_of(svg, classes);
    attribute(svg, "x", x);
    attribute(svg, "y", y);
    text_put(svg->out, anchors[anchor]);
    text_put(svg->out, ">");
    text_xml(svg->out, string);
    text_put(svg->out, "</text>\n");
}

/* The corners of outlines around (0, 0) of "radius" 1, which have similar areas. */
static const struct {
    unsigned corners;
    double at[12][2];
} outlines[SVG_MARKS] = {
    [SVG_SQUARE] = {4, {{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}}},
    [SVG_TRIANGLE] = {3, {{0, -1.2}, {1.15, 0.9}, {-1.15, 0.9}}},
    [SVG_DIAMOND] = {4, {{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}}},
    [SVG_CROSS] = {12,
                   {{-0.4, -1.2},
                    {0.4, -1.2},
                    {0.4, -0.4},
                    {1.2, -0.4},
                    {1.2, 0.4},
                    {0.4, 0.4},
                    {0.4, 1.2},
                    {-0.4, 1.2},
                    {-0.4, 0.4},
                    {-1.2, 0.4},
                    {-1.2, -0.4},
                    {-0.4, -0.4}}},
};

void svg_marks_begin(struct svg *svg, unsigned colour, bool hollow)
{
    text_printf(svg->out, hollow ? "<g class=\"mark hollow s%u\">\n" : "<g class=\"mark f%u\">\n", colour % SVG_COLOURS);
}

void svg_marks_end(struct svg *svg)
{
    text_put(svg->out, "</g>\n");
}

/* A tenth of a pixel is precise enough, and there may be thousands of marks. */
static double tenth(double x)
{
    return nearbyint(x * 10) / 10;
}

void svg_draw_mark(struct svg *svg, enum svg_mark mark, double x, double y, double radius, const char *name)
{
    if (mark == SVG_NO_MARK)
        return;
    if (mark == SVG_CIRCLE) {
        text_put(svg->out, "<circle");
        attribute(svg, "cx", tenth(x));
        attribute(svg, "cy", tenth(y));
        attribute(svg, "r", radius);
        finish(svg, "circle", name);
        return;
    }
    double from_x = 0, from_y = 0;
    text_put(svg->out, "<path d=\"");
    for (unsigned i = 0; i < outlines[mark].corners; i++) {
        const double to_x = tenth(x + radius * outlines[mark].at[i][0]), to_y = tenth(y + radius * outlines[mark].at[i][1]);
        text_put(svg->out, i ? "l" : "M");
        text_coordinate(svg->out, to_x - from_x);
        text_put(svg->out, " ");
        text_coordinate(svg->out, to_y - from_y);
        from_x = to_x;
        from_y = to_y;
    }
    text_put(svg->out, "z\"");
    finish(svg, "path", name);
}

void svg_path_begin(struct svg *svg)
{
    svg->in_path = false;
    text_put(svg->out, "<path d=\"");
}

void svg_path_to(struct svg *svg, double x, double y)
{
    text_put(svg->out, svg->in_path ? "L" : "M");
    svg->in_path = true;
    text_coordinate(svg->out, x);
    text_put(svg->out, " ");
    text_coordinate(svg->out, y);
}

void svg_path_end(struct svg *svg, const char *classes, bool closed)
{
    text_put(svg->out, closed ? "Z\"" : "\"");
    classes_of(svg, classes);
    text_put(svg->out, "/>\n");
}

static bool begins_letter(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

static double letter_width(char c)
{
    if (!begins_letter(c))
        return 0;
    return strchr("mwMW@%", c) ? WIDE_WIDTH : c >= 'A' && c <= 'Z' ? CAPITAL_WIDTH : LETTER_WIDTH;
}

double svg_text_width(const char *string)
{
    double width = 0;
    for (const char *c = string; c && *c; c++)
        width += letter_width(*c);
    return width;
}

const char *svg_text_cut(const char *string, double width, char *cut, size_t size)
{
    static const char ellipsis[] = "\xe2\x80\xa6";
    const double room = svg_text_width(string) <= width ? width : width - LETTER_WIDTH;
    size_t used = 0;
    for (double taken = 0; string[used] && used + 8 < size; used++) {
        taken += letter_width(string[used]);
        if (begins_letter(string[used]) && taken > room)
            break;
    }
    while (used > 0 && string[used] && !begins_letter(string[used]))
        used--;
    memcpy(cut, string, used);
    snprintf(cut + used, size - used, "%s", string[used] ? ellipsis : "");
    return cut;
}
