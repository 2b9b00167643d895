/* Lists that lead to other pages, forms, links, and what must not be missed. */
#include "reports/page_internal.h"

void page_list(struct page *p, const char *title, const struct result_table *table, const struct page_list *how)
{
    if (!p)
        return;
    p->body.failed = p->body.failed || result_table_failed(table);
    if (result_table_failed(table))
        return;
    p->tables++;
    p->live = p->live || how->rows || how->pick;
    page_element(&p->body, "h3", NULL, title);
    page_put_table(&p->body, table, p->tables, how);
    page_csv_button(&p->body, title, p->tables);
    if (how->rows)
        text_printf(&p->body, "<span class=\"note\" role=\"status\" id=\"table-%u-says\"></span>\n", p->tables);
}

void page_form(struct page *p, const char *action, const char *button_text, const struct page_field *fields, size_t count)
{
    if (!p)
        return;
    text_put(&p->body, "<form method=\"get\"");
    page_attribute(&p->body, "action", action);
    text_put(&p->body, ">\n");
    for (size_t i = 0; i < count; i++) {
        text_put(&p->body, "<label>");
        text_xml(&p->body, fields[i].label);
        text_put(&p->body, "<input type=\"text\"");
        page_attribute(&p->body, "name", fields[i].name);
        page_attribute(&p->body, "value", fields[i].value ? fields[i].value : "");
        text_put(&p->body, "/></label>\n");
    }
    page_element(&p->body, "button", "plain", button_text);
    text_put(&p->body, "</form>\n");
}

void page_link(struct page *p, const char *address, const char *text)
{
    if (!p)
        return;
    text_put(&p->body, "<p><a");
    page_attribute(&p->body, "href", address);
    text_put(&p->body, ">");
    text_xml(&p->body, text);
    text_put(&p->body, "</a></p>\n");
}

void page_callout(struct page *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (p)
        page_put_paragraph(&p->body, "callout", format, args);
    va_end(args);
}
