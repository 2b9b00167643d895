/* Regular expressions, as far as the normalising and splitting of texts needs them.
 *
 *     a  .  \p{L}  \p{Lu}  \s  \S  \d  \w  \r  \n  [...]  [^...]  (...)  (?:...)  (?i:...)  (?=...)  (?!...)  a|b
 *     ? * + {n} {m,} {m,n}  $
 *
 * Alternatives are tried from left to right and repetitions take as much as they can, as in Perl. Texts are characters with their
 * categories, so that these are looked up once.
 */
#ifndef ORCHARD_SIM_LANGUAGE_PATTERN_H
#define ORCHARD_SIM_LANGUAGE_PATTERN_H

#include "sim/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct pattern_character {
    uint32_t code : 24;
    uint32_t category : 7; /* enum unicode_category */
    uint32_t space : 1;
};
struct pattern_character pattern_character(uint32_t code);

struct pattern;

/* NULL = *error: the expression is wrong, at which byte, or uses what is not listed above. */
struct pattern *pattern_create(const char *expression, struct orch_error *error);
void pattern_free(struct pattern *pattern);

/* A match that begins at text[0] within `count` characters; *length is -1 when there is none. */
bool pattern_match(const struct pattern *pattern, const struct pattern_character *text, size_t count, ptrdiff_t *length,
                   struct orch_error *error);

#endif
