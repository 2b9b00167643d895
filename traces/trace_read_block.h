/* The blocks of a binary trace, for trace_read.c. */
#ifndef ORCHARD_TRACES_TRACE_READ_BLOCK_H
#define ORCHARD_TRACES_TRACE_READ_BLOCK_H

#include "traces/trace_layout.h"
#include "traces/trace_read.h"

struct trace_blocks;

/* The file and the name remain the caller's. */
struct trace_blocks *trace_blocks_open(FILE *file, const char *name, bool force);
void trace_blocks_close(struct trace_blocks *blocks);
/* Reads the head of the file and gives its texts, which the caller frees. */
bool trace_blocks_header(struct trace_blocks *blocks, char **text, size_t *size, struct trace_error *error);
/* Reads the next block. Its contents are valid until the next call. */
enum trace_step trace_blocks_next(struct trace_blocks *blocks, const uint8_t **bytes, size_t *size, struct trace_error *error);
/* Goes to the block that holds this record; *skip is the number of records before it there. */
bool trace_blocks_seek(struct trace_blocks *blocks, uint64_t record, uint64_t *skip, struct trace_error *error);
/* Counts the rest of the present block as lost, because it cannot be decoded. */
void trace_blocks_lose_rest(struct trace_blocks *blocks);
unsigned trace_blocks_minor(const struct trace_blocks *blocks); /* version of the file */
uint64_t trace_blocks_offset(const struct trace_blocks *blocks);
uint32_t trace_blocks_number(const struct trace_blocks *blocks);
void trace_blocks_account(const struct trace_blocks *blocks, struct trace_account *account); /* everything but `records` */

#endif
