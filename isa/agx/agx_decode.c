#include "isa/agx/agx_decode_parts.h"
#include "isa/agx/agx_table.h"

#include <string.h>

/* A word of up to 96 bits, little-endian. */
struct word {
    uint64_t low;
    uint32_t high;
};

static uint64_t low_bits(unsigned count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

static struct word read_word(const uint8_t *code, size_t available)
{
    uint8_t bytes[16] = {0};
    struct word word = {0, 0};
    memcpy(bytes, code, available < AGX_MAX_BYTES ? available : AGX_MAX_BYTES);
    for (unsigned i = 0; i < 8; i++)
        word.low |= (uint64_t)bytes[i] << 8 * i;
    for (unsigned i = 0; i < 4; i++)
        word.high |= (uint32_t)bytes[8 + i] << 8 * i;
    return word;
}

static struct word truncate_word(struct word word, unsigned bytes)
{
    word.low &= low_bits(8 * bytes);
    word.high &= bytes > 8 ? (uint32_t)low_bits(8 * (bytes - 8)) : 0;
    return word;
}

/* The bits from position on; runs never cross bit 64. */
static uint32_t get_bits(const struct word *word, unsigned position, unsigned width)
{
    const uint64_t part = position < 64 ? word->low >> position : (uint64_t)word->high >> (position - 64);
    return (uint32_t)(part & low_bits(width));
}

static void set_bits(struct word *word, unsigned position, unsigned width, uint32_t value)
{
    const uint64_t bits = value & low_bits(width);
    if (position < 64)
        word->low |= bits << position;
    else
        word->high |= (uint32_t)(bits << (position - 64));
}

static unsigned form_bytes(const struct agx_form *form, const struct word *word)
{
    if (form->length_bit == AGX_FIXED_LENGTH)
        return form->bytes_short;
    return get_bits(word, form->length_bit, 1) ? form->bytes_long : form->bytes_short;
}

static bool form_matches(const struct agx_form *form, const struct word *word)
{
    /* The first byte, which is present whatever the length, rules most rows out. */
    if ((word->low ^ form->value) & form->mask & 0xff)
        return false;
    const struct word seen = truncate_word(*word, form_bytes(form, word));
    return (seen.low & form->mask) == form->value && (seen.high & form->high_mask) == 0;
}

static uint32_t read_field(const struct agx_field_row *field, const struct word *word)
{
    uint32_t value = 0;
    unsigned place = 0;
    for (unsigned i = 0; i < 6 && field->run[i + 1]; i += 2) {
        value |= get_bits(word, field->run[i], field->run[i + 1]) << place;
        place += field->run[i + 1];
    }
    return value;
}

static void write_field(const struct agx_field_row *field, struct word *word, uint32_t value)
{
    for (unsigned i = 0; i < 6 && field->run[i + 1]; i += 2) {
        set_bits(word, field->run[i], field->run[i + 1], value);
        value = field->run[i + 1] < 32 ? value >> field->run[i + 1] : 0;
    }
}

size_t agx_decode(const uint8_t *code, size_t available, struct agx_inst *inst)
{
    const struct word word = read_word(code, available);
    *inst = (struct agx_inst){.op = AGX_OP_NONE};
    for (unsigned i = 0; i < agx_forms_count; i++) {
        const struct agx_form *form = &agx_forms[i];
        if (!form_matches(form, &word))
            continue;
        inst->form = (uint16_t)i;
        inst->op = form->op;
        inst->bytes = (uint8_t)form_bytes(form, &word);
        const struct word seen = truncate_word(word, inst->bytes);
        for (unsigned f = 0; f < form->field_count; f++)
            inst->field[f] = read_field(&form->fields[f], &seen);
        agx_decode_operands(inst);
        return inst->bytes;
    }
    return 0;
}

size_t agx_encode(const struct agx_inst *inst, uint8_t bytes[AGX_MAX_BYTES])
{
    memset(bytes, 0, AGX_MAX_BYTES);
    if (inst->op == AGX_OP_NONE || inst->form >= agx_forms_count)
        return 0;
    const struct agx_form *form = &agx_forms[inst->form];
    struct word word = {form->value, 0};
    for (unsigned f = 0; f < form->field_count; f++)
        write_field(&form->fields[f], &word, inst->field[f]);
    const struct word kept = truncate_word(word, form->bytes_short);
    if (form->length_bit != AGX_FIXED_LENGTH && (kept.low != word.low || kept.high != word.high))
        set_bits(&word, form->length_bit, 1, 1);
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(word.low >> 8 * i);
    for (unsigned i = 0; i < 4; i++)
        bytes[8 + i] = (uint8_t)(word.high >> 8 * i);
    return form_bytes(form, &word);
}
