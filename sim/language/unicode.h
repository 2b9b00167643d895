/* What tokenizers ask about characters: general categories, white space, lower case, decomposition and composition. Unicode 15.0.
 */
#ifndef ORCHARD_SIM_LANGUAGE_UNICODE_H
#define ORCHARD_SIM_LANGUAGE_UNICODE_H

#include <stdbool.h>
#include <stdint.h>

/* General categories, in the order of UNICODE_CATEGORIES. */
enum unicode_category {
    UNICODE_CN, /* of no character */
    UNICODE_LU,
    UNICODE_LL,
    UNICODE_LT,
    UNICODE_LM,
    UNICODE_LO,
    UNICODE_MN,
    UNICODE_MC,
    UNICODE_ME,
    UNICODE_ND,
    UNICODE_NL,
    UNICODE_NO,
    UNICODE_PC,
    UNICODE_PD,
    UNICODE_PS,
    UNICODE_PE,
    UNICODE_PI,
    UNICODE_PF,
    UNICODE_PO,
    UNICODE_SM,
    UNICODE_SC,
    UNICODE_SK,
    UNICODE_SO,
    UNICODE_ZS,
    UNICODE_ZL,
    UNICODE_ZP,
    UNICODE_CC,
    UNICODE_CF,
    UNICODE_CS,
    UNICODE_CO,
    UNICODE_CATEGORY_COUNT
};
/* Their names, two letters each, one after another. */
#define UNICODE_CATEGORIES "CnLuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCsCo"

enum { UNICODE_DECOMPOSED_MAX = 4 };

enum unicode_category unicode_category(uint32_t code);
/* The property White_Space. */
bool unicode_is_space(uint32_t code);
/* Simple lower case: one character for one. */
uint32_t unicode_lower(uint32_t code);
/* Full canonical decomposition, without ordering; returns how many characters it has. */
unsigned unicode_decompose(uint32_t code, uint32_t to[UNICODE_DECOMPOSED_MAX]);
/* Full compatibility decomposition, of characters that have another one than the canonical; 0 = none. *to is in a table. */
unsigned unicode_decompose_compatible(uint32_t code, const uint32_t **to);
/* The class by which combining characters are ordered; 0 = it begins a new order. */
unsigned unicode_class(uint32_t code);
/* The character that two compose canonically; 0 = none. */
uint32_t unicode_compose(uint32_t first, uint32_t second);
/* Whether BERT counts it among Chinese characters, each of which is a word. */
bool unicode_is_chinese(uint32_t code);

#endif
