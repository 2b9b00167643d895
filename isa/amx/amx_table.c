#include "isa/amx/amx_table.h"
#include "isa/array_count.h"

#include <string.h>

#define AMX_BIT(n)   (UINT64_C(1) << (n))
#define ALWAYS       AMX_WHEN_ALWAYS, 0, 0
#define IF(...)      AMX_WHEN_EQUAL, __VA_ARGS__
#define NOT(...)     AMX_WHEN_NOT_EQUAL, __VA_ARGS__
#define ATLEAST(...) AMX_WHEN_AT_LEAST, __VA_ARGS__

const struct amx_form amx_forms[] = {
#define AMX_FORM(op, mnemonic, mask, value, layout0, layout1, semantics, generations)                                            \
    {op, mnemonic, mask, value, {AMX_LAYOUT_##layout0, AMX_LAYOUT_##layout1}, semantics, generations},
#include "isa/amx/amx_table.inc"
};
const size_t amx_form_count = ARRAY_COUNT(amx_forms);

static const struct amx_field fields[] = {
#define AMX_FIELD(layout, id, name, pos, width, gen, when, list, note)                                                           \
    {AMX_LAYOUT_##layout, name, pos, width, gen, when, AMX_LIST_##list, note},
#include "isa/amx/amx_table.inc"
};
static const size_t field_count = ARRAY_COUNT(fields);

const struct amx_value amx_values[] = {
#define AMX_VALUE(list, value, name, gen) {AMX_LIST_##list, value, name, gen},
#include "isa/amx/amx_table.inc"
};
const size_t amx_value_count = ARRAY_COUNT(amx_values);

const struct amx_form *amx_form_of(unsigned op, uint64_t operand)
{
    for (size_t i = 0; i < amx_form_count; i++) {
        const struct amx_form *form = &amx_forms[i];
        if (form->op != op || (operand & form->fixed_mask) != form->fixed_value)
            continue;
        if (op == AMX_SETCLR)
            return operand <= 1 ? form + operand : NULL; /* the rows of set and clr stand in the order of the immediate */
        return form;
    }
    return NULL;
}

const struct amx_form *amx_form_named(const char *mnemonic)
{
    for (size_t i = 0; i < amx_form_count; i++)
        if (strcmp(amx_forms[i].mnemonic, mnemonic) == 0)
            return &amx_forms[i];
    return NULL;
}

static const struct amx_field *first_field(enum amx_layout layout, const struct amx_field *from, enum amx_gen gen)
{
    for (const struct amx_field *field = from; field < fields + field_count; field++)
        if (field->layout == layout && field->first_gen <= gen)
            return field;
    return NULL;
}

const struct amx_field *amx_next_field(const struct amx_form *form, const struct amx_field *previous, enum amx_gen gen)
{
    if (form->layout[0] == AMX_LAYOUT_NONE)
        return NULL;
    const enum amx_layout layout = previous ? previous->layout : form->layout[0];
    const struct amx_field *next = first_field(layout, previous ? previous + 1 : fields, gen);
    if (!next && layout == form->layout[0] && form->layout[1] != AMX_LAYOUT_NONE)
        next = first_field(form->layout[1], fields, gen);
    return next;
}

bool amx_field_applies(const struct amx_field *field, uint64_t claimed)
{
    const uint64_t seen = claimed & field->when_mask;
    switch (field->when) {
    case AMX_WHEN_EQUAL: return seen == field->when_value;
    case AMX_WHEN_NOT_EQUAL: return seen != field->when_value;
    case AMX_WHEN_AT_LEAST: return seen >= field->when_value;
    case AMX_WHEN_ALWAYS: break;
    }
    return true;
}

uint64_t amx_field_mask(const struct amx_field *field)
{
    return ((UINT64_C(1) << field->width) - 1) << field->pos;
}

const char *amx_value_name(const struct amx_field *field, uint64_t value, enum amx_gen gen)
{
    for (size_t i = 0; i < amx_value_count && field->list != AMX_LIST_NO_NAMES; i++)
        if (amx_values[i].list == field->list && amx_values[i].value == value && amx_values[i].first_gen <= gen)
            return amx_values[i].name;
    return NULL;
}

bool amx_value_named(const struct amx_field *field, const char *name, uint64_t *value)
{
    for (size_t i = 0; i < amx_value_count; i++)
        if (amx_values[i].list == field->list && strcmp(amx_values[i].name, name) == 0) {
            *value = amx_values[i].value;
            return true;
        }
    return false;
}

bool amx_word_is_defined(uint32_t word)
{
    if (!amx_is_word(word) || amx_word_op(word) >= AMX_OP_COUNT)
        return false;
    return amx_word_op(word) != AMX_SETCLR || amx_word_register(word) <= 1;
}

_Static_assert(AMX_ADDRESS_MASK == (UINT64_C(1) << AMX_LEN_LOAD_XY_ADDR) - 1, "the field of the address");

uint32_t amx_encode(unsigned op, unsigned register_or_immediate)
{
    return AMX_WORD_BASE | (op & 31) << 5 | (register_or_immediate & 31);
}

const char *amx_op_name(unsigned op, uint64_t operand)
{
    const struct amx_form *form = amx_form_of(op, operand);
    return form ? form->mnemonic : "?";
}
