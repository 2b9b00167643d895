/* Neural Engine task descriptors of H13 (A14, M1): 157 words that program one pass through the engine, field by field.
 *
 * A descriptor is a header of ten words and seven packets; a packet is a word with the number of its words - 1 and the first
 * register address, and then register values. The table ane_fields.inc names every field, and all reading and writing of fields
 * goes through it. Facts: tinygrad extra/accel/ane (aneregs.json), freedomtan/coreml_to_ane_hwx (register maps), eiln/ane and
 * eiln/anecc.
 */
#ifndef ORCHARD_ISA_ANE_ANE_TD_H
#define ORCHARD_ISA_ANE_ANE_TD_H

#include "isa/isa_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANE_TD_WORDS 157
#define ANE_TD_BYTES 0x274u
#define ANE_TD_PITCH 0x300u /* distance of descriptors in a stream */
#define ANE_BANKS    16u    /* coefficient banks = engines */

struct ane_td {
    uint32_t word[ANE_TD_WORDS];
};

/* The rows of the table, in the order of their bits. The field of an array is one row with `count` elements. */
enum ane_field {
#define ANE_FIELD(enumerator, name, byte, bit, width, count, shift, text) ANE_##enumerator,
#include "isa/ane/ane_fields.inc"
    ANE_FIELD_COUNT
};

struct ane_field_info {
    const char *name; /* of public sources: "Common.InDim.Win"; elements of arrays get [i] before the last part */
    uint16_t byte;    /* offset in the descriptor of the byte that holds the lowest bit of the first element */
    uint8_t bit;      /* 0..7 in that byte */
    uint8_t width;    /* bits */
    uint8_t count;    /* elements, one word apart; 1 for fields that are no array */
    uint8_t shift;    /* addresses and strides: register value << shift = bytes; else 0 */
    bool is_float;    /* a floating-point number of `width` bits */
    const char *text; /* meaning, values */
};
const struct ane_field_info *ane_field_info(enum ane_field field);
/* Finds a field by its name ("Common.Cin.Cin", "KernelDMASrc.CoeffBaseAddr[3].Addr"); false when there is none. */
bool ane_field_find(const char *name, size_t length, enum ane_field *field, unsigned *element);

/* The register value, not shifted. Fields that are no arrays have only element 0. */
uint32_t ane_get(const struct ane_td *td, enum ane_field field);
uint32_t ane_get_at(const struct ane_td *td, enum ane_field field, unsigned element);
/* Sets the field; false when the value does not fit its width. */
bool ane_set(struct ane_td *td, enum ane_field field, uint32_t value);
bool ane_set_at(struct ane_td *td, enum ane_field field, unsigned element, uint32_t value);
/* Byte addresses and strides: value << shift. */
uint32_t ane_get_bytes(const struct ane_td *td, enum ane_field field);

/* Makes a descriptor that has the packet words and the bits that every public program sets, and is 0 otherwise. */
void ane_td_init(struct ane_td *td);

/* Little-endian bytes to words and back. */
void ane_td_load(struct ane_td *td, const uint8_t bytes[ANE_TD_BYTES]);
void ane_td_store(const struct ane_td *td, uint8_t bytes[ANE_TD_BYTES]);

#endif
