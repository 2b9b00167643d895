#include "isa/agx/agx_asm_operand.h"
#include "isa/agx/agx_minifloat.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

bool agx_asm_fail(struct agx_asm_build *build, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(build->why, sizeof build->why, format, args);
    va_end(args);
    return false;
}

bool agx_asm_set(struct agx_asm_build *build, enum agx_field_id id, uint32_t value)
{
    const int index = agx_field_index(build->form, id);
    if (index < 0)
        return value == 0 || agx_asm_fail(build, "%s cannot say %s", build->form->mnemonic, agx_field_text(id));
    const unsigned width = agx_field_width(&build->form->fields[index]);
    if (width < 32 && value >> width)
        return agx_asm_fail(build, "%s: %u does not fit %u bits", agx_field_text(id), value, width);
    build->inst.field[index] = value;
    return true;
}

const char *agx_asm_peek(const struct agx_asm_build *build)
{
    return build->next < build->line->count ? build->line->word[build->next] : NULL;
}

/* The next word, which is used up; complains when there is none. */
const char *agx_asm_take(struct agx_asm_build *build, const char *what)
{
    const char *word = agx_asm_peek(build);
    if (word)
        build->next++;
    else
        agx_asm_fail(build, "expected %s", what);
    return word;
}

bool agx_asm_wants(struct agx_asm_build *build, const char *word, const char *what)
{
    return agx_asm_fail(build, "%s: expected %s", word, what);
}

bool agx_asm_set_vt(struct agx_asm_build *build, const struct agx_operand_row *row, uint32_t v, uint32_t t)
{
    return agx_asm_set(build, row->v, v) && agx_asm_set(build, row->t, t);
}

bool agx_asm_plain(const struct agx_asm_registers *r)
{
    return !r->cache && !r->discard && !r->sign_extend && !r->absolute && !r->negate;
}

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

/* v and t of a register or uniform in the 4-bit type. */
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

/* imm16 and imm32 take floats too, and negative numbers. */
static bool read_literal(struct agx_asm_build *build, const struct agx_operand_row *row, const char *word)
{
    const bool wide = row->v == AGX_F_imm32;
    int64_t number;
    float value;
    bool absolute, negate;
    if (agx_asm_number(word, &number)) {
        if (number < (wide ? INT32_MIN : INT16_MIN) || number > (wide ? UINT32_MAX : UINT16_MAX))
            return agx_asm_fail(build, "%s does not fit %u bits", word, wide ? 32 : 16);
        return agx_asm_set(build, row->v, wide ? (uint32_t)number : (uint32_t)number & 0xffff);
    }
    if (!agx_asm_float(word, &value, &absolute, &negate) || absolute || negate)
        return agx_asm_wants(build, word, "a number");
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return agx_asm_set(build, row->v, wide ? bits : agx_asm_half_bits(value));
}

static bool read_number(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    int64_t number;
    const char *word = agx_asm_peek(build);
    if (!word && row->v == AGX_F_kill)
        return true; /* only fragment programs set it */
    if (!agx_asm_take(build, "a number"))
        return false;
    if (row->v == AGX_F_imm16 || row->v == AGX_F_imm32)
        return read_literal(build, row, word);
    if (!agx_asm_number(word, &number) || number < 0 || number > UINT32_MAX)
        return agx_asm_wants(build, word, "a number");
    return agx_asm_set(build, row->v, (uint32_t)number);
}

bool agx_asm_all_digits(const char *word)
{
    return *word && strspn(word, "0123456789") == strlen(word);
}

/* Values that already hold a hint of what was given before: the sample index of interpolated varyings. */
static bool set_enum(struct agx_asm_build *build, const struct agx_operand_row *row, uint32_t value)
{
    const uint32_t before = agx_get(&build->inst, row->v);
    if (row->extra == AGX_LIST_INTERPOLATE && before) {
        const char *text = agx_value_text(AGX_LIST_INTERPOLATE, value);
        if (!text || strcmp(text, "sample") != 0)
            return agx_asm_fail(build, "a sample index belongs to interpolation at a sample");
        value = before;
    }
    return agx_asm_set(build, row->v, value);
}

