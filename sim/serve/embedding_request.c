/* Fields: OpenAI, API reference, "Create embeddings"; llama.cpp, tools/server/README.md, POST /embedding. */
#include "sim/serve/embedding.h"

#include "sim/language/utf8.h"
#include "sim/language/vocabulary_beside.h"
#include "sim/network/encoder/encoder.h"

#include <stdlib.h>
#include <string.h>

static bool find_model(struct embedding_request *e, const struct json_node *top)
{
    const char *const name = json_find_string(top, "model", NULL);
    struct served *const served = e->context->served;
    struct served_model *only = NULL;
    unsigned encoders = 0;
    for (size_t i = 0; i < served_count(served); i++)
        if (served_at(served, i)->vocabulary && ++encoders)
            only = served_at(served, i);
    e->model = name ? served_find(served, name) : NULL;
    if (!e->model && encoders == 1)
        e->model = only;
    if (!e->model)
        return json_wrong(top, "model", "no encoder '%.80s' is served", name ? name : "");
    if (!e->model->vocabulary)
        return json_wrong(top, "model", "'%.80s' is no encoder of texts", e->model->entry.name);
    return encoder_pools(e->model->network) ||
           json_wrong(top, "model", "'%.80s' has rows of tokens and no embedding of a text (pooling_type 0)",
                      e->model->entry.name);
}

/* The next text, whose tokens are added; NULL when there are too many, or memory is out. */
static struct token_list *next_text(struct embedding_request *e, const struct json_node *node)
{
    if (!e->text)
        e->text = calloc(EMBEDDING_TEXTS, sizeof *e->text);
    if (e->text && e->texts < EMBEDDING_TEXTS)
        return &e->text[e->texts++];
    json_wrong(node, NULL, e->text ? "more than %d texts at a time" : "memory is out", (int)EMBEDDING_TEXTS);
    return NULL;
}

static bool check_length(const struct embedding_request *e, const struct json_node *node, const struct token_list *text)
{
    const struct encoder_limits most = encoder_limits_of(e->model->network);
    return text->count <= most.tokens ||
           json_wrong(node, NULL, "has %zu tokens, the model has places for %llu", text->count, (unsigned long long)most.tokens);
}

static bool add_text(struct embedding_request *e, const struct json_node *node)
{
    const char *const text = json_get_string(node, NULL);
    struct token_list *const tokens = json_ok(node) ? next_text(e, node) : NULL;
    size_t wrong;
    if (!tokens)
        return false;
    if (!*text)
        return json_wrong(node, NULL, "is empty");
    if (!utf8_is_valid(text, strlen(text), &wrong))
        return json_wrong(node, NULL, "is no UTF-8 at byte %zu", wrong);
    struct orch_error own = {0};
    if (!tokenizer_encode(vocabulary_beside_tokenizer(e->model->vocabulary), text, strlen(text), TOKENIZE_FRAME, tokens, &own))
        return json_wrong(node, NULL, "%.200s", own.text);
    return check_length(e, node, tokens);
}

/* A text as tokens, which have what stands around them already. */
static bool add_tokens(struct embedding_request *e, const struct json_node *list)
{
    const struct encoder_limits most = encoder_limits_of(e->model->network);
    struct token_list *const tokens = next_text(e, list);
    struct orch_error own = {0};
    struct json_node item;
    bool ok = tokens && (json_count(list) > 0 || json_wrong(list, NULL, "is empty"));
    for (struct json_walk walk = {.of = list}; ok && json_next(&walk, &item);) {
        const uint32_t token = (uint32_t)json_get_integer(&item, NULL, 0, most.words - 1);
        ok = json_ok(&item) && (token_list_add(tokens, token, &own) || json_wrong(list, NULL, "memory is out"));
    }
    return ok && json_ok(list) && check_length(e, list, tokens);
}

/* A text, tokens, or a list of either. */
static bool read_input(struct embedding_request *e, const struct json_node *top)
{
    const char *const name = e->own && json_has(top, "content") ? "content" : "input";
    if (!json_require(top, name, "it is a text or a list of texts"))
        return false;
    const struct json_node input = json_member(top, name);
    struct json_node item;
    if (json_object_is_type(input.value, json_type_string))
        return add_text(e, &input);
    if (!json_object_is_type(input.value, json_type_array))
        return json_wrong(top, name, "is a text, a list of texts, or lists of tokens");
    if (json_count(&input) && json_object_is_type(json_object_array_get_idx(input.value, 0), json_type_int))
        return add_tokens(e, &input);
    for (struct json_walk walk = {.of = &input}; json_next(&walk, &item);)
        if (!(json_object_is_type(item.value, json_type_array) ? add_tokens : add_text)(e, &item))
            return false;
    return json_ok(top) && (e->texts || json_wrong(top, name, "has no text"));
}

static int64_t width_of(const struct served_model *m)
{
    const net_id out = m->shown ? m->shown->graph->output[0] : NET_NONE;
    const struct net_shape *const s = out == NET_NONE ? NULL : &m->shown->value[out].shape;
    return s && s->known && s->dims == 3 ? s->dim[2] : -1;
}

static bool read_form(struct embedding_request *e, const struct json_node *top)
{
    static const char *const formats[] = {"float", "base64"};
    e->base64 = json_has(top, "encoding_format") && json_get_word(top, "encoding_format", formats, 2) == 1;
    const double normal = json_find_number(top, "embd_normalize", -1, 2, 2);
    e->as_is = normal == -1;
    if (json_ok(top) && normal != -1 && normal != 2)
        return json_wrong(top, "embd_normalize", "is 2 (length 1) or -1 (as they are)");
    const int64_t width = width_of(e->model);
    const uint64_t wanted = json_find_integer(top, "dimensions", 1, 1 << 20, 0);
    return json_ok(top) && (!wanted || width < 0 || (int64_t)wanted == width ||
                            json_wrong(top, "dimensions", "is %lld here; embeddings are not shortened", (long long)width));
}

bool embedding_read(struct embedding_request *e, const char *body, size_t size, struct orch_error *error)
{
    struct json_reader reader;
    if (!json_reader_open(&reader, "request", body, size, error))
        return false;
    reader.null_is_absent = true;
    const struct json_node top = json_top(&reader);
    const bool ok = find_model(e, &top) && read_form(e, &top) && read_input(e, &top);
    return json_reader_close(&reader) && ok;
}

void embedding_free(struct embedding_request *e)
{
    for (size_t i = 0; i < e->texts; i++)
        token_list_free(&e->text[i]);
    free(e->text);
}
