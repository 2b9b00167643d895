/* Reads a page strictly: elements are closed in order, attributes quoted, references known, and nothing is loaded. */
#ifndef ORCHARD_TESTS_REPORTS_HTML_CHECK_H
#define ORCHARD_TESTS_REPORTS_HTML_CHECK_H

#include "isa/array_count.h"
#include "tests/support/suite.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct html_sums {
    size_t elements, pictures, tables, scripts;
    char error[160];
};

enum { HTML_DEPTH = 64, HTML_NAME = 32 };

static inline bool html_fail(struct html_sums *s, const char *what, const char *at)
{
    snprintf(s->error, sizeof s->error, "%s at '%.60s'", what, at);
    return false;
}

/* "&amp;" and its like, or "&#39;". */
static inline bool html_reference(const char *at)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (size_t i = 0; i < 5; i++)
        if (strncmp(at, known[i], strlen(known[i])) == 0)
            return true;
    return false;
}

/* An address that a browser would fetch, or a link to another server. */
static inline bool html_loads(const char *name, const char *value)
{
    if (strcmp(name, "src") == 0 || strcmp(name, "srcset") == 0 || strcmp(name, "data") == 0)
        return true;
    return (strcmp(name, "href") == 0 || strcmp(name, "action") == 0) && *value != '#' && (value[0] != '/' || value[1] == '/');
}

/* Reads one attribute. Returns the place behind it, or NULL when it is broken. */
static inline const char *html_attribute(const char *at, struct html_sums *s)
{
    char name[HTML_NAME] = "";
    size_t n = 0;
    while (isalnum((unsigned char)*at) || *at == '-' || *at == ':')
        n + 1 < HTML_NAME ? (void)(name[n++] = *at) : (void)0, at++;
    name[n] = 0;
    if (n == 0 || at[0] != '=' || at[1] != '"')
        return html_fail(s, "an attribute without quotes", at), NULL;
    const char *const value = at + 2;
    for (at = value; *at && *at != '"'; at++)
        if (*at == '<' || (*at == '&' && !html_reference(at)))
            return html_fail(s, "markup in an attribute", at), NULL;
    if (html_loads(name, value))
        return html_fail(s, "something is loaded", value), NULL;
    return *at ? at + 1 : (html_fail(s, "an attribute without end", value), NULL);
}

/* Styles and scripts, which must not fetch anything. */
static inline bool html_raw_is_local(const char *from, const char *to, struct html_sums *s)
{
    static const char *const banned[] = {"@import", "url(",          "http://",  "https://", "XMLHttpRequest",
                                         "fetch(",  "importScripts", "</script", "</style"};
    for (const char *at = from; at < to; at++)
        for (size_t i = 0; i < ARRAY_COUNT(banned); i++)
            if (strncmp(at, banned[i], strlen(banned[i])) == 0)
                return html_fail(s, "not self-contained", at);
    return true;
}

static inline void html_count(struct html_sums *s, const char *name)
{
    s->elements++;
    s->pictures += strcmp(name, "svg") == 0;
    s->tables += strcmp(name, "table") == 0;
    s->scripts += strcmp(name, "script") == 0;
}

static inline bool html_check(const char *page, struct html_sums *s)
{
    char open[HTML_DEPTH][HTML_NAME];
    size_t depth = 0;
    const char *at = page;
    *s = (struct html_sums){0};
    if (strncmp(at, "<!DOCTYPE html>", 15) != 0)
        return html_fail(s, "no document type", at);
    for (at += 15; *at;) {
        if (strncmp(at, "<![CDATA[", 9) == 0) {
            const char *const end = strstr(at, "]]>");
            if (!end || !html_raw_is_local(at + 9, end, s))
                return end ? false : html_fail(s, "CDATA without end", at);
            at = end + 3;
        } else if (*at == '<') {
            const bool closing = at[1] == '/';
            const char *name_at = at + 1 + closing;
            char name[HTML_NAME] = "";
            size_t n = 0;
            while (isalnum((unsigned char)*name_at) && n + 1 < HTML_NAME)
                name[n++] = *name_at++;
            if (n == 0)
                return html_fail(s, "a bare '<'", at);
            const char *rest = name_at;
            while (!closing && *rest == ' ') {
                rest = html_attribute(rest + 1, s);
                if (!rest)
                    return false;
            }
            const bool empty = *rest == '/';
            if (rest[empty] != '>')
                return html_fail(s, "a tag without end", at);
            if (closing && (depth == 0 || strcmp(open[--depth], name) != 0))
                return html_fail(s, "closed out of order", at);
            if (!closing)
                html_count(s, name);
            if (!closing && !empty) {
                if (depth == HTML_DEPTH)
                    return html_fail(s, "too deep", at);
                memcpy(open[depth++], name, sizeof name);
            }
            at = rest + empty + 1;
        } else if (*at == '&' && !html_reference(at)) {
            return html_fail(s, "an unknown reference", at);
        } else if ((unsigned char)*at < 0x20 && *at != '\n' && *at != '\t' && *at != '\r') {
            return html_fail(s, "a control character", at);
        } else {
            at++;
        }
    }
    return depth == 0 ? true : html_fail(s, "never closed", open[depth - 1]);
}

#endif
