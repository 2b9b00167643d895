/* Tokens of LLVM's text, the table of names, and failures. */
#include "isa/agx/compiler/ir_read_parts.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- failures ---- */

bool ir_read_fail(struct ir_reader *r, const char *format, ...)
{
    if (r->failed)
        return false;
    r->failed = true;
    char what[130];
    va_list rest;
    va_start(rest, format);
    vsnprintf(what, sizeof what, format, rest);
    va_end(rest);
    const struct ir_token *token = &r->place.token;
    if (r->line.start && token->first) /* what is wrong was found behind the end of its line */
        token = &r->line;
    const char *start = token->start, *stop;
    while (start > r->text && start[-1] != '\n')
        start--;
    while (start < token->start && (*start == ' ' || *start == '\t'))
        start++;
    for (stop = start; stop < r->end && *stop != '\n' && stop - start < 90;)
        stop++;
    r->error->line = token->line;
    r->error->offset = (unsigned long)(token->start - start) + 1;
    const int length = (int)(stop - start);
    snprintf(r->error->text, sizeof r->error->text, length ? "%s: %.*s" : "%s", what, length, start);
    for (char *c = r->error->text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    r->place.at = r->end;
    r->place.token.kind = IR_T_END;
    return false;
}

bool ir_read_no_memory(struct ir_reader *r)
{
    return ir_read_fail(r, "memory ran out");
}

/* ---- tokens ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '$' || c == '-';
}

static const char *skip_space(struct ir_reader *r)
{
    const char *p = r->place.at;
    for (; p < r->end; p++) {
        if (*p == '\n') {
            r->place.line++;
            r->place.fresh = true;
        } else if (*p == ';') {
            const char *const stop = memchr(p, '\n', (size_t)(r->end - p));
            p = stop ? stop - 1 : r->end - 1;
        } else if (*p != ' ' && *p != '\t' && *p != '\r') {
            break;
        }
    }
    return p;
}

static const char *name_end(const char *p, const char *end)
{
    while (p < end && (is_letter(*p) || is_digit(*p)))
        p++;
    return p;
}

/* Text in quotes that open at `p`; what follows them, or NULL when they do not close on the line. */
static const char *quoted(struct ir_reader *r, struct ir_token *token, const char *p)
{
    token->text = ++p;
    for (; p < r->end && *p != '"' && *p != '\n'; p++)
        token->escaped |= *p == '\\';
    token->length = (size_t)(p - token->text);
    return p < r->end && *p == '"' ? p + 1 : NULL;
}

static const char *number(const struct ir_reader *r, struct ir_token *token, const char *p)
{
    token->kind = IR_T_INTEGER;
    if (r->end - p > 2 && p[0] == '0' && p[1] == 'x') {
        token->kind = IR_T_HEX;
        return name_end(p, r->end);
    }
    p += *p == '-' || *p == '+';
    while (p < r->end && is_digit(*p))
        p++;
    if (p >= r->end || *p != '.')
        return p;
    token->kind = IR_T_FLOAT;
    for (p++; p < r->end && is_digit(*p);)
        p++;
    if (p < r->end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < r->end && (*p == '-' || *p == '+'))
            p++;
        while (p < r->end && is_digit(*p))
            p++;
    }
    return p;
}

/* A name behind %, @, ! or #, plain or quoted. */
static const char *sigil(struct ir_reader *r, struct ir_token *token, const char *p)
{
    token->kind = *p == '%' ? IR_T_LOCAL : *p == '@' ? IR_T_GLOBAL : *p == '!' ? IR_T_META : IR_T_GROUP;
    p++;
    if (p < r->end && *p == '"' && token->kind != IR_T_META)
        return quoted(r, token, p);
    token->text = p;
    p = name_end(p, r->end);
    token->length = (size_t)(p - token->text);
    return p;
}

static const char *word_or_number(struct ir_reader *r, struct ir_token *token, const char *p)
{
    const char *stop;
    if (*p == 'c' && p + 1 < r->end && p[1] == '"') {
        token->kind = IR_T_BYTES;
        return quoted(r, token, p + 1);
    }
    const bool numeric = is_digit(*p) || ((*p == '-' || *p == '+') && p + 1 < r->end && is_digit(p[1]));
    if (numeric) {
        stop = number(r, token, p);
    } else {
        token->kind = IR_T_WORD;
        stop = name_end(p, r->end);
    }
    token->length = (size_t)(stop - p);
    if (stop < r->end && *stop == ':' && (token->kind == IR_T_WORD || token->kind == IR_T_INTEGER)) {
        token->kind = IR_T_LABEL;
        stop++;
    }
    return stop;
}

void ir_next(struct ir_reader *r)
{
    struct ir_token *const token = &r->place.token;
    const char *p = skip_space(r);
    *token = (struct ir_token){.text = p, .start = p, .line = r->place.line, .first = r->place.fresh};
    r->place.fresh = false;
    r->place.at = p;
    if (p >= r->end)
        return;
    if (*p == '%' || *p == '@' || *p == '!' || *p == '#') {
        p = sigil(r, token, p);
    } else if (*p == '"') {
        token->kind = IR_T_STRING;
        p = quoted(r, token, p);
        if (p && p < r->end && *p == ':') {
            token->kind = IR_T_LABEL;
            p++;
        }
    } else if (is_letter(*p) || is_digit(*p) || *p == '+') {
        p = word_or_number(r, token, p);
        if (p == token->start) /* a sign that begins nothing */
            p = NULL;
    } else {
        token->kind = IR_T_SIGN;
        token->length = 1;
        p++;
    }
    if (p)
        r->place.at = p;
    else
        ir_read_fail(r, "quotes do not close, or a sign stands alone");
}

