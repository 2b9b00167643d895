/* Points that a reader chooses by ranges of their values. */
#include "reports/page_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Texts are numbered in the order of their first appearance. */
struct levels {
    const char **text;
    size_t count, room;
};

static size_t level_of(struct levels *l, const char *text, bool *failed)
{
    for (size_t i = l->count; i-- > 0;)
        if (strcmp(l->text[i], text) == 0)
            return i;
    if (l->count == l->room) {
        const char **const grown = realloc(l->text, (2 * l->room + 16) * sizeof *grown);
        if (!grown) {
            *failed = true;
            return 0;
        }
        l->text = grown;
        l->room = 2 * l->room + 16;
    }
    l->text[l->count] = text;
    return l->count++;
}

static void brush_value(struct text *out, const struct result_cell *c, bool number, struct levels *levels)
{
    if (!c->shown)
        text_put(out, "null");
    else if (!number)
        text_printf(out, "%zu", level_of(levels, c->shown, &out->failed));
    else if (isfinite(c->exact))
        text_printf(out, "%.6g", c->exact);
    else
        text_put(out, "null");
}

static void brush_column(struct text *out, const struct result_table *t, size_t column)
{
    const struct result_column *const c = result_table_column(t, column);
    struct levels levels = {.text = NULL};
    text_put(out, column ? ",\n{\"name\":" : "{\"name\":");
    text_json(out, c->name);
    text_put(out, ",\"unit\":");
    text_json(out, c->unit ? c->unit : "");
    text_put(out, ",\"data\":[");
    for (size_t r = 0; r < result_table_rows(t); r++) {
        text_put(out, r ? "," : "");
        brush_value(out, result_table_cell(t, r, column), c->right, &levels);
    }
    text_put(out, "]");
    for (size_t i = 0; !c->right && i < levels.count; i++) {
        text_put(out, i ? "," : ",\"levels\":[");
        text_json(out, levels.text[i]);
    }
    text_put(out, !c->right && levels.count ? "]}" : "}");
    free(levels.text);
}

void page_brush(struct page *p, const char *title, const char *caption, const struct result_table *points)
{
    if (!p)
        return;
    p->body.failed = p->body.failed || result_table_failed(points);
    if (result_table_failed(points) || result_table_rows(points) == 0)
        return;
    p->brush = true;
    text_put(&p->body, "<figure class=\"brush\">\n");
    page_element(&p->body, "figcaption", NULL, title);
    page_element(&p->body, "p", NULL, caption);
    text_put(&p->body, "<canvas role=\"img\"");
    page_attribute(&p->body, "aria-label", title);
    text_put(&p->body, "></canvas>\n<p class=\"without\">Choosing needs JavaScript; the rest of the page does not.</p>\n"
                       "<p role=\"status\"></p>\n<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>");
    for (size_t c = 0; c < result_table_columns(points); c++)
        page_header_cell(&p->body, result_table_column(points, c));
    text_put(&p->body, "</tr></thead><tbody></tbody></table></div>\n<script type=\"application/json\">{\"columns\":[\n");
    for (size_t c = 0; c < result_table_columns(points); c++)
        brush_column(&p->body, points, c);
    text_put(&p->body, "]}</script>\n</figure>\n");
}
