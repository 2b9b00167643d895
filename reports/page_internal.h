/* Shared by the files that write parts of pages. */
#ifndef ORCHARD_REPORTS_PAGE_INTERNAL_H
#define ORCHARD_REPORTS_PAGE_INTERNAL_H

#include "reports/page.h"
#include "reports/text.h"

#include <stdarg.h>

/* A figure as a file of its own. */
struct picture {
    char *title;
    struct text svg;
};

struct page {
    struct picture *picture;
    size_t pictures;
    struct text title, subtitle, list, body, foot; /* list has the links to the sections */
    unsigned sections, tables;
    bool series, brush, live; /* which scripts it needs */
};

/* Writes <element class="...">text</element>. */
void page_element(struct text *out, const char *name, const char *classes, const char *string);
void page_put_paragraph(struct text *out, const char *classes, const char *format, va_list args);
/* Writes name="value" after a blank; nothing when the value is NULL. */
void page_attribute(struct text *out, const char *name, const char *value);
void page_header_cell(struct text *out, const struct result_column *column);
/* `how` is NULL for tables that are no lists. */
void page_put_table(struct text *out, const struct result_table *table, unsigned number, const struct page_list *how);
void page_csv_button(struct text *out, const char *title, unsigned number);

#endif
