#include "isa/agx/agx_asm_parts.h"
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

static const char *peek(const struct agx_asm_build *build)
{
    return build->next < build->line->count ? build->line->word[build->next] : NULL;
}

/* The next word, which is used up; complains when there is none. */
static const char *take(struct agx_asm_build *build, const char *what)
{
    const char *word = peek(build);
    if (word)
        build->next++;
    else
        agx_asm_fail(build, "expected %s", what);
    return word;
}

static bool wants(struct agx_asm_build *build, const char *word, const char *what)
{
    return agx_asm_fail(build, "%s: expected %s", word, what);
}

static bool set_vt(struct agx_asm_build *build, const struct agx_operand_row *row, uint32_t v, uint32_t t)
{
    return agx_asm_set(build, row->v, v) && agx_asm_set(build, row->t, t);
}

static bool plain_registers(const struct agx_asm_registers *r)
{
    return !r->cache && !r->discard && !r->sign_extend && !r->absolute && !r->negate;
}

static bool read_mask_dst(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    const char *word = peek(build);
    if (word && strncmp(word, "r0l", 3) == 0 && (word[3] == '\0' || strcmp(word + 3, ".cache") == 0)) {
        build->next++;
        return agx_asm_set(build, row->t, word[3] != '\0');
    }
    return true; /* may be left out: it is always r0l */
}

static bool read_alu_dst(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    struct agx_asm_registers r;
    const char *word = take(build, "a destination register");
    if (!word)
        return false;
    if (!agx_asm_registers(word, &r) || r.uniform || r.discard || r.sign_extend || r.absolute || r.negate)
        return wants(build, word, "a destination register");
    if (row->extra)
        return r.count == 2 ? set_vt(build, row, r.first, (r.half ? 0 : 2) | r.cache)
                            : wants(build, word, "two consecutive registers");
    if (r.half)
        return r.count == 1 ? set_vt(build, row, r.first, r.cache) : wants(build, word, "one register");
    if (row->max < 32 || r.count > (row->max == 64 ? 2u : 1u))
        return wants(build, word, row->max < 32 ? "a half register" : row->max == 64 ? "at most a pair" : "one register");
    return set_vt(build, row, r.first | (r.count == 2), 2 | r.cache);
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
        return wants(build, word, want == 2 ? "two consecutive registers" : row->max == 64 ? "a register or a pair" : "one register");
    if (r->uniform)
        return !r->cache && !r->discard ? set_vt(build, row, r->first & 255, 4 | (r->half ? 0 : 2) | r->first >> 8)
                                        : wants(build, word, "a uniform without hint");
    if (!r->half && row->max < 32)
        return wants(build, word, "a half register");
    return set_vt(build, row, r->first, hint_bits(r) | (pair ? 12 : r->half ? 0 : 8));
}

static bool read_alu_src(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    struct agx_asm_registers r;
    int64_t number;
    const char *word = take(build, "a source");
    if (!word)
        return false;
    if (agx_asm_number(word, &number)) {
        if (number < 0 || number > 255)
            return agx_asm_fail(build, "%s: an immediate is 0..255; use mov_imm or .const", word);
        return set_vt(build, row, (uint32_t)number, 0);
    }
    if (!agx_asm_registers(word, &r) || r.absolute || r.negate)
        return wants(build, word, "a register, a uniform or 0..255");
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
        return wants(build, word, "a register, a uniform or a number");
    if (!agx_minifloat_find(value, &bits))
        return agx_asm_fail(build, "%s is no float immediate (0, n/64 below 0.25, or 5 significant bits up to 31); use .const", word);
    return set_vt(build, row, bits, 0) && agx_asm_set(build, row->m, (uint32_t)absolute | (uint32_t)negate << 1);
}

static bool read_float_src(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    struct agx_asm_registers r;
    const char *word = take(build, "a source");
    if (!word)
        return false;
    if (!agx_asm_registers(word, &r))
        return read_float_immediate(build, row, word);
    if (r.sign_extend)
        return wants(build, word, "a float operand");
    if (!agx_asm_set(build, row->m, (uint32_t)r.absolute | (uint32_t)r.negate << 1))
        return false;
    if (row->kind == AGX_KIND_FLOAT_SRC)
        return set_typed(build, row, &r, word);
    if (r.count != 1 || (!r.half && !r.uniform))
        return wants(build, word, "a half register");
    if (r.uniform)
        return !r.cache && !r.discard ? set_vt(build, row, r.first & 255, 4 | (r.half ? 0 : 2) | r.first >> 8)
                                      : wants(build, word, "a uniform without hint");
    return set_vt(build, row, r.first, hint_bits(&r));
}

