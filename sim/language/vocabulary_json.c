/* tokenizer.json. Format: huggingface/tokenizers, src/tokenizer/serialization.rs and the models, normalizers, pre_tokenizers and
 * processors beside it. */
#include "sim/language/vocabulary_file.h"

#include "isa/array_count.h"
#include "sim/base/json_read.h"
#include "sim/language/gguf_write.h"
#include "sim/language/text_split.h"
#include "sim/language/tokenizer.h"

#include <stdlib.h>
#include <string.h>

enum { TOKENS_MAX = 1 << 22, MERGES_MAX = 1 << 23, STEPS_MAX = 64, TEXT_BYTES_MAX = 1 << 28, DEPTH = 16 };

struct piece {
    const char *text;
    size_t length;
    uint32_t type;
    float score;
};

struct vocabulary {
    struct piece *piece;
    uint64_t count;
    bool byte_fallback; /* SentencePiece's BPE in this form; else BPE of bytes */
    bool add_begin, add_end, add_space;
    const char *family; /* of how texts are split */
};

/* ---- tokens ---- */

static void set_piece(struct vocabulary *v, const struct json_node *node, uint64_t id, const char *text, uint32_t type)
{
    if (!json_ok(node) || id >= TOKENS_MAX)
        return;
    if (id >= v->count) {
        struct piece *const grown = realloc(v->piece, (id + 1) * sizeof *grown);
        if (!grown) {
            node->reader->ok = orch_no_memory(node->reader->error);
            return;
        }
        v->piece = grown;
        for (uint64_t i = v->count; i <= id; i++)
            grown[i] = (struct piece){"", 0, TOKEN_UNUSED, 0};
        v->count = id + 1;
    }
    v->piece[id] = (struct piece){text, strlen(text), type, 0};
}

static bool is_byte(const char *text)
{
    return strlen(text) == 6 && strncmp(text, "<0x", 3) == 0 && text[5] == '>';
}

static void read_tokens(struct vocabulary *v, const struct json_node *top, const struct json_node *model)
{
    const struct json_node vocab = json_get_object(model, "vocab"), added = json_find_array(top, "added_tokens", 0, TOKENS_MAX);
    struct json_node item;
    /* all at once, as each new number would copy what is there */
    const size_t count = json_count(&vocab);
    v->piece = calloc(count + 1, sizeof *v->piece);
    for (v->count = 0; v->piece && v->count < count; v->count++)
        v->piece[v->count] = (struct piece){"", 0, TOKEN_UNUSED, 0};
    for (struct json_walk walk = {.of = &vocab}; json_next(&walk, &item);)
        set_piece(v, &item, json_get_integer(&item, NULL, 0, TOKENS_MAX - 1), item.name,
                  v->byte_fallback && is_byte(item.name) ? TOKEN_BYTE : TOKEN_NORMAL);
    for (struct json_walk walk = {.of = &added}; json_next(&walk, &item);) {
        const uint64_t id = json_get_integer(&item, "id", 0, TOKENS_MAX - 1);
        set_piece(v, &item, id, json_get_string(&item, "content"),
                  json_find_boolean(&item, "special", false) ? TOKEN_CONTROL : TOKEN_USER);
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
static bool score_pieces(struct vocabulary *v, const struct json_node *model, const struct json_node *merges)
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
        struct piece *const p = &v->piece[json_object_get_int64(id)];
        p->score = p->score == -1e9f ? -(float)walk.index : p->score;
    }
    return json_ok(merges);
}

/* ---- how a text is prepared ---- */

/* Steps of a normalizer, pre_tokenizer or post_processor: itself, or what a Sequence lists under `list`. */
struct steps {
    struct json_node step[STEPS_MAX], list;
    size_t count;
};

/* `sequence` and `of` must outlive the steps. */
static void list_steps(const struct json_node *of, const char *list, struct steps *steps)
{
    struct json_node item;
    steps->count = 0;
    if (!of->value)
        return;
    if (strcmp(json_get_string(of, "type"), "Sequence") != 0) {
        steps->step[steps->count++] = *of;
        return;
    }
    steps->list = json_get_array(of, list, 0, STEPS_MAX);
    for (struct json_walk walk = {.of = &steps->list}; json_next(&walk, &item);)
        steps->step[steps->count++] = item;
}

