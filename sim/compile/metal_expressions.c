/* Expressions: literals, c ? a : b, and swizzles within templates. */
#include "sim/compile/metal_parts.h"

#include <string.h>

enum { CHOICES_MAX = 1000 };

/* ---- literals: 1.0 is a float, 1.0h a half, 1.0bf a bfloat ---- */

static void literal(struct metal_pass *p, uint32_t i)
{
    const struct metal_token *t = &p->token[i];
    const char *s = p->text + t->at;
    const size_t n = t->length;
    const bool hex = n > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    const bool fraction =
        memchr(s, '.', n) || (hex ? memchr(s, 'p', n) || memchr(s, 'P', n) : memchr(s, 'e', n) || memchr(s, 'E', n));
    if ((hex && !fraction) || (n > 3 && memcmp(s + n - 3, "f16", 3) == 0))
        return;
    const char last = s[n - 1], before = n > 1 ? s[n - 2] : '0';
    if ((last == 'f' || last == 'F') && (before == 'b' || before == 'B')) {
        metal_replace(p, i, i, metal_format(p, "bfloat(%.*s%sf)", (int)n - 2, s, fraction ? "" : ".0"));
    } else if (last == 'h' || last == 'H') {
        metal_replace(p, i, i, metal_format(p, "%.*s%sf16", (int)n - 1, s, fraction ? "" : ".0"));
    } else if (fraction && last != 'f' && last != 'F' && last != 'l' && last != 'L') {
        metal_replace(p, i, i, metal_format(p, "%.*sf", (int)n, s));
    }
}

/* Texts lie in constant memory: as arguments they are of that kind. */
static void quoted(struct metal_pass *p, uint32_t i)
{
    const uint32_t parent = p->token[i].parent;
    if (i == 0 || p->text[p->token[i].at] != '"' || parent == METAL_NONE || parent == 0 || !metal_is(p, parent, "("))
        return;
    if (!metal_is(p, i - 1, "(") && !metal_is(p, i - 1, ","))
        return;
    if (metal_is(p, parent - 1, "static_assert") || metal_is(p, parent - 1, "asm") || metal_is(p, p->token[parent].parent, "["))
        return;
    metal_insert_before(p, i, "(constant char *)");
}

/* ---- c ? a : b ---- */

/* Whether an arm is a number, or a null pointer: of these the type matters and the address space does not. */
static bool plain_arm(const struct metal_pass *p, uint32_t first, uint32_t end)
{
    if (first < end && (metal_is(p, first, "-") || metal_is(p, first, "+")))
        first++;
    return first + 1 == end &&
           (p->token[first].kind == METAL_NUMBER || metal_is(p, first, "true") || metal_is(p, first, "false"));
}

static bool unwrappable(const struct metal_pass *p, uint32_t first, uint32_t end)
{
    return first >= end || metal_is(p, first, "throw") || metal_is(p, first, "{") || metal_is(p, first, "nullptr") ||
           p->token[first].kind == METAL_STRING;
}

static void wrap(struct metal_pass *p, uint32_t first, uint32_t end)
{
    const bool one_or_none = first + 1 == end && (metal_is(p, first, "0") || metal_is(p, first, "1"));
    metal_insert_before(p, first, one_or_none && p->token[first].in_template ? "__orchard_literal(" : "__orchard_rv(");
    metal_insert_after(p, end - 1, ")", METAL_RANK_CLOSE);
}

static bool ends_expression(const struct metal_pass *p, uint32_t i, uint32_t parent)
{
    return metal_is(p, i, ",") || metal_is(p, i, ";") || (parent != METAL_NONE && p->token[parent].match == i);
}

/* Objects of classes in different address spaces have no common type: both arms become values. Each looks for its ends by itself,
 * so that their number is limited. */
static bool choice(struct metal_pass *p, uint32_t question)
{
    static const char many[] = "more than 1000 choices (? :) in one expression";
    const uint32_t parent = p->token[question].parent;
    uint32_t colon = question + 1, nested = 0, seen = 0;
    for (; colon < p->tokens; colon = metal_skip(p, colon)) {
        if (metal_is(p, colon, ";") || (parent != METAL_NONE && p->token[parent].match == colon))
            return true;
        if (metal_is(p, colon, "?") && ++seen > CHOICES_MAX)
            return metal_wrong(p, question, many);
        if (metal_is(p, colon, "?"))
            nested++;
        if (metal_is(p, colon, ":") && nested-- == 0)
            break;
    }
    uint32_t end = colon + 1;
    nested = 0;
    for (; end < p->tokens && !ends_expression(p, end, parent); end = metal_skip(p, end)) {
        if (metal_is(p, end, "?") && ++seen > CHOICES_MAX)
            return metal_wrong(p, question, many);
        if (metal_is(p, end, "?"))
            nested++;
        if (metal_is(p, end, ":") && nested-- == 0)
            break;
    }
    const uint32_t yes = question + 1, no = colon + 1;
    if (unwrappable(p, yes, colon) || unwrappable(p, no, end) || (plain_arm(p, yes, colon) && plain_arm(p, no, end)))
        return true;
    wrap(p, yes, colon);
    wrap(p, no, end);
    return true;
}

