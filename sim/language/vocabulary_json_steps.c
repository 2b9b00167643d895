/* Members and their meanings: huggingface/tokenizers, src/normalizers, src/pre_tokenizers, src/processors and src/decoders. */
#include "sim/language/vocabulary_json_internal.h"

#include "isa/list_grow.h"
#include "sim/language/text_split.h"
#include "sim/language/text_steps.h"
#include "sim/language/tokenizer.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 256, AROUND_MAX = 64, TOKENS_MAX = 1 << 22 };

#define SPACE       "\xe2\x96\x81"           /* U+2581 */
#define PUNCTUATION "[!-/:-@\\[-`{-~\\p{P}]" /* src/utils: ASCII's signs, and category P */
#define WORDS       "\\w+|[^\\w\\s]+"        /* src/pre_tokenizers/whitespace.rs */

/* Steps that are collected; words are of the document, or constant. */
struct list {
    const char *(*step)[TEXT_STEP_WORDS];
    size_t count, room;
    const char *charsmap; /* in base 64; NULL = none */
};

static bool is(const struct json_node *step, const char *type)
{
    return strcmp(json_get_string(step, "type"), type) == 0;
}

static void refuse(const struct json_node *node, const char *name, const char *what)
{
    if (!json_ok(node))
        return;
    json_wrong(node, name, "\"%.60s\" is not modelled", what);
    node->reader->error->exit_code = ORCH_UNMODELLED;
}

static void add(struct list *l, const struct json_node *from, const char *name, const char *a, const char *b, const char *c)
{
    const char *(*const grown)[TEXT_STEP_WORDS] =
        l->count < STEPS_MAX ? list_grow(l->step, l->count, &l->room, sizeof *grown) : NULL;
    if (!grown) {
        json_wrong(from, NULL, "more than %d steps, or no memory", STEPS_MAX);
        return;
    }
    l->step = grown;
    const char *const words[] = {name, a, b, c};
    memcpy(l->step[l->count++], words, sizeof words);
}

/* {"String": "..."} or {"Regex": "..."} */
static const char *pattern_of(const struct json_node *step, bool *expression)
{
    const struct json_node pattern = json_get_object(step, "pattern");
    *expression = json_has(&pattern, "Regex");
    return json_get_string(&pattern, *expression ? "Regex" : "String");
}

/* ---- normalizers ---- */

static void add_bert(struct list *l, const struct json_node *step)
{
    const bool lower = json_find_boolean(step, "lowercase", true);
    if (json_find_boolean(step, "clean_text", true))
        add(l, step, "clean", "", "", "");
    if (json_find_boolean(step, "handle_chinese_chars", true))
        add(l, step, "chinese", "", "", "");
    if (json_find_boolean(step, "strip_accents", lower)) {
        add(l, step, "nfd", "", "", "");
        add(l, step, "strip_nonspacing", "", "", "");
    }
    if (lower)
        add(l, step, "lowercase", "", "", "");
}

static void add_strip(struct list *l, const struct json_node *step)
{
    const bool left = json_find_boolean(step, "strip_left", true), right = json_find_boolean(step, "strip_right", true);
    if (left || right)
        add(l, step, "strip", left && right ? "both" : left ? "left" : "right", "", "");
}

static void add_normalizer(struct list *l, const struct json_node *step)
{
    static const char *const plain[][2] = {{"NFC", "nfc"},         {"NFD", "nfd"},
                                           {"NFKC", "nfkc"},       {"NFKD", "nfkd"},
                                           {"Nmt", "nmt"},         {"Lowercase", "lowercase"},
                                           {"ByteLevel", "bytes"}, {"StripAccents", "strip_accents"}};
    bool expression;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (is(step, plain[i][0])) {
            add(l, step, plain[i][1], "", "", "");
            return;
        }
    if (is(step, "BertNormalizer")) {
        add_bert(l, step);
    } else if (is(step, "Strip")) {
        add_strip(l, step);
    } else if (is(step, "Prepend")) {
        add(l, step, "prepend", json_get_string(step, "prepend"), "", "");
    } else if (is(step, "Replace")) {
        const char *const pattern = pattern_of(step, &expression);
        add(l, step, "replace", pattern, json_get_string(step, "content"), expression ? "expression" : "text");
    } else if (is(step, "Precompiled")) {
        l->charsmap = json_get_string(step, "precompiled_charsmap");
        add(l, step, "charsmap", "", "", "");
    } else {
        refuse(step, "type", json_get_string(step, "type"));
    }
}

/* ---- pre-tokenizers ---- */

static const char *behaviour_of(const struct json_node *step, const char *absent)
{
    static const char *const names[][2] = {{"Removed", "removed"},
                                           {"Isolated", "isolated"},
                                           {"Contiguous", "contiguous"},
                                           {"MergedWithPrevious", "merged_with_previous"},
                                           {"MergedWithNext", "merged_with_next"}};
    const char *const name = json_find_string(step, "behavior", absent);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], name) == 0)
            return names[i][1];
    refuse(step, "behavior", name);
    return "";
}