static bool is_step(const struct json_node *step, const char *type)
{
    return strcmp(json_get_string(step, "type"), type) == 0;
}

/* The expression that a step splits by; NULL = it does not, or not by an expression. */
static const char *expression_of(const struct json_node *step)
{
    if (is_step(step, "Split")) {
        const struct json_node pattern = json_get_object(step, "pattern");
        return json_has(&pattern, "Regex") ? json_get_string(&pattern, "Regex") : NULL;
    }
    if (is_step(step, "Digits"))
        return json_find_boolean(step, "individual_digits", false) ? "\\p{N}" : "\\p{N}+";
    const struct split_family *const gpt2 = split_family_named("gpt-2");
    return is_step(step, "ByteLevel") && json_find_boolean(step, "use_regex", true) ? gpt2->expression[0] : NULL;
}

static bool same_expressions(const struct split_family *f, const char *const *expression, size_t count)
{
    size_t i = 0;
    while (i < count && i < SPLIT_EXPRESSIONS_MAX && f->expression[i] && strcmp(f->expression[i], expression[i]) == 0)
        i++;
    return i == count && (i == SPLIT_EXPRESSIONS_MAX || !f->expression[i]);
}

/* The family that splits by the same expressions and takes whole words or not, by the first of its names. */
static void find_family(struct vocabulary *v, const struct json_node *top, const struct json_node *model)
{
    const struct json_node pre = json_find_object(top, "pre_tokenizer");
    const bool whole = json_find_boolean(model, "ignore_merges", false);
    const char *expression[STEPS_MAX];
    const struct split_family *f;
    struct steps steps;
    size_t count = 0;
    list_steps(&pre, "pretokenizers", &steps);
    for (size_t i = 0; i < steps.count; i++)
        if ((expression[count] = expression_of(&steps.step[i])))
            count++;
    for (size_t i = 0; !v->family && (f = split_family_at(i)); i++)
        if (f->whole_words == whole && same_expressions(f, expression, count))
            v->family = f->names;
    for (size_t i = 0; !v->family && (f = split_family_at(i)); i++)
        if (same_expressions(f, expression, count))
            v->family = f->names;
    if (v->family || !json_ok(top))
        return;
    json_wrong(top, "pre_tokenizer", "how it splits texts is not known (%zu expressions, the first %.120s)", count,
               count ? expression[0] : "none");
    top->reader->error->exit_code = ORCH_UNMODELLED;
}

/* Whether words begin with a space that was not there: Prepend, or Metaspace as it usually is. */
static void find_space(struct vocabulary *v, const struct json_node *top)
{
    const struct json_node normal = json_find_object(top, "normalizer"), pre = json_find_object(top, "pre_tokenizer");
    struct steps steps;
    list_steps(&normal, "normalizers", &steps);
    for (size_t i = 0; i < steps.count; i++)
        v->add_space = v->add_space || is_step(&steps.step[i], "Prepend");
    list_steps(&pre, "pretokenizers", &steps);
    for (size_t i = 0; i < steps.count; i++)
        if (is_step(&steps.step[i], "Metaspace"))
            v->add_space = v->add_space || (json_find_boolean(&steps.step[i], "add_prefix_space", true) &&
                                            strcmp(json_find_string(&steps.step[i], "prepend_scheme", "always"), "never") != 0);
}

/* What TemplateProcessing puts around a single text. */
static void find_frame(struct vocabulary *v, const struct json_node *top)
{
    const struct json_node post = json_find_object(top, "post_processor");
    struct json_node item;
    struct steps steps;
    list_steps(&post, "processors", &steps);
    for (size_t i = 0; i < steps.count; i++) {
        if (!is_step(&steps.step[i], "TemplateProcessing"))
            continue;
        const struct json_node single = json_get_array(&steps.step[i], "single", 0, STEPS_MAX);
        bool text = false;
        for (struct json_walk walk = {.of = &single}; json_next(&walk, &item);) {
            text = text || json_has(&item, "Sequence");
            v->add_begin = v->add_begin || (!text && json_has(&item, "SpecialToken"));
            v->add_end = v->add_end || (text && json_has(&item, "SpecialToken"));
        }
    }
}

