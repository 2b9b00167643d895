/* Operands of arithmetic: destinations, sources, truth tables, conditions, shifts and masks of low bits. */
#include "isa/agx/agx_asm_operand.h"
#include "isa/agx/agx_minifloat.h"

#include <string.h>

static bool read_mask_dst(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    const char *word = agx_asm_peek(build);
    if (word && strncmp(word, "r0l", 3) == 0 && (word[3] == '\0' || strcmp(word + 3, ".cache") == 0)) {
        build->next++;
        return agx_asm_set(build, row->t, word[3] != '\0');
    }
    return true; /* may be left out: it is always r0l */
}

static bool read_alu_dst(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    struct agx_asm_registers r;
    const char *word = agx_asm_take(build, "a destination register");
    if (!word)
        return false;
    if (!agx_asm_registers(word, &r) || r.uniform || r.discard || r.sign_extend || r.absolute || r.negate)
        return agx_asm_wants(build, word, "a destination register");
    if (row->extra)
        return r.count == 2 ? agx_asm_set_vt(build, row, r.first, (r.half ? 0 : 2) | r.cache)
                            : agx_asm_wants(build, word, "two consecutive registers");
    if (r.half)
        return r.count == 1 ? agx_asm_set_vt(build, row, r.first, r.cache) : agx_asm_wants(build, word, "one register");
    if (row->max < 32 || r.count > (row->max == 64 ? 2u : 1u))
        return agx_asm_wants(build, word, row->max < 32 ? "a half register" : row->max == 64 ? "at most a pair" : "one register");
    return agx_asm_set_vt(build, row, r.first | (r.count == 2), 2 | r.cache);
}

static unsigned hint_bits(const struct agx_asm_registers *r)
{
    return r->discard ? 3 : r->cache ? 2 : 1;
}

/* Sets v and t for a register or uniform of the 4-bit type. */
static bool set_typed(struct agx_asm_build *build, const struct agx_operand_row *row, const struct agx_asm_registers *r,
                      const char *word)
{
    const unsigned want = row->extra && !r->uniform ? 2 : 1;
    const bool pair = !r->half && !r->uniform && !row->extra && row->max == 64 && r->count == 2;
    if (!pair && r->count != want)
        return agx_asm_wants(build, word,
                             want == 2        ? "two consecutive registers"
                             : row->max == 64 ? "a register or a pair"
                                              : "one register");
    if (r->uniform)
        return !r->cache && !r->discard ? agx_asm_set_vt(build, row, r->first & 255, 4 | (r->half ? 0 : 2) | r->first >> 8)
                                        : agx_asm_wants(build, word, "a uniform without hint");
    if (!r->half && row->max < 32)
        return agx_asm_wants(build, word, "a half register");
    return agx_asm_set_vt(build, row, r->first, hint_bits(r) | (pair ? 12 : r->half ? 0 : 8));
}

static bool read_alu_src(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    struct agx_asm_registers r;
    int64_t number;
    const char *word = agx_asm_take(build, "a source");
    if (!word)
        return false;
    if (agx_asm_number(word, &number)) {
        if (number < 0 || number > 255)
            return agx_asm_fail(build, "%s: an immediate is 0..255; use mov_imm or .const", word);
        return agx_asm_set_vt(build, row, (uint32_t)number, 0);
    }
    if (!agx_asm_registers(word, &r) || r.absolute || r.negate)
        return agx_asm_wants(build, word, "a register, a uniform or 0..255");
    if (r.sign_extend && !row->m)
        return agx_asm_fail(build, "%s: this operand cannot be sign-extended", word);
    return set_typed(build, row, &r, word) && (!row->m || agx_asm_set(build, row->m, r.sign_extend));
}

static bool read_float_immediate(struct agx_asm_build *build, const struct agx_operand_row *row, const char *word)
{
    float value;
    bool absolute, negate;
    uint8_t bits;
    if (!agx_asm_float(word, &value, &absolute, &negate))
        return agx_asm_wants(build, word, "a register, a uniform or a number");
    if (!agx_minifloat_find(value, &bits))
        return agx_asm_fail(build, "%s is no float immediate (0, n/64 below 0.25, or 5 significant bits up to 31); use .const",
                            word);
    return agx_asm_set_vt(build, row, bits, 0) && agx_asm_set(build, row->m, (uint32_t)absolute | (uint32_t)negate << 1);
}

static bool read_float_src(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    struct agx_asm_registers r;
    const char *word = agx_asm_take(build, "a source");
    if (!word)
        return false;
    if (!agx_asm_registers(word, &r))
        return read_float_immediate(build, row, word);
    if (r.sign_extend)
        return agx_asm_wants(build, word, "a float operand");
    if (!agx_asm_set(build, row->m, (uint32_t)r.absolute | (uint32_t)r.negate << 1))
        return false;
    if (row->kind == AGX_KIND_FLOAT_SRC)
        return set_typed(build, row, &r, word);
    if (r.count != 1 || (!r.half && !r.uniform))
        return agx_asm_wants(build, word, "a half register");
    if (r.uniform)
        return !r.cache && !r.discard ? agx_asm_set_vt(build, row, r.first & 255, 4 | (r.half ? 0 : 2) | r.first >> 8)
                                      : agx_asm_wants(build, word, "a uniform without hint");
    return agx_asm_set_vt(build, row, r.first, hint_bits(&r));
}

