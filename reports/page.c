#include "reports/page_internal.h"

#include "reports/assets.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 880, NARROW = 380, OPEN_ROWS = 8, PARAGRAPH = 4096 };

struct page *page_create(const char *title, const char *subtitle)
{
    struct page *const p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    text_xml(&p->title, title);
    text_xml(&p->subtitle, subtitle);
    return p;
}

void page_free(struct page *p)
{
    if (!p)
        return;
    text_free(&p->title);
    text_free(&p->subtitle);
    text_free(&p->list);
    text_free(&p->body);
    text_free(&p->foot);
    for (size_t i = 0; i < p->pictures; i++) {
        free(p->picture[i].title);
        text_free(&p->picture[i].svg);
    }
    free(p->picture);
    free(p);
}

/* Writes <element class="...">text</element>. */
void page_element(struct text *out, const char *name, const char *classes, const char *string)
{
    text_printf(out, classes ? "<%s class=\"%s\">" : "<%s>", name, classes);
    text_xml(out, string);
    text_printf(out, "</%s>\n", name);
}

void page_section(struct page *p, const char *title)
{
    if (!p)
        return;
    p->sections++;
    text_printf(&p->list, "<a href=\"#part-%u\">", p->sections);
    text_xml(&p->list, title);
    text_put(&p->list, "</a>\n");
    text_printf(&p->body, "<h2 id=\"part-%u\">", p->sections);
    text_xml(&p->body, title);
    text_put(&p->body, "</h2>\n");
}

void page_put_paragraph(struct text *out, const char *classes, const char *format, va_list args)
{
    char string[PARAGRAPH];
    vsnprintf(string, sizeof string, format, args);
    page_element(out, "p", classes, string);
}

void page_paragraph(struct page *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (p)
        page_put_paragraph(&p->body, NULL, format, args);
    va_end(args);
}

void page_note(struct page *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (p)
        page_put_paragraph(&p->body, "note", format, args);
    va_end(args);
}

void page_foot(struct page *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (p)
        page_put_paragraph(&p->foot, NULL, format, args);
    va_end(args);
}

void page_cards(struct page *p, const struct page_card *cards, size_t count)
{
    if (!p || count == 0)
        return;
    text_put(&p->body, "<dl class=\"cards\">\n");
    for (size_t i = 0; i < count; i++) {
        text_put(&p->body, "<div>");
        page_element(&p->body, "dt", NULL, cards[i].label);
        page_element(&p->body, "dd", strlen(cards[i].value) > 12 ? "value long" : "value", cards[i].value);
        if (cards[i].more)
            page_element(&p->body, "dd", "more", cards[i].more);
        text_put(&p->body, "</div>\n");
    }
    text_put(&p->body, "</dl>\n");
}

/* ---- tables and figures ---- */

/* Makes a file name of a title: letters and digits stay, everything between them becomes a dash. */
static void file_name(struct text *out, const char *title)
{
    bool dash = false, any = false;
    for (const char *c = title; *c; c++) {
        const bool word = isalnum((unsigned char)*c) && (unsigned char)*c < 0x80;
        if (word && dash && any)
            text_put(out, "-");
        if (word)
            text_printf(out, "%c", tolower((unsigned char)*c));
        dash = !word && (dash || any);
        any = any || word;
    }
    if (!any)
        text_put(out, "table");
}

void page_csv_button(struct text *out, const char *title, unsigned number)
{
    text_printf(out, "<button class=\"csv\" type=\"button\" hidden=\"hidden\" data-table=\"table-%u\" data-file=\"", number);
    file_name(out, title);
    text_put(out, "\">CSV</button>\n");
}

void page_table(struct page *p, const char *title, const struct result_table *table)
{
    if (!p)
        return;
    p->body.failed = p->body.failed || result_table_failed(table);
    if (result_table_failed(table))
        return;
    p->tables++;
    page_element(&p->body, "h3", NULL, title);
    page_put_table(&p->body, table, p->tables, NULL);
    page_csv_button(&p->body, title, p->tables);
}

void page_fold(struct page *p, const char *title, const struct result_table *table)
{
    if (!p)
        return;
    p->body.failed = p->body.failed || result_table_failed(table);
    if (result_table_failed(table))
        return;
    p->tables++;
    text_put(&p->body, "<details><summary>");
    text_xml(&p->body, title);
    text_put(&p->body, "</summary>\n");
    page_put_table(&p->body, table, p->tables, NULL);
    page_csv_button(&p->body, title, p->tables);
    text_put(&p->body, "</details>\n");
}

/* ---- figures ---- */

