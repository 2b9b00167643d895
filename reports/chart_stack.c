#include "reports/chart_parts.h"

#include <math.h>
#include <stdio.h>

enum { ROW = 34, BAR = 22, KEYS_MAX = 64 };

static double row_sum(const struct chart_stack *c, size_t row)
{
    double sum = 0;
    for (size_t k = 0; k < c->segment_count; k++) {
        const double value = c->values[row * c->segment_count + k];
        sum += isfinite(value) && value > 0 ? value : 0;
    }
    return sum;
}

static void draw_row(struct svg *svg, const struct chart_stack *c, size_t row, const struct scale *s, double names, double top)
{
    char classes[32], cut[160], hover[256], number[32];
    const double y = top + (ROW - BAR) / 2.0;
    double sum = 0;
    svg_text(svg, "", SVG_END, names - 8, y + BAR / 2.0 + 4, svg_text_cut(c->rows[row], names - 8, cut, sizeof cut));
    for (size_t k = 0; k < c->segment_count; k++) {
        const size_t at = row * c->segment_count + k;
        const double value = c->values[at];
        if (!isfinite(value) || value <= 0)
            continue;
        const double from = scale_at(s, sum), to = scale_at(s, sum + value);
        sum += value;
        snprintf(number, sizeof number, "%.4g", value);
        snprintf(hover, sizeof hover, "%.120s: %.100s", c->segments[k], c->shown ? c->shown[at] : number);
        snprintf(classes, sizeof classes, "bar f%u", (unsigned)k % SVG_COLOURS);
        if (to - from >= 0.05)
            svg_rect(svg, classes, from, y, to - from, BAR, hover);
    }
}

void chart_stack(struct text *out, const struct svg_frame *frame, const void *description)
{
    const struct chart_stack *const c = description;
    struct chart_key keys[KEYS_MAX];
    size_t key_count = 0;
    for (size_t k = 0; k < c->segment_count && key_count < KEYS_MAX; k++)
        keys[key_count++] = (struct chart_key){.name = c->segments[k], .colour = (unsigned)k, .area = true};
    const double names = chart_names_width(c->rows, sizeof *c->rows, c->row_count, frame->width);
    const double legend = chart_legend_height(keys, key_count, frame->width);
    struct chart_box box = {names, legend + 4, frame->width - 12, legend + 4 + ROW * (double)c->row_count};
    struct scale s = {.from = box.left, .to = box.right};
    struct svg svg;
    double highest = 0;
    char title[160];

    for (size_t i = 0; i < c->row_count; i++)
        highest = fmax(highest, row_sum(c, i));
    chart_axis_fit(&c->axis, 0, highest, &s, (unsigned)((s.to - s.from) / 70));
    svg_begin(&svg, out, frame, box.bottom + 42);
    chart_legend(&svg, keys, key_count, 0);
    chart_draw_x(&svg, &box, &s, chart_axis_title(&c->axis, &s, title, sizeof title));
    for (size_t i = 0; i < c->row_count; i++)
        draw_row(&svg, c, i, &s, names, box.top + ROW * (double)i);
    svg_end(&svg);
}
