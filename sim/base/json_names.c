#include "sim/base/json_read.h"

#include <string.h>

enum { NAMES_MAX = 256 };

/* Names of the objects around a place of the text, by their depth. */
struct names {
    const char *text[NAMES_MAX];
    size_t length[NAMES_MAX], count;
    size_t begin[JSON_DEPTH_MAX + 1]; /* first name of the innermost objects */
    unsigned depth;
};

static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\' && at + 1 < end;
    return at;
}

static bool add_name(struct names *n, const char *text, size_t length, const struct json_node *top)
{
    for (size_t i = n->begin[n->depth]; i < n->count; i++)
        if (n->length[i] == length && memcmp(n->text[i], text, length) == 0)
            return json_wrong(top, NULL, "'%.*s' is given twice", (int)(length < 60 ? length : 60), text);
    if (n->count == NAMES_MAX)
        return json_wrong(top, NULL, "more than %d members", NAMES_MAX);
    n->text[n->count] = text;
    n->length[n->count++] = length;
    return true;
}

/* The text is valid JSON of limited depth: the reader has parsed it. */
bool json_names_differ(struct json_reader *r, const char *text, size_t size)
{
    const char *const end = text + size;
    const struct json_node top = json_top(r);
    struct names n = {.count = 0};
    for (const char *at = text; at < end; at++) {
        if (*at == '{' && n.depth < JSON_DEPTH_MAX) {
            n.begin[++n.depth] = n.count;
        } else if (*at == '}' && n.depth > 0) {
            n.count = n.begin[n.depth--];
        } else if (*at == '"') {
            const char *const close = skip_string(at, end), *after = close + 1;
            while (after < end && strchr(" \t\r\n", *after) && *after)
                after++;
            if (after < end && *after == ':' && !add_name(&n, at + 1, (size_t)(close - at - 1), &top))
                return false;
            at = close;
        }
    }
    return r->ok;
}
