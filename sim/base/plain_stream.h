/* Streams and texts for terminals: what names of others would do to one becomes a question mark. */
#ifndef ORCHARD_SIM_BASE_PLAIN_STREAM_H
#define ORCHARD_SIM_BASE_PLAIN_STREAM_H

#include <stdio.h>

/* Writes to `to`, which remains the caller's, at once; closing it flushes `to`. Of control characters only line ends, tabs and
 * bold (ESC [ 1 m, ESC [ 0 m) pass. NULL when memory is short. */
FILE *plain_stream_open(FILE *to);
/* Makes question marks of the control characters of a text but line ends and tabs, in place. */
void plain_text(char *text);

#endif
