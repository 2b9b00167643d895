#include "sim/trace/import_json.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 1 << 16 };

struct splitter {
    const struct import_source *source;
    json_tokener *tokener;
    unsigned char window[WINDOW];
    size_t at, size;
    uint64_t offset; /* where window[0] stands in the document */
    char *event;
    size_t length, capacity;
    bool ended, bad;
};

static int peek(struct splitter *s)
{
    if (s->at == s->size && !s->ended) {
        s->offset += s->size;
        s->at = 0;
        s->size = s->source->read(s->source->context, s->window, sizeof s->window, &s->bad);
        s->ended = s->size == 0;
    }
    return s->at < s->size ? s->window[s->at] : EOF;
}

static int next(struct splitter *s)
{
    const int c = peek(s);
    if (c != EOF)
        s->at++;
    return c;
}

static int next_solid(struct splitter *s)
{
    while (isspace(peek(s)))
        s->at++;
    return peek(s);
}

static bool wrong(const struct splitter *s, struct orch_error *error, const char *what)
{
    return orch_fail(error, ORCH_USAGE, "%s: byte %" PRIu64 ": %s", s->source->name, s->offset + s->at,
                     s->bad     ? "cannot be read any further"
                     : s->ended ? "the document is cut off"
                                : what);
}

/* Reads one value; with `keep`, its text goes into s->event. */
static bool take_value(struct splitter *s, bool keep, struct orch_error *error)
{
    unsigned depth = 0;
    bool text = false, escaped = false;
    s->length = 0;
    for (;;) {
        const int c = text ? peek(s) : depth ? peek(s) : s->length || !keep ? peek(s) : next_solid(s);
        if (c == EOF)
            return wrong(s, error, "the document is cut off");
        if (!text && depth == 0 && (c == ',' || c == ']' || c == '}'))
            return true;
        s->at++;
        if (keep) {
            if (s->length + 1 >= s->capacity) {
                const size_t wanted = s->capacity ? 2 * s->capacity : 4096;
                char *const bigger = s->length > IMPORT_EVENT_MAX ? NULL : realloc(s->event, wanted);
                if (!bigger)
                    return wrong(s, error, "an event is longer than 16 MiB");
                s->event = bigger;
                s->capacity = wanted;
            }
            s->event[s->length++] = (char)c;
        }
        if (text) {
            text = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if (c == '"') {
            text = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            depth--;
        }
    }
}

static bool take_event(struct splitter *s, import_on_event *on_event, void *context, struct orch_error *error)
{
    const uint64_t begin = s->offset + s->at;
    if (!take_value(s, true, error))
        return false;
    while (s->length && isspace((unsigned char)s->event[s->length - 1]))
        s->length--;
    json_tokener_reset(s->tokener);
    json_object *event = json_tokener_parse_ex(s->tokener, s->event ? s->event : "", (int)s->length);
    if (!event &&
        json_tokener_get_error(s->tokener) == json_tokener_continue) /* a bare number is complete only when the text ends */
        event = json_tokener_parse_ex(s->tokener, "", 1);
    if (!event || !json_object_is_type(event, json_type_object)) {
        json_object_put(event);
        return orch_fail(error, ORCH_USAGE, "%s: byte %" PRIu64 ": an event is not a JSON object", s->source->name, begin);
    }
    const bool ok = on_event(context, event, error);
    json_object_put(event);
    return ok;
}

static bool take_array(struct splitter *s, import_on_event *on_event, void *context, struct orch_error *error)
{
    next(s); /* [ */
    if (next_solid(s) == ']') {
        next(s);
        return true;
    }
    for (;;) {
        if (!take_event(s, on_event, context, error))
            return false;
        const int c = next_solid(s);
        if (c == EOF)
            return wrong(s, error, "the document is cut off");
        next(s);
        if (c == ']')
            return true;
        if (c != ',')
            return wrong(s, error, "expected ',' or ']' behind an event");
        if (next_solid(s) == ']') { /* Chrome leaves a comma after the last event */
            next(s);
            return true;
        }
    }
}

/* Reads the name of a member and the colon after it. */
static bool take_name(struct splitter *s, char *name, size_t size, struct orch_error *error)
{
    size_t length = 0;
    bool escaped = false;
    if (next_solid(s) != '"')
        return wrong(s, error, "expected the name of a member");
    next(s);
    for (int c; (c = next(s)) != EOF;) {
        if (c == '"' && !escaped) {
            name[length] = 0;
            return next_solid(s) == ':' ? next(s) == ':' : wrong(s, error, "expected ':' behind a name");
        }
        escaped = !escaped && c == '\\';
        if (length + 1 < size)
            name[length++] = (char)c;
    }
    return wrong(s, error, "the document is cut off");
}

static bool take_object(struct splitter *s, import_on_event *on_event, void *context, struct orch_error *error)
{
    char name[32];
    bool found = false;
    next(s); /* { */
    for (;;) {
        if (next_solid(s) == '}')
            break;
        if (!take_name(s, name, sizeof name, error))
            return false;
        if (strcmp(name, "traceEvents") == 0 && next_solid(s) == '[') {
            found = true;
            if (!take_array(s, on_event, context, error))
                return false;
        } else if (!take_value(s, false, error)) {
            return false;
        }
        const int c = next_solid(s);
        if (c == ',') {
            next(s);
            continue;
        }
        if (c != '}')
            return wrong(s, error, "expected ',' or '}'");
    }
    return found || orch_fail(error, ORCH_USAGE, "%s: byte %" PRIu64 ": there is no array \"traceEvents\"", s->source->name,
                              s->offset + s->at);
}

bool import_json_events(const struct import_source *source, import_on_event *on_event, void *context, bool *cut,
                        struct orch_error *error)
{
    struct splitter *const s = calloc(1, sizeof *s);
    struct orch_error own = {0};
    *cut = false;
    if (s)
        s->tokener = json_tokener_new_ex(32);
    if (!s || !s->tokener) {
        free(s);
        return orch_no_memory(error);
    }
    s->source = source;
    const int first = next_solid(s);
    bool ok = first == '['   ? take_array(s, on_event, context, &own)
              : first == '{' ? take_object(s, on_event, context, &own)
                             : wrong(s, &own, "neither an array of events nor an object with \"traceEvents\"");
    if (!ok && source->force && s->ended && !s->bad) {
        *cut = true;
        ok = true;
    }
    if (!ok && error)
        *error = own;
    json_tokener_free(s->tokener);
    free(s->event);
    free(s);
    return ok;
}
