#include "isa/ane/ane_td.h"
#include "isa/array_count.h"

#include <string.h>

static const struct ane_field_info fields[ANE_FIELD_COUNT] = {
#define ANE_FIELD(enumerator, name, byte, bit, width, count, shift, text) {name, byte, bit, width, count, shift, false, text},
#define ANE_FLOAT_FIELD(enumerator, name, byte, bit, width, text)         {name, byte, bit, width, 1, 0, true, text},
#include "isa/ane/ane_fields.inc"
};

const struct ane_field_info *ane_field_info(enum ane_field field)
{
    return &fields[field];
}

/* Compares a name such as "KernelDMASrc.CoeffDMAConfig[3].En" with the field "KernelDMASrc.CoeffDMAConfig.En". */
static bool name_matches(const struct ane_field_info *info, const char *name, size_t length, unsigned *element)
{
    const char *last = strrchr(info->name, '.');
    const size_t stem = last ? (size_t)(last - info->name) : strlen(info->name);
    *element = 0;
    if (info->count == 1)
        return strlen(info->name) == length && memcmp(info->name, name, length) == 0;
    if (length < stem + 3 || memcmp(info->name, name, stem) != 0 || name[stem] != '[')
        return false;
    size_t at = stem + 1;
    for (; at < length && at < stem + 4 && name[at] >= '0' && name[at] <= '9'; at++)
        *element = *element * 10 + (unsigned)(name[at] - '0');
    if (at == stem + 1 || (name[stem + 1] == '0' && at > stem + 2) || at >= length || name[at] != ']' || *element >= info->count)
        return false;
    at++;
    return last && length - at == strlen(last) && memcmp(last, name + at, length - at) == 0;
}

bool ane_field_find(const char *name, size_t length, enum ane_field *field, unsigned *element)
{
    for (unsigned i = 0; i < ANE_FIELD_COUNT; i++)
        if (name_matches(&fields[i], name, length, element)) {
            *field = (enum ane_field)i;
            return true;
        }
    return false;
}

static uint32_t low_mask(unsigned width)
{
    return width >= 32 ? UINT32_MAX : (UINT32_C(1) << width) - 1;
}

static unsigned lowest_bit(const struct ane_field_info *info)
{
    return info->byte % 4u * 8u + info->bit;
}

uint32_t ane_get_at(const struct ane_td *td, enum ane_field field, unsigned element)
{
    const struct ane_field_info *info = &fields[field];
    return td->word[info->byte / 4u + element] >> lowest_bit(info) & low_mask(info->width);
}

uint32_t ane_get(const struct ane_td *td, enum ane_field field)
{
    return ane_get_at(td, field, 0);
}

bool ane_set_at(struct ane_td *td, enum ane_field field, unsigned element, uint32_t value)
{
    const struct ane_field_info *info = &fields[field];
    const uint32_t mask = low_mask(info->width);
    if (value & ~mask || element >= info->count)
        return false;
    uint32_t *word = &td->word[info->byte / 4u + element];
    *word = (*word & ~(mask << lowest_bit(info))) | value << lowest_bit(info);
    return true;
}

bool ane_set(struct ane_td *td, enum ane_field field, uint32_t value)
{
    return ane_set_at(td, field, 0, value);
}

uint32_t ane_get_bytes(const struct ane_td *td, enum ane_field field)
{
    return ane_get(td, field) << fields[field].shift;
}

/* The packet words, and the bits that are set in all 36 programs of eiln/ane and all programs of tinygrad, whatever they
 * compute. */
static const struct {
    uint16_t byte;
    uint32_t word;
} always[] = {
    {0x008, 0x00000400}, {0x028, 0xf401f800}, {0x124, 0x3c000000}, {0x12c, 0x00000001}, {0x130, 0x00000022}, {0x140, 0x00000001},
    {0x144, 0x5000a021}, {0x148, 0x00002041}, {0x14c, 0x00010000}, {0x168, 0x6c013800}, {0x16c, 0x00000800}, {0x170, 0x00000800},
    {0x1a4, 0x01000000}, {0x1dc, 0x44004800}, {0x1e4, 0x00000100}, {0x210, 0x00000140}, {0x228, 0x0c008800}, {0x23c, 0x1000c800},
    {0x254, 0x18017800}, {0x258, 0x000000c0}, {0x270, 0x01000000},
};

void ane_td_init(struct ane_td *td)
{
    memset(td, 0, sizeof *td);
    for (size_t i = 0; i < ARRAY_COUNT(always); i++)
        td->word[always[i].byte / 4u] = always[i].word;
}

void ane_td_load(struct ane_td *td, const uint8_t bytes[ANE_TD_BYTES])
{
    for (unsigned i = 0; i < ANE_TD_WORDS; i++)
        td->word[i] = (uint32_t)bytes[4 * i] | (uint32_t)bytes[4 * i + 1] << 8 | (uint32_t)bytes[4 * i + 2] << 16 |
                      (uint32_t)bytes[4 * i + 3] << 24;
}

void ane_td_store(const struct ane_td *td, uint8_t bytes[ANE_TD_BYTES])
{
    for (unsigned i = 0; i < ANE_TD_WORDS; i++)
        for (unsigned k = 0; k < 4; k++)
            bytes[4 * i + k] = (uint8_t)(td->word[i] >> 8 * k);
}
