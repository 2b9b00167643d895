#include "sim/load/text_proto.h"

#include "isa/list_grow.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *file;
    const char *at, *end;
    unsigned line, depth;
    struct orch_error *error;
};

/* ---- memory ---- */

void text_proto_free(struct text_proto *m)
{
    for (size_t i = 0; m && i < m->count; i++) {
        free(m->field[i].name);
        free(m->field[i].text);
        text_proto_free(m->field[i].message);
    }
    if (m)
        free(m->field);
    free(m);
}

/* A copy of the name, and a field that is filled in by the caller. */
static struct text_proto_field *add_field(struct reader *r, struct text_proto *m, const char *name)
{
    struct text_proto_field *const grown = list_grow(m->field, m->count, &m->room, sizeof *grown);
    char *const copy = grown ? strdup(name) : NULL;
    if (grown)
        m->field = grown;
    if (!copy) {
        orch_no_memory(r->error);
        return NULL;
    }
    m->field[m->count] = (struct text_proto_field){.name = copy, .line = r->line};
    return &m->field[m->count++];
}

/* ---- characters ---- */

static bool fail(const struct reader *r, const char *what, const char *got)
{
    return orch_fail(r->error, ORCH_USAGE, "%s:%u: %s%s%.40s%s", r->file, r->line, what, got ? ", got '" : "", got ? got : "",
                     got ? "'" : "");
}

static void skip_space(struct reader *r)
{
    while (r->at < r->end) {
        if (*r->at == '#')
            while (r->at < r->end && *r->at != '\n')
                r->at++;
        else if (!isspace((unsigned char)*r->at))
            return;
        if (r->at < r->end)
            r->line += *r->at++ == '\n';
    }
}

/* The next character behind spaces and comments; NUL at the end. */
static char peek(struct reader *r)
{
    skip_space(r);
    return (char)(r->at < r->end ? *r->at : 0);
}

static bool take(struct reader *r, char c)
{
    if (peek(r) != c || r->at == r->end)
        return false;
    r->at++;
    return true;
}

/* What stands there, for messages: printable, and not long. */
static const char *here(struct reader *r, char text[24])
{
    size_t n = 0;
    skip_space(r);
    while (n < 20 && r->at + n < r->end && isgraph((unsigned char)r->at[n])) {
        text[n] = r->at[n];
        n++;
    }
    text[n] = 0;
    return n ? text : r->at < r->end ? "a character that is not printable" : "the end of the file";
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-' || c == '+';
}

/* A name, an enumerator or a number. NULL with the error. */
static char *read_word(struct reader *r, const char *what)
{
    char got[24];
    skip_space(r);
    const char *const begin = r->at;
    while (r->at < r->end && is_word(*r->at))
        r->at++;
    if (r->at == begin) {
        fail(r, what, here(r, got));
        return NULL;
    }
    char *const word = strndup(begin, (size_t)(r->at - begin));
    if (!word)
        orch_no_memory(r->error);
    return word;
}

/* ---- strings ---- */