static bool read_enum(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    const char *word = agx_asm_peek(build);
    int64_t number;
    for (unsigned i = 0; i < agx_values_count && word; i++)
        if (agx_values[i].list == row->extra && *agx_values[i].text && strcmp(agx_values[i].text, word) == 0) {
            build->next++;
            return set_enum(build, row, agx_values[i].value);
        }
    if (word && agx_asm_all_digits(word) && agx_asm_number(word, &number) && number < 256 &&
        !agx_value_text((enum agx_list)row->extra, (uint32_t)number)) {
        build->next++;
        return agx_asm_set(build, row->v, (uint32_t)number);
    }
    const char *absent = agx_value_text((enum agx_list)row->extra, 0);
    if (absent && !*absent)
        return agx_asm_set(build, row->v, 0);
    if (!word)
        return agx_asm_fail(build, "expected a value for %s", agx_field_text(row->v));
    return agx_asm_fail(build, "%s is no value for %s", word, agx_field_text(row->v));
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

static bool read_branch(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    const char *word = agx_asm_take(build, "a branch target");
    int64_t number;
    if (!word)
        return false;
    const int64_t limit = row->extra == 8 ? 128 : INT64_C(0x80000000);
    if (strncmp(word, "pc", 2) == 0 && (word[2] == '+' || word[2] == '-')) {
        if (!agx_asm_number(word + 2, &number) || number < -limit || number >= limit)
            return agx_asm_wants(build, word, "pc and an offset that fits");
        return agx_asm_set(build, row->v, row->extra == 8 ? (uint32_t)number & 255 : (uint32_t)number);
    }
    struct agx_asm_registers r;
    if (agx_asm_registers(word, &r) || !(isalpha((unsigned char)*word) || *word == '_'))
        return agx_asm_wants(build, word, "a label or pc+offset");
    build->label = word;
    return true;
}

static bool set_signed16(struct agx_asm_build *build, enum agx_field_id id, int64_t number, const char *word)
{
    if (number < INT16_MIN || number > INT16_MAX)
        return agx_asm_fail(build, "%s: an offset is -32768..32767", word);
    return agx_asm_set(build, id, (uint32_t)number & 0xffff);
}

static bool read_signed16(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    int64_t number;
    const char *word = agx_asm_take(build, "a number");
    if (!word)
        return false;
    return agx_asm_number(word, &number) ? set_signed16(build, row->v, number, word) : agx_asm_wants(build, word, "a number");
}

static bool read_index(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    const bool half = row->kind == AGX_KIND_GROUP_INDEX;
    struct agx_asm_registers r;
    int64_t number;
    const char *word = agx_asm_take(build, "an offset");
    if (!word)
        return false;
    if (agx_asm_number(word, &number))
        return set_signed16(build, row->v, number, word) && agx_asm_set(build, row->t, 1);
    if (!agx_asm_registers(word, &r) || r.uniform || r.count != 1 || r.half != half || !agx_asm_plain(&r))
        return agx_asm_wants(build, word, half ? "a half register or a number" : "a 32-bit register or a number");
    return agx_asm_set_vt(build, row, r.first, 0);
}

static bool read_group_base(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    struct agx_asm_registers r;
    const char *word = agx_asm_take(build, "a base");
    if (!word)
        return false;
    if (strcmp(word, "0") == 0)
        return agx_asm_set_vt(build, row, 0, 2);
    if (!agx_asm_registers(word, &r) || r.count != 1 || !r.half || !agx_asm_plain(&r))
        return agx_asm_wants(build, word, "a half register, a uniform half or 0");
    return agx_asm_set_vt(build, row, r.first & 255, r.uniform ? 1 | r.first >> 8 << 1 : 0);
}

/* "lsl 3", "mask 0x7": the number behind a keyword, if that is what comes next. */
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

/* A single register without modifiers; what it is was checked by the caller. */
bool agx_asm_one_register(struct agx_asm_build *build, bool half, bool uniform, unsigned *first)
{
    struct agx_asm_registers r;
    const char *word = agx_asm_take(build, half ? "a half register" : "a 32-bit register");
    if (!word)
        return false;
    if (!agx_asm_registers(word, &r) || r.half != half || r.uniform != uniform || r.count != 1 || !agx_asm_plain(&r))
        return agx_asm_wants(build, word, half ? "a half register" : "a 32-bit register");
    *first = r.first;
    return true;
}

static bool read_half(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    unsigned first;
    return agx_asm_one_register(build, true, false, &first) && agx_asm_set(build, row->v, first);
}

static bool read_word_register(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    unsigned first;
    return agx_asm_one_register(build, false, false, &first) &&
           agx_asm_set(build, row->v, row->kind == AGX_KIND_WORD ? first / 2 : first);
}

static bool read_atomic_dst(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    unsigned first;
    if (agx_asm_peek(build) && strcmp(agx_asm_peek(build), "None") == 0) {
        build->next++;
        return agx_asm_set_vt(build, row, 0, 0);
    }
    return agx_asm_one_register(build, false, false, &first) && agx_asm_set_vt(build, row, first, 1);
}

static bool read_special(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    const char *word = agx_asm_take(build, "a special register");
    int64_t number;
    char name[AGX_ASM_NAME_BYTES];
    if (!word)
        return false;
    const size_t length = strcspn(word, " ");
    if (length >= sizeof name)
        return agx_asm_wants(build, word, "a special register");
    memcpy(name, word, length);
    name[length] = '\0';
    if (strncmp(name, "sr", 2) == 0 && agx_asm_all_digits(name + 2) && agx_asm_number(name + 2, &number) && number < 256)
        return agx_asm_set(build, row->v, (uint32_t)number);
    for (unsigned i = 0; i < agx_specials_count; i++)
        if (strcmp(agx_specials[i].name, name) == 0 || (agx_specials[i].text && strcmp(agx_specials[i].text, name) == 0))
            return agx_asm_set(build, row->v, agx_specials[i].number);
    return agx_asm_wants(build, word, "sr0..sr255 or the name of a special register");
}

bool agx_asm_operand(struct agx_asm_build *build, unsigned index)
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
    case AGX_KIND_NUMBER:
    case AGX_KIND_BITS: return read_number(build, row);
    case AGX_KIND_ENUM: return read_enum(build, row);
    case AGX_KIND_INT_CONDITION: return read_condition(build, false);
    case AGX_KIND_FLOAT_CONDITION: return read_condition(build, true);
    case AGX_KIND_BRANCH: return read_branch(build, row);
    case AGX_KIND_SIGNED16: return read_signed16(build, row);
    case AGX_KIND_SHIFT: return read_shift(build, row);
    case AGX_KIND_LOW_BITS: return read_low_bits(build, row);
    case AGX_KIND_HALF: return read_half(build, row);
    case AGX_KIND_WORD:
    case AGX_KIND_WORD_AT_HALF: return read_word_register(build, row);
    case AGX_KIND_INDEX:
    case AGX_KIND_GROUP_INDEX: return read_index(build, row);
    case AGX_KIND_GROUP_BASE: return read_group_base(build, row);
    case AGX_KIND_ATOMIC_DST: return read_atomic_dst(build, row);
    case AGX_KIND_SPECIAL: return read_special(build, row);
    default: return agx_asm_graphics_operand(build, index);
    }
}