static void add_split(struct list *l, const struct json_node *step)
{
    bool expression;
    const char *const pattern = pattern_of(step, &expression), *const behaviour = behaviour_of(step, "Isolated");
    const bool invert = json_find_boolean(step, "invert", false);
    add(l, step, "split", pattern, behaviour,
        expression ? (invert ? "expression invert" : "expression") : (invert ? "text invert" : "text"));
}

/* Files of older versions say whether there is a space in front, those of newer ones when. */
static void add_metaspace(struct list *l, const struct json_node *step)
{
    const char *const scheme =
        json_find_string(step, "prepend_scheme", json_find_boolean(step, "add_prefix_space", true) ? "always" : "never");
    const bool parts = json_find_boolean(step, "split", true), always = strcmp(scheme, "always") == 0,
               first = strcmp(scheme, "first") == 0;
    if (!always && !first && strcmp(scheme, "never") != 0)
        refuse(step, "prepend_scheme", scheme);
    add(l, step, "metaspace", json_find_string(step, "replacement", SPACE),
        always  ? (parts ? "always split" : "always")
        : first ? (parts ? "first split" : "first")
                : (parts ? "never split" : "never"),
        "text");
}

static void add_byte_level(struct list *l, const struct json_node *step)
{
    if (json_find_boolean(step, "add_prefix_space", true))
        add(l, step, "prefix_space", "", "", "");
    if (json_find_boolean(step, "use_regex", true))
        add(l, step, "split", split_family_named("gpt-2")->expression[0], "isolated", "expression");
    add(l, step, "bytes", "", "", "");
}

static void add_pre_tokenizer(struct list *l, const struct json_node *step)
{
    if (is(step, "BertPreTokenizer")) {
        add(l, step, "split", "\\s", "removed", "expression");
        add(l, step, "split", PUNCTUATION, "isolated", "expression");
    } else if (is(step, "Whitespace")) {
        add(l, step, "split", WORDS, "removed", "expression invert");
    } else if (is(step, "WhitespaceSplit")) {
        add(l, step, "split", "\\s", "removed", "expression");
    } else if (is(step, "Punctuation")) {
        add(l, step, "split", PUNCTUATION, behaviour_of(step, "Isolated"), "expression");
    } else if (is(step, "Digits")) {
        add(l, step, "split", json_find_boolean(step, "individual_digits", false) ? "\\p{N}" : "\\p{N}+", "isolated",
            "expression");
    } else if (is(step, "CharDelimiterSplit")) {
        add(l, step, "split", json_get_string(step, "delimiter"), "removed", "text");
    } else if (is(step, "Split")) {
        add_split(l, step);
    } else if (is(step, "Metaspace")) {
        add_metaspace(l, step);
    } else if (is(step, "ByteLevel")) {
        add_byte_level(l, step);
    } else {
        refuse(step, "type", json_get_string(step, "type"));
    }
}

/* ---- lists ---- */

/* Itself, or what a Sequence has under `list`; such lists may hold one another, as deep as the document goes. */
static void each(const struct json_node *of, const char *list, struct list *l,
                 void (*take)(struct list *, const struct json_node *))
{
    struct json_node item;
    if (!of->value || !json_ok(of))
        return;
    if (!is(of, "Sequence")) {
        take(l, of);
        return;
    }
    const struct json_node items = json_get_array(of, list, 0, STEPS_MAX);
    for (struct json_walk walk = {.of = &items}; json_next(&walk, &item);)
        each(&item, list, l, take);
}

static void write_list(struct gguf_writer *w, const char *key, const struct list *l)
{
    gguf_write_array(w, key, GGUF_STRING, TEXT_STEP_WORDS * l->count);
    for (size_t i = 0; i < l->count; i++)
        for (unsigned k = 0; k < TEXT_STEP_WORDS; k++)
            gguf_put_string(w, l->step[i][k], strlen(l->step[i][k]));
}

static int value_of(char digit)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *const at = digit ? strchr(digits, digit) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Text in base 64 as an array of bytes. */
static void write_charsmap(struct gguf_writer *w, const struct json_node *top, const char *text)
{
    const size_t length = strlen(text);
    const size_t padding = length && text[length - 1] == '=' ? 1 + (length > 1 && text[length - 2] == '=') : 0;
    size_t count = length - padding;
    if (length % 4 || !length) {
        json_wrong(top, "normalizer", "precompiled_charsmap is no text in base 64");
        return;
    }
    gguf_write_array(w, "tokenizer.ggml.precompiled_charsmap", GGUF_U8, count * 3 / 4);
    for (size_t i = 0, bits = 0, held = 0; i < count; i++) {
        const int value = value_of(text[i]);
        if (value < 0) {
            json_wrong(top, "normalizer", "precompiled_charsmap is no text in base 64: byte %zu", i);
            return;
        }
        held = held << 6 | (size_t)value;
        bits += 6;
        if (bits >= 8)
            gguf_put_u8(w, (uint8_t)(held >> (bits -= 8)));
    }
}

