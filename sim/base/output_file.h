/* The one writer of files that a user names: a file is written whole or it stays as it was.
 *
 *     struct output_file *f = output_file_open("page.html", OUTPUT_PLAIN, &error);
 *     if (f) {
 *         fprintf(output_file_stream(f), ...);
 *         ok = output_file_commit(f, &error);      // or output_file_discard(f)
 *     }
 *
 * What the path names decides how it is written.
 *
 * Nothing, or a regular file: the bytes go to a temporary in the same folder, which the commit renames to exactly this path. A
 * replaced file keeps its mode and, where the system allows it, its owner; a new file gets mode 0666 less the umask. A file that
 * may not be written is not replaced either. Other names of a replaced file (hard links) keep the old content.
 *
 * A symbolic link to a regular file: the link stays, and the content of the linked file is replaced by the commit, which makes
 * sure first that there is room for it. A link to nothing creates the linked file.
 *
 * A device, a FIFO or a socket: the bytes are written through as they come, and nothing is ever replaced.
 *
 * Names like "-" mean nothing special here; callers decide what goes to standard output.
 *
 * Without a commit nothing changes and nothing is left behind, not even when a signal ends the process (temporary.h). Every error
 * is ORCH_USAGE and gives the path and the reason that the system gave.
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