static bool read_select_src(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    struct agx_asm_registers r;
    int64_t number;
    const bool dst_is_word = agx_get(&build->inst, AGX_F_Dt) & 2;
    const char *word = take(build, "a source");
    if (!word)
        return false;
    if (agx_asm_number(word, &number)) {
        if (number < 0 || number > 255)
            return agx_asm_fail(build, "%s: an immediate is 0..255, also for floats; use .const", word);
        return set_vt(build, row, (uint32_t)number, 4);
    }
    if (!agx_asm_registers(word, &r) || r.absolute || r.negate || r.sign_extend || r.count != 1)
        return wants(build, word, "a register, a uniform or 0..255");
    if (r.half == dst_is_word)
        return agx_asm_fail(build, "%s: selected operands have the size of the destination", word);
    if (r.uniform)
        return !r.cache && !r.discard ? set_vt(build, row, r.first & 255, 6 | r.first >> 8)
                                      : wants(build, word, "a uniform without hint");
    return set_vt(build, row, r.first, hint_bits(&r));
}

static bool read_truth(struct agx_asm_build *build)
{
    const char *word = take(build, "a truth table");
    if (!word)
        return false;
    if (strlen(word) != 4 || strspn(word, "01") != 4)
        return wants(build, word, "a truth table of four digits 0 or 1");
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
        return wants(build, word, "a number");
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return agx_asm_set(build, row->v, wide ? bits : agx_asm_half_bits(value));
}

static bool read_number(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    int64_t number;
    const char *word = peek(build);
    if (!word && row->v == AGX_F_kill)
        return true; /* only fragment programs set it */
    if (!take(build, "a number"))
        return false;
    if (row->v == AGX_F_imm16 || row->v == AGX_F_imm32)
        return read_literal(build, row, word);
    if (!agx_asm_number(word, &number) || number < 0 || number > UINT32_MAX)
        return wants(build, word, "a number");
    return agx_asm_set(build, row->v, (uint32_t)number);
}

static bool all_digits(const char *word)
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
    const char *word = peek(build);
    int64_t number;
    for (unsigned i = 0; i < agx_values_count && word; i++)
        if (agx_values[i].list == row->extra && *agx_values[i].text && strcmp(agx_values[i].text, word) == 0) {
            build->next++;
            return set_enum(build, row, agx_values[i].value);
        }
    if (word && all_digits(word) && agx_asm_number(word, &number) && number < 256 &&
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
    const char *word = take(build, "a condition");
    int64_t number;
    if (!word)
        return false;
    uint32_t code = 0;
    while (code < 16 && (!agx_condition_text(is_float, code) || strcmp(agx_condition_text(is_float, code), word) != 0))
        code++;
    if (code == 16) {
        if (!all_digits(word) || !agx_asm_number(word, &number) || number > 15)
            return wants(build, word, is_float ? "a float condition (eq, lt, gt, lte, gte ...)" : "an integer condition (ueq, ult, slt ...)");
        code = (uint32_t)number;
    }
    if (code & 8 && agx_field_index(build->form, AGX_F_ccn) < 0)
        return agx_asm_fail(build, "%s: %s cannot invert its condition", word, build->form->mnemonic);
    return agx_asm_set(build, AGX_F_cc, code & 7) && agx_asm_set(build, AGX_F_ccn, code >> 3);
}

static bool read_branch(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    const char *word = take(build, "a branch target");
    int64_t number;
    if (!word)
        return false;
    const int64_t limit = row->extra == 8 ? 128 : INT64_C(0x80000000);
    if (strncmp(word, "pc", 2) == 0 && (word[2] == '+' || word[2] == '-')) {
        if (!agx_asm_number(word + 2, &number) || number < -limit || number >= limit)
            return wants(build, word, "pc and an offset that fits");
        return agx_asm_set(build, row->v, row->extra == 8 ? (uint32_t)number & 255 : (uint32_t)number);
    }
    struct agx_asm_registers r;
    if (agx_asm_registers(word, &r) || !(isalpha((unsigned char)*word) || *word == '_'))
        return wants(build, word, "a label or pc+offset");
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
    const char *word = take(build, "a number");
    if (!word)
        return false;
    return agx_asm_number(word, &number) ? set_signed16(build, row->v, number, word) : wants(build, word, "a number");
}

