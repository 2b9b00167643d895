/* Sources: transformers, modeling_bert.py, modeling_distilbert.py and modeling_roberta.py; google-research/bert, modeling.py
 * (what hides tokens is -10000, which halves hold as well). */
#include "sim/network/encoder/encoder.h"

#include "sim/base/file_read.h"
#include "sim/language/safetensors.h"
#include "sim/network/encoder/encoder_config.h"
#include "sim/network/operators/operator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096, NAME_BYTES = 200, OPSET = 20 };

struct encoder {
    struct encoder_config config;
    const struct weight_list *list;
    char prefix[64]; /* of the names of tensors */
    bool *used;      /* by tensor */
    struct net_model *model;
    unsigned nodes;
    net_id ids, mask, seen; /* seen: the mask as numbers */
    bool starved;
    struct orch_error *error;
};

/* ---- files ---- */

static bool is_file(const char *folder, const char *name, char *path)
{
    struct stat st;
    snprintf(path, PATH_BYTES, "%.3900s/%s", folder, name);
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool find_weights(const char *folder, char *path)
{
    return is_file(folder, "model.safetensors", path) || is_file(folder, "model.safetensors.index.json", path);
}

bool encoder_is(const char *path)
{
    enum { CONFIG_MOST = 1 << 22 };
    char name[PATH_BYTES];
    struct stat st;
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode) || !find_weights(path, name) || !is_file(path, "config.json", name))
        return false;
    FILE *const f = fopen(name, "rb");
    const bool known = f && file_read_all(f, CONFIG_MOST, &bytes, &size) && encoder_family_of((const char *)bytes, size);
    if (f)
        fclose(f);
    free(bytes);
    return known;
}

/* ---- tensors ---- */

static bool find_prefix(struct encoder *e)
{
    static const char words[] = "embeddings.word_embeddings.weight";
    for (size_t i = 0; i < e->list->count; i++) {
        const char *const name = e->list->tensor[i].name, *const at = strstr(name, words);
        if (!at || at[sizeof words - 1] || (size_t)(at - name) >= sizeof e->prefix || (at > name && at[-1] != '.'))
            continue;
        memcpy(e->prefix, name, (size_t)(at - name));
        return true;
    }
    return orch_fail(e->error, ORCH_USAGE, "there is no tensor '%s'", words);
}

static const struct weight_tensor *find(struct encoder *e, const char *name)
{
    char full[NAME_BYTES + sizeof e->prefix];
    snprintf(full, sizeof full, "%s%s", e->prefix, name);
    const struct weight_tensor *const t = weight_find(e->list, full);
    if (t)
        e->used[t - e->list->tensor] = true;
    return t;
}

static net_id refuse(struct encoder *e, const char *name, const char *what)
{
    if (!e->error->exit_code)
        orch_fail(e->error, ORCH_USAGE, "tensor '%s%s': %s", e->prefix, name, what);
    e->starved = true;
    return NET_NONE;
}

static bool read_rows(const struct weight_tensor *t, unsigned rows, unsigned columns, float *to)
{
    for (unsigned y = 0; y < rows; y++)
        weight_row(t, y, to + (size_t)y * columns);
    return true;
}

/* Some rows at a time, so that what is written lies together. */
static bool read_turned(const struct weight_tensor *t, unsigned rows, unsigned columns, float *to)
{
    enum { TOGETHER = 16 };
    float *const row = malloc(sizeof *row * columns * TOGETHER);
    for (unsigned y = 0; row && y < rows; y += TOGETHER) {
        const unsigned some = rows - y < TOGETHER ? rows - y : TOGETHER;
        for (unsigned k = 0; k < some; k++)
            weight_row(t, y + k, row + (size_t)k * columns);
        for (unsigned x = 0; x < columns; x++)
            for (unsigned k = 0; k < some; k++)
                to[(size_t)x * rows + y + k] = row[(size_t)k * columns + x];
    }
    free(row);
    return row != NULL;
}

/* A matrix of `rows` of `columns` as a constant, turned where `turns`, or with rows 0 a list of so many numbers. Files of the
 * first generation call the parts of a norm gamma and beta. */
static net_id constant(struct encoder *e, const char *stem, const char *end, const char *old_end, unsigned rows, unsigned columns,
                       bool turns)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s.%s", stem, end);
    const struct weight_tensor *t = find(e, name);
    if (!t && old_end) {
        char other[NAME_BYTES];
        snprintf(other, sizeof other, "%s.%s", stem, old_end);
        t = find(e, other);
    }
    if (!t)
        return refuse(e, name, "is missing");
    if (t->dims != (rows ? 2 : 1) || t->shape[0] != columns || (rows && t->shape[1] != rows))
        return refuse(e, name, "has another shape than config.json says");
    if (!t->format->decode)
        return refuse(e, name, "is of a type that is not read");
    const int64_t shape[2] = {turns ? columns : rows ? rows : columns, turns ? rows : columns};
    struct net_array *const a = net_array_new(NET_F32, shape, rows ? 2 : 1, e->error);
    e->starved |= !a || !(turns ? read_turned : read_rows)(t, rows ? rows : 1, columns, a->data);
    return net_constant_add(e->model, name, a);
}

