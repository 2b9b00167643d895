/* One self-contained HTML page with style, charts and tables inside; it loads nothing. It is also well-formed XML.
 *
 *     struct page *p = page_create("title", "below it");
 *     page_section(p, "time");
 *     page_figure(p, &figure);
 *     if (page_write(p, file)) ...
 *     page_free(p);
 *
 * Texts are plain, and the page escapes them. The same calls give the same bytes.
 */
#ifndef ORCHARD_REPORTS_PAGE_H
#define ORCHARD_REPORTS_PAGE_H

#include "reports/result_table.h"
#include "reports/svg.h"

#include <stdio.h>

struct page;

/* NULL when memory ran out; every other function takes that NULL and does nothing. */
struct page *page_create(const char *title, const char *subtitle);
void page_free(struct page *page);

/* A heading to which the list at the top of the page links. */
void page_section(struct page *page, const char *title);
void page_paragraph(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A remark in smaller type. */
void page_note(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct page_card {
    const char *label, *value, *more; /* more: an interval or a condition; NULL = nothing */
};
void page_cards(struct page *page, const struct page_card *cards, size_t count);

/* A table that opens when somebody wants to see it. */
void page_fold(struct page *page, const char *title, const struct result_table *table);
/* A table of its own. */
void page_table(struct page *page, const char *title, const struct result_table *table);

/* Draws into a frame: one of the functions of chart.h. */
typedef void page_draw(struct text *out, const struct svg_frame *frame, const void *chart);

struct page_figure {
    const char *title, *caption;
    page_draw *draw;
    const void *chart;
    const struct result_table *table; /* what the chart shows; NULL only when a table stands directly above */
    /* A long series over time, which the page draws from the table with JavaScript, for zooming. The first column is the time;
     * the others are lines, of which the first `shown` are visible at the start. */
    bool series;
    const char *axis;
    size_t shown;
    bool zero; /* the y axis begins at 0 */
};
void page_figure(struct page *page, const struct page_figure *figure);

/* A line at the foot of the page. */
void page_foot(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes the whole page, which can be done once; false when memory ran out or writing failed. */
bool page_write(struct page *page, FILE *out);

/* The figures of a page as SVG files of their own; the title is NULL past the last. */
const char *page_picture_title(const struct page *page, size_t index);
bool page_write_picture(const struct page *page, size_t index, FILE *out);

#endif
