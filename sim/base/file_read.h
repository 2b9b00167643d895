/* Files that are read whole. */
#ifndef ORCHARD_SIM_BASE_FILE_READ_H
#define ORCHARD_SIM_BASE_FILE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The rest of an open file, up to `most` bytes, with a NUL after it that *size does not count; the caller frees *bytes. False
 * with errno when it cannot be read: EFBIG when it is longer, ENOMEM when memory is out. Leaves the file open. */
bool file_read_all(FILE *file, size_t most, uint8_t **bytes, size_t *size);

/* Whether the bytes are what Git leaves in a checkout for a large file that was not downloaded: a text that begins with the
 * version of its specification (git-lfs/docs/spec.md). */
bool file_is_git_lfs_pointer(const void *bytes, size_t size);
#define FILE_GIT_LFS_POINTER "only a pointer of Git LFS is here: `git lfs pull` brings the file itself"

#endif
