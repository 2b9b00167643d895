/* The text form: JSON lines. The first is the header, {"trace":1,...}; each of the others is a record, {"record":"launch",...},
 * without the fields that say nothing. Both forms hold the same and are converted into one another without loss. */
#ifndef ORCHARD_TRACES_TRACE_TEXT_H
#define ORCHARD_TRACES_TRACE_TEXT_H

#include "traces/trace_header.h"
#include "traces/trace_record.h"

#include <stdio.h>

enum { TRACE_LINE_MAX = 1 << 20 };

/* False when the file cannot be written. */
bool trace_text_header(FILE *file, const struct trace_header *header);
bool trace_text_record(FILE *file, const struct trace_record *record);

struct trace_text_parser;
struct trace_text_parser *trace_text_parser_create(void);
void trace_text_parser_free(struct trace_text_parser *parser);
/* Parse one line, without its end. The result points into the parser and is valid until the next call. On failure *why says what
 * is wrong. */
bool trace_text_parse_header(struct trace_text_parser *parser, const char *line, size_t size, struct trace_header *header,
                             const char **why);
bool trace_text_parse(struct trace_text_parser *parser, const char *line, size_t size, struct trace_record *record,
                      const char **why);

#endif
