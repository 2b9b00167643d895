/* The four normal forms of texts (Unicode Standard Annex 15). */
#ifndef ORCHARD_SIM_LANGUAGE_UNICODE_NORMAL_H
#define ORCHARD_SIM_LANGUAGE_UNICODE_NORMAL_H

#include "sim/language/tokenizer.h"

enum unicode_form { UNICODE_NFD, UNICODE_NFC, UNICODE_NFKD, UNICODE_NFKC };

/* Adds a text in UTF-8 in its normal form to another. */
bool unicode_normalise(enum unicode_form form, const char *text, size_t length, struct token_text *to, struct orch_error *error);

#endif
