#include "isa/agx/agx_table.h"
#include "isa/array_count.h"

#include <string.h>

#define FIXED AGX_FIXED_LENGTH
#define F(name, ...)                                                                                                             \
    {                                                                                                                            \
        AGX_F_##name,                                                                                                            \
        {                                                                                                                        \
            __VA_ARGS__                                                                                                          \
        }                                                                                                                        \
    }
#define COUNT(type, ...) (uint8_t)(sizeof((const struct type[]){__VA_ARGS__}) / sizeof(struct type))
#define FIELDS(...)      (const struct agx_field_row[]){__VA_ARGS__}, COUNT(agx_field_row, __VA_ARGS__)
#define OPERANDS(...)    (const struct agx_operand_row[]){__VA_ARGS__}, COUNT(agx_operand_row, __VA_ARGS__)
#define NO_FIELDS        NULL, 0
#define NO_OPERANDS      NULL, 0

/* 8x8x8 multiply-adds of matrices are 1024 operations, 32 for each lane. */
#define EFFECT(class, flops, no_meaning)                                                                                         \
    {                                                                                                                            \
        AGX_CLASS_##class, flops, no_meaning                                                                                     \
    }
#define CLASS(class)        EFFECT(class, 0, false)
#define FLOPS(class, count) EFFECT(class, count, false)
#define NO_MEANING(class)   EFFECT(class, 0, true)

#define OPERAND_V(kind, name, max, extra)                                                                                        \
    {                                                                                                                            \
        AGX_KIND_##kind, AGX_F_##name, 0, 0, max, extra                                                                          \
    }
#define OPERAND_VT(kind, name, max, extra)                                                                                       \
    {                                                                                                                            \
        AGX_KIND_##kind, AGX_F_##name, AGX_F_##name##t, 0, max, extra                                                            \
    }
#define OPERAND_VTM(kind, name, m, max, extra)                                                                                   \
    {                                                                                                                            \
        AGX_KIND_##kind, AGX_F_##name, AGX_F_##name##t, AGX_F_##m, max, extra                                                    \
    }

#define MASK_DST(name)                                                                                                           \
    {                                                                                                                            \
        AGX_KIND_MASK_DST, AGX_F_##name, AGX_F_##name##t, 0, 16, 0                                                               \
    }
#define DST(name, max)           OPERAND_VT(ALU_DST, name, max, 0)
#define DST_PAIR(name)           OPERAND_VT(ALU_DST, name, 32, 1)
#define SAT_DST(name, max)       OPERAND_VTM(ALU_DST, name, S, max, 0)
#define SRC(name, max)           OPERAND_VT(ALU_SRC, name, max, 0)
#define INT(name, max)           OPERAND_VTM(ALU_SRC, name, name##s, max, 0)
#define FLT32(name)              OPERAND_VTM(FLOAT_SRC, name, name##m, 32, 0)
#define FLT_PAIR(name)           OPERAND_VTM(FLOAT_SRC, name, name##m, 32, 1)
#define FLT16(name)              OPERAND_VTM(FLOAT16_SRC, name, name##m, 16, 0)
#define SELECT(name)             OPERAND_VT(SELECT_SRC, name, 32, 0)
#define TRUTH                    OPERAND_V(TRUTH, tt0, 0, 0)
#define NUM(name)                OPERAND_V(NUMBER, name, 0, 0)
#define BITS(name, width)        OPERAND_V(BITS, name, 0, width)
#define ENUM(name, list)         OPERAND_V(ENUM, name, 0, AGX_LIST_##list)
#define INT_COND                 OPERAND_V(INT_CONDITION, cc, 0, 0)
#define FLT_COND                 OPERAND_V(FLOAT_CONDITION, cc, 0, 0)
#define BRANCH(name, width)      OPERAND_V(BRANCH, name, 0, width)
#define SIGNED16(name)           OPERAND_V(SIGNED16, name, 0, 0)
#define LSL(name)                OPERAND_V(SHIFT, name, 0, 0)
#define LOW_BITS(name)           OPERAND_V(LOW_BITS, name, 0, 0)
#define HALF(name)               OPERAND_V(HALF, name, 16, 0)
#define WORD(name)               OPERAND_V(WORD, name, 32, 0)
#define WORD_AT_HALF(name)       OPERAND_V(WORD_AT_HALF, name, 32, 0)
#define UNIFORM_PAIR(name)       OPERAND_V(UNIFORM_PAIR, name, 64, 0)
#define DATA(name)               OPERAND_VT(DATA, name, 32, 0)
#define DATA_IF(name, present)   OPERAND_VT(DATA, name, 32, AGX_F_##present)
#define BASE(name)               OPERAND_VT(BASE, name, 64, 0)
#define INDEX(name)              OPERAND_VT(INDEX, name, 32, 0)
#define GROUP_BASE(name)         OPERAND_VT(GROUP_BASE, name, 16, 0)
#define GROUP_INDEX(name)        OPERAND_VT(GROUP_INDEX, name, 16, 0)
#define ATOMIC_DST(name)         OPERAND_VT(ATOMIC_DST, name, 32, 0)
#define ATOMIC_SRC(name)         OPERAND_V(ATOMIC_SRC, name, 64, 0)
#define SPECIAL(name)            OPERAND_V(SPECIAL, name, 0, 0)
#define ASYNC_PAIR(name)         OPERAND_VT(ASYNC_PAIR, name, 64, 0)
#define ASYNC_WORDS(name)        OPERAND_VT(ASYNC_WORDS, name, 32, 0)
#define SAMPLES(name, immediate) OPERAND_VT(SAMPLES, name, 16, immediate)
#define TARGET(name)             OPERAND_VT(TARGET, name, 16, 0)
#define DEPTH_STENCIL(name)                                                                                                      \
    {                                                                                                                            \
        AGX_KIND_DEPTH_STENCIL, AGX_F_##name, AGX_F_z, AGX_F_s, 16, 0                                                            \
    }