static int digit_of(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

static char read_digits(struct reader *r, unsigned base, unsigned most)
{
    unsigned value = 0;
    for (unsigned i = 0; i < most && r->at < r->end; i++, r->at++) {
        const int digit = digit_of(*r->at);
        if (digit < 0 || (unsigned)digit >= base)
            break;
        value = value * base + (unsigned)digit;
    }
    return (char)value;
}

static bool read_escape(struct reader *r, char *c)
{
    static const char names[] = "abfnrtv", values[] = "\a\b\f\n\r\t\v";
    char got[3] = {'\\', 0, 0};
    if (r->at == r->end)
        return fail(r, "the file ends in a string", NULL);
    const char *const named = *r->at ? strchr(names, *r->at) : NULL;
    got[1] = (char)(isgraph((unsigned char)*r->at) ? *r->at : '?');
    if (named) {
        *c = values[named - names];
    } else if (*r->at >= '0' && *r->at <= '7') {
        *c = read_digits(r, 8, 3);
        return true;
    } else if (*r->at == 'x' || *r->at == 'X') {
        r->at++;
        *c = read_digits(r, 16, 2);
        return true;
    } else if (*r->at && strchr("\\'\"?", *r->at)) {
        *c = *r->at;
    } else {
        return fail(r, "an escape of a string is one of \\n \\t \\\" \\\\ \\ooo \\xhh", got);
    }
    r->at++;
    return true;
}

/* One string in quotes, added to what is there. */
static bool read_quoted(struct reader *r, char **text, size_t *length)
{
    const char quote = *r->at++;
    const char *const closing = r->at;
    char *const grown = realloc(*text, *length + (size_t)(r->end - closing) + 1);
    if (!grown)
        return orch_no_memory(r->error);
    *text = grown;
    while (r->at < r->end && *r->at != quote) {
        char c = *r->at++;
        if (c == '\n')
            return fail(r, "a string ends on its line: the closing quote is missing", NULL);
        if (c == '\\' && !read_escape(r, &c))
            return false;
        (*text)[(*length)++] = c;
    }
    if (r->at == r->end)
        return fail(r, "the file ends in a string", NULL);
    r->at++;
    (*text)[*length] = 0;
    return true;
}

/* Neighbours are joined. */
static bool read_string(struct reader *r, struct text_proto_field *f)
{
    f->kind = TEXT_PROTO_STRING;
    while (peek(r) == '"' || peek(r) == '\'')
        if (!read_quoted(r, &f->text, &f->length))
            return false;
    char *const fits = realloc(f->text, f->length + 1);
    f->text = fits ? fits : f->text;
    return true;
}

/* ---- values ---- */

static struct text_proto *read_message(struct reader *r, char closing);

static bool read_one(struct reader *r, struct text_proto *m, const char *name)
{
    const char c = peek(r);
    struct text_proto_field *const f = add_field(r, m, name);
    if (!f)
        return false;
    if (c == '{' || c == '<') {
        r->at++;
        f->kind = TEXT_PROTO_MESSAGE;
        f->message = read_message(r, c == '{' ? '}' : '>');
        return f->message != NULL;
    }
    if (c == '"' || c == '\'')
        return read_string(r, f);
    f->kind = TEXT_PROTO_WORD;
    f->text = read_word(r, "expected a value");
    f->length = f->text ? strlen(f->text) : 0;
    return f->text != NULL;
}

static bool read_list(struct reader *r, struct text_proto *m, const char *name)
{
    char got[24];
    if (take(r, ']'))
        return true;
    do {
        if (!read_one(r, m, name))
            return false;
    } while (take(r, ','));
    return take(r, ']') || fail(r, "expected ',' or ']' in a list", here(r, got));
}

static bool read_field(struct reader *r, struct text_proto *m)
{
    char got[24];
    char *const name = read_word(r, "expected the name of a field");
    if (!name)
        return false;
    const bool colon = take(r, ':');
    const char next = peek(r);
    bool ok = colon || next == '{' || next == '<' || next == '[' || fail(r, "expected ':' or '{' behind the name", here(r, got));
    if (ok && take(r, '['))
        ok = read_list(r, m, name);
    else if (ok)
        ok = read_one(r, m, name);
    free(name);
    return ok && (take(r, ',') || take(r, ';') || true);
}

/* Fields up to the closing character, which is 0 for the whole file. */
static struct text_proto *read_message(struct reader *r, char closing)
{
    struct text_proto *const m = calloc(1, sizeof *m);
    const unsigned began = r->line;
    bool ok = m || orch_no_memory(r->error);
    if (ok && ++r->depth > TEXT_PROTO_DEPTH)
        ok = fail(r, "messages are nested too deep", NULL);
    while (ok && peek(r) != closing) {
        if (r->at == r->end) {
            char text[80];
            snprintf(text, sizeof text, "the file ends, but the '%c' of line %u is open", closing == '}' ? '{' : '<', began);
            ok = fail(r, text, NULL);
        } else {
            ok = read_field(r, m);
        }
    }
    if (ok && closing)
        r->at++;
    else if (ok && r->at != r->end)
        ok = fail(r, "the file has a NUL character", NULL);
    r->depth--;
    if (ok)
        return m;
    text_proto_free(m);
    return NULL;
}

struct text_proto *text_proto_parse(const char *file, const char *text, size_t size, struct orch_error *error)
{
    struct reader r = {.file = file, .at = text, .end = text + size, .line = 1, .error = error};
    return read_message(&r, 0);
}

/* ---- what a field is ---- */

static bool wrong(const char *file, const struct text_proto_field *f, const char *expected, struct orch_error *error)
{
    static const char *const kinds[] = {"", "a string", "a message"};
    if (f->kind == TEXT_PROTO_WORD)
        return orch_fail(error, ORCH_USAGE, "%s:%u: %.60s: expected %s, got '%.40s'", file, f->line, f->name, expected, f->text);
    return orch_fail(error, ORCH_USAGE, "%s:%u: %.60s: expected %s, got %s", file, f->line, f->name, expected, kinds[f->kind]);
}

bool text_proto_integer(const char *file, const struct text_proto_field *f, int64_t lowest, int64_t highest, int64_t *value,
                        struct orch_error *error)
{
    char *end = NULL;
    errno = 0;
    const long long number = f->kind == TEXT_PROTO_WORD ? strtoll(f->text, &end, 0) : 0;
    if (!end || *end || end == f->text || errno)
        return wrong(file, f, "an integer", error);
    if (number < lowest || number > highest)
        return orch_fail(error, ORCH_USAGE, "%s:%u: %.60s: %lld is not between %lld and %lld", file, f->line, f->name, number,
                         (long long)lowest, (long long)highest);
    *value = number;
    return true;
}

bool text_proto_number(const char *file, const struct text_proto_field *f, double *value, struct orch_error *error)
{
    char *end = NULL;
    const double number = f->kind == TEXT_PROTO_WORD ? strtod(f->text, &end) : 0;
    if (end && (*end == 'f' || *end == 'F') && end > f->text)
        end++;
    if (!end || *end || end == f->text || !isfinite(number))
        return wrong(file, f, "a number", error);
    *value = number;
    return true;
}

bool text_proto_boolean(const char *file, const struct text_proto_field *f, bool *value, struct orch_error *error)
{
    static const char *const yes[] = {"true", "True", "t", "1"}, *const no[] = {"false", "False", "f", "0"};
    for (size_t i = 0; f->kind == TEXT_PROTO_WORD && i < sizeof yes / sizeof *yes; i++) {
        if (strcmp(f->text, yes[i]) == 0 || strcmp(f->text, no[i]) == 0) {
            *value = strcmp(f->text, yes[i]) == 0;
            return true;
        }
    }
    return wrong(file, f, "true or false", error);
}

const char *text_proto_string(const char *file, const struct text_proto_field *f, struct orch_error *error)
{
    if (f->kind == TEXT_PROTO_STRING && strlen(f->text) == f->length)
        return f->text;
    wrong(file, f, "a string in quotes", error);
    return NULL;
}

const char *text_proto_word(const char *file, const struct text_proto_field *f, struct orch_error *error)
{
    if (f->kind == TEXT_PROTO_WORD)
        return f->text;
    wrong(file, f, "a word without quotes", error);
    return NULL;
}

const struct text_proto *text_proto_message(const char *file, const struct text_proto_field *f, struct orch_error *error)
{
    if (f->kind == TEXT_PROTO_MESSAGE)
        return f->message;
    wrong(file, f, "a message in { }", error);
    return NULL;
}
