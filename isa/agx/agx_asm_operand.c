/* Operands that are numbers, words, branch targets, single registers or places in memory, and what all readers share. */
#include "isa/agx/agx_asm_operand.h"

#include "isa/float_bits.h"

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

/* imm16 and imm32 also take floats and negative numbers. */
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
    return agx_asm_set(build, row->v, wide ? f32_bits(value) : agx_asm_half_bits(value));
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

/* Sets the value of a word. A sample index that was read before has already set the interpolation; the word must agree. */
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
    case AGX_KIND_NUMBER:
    case AGX_KIND_BITS: return read_number(build, row);
    case AGX_KIND_ENUM: return read_enum(build, row);
    case AGX_KIND_BRANCH: return read_branch(build, row);
    case AGX_KIND_SIGNED16: return read_signed16(build, row);
    case AGX_KIND_HALF: return read_half(build, row);
    case AGX_KIND_WORD:
    case AGX_KIND_WORD_AT_HALF: return read_word_register(build, row);
    case AGX_KIND_INDEX:
    case AGX_KIND_GROUP_INDEX: return read_index(build, row);
    case AGX_KIND_GROUP_BASE: return read_group_base(build, row);
    case AGX_KIND_ATOMIC_DST: return read_atomic_dst(build, row);
    case AGX_KIND_SPECIAL: return read_special(build, row);
    default: return agx_asm_alu_operand(build, index);
    }
}