static bool has_byte_level(const struct json_node *top)
{
    const struct json_node decoder = json_find_object(top, "decoder"), pre = json_find_object(top, "pre_tokenizer");
    struct steps steps;
    bool found = false;
    list_steps(&decoder, "decoders", &steps);
    for (size_t i = 0; i < steps.count; i++)
        found = found || is_step(&steps.step[i], "ByteLevel");
    list_steps(&pre, "pretokenizers", &steps);
    for (size_t i = 0; i < steps.count; i++)
        found = found || is_step(&steps.step[i], "ByteLevel");
    return found;
}

/* ---- the whole ---- */

static void write_pieces(struct gguf_writer *w, const struct vocabulary *v)
{
    gguf_write_array(w, "tokenizer.ggml.tokens", GGUF_STRING, v->count);
    for (uint64_t i = 0; i < v->count; i++)
        gguf_put_string(w, v->piece[i].text, v->piece[i].length);
    gguf_write_array(w, "tokenizer.ggml.token_type", GGUF_U32, v->count);
    for (uint64_t i = 0; i < v->count; i++)
        gguf_put_u32(w, v->piece[i].type);
    if (!v->byte_fallback)
        return;
    gguf_write_array(w, "tokenizer.ggml.scores", GGUF_F32, v->count);
    for (uint64_t i = 0; i < v->count; i++)
        gguf_put_f32(w, v->piece[i].score);
}

static void write_meanings(struct gguf_writer *w, const struct vocabulary *v, const struct json_node *model,
                           const struct vocabulary_ends *ends)
{
    const char *const unknown = json_find_string(model, "unk_token", "");
    json_object *const vocab = json_peek(model->value, "vocab", json_type_object), *const id = *unknown
                                                                                                   ? json_peek(vocab, unknown,
                                                                                                               json_type_int)
                                                                                                   : NULL;
    gguf_write_u32(w, "tokenizer.ggml.bos_token_id", ends->begin);
    gguf_write_u32(w, "tokenizer.ggml.eos_token_id", ends->end);
    gguf_write_u32(w, "tokenizer.ggml.eot_token_id", ends->end_of_turn);
    gguf_write_u32(w, "tokenizer.ggml.unknown_token_id", id ? (uint32_t)json_object_get_int64(id) : TOKEN_NONE);
    gguf_write_bool(w, "tokenizer.ggml.add_bos_token", v->add_begin);
    gguf_write_bool(w, "tokenizer.ggml.add_eos_token", v->add_end);
    gguf_write_bool(w, "tokenizer.ggml.add_space_prefix", v->add_space);
}

static void write_vocabulary(struct gguf_writer *w, const struct json_node *top, const struct vocabulary_ends *ends)
{
    const struct json_node model = json_get_object(top, "model");
    const struct json_node merges = json_get_array(&model, "merges", 0, MERGES_MAX);
    struct vocabulary v = {.byte_fallback = json_find_boolean(&model, "byte_fallback", false)};
    const char *const type = json_find_string(&model, "type", "BPE");
    if (json_ok(top) && (strcmp(type, "BPE") != 0 || (!v.byte_fallback && !has_byte_level(top)))) {
        json_wrong(&model, "type", "\"%.40s\"%s is not read; BPE of bytes, or with byte_fallback, is", type,
                   strcmp(type, "BPE") == 0 ? " of characters" : "");
        top->reader->error->exit_code = ORCH_UNMODELLED;
    }
    if (json_ok(top))
        read_tokens(&v, top, &model);
    if (json_ok(top) && v.byte_fallback)
        score_pieces(&v, &model, &merges);
    find_frame(&v, top);
    v.byte_fallback ? find_space(&v, top) : find_family(&v, top, &model);
    if (json_ok(top)) {
        const char *const name = v.byte_fallback ? "llama" : "gpt2";
        gguf_write_string(w, "tokenizer.ggml.model", name, strlen(name));
        write_pieces(w, &v);
        write_meanings(w, &v, &model, ends);
    }
    if (json_ok(top) && !v.byte_fallback) {
        gguf_write_string(w, "tokenizer.ggml.pre", v.family, strcspn(v.family, " "));
        write_merges(w, &merges);
    }
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
