#include "isa/agx/agx_asm_parts.h"
#include "isa/array_count.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One register at *at: file letter, number, l or h. Moves *at behind it. */
static bool read_register(const char **at, char *file, unsigned *half_index, bool *half)
{
    const char *p = *at;
    unsigned number = 0, digits = 0;
    if (*p != 'r' && *p != 'u')
        return false;
    *file = *p++;
    for (; isdigit((unsigned char)*p) && digits < 4; p++, digits++)
        number = 10 * number + (unsigned)(*p - '0');
    /* Numbers of one past the last register appear in tuples that the reference prints for r127. */
    if (digits == 0 || isdigit((unsigned char)*p) || number > (*file == 'u' ? 256u : 128u + 16u))
        return false;
    *half = *p == 'l' || *p == 'h';
    *half_index = 2 * number + (*p == 'h');
    *at = p + *half;
    return true;
}

static bool read_modifier(const char **at, struct agx_asm_registers *r)
{
    static const struct {
        const char *text;
        size_t place;
    } modifiers[] = {
        {".cache", offsetof(struct agx_asm_registers, cache)},    {".discard", offsetof(struct agx_asm_registers, discard)},
        {".sx", offsetof(struct agx_asm_registers, sign_extend)}, {".abs", offsetof(struct agx_asm_registers, absolute)},
        {".neg", offsetof(struct agx_asm_registers, negate)},
    };
    for (unsigned i = 0; i < ARRAY_COUNT(modifiers); i++) {
        const size_t length = strlen(modifiers[i].text);
        bool *flag = (bool *)((char *)r + modifiers[i].place);
        if (strncmp(*at, modifiers[i].text, length) == 0 && !*flag) {
            *flag = true;
            *at += length;
            return true;
        }
    }
    return false;
}

bool agx_asm_registers(const char *word, struct agx_asm_registers *r)
{
    char file, other_file;
    unsigned index;
    bool half;
    const char *at = word;
    *r = (struct agx_asm_registers){.count = 1};
    if (!read_register(&at, &file, &r->first, &r->half))
        return false;
    r->uniform = file == 'u';
    for (; *at == '_'; r->count++) {
        at++;
        if (!read_register(&at, &other_file, &index, &half) || other_file != file || half != r->half)
            return false;
        if (index != r->first + r->count * (half ? 1 : 2) || r->count == 32)
            return false;
    }
    while (*at && read_modifier(&at, r))
        continue;
    return *at == '\0' && !(r->cache && r->discard);
}

bool agx_asm_number(const char *word, int64_t *value)
{
    const bool negative = *word == '-';
    const char *digits = word + (*word == '-' || *word == '+');
    int base = 10;
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
        base = 16, digits += 2;
    else if (digits[0] == '0' && (digits[1] == 'b' || digits[1] == 'B'))
        base = 2, digits += 2;
    if (!isxdigit((unsigned char)*digits))
        return false;
    char *end;
    errno = 0;
    const unsigned long long size = strtoull(digits, &end, base);
    if (*end || errno || size > INT64_MAX)
        return false;
    *value = negative ? -(int64_t)size : (int64_t)size;
    return true;
}

bool agx_asm_float(const char *word, float *value, bool *absolute, bool *negate)
{
    char number[40];
    const size_t length = strspn(word, "+-0123456789.eE");
    size_t used = length;
    /* ".abs" and ".neg" begin with a dot that belongs to them. */
    while (used && word[used] && word[used - 1] == '.')
        used--;
    if (word[used] == 'a' || word[used] == 'n' || word[used] == 'e')
        return false;
    if (used && word[used - 1] == 'e')
        return false;
    if (used == 0 || used >= sizeof number)
        return false;
    memcpy(number, word, used);
    number[used] = '\0';
    char *end;
    *value = strtof(number, &end);
    if (*end || end == number)
        return false;
    const char *at = word + used;
    *absolute = strncmp(at, ".abs", 4) == 0;
    at += *absolute ? 4 : 0;
    *negate = strncmp(at, ".neg", 4) == 0;
    at += *negate ? 4 : 0;
    return *at == '\0';
}

/* Shifts right and rounds to nearest, ties to even. */
static uint32_t round_shift(uint32_t value, unsigned shift)
{
    if (shift > 31)
        return 0;
    const uint32_t half = UINT32_C(1) << (shift - 1), rest = value & ((UINT32_C(1) << shift) - 1), kept = value >> shift;
    return kept + (rest > half || (rest == half && kept & 1));
}

uint16_t agx_asm_half_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = bits >> 16 & 0x8000, exponent = bits >> 23 & 255, fraction = bits & 0x7fffff;
    if (exponent == 255)
        return (uint16_t)(sign | 0x7c00 | (fraction ? 0x200 : 0));
    if (exponent >= 143) /* 2^16 and more */
        return (uint16_t)(sign | 0x7c00);
    if (exponent >= 113) /* normal: the carry of rounding runs into the exponent as it should */
        return (uint16_t)(sign | round_shift((exponent - 112) << 23 | fraction, 13));
    if (exponent < 102)
        return (uint16_t)sign;
    return (uint16_t)(sign | round_shift(0x800000 | fraction, 126 - exponent));
}

/* ---- expressions: | ^ & << >> + - * / % with the precedence of C, unary - and ~ ---- */

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
