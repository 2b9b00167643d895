#include "reports/chart_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KEY_WIDTH = 20, KEY_GAP = 16, LEGEND_MAX = 64 };

/* ---- legends ---- */

/* Places the keys and returns the number of lines. */
static unsigned place_keys(const struct chart_key *keys, size_t count, double width, double at[][2])
{
    double x = 0;
    unsigned line = 0;
    for (size_t i = 0; i < count && i < LEGEND_MAX; i++) {
        const double needs = KEY_WIDTH + svg_text_width(keys[i].name) + KEY_GAP;
        if (!keys[i].name)
            continue;
        if (x > 0 && x + needs > width) {
            x = 0;
            line++;
        }
        if (at) {
            at[i][0] = x;
            at[i][1] = line;
        }
        x += needs;
    }
    return x > 0 || line > 0 ? line + 1 : 0;
}

double chart_legend_height(const struct chart_key *keys, size_t count, double width)
{
    const unsigned lines = place_keys(keys, count, width, NULL);
    return lines ? lines * CHART_LINE_HEIGHT + 6 : 0;
}

static void draw_key(struct svg *svg, const struct chart_key *k, double x, double y)
{
    char classes[48], cut[160];
    if (k->area) {
        snprintf(classes, sizeof classes, "f%u", k->colour % SVG_COLOURS);
        svg_rect(svg, classes, x + 2, y + 4, 11, 11, NULL);
    } else if (k->mark != SVG_NO_MARK) {
        svg_marks_begin(svg, k->colour, k->hollow);
        svg_draw_mark(svg, k->mark, x + 8, y + 9.5, 4.5, NULL);
        svg_marks_end(svg);
    } else {
        snprintf(classes, sizeof classes, "curve s%u%s", k->colour % SVG_COLOURS, k->dashed ? " dash" : "");
        svg_line(svg, classes, x, y + 9.5, x + 15, y + 9.5);
    }
    svg_text(svg, "", SVG_START, x + KEY_WIDTH, y + 13.5, svg_text_cut(k->name, svg->width - x - KEY_WIDTH, cut, sizeof cut));
}

void chart_legend(struct svg *svg, const struct chart_key *keys, size_t count, double top)
{
    double at[LEGEND_MAX][2] = {{0}};
    place_keys(keys, count, svg->width, at);
    for (size_t i = 0; i < count && i < LEGEND_MAX; i++)
        if (keys[i].name)
            draw_key(svg, &keys[i], at[i][0], top + at[i][1] * CHART_LINE_HEIGHT);
}

size_t chart_keys_of(const struct chart_series *series, size_t count, struct chart_key *keys, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < count && used < room; i++)
        if (series[i].name)
            keys[used++] =
                (struct chart_key){series[i].name, series[i].colour, series[i].mark, series[i].hollow, series[i].dashed, false};
    return used;
}

/* ---- axes ---- */

void chart_range_add(double *low, double *high, double value, bool log)
{
    if (!isfinite(value) || (log && value <= 0))
        return;
    *low = isnan(*low) || value < *low ? value : *low;
    *high = isnan(*high) || value > *high ? value : *high;
}

void chart_axis_fit(const struct chart_axis *axis, double low, double high, struct scale *scale, unsigned wanted)
{
    if (axis->low != 0 || axis->high != 0) {
        low = axis->low;
        high = axis->high;
    } else if (!axis->log && axis->zero) {
        low = fmin(low, 0);
        high = fmax(high, 0);
    }
    if (axis->whole && high - low < wanted)
        wanted = high - low > 2 ? (unsigned)(high - low) : 2;
    scale_fit(scale, low, high, axis->log, axis->si, wanted);
    if (axis->unit && strcmp(axis->unit, "s") == 0 && scale->factor > 1) { /* nobody counts in kiloseconds */
        scale->factor = 1;
        scale->prefix = "";
    }
}

const char *chart_axis_title(const struct chart_axis *axis, const struct scale *scale, char *text, size_t size)
{
    const bool unit = axis->unit && *axis->unit && !(axis->unit[0] == '1' && !axis->unit[1]);
    if (!unit && !*scale->prefix)
        snprintf(text, size, "%s", axis->label);
    else
        snprintf(text, size, "%s [%s%s]", axis->label, scale->prefix, unit ? axis->unit : "");
    return text;
}

double chart_label_width(const struct scale *scale)
{
    double widest = 0;
    char label[SCALE_LABEL];
    for (unsigned i = 0; i < scale->ticks; i++)
        widest = fmax(widest, svg_text_width(scale_label(scale, scale->tick[i], label)));
    return widest;
}

void chart_draw_x(struct svg *svg, const struct chart_box *box, const struct scale *scale, const char *title)
{
    double free_from = -1e9;
    char label[SCALE_LABEL], cut[160];
    for (unsigned i = 0; i < scale->ticks; i++) {
        const double x = scale_at(scale, scale->tick[i]);
        const double half = svg_text_width(scale_label(scale, scale->tick[i], label)) / 2;
        svg_line(svg, "grid", x, box->top, x, box->bottom);
        const double at = fmin(x, svg->width - half);
        if (at - half < free_from)
            continue;
        svg_text(svg, "soft", SVG_MIDDLE, at, box->bottom + 16, label);
        free_from = at + half + 6;
    }
    svg_line(svg, "axis", box->left, box->bottom, box->right, box->bottom);
    if (title)
        svg_text(svg, "soft", SVG_END, box->right, box->bottom + 34, svg_text_cut(title, box->right, cut, sizeof cut));
}

/* The title stands above the axis, where it can be read without turning one's head. */
void chart_draw_y(struct svg *svg, const struct chart_box *box, const struct scale *scale, const char *title)
{
    char label[SCALE_LABEL], cut[160];
    for (unsigned i = 0; i < scale->ticks; i++) {
        const double y = scale_at(scale, scale->tick[i]);
        svg_line(svg, "grid", box->left, y, box->right, y);
        svg_text(svg, "soft", SVG_END, box->left - 6, y + 4, scale_label(scale, scale->tick[i], label));
    }
    svg_line(svg, "axis", box->left, box->top, box->left, box->bottom);
    if (title)
        svg_text(svg, "soft", SVG_START, 0, box->top - 10, svg_text_cut(title, svg->width, cut, sizeof cut));
}

double chart_names_width(const char *const *names, size_t stride, size_t count, double width)
{
    double widest = 0;
    for (size_t i = 0; i < count; i++) {
        const char *const *const name = (const char *const *)(const void *)((const char *)names + i * stride);
        widest = fmax(widest, svg_text_width(*name));
    }
    return fmin(widest, width * (width < CHART_NARROW ? 0.38 : 0.32)) + 10;
}
