/* Integer expressions: | ^ & << >> + - * / % with the precedence of C, unary - and ~, parentheses. Arithmetic wraps at 64 bits.
 */
#include "isa/agx/agx_asm_parts.h"

#include <ctype.h>
#include <string.h>

struct expression {
    const char *at;
    const struct agx_asm_names *names;
    const char *why;
    unsigned depth;
};

static int64_t parse_or(struct expression *e);

static void skip_space(struct expression *e)
{
    while (*e->at == ' ' || *e->at == '\t')
        e->at++;
}

static int64_t complain(struct expression *e, const char *why)
{
    if (!e->why)
        e->why = why;
    return 0;
}

static int64_t parse_name(struct expression *e)
{
    char name[AGX_ASM_NAME_BYTES];
    size_t n = 0;
    int64_t value = 0;
    while (isalnum((unsigned char)e->at[n]) || e->at[n] == '_')
        n++;
    if (n == 0 || n >= sizeof name)
        return complain(e, "expected a number or a name");
    memcpy(name, e->at, n);
    name[n] = '\0';
    e->at += n;
    if (isdigit((unsigned char)name[0]))
        return agx_asm_number(name, &value) ? value : complain(e, "a number is malformed");
    if (!e->names->find || !e->names->find(e->names->context, name, &value))
        return complain(e, "unknown name");
    return value;
}

static int64_t parse_unary(struct expression *e)
{
    int64_t value;
    skip_space(e);
    if (e->depth > 64)
        return complain(e, "nested too deeply");
    e->depth++;
    if (*e->at == '-') {
        e->at++;
        value = (int64_t)(0 - (uint64_t)parse_unary(e));
    } else if (*e->at == '~') {
        e->at++;
        value = ~parse_unary(e);
    } else if (*e->at == '(') {
        e->at++;
        value = parse_or(e);
        if (*e->at == ')')
            e->at++;
        else
            complain(e, "expected )");
    } else {
        value = parse_name(e);
    }
    e->depth--;
    skip_space(e);
    return value;
}

static int64_t divide(struct expression *e, int64_t a, int64_t b, bool rest)
{
    if (b == 0)
        return complain(e, "division by zero");
    if (b == -1)
        return rest ? 0 : (int64_t)(0 - (uint64_t)a);
    return rest ? a % b : a / b;
}

static int64_t parse_product(struct expression *e)
{
    int64_t value = parse_unary(e);
    while (*e->at == '*' || *e->at == '/' || *e->at == '%') {
        const char what = *e->at++;
        const int64_t other = parse_unary(e);
        value = what == '*' ? (int64_t)((uint64_t)value * (uint64_t)other) : divide(e, value, other, what == '%');
    }
    return value;
}

static int64_t parse_sum(struct expression *e)
{
    int64_t value = parse_product(e);
    while (*e->at == '+' || *e->at == '-') {
        const bool minus = *e->at++ == '-';
        const uint64_t other = (uint64_t)parse_product(e);
        value = (int64_t)((uint64_t)value + (minus ? 0 - other : other));
    }
    return value;
}

static int64_t parse_shift(struct expression *e)
{
    int64_t value = parse_sum(e);
    while ((e->at[0] == '<' && e->at[1] == '<') || (e->at[0] == '>' && e->at[1] == '>')) {
        const bool left = *e->at == '<';
        e->at += 2;
        const int64_t by = parse_sum(e);
        if (by < 0 || by > 63)
            return complain(e, "shift by less than 0 or more than 63");
        value = left ? (int64_t)((uint64_t)value << by) : value >> by;
    }
    return value;
}

static int64_t parse_and(struct expression *e)
{
    int64_t value = parse_shift(e);
    while (*e->at == '&') {
        e->at++;
        value &= parse_shift(e);
    }
    return value;
}

static int64_t parse_xor(struct expression *e)
{
    int64_t value = parse_and(e);
    while (*e->at == '^') {
        e->at++;
        value ^= parse_and(e);
    }
    return value;
}

static int64_t parse_or(struct expression *e)
{
    int64_t value = parse_xor(e);
    while (*e->at == '|') {
        e->at++;
        value |= parse_xor(e);
    }
    return value;
}

bool agx_asm_expression(const char *text, const struct agx_asm_names *names, int64_t *value, const char **why)
{
    struct expression e = {.at = text, .names = names};
    *value = parse_or(&e);
    if (!e.why && *e.at)
        complain(&e, "unexpected text behind the expression");
    *why = e.why;
    return !e.why;
}
