/* How weights are stored: single numbers, and ggml's blocks of numbers that share scales. Decoding is exact: every value is the
 * float nearest to what the block says, and for all formats but those with a minimum (q4_1, q5_1, q2_k, q4_k, q5_k) that is the
 * value itself.
 */
#ifndef ORCHARD_SIM_LANGUAGE_BLOCK_FORMAT_H
#define ORCHARD_SIM_LANGUAGE_BLOCK_FORMAT_H

#include <stddef.h>
#include <stdint.h>

enum { BLOCK_VALUES_MAX = 256 };

struct block_format {
    const char *name;       /* "q4_0" */
    uint32_t number;        /* of the type in GGUF files; UINT32_MAX = they have none */
    unsigned values, bytes; /* of a block */
    /* Writes the values of one block; NULL = the format is known by its size alone. */
    void (*decode)(const uint8_t *block, float *value);
};

/* NULL past the last, or when there is none of that number or name. */
const struct block_format *block_format_at(size_t index);
const struct block_format *block_format_numbered(uint32_t number);
const struct block_format *block_format_named(const char *name);

/* Values from `first` on, both multiples of the format's block, of a row that begins at `bytes`. */
void block_decode(const struct block_format *format, const uint8_t *bytes, size_t first, size_t count, float *value);

/* ---- the decoders that are larger than a line, for the table ---- */

void block_decode_q4_0(const uint8_t *block, float *value);
void block_decode_q4_1(const uint8_t *block, float *value);
void block_decode_q5_0(const uint8_t *block, float *value);
void block_decode_q5_1(const uint8_t *block, float *value);
void block_decode_q8_0(const uint8_t *block, float *value);
void block_decode_mxfp4(const uint8_t *block, float *value);
void block_decode_q2_k(const uint8_t *block, float *value);
void block_decode_q3_k(const uint8_t *block, float *value);
void block_decode_q4_k(const uint8_t *block, float *value);
void block_decode_q5_k(const uint8_t *block, float *value);
void block_decode_q6_k(const uint8_t *block, float *value);

/* Little-endian numbers at any address. */
uint16_t block_u16(const uint8_t *at);
uint32_t block_u32(const uint8_t *at);
uint64_t block_u64(const uint8_t *at);
float block_half(const uint8_t *at);

#endif
