/* Tables of a page. */
#include "reports/page_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void page_header_cell(struct text *out, const struct result_column *c)
{
    text_put(out, c->right ? "<th class=\"n\">" : "<th>");
    text_xml(out, c->name);
    if (c->unit && *c->unit) {
        text_put(out, " [");
        text_xml(out, c->unit);
        text_put(out, "]");
    }
    text_put(out, "</th>");
}

/* The cell carries the exact number unless it shows all of it. */
static void cell(struct text *out, const struct result_cell *c, bool marked)
{
    char digits[40];
    text_put(out, marked ? "<td class=\"n\"" : "<td");
    if (c->shown && !isnan(c->exact)) {
        snprintf(digits, sizeof digits, "%.9g", c->exact);
        char *end;
        const double again = strtod(c->shown, &end);
        if (*end || fabs(again - c->exact) > 1e-9 * fabs(c->exact))
            text_printf(out, " data-v=\"%s\"", digits);
    } else if (!c->shown) {
        text_put(out, " data-v=\"\"");
    }
    text_put(out, ">");
    text_xml(out, c->shown ? c->shown : "\xe2\x80\x93");
    text_put(out, "</td>");
}

/* A table that has only numbers says so once instead of in each cell. */
static bool all_numbers(const struct result_table *t)
{
    for (size_t c = 0; c < result_table_columns(t); c++)
        if (!result_table_column(t, c)->right)
            return false;
    return true;
}

void page_attribute(struct text *out, const char *name, const char *value)
{
    if (!value)
        return;
    text_printf(out, " %s=\"", name);
    text_xml(out, value);
    text_put(out, "\"");
}

/* A link of the first column of a list. */
static void linked_cell(struct text *out, const struct result_cell *c, const char *link, bool number)
{
    text_put(out, number ? "<td class=\"n\">" : "<td>");
    text_put(out, "<a href=\"");
    text_xml(out, link);
    text_xml(out, c->shown);
    text_put(out, "\">");
    text_xml(out, c->shown);
    text_put(out, "</a></td>");
}

/* Of a text in UTF-8. */
static size_t characters_of(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

/* Characters of the longest cell of a column, its head included. */
static size_t longest(const struct result_table *t, size_t column)
{
    size_t most = characters_of(result_table_column(t, column)->name);
    for (size_t r = 0; r < result_table_rows(t); r++) {
        const char *const shown = result_table_cell(t, r, column)->shown;
        const size_t count = shown ? characters_of(shown) : 0;
        most = count > most ? count : most;
    }
    return most;
}

/* Whether a table has sentences, which are broken into lines before anybody has to scroll. */
static bool has_sentences(const struct result_table *t)
{
    enum { LONG = 60 };
    bool any = false;
    for (size_t c = 0; c < result_table_columns(t) && !any; c++)
        any = longest(t, c) > LONG;
    return any;
}

enum { SHORT = 26, ROOM = 2, SENTENCE = 28 }; /* characters: a short column, what stands around its text, the least of others */

/* Short columns keep their width beside sentences, which share the rest. */
static void column_widths(struct text *out, const struct result_table *t)
{
    text_put(out, "\n<colgroup>");
    for (size_t c = 0; c < result_table_columns(t); c++) {
        const size_t characters = longest(t, c);
        if (characters <= SHORT)
            text_printf(out, "<col style=\"width:%zuch\"/>", characters + ROOM);
        else
            text_put(out, "<col/>");
    }
    text_put(out, "</colgroup>");
}

/* Where that is more than a page has, the table scrolls. */
static size_t least_characters(const struct result_table *t)
{
    size_t sum = 0;
    for (size_t c = 0; c < result_table_columns(t); c++) {
        const size_t characters = longest(t, c);
        sum += characters <= SHORT ? characters + ROOM : SENTENCE;
    }
    return sum;
}

/* The box scrolls, so the keyboard has to reach it. */
static void table_begin(struct text *out, const struct result_table *t, unsigned number, const struct page_list *how)
{
    const bool numbers = all_numbers(t), sentences = !numbers && has_sentences(t);
    text_printf(out, "<div class=\"scroll\" tabindex=\"0\"><table id=\"table-%u\"%s", number,
                numbers     ? " class=\"n\""
                : sentences ? " class=\"wrap\""
                            : "");
    if (sentences)
        text_printf(out, " style=\"min-width:%zuch\"", least_characters(t));
    if (how) {
        page_attribute(out, "data-link", how->link);
        page_attribute(out, "data-rows", how->rows);
        page_attribute(out, "data-whole", how->whole ? "1" : NULL);
        page_attribute(out, "data-pick", how->pick);
    }
    text_put(out, ">");
    if (sentences)
        column_widths(out, t);
    text_put(out, "\n<thead><tr>");
    for (size_t c = 0; c < result_table_columns(t); c++)
        page_header_cell(out, result_table_column(t, c));
    text_put(out, "</tr></thead>\n<tbody>\n");
}

void page_put_table(struct text *out, const struct result_table *t, unsigned number, const struct page_list *how)
{
    const bool numbers = all_numbers(t);
    table_begin(out, t, number, how);
    for (size_t r = 0; r < result_table_rows(t); r++) {
        text_put(out, "<tr>");
        for (size_t c = 0; c < result_table_columns(t); c++) {
            const struct result_cell *const one = result_table_cell(t, r, c);
            if (c == 0 && how && how->link && one->shown)
                linked_cell(out, one, how->link, result_table_column(t, 0)->right);
            else
                cell(out, one, !numbers && result_table_column(t, c)->right);
        }
        text_put(out, "</tr>\n");
    }
    text_put(out, "</tbody></table></div>\n");
}
