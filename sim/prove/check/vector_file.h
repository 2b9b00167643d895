/* Golden vector files: lines of text, gzip or plain, cut into words. */
#ifndef ORCHARD_SIM_PROVE_CHECK_VECTOR_FILE_H
#define ORCHARD_SIM_PROVE_CHECK_VECTOR_FILE_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

enum { VECTOR_LINE_BYTES = 1 << 16 };

struct vector_file {
    gzFile file;
    const char *name;
    unsigned long line_number;
    struct orch_error *error;
    char line[VECTOR_LINE_BYTES];
};

/* Opens a file by its descriptor, which is left open. */
bool vector_file_open(struct vector_file *file, int fd, const char *name, struct orch_error *error);
void vector_file_close(struct vector_file *file);

/* The next line without its newline; NULL at the end of the file, or on an error, which clears *ok. */
char *vector_line(struct vector_file *file, bool *ok);
/* Fails with "NAME:LINE: expected ..."; returns false. */
bool vector_malformed(const struct vector_file *file, const char *expected);

/* Whether the file's name up to its first dot is `stem`; '-' and '_' are equal. */
bool vector_stem_is(const char *path, const char *stem);

/* Cuts the next word that ends in `separator` off *text; NULL when there is none. Repeated blanks count as one. */
char *vector_word(char **text, char separator);
bool vector_hex(const char *word, uint64_t *value);
bool vector_decimal(const char *word, unsigned limit, unsigned *value);
/* Reads pairs of hexadecimal digits; *count is the number of bytes, at most `room`. */
bool vector_bytes(const char *word, uint8_t *bytes, size_t room, size_t *count);

#endif