/* ---- swizzles in templates ---- */

static bool made_of(const struct metal_pass *p, const struct metal_token *t, const char *letters)
{
    for (uint32_t i = 0; i < t->length; i++)
        if (!strchr(letters, p->text[t->at + i]))
            return false;
    return true;
}

static bool is_swizzle(const struct metal_pass *p, uint32_t i)
{
    const struct metal_token *t = &p->token[i];
    if (i == 0 || t->kind != METAL_NAME || t->length < 2 || t->length > 4 || metal_is(p, i + 1, "("))
        return false;
    return (metal_is(p, i - 1, ".") || metal_is(p, i - 1, "->")) && (made_of(p, t, "xyzw") || made_of(p, t, "rgba"));
}

static bool find_declaration(const struct metal_pass *p, uint32_t i)
{
    const struct metal_token *t = &p->token[i];
    for (uint32_t j = 1; j < p->tokens; j++) {
        const struct metal_token *u = &p->token[j];
        if (u->length != t->length || u->kind != METAL_NAME || memcmp(p->text + u->at, p->text + t->at, t->length) != 0)
            continue;
        const bool type = p->token[j - 1].kind == METAL_NAME || metal_is(p, j - 1, ">");
        if (type && !metal_is(p, j - 1, "return") && !metal_is(p, j - 1, "case"))
            return true;
    }
    return false;
}

/* Whether the source declares a member of its own by that name. Answers are kept, for there are not many such names. */
static bool declared(struct metal_pass *p, uint32_t i)
{
    static const char letters[] = "xyzwrgba";
    const struct metal_token *t = &p->token[i];
    uint32_t key = t->length - 1;
    for (uint32_t k = 0; k < t->length; k++)
        key = key << 3 | (uint32_t)(strchr(letters, p->text[t->at + k]) - letters);
    key &= METAL_SWIZZLES - 1;
    if (!p->swizzle[key])
        p->swizzle[key] = find_declaration(p, i) ? 2 : 1;
    return p->swizzle[key] == 2;
}

/* The first token of the operand that ends at i: a[i].b(c)->d */
static uint32_t operand(const struct metal_pass *p, uint32_t i)
{
    for (;;) {
        while (i > 0 && (metal_is(p, i, ")") || metal_is(p, i, "]")))
            i = metal_skip_back(p, i);
        if (i < 2 || i == METAL_NONE)
            return i == METAL_NONE ? 0 : i;
        if (!metal_is(p, i - 1, ".") && !metal_is(p, i - 1, "->") && !metal_is(p, i - 1, "::"))
            return i;
        i -= 2;
    }
}

/* clang does not see the value of a property whose object depends on a template's arguments; a call makes it one. */
static void swizzle(struct metal_pass *p, uint32_t i)
{
    static const char *const assignments[] = {"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<="};
    if (metal_is(p, i + 1, "=") || metal_is(p, i + 1, "++") || metal_is(p, i + 1, "--") || declared(p, i))
        return;
    for (size_t k = 0; k < sizeof assignments / sizeof *assignments; k++) {
        if (!metal_is(p, i + 1, assignments[k]))
            continue;
        const char *op = assignments[k], *left = metal_text(p, operand(p, i), i);
        metal_replace(p, i + 1, i + 1, metal_format(p, "= %s.__orchard_self() %.*s (", left, (int)strlen(op) - 1, op));
        uint32_t end = i + 2;
        while (end < p->tokens && !ends_expression(p, end, p->token[i].parent))
            end = metal_skip(p, end);
        metal_insert_after(p, end - 1, ")", METAL_RANK_CLOSE);
        return;
    }
    metal_insert_after(p, i, ".__orchard_self()", METAL_RANK_VALUE);
}

bool metal_expressions(struct metal_pass *p)
{
    for (uint32_t i = 0; i < p->tokens; i++) {
        if (p->token[i].kind == METAL_NUMBER)
            literal(p, i);
        else if (p->token[i].kind == METAL_STRING)
            quoted(p, i);
        else if (metal_is(p, i, "?") && !choice(p, i))
            return false;
        else if (p->token[i].in_template && is_swizzle(p, i))
            swizzle(p, i);
    }
    return true;
}
