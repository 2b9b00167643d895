/* Words of operands: registers with their modifiers, and numbers. */
#include "isa/float_bits.h"
#include "isa/agx/agx_asm_parts.h"
#include "isa/array_count.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Reads one register at *at: file letter, number, l or h. Moves *at past it. */
static bool read_register(const char **at, char *file, unsigned *half_index, bool *half)
{
    const char *p = *at;
    unsigned number = 0, digits = 0;
    if (*p != 'r' && *p != 'u')
        return false;
    *file = *p++;
    for (; isdigit((unsigned char)*p) && digits < 4; p++, digits++)
        number = 10 * number + (unsigned)(*p - '0');
    /* The reference prints tuples that begin at r127 with numbers beyond the last register. */
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
    const uint32_t bits = f32_bits(value);
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
