/* The one writer of files that a user names: a file is written whole or it stays as it was.
 *
 *     struct output_file *f = output_file_open("page.html", OUTPUT_PLAIN, &error);
 *     if (f) {
 *         fprintf(output_file_stream(f), ...);
 *         ok = output_file_commit(f, &error);      // or output_file_discard(f)
 *     }
 *
 * What the path names decides how it is written:
 *   nothing, or a regular file  a temporary beside it is renamed to exactly this path by the commit. A replaced file keeps its
 * mode and, where the system allows it, its owner; a new one gets 0666 less the umask. a symbolic link to a file   the link stays
 * and the content of the linked file is replaced, by a commit that has checked first that there is room. A link to nothing
 * creates the linked file. a device, a FIFO, a socket  written through as the bytes come, and never replaced. Names like "-" have
 * no special meaning here: what standard output is, the callers know.
 *
 * Without a commit nothing changes and nothing is left behind, also when a signal ends the process (temporary.h). Every error is
 * ORCH_USAGE with the path and the reason of the system.
 */
#ifndef ORCHARD_SIM_BASE_OUTPUT_FILE_H
#define ORCHARD_SIM_BASE_OUTPUT_FILE_H

#include "sim/base/error.h"

#include <stddef.h>
#include <stdio.h>

struct output_file;

enum output_durability {
    OUTPUT_PLAIN,
    OUTPUT_DURABLE, /* on the disk before it gets its name: the answer of hours survives a power cut */
};

/* Opens for writing from the beginning; waits for a reader when `path` is a FIFO. NULL with *error filled on failure. */
struct output_file *output_file_open(const char *path, enum output_durability durability, struct orch_error *error);
/* Where to write; belongs to the file and is not to be closed. It cannot seek and has no descriptor. */
FILE *output_file_stream(struct output_file *file);
/* Hands all bytes so far to the system; false with *error when they, or any before them, could not be written. Tells a failed
 * write from a renderer that failed for reasons of its own. */
bool output_file_flush(struct output_file *file, struct orch_error *error);
/* Completes the file and frees `file`. On failure (false, with *error) nothing has changed. */
bool output_file_commit(struct output_file *file, struct orch_error *error);
/* Drops what was written and frees `file`; NULL is fine. */
void output_file_discard(struct output_file *file);

/* All of the above for bytes that are in memory. */
bool output_file_write(const char *path, const void *bytes, size_t size, struct orch_error *error);

#endif