/* ---- what stands around a text ---- */

struct around {
    uint32_t token[2][AROUND_MAX];
    size_t count[2];
};

static void add_around(struct around *a, const struct json_node *from, bool after, uint64_t token)
{
    if (a->count[after] == AROUND_MAX)
        json_wrong(from, NULL, "more than %d tokens around a text", AROUND_MAX);
    else
        a->token[after][a->count[after]++] = (uint32_t)token;
}

/* A name may stand for several tokens, which a table beside it lists. */
static void add_special(struct around *a, const struct json_node *post, const struct json_node *item, bool after)
{
    const struct json_node special = json_get_object(item, "SpecialToken"), table = json_get_object(post, "special_tokens");
    const char *const name = json_get_string(&special, "id");
    const struct json_node entry = json_get_object(&table, name), ids = json_get_array(&entry, "ids", 1, AROUND_MAX);
    struct json_node id;
    for (struct json_walk walk = {.of = &ids}; json_next(&walk, &id);)
        add_around(a, post, after, json_get_integer(&id, NULL, 0, TOKENS_MAX - 1));
}

static void add_template(struct around *a, const struct json_node *post)
{
    const struct json_node single = json_get_array(post, "single", 0, AROUND_MAX);
    struct json_node item;
    bool text = false;
    for (struct json_walk walk = {.of = &single}; json_next(&walk, &item);) {
        if (json_has(&item, "SpecialToken"))
            add_special(a, post, &item, text);
        text = text || json_has(&item, "Sequence");
    }
}

/* ["[SEP]", 102] */
static void add_pair(struct around *a, const struct json_node *post, const char *name, bool after)
{
    const struct json_node pair = json_get_array(post, name, 2, 2);
    struct json_node item;
    for (struct json_walk walk = {.of = &pair}; json_next(&walk, &item);)
        if (item.index == 1)
            add_around(a, post, after, json_get_integer(&item, NULL, 0, TOKENS_MAX - 1));
}

static void take_processor(struct around *a, const struct json_node *post)
{
    struct json_node item;
    if (!post->value || !json_ok(post))
        return;
    if (is(post, "Sequence")) {
        const struct json_node items = json_get_array(post, "processors", 0, STEPS_MAX);
        for (struct json_walk walk = {.of = &items}; json_next(&walk, &item);)
            take_processor(a, &item);
    } else if (is(post, "TemplateProcessing")) {
        add_template(a, post);
    } else if (is(post, "BertProcessing") || is(post, "RobertaProcessing")) {
        add_pair(a, post, "cls", false);
        add_pair(a, post, "sep", true);
    } else if (!is(post, "ByteLevel")) { /* which changes offsets alone */
        refuse(post, "type", json_get_string(post, "type"));
    }
}

static void write_around(struct gguf_writer *w, const char *key, const struct around *a, bool after)
{
    gguf_write_array(w, key, GGUF_U32, a->count[after]);
    for (size_t i = 0; i < a->count[after]; i++)
        gguf_put_u32(w, a->token[after][i]);
}

/* ---- decoders ---- */

/* The first kind that says how pieces stand for text. */
static void take_decoder(struct list *l, const struct json_node *step)
{
    static const char *const kinds[][2] = {
        {"ByteLevel", "bytes"}, {"WordPiece", "pieces"}, {"BPEDecoder", "suffix"}, {"Metaspace", "spaces"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (is(step, kinds[i][0]))
            add(l, step, kinds[i][1], "", "", "");
}

static void write_decoder(struct gguf_writer *w, const struct json_node *top)
{
    const struct json_node decoder = json_find_object(top, "decoder");
    struct list l = {0};
    each(&decoder, "decoders", &l, take_decoder);
    const char *const name = l.count ? l.step[0][0] : "spaces";
    gguf_write_string(w, "orchard.tokenizer.decoder", name, strlen(name));
    free(l.step);
}

void vocabulary_write_steps(struct gguf_writer *w, const struct json_node *top)
{
    const struct json_node normal = json_find_object(top, "normalizer"), pre = json_find_object(top, "pre_tokenizer"),
                           post = json_find_object(top, "post_processor");
    struct list normalizers = {0}, splitters = {0};
    struct around around = {.count = {0}};
    each(&normal, "normalizers", &normalizers, add_normalizer);
    each(&pre, "pretokenizers", &splitters, add_pre_tokenizer);
    take_processor(&around, &post);
    write_list(w, TEXT_STEPS_NORMALIZERS, &normalizers);
    write_list(w, TEXT_STEPS_PRE_TOKENIZERS, &splitters);
    if (json_ok(top) && normalizers.charsmap)
        write_charsmap(w, top, normalizers.charsmap);
    write_around(w, "orchard.tokenizer.before", &around, false);
    write_around(w, "orchard.tokenizer.after", &around, true);
    write_decoder(w, top);
    free(normalizers.step);
    free(splitters.step);
}
