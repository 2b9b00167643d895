/* Numbers: integers of any width that fits 64 bits, and floats in LLVM's decimal and hexadecimal forms
 * (llvm.org/docs/LangRef.html#simple-constants): a float is written as the double of the same value. */
#include "isa/agx/compiler/ir_read_parts.h"

#include "isa/float_bits.h"

#include <stdlib.h>
#include <string.h>

static bool read_integer(struct ir_reader *r, unsigned bits, uint64_t *value)
{
    const struct ir_token *const token = &r->place.token;
    const bool minus = *token->text == '-';
    const uint64_t negative_most = UINT64_C(1) << ((bits < 64 ? bits : 64) - 1);
    const uint64_t most = minus ? negative_most : bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    uint64_t result = 0;
    for (size_t i = minus || *token->text == '+'; i < token->length; i++) {
        const unsigned digit = (unsigned)(token->text[i] - '0');
        if (result > (UINT64_MAX - digit) / 10)
            return ir_read_fail(r, "a number of more than 64 bits is not supported");
        result = 10 * result + digit;
    }
    if (minus && bits > 64 && result)
        return ir_read_fail(r, "a number of more than 64 bits is not supported");
    if (result > most)
        return ir_read_fail(r, "the number does not fit %u bits", bits);
    *value = minus ? 0 - result : result;
    return true;
}

static bool hex(const char *text, size_t length, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0 || *value >> 60)
            return false;
        *value = *value << 4 | (unsigned)digit;
    }
    return length != 0;
}

/* The bits of a double as those of a narrower format; false when that would round. */
static bool narrow(uint64_t from, unsigned exponent_bits, unsigned fraction_bits, uint64_t *to)
{
    const uint64_t sign = from >> 63 << (exponent_bits + fraction_bits);
    const uint64_t fraction = from & ((UINT64_C(1) << 52) - 1);
    const unsigned dropped = 52 - fraction_bits, most = (1u << exponent_bits) - 1;
    const int exponent = (int)(from >> 52 & 2047) - 1023 + (int)(most >> 1);
    uint64_t wide = fraction;
    int shift = (int)dropped;
    uint64_t field = 0;
    if ((from >> 52 & 2047) == 2047) {
        field = most;
    } else if (exponent >= (int)most) {
        return false;
    } else if (exponent > 0) {
        field = (uint64_t)exponent;
    } else if (from << 1) { /* subnormal there */
        wide |= UINT64_C(1) << 52;
        shift += 1 - exponent;
        if (shift > 63)
            return false;
    }
    if (wide & ((UINT64_C(1) << shift) - 1))
        return false;
    *to = sign | field << fraction_bits | wide >> shift;
    return true;
}

static bool from_double(struct ir_reader *r, uint64_t bits, const struct ir_type *type, uint64_t *value)
{
    *value = bits;
    if (type->bits == 64 || narrow(bits, type->bits == 16 ? 5 : 8, type->bits == 16 ? 10 : 23, value))
        return true;
    return ir_read_fail(r, "the number is not exact in %u bits", type->bits);
}

static bool read_hex(struct ir_reader *r, const struct ir_type *type, uint64_t *value)
{
    const struct ir_token *const token = &r->place.token;
    const char kind = token->length > 2 ? token->text[2] : '\0';
    if (kind == 'H') {
        if (type->bits == 16 && token->length == 7 && hex(token->text + 3, 4, value))
            return true;
        return ir_read_fail(r, "expected four digits of a half");
    }
    if (kind == 'K' || kind == 'L' || kind == 'M' || kind == 'R')
        return ir_read_fail(r, "floats of format 0x%c are not supported", kind);
    uint64_t bits;
    if (token->length > 18 || !hex(token->text + 2, token->length - 2, &bits))
        return ir_read_fail(r, "expected hexadecimal digits");
    return from_double(r, bits, type, value);
}

static bool read_decimal(struct ir_reader *r, const struct ir_type *type, uint64_t *value)
{
    char text[64];
    const struct ir_token *const token = &r->place.token;
    if (token->length >= sizeof text)
        return ir_read_fail(r, "the number has too many digits");
    memcpy(text, token->text, token->length);
    text[token->length] = '\0';
    return from_double(r, f64_bits(strtod(text, NULL)), type, value);
}

struct ir_value *ir_read_number(struct ir_reader *r, const struct ir_type *type)
{
    uint64_t value = 0;
    const enum ir_token_kind kind = r->place.token.kind;
    bool good;
    if (type->kind == IR_INT && kind == IR_T_INTEGER)
        good = read_integer(r, type->bits, &value);
    else if (type->kind == IR_FLOAT && kind == IR_T_HEX)
        good = read_hex(r, type, &value);
    else if (type->kind == IR_FLOAT && kind == IR_T_FLOAT)
        good = read_decimal(r, type, &value);
    else
        good = ir_read_fail(r, "the constant does not fit its type");
    if (!good)
        return NULL;
    ir_next(r);
    return ir_constant(r->m, type, value);
}