static void figure_table(struct page *p, const struct page_figure *f)
{
    const size_t rows = result_table_rows(f->table);
    p->body.failed = p->body.failed || result_table_failed(f->table);
    if (result_table_failed(f->table))
        return;
    p->tables++;
    text_printf(&p->body, "<details%s><summary>Table, %zu row%s</summary>\n", rows <= OPEN_ROWS ? " open=\"open\"" : "", rows,
                rows == 1 ? "" : "s");
    page_put_table(&p->body, f->table, p->tables, NULL);
    page_csv_button(&p->body, f->title, p->tables);
    text_put(&p->body, "</details>\n");
}

static void figure_begin(struct page *p, const struct page_figure *f)
{
    if (!f->series) {
        text_put(&p->body, "<figure>\n");
    } else {
        text_put(&p->body, "<figure class=\"series\" data-axis=\"");
        text_xml(&p->body, f->axis);
        text_printf(&p->body, "\" data-shown=\"%zu\"%s>\n", f->shown, f->zero ? " data-zero=\"1\"" : "");
        p->series = true;
    }
    page_element(&p->body, "figcaption", NULL, f->title);
    if (f->caption)
        page_element(&p->body, "p", NULL, f->caption);
}

static void keep_picture(struct page *p, const struct page_figure *f)
{
    struct picture *const list = realloc(p->picture, (p->pictures + 1) * sizeof *list);
    p->body.failed = p->body.failed || !list;
    if (!list)
        return;
    p->picture = list;
    struct picture *const one = &list[p->pictures++];
    *one = (struct picture){.title = strdup(f->title)};
    f->draw(&one->svg, &(struct svg_frame){WIDE, f->title, f->caption, true, true}, f->chart);
    p->body.failed = p->body.failed || !one->title || one->svg.failed;
}

void page_figure(struct page *p, const struct page_figure *f)
{
    if (!p)
        return;
    keep_picture(p, f);
    figure_begin(p, f);
    text_put(&p->body, "<div class=\"picture\"><div class=\"still\">\n<div class=\"wide\">\n");
    f->draw(&p->body, &(struct svg_frame){WIDE, f->title, f->caption, true, false}, f->chart);
    text_put(&p->body, "</div>\n<div class=\"narrow\">\n");
    f->draw(&p->body, &(struct svg_frame){NARROW, f->title, f->caption, false, false}, f->chart);
    text_put(&p->body, "</div>\n</div></div>\n");
    if (f->table)
        figure_table(p, f);
    text_put(&p->body, "</figure>\n");
}

/* ---- the whole page ---- */

static void put(FILE *out, const struct text *t)
{
    fwrite(t->data ? t->data : "", 1, t->size, out);
}

static void write_head(const struct page *p, FILE *out)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<meta name=\"generator\" content=\"orchard\"/>\n<title>",
          out);
    put(out, &p->title);
    fputs("</title>\n<style>/*<![CDATA[*/\n", out);
    fputs(report_chart_css, out);
    fputs(report_page_css, out);
    if (p->series)
        fputs(report_uplot_css, out);
    fputs("/*]]>*/</style>\n</head>\n", out);
}

/* Without JavaScript the page lacks only CSV files and zooming. */
static void write_scripts(const struct page *p, FILE *out)
{
    if (p->series) {
        fputs("<script>//<![CDATA[\n/* uPlot\n", out);
        fputs(report_uplot_license, out);
        fputs("*/\n", out);
        fputs(report_uplot_js, out);
        fputs("//]]></script>\n", out);
    }
    fputs("<script>//<![CDATA[\n", out);
    fputs(report_page_js, out);
    fputs(p->brush ? report_brush_js : "", out);
    fputs(p->live ? report_live_js : "", out);
    fputs("//]]></script>\n", out);
}

bool page_write(struct page *p, FILE *out)
{
    if (!p || p->title.failed || p->subtitle.failed || p->list.failed || p->body.failed || p->foot.failed)
        return false;
    write_head(p, out);
    fputs("<body>\n<header>\n<h1>", out);
    put(out, &p->title);
    fputs("</h1>\n<p class=\"sub\">", out);
    put(out, &p->subtitle);
    fputs("</p>\n", out);
    if (p->sections > 1) {
        fputs("<nav aria-label=\"Sections\">\n", out);
        put(out, &p->list);
        fputs("</nav>\n", out);
    }
    fputs("</header>\n<main>\n", out);
    put(out, &p->body);
    fputs("</main>\n<footer>\n", out);
    put(out, &p->foot);
    fputs("</footer>\n", out);
    write_scripts(p, out);
    fputs("</body>\n</html>\n", out);
    return fflush(out) == 0 && !ferror(out);
}

const char *page_picture_title(const struct page *p, size_t index)
{
    return p && index < p->pictures ? p->picture[index].title : NULL;
}

bool page_write_picture(const struct page *p, size_t index, FILE *out)
{
    if (!p || p->body.failed || index >= p->pictures)
        return false;
    put(out, &p->picture[index].svg);
    return fflush(out) == 0 && !ferror(out);
}