static bool read_select_src(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    struct agx_asm_registers r;
    int64_t number;
    const bool dst_is_word = agx_get(&build->inst, AGX_F_Dt) & 2;
    const char *word = agx_asm_take(build, "a source");
    if (!word)
        return false;
    if (agx_asm_number(word, &number)) {
        if (number < 0 || number > 255)
            return agx_asm_fail(build, "%s: an immediate is 0..255, also for floats; use .const", word);
        return agx_asm_set_vt(build, row, (uint32_t)number, 4);
    }
    if (!agx_asm_registers(word, &r) || r.absolute || r.negate || r.sign_extend || r.count != 1)
        return agx_asm_wants(build, word, "a register, a uniform or 0..255");
    if (r.half == dst_is_word)
        return agx_asm_fail(build, "%s: selected operands have the size of the destination", word);
    if (r.uniform)
        return !r.cache && !r.discard ? agx_asm_set_vt(build, row, r.first & 255, 6 | r.first >> 8)
                                      : agx_asm_wants(build, word, "a uniform without hint");
    return agx_asm_set_vt(build, row, r.first, hint_bits(&r));
}

static bool read_truth(struct agx_asm_build *build)
{
    const char *word = agx_asm_take(build, "a truth table");
    if (!word)
        return false;
    if (strlen(word) != 4 || strspn(word, "01") != 4)
        return agx_asm_wants(build, word, "a truth table of four digits 0 or 1");
    for (unsigned i = 0; i < 4; i++)
        if (!agx_asm_set(build, (enum agx_field_id)(AGX_F_tt0 + i), word[i] == '1'))
            return false;
    return true;
}

static bool read_condition(struct agx_asm_build *build, bool is_float)
{
    const char *word = agx_asm_take(build, "a condition");
    int64_t number;
    if (!word)
        return false;
    uint32_t code = 0;
    while (code < 16 && (!agx_condition_text(is_float, code) || strcmp(agx_condition_text(is_float, code), word) != 0))
        code++;
    if (code == 16) {
        if (!agx_asm_all_digits(word) || !agx_asm_number(word, &number) || number > 15)
            return agx_asm_wants(build, word,
                                 is_float ? "a float condition (eq, lt, gt, lte, gte ...)"
                                          : "an integer condition (ueq, ult, slt ...)");
        code = (uint32_t)number;
    }
    if (code & 8 && agx_field_index(build->form, AGX_F_ccn) < 0)
        return agx_asm_fail(build, "%s: %s cannot invert its condition", word, build->form->mnemonic);
    return agx_asm_set(build, AGX_F_cc, code & 7) && agx_asm_set(build, AGX_F_ccn, code >> 3);
}

/* Reads "lsl 3" or "mask 0x7" when that is what comes next, and gives the number after the keyword. */
static bool keyword(struct agx_asm_build *build, const char *name, int64_t *number)
{
    const char *word = agx_asm_peek(build);
    const size_t length = strlen(name);
    if (!word || strncmp(word, name, length) != 0 || word[length] != ' ')
        return false;
    const char *digits = word + length;
    while (*digits == ' ')
        digits++;
    if (!agx_asm_number(digits, number))
        return false;
    build->next++;
    return true;
}

static bool read_shift(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    int64_t number;
    if (!keyword(build, "lsl", &number))
        return true;
    return number >= 0 && number <= 7 ? agx_asm_set(build, row->v, (uint32_t)number)
                                      : agx_asm_fail(build, "lsl %d: too far", (int)(number & 0xffff));
}

static bool read_low_bits(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    int64_t mask;
    if (!keyword(build, "mask", &mask))
        return true;
    if (mask == 0xffffffff)
        return true;
    if (mask <= 0 || mask > 0x7fffffff || (mask & (mask + 1)) != 0)
        return agx_asm_fail(build, "mask: expected ones from bit 0 up, as 0x1F");
    return agx_asm_set(build, row->v, (uint32_t)__builtin_popcountll((uint64_t)mask));
}

bool agx_asm_alu_operand(struct agx_asm_build *build, unsigned index)
{
    const struct agx_operand_row *row = &build->form->operands[index];
    switch ((enum agx_operand_kind)row->kind) {
    case AGX_KIND_MASK_DST: return read_mask_dst(build, row);
    case AGX_KIND_ALU_DST: return read_alu_dst(build, row);
    case AGX_KIND_ALU_SRC: return read_alu_src(build, row);
    case AGX_KIND_FLOAT_SRC:
    case AGX_KIND_FLOAT16_SRC: return read_float_src(build, row);
    case AGX_KIND_SELECT_SRC: return read_select_src(build, row);
    case AGX_KIND_TRUTH: return read_truth(build);
    case AGX_KIND_INT_CONDITION: return read_condition(build, false);
    case AGX_KIND_FLOAT_CONDITION: return read_condition(build, true);
    case AGX_KIND_SHIFT: return read_shift(build, row);
    case AGX_KIND_LOW_BITS: return read_low_bits(build, row);
    default: return agx_asm_graphics_operand(build, index);
    }
}
