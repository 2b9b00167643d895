/* tokenizer.json. Format: huggingface/tokenizers, src/tokenizer/serialization.rs and the models, normalizers, pre_tokenizers and
 * processors beside it. */
#include "sim/language/vocabulary_file.h"

#include "isa/array_count.h"
#include "sim/base/json_read.h"
#include "sim/language/gguf_write.h"
#include "sim/language/tokenizer_plan.h"
#include "sim/language/vocabulary_json_internal.h"

#include <stdlib.h>
#include <string.h>

enum { TOKENS_MAX = 1 << 22, MERGES_MAX = 1 << 23, TEXT_BYTES_MAX = 1 << 28, DEPTH = 16 };

/* ---- tokens ---- */

static void set_piece(struct json_vocabulary *v, const struct json_node *node, uint64_t id, const char *text, uint32_t type)
{
    if (!json_ok(node) || id >= TOKENS_MAX)
        return;
    if (id >= v->count) {
        struct json_piece *const grown = realloc(v->piece, (id + 1) * sizeof *grown);
        if (!grown) {
            node->reader->ok = orch_no_memory(node->reader->error);
            return;
        }
        v->piece = grown;
        for (uint64_t i = v->count; i <= id; i++)
            grown[i] = (struct json_piece){"", 0, TOKEN_UNUSED, 0, 0};
        v->count = id + 1;
    }
    v->piece[id] = (struct json_piece){text, strlen(text), type, 0, v->piece[id].score};
}

static bool is_byte(const char *text)
{
    return strlen(text) == 6 && strncmp(text, "<0x", 3) == 0 && text[5] == '>';
}

/* Unigram's vocabulary is a list of pieces with their scores. */
static void read_scored(struct json_vocabulary *v, const struct json_node *vocab)
{
    struct json_node item, part;
    for (struct json_walk walk = {.of = vocab}; json_next(&walk, &item);) {
        const struct json_node pair = json_get_array(&item, NULL, 2, 2);
        const char *text = "";
        double score = 0;
        for (struct json_walk parts = {.of = &pair}; json_next(&parts, &part);)
            if (part.index)
                score = json_get_number(&part, NULL, -1e30, 1e30);
            else
                text = json_get_string(&part, NULL);
        set_piece(v, &item, item.index, text, v->byte_fallback && is_byte(text) ? TOKEN_BYTE : TOKEN_NORMAL);
        if (json_ok(&item))
            v->piece[item.index].score = (float)score;
    }
}

static void read_named(struct json_vocabulary *v, const struct json_node *vocab)
{
    struct json_node item;
    for (struct json_walk walk = {.of = vocab}; json_next(&walk, &item);)
        set_piece(v, &item, json_get_integer(&item, NULL, 0, TOKENS_MAX - 1), item.name,
                  v->byte_fallback && is_byte(item.name) ? TOKEN_BYTE : TOKEN_NORMAL);
}

static uint32_t flags_of(const struct json_node *added, bool special)
{
    return (json_find_boolean(added, "lstrip", false) ? ADDED_LEFT : 0) |
           (json_find_boolean(added, "rstrip", false) ? ADDED_RIGHT : 0) |
           (json_find_boolean(added, "single_word", false) ? ADDED_WORD : 0) |
           (json_find_boolean(added, "normalized", !special) ? ADDED_NORMAL : 0);
}

static void read_tokens(struct json_vocabulary *v, const struct json_node *top, const struct json_node *model)
{
    const struct json_node vocab = v->scored ? json_get_array(model, "vocab", 1, TOKENS_MAX) : json_get_object(model, "vocab");
    const struct json_node added = json_find_array(top, "added_tokens", 0, TOKENS_MAX);
    struct json_node item;
    /* all at once, as each new number would copy what is there */
    const size_t count = json_count(&vocab);
    v->piece = calloc(count + 1, sizeof *v->piece);
    for (v->count = 0; v->piece && v->count < count; v->count++)
        v->piece[v->count] = (struct json_piece){"", 0, TOKEN_UNUSED, 0, 0};
    v->scored ? read_scored(v, &vocab) : read_named(v, &vocab);
    for (struct json_walk walk = {.of = &added}; json_next(&walk, &item);) {
        const uint64_t id = json_get_integer(&item, "id", 0, TOKENS_MAX - 1);
        const bool special = json_find_boolean(&item, "special", false);
        set_piece(v, &item, id, json_get_string(&item, "content"), special ? TOKEN_CONTROL : TOKEN_USER);
        if (json_ok(&item))
            v->piece[id].flags = flags_of(&item, special);
    }
}

/* ---- merges ---- */

/* A merge is "left right", or two strings. */
static void read_merge(const struct json_node *merge, const char *side[2], size_t length[2])
{
    if (json_object_is_type(merge->value, json_type_array)) {
        const struct json_node pair = json_get_array(merge, NULL, 2, 2);
        struct json_node item;
        for (struct json_walk walk = {.of = &pair}; json_next(&walk, &item);) {
            side[item.index] = json_get_string(&item, NULL);
            length[item.index] = strlen(side[item.index]);
        }
        return;
    }
    side[0] = json_get_string(merge, NULL);
    const char *const space = strchr(side[0], ' ');
    if (!space && json_ok(merge))
        json_wrong(merge, NULL, "\"%.40s\" is no pair of pieces", side[0]);
    length[0] = space ? (size_t)(space - side[0]) : 0;
    side[1] = space ? space + 1 : "";
    length[1] = strlen(side[1]);
}