bool ir_is(const struct ir_reader *r, const char *word)
{
    const struct ir_token *const token = &r->place.token;
    return token->kind == IR_T_WORD && strlen(word) == token->length && memcmp(token->text, word, token->length) == 0;
}

bool ir_is_sign(const struct ir_reader *r, char sign)
{
    return r->place.token.kind == IR_T_SIGN && *r->place.token.start == sign;
}

bool ir_take(struct ir_reader *r, const char *word)
{
    if (!ir_is(r, word))
        return false;
    ir_next(r);
    return true;
}

bool ir_take_sign(struct ir_reader *r, char sign)
{
    if (!ir_is_sign(r, sign))
        return false;
    ir_next(r);
    return true;
}

bool ir_want(struct ir_reader *r, const char *word)
{
    return ir_take(r, word) || ir_read_fail(r, "expected %s", word);
}

bool ir_want_sign(struct ir_reader *r, char sign)
{
    return ir_take_sign(r, sign) || ir_read_fail(r, "expected %c", sign);
}

bool ir_want_number(struct ir_reader *r, uint64_t most, uint64_t *result)
{
    const struct ir_token *const token = &r->place.token;
    uint64_t value = 0;
    if (token->kind != IR_T_INTEGER || !is_digit(*token->text))
        return ir_read_fail(r, "expected a number");
    for (size_t i = 0; i < token->length; i++) {
        const unsigned digit = (unsigned)(token->text[i] - '0');
        if (value > (most - (digit < most ? digit : most)) / 10)
            return ir_read_fail(r, "a number is too large");
        value = 10 * value + digit;
    }
    if (value > most)
        return ir_read_fail(r, "a number is too large");
    *result = value;
    ir_next(r);
    return true;
}

bool ir_skip_brackets(struct ir_reader *r)
{
    unsigned depth = 0;
    do {
        if (r->place.token.kind == IR_T_END)
            return ir_read_fail(r, "a bracket does not close");
        if (ir_is_sign(r, '(') || ir_is_sign(r, '{') || ir_is_sign(r, '[') || ir_is_sign(r, '<'))
            depth++;
        else if (ir_is_sign(r, ')') || ir_is_sign(r, '}') || ir_is_sign(r, ']') || ir_is_sign(r, '>'))
            depth--;
        ir_next(r);
    } while (depth);
    return true;
}

void ir_skip_line(struct ir_reader *r)
{
    const char *const stop = memchr(r->place.at, '\n', (size_t)(r->end - r->place.at));
    if (!r->failed && (r->place.token.line == r->place.line))
        r->place.at = stop ? stop : r->end;
    ir_next(r);
}

/* ---- texts ---- */

static int hex_digit(char c)
{
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

const char *ir_token_text(struct ir_reader *r, size_t *length)
{
    const struct ir_token *const token = &r->place.token;
    *length = token->length;
    if (!token->escaped)
        return token->text;
    char *const copy = ir_text(r->m, token->text, token->length);
    const size_t most = token->length < IR_ALLOC_MOST ? token->length : IR_ALLOC_MOST - 1;
    size_t used = 0;
    for (size_t i = 0; i < most; i++) {
        const bool pair = copy[i] == '\\' && i + 2 < most;
        if (pair && hex_digit(copy[i + 1]) >= 0 && hex_digit(copy[i + 2]) >= 0) {
            copy[used++] = (char)(hex_digit(copy[i + 1]) << 4 | hex_digit(copy[i + 2]));
            i += 2;
        } else if (copy[i] == '\\' && i + 1 < most && copy[i + 1] == '\\') {
            copy[used++] = copy[i++];
        } else {
            copy[used++] = copy[i];
        }
    }
    copy[used] = '\0';
    *length = used;
    return copy;
}

char *ir_token_copy(struct ir_reader *r)
{
    size_t length;
    const char *const text = ir_token_text(r, &length);
    return ir_text(r->m, text, length);
}

/* ---- names ---- */

static struct ir_names_slot *slot_of(const struct ir_names *names, uint64_t hash, const char *text, size_t length)
{
    for (size_t i = hash & (names->slots - 1);; i = (i + 1) & (names->slots - 1)) {
        struct ir_names_slot *const slot = &names->slot[i];
        if (slot->epoch != names->epoch ||
            (slot->hash == hash && slot->length == length && memcmp(slot->text, text, length) == 0))
            return slot;
    }
}

static bool grow(struct ir_names *names)
{
    struct ir_names grown = {.slots = names->slots ? 2 * names->slots : 64, .epoch = 1};
    grown.slot = calloc(grown.slots, sizeof *grown.slot);
    if (!grown.slot)
        return false;
    for (size_t i = 0; i < names->slots; i++) {
        const struct ir_names_slot *const slot = &names->slot[i];
        if (slot->epoch != names->epoch)
            continue;
        struct ir_names_slot *const to = slot_of(&grown, slot->hash, slot->text, slot->length);
        *to = *slot;
        to->epoch = grown.epoch;
        grown.used++;
    }
    free(names->slot);
    *names = grown;
    return true;
}

void **ir_names_at(struct ir_names *names, const char *text, size_t length)
{
    if (4 * (names->used + 1) > 3 * names->slots && !grow(names))
        return NULL;
    const uint64_t hash = ir_hash_text(text, length);
    struct ir_names_slot *const slot = slot_of(names, hash, text, length);
    if (slot->epoch != names->epoch) {
        *slot = (struct ir_names_slot){hash, text, length, names->epoch, NULL};
        names->used++;
    }
    return &slot->item;
}

void ir_names_clear(struct ir_names *names)
{
    names->used = 0;
    names->epoch++;
}
