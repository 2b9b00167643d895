/* Records as bytes of a block: numbers of variable length, times and operators as differences, each text once in a block.
 * README.md describes the layout. */
#ifndef ORCHARD_TRACES_TRACE_CODEC_H
#define ORCHARD_TRACES_TRACE_CODEC_H

#include "traces/trace_error.h"
#include "traces/trace_record.h"

enum {
    TRACE_BLOCK_MAX = 1 << 20, /* bytes of a block before compression */
    TRACE_TEXT_MAX = 65535,    /* bytes of a text */
    TRACE_AFTER_MAX = 65535,   /* operators that an operator waits for */
};

/* ---- writing ---- */

struct trace_encoder;
struct trace_encoder *trace_encoder_create(void); /* NULL when memory ran out */
void trace_encoder_free(struct trace_encoder *encoder);
enum trace_encoded { TRACE_ENCODED, TRACE_BLOCK_FULL, TRACE_NOT_ENCODED };
/* Adds a record. TRACE_BLOCK_FULL: the record must go into the next block, after trace_encoder_restart. TRACE_NOT_ENCODED: *error
 * says why. */
enum trace_encoded trace_encode(struct trace_encoder *encoder, const struct trace_record *record, struct trace_error *error);
const uint8_t *trace_encoder_bytes(const struct trace_encoder *encoder, size_t *size, uint32_t *records);
void trace_encoder_restart(struct trace_encoder *encoder);

/* ---- reading ---- */

struct trace_decoder;
struct trace_decoder *trace_decoder_create(void);
void trace_decoder_free(struct trace_decoder *decoder);
/* Begins a block, whose bytes must stay, of a file of this minor version of the format. Unknown fields and kinds of a later one
 * are passed over; fields that an earlier one did not have stay empty. */
void trace_decoder_start(struct trace_decoder *decoder, const uint8_t *bytes, size_t size, unsigned minor);
enum trace_decoded { TRACE_DECODED, TRACE_BLOCK_DONE, TRACE_NOT_DECODED };
/* What the record points to is valid until the next call. TRACE_NOT_DECODED: *why says what is wrong, trace_decoder_at where. */
enum trace_decoded trace_decode(struct trace_decoder *decoder, struct trace_record *record, const char **why);
size_t trace_decoder_at(const struct trace_decoder *decoder); /* byte of the block at which the last record begins */

/* Checks what holds for records of either form. Returns NULL, or what is wrong with the record. */
const char *trace_record_wrong(const struct trace_record *record);

#endif