static void put_merge(struct gguf_writer *w, const char *const side[2], const size_t length[2], char **text, size_t *room,
                      const struct json_node *merge)
{
    const size_t all = length[0] + 1 + length[1];
    if (all > *room) {
        char *const grown = realloc(*text, 2 * all);
        if (!grown) {
            merge->reader->ok = orch_no_memory(merge->reader->error);
            return;
        }
        *text = grown;
        *room = 2 * all;
    }
    memcpy(*text, side[0], length[0]);
    (*text)[length[0]] = ' ';
    memcpy(*text + length[0] + 1, side[1], length[1]);
    gguf_put_string(w, *text, all);
}

static void write_merges(struct gguf_writer *w, const struct json_node *merges)
{
    struct json_node merge;
    char *text = NULL;
    size_t room = 0;
    gguf_write_array(w, "tokenizer.ggml.merges", GGUF_STRING, json_count(merges));
    for (struct json_walk walk = {.of = merges}; json_next(&walk, &merge);) {
        const char *side[2] = {"", ""};
        size_t length[2] = {0, 0};
        read_merge(&merge, side, length);
        if (json_ok(&merge))
            put_merge(w, side, length, &text, &room, &merge);
    }
    free(text);
}

/* SentencePiece joins by scores. All ways to part a piece stand in the list together, one piece after another by its score, so
 * that the place of the first is as good as the score (tokenizers, bindings/python/scripts/convert.py). Pieces that no merge
 * makes come last. */
static bool score_pieces(struct json_vocabulary *v, const struct json_node *model, const struct json_node *merges)
{
    json_object *const vocab = json_peek(model->value, "vocab", json_type_object);
    struct json_node merge;
    char whole[512];
    for (uint64_t i = 0; i < v->count; i++)
        v->piece[i].score = -1e9f;
    for (struct json_walk walk = {.of = merges}; json_next(&walk, &merge);) {
        const char *side[2] = {"", ""};
        size_t length[2] = {0, 0};
        read_merge(&merge, side, length);
        if (length[0] + length[1] >= sizeof whole)
            return json_wrong(&merge, NULL, "a piece of more than %zu bytes", sizeof whole - 1);
        memcpy(whole, side[0], length[0]);
        memcpy(whole + length[0], side[1], length[1]);
        whole[length[0] + length[1]] = 0;
        json_object *const id = json_peek(vocab, whole, json_type_int);
        if (!id)
            return json_wrong(&merge, NULL, "\"%.80s\" is no token", whole);
        struct json_piece *const p = &v->piece[json_object_get_int64(id)];
        p->score = p->score == -1e9f ? -(float)walk.index : p->score;
    }
    return json_ok(merges);
}

/* ---- the whole ---- */

static void write_pieces(struct gguf_writer *w, const struct json_vocabulary *v)
{
    gguf_write_array(w, "tokenizer.ggml.tokens", GGUF_STRING, v->count);
    for (uint64_t i = 0; i < v->count; i++)
        gguf_put_string(w, v->piece[i].text, v->piece[i].length);
    gguf_write_array(w, "tokenizer.ggml.token_type", GGUF_U32, v->count);
    for (uint64_t i = 0; i < v->count; i++)
        gguf_put_u32(w, v->piece[i].type);
    if (!v->scored && (v->model || !v->byte_fallback))
        return;
    gguf_write_array(w, "tokenizer.ggml.scores", GGUF_F32, v->count);
    for (uint64_t i = 0; i < v->count; i++)
        gguf_put_f32(w, v->piece[i].score);
}

/* Of a Unigram the number of its unknown token, of the others its name. */
static uint32_t unknown_of(const struct json_vocabulary *v, const struct json_node *model)
{
    if (v->scored)
        return (uint32_t)json_find_integer(model, "unk_id", 0, v->count ? v->count - 1 : 0, TOKEN_NONE);
    const char *const unknown = json_find_string(model, "unk_token", "");
    json_object *const vocab = json_peek(model->value, "vocab", json_type_object);
    json_object *const id = *unknown ? json_peek(vocab, unknown, json_type_int) : NULL;
    return id ? (uint32_t)json_object_get_int64(id) : TOKEN_NONE;
}

static void write_meanings(struct gguf_writer *w, const struct json_vocabulary *v, const struct json_node *model,
                           const struct vocabulary_ends *ends)
{
    gguf_write_u32(w, "tokenizer.ggml.bos_token_id", ends->begin);
    gguf_write_u32(w, "tokenizer.ggml.eos_token_id", ends->end);
    gguf_write_u32(w, "tokenizer.ggml.eot_token_id", ends->end_of_turn);
    gguf_write_u32(w, "tokenizer.ggml.unknown_token_id", unknown_of(v, model));
    gguf_write_bool(w, "tokenizer.ggml.add_bos_token", v->add_begin);
    gguf_write_bool(w, "tokenizer.ggml.add_eos_token", v->add_end);
    gguf_write_bool(w, "tokenizer.ggml.add_space_prefix", v->add_space);
}

