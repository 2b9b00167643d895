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

/* A table whose rows have pages of their own, on a server. */
struct page_list {
    const char *link; /* stands before the text of the first column, which becomes a link; NULL = no links */
    const char *rows; /* address that gives rows newer than &after=, as {"numbers": [bool], "rows": [[text]]}, oldest first; NULL
                         = the list stays as it is. The newest row comes first, and the first column is a number that grows. */
    bool whole;       /* `rows` gives all rows each time, as they are to stand */
    const char *pick; /* name of the field of a form that takes the first column of ticked rows; NULL = nothing to tick */
};
void page_list(struct page *page, const char *title, const struct result_table *table, const struct page_list *how);

/* A form that asks for `action` with its fields. */
struct page_field {
    const char *name, *label, *value;
};
void page_form(struct page *page, const char *action, const char *button, const struct page_field *fields, size_t count);
void page_link(struct page *page, const char *address, const char *text);
/* Something that a reader must not miss. */
void page_callout(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Points with many values each, of which a reader chooses by ranges: an axis for each column. Thousands of rows cost little,
 * because they are not drawn until they are looked at; charts and tables of the most important ones should stand beside it. */
void page_brush(struct page *page, const char *title, const char *caption, const struct result_table *points);

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
