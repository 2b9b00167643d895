/* Expressions become programs: a recursive descent that writes steps as it reads. */
#include "sim/language/pattern_internal.h"

#include "isa/array_count.h"
#include "isa/list_grow.h"
#include "sim/language/unicode.h"
#include "sim/language/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 16, REPEAT_MAX = 64 };

struct compiler {
    struct pattern *p;
    const char *text, *at, *end;
    unsigned depth;
    bool any_case;
    struct orch_error *error;
};

static bool wrong(const struct compiler *c, const char *what)
{
    return orch_fail(c->error, ORCH_USAGE, "expression, byte %zu: %s", (size_t)(c->at - c->text), what);
}

/* ---- steps ---- */

/* Puts a step in front of step `place`; those behind it only point among themselves. */
static bool insert(struct compiler *c, size_t place, enum pattern_op op, int to)
{
    struct pattern *const p = c->p;
    struct pattern_step *const grown = list_grow(p->step, p->steps, &p->step_room, sizeof *grown);
    if (!grown)
        return orch_no_memory(c->error);
    p->step = grown;
    memmove(p->step + place + 1, p->step + place, (p->steps - place) * sizeof *p->step);
    p->step[place] = (struct pattern_step){op, to};
    p->steps++;
    return true;
}

static bool append(struct compiler *c, enum pattern_op op, int to)
{
    return insert(c, c->p->steps, op, to);
}

static bool append_copy(struct compiler *c, size_t from, size_t steps)
{
    for (size_t i = 0; i < steps; i++)
        if (!append(c, c->p->step[from + i].op, c->p->step[from + i].to))
            return false;
    return true;
}

/* ---- classes ---- */

static struct pattern_class *add_class(struct compiler *c)
{
    struct pattern *const p = c->p;
    struct pattern_class *const grown = list_grow(p->class, p->classes, &p->class_room, sizeof *grown);
    if (!grown) {
        orch_no_memory(c->error);
        return NULL;
    }
    p->class = grown;
    p->class[p->classes] = (struct pattern_class){0};
    return &p->class[p->classes++];
}

static bool add_range(struct compiler *c, struct pattern_class *class, uint32_t first, uint32_t last)
{
    struct pattern_range *const grown = list_grow(class->range, class->ranges, &class->range_room, sizeof *grown);
    if (!grown)
        return orch_no_memory(c->error);
    class->range = grown;
    class->range[class->ranges++] = (struct pattern_range){first, last};
    return true;
}

