/* One self-contained HTML page: style, charts and tables inside, nothing loaded from anywhere. Well-formed as XML, too.
 *
 *     struct page *p = page_create("title", "below it");
 *     page_section(p, "time");
 *     page_figure(p, &figure);
 *     if (page_write(p, file)) ...
 *     page_free(p);
 *
 * Texts are plain: the page escapes them. The same calls give the same bytes.
 */
#ifndef ORCHARD_REPORTS_PAGE_H
#define ORCHARD_REPORTS_PAGE_H

#include "reports/result_table.h"
#include "reports/svg.h"

#include <stdio.h>

struct page;

/* NULL when memory is short; every other function takes that NULL and does nothing. */
struct page *page_create(const char *title, const char *subtitle);
void page_free(struct page *page);

/* A heading that the list at the top leads to. */
void page_section(struct page *page, const char *title);
void page_heading(struct page *page, const char *title);
void page_paragraph(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A remark, smaller. */
void page_note(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct page_card {
    const char *label, *value, *more; /* more: interval, condition; NULL = nothing */
};
void page_cards(struct page *page, const struct page_card *cards, size_t count);

/* A table of its own. */
void page_table(struct page *page, const char *title, const struct result_table *table);

/* Draws into a frame; the kinds of chart.h. */
typedef void page_draw(struct text *out, const struct svg_frame *frame, const void *chart);

struct page_figure {
    const char *title, *caption;
    page_draw *draw;
    const void *chart;
    const struct result_table *table; /* what the chart shows; NULL only when a table stands right above */
    /* A long series over time: with JavaScript the page draws it from the table, to be zoomed. The first column is the time, the
     * others are lines, the first `shown` of them visible at the start. */
    bool series;
    const char *axis;
    size_t shown;
    bool zero; /* its y axis begins at 0 */
};
void page_figure(struct page *page, const struct page_figure *figure);

/* A line at the foot of the page. */
void page_foot(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The whole page, once; false when memory ran out or writing failed. */
bool page_write(struct page *page, FILE *out);

/* The figures of a page as files of their own (SVG); NULL behind the last. */
const char *page_picture_title(const struct page *page, size_t index);
bool page_write_picture(const struct page *page, size_t index, FILE *out);

#endif