/* Heads of other tasks stand beside an encoder; anything else would be passed over. */
static bool all_used(struct encoder *e)
{
    static const char *const heads[] = {"cls.", "lm_head.", "classifier.", "pre_classifier.", "qa_outputs.", "vocab_"};
    for (size_t i = 0; i < e->list->count; i++) {
        const char *const name = e->list->tensor[i].name, *const dot = strrchr(name, '.');
        bool known = e->used[i] || (dot && (strcmp(dot, ".position_ids") == 0 || strcmp(dot, ".token_type_ids") == 0));
        for (size_t k = 0; !known && k < sizeof heads / sizeof *heads; k++)
            known = strncmp(name, heads[k], strlen(heads[k])) == 0;
        if (!known)
            return orch_fail(e->error, ORCH_UNMODELLED, "tensor '%.120s' is none of such an encoder", name);
    }
    return true;
}

/* ---- nodes ---- */

static net_id whole(struct encoder *e, const int64_t *number, size_t count)
{
    char name[32];
    snprintf(name, sizeof name, "n%u", e->nodes++);
    return net_constant_add(e->model, name, net_array_of_integers(NET_I64, number, count, e->error));
}

static net_id one(struct encoder *e, int64_t number)
{
    return whole(e, &number, 1);
}

static net_id real(struct encoder *e, double number)
{
    char name[32];
    snprintf(name, sizeof name, "n%u", e->nodes++);
    return net_constant_add(e->model, name, net_array_of_scalar(NET_F32, number, e->error));
}

static struct net_node *begin(struct encoder *e, const char *op, const net_id *in, size_t inputs, const char *name)
{
    char own[64];
    bool whole_list = !e->starved;
    snprintf(own, sizeof own, "%s_%u", op, e->nodes++);
    for (size_t k = 0; k < inputs; k++)
        whole_list &= in[k] != NET_NONE;
    struct net_node *const node = whole_list ? net_node_new(own, op, "", inputs, 1) : NULL;
    e->starved |= !node;
    if (!node)
        return NULL;
    memcpy(node->input, in, inputs * sizeof *in);
    node->version = OPSET;
    node->row = net_operator_find(op, "");
    node->output[0] = net_value_add(e->model, name ? name : own);
    return node;
}

static net_id end(struct encoder *e, struct net_node *node, bool complete)
{
    const net_id out = node ? node->output[0] : NET_NONE;
    const bool there = node && net_graph_insert(e->model->graph, e->model->graph->nodes, node);
    e->starved |= !there || !complete || out == NET_NONE;
    return out;
}

static net_id two(struct encoder *e, const char *op, net_id a, net_id b, const char *name)
{
    return end(e, begin(e, op, (const net_id[]){a, b}, 2, name), true);
}

static net_id along(struct encoder *e, const char *op, const net_id *in, size_t inputs, const char *attribute, int64_t number)
{
    struct net_node *const node = begin(e, op, in, inputs, NULL);
    return end(e, node, node && net_set_int(node, attribute, number));
}

static net_id turned(struct encoder *e, net_id x, const int64_t order[4])
{
    struct net_node *const node = begin(e, "Transpose", &x, 1, NULL);
    return end(e, node, node && net_set_ints(node, "perm", order, 4));
}

static net_id linear(struct encoder *e, const char *stem, net_id x, unsigned inputs, unsigned outputs)
{
    const net_id product = two(e, "MatMul", x, constant(e, stem, "weight", NULL, outputs, inputs, true), NULL);
    return two(e, "Add", product, constant(e, stem, "bias", NULL, 0, outputs, false), NULL);
}

static net_id norm(struct encoder *e, const char *stem, net_id x, const char *name)
{
    const unsigned width = e->config.width;
    const net_id in[3] = {x, constant(e, stem, "weight", "gamma", 0, width, false),
                          constant(e, stem, "bias", "beta", 0, width, false)};
    struct net_node *const node = begin(e, "LayerNormalization", in, 3, name);
    return end(e, node, node && net_set_int(node, "axis", -1) && net_set_real(node, "epsilon", e->config.epsilon));
}

static net_id activation(struct encoder *e, net_id x)
{
    char op[16];
    snprintf(op, sizeof op, "%.*s", (int)strcspn(e->config.activation, " "), e->config.activation);
    struct net_node *const node = begin(e, op, &x, 1, NULL);
    return end(e, node, node && (!strchr(e->config.activation, ' ') || net_set_text(node, "approximate", "tanh")));
}

