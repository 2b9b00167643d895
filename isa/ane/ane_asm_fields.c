/* Listings: fields and words of descriptors. */
#include "isa/ane/ane_asm_scan.h"
#include "isa/ane/ane_half.h"
#include "isa/isa_suggest.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool add_value(struct ane_asm_reader *r, enum ane_field field, unsigned element, uint32_t value)
{
    struct ane_asm_listing *l = r->l;
    struct ane_asm_td *td = ane_asm_td(r);
    if (!td || !ane_asm_grow(r, &l->value, l->values, &l->value_room, sizeof *l->value))
        return false;
    l->value[l->values++] = (struct ane_asm_value){r->line, field, element, value};
    td->end = l->values;
    return true;
}

static bool unknown_field(struct ane_asm_reader *r, const char *word)
{
    struct isa_suggest suggest;
    char hint[80];
    isa_suggest_start(&suggest, word);
    for (unsigned i = 0; i < ANE_FIELD_COUNT; i++)
        isa_suggest_offer(&suggest, ane_field_info((enum ane_field)i)->name);
    isa_suggest_text(&suggest, hint, sizeof hint);
    return ane_asm_fail(r->error, r->line, "no field is named \"%.80s\"%s", word, hint);
}

/* Finds the field and the elements that "Stem[3].Part", "Stem[0..2].Part" or "Name" means. */
static bool find_elements(struct ane_asm_reader *r, const char *word, enum ane_field *field, unsigned *first, unsigned *last)
{
    char single[ANE_ASM_WORD_BYTES], *dots;
    memcpy(single, word, strlen(word) + 1);
    dots = strstr(single, "..");
    if (!dots) {
        if (!ane_field_find(word, strlen(word), field, first))
            return unknown_field(r, word);
        *last = *first;
        return true;
    }
    char *end;
    const unsigned long top = isdigit((unsigned char)dots[2]) ? strtoul(dots + 2, &end, 10) : ANE_FIELD_COUNT;
    if (!isdigit((unsigned char)dots[2]) || *end != ']')
        return unknown_field(r, word);
    memmove(dots, end, strlen(end) + 1);
    if (!ane_field_find(single, strlen(single), field, first))
        return unknown_field(r, word);
    *last = (unsigned)top;
    return (top >= *first && top < ane_field_info(*field)->count) ||
           ane_asm_complain(r, "elements that the field does not have", word);
}

static bool field_value(struct ane_asm_reader *r, enum ane_field field, const char *word, uint32_t *value)
{
    const struct ane_field_info *info = ane_field_info(field);
    const unsigned float_bits = ane_field_float_bits(field);
    uint64_t whole;
    double number;
    if (float_bits && (strpbrk(word, ".-") || (strchr(word, 'e') && strncmp(word, "0x", 2) != 0)) &&
        ane_asm_parse_number(word, &number)) {
        const float single = (float)number;
        memcpy(value, &single, sizeof single);
        if (float_bits == 16)
            *value = ane_half_bits(number);
        return true;
    }
    if (!ane_asm_parse_integer(word, &whole))
        return ane_asm_complain(r, "expected a number, found", word);
    if (whole & ((UINT64_C(1) << info->shift) - 1))
        return ane_asm_fail(r->error, r->line, "%s = %s is no multiple of %u bytes", info->name, word, 1u << info->shift);
    whole >>= info->shift;
    if (whole >> info->width)
        return ane_asm_fail(r->error, r->line, "%s = %s does not fit %u bits", info->name, word, info->width);
    *value = (uint32_t)whole;
    return true;
}

/* Reads one value for all elements, or one each. */
static bool read_values(struct ane_asm_reader *r, enum ane_field field, unsigned first, unsigned last)
{
    uint32_t value[ANE_BANKS];
    unsigned count = 0;
    for (;;) {
        char word[ANE_ASM_WORD_BYTES];
        if (!ane_asm_next_word(r, word))
            return false;
        if (!word[0])
            break;
        if (count > last - first)
            return ane_asm_complain(r, "more values than elements", NULL);
        if (!field_value(r, field, word, &value[count++]))
            return false;
    }
    if (count != 1 && count != last - first + 1)
        return ane_asm_complain(r, count ? "fewer values than elements" : "expected a value", NULL);
    for (unsigned i = first; i <= last; i++)
        if (!add_value(r, field, i, value[count == 1 ? 0 : i - first]))
            return false;
    return true;
}

bool ane_asm_read_assignment(struct ane_asm_reader *r, const char *name)
{
    enum ane_field field;
    unsigned first = 0, last = 0;
    char equals[ANE_ASM_WORD_BYTES];
    if (!ane_asm_td(r))
        return ane_asm_complain(r, "a field before the first .td", NULL);
    if (!find_elements(r, name, &field, &first, &last) || !ane_asm_next_word(r, equals))
        return false;
    if (strcmp(equals, "=") != 0)
        return ane_asm_complain(r, "expected = behind the field", NULL);
    return read_values(r, field, first, last);
}

bool ane_asm_read_word(struct ane_asm_reader *r)
{
    uint64_t byte, value;
    char equals[ANE_ASM_WORD_BYTES];
    if (!ane_asm_td(r))
        return ane_asm_complain(r, ".word before the first .td", NULL);
    if (!ane_asm_next_integer(r, ANE_TD_BYTES - 4, &byte) || !ane_asm_next_word(r, equals))
        return false;
    if (strcmp(equals, "=") != 0 || byte % 4)
        return ane_asm_complain(r, "expected .word BYTE = VALUE, with a multiple of 4", NULL);
    return ane_asm_next_integer(r, UINT32_MAX, &value) && add_value(r, ANE_FIELD_COUNT, (unsigned)byte / 4, (uint32_t)value) &&
           ane_asm_at_end(r);
}
