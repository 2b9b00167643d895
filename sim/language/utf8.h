/* UTF-8: code points in and out of bytes (RFC 3629: no surrogates, nothing above U+10FFFF, no long spellings). */
#ifndef ORCHARD_SIM_LANGUAGE_UTF8_H
#define ORCHARD_SIM_LANGUAGE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UTF8_MAX = 4, UTF8_REPLACEMENT = 0xfffd };

/* The code point at the beginning of some bytes, and in how many of them it is written; 0 when they do not begin with one. */
unsigned utf8_read(const void *bytes, size_t size, uint32_t *code);
/* Returns how many bytes were written, at most UTF8_MAX. */
unsigned utf8_write(uint32_t code, char *bytes);
/* Whether all bytes are UTF-8; else *wrong, which may be NULL, is the place of the first that is not. */
bool utf8_is_valid(const void *bytes, size_t size, size_t *wrong);
/* Whether a code point may begin with these bytes but needs more of them. */
bool utf8_is_beginning(const void *bytes, size_t size);

#endif