static void write_text(struct gguf_writer *w, const char *key, const char *text)
{
    gguf_write_string(w, key, text, strlen(text));
}

/* What only a tokenizer.json says. */
static void write_plan(struct gguf_writer *w, const struct json_vocabulary *v, const struct json_node *top,
                       const struct json_node *model)
{
    const bool pieces = strcmp(v->model, "word_piece") == 0;
    write_text(w, "orchard.tokenizer.model", v->model);
    write_text(w, "orchard.tokenizer.prefix", json_find_string(model, "continuing_subword_prefix", pieces ? "##" : ""));
    write_text(w, "orchard.tokenizer.suffix", json_find_string(model, "end_of_word_suffix", ""));
    gguf_write_u32(w, "orchard.tokenizer.word_max",
                   pieces ? (uint32_t)json_find_integer(model, "max_input_chars_per_word", 0, INT32_MAX, 100) : UINT32_MAX);
    gguf_write_bool(w, "orchard.tokenizer.fuse_unknown", json_find_boolean(model, "fuse_unk", false));
    gguf_write_bool(w, "orchard.tokenizer.byte_fallback", v->byte_fallback);
    gguf_write_bool(w, "orchard.tokenizer.whole_words", json_find_boolean(model, "ignore_merges", false));
    gguf_write_array(w, "orchard.tokenizer.added", GGUF_U32, v->count);
    for (uint64_t i = 0; i < v->count; i++)
        gguf_put_u32(w, v->piece[i].flags);
    vocabulary_write_steps(w, top);
}

static void write_vocabulary(struct gguf_writer *w, const struct json_node *top, const struct vocabulary_ends *ends)
{
    const struct json_node model = json_get_object(top, "model");
    struct json_vocabulary v = {0};
    vocabulary_choose_form(&v, top, &model);
    const bool pairs = !v.model || strcmp(v.model, "bpe") == 0;
    const struct json_node merges =
        pairs ? json_get_array(&model, "merges", 0, MERGES_MAX) : json_find_array(&model, "merges", 0, MERGES_MAX);
    if (json_ok(top))
        read_tokens(&v, top, &model);
    if (json_ok(top) && v.byte_fallback && !v.model)
        score_pieces(&v, &model, &merges);
    vocabulary_find_frame(&v, top);
    if (v.byte_fallback && !v.model)
        vocabulary_find_space(&v, top);
    v.add_space = v.add_space || v.model;
    if (json_ok(top)) {
        write_text(w, "tokenizer.ggml.model", v.model ? "steps" : v.byte_fallback ? "llama" : "gpt2");
        write_pieces(w, &v);
        write_meanings(w, &v, &model, ends);
    }
    if (json_ok(top) && v.family)
        gguf_write_string(w, "tokenizer.ggml.pre", v.family, strcspn(v.family, " "));
    if (json_ok(top) && pairs && (v.family || v.model))
        write_merges(w, &merges);
    if (json_ok(top) && v.model)
        write_plan(w, &v, top, &model);
    free(v.piece);
}

/* Vocabularies are larger than the documents that json_reader_open takes. */
static json_object *parse(const char *file, const char *text, size_t size, struct orch_error *error)
{
    json_tokener *const tokener = size > TEXT_BYTES_MAX ? NULL : json_tokener_new_ex(DEPTH);
    if (!tokener) {
        if (size > TEXT_BYTES_MAX)
            orch_fail(error, ORCH_USAGE, "%.300s: larger than %d MiB", file, TEXT_BYTES_MAX >> 20);
        else
            orch_no_memory(error);
        return NULL;
    }
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    json_object *const root = json_tokener_parse_ex(tokener, text, (int)size + 1);
    if (!json_object_is_type(root, json_type_object))
        orch_fail(error, ORCH_USAGE, "%.300s: no JSON object, at byte %zu: %s", file, json_tokener_get_parse_end(tokener),
                  json_tokener_error_desc(json_tokener_get_error(tokener)));
    json_tokener_free(tokener);
    if (json_object_is_type(root, json_type_object))
        return root;
    json_object_put(root);
    return NULL;
}

uint8_t *vocabulary_of_json(const char *file, const char *text, size_t size, const struct vocabulary_ends *ends,
                            size_t *gguf_size, struct orch_error *error)
{
    struct gguf_writer w = {0};
    json_object *const root = parse(file, text, size, error);
    if (!root)
        return NULL;
    struct json_reader reader = json_reader_of(file, root, error);
    reader.null_is_absent = true;
    const struct json_node top = json_top(&reader);
    write_vocabulary(&w, &top, ends);
    if (json_reader_close(&reader))
        return gguf_write_end(&w, gguf_size, error);
    free(w.byte);
    return NULL;
}