static bool add_character(struct compiler *c, struct pattern_class *class, uint32_t code)
{
    const bool letter = (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
    return add_range(c, class, code, code) && (!c->any_case || !letter || add_range(c, class, code ^ 32, code ^ 32));
}

/* What \p{...} names: a category, or all whose first letter it is. */
static bool take_property(struct compiler *c, struct pattern_class *class)
{
    const char *const close = c->at < c->end && *c->at == '{' ? memchr(c->at, '}', (size_t)(c->end - c->at)) : NULL;
    const size_t letters = close ? (size_t)(close - c->at) - 1 : 0;
    uint32_t found = 0;
    for (unsigned i = 0; letters && letters <= 2 && i < UNICODE_CATEGORY_COUNT; i++)
        if (memcmp(&UNICODE_CATEGORIES[2 * i], c->at + 1, letters) == 0)
            found |= UINT32_C(1) << i;
    if (!found)
        return wrong(c, "\\p is followed by the name of a category, as in \\p{L}");
    class->categories |= found;
    c->at = close + 1;
    return true;
}

/* What words are made of: letters, marks, digits, connectors, joiners (Unicode Technical Standard 18, annex C), and of other
 * symbols those with the property Other_Alphabetic: letters in circles and squares. */
static bool add_words(struct compiler *c, struct pattern_class *class)
{
    static const struct pattern_range others[] = {
        {0x200c, 0x200d}, {0x24b6, 0x24e9}, {0x1f130, 0x1f149}, {0x1f150, 0x1f169}, {0x1f170, 0x1f189}};
    for (unsigned i = UNICODE_LU; i <= UNICODE_NL; i++)
        class->categories |= UINT32_C(1) << i;
    class->categories |= UINT32_C(1) << UNICODE_PC;
    for (size_t i = 0; i < ARRAY_COUNT(others); i++)
        if (!add_range(c, class, others[i].first, others[i].last))
            return false;
    return true;
}

/* One character, which may be written with a backslash; *code is UINT32_MAX when a whole class was named, and added. */
static bool take_character(struct compiler *c, struct pattern_class *class, uint32_t *code)
{
    const bool escaped = *c->at == '\\';
    c->at += escaped;
    const unsigned length = utf8_read(c->at, (size_t)(c->end - c->at), code);
    if (length == 0)
        return wrong(c, c->at == c->end ? "ends after a backslash" : "is not UTF-8");
    c->at += length;
    if (!escaped)
        return true;
    switch (*code) {
    case 'r': *code = '\r'; return true;
    case 'n': *code = '\n'; return true;
    case 't': *code = '\t'; return true;
    case 's': class->space = true; break;
    case 'S': class->not_space = true; break;
    case 'w':
        if (!add_words(c, class))
            return false;
        break;
    case 'd': class->categories |= UINT32_C(1) << UNICODE_ND; break;
    case 'p':
        if (!take_property(c, class))
            return false;
        break;
    default:
        return *code >= 0x80 || !strchr("abcefghijklmoquvxyzABCDEFGHIJKLMNOPQRTUVWXYZ0123456789", (int)*code) ||
               wrong(c, "unknown letter after a backslash");
    }
    *code = UINT32_MAX;
    return true;
}

/* [...], behind its opening bracket */
static bool take_set(struct compiler *c, struct pattern_class *class)
{
    class->negated = c->at < c->end && *c->at == '^';
    c->at += class->negated;
    while (c->at < c->end && *c->at != ']') {
        uint32_t first, last;
        if (!take_character(c, class, &first))
            return false;
        if (first == UINT32_MAX)
            continue;
        last = first;
        if (c->end - c->at > 1 && *c->at == '-' && c->at[1] != ']') {
            c->at++;
            if (!take_character(c, class, &last))
                return false;
            if (last == UINT32_MAX || last < first)
                return wrong(c, "a range ends before it begins");
        }
        if (!(first == last ? add_character(c, class, first) : add_range(c, class, first, last)))
            return false;
    }
    if (c->at == c->end)
        return wrong(c, "no ] closes the set");
    c->at++;
    return true;
}

static bool take_class(struct compiler *c)
{
    struct pattern_class *const class = add_class(c);
    uint32_t code;
    if (!class)
        return false;
    const int number = (int)c->p->classes - 1;
    if (*c->at == '[') {
        c->at++;
        if (!take_set(c, class))
            return false;
    } else if (*c->at == '.') {
        c->at++;
        class->negated = true;
        if (!add_range(c, class, '\n', '\n'))
            return false;
    } else if (*c->at == '^') {
        return wrong(c, "^ outside of a set is not known");
    } else if (!take_character(c, class, &code) || (code != UINT32_MAX && !add_character(c, class, code))) {
        return false;
    }
    return append(c, PATTERN_CLASS, number);
}

/* ---- expressions ---- */

static bool take_alternatives(struct compiler *c);

static bool starts(const struct compiler *c, const char *with)
{
    const size_t length = strlen(with);
    return (size_t)(c->end - c->at) >= length && memcmp(c->at, with, length) == 0;
}

/* (...), at its opening parenthesis */
static bool take_group(struct compiler *c)
{
    const bool ahead = starts(c, "(?="), not_ahead = starts(c, "(?!"), any_case = starts(c, "(?i:"), before = c->any_case;
    const size_t first = c->p->steps;
    if (c->depth == DEPTH_MAX)
        return wrong(c, "too many parentheses within one another");
    c->at += any_case ? 4 : ahead || not_ahead || starts(c, "(?:") ? 3 : 1;
    if (c->at < c->end && *c->at == '?')
        return wrong(c, "unknown kind of group");
    c->depth++;
    c->any_case = before || any_case;
    if (!take_alternatives(c))
        return false;
    c->any_case = before;
    c->depth--;
    if (c->at == c->end)
        return wrong(c, "no ) closes the group");
    c->at++;
    if (!ahead && !not_ahead)
        return true;
    return append(c, PATTERN_MATCH, 0) &&
           insert(c, first, ahead ? PATTERN_AHEAD : PATTERN_NOT_AHEAD, (int)(c->p->steps - first) + 1);
}

/* ?, *, + and {m,n} behind what begins at step `first`; UINT_MAX for no end. */
static bool take_bounds(struct compiler *c, unsigned *least, unsigned *most)
{
    char *after;
    *least = *most = 1;
    if (c->at == c->end || !strchr("?*+{", *c->at))
        return true;
    const char kind = *c->at++;
    *least = kind == '+';
    *most = kind == '?' ? 1 : UINT32_MAX;
    if (kind == '{') {
        *least = *most = (unsigned)strtoul(c->at, &after, 10);
        if (*after == ',')
            *most = after[1] == '}' ? (after++, UINT32_MAX) : (unsigned)strtoul(after + 1, &after, 10);
        if (*after != '}' || *least > REPEAT_MAX || (*most > REPEAT_MAX && *most != UINT32_MAX) || *least > *most || *most == 0)
            return wrong(c, "repetitions are written {n}, {m,} or {m,n}, up to 64");
        c->at = after + 1;
    }
    if (c->at < c->end && *c->at && strchr("?*+", *c->at))
        return wrong(c, "only greedy repetitions are known");
    return true;
}

static bool repeat(struct compiler *c, size_t first, unsigned least, unsigned most)
{
    const size_t steps = c->p->steps - first;
    const int over = (int)steps + 1;
    if (least == 1 && most == 1)
        return true;
    for (unsigned i = 1; i < least; i++)
        if (!append_copy(c, first, steps))
            return false;
    if (least && most == UINT32_MAX) /* the last again, or go on */
        return append(c, PATTERN_SPLIT, 2) && append(c, PATTERN_JUMP, -over);
    if (most == UINT32_MAX)
        return insert(c, first, PATTERN_SPLIT, over + 1) && append(c, PATTERN_JUMP, -over);
    if (least == 0 && !insert(c, first, PATTERN_SPLIT, over))
        return false;
    for (unsigned i = least ? least : 1; i < most; i++)
        if (!append(c, PATTERN_SPLIT, over) || !append_copy(c, first + (least == 0), steps))
            return false;
    return true;
}

static bool take_sequence(struct compiler *c)
{
    unsigned least, most;
    while (c->at < c->end && *c->at != '|' && *c->at != ')') {
        const size_t first = c->p->steps;
        if (strchr("?*+{", *c->at))
            return wrong(c, "nothing stands before the repetition");
        if (*c->at == '$') {
            c->at++;
            if (!append(c, PATTERN_END, 0))
                return false;
            continue;
        }
        if (!(*c->at == '(' ? take_group(c) : take_class(c)) || !take_bounds(c, &least, &most) || !repeat(c, first, least, most))
            return false;
    }
    return true;
}

static bool take_alternatives(struct compiler *c)
{
    const size_t first = c->p->steps;
    if (!take_sequence(c))
        return false;
    if (c->at == c->end || *c->at != '|')
        return true;
    c->at++;
    if (!insert(c, first, PATTERN_SPLIT, (int)(c->p->steps - first) + 2) || !append(c, PATTERN_JUMP, 0))
        return false;
    const size_t jump = c->p->steps - 1;
    if (!take_alternatives(c))
        return false;
    c->p->step[jump].to = (int)(c->p->steps - jump);
    return true;
}

struct pattern *pattern_create(const char *expression, struct orch_error *error)
{
    struct pattern *const p = calloc(1, sizeof *p);
    struct compiler c = {.p = p, .text = expression, .at = expression, .end = expression + strlen(expression), .error = error};
    if (!p) {
        orch_no_memory(error);
        return NULL;
    }
    if (take_alternatives(&c) && (c.at == c.end || wrong(&c, "a ) without its (")) && append(&c, PATTERN_MATCH, 0))
        return p;
    pattern_free(p);
    return NULL;
}
