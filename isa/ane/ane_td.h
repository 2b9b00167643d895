/* Neural Engine task descriptors of H13 (A14, M1): 157 words that program one pass through the engine, field by field.
 *
 * A descriptor is a header of ten words and seven packets, each "words - 1, first register address" and register values. The
 * table ane_fields.inc names every field; all reading and writing of fields goes through it. Facts: tinygrad
 * extra/accel/ane (aneregs.json), freedomtan/coreml_to_ane_hwx (register maps), eiln/ane and eiln/anecc.
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

/* Fields by number: the rows of the table, in the order of their bits. Fields of arrays are one row with `count` elements. */
enum ane_field {
#define ANE_FIELD(enumerator, name, byte, bit, width, count, shift, text) ANE_##enumerator,
#include "isa/ane/ane_fields.inc"
    ANE_FIELD_COUNT
};

struct ane_field_info {
    const char *name; /* as public sources name it: "Common.InDim.Win"; elements of arrays get [i] before the last part */
    uint16_t byte;    /* of the first element: offset in the descriptor of the byte that holds the lowest bit */
    uint8_t bit;      /* 0..7 in that byte */
    uint8_t width;    /* bits */
    uint8_t count;    /* elements, one word apart; 1 when it is no array */
    uint8_t shift;    /* value in the register << shift = value in bytes (addresses and strides of 16 or 64 bytes); else 0 */
    bool is_float;    /* a floating-point number of `width` bits */
    const char *text; /* meaning, values */
};
const struct ane_field_info *ane_field_info(enum ane_field field);
/* By name ("Common.Cin.Cin", "KernelDMASrc.CoeffBaseAddr[3].Addr"): false when there is none. */
bool ane_field_find(const char *name, size_t length, enum ane_field *field, unsigned *element);

/* Register value (not shifted). Element 0 of fields that are no arrays. */
uint32_t ane_get(const struct ane_td *td, enum ane_field field);
uint32_t ane_get_at(const struct ane_td *td, enum ane_field field, unsigned element);
/* Sets the field; bits of value beyond the width must be zero: false otherwise. */
bool ane_set(struct ane_td *td, enum ane_field field, uint32_t value);
bool ane_set_at(struct ane_td *td, enum ane_field field, unsigned element, uint32_t value);
/* value << shift and back: byte addresses and strides. False when the value does not fit or is not a multiple. */
uint32_t ane_get_bytes(const struct ane_td *td, enum ane_field field);
bool ane_set_bytes(struct ane_td *td, enum ane_field field, uint32_t bytes);

/* A descriptor with packet words, and the bits that every public program sets; all else 0. */
void ane_td_init(struct ane_td *td);

/* Bytes to words (little-endian) and back. */
void ane_td_load(struct ane_td *td, const uint8_t bytes[ANE_TD_BYTES]);
void ane_td_store(const struct ane_td *td, uint8_t bytes[ANE_TD_BYTES]);

#endif