/* ---- the model ---- */

/* Rows of words, of places, and of the first kind. */
static net_id embed(struct encoder *e)
{
    const struct encoder_config *const c = &e->config;
    const net_id words = constant(e, ENCODER_WORDS, "weight", NULL, c->vocabulary, c->width, false);
    const net_id places = constant(e, ENCODER_PLACES, "weight", NULL, c->places, c->width, false);
    const net_id shape = end(e, begin(e, "Shape", &e->ids, 1, NULL), true);
    const net_id length = two(e, "Gather", shape, one(e, 1), NULL);
    const net_id behind = c->first_place ? two(e, "Add", length, one(e, c->first_place), NULL) : length;
    const net_id rows =
        end(e, begin(e, "Slice", (const net_id[]){places, one(e, c->first_place), behind, one(e, 0)}, 4, NULL), true);
    net_id x = two(e, "Gather", words, e->ids, NULL);
    if (c->kinds) {
        const net_id kinds = constant(e, "embeddings.token_type_embeddings", "weight", NULL, c->kinds, c->width, false);
        x = two(e, "Add", x, two(e, "Gather", kinds, one(e, 0), NULL), NULL);
    }
    return norm(e, "embeddings.LayerNorm", two(e, "Add", x, rows, NULL), NULL);
}

/* A form with the layer in the place of its %u. */
static void name_of(char stem[NAME_BYTES], const char *form, unsigned layer)
{
    const char *const place = strstr(form, "%u");
    snprintf(stem, NAME_BYTES, "%.*s%u%s", (int)(place - form), form, layer, place + 2);
}

static net_id heads_of(struct encoder *e, const char *form, unsigned layer, net_id x)
{
    static const int64_t order[4] = {0, 2, 1, 3};
    const struct encoder_config *const c = &e->config;
    const int64_t shape[4] = {0, 0, c->heads, c->width / c->heads};
    char stem[NAME_BYTES];
    name_of(stem, form, layer);
    return turned(e, two(e, "Reshape", linear(e, stem, x, c->width, c->width), whole(e, shape, 4), NULL), order);
}

static net_id attend(struct encoder *e, unsigned layer, net_id x, net_id hidden)
{
    static const int64_t turn[4] = {0, 1, 3, 2}, order[4] = {0, 2, 1, 3};
    const struct encoder_config *const c = &e->config;
    const struct encoder_family *const f = c->family;
    const net_id q = heads_of(e, f->query, layer, x), k = heads_of(e, f->key, layer, x), v = heads_of(e, f->value, layer, x);
    net_id scores = two(e, "MatMul", q, turned(e, k, turn), NULL);
    scores = two(e, "Mul", scores, real(e, 1 / sqrt((double)c->width / c->heads)), NULL);
    scores = two(e, "Add", scores, hidden, NULL);
    const net_id seen = two(e, "MatMul", along(e, "Softmax", &scores, 1, "axis", -1), v, NULL);
    return two(e, "Reshape", turned(e, seen, order), whole(e, (const int64_t[]){0, 0, c->width}, 3), NULL);
}

static net_id run_layer(struct encoder *e, unsigned layer, net_id x, net_id hidden)
{
    const struct encoder_config *const c = &e->config;
    const struct encoder_family *const f = c->family;
    char stem[NAME_BYTES];
    const net_id attended = attend(e, layer, x, hidden);
    name_of(stem, f->attended, layer);
    const net_id mixed = two(e, "Add", linear(e, stem, attended, c->width, c->width), x, NULL);
    name_of(stem, f->attended_norm, layer);
    const net_id between = norm(e, stem, mixed, NULL);
    name_of(stem, f->up, layer);
    const net_id up = activation(e, linear(e, stem, between, c->width, c->feed_forward));
    name_of(stem, f->down, layer);
    const net_id sum = two(e, "Add", linear(e, stem, up, c->feed_forward, c->width), between, NULL);
    name_of(stem, f->norm, layer);
    return norm(e, stem, sum, layer + 1 == c->layers ? "last_hidden_state" : NULL);
}

static net_id unsqueezed(struct encoder *e, net_id x, const int64_t *axes, size_t count)
{
    return two(e, "Unsqueeze", x, whole(e, axes, count), NULL);
}

/* A token at a place of each text. */
static net_id first_token(struct encoder *e, net_id x)
{
    const net_id row = along(e, "Gather", (const net_id[]){x, one(e, 0)}, 2, "axis", 1);
    return two(e, "Squeeze", row, one(e, 1), NULL);
}

