/* Words that end a generation: they are looked for in the text behind the prompt, of which nothing is shown that may be the
 * beginning of one. */
#ifndef ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_STOP_H
#define ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_STOP_H

#include "sim/run/language/language_options.h"

#include <stddef.h>

/* The word that comes first in bytes `from` to `length` of a text, and where it begins; NULL = there is none. */
const char *language_stop_find(const struct language_options *options, const char *text, size_t from, size_t length, size_t *at);
/* Bytes at the end of a text that a word may begin with. */
size_t language_stop_held(const struct language_options *options, const char *text, size_t from, size_t length);

#endif