#define VARYING(name, per)  OPERAND_VTM(VARYING, name, count, 32, per)
#define HALF_OR_NUM(name)   OPERAND_VT(HALF_OR_NUMBER, name, 16, 0)
#define COEFF_OR_HALF(name) OPERAND_VT(COEFFICIENT_OR_HALF, name, 16, 0)
#define COEFF(name)         OPERAND_V(COEFFICIENT, name, 0, 0)
#define SAMPLE_INDEX(name)  OPERAND_V(SAMPLE_INDEX, name, 16, 0)
#define TEXTURE_STATE(name) OPERAND_V(TEXTURE_STATE, name, 0, 0)
#define SAMPLER_STATE(name) OPERAND_V(SAMPLER_STATE, name, 0, 0)
#define BINDLESS(name)                                                                                                           \
    {                                                                                                                            \
        AGX_KIND_BINDLESS, AGX_F_##name, AGX_F_Tt, 0, 64, 0                                                                      \
    }
#define TEXTURE(name)        OPERAND_VT(TEXTURE, name, 32, 0)
#define SAMPLER(name)        OPERAND_VT(SAMPLER, name, 16, 0)
#define COORDS(name)         OPERAND_VTM(COORDS, name, name##s, 32, 0)
#define COMPARE_OFFSET(name) OPERAND_VTM(COMPARE_OFFSET, name, compare, 32, 0)
#define LOD(name)                                                                                                                \
    {                                                                                                                            \
        AGX_KIND_LOD, AGX_F_##name, AGX_F_lod, AGX_F_n, 32, 0                                                                    \
    }
#define TEXEL(name) OPERAND_VT(TEXEL, name, 32, 0)

#define BITS_AT(value, position) (uint64_t)(value) << (position)
#define REDUCTION_BITS(what, simd, prefix)                                                                                       \
    (BITS_AT((what)&1, 28) | BITS_AT(simd, 29) | BITS_AT(prefix, 30) | BITS_AT((what) >> 1 & 7, 38) | BITS_AT((what) >> 4, 47))

