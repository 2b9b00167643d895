#include "reports/chart_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEFT = 6, ROW = 16, BAR = 11, NUMBER = 42, SHOWN = 52, KEYS_MAX = 16, TAB = 4, CODE_MAX = 240 };
#define CODE_WIDTH  6.7  /* of a character in class "code" */
#define BARS        0.26 /* share of the width that bars take; less in a narrow frame, where lines would be cut */
#define BARS_NARROW 0.2

static double sum_of(const struct chart_listing *c, size_t row)
{
    double sum = 0;
    for (size_t k = 0; c->row[row].values && k < c->segment_count; k++)
        sum += fmax(0, c->row[row].values[k]);
    return sum;
}

/* Writes the text at its indentation, shortened to the room that there is. */
static void draw_text(struct svg *svg, const char *text, double left, double right, double baseline)
{
    char cut[CODE_MAX + 4];
    unsigned column = 0;
    for (; *text == ' ' || *text == '\t'; text++)
        column = *text == ' ' ? column + 1 : (column / TAB + 1) * TAB;
    const double x = left + column * CODE_WIDTH, room = (right - x) / CODE_WIDTH;
    if (!*text || room < 2)
        return;
    const size_t length = strlen(text), most = (size_t)fmin(room, CODE_MAX);
    size_t kept = length <= most ? length : most - 1;
    while (kept < length && kept > 0 && ((unsigned char)text[kept] & 0xc0) == 0x80)
        kept--;
    snprintf(cut, sizeof cut, "%.*s%s", (int)kept, text, kept < length ? "\xe2\x80\xa6" : "");
    svg_text(svg, "code", SVG_START, x, baseline, cut);
}

static void draw_bar(struct svg *svg, const struct chart_listing *c, const struct chart_listing_row *row, const struct scale *s,
                     double y)
{
    char classes[16];
    double sum = 0;
    for (size_t k = 0; k < c->segment_count; k++) {
        const double value = fmax(0, row->values[k]), from = scale_at(s, sum), to = scale_at(s, sum + value);
        sum += value;
        snprintf(classes, sizeof classes, "bar f%u", (unsigned)k % SVG_COLOURS);
        if (to - from >= 0.05)
            svg_rect(svg, classes, from, y, to - from, BAR, row->hover);
    }
}

/* `box` holds the bars. */
static void draw_row(struct svg *svg, const struct chart_listing *c, const struct chart_listing_row *row, const struct scale *s,
                     const struct chart_box *box, double top, double width)
{
    const double baseline = top + ROW - 4.0, number = box->right + SHOWN + NUMBER;
    if (row->values)
        draw_bar(svg, c, row, s, top + (ROW - BAR) / 2.0);
    if (row->shown)
        svg_text(svg, "", SVG_END, box->right + SHOWN - 4, baseline, row->shown);
    svg_text(svg, "soft code", SVG_END, number - 8, baseline, row->number ? row->number : "\xe2\x8b\xae");
    if (row->text)
        draw_text(svg, row->text, number, width, baseline);
}

void chart_listing(struct text *out, const struct svg_frame *frame, const void *description)
{
    const struct chart_listing *const c = description;
    struct chart_key keys[KEYS_MAX];
    size_t key_count = 0;
    for (size_t k = 0; k < c->segment_count && key_count < KEYS_MAX; k++)
        keys[key_count++] = (struct chart_key){.name = c->segments[k], .colour = (unsigned)k, .area = true};
    const double legend = chart_legend_height(keys, key_count, frame->width);
    const double bars = frame->width * (frame->width < CHART_NARROW ? BARS_NARROW : BARS);
    const struct chart_box box = {LEFT, legend + 4, LEFT + bars, legend + 4 + ROW * (double)c->rows};
    struct scale s = {.from = box.left, .to = box.right};
    struct svg svg;
    double highest = 0;
    char title[160];

    for (size_t i = 0; i < c->rows; i++)
        highest = fmax(highest, sum_of(c, i));
    chart_axis_fit(&c->axis, 0, highest, &s, (unsigned)((s.to - s.from) / 70));
    svg_begin(&svg, out, frame, box.bottom + 42);
    chart_legend(&svg, keys, key_count, 0);
    chart_draw_x(&svg, &box, &s, chart_axis_title(&c->axis, &s, title, sizeof title));
    for (size_t i = 0; i < c->rows; i++)
        draw_row(&svg, c, &c->row[i], &s, &box, box.top + ROW * (double)i, frame->width);
    svg_end(&svg);
}
