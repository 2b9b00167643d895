/* Steps that normalise a text. */
#include "sim/language/text_steps_internal.h"
#include "sim/language/unicode.h"
#include "sim/language/unicode_normal.h"
#include "sim/language/utf8.h"

#include <stdlib.h>
#include <string.h>

#define NORMALISER(function)                                                                                                     \
    static bool function(const struct text_steps *s, const struct text_step *step, const char *text, size_t length,              \
                         struct token_text *to, struct orch_error *error)

static bool put(uint32_t code, struct token_text *to, struct orch_error *error)
{
    char bytes[UTF8_MAX];
    return token_text_add(to, bytes, utf8_write(code, bytes), error);
}

/* What becomes of one character: at most three others, or none. */
struct instead {
    uint32_t code[3];
    unsigned count;
};

static bool each(const char *text, size_t length, struct instead (*of)(uint32_t code), struct token_text *to,
                 struct orch_error *error)
{
    for (size_t at = 0, some; at < length; at += some) {
        uint32_t code = 0;
        some = utf8_read(text + at, length - at, &code);
        if (some == 0)
            return orch_fail(error, ORCH_USAGE, "a text that is being prepared is no UTF-8 at byte %zu", at);
        const struct instead in = of(code);
        for (unsigned i = 0; i < in.count; i++)
            if (!put(in.code[i], to, error))
                return false;
    }
    return true;
}

static struct instead keep_if(bool keep, uint32_t code)
{
    return (struct instead){{code}, keep};
}

/* ---- of single characters ---- */

/* Of all characters one has a small letter of two: I with a dot (SpecialCasing.txt). */
static struct instead small_letter(uint32_t code)
{
    return code == 0x130 ? (struct instead){{'i', 0x307}, 2} : (struct instead){{unicode_lower(code)}, 1};
}

static struct instead no_mark(uint32_t code)
{
    const enum unicode_category category = unicode_category(code);
    return keep_if(category < UNICODE_MN || category > UNICODE_ME, code);
}

static struct instead no_nonspacing(uint32_t code)
{
    return keep_if(unicode_category(code) != UNICODE_MN, code);
}

/* BERT leaves out control characters, and knows all white space as one space. */
static struct instead clean(uint32_t code)
{
    const enum unicode_category category = unicode_category(code);
    const bool space = code == '\t' || code == '\n' || code == '\r';
    const bool other = category == UNICODE_CN || category >= UNICODE_CC;
    if (code == 0 || code == UTF8_REPLACEMENT || (other && !space))
        return (struct instead){{0}, 0};
    return (struct instead){{space || unicode_is_space(code) ? ' ' : code}, 1};
}

static struct instead apart(uint32_t code)
{
    return unicode_is_chinese(code) ? (struct instead){{' ', code, ' '}, 3} : (struct instead){{code}, 1};
}

/* SentencePiece's rules of machine translation (google/sentencepiece, builder.cc). */
static struct instead nmt(uint32_t code)
{
    const bool out =
        (code >= 1 && code <= 8) || code == 0xb || (code >= 0xe && code <= 0x1f) || code == 0x7f || code == 0x8f || code == 0x9f;
    const bool space = code == 9 || code == 0xa || code == 0xc || code == 0xd || code == 0x1680 ||
                       (code >= 0x200b && code <= 0x200f) || code == 0x2028 || code == 0x2029 || code == 0x2581 ||
                       code == 0xfeff || code == UTF8_REPLACEMENT;
    return out ? (struct instead){{0}, 0} : (struct instead){{space ? ' ' : code}, 1};
}

#define EACH(function, of)                                                                                                       \
    NORMALISER(function)                                                                                                         \
    {                                                                                                                            \
        (void)s, (void)step;                                                                                                     \
        return each(text, length, of, to, error);                                                                                \
    }