const struct agx_form agx_forms[] = {
#define AGX_FORM(op, mnemonic, short_, long_, length_bit, mask, value, high_mask, sure, ...)                                     \
    {AGX_OP_##op, mnemonic, short_, long_, length_bit, mask, value, high_mask, AGX_SURE_##sure, __VA_ARGS__},
#include "isa/agx/agx_table.inc"
};
const unsigned agx_forms_count = ARRAY_COUNT(agx_forms);

const struct agx_value agx_values[] = {
#define AGX_VALUE(list, value, text) {AGX_LIST_##list, value, text},
#include "isa/agx/agx_table.inc"
};
const unsigned agx_values_count = ARRAY_COUNT(agx_values);

#define ALWAYS                     AGX_WHEN_ALWAYS, 0, 0
#define FIELD(name, value)         AGX_WHEN_FIELD, AGX_F_##name, value
#define TRUTH_BITS(t0, t1, t2, t3) (t0) | (t1) << 1 | (t2) << 2 | (t3) << 3
#define TRUTH_IS(...)              AGX_WHEN_TRUTH, 0, TRUTH_BITS(__VA_ARGS__)
#define TRUTH_OF_ZERO(...)         AGX_WHEN_TRUTH_ZERO, 0, TRUTH_BITS(__VA_ARGS__)
#define ALWAYS_TRUE(count)         AGX_WHEN_ALWAYS_TRUE, 0, count
#define ANY_COUNT                  AGX_ANY_COUNT
const struct agx_rename agx_renames[] = {
#define AGX_RENAME(op, name, when, without) {AGX_OP_##op, name, when, without},
#include "isa/agx/agx_table.inc"
};
const unsigned agx_renames_count = ARRAY_COUNT(agx_renames);

const struct agx_special agx_specials[] = {
#define AGX_SPECIAL(number, text, name) {number, text, name},
#include "isa/agx/agx_table.inc"
};
const unsigned agx_specials_count = ARRAY_COUNT(agx_specials);

const char *agx_field_text(enum agx_field_id id)
{
    static const char *const names[] = {"",
#define AGX_FIELD_TEXT(name) #name,
                                        AGX_FIELD_NAMES(AGX_FIELD_TEXT)};
    return (unsigned)id < AGX_FIELD_ID_COUNT ? names[id] : "";
}

unsigned agx_field_width(const struct agx_field_row *field)
{
    return (unsigned)field->run[1] + field->run[3] + field->run[5];
}

int agx_field_index(const struct agx_form *form, enum agx_field_id id)
{
    for (int i = 0; i < form->field_count; i++)
        if (form->fields[i].id == id)
            return i;
    return -1;
}

uint32_t agx_get(const struct agx_inst *inst, enum agx_field_id id)
{
    if (inst->op == AGX_OP_NONE || inst->form >= agx_forms_count || id == AGX_F_NONE)
        return 0;
    const int index = agx_field_index(&agx_forms[inst->form], id);
    return index < 0 ? 0 : inst->field[index];
}

const char *agx_value_text(enum agx_list list, uint32_t value)
{
    for (unsigned i = 0; i < agx_values_count; i++)
        if (agx_values[i].list == list && agx_values[i].value == value)
            return agx_values[i].text;
    return NULL;
}

const char *agx_operand_text(const struct agx_operand_row *operand)
{
    return operand->kind == AGX_KIND_TRUTH ? "tt" : agx_field_text(operand->v);
}

/* if_fcmp eq 0.0, 0.0 without modifiers holds in every lane. */
static bool compares_always_true(const struct agx_inst *inst)
{
    static const uint8_t zero[] = {AGX_F_cc, AGX_F_ccn, AGX_F_A, AGX_F_At, AGX_F_Am, AGX_F_B, AGX_F_Bt, AGX_F_Bm};
    for (unsigned i = 0; i < sizeof zero; i++)
        if (agx_get(inst, zero[i]))
            return false;
    return true;
}

static bool rename_applies(const struct agx_rename *rename, const struct agx_inst *inst)
{
    const uint32_t truth =
        agx_get(inst, AGX_F_tt0) | agx_get(inst, AGX_F_tt1) << 1 | agx_get(inst, AGX_F_tt2) << 2 | agx_get(inst, AGX_F_tt3) << 3;
    switch ((enum agx_when)rename->when) {
    case AGX_WHEN_FIELD: return agx_get(inst, rename->field) == rename->value;
    case AGX_WHEN_TRUTH: return truth == rename->value;
    case AGX_WHEN_TRUTH_ZERO: return truth == rename->value && agx_get(inst, AGX_F_Bt) == 0 && agx_get(inst, AGX_F_B) == 0;
    case AGX_WHEN_ALWAYS_TRUE:
        return (rename->value == AGX_ANY_COUNT || rename->value == agx_get(inst, AGX_F_n)) && compares_always_true(inst);
    case AGX_WHEN_ALWAYS: break;
    }
    return true;
}

const struct agx_rename *agx_renamed(const struct agx_inst *inst)
{
    for (unsigned i = 0; i < agx_renames_count; i++)
        if (agx_renames[i].op == inst->op && rename_applies(&agx_renames[i], inst))
            return &agx_renames[i];
    return NULL;
}

bool agx_rename_drops(const struct agx_rename *rename, const struct agx_operand_row *operand)
{
    const char *name = agx_operand_text(operand);
    const size_t length = strlen(name);
    for (const char *at = rename ? rename->without : ""; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, name, length) == 0 && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

unsigned agx_form_count(void)
{
    return agx_forms_count;
}

const char *agx_form_mnemonic(unsigned form)
{
    return form < agx_forms_count ? agx_forms[form].mnemonic : "?";
}

unsigned agx_form_field_count(unsigned form)
{
    return form < agx_forms_count ? agx_forms[form].field_count : 0;
}

const char *agx_form_field_name(unsigned form, unsigned field)
{
    return field < agx_form_field_count(form) ? agx_field_text(agx_forms[form].fields[field].id) : "";
}

const char *agx_op_name(unsigned op)
{
    for (unsigned i = 0; i < agx_forms_count; i++)
        if (agx_forms[i].op == op)
            return agx_forms[i].mnemonic;
    return "?";
}