/* The mean of the tokens that are seen. */
static net_id mean_token(struct encoder *e, net_id x)
{
    static const int64_t last = 2;
    const net_id kept = two(e, "Mul", x, unsqueezed(e, e->seen, &last, 1), NULL);
    const net_id sum = along(e, "ReduceSum", (const net_id[]){kept, one(e, 1)}, 2, "keepdims", 0);
    return two(e, "Div", sum, along(e, "ReduceSum", (const net_id[]){e->seen, one(e, 1)}, 2, "keepdims", 1), NULL);
}

static net_id embedding_of(struct encoder *e, net_id x)
{
    const net_id pooled = e->config.pooling == ENCODER_FIRST ? first_token(e, x) : mean_token(e, x);
    if (!e->config.unit_length)
        return end(e, begin(e, "Identity", &pooled, 1, ENCODER_EMBEDDING), true);
    const net_id length = along(e, "ReduceL2", (const net_id[]){pooled, one(e, 1)}, 2, "keepdims", 1);
    return two(e, "Div", pooled, length, ENCODER_EMBEDDING);
}

static void add_output(struct encoder *e, net_id value)
{
    e->starved |= value == NET_NONE || !net_model_add_output(e->model, value);
}

static net_id add_input(struct encoder *e, const char *name)
{
    const net_id id = net_value_add(e->model, name);
    e->starved |= id == NET_NONE;
    if (id == NET_NONE)
        return id;
    e->model->value[id].type = NET_I64;
    e->model->value[id].shape = (struct net_shape){
        .known = true, .dims = 2, .dim = {net_symbol_usual(e->model, "batch", 1), net_symbol(e->model, "sequence")}};
    e->starved |= !net_graph_add_input(e->model->graph, id);
    return id;
}

static void add_all(struct encoder *e)
{
    static const int64_t middle[2] = {1, 2};
    e->ids = add_input(e, ENCODER_IDS);
    e->mask = add_input(e, ENCODER_MASK);
    e->seen = along(e, "Cast", &e->mask, 1, "to", net_type_to_onnx(NET_F32));
    const net_id others = two(e, "Sub", real(e, 1), unsqueezed(e, e->seen, middle, 2), NULL);
    const net_id hidden = two(e, "Mul", others, real(e, -10000), NULL);
    net_id x = embed(e);
    for (unsigned layer = 0; layer < e->config.layers && !e->starved; layer++)
        x = run_layer(e, layer, x, hidden);
    add_output(e, x);
    add_output(e, embedding_of(e, x));
    if (e->starved || !e->config.family->kinds || !find(e, "pooler.dense.weight"))
        return;
    const net_id pooler = linear(e, "pooler.dense", first_token(e, x), e->config.width, e->config.width);
    add_output(e, end(e, begin(e, "Tanh", &pooler, 1, "pooler_output"), true));
}

/* What the answers hang on: dimensions and all weights. */
static uint64_t content_of(const struct encoder *e)
{
    uint64_t h = (uint64_t)e->config.first_place << 32 | (uint64_t)e->config.heads << 2 | (uint64_t)e->config.pooling << 1 |
                 e->config.unit_length;
    for (size_t i = 0; i < e->list->count; i++) {
        const struct weight_tensor *const t = &e->list->tensor[i];
        for (uint64_t at = 0, word = 0; at < t->bytes; at += sizeof word) {
            memcpy(&word, t->data + at, (size_t)(t->bytes - at < sizeof word ? t->bytes - at : sizeof word));
            h = (h ^ word) * UINT64_C(0x100000001b3);
            h ^= h >> 29;
        }
    }
    return h ? h : 1;
}

static struct net_model *build(struct encoder *e, const char *path)
{
    e->used = calloc(e->list->count + 1, sizeof *e->used);
    e->model = net_model_new(path);
    bool ok = (e->used && e->model) || orch_no_memory(e->error);
    if (ok)
        e->model->opset = OPSET;
    ok = ok && find_prefix(e);
    if (ok)
        add_all(e);
    if (ok && e->starved)
        ok = e->error->exit_code ? false : orch_no_memory(e->error);
    ok = ok && all_used(e);
    if (ok)
        e->model->content = content_of(e);
    free(e->used);
    if (ok)
        return e->model;
    net_model_free(e->model);
    return NULL;
}

struct net_model *encoder_load(const char *path, struct orch_error *error)
{
    struct orch_error own = {0};
    struct encoder e = {.error = error ? error : &own};
    char weights[PATH_BYTES];
    if (!encoder_config_read(path, &e.config, e.error))
        return NULL;
    if (!find_weights(path, weights)) {
        orch_fail(e.error, ORCH_USAGE, "%.300s: model.safetensors is missing", path);
        return NULL;
    }
    struct safetensors *const file = safetensors_open(weights, e.error);
    if (!file)
        return NULL;
    e.list = safetensors_weights(file);
    struct net_model *const model = build(&e, path);
    if (!model)
        orch_fail_in(e.error, "%.300s", weights);
    safetensors_close(file);
    return model;
}
