#include "isa/amx/amx_table.h"

#include <inttypes.h>
#include <stdarg.h>

/* Appends as much of the text as fits; *length goes on counting, as snprintf does. */
__attribute__((format(printf, 4, 5))) static void append(char *text, size_t size, int *length, const char *format, ...)
{
    const size_t used = (size_t)*length;
    va_list args;
    va_start(args, format);
    *length += vsnprintf(used < size ? text + used : NULL, used < size ? size - used : 0, format, args);
    va_end(args);
}

int amx_disasm_word(uint32_t word, char *text, size_t size)
{
    if (!amx_word_is_defined(word))
        return snprintf(text, size, ".long 0x%08" PRIx32, word);
    const unsigned op = amx_word_op(word), reg = amx_word_register(word);
    if (op == AMX_SETCLR)
        return snprintf(text, size, "%s", amx_op_name(op, reg));
    const char *name = amx_op_name(op, amx_form_of(op, 0)->fixed_value);
    if (op == AMX_EXTRX || op == AMX_EXTRY)
        name = op == AMX_EXTRX ? "extrx" : "extry"; /* whether it is extrh, only the operand knows */
    return reg == 31 ? snprintf(text, size, "%s xzr", name) : snprintf(text, size, "%s x%u", name, reg);
}

static void append_field(char *text, size_t size, int *length, const struct amx_field *field, uint64_t value, enum amx_gen gen)
{
    append(text, size, length, "%s%s", *length ? ", " : "", field->name);
    const char *name = amx_value_name(field, value, gen);
    if (name)
        append(text, size, length, "=%s", name);
    else if (field->width > 32)
        append(text, size, length, "=0x%" PRIx64, value);
    else if (field->width > 1)
        append(text, size, length, "=%" PRIu64, value);
}

int amx_disasm_operand(unsigned op, uint64_t operand, enum amx_gen gen, char *text, size_t size)
{
    int length = 0;
    if (size)
        text[0] = '\0';
    const struct amx_form *form = amx_form_of(op, operand);
    uint64_t claimed = form ? form->fixed_value : 0; /* bits that the text stands for */
    if (op == AMX_SETCLR)
        claimed = operand; /* the immediate is the mnemonic */
    const struct amx_field *field = form ? amx_next_field(form, NULL, gen) : NULL;
    for (; field; field = amx_next_field(form, field, gen)) {
        const uint64_t bits = operand & amx_field_mask(field);
        if (!bits || !amx_field_applies(field, claimed))
            continue;
        append_field(text, size, &length, field, bits >> field->pos, gen);
        claimed |= bits;
    }
    if (operand & ~claimed)
        append(text, size, &length, "%sraw=0x%" PRIx64, length ? ", " : "", operand & ~claimed);
    return length;
}