EACH(lowercase, small_letter)
EACH(strip_accents, no_mark)
EACH(strip_nonspacing, no_nonspacing)
EACH(clean_text, clean)
EACH(chinese, apart)
EACH(for_translation, nmt)

/* ---- of whole texts ---- */

#define FORM(function, form)                                                                                                     \
    NORMALISER(function)                                                                                                         \
    {                                                                                                                            \
        (void)s, (void)step;                                                                                                     \
        return unicode_normalise(form, text, length, to, error);                                                                 \
    }
FORM(form_c, UNICODE_NFC)
FORM(form_d, UNICODE_NFD)
FORM(form_kc, UNICODE_NFKC)
FORM(form_kd, UNICODE_NFKD)

static bool is_space_at(const char *text, size_t length, size_t *some)
{
    uint32_t code = 0;
    *some = utf8_read(text, length, &code);
    return *some && unicode_is_space(code);
}

NORMALISER(strip)
{
    size_t from = 0, end = length, some;
    (void)s;
    if (!text_word_is(step, 1, "right"))
        while (from < length && is_space_at(text + from, length - from, &some))
            from += some;
    /* Up to the last character that is no space. */
    if (!text_word_is(step, 1, "left"))
        for (size_t at = end = from; at < length; at += some ? some : 1)
            end = is_space_at(text + at, length - at, &some) ? end : at + (some ? some : 1);
    return token_text_add(to, text + from, end - from, error);
}

NORMALISER(prepend)
{
    (void)s;
    return length == 0 ||
           (token_text_add(to, step->word[1].text, step->word[1].length, error) && token_text_add(to, text, length, error));
}

NORMALISER(replace)
{
    struct text_matches m = {0};
    bool ok = text_matches_find(step, text, length, &m, error);
    (void)s;
    for (size_t i = 0, at = 0; ok && i < m.count; at = m.match[i++].end)
        ok = m.match[i].matched ? token_text_add(to, step->word[2].text, step->word[2].length, error)
                                : token_text_add(to, text + at, m.match[i].end - at, error);
    free(m.match);
    return ok;
}

NORMALISER(by_charsmap)
{
    (void)step;
    for (size_t at = 0, some; at < length; at += some) {
        const char *by = NULL;
        uint32_t code;
        some = charsmap_find(&s->charsmap, text + at, length - at, &by);
        if (some ? !utf8_is_valid(by, strlen(by), NULL) : !(some = utf8_read(text + at, length - at, &code)))
            return orch_fail(error, ORCH_USAGE, "tokenizer.ggml.precompiled_charsmap: what it makes is no UTF-8");
        /* A carriage return and a line feed are one grapheme, of which the first counts (spm_precompiled, lib.rs). */
        if (by && some == 1 && text[at] == '\r' && at + 1 < length && text[at + 1] == '\n')
            some = 2;
        if (!(by ? token_text_add(to, by, strlen(by), error) : token_text_add(to, text + at, some, error)))
            return false;
    }
    return true;
}

NORMALISER(bytes)
{
    (void)s, (void)step;
    for (size_t i = 0; i < length; i++)
        if (!put(byte_level_character((uint8_t)text[i]), to, error))
            return false;
    return true;
}

const struct text_step_kind text_normalisers[] = {
    {"nfc", false, form_c, NULL},
    {"nfd", false, form_d, NULL},
    {"nfkc", false, form_kc, NULL},
    {"nfkd", false, form_kd, NULL},
    {"lowercase", false, lowercase, NULL},
    {"strip_accents", false, strip_accents, NULL},
    {"strip_nonspacing", false, strip_nonspacing, NULL},
    {"clean", false, clean_text, NULL},
    {"chinese", false, chinese, NULL},
    {"nmt", false, for_translation, NULL},
    {"strip", false, strip, NULL},
    {"prepend", false, prepend, NULL},
    {"replace", true, replace, NULL},
    {"charsmap", false, by_charsmap, NULL},
    {"bytes", false, bytes, NULL},
    {NULL, false, NULL, NULL},
};
