#include "sim/language/unicode.h"

#include "isa/array_count.h"

#include <stddef.h>

/* A category holds from one code point up to the next entry. */
struct category_from {
    uint32_t first : 24;
    uint32_t category : 8;
};
/* Every `step`-th character from `first` to `last` becomes lower case when `delta` is added. */
struct lower_run {
    uint32_t first, last;
    int32_t delta;
    uint32_t step;
};
/* One step of a decomposition; `second` is 0 when there is but one character. */
struct decomposition {
    uint32_t code, first, second;
};

/* Characters from `first` to `last` have that combining class; all others have 0. */
struct class_run {
    uint32_t first, last;
    uint8_t class;
};
/* A full compatibility decomposition: `count` characters of compatible_parts. */
struct compatible {
    uint32_t code;
    uint16_t at, count;
};

#include "sim/language/unicode_tables.inc"

/* Index of the last of `count` ascending keys, `stride` bytes apart, that is not above `code`; `count` when all are. Keys are
 * code points in the low 24 bits. */
static size_t last_not_above(const void *keys, size_t stride, size_t count, uint32_t code)
{
    const char *const key = keys;
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if ((*(const uint32_t *)(const void *)(key + middle * stride) & 0xffffff) <= code)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : count;
}

enum unicode_category unicode_category(uint32_t code)
{
    const size_t at = last_not_above(categories, sizeof *categories, ARRAY_COUNT(categories), code);
    return at < ARRAY_COUNT(categories) ? (enum unicode_category)categories[at].category : UNICODE_CN;
}

bool unicode_is_space(uint32_t code)
{
    const enum unicode_category category = unicode_category(code);
    return (code >= 9 && code <= 13) || code == 0x85 || (category >= UNICODE_ZS && category <= UNICODE_ZP);
}

uint32_t unicode_lower(uint32_t code)
{
    const size_t at = last_not_above(lower_runs, sizeof *lower_runs, ARRAY_COUNT(lower_runs), code);
    if (at == ARRAY_COUNT(lower_runs) || code > lower_runs[at].last || (code - lower_runs[at].first) % lower_runs[at].step)
        return code;
    return (uint32_t)((int32_t)code + lower_runs[at].delta);
}

/* Syllables of Hangul are numbered (The Unicode Standard, section 3.12). */
static unsigned decompose_hangul(uint32_t syllable, uint32_t to[UNICODE_DECOMPOSED_MAX])
{
    enum { LEADS = 0x1100, VOWELS = 0x1161, TAILS = 0x11a7, VOWEL_COUNT = 21, TAIL_COUNT = 28 };
    to[0] = LEADS + syllable / (VOWEL_COUNT * TAIL_COUNT);
    to[1] = VOWELS + syllable / TAIL_COUNT % VOWEL_COUNT;
    if (syllable % TAIL_COUNT == 0)
        return 2;
    to[2] = TAILS + syllable % TAIL_COUNT;
    return 3;
}

unsigned unicode_decompose(uint32_t code, uint32_t to[UNICODE_DECOMPOSED_MAX])
{
    enum { HANGUL = 0xac00, HANGUL_COUNT = 11172 };
    unsigned count = 1;
    if (code >= HANGUL && code < HANGUL + HANGUL_COUNT)
        return decompose_hangul(code - HANGUL, to);
    to[0] = code;
    /* Only the first character can be decomposed further. */
    for (;;) {
        const size_t at = last_not_above(decompositions, sizeof *decompositions, ARRAY_COUNT(decompositions), to[0]);
        if (at == ARRAY_COUNT(decompositions) || decompositions[at].code != to[0])
            return count;
        to[0] = decompositions[at].first;
        if (decompositions[at].second && count < UNICODE_DECOMPOSED_MAX) {
            for (unsigned i = count++; i > 1; i--)
                to[i] = to[i - 1];
            to[1] = decompositions[at].second;
        }
    }
}

unsigned unicode_decompose_compatible(uint32_t code, const uint32_t **to)
{
    const size_t at = last_not_above(compatibles, sizeof *compatibles, ARRAY_COUNT(compatibles), code);
    if (at == ARRAY_COUNT(compatibles) || compatibles[at].code != code)
        return 0;
    *to = compatible_parts + compatibles[at].at;
    return compatibles[at].count;
}

unsigned unicode_class(uint32_t code)
{
    const size_t at = last_not_above(class_runs, sizeof *class_runs, ARRAY_COUNT(class_runs), code);
    return at < ARRAY_COUNT(class_runs) && code <= class_runs[at].last ? class_runs[at].class : 0;
}

/* Syllables are composed as they are decomposed: a lead and a vowel, then a tail. */
static uint32_t compose_hangul(uint32_t first, uint32_t second)
{
    enum { BASE = 0xac00, LEADS = 0x1100, VOWELS = 0x1161, TAILS = 0x11a7 };
    enum { LEAD_COUNT = 19, VOWEL_COUNT = 21, TAIL_COUNT = 28, ALL = LEAD_COUNT * VOWEL_COUNT * TAIL_COUNT };
    if (first >= LEADS && first < LEADS + LEAD_COUNT && second >= VOWELS && second < VOWELS + VOWEL_COUNT)
        return BASE + ((first - LEADS) * VOWEL_COUNT + (second - VOWELS)) * TAIL_COUNT;
    if (first >= BASE && first < BASE + ALL && (first - BASE) % TAIL_COUNT == 0 && second > TAILS && second < TAILS + TAIL_COUNT)
        return first + second - TAILS;
    return 0;
}

uint32_t unicode_compose(uint32_t first, uint32_t second)
{
    size_t low = 0, high = ARRAY_COUNT(compositions);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct decomposition *const c = &compositions[middle];
        if (c->first == first && c->second == second)
            return c->code;
        if (c->first < first || (c->first == first && c->second < second))
            low = middle + 1;
        else
            high = middle;
    }
    return compose_hangul(first, second);
}

/* Blocks of CJK characters, each of which is a word: google-research/bert, tokenization.py, _is_chinese_char. */
bool unicode_is_chinese(uint32_t code)
{
    return (code >= 0x4e00 && code <= 0x9fff) || (code >= 0x3400 && code <= 0x4dbf) || (code >= 0x20000 && code <= 0x2a6df) ||
           (code >= 0x2a700 && code <= 0x2b73f) || (code >= 0x2b740 && code <= 0x2b81f) || (code >= 0x2b820 && code <= 0x2ceaf) ||
           (code >= 0xf900 && code <= 0xfaff) || (code >= 0x2f800 && code <= 0x2fa1f);
}