static bool read_index(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    const bool half = row->kind == AGX_KIND_GROUP_INDEX;
    struct agx_asm_registers r;
    int64_t number;
    const char *word = take(build, "an offset");
    if (!word)
        return false;
    if (agx_asm_number(word, &number))
        return set_signed16(build, row->v, number, word) && agx_asm_set(build, row->t, 1);
    if (!agx_asm_registers(word, &r) || r.uniform || r.count != 1 || r.half != half || !plain_registers(&r))
        return wants(build, word, half ? "a half register or a number" : "a 32-bit register or a number");
    return set_vt(build, row, r.first, 0);
}

static bool read_group_base(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    struct agx_asm_registers r;
    const char *word = take(build, "a base");
    if (!word)
        return false;
    if (strcmp(word, "0") == 0)
        return set_vt(build, row, 0, 2);
    if (!agx_asm_registers(word, &r) || r.count != 1 || !r.half || !plain_registers(&r))
        return wants(build, word, "a half register, a uniform half or 0");
    return set_vt(build, row, r.first & 255, r.uniform ? 1 | r.first >> 8 << 1 : 0);
}

/* "lsl 3", "mask 0x7": the number behind a keyword, if that is what comes next. */
static bool keyword(struct agx_asm_build *build, const char *name, int64_t *number)
{
    const char *word = peek(build);
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
static bool one_register(struct agx_asm_build *build, bool half, bool uniform, unsigned *first)
{
    struct agx_asm_registers r;
    const char *word = take(build, half ? "a half register" : "a 32-bit register");
    if (!word)
        return false;
    if (!agx_asm_registers(word, &r) || r.half != half || r.uniform != uniform || r.count != 1 || !plain_registers(&r))
        return wants(build, word, half ? "a half register" : "a 32-bit register");
    *first = r.first;
    return true;
}

static bool read_half(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    unsigned first;
    return one_register(build, true, false, &first) && agx_asm_set(build, row->v, first);
}

static bool read_word_register(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    unsigned first;
    return one_register(build, false, false, &first) &&
           agx_asm_set(build, row->v, row->kind == AGX_KIND_WORD ? first / 2 : first);
}

static bool read_atomic_dst(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    unsigned first;
    if (peek(build) && strcmp(peek(build), "None") == 0) {
        build->next++;
        return set_vt(build, row, 0, 0);
    }
    return one_register(build, false, false, &first) && set_vt(build, row, first, 1);
}

static bool read_special(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    const char *word = take(build, "a special register");
    int64_t number;
    char name[AGX_ASM_NAME_BYTES];
    if (!word)
        return false;
    const size_t length = strcspn(word, " ");
    if (length >= sizeof name)
        return wants(build, word, "a special register");
    memcpy(name, word, length);
    name[length] = '\0';
    if (strncmp(name, "sr", 2) == 0 && all_digits(name + 2) && agx_asm_number(name + 2, &number) && number < 256)
        return agx_asm_set(build, row->v, (uint32_t)number);
    for (unsigned i = 0; i < agx_specials_count; i++)
        if (strcmp(agx_specials[i].name, name) == 0 || (agx_specials[i].text && strcmp(agx_specials[i].text, name) == 0))
            return agx_asm_set(build, row->v, agx_specials[i].number);
    return wants(build, word, "sr0..sr255 or the name of a special register");
}

static bool read_half_or_number(struct agx_asm_build *build, const struct agx_operand_row *row, uint32_t t_number)
{
    struct agx_asm_registers r;
    int64_t number;
    const char *word = take(build, "a half register or a number");
    if (!word)
        return false;
    if (agx_asm_number(word, &number))
        return number >= 0 && number < 256 ? set_vt(build, row, (uint32_t)number, t_number) : wants(build, word, "0..255");
    if (!agx_asm_registers(word, &r) || r.uniform || !r.half || r.count != 1 || !plain_registers(&r))
        return wants(build, word, "a half register or a number");
    return set_vt(build, row, r.first, !t_number);
}

/* "cf4", "ts3", "ss1" */
static bool prefixed(const char *word, const char *prefix, uint32_t *number)
{
    int64_t value;
    const size_t length = strlen(prefix);
    if (strncmp(word, prefix, length) != 0 || !all_digits(word + length) || !agx_asm_number(word + length, &value) || value > 255)
        return false;
    *number = (uint32_t)value;
    return true;
}

/* State number or half register. */
static bool read_state_or_half(struct agx_asm_build *build, const struct agx_operand_row *row, const char *prefix)
{
    uint32_t number;
    unsigned first;
    const char *word = peek(build);
    if (word && prefixed(word, prefix, &number)) {
        build->next++;
        return row->t ? set_vt(build, row, number, 0) : agx_asm_set(build, row->v, number);
    }
    if (row->kind != AGX_KIND_COEFFICIENT_OR_HALF && row->kind != AGX_KIND_SAMPLER)
        return agx_asm_fail(build, "%s: expected %s and a number", word ? word : "end of line", prefix);
    return one_register(build, true, false, &first) && set_vt(build, row, first, 1);
}

static bool read_sample_index(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    struct agx_asm_registers r;
    int64_t number;
    const char *word = peek(build);
    if (word && agx_asm_number(word, &number)) {
        build->next++;
        return number >= 0 && number < 256
                   ? agx_asm_set(build, row->v, (uint32_t)number) && agx_asm_set(build, AGX_F_interpolation, 1)
                   : wants(build, word, "0..255");
    }
    if (word && agx_asm_registers(word, &r) && r.half && !r.uniform && r.count == 1 && plain_registers(&r)) {
        build->next++;
        return agx_asm_set(build, row->v, r.first) && agx_asm_set(build, AGX_F_interpolation, 3);
    }
    return true;
}

static bool read_texture(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    /* Forms without a bindless operand still have the register kinds of bindless textures. */
    const bool bindless = agx_get(&build->inst, row->t) & 2, either = agx_field_index(build->form, AGX_F_U) < 0;
    struct agx_asm_registers r;
    uint32_t number;
    const char *word = take(build, "a texture");
    if (!word)
        return false;
    if (!bindless && prefixed(word, "ts", &number))
        return set_vt(build, row, number, 0);
    if ((bindless || either) && strcmp(word, "0") == 0)
        return set_vt(build, row, 0, 2);
    if (!agx_asm_registers(word, &r) || r.uniform || r.count != 1 || !plain_registers(&r) || (!bindless && !either && !r.half))
        return wants(build, word, "a texture");
    if (either)
        return set_vt(build, row, r.first, r.half ? 1 : 3);
    return set_vt(build, row, r.first, bindless ? (r.half ? 2 : 3) : 1);
}

/* "r77", "r18l", "r68_r69l" */
static bool read_compare_offset(struct agx_asm_build *build, const struct agx_operand_row *row)
{
    const bool compare = agx_get(&build->inst, row->m);
    struct agx_asm_registers r;
    char copy[32];
    const char *word = peek(build);
    if (!compare && (!word || !agx_asm_registers(word, &r)))
        return true;
    if (!take(build, "a register to compare with"))
        return false;
    if (strlen(word) >= sizeof copy)
        return wants(build, word, "a register");
    memcpy(copy, word, strlen(word) + 1);
    char *second = compare ? strchr(copy, '_') : NULL;
    if (second)
        *second++ = '\0';
    if (!agx_asm_registers(copy, &r) || r.uniform || r.count != 1 || r.half == compare || !plain_registers(&r))
        return wants(build, word, "a register");
    const unsigned first = r.first;
    if (!set_vt(build, row, first, !compare || second))
        return false;
    if (second && (!agx_asm_registers(second, &r) || !r.half || r.first < first + 2 || r.first > first + 3))
        return wants(build, word, "the offset in the register behind the compared one");
    return !second || agx_asm_set(build, row->v, first | (r.first & 1));
}

static bool mask_precedes(const struct agx_form *form, unsigned index)
{
    for (unsigned i = 0; i < index; i++)
        if (form->operands[i].v == AGX_F_mask)
            return true;
    return false;
}

/* Registers that are there or not: fields v and t; the count is checked at the end. */
static bool read_run(struct agx_asm_build *build, const struct agx_operand_row *row, unsigned index)
{
    struct agx_asm_registers r;
    const char *word = peek(build);
    const bool optional = row->kind == AGX_KIND_DATA || row->kind == AGX_KIND_DEPTH_STENCIL;
    const bool none = word && strcmp(word, "None") == 0 && (row->kind == AGX_KIND_BINDLESS || row->extra);
    if (none) {
        build->next++;
        return true;
    }
    /* With an empty mask there are no registers, and what follows may be one. */
    if (row->kind == AGX_KIND_DATA && mask_precedes(build->form, index) && agx_get(&build->inst, AGX_F_mask) == 0)
        return true;
    if (!word || !agx_asm_registers(word, &r))
        return optional && !row->extra ? true : wants(build, word ? word : "end of line", "registers");
    if (r.cache || r.sign_extend || r.absolute || r.negate || (r.discard && row->kind != AGX_KIND_COORDS))
        return wants(build, word, "registers without modifiers");
    build->next++;
    build->run_count[index] = (uint8_t)r.count;
    build->run_halves[index] = r.half;
    switch ((enum agx_operand_kind)row->kind) {
    case AGX_KIND_DATA:
    case AGX_KIND_TEXEL:
        return !r.uniform && set_vt(build, row, r.first, !r.half) && (!row->extra || agx_asm_set(build, row->extra, 1))
                   ? true
                   : wants(build, word, "registers");
    case AGX_KIND_BASE:
    case AGX_KIND_ASYNC_PAIR:
        return !r.half ? set_vt(build, row, r.first, r.uniform) : wants(build, word, "a pair");
    case AGX_KIND_ASYNC_WORDS:
        return !r.half ? set_vt(build, row, r.first / 2, r.uniform) : wants(build, word, "32-bit registers");
    case AGX_KIND_UNIFORM_PAIR:
        return r.uniform && !r.half ? agx_asm_set(build, row->v, r.first / 2) : wants(build, word, "a pair of uniforms");
    case AGX_KIND_BINDLESS:
        return r.uniform && !r.half && r.first % 4 == 0 ? set_vt(build, row, r.first / 4, 2) : wants(build, word, "an even pair of uniforms");
    case AGX_KIND_ATOMIC_SRC:
        return !r.uniform && !r.half ? agx_asm_set(build, row->v, r.first) : wants(build, word, "32-bit registers");
    case AGX_KIND_DEPTH_STENCIL:
        return !r.uniform && r.half && r.count <= 3 && agx_asm_set(build, row->v, r.first) && agx_asm_set(build, row->t, r.count >> 1) &&
                       agx_asm_set(build, row->m, r.count & 1)
                   ? true
                   : wants(build, word, "one to three halves");
    case AGX_KIND_VARYING:
        return !r.uniform && r.count % row->extra == 0 && r.count / row->extra <= 4 && set_vt(build, row, r.first, !r.half) &&
                       agx_asm_set(build, row->m, r.count / row->extra & 3)
                   ? true
                   : wants(build, word, "registers");
    case AGX_KIND_COORDS:
        return !r.uniform && set_vt(build, row, r.first, r.discard) ? true : wants(build, word, "registers");
    default:
        return wants(build, word, "another operand");
    }
}

static bool read_lod(struct agx_asm_build *build, const struct agx_operand_row *row, unsigned index)
{
    const uint32_t lod = agx_get(&build->inst, AGX_F_lod);
    struct agx_asm_registers r;
    const char *word = take(build, "a level of detail or 0");
    if (!word)
        return false;
    if (strcmp(word, "0") == 0)
        return true;
    if (!agx_asm_registers(word, &r) || !plain_registers(&r))
        return wants(build, word, "registers");
    build->run_count[index] = (uint8_t)r.count;
    build->run_halves[index] = r.half;
    /* "auto_lod_bias" and "lod_min" stand for two codes each: uniform and register. */
    return agx_asm_set(build, row->v, r.first) && agx_asm_set(build, AGX_F_lod, r.uniform ? lod & ~4u : lod | 4);
}

bool agx_asm_operand(struct agx_asm_build *build, unsigned index)
{
    const struct agx_operand_row *row = &build->form->operands[index];
    switch ((enum agx_operand_kind)row->kind) {
    case AGX_KIND_MASK_DST:
        return read_mask_dst(build, row);
    case AGX_KIND_ALU_DST:
        return read_alu_dst(build, row);
    case AGX_KIND_ALU_SRC:
        return read_alu_src(build, row);
    case AGX_KIND_FLOAT_SRC:
    case AGX_KIND_FLOAT16_SRC:
        return read_float_src(build, row);
    case AGX_KIND_SELECT_SRC:
        return read_select_src(build, row);
    case AGX_KIND_TRUTH:
        return read_truth(build);
    case AGX_KIND_NUMBER:
    case AGX_KIND_BITS:
        return read_number(build, row);
    case AGX_KIND_ENUM:
        return read_enum(build, row);
    case AGX_KIND_INT_CONDITION:
        return read_condition(build, false);
    case AGX_KIND_FLOAT_CONDITION:
        return read_condition(build, true);
    case AGX_KIND_BRANCH:
        return read_branch(build, row);
    case AGX_KIND_SIGNED16:
        return read_signed16(build, row);
    case AGX_KIND_SHIFT:
        return read_shift(build, row);
    case AGX_KIND_LOW_BITS:
        return read_low_bits(build, row);
    case AGX_KIND_HALF:
        return read_half(build, row);
    case AGX_KIND_WORD:
    case AGX_KIND_WORD_AT_HALF:
        return read_word_register(build, row);
    case AGX_KIND_INDEX:
    case AGX_KIND_GROUP_INDEX:
        return read_index(build, row);
    case AGX_KIND_GROUP_BASE:
        return read_group_base(build, row);
    case AGX_KIND_ATOMIC_DST:
        return read_atomic_dst(build, row);
    case AGX_KIND_SPECIAL:
        return read_special(build, row);
    case AGX_KIND_SAMPLES:
        return read_half_or_number(build, row, row->extra);
    case AGX_KIND_TARGET:
    case AGX_KIND_HALF_OR_NUMBER:
        return read_half_or_number(build, row, 1);
    case AGX_KIND_COEFFICIENT_OR_HALF:
    case AGX_KIND_COEFFICIENT:
        return read_state_or_half(build, row, "cf");
    case AGX_KIND_TEXTURE_STATE:
        return read_state_or_half(build, row, "ts");
    case AGX_KIND_SAMPLER_STATE:
    case AGX_KIND_SAMPLER:
        return read_state_or_half(build, row, "ss");
    case AGX_KIND_SAMPLE_INDEX:
        return read_sample_index(build, row);
    case AGX_KIND_TEXTURE:
        return read_texture(build, row);
    case AGX_KIND_COMPARE_OFFSET:
        return read_compare_offset(build, row);
    case AGX_KIND_LOD:
        return read_lod(build, row, index);
    default:
        return read_run(build, row, index);
    }
}

/* Halves given as coordinates are either all of them 16-bit, or 32-bit ones with a layer behind. */
static bool settle_coords(struct agx_asm_build *build, const struct agx_operand_row *row, unsigned index)
{
    const unsigned coords = agx_dim_coords(agx_get(&build->inst, AGX_F_n));
    const bool wide = agx_dim_extra(agx_get(&build->inst, AGX_F_n)) && build->run_count[index] == 2 * coords + 1;
    return agx_asm_set(build, row->m, build->run_halves[index] && !wide);
}

bool agx_asm_settle(struct agx_asm_build *build)
{
    for (unsigned i = 0; i < build->form->operand_count; i++) {
        const struct agx_operand_row *row = &build->form->operands[i];
        struct agx_run run;
        if (row->kind == AGX_KIND_COORDS && !settle_coords(build, row, i))
            return false;
        if (!agx_operand_run(&build->inst, row, &run))
            continue;
        const bool halves = run.place == AGX_PLACE_HALF || run.place == AGX_PLACE_UNIFORM_HALF;
        if (run.count != build->run_count[i] || (run.count && halves != build->run_halves[i]))
            return agx_asm_fail(build, "operand %s: expected %u %s register%s", agx_operand_text(row), run.count,
                                halves ? "half" : "32-bit", run.count == 1 ? "" : "s");
    }
    return true;
}
