/* Sources: transformers, modeling_bert.py, modeling_distilbert.py and modeling_roberta.py; google-research/bert, modeling.py
 * (what hides tokens is -10000, which halves hold as well); llama.cpp, src/models/bert.cpp (files of GGUF). */
#include "sim/network/encoder/encoder_internal.h"
#include "sim/network/operators/operator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    node->version = ENCODER_OPSET;
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

static bool has(struct encoder *e, const char *stem, const char *end)
{
    return stem && encoder_find(e, stem, end) != NULL;
}

/* Rows of a product that begin at `first` of `all`. */
struct linear {
    const char *stem;
    unsigned inputs, outputs, first, all;
};

/* Products without a bias are those of families that may lack one. */
static net_id linear_part(struct encoder *e, const struct linear *l, net_id x)
{
    const struct encoder_part weight = {l->stem, "weight", NULL, l->outputs, l->inputs, true, l->first, l->all};
    const struct encoder_part bias = {l->stem, "bias", NULL, 0, l->outputs, false, l->first, l->all};
    const net_id product = two(e, "MatMul", x, encoder_constant(e, &weight), NULL);
    if (e->config.family->bare && !has(e, l->stem, "bias"))
        return product;
    return two(e, "Add", product, encoder_constant(e, &bias), NULL);
}

static net_id linear(struct encoder *e, const char *stem, net_id x, unsigned inputs, unsigned outputs)
{
    return linear_part(e, &(struct linear){stem, inputs, outputs, 0, 0}, x);
}

static net_id norm(struct encoder *e, const char *stem, net_id x, const char *name)
{
    const struct encoder_part scale = {stem, "weight", "gamma", 0, e->config.width, false, 0, 0};
    const struct encoder_part offset = {stem, "bias", "beta", 0, e->config.width, false, 0, 0};
    const net_id in[3] = {x, encoder_constant(e, &scale), encoder_constant(e, &offset)};
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

static net_id unsqueezed(struct encoder *e, net_id x, const int64_t *axes, size_t count)
{
    return two(e, "Unsqueeze", x, whole(e, axes, count), NULL);
}

/* From `first` on, up to `behind`. */
static net_id slice(struct encoder *e, net_id x, int64_t first, net_id behind, int64_t axis)
{
    return end(e, begin(e, "Slice", (const net_id[]){x, one(e, first), behind, one(e, axis)}, 4, NULL), true);
}

/* ---- places ---- */

/* As many rows of a table as a text has tokens. */
static net_id rows_of_text(struct encoder *e, net_id table)
{
    const unsigned first = e->config.first_place;
    return slice(e, table, first, first ? two(e, "Add", e->length, one(e, first), NULL) : e->length, 0);
}

/* What numbers a table of our own has, [places, columns], or [places] with columns 0. */
static net_id table_of(struct encoder *e, const char *name, unsigned columns,
                       double (*number)(const struct encoder *, unsigned, unsigned))
{
    const int64_t shape[2] = {e->config.places, columns};
    struct net_array *const a = net_array_new(NET_F32, shape, columns ? 2 : 1, e->error);
    const unsigned across = columns ? columns : 1;
    for (unsigned y = 0; a && y < e->config.places; y++)
        for (unsigned x = 0; x < across; x++)
            ((float *)a->data)[(size_t)y * across + x] = (float)number(e, y, x);
    e->starved |= !a;
    return net_constant_add(e->model, name, a);
}

/* Pair i of a head turns by base^(-2i / width) for each place; both halves of a head have the same angles. */
static double angle(const struct encoder *e, unsigned place, unsigned column)
{
    const unsigned size = e->config.width / e->config.heads;
    return place * pow(e->config.rotation_base, -2.0 * (column % (size / 2)) / size);
}

static double cosine_of(const struct encoder *e, unsigned place, unsigned column)
{
    return cos(angle(e, place, column));
}

static double sine_of(const struct encoder *e, unsigned place, unsigned column)
{
    return sin(angle(e, place, column));
}

static double place_itself(const struct encoder *e, unsigned place, unsigned column)
{
    (void)e;
    (void)column;
    return place;
}

static void add_rotation(struct encoder *e)
{
    const unsigned size = e->config.width / e->config.heads;
    e->cosine = rows_of_text(e, table_of(e, ENCODER_COSINES, size, cosine_of));
    e->sine = rows_of_text(e, table_of(e, "rotation.sine", size, sine_of));
}

/* Heads look less at what is far away, each by its own slope (Press, Smith, Lewis: ALiBi, arXiv 2108.12409): of n heads, a power
 * of two, 2^(-8/n) to the power of 1 to n; of those beyond it, every other one of twice as many. */
static double slope(unsigned head, unsigned heads)
{
    unsigned n = 1;
    while (2 * n <= heads)
        n *= 2;
    return head < n ? pow(2, -8.0 * (head + 1) / n) : pow(2, -4.0 * (2 * (head - n) + 1) / n);
}

static void add_slopes(struct encoder *e)
{
    static const int64_t first = 0, second = 1;
    const struct encoder_config *const c = &e->config;
    const int64_t shape[3] = {c->heads, 1, 1};
    struct net_array *const slopes = net_array_new(NET_F32, shape, 3, e->error);
    for (unsigned h = 0; slopes && h < c->heads; h++)
        ((float *)slopes->data)[h] = (float)-slope(h, c->heads);
    const net_id row = rows_of_text(e, table_of(e, ENCODER_DISTANCES, 0, place_itself));
    const net_id apart = two(e, "Sub", unsqueezed(e, row, &first, 1), unsqueezed(e, row, &second, 1), NULL);
    const net_id far = end(e, begin(e, "Abs", &apart, 1, NULL), true);
    e->distance = two(e, "Mul", far, net_constant_add(e->model, "slopes", slopes), NULL);
}

/* ---- the model ---- */

/* Rows of words, of places, and of the first kind. */
static net_id embed(struct encoder *e)
{
    const struct encoder_config *const c = &e->config;
    const struct encoder_names *const n = c->family->names;
    const struct encoder_part all = {n->words, "weight", NULL, c->vocabulary, c->width, false, 0, 0};
    net_id x = two(e, "Gather", encoder_constant(e, &all), e->ids, NULL);
    if (c->kinds) {
        const struct encoder_part kinds = {n->kinds, "weight", NULL, c->kinds, c->width, false, 0, 0};
        x = two(e, "Add", x, two(e, "Gather", encoder_constant(e, &kinds), one(e, 0), NULL), NULL);
    }
    if (c->family->distances == ENCODER_TABLE) {
        const struct encoder_part places = {n->places, "weight", NULL, c->places, c->width, false, 0, 0};
        x = two(e, "Add", x, rows_of_text(e, encoder_constant(e, &places)), NULL);
    } else {
        (c->family->distances == ENCODER_ROTATION ? add_rotation : add_slopes)(e);
    }
    return norm(e, n->first_norm, x, NULL);
}

/* A form with the layer in the place of its %u. */
static void name_of(char stem[ENCODER_NAME_BYTES], const char *form, unsigned layer)
{
    const char *const place = strstr(form, "%u");
    snprintf(stem, ENCODER_NAME_BYTES, "%.*s%u%s", (int)(place - form), form, layer, place + 2);
}

/* Whether a layer has a tensor that not all models of the family have. */
static bool layer_has(struct encoder *e, const char *form, unsigned layer, char stem[ENCODER_NAME_BYTES])
{
    if (!form)
        return false;
    name_of(stem, form, layer);
    return has(e, stem, "weight");
}

/* x cos + concat(-x[half:], x[:half]) sin, of each head. */
static net_id rotated(struct encoder *e, net_id x)
{
    const int64_t size = e->config.width / e->config.heads;
    const net_id low = slice(e, x, 0, one(e, size / 2), 3), high = slice(e, x, size / 2, one(e, size), 3);
    const net_id in[2] = {end(e, begin(e, "Neg", &high, 1, NULL), true), low};
    const net_id turned_round = along(e, "Concat", in, 2, "axis", 3);
    return two(e, "Add", two(e, "Mul", x, e->cosine, NULL), two(e, "Mul", turned_round, e->sine, NULL), NULL);
}

/* Queries, keys or values of all heads: the first, second or third of them, where they are one product. */
static net_id heads_of(struct encoder *e, unsigned which, unsigned layer, net_id x)
{
    static const int64_t order[4] = {0, 2, 1, 3};
    const struct encoder_config *const c = &e->config;
    const struct encoder_names *const n = c->family->names;
    const char *const own[3] = {n->query, n->key, n->value}, *const norms[3] = {n->query_norm, n->key_norm, NULL};
    const int64_t shape[4] = {0, 0, c->heads, c->width / c->heads};
    char stem[ENCODER_NAME_BYTES];
    struct linear l = {stem, c->width, c->width, which * c->width, 3 * c->width};
    if (!layer_has(e, n->fused, layer, stem)) {
        name_of(stem, own[which], layer);
        l.first = l.all = 0;
    }
    x = linear_part(e, &l, x);
    if (layer_has(e, norms[which], layer, stem))
        x = norm(e, stem, x, NULL);
    x = turned(e, two(e, "Reshape", x, whole(e, shape, 4), NULL), order);
    return e->cosine != NET_NONE && which < 2 ? rotated(e, x) : x;
}

static net_id attend(struct encoder *e, unsigned layer, net_id x)
{
    static const int64_t turn[4] = {0, 1, 3, 2}, order[4] = {0, 2, 1, 3};
    const struct encoder_config *const c = &e->config;
    const net_id q = heads_of(e, 0, layer, x), k = heads_of(e, 1, layer, x), v = heads_of(e, 2, layer, x);
    net_id scores = two(e, "MatMul", q, turned(e, k, turn), NULL);
    scores = two(e, "Mul", scores, real(e, 1 / sqrt((double)c->width / c->heads)), NULL);
    scores = two(e, "Add", scores, e->hidden, NULL);
    if (e->distance != NET_NONE)
        scores = two(e, "Add", scores, e->distance, NULL);
    const net_id seen = two(e, "MatMul", along(e, "Softmax", &scores, 1, "axis", -1), v, NULL);
    return two(e, "Reshape", turned(e, seen, order), whole(e, (const int64_t[]){0, 0, c->width}, 3), NULL);
}

/* A gate is a matrix of its own, or the first half of the rows of the other one. */
static net_id feed_forward(struct encoder *e, unsigned layer, net_id x)
{
    const struct encoder_config *const c = &e->config;
    const struct encoder_names *const n = c->family->names;
    const unsigned inner = c->feed_forward;
    char up[ENCODER_NAME_BYTES], gate[ENCODER_NAME_BYTES];
    name_of(up, n->up, layer);
    if (layer_has(e, n->gate, layer, gate)) {
        const net_id open = activation(e, linear(e, gate, x, c->width, inner));
        return two(e, "Mul", open, linear(e, up, x, c->width, inner), NULL);
    }
    const struct weight_tensor *const t = n->gate ? encoder_find(e, up, "weight") : NULL;
    if (!t || t->count != (uint64_t)2 * inner * c->width)
        return activation(e, linear(e, up, x, c->width, inner));
    const struct linear first = {up, c->width, inner, 0, 2 * inner}, second = {up, c->width, inner, inner, 2 * inner};
    const net_id open = activation(e, linear_part(e, &first, x));
    return two(e, "Mul", open, linear_part(e, &second, x), NULL);
}

static net_id run_layer(struct encoder *e, unsigned layer, net_id x)
{
    const struct encoder_config *const c = &e->config;
    const struct encoder_names *const n = c->family->names;
    char stem[ENCODER_NAME_BYTES];
    const net_id attended = attend(e, layer, x);
    name_of(stem, n->attended, layer);
    const net_id mixed = two(e, "Add", linear(e, stem, attended, c->width, c->width), x, NULL);
    name_of(stem, n->attended_norm, layer);
    net_id between = norm(e, stem, mixed, NULL);
    if (layer_has(e, n->second_norm, layer, stem))
        between = norm(e, stem, two(e, "Add", between, x, NULL), NULL);
    const net_id inner = feed_forward(e, layer, between);
    name_of(stem, n->down, layer);
    const net_id sum = two(e, "Add", linear(e, stem, inner, c->feed_forward, c->width), between, NULL);
    name_of(stem, n->norm, layer);
    return norm(e, stem, sum, layer + 1 == c->layers ? "last_hidden_state" : NULL);
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

/* What a text of a batch is told apart by: its length, and which tokens are there. */
static void add_inputs(struct encoder *e)
{
    static const int64_t middle[2] = {1, 2};
    e->ids = add_input(e, ENCODER_IDS);
    e->mask = add_input(e, ENCODER_MASK);
    const net_id shape = end(e, begin(e, "Shape", &e->ids, 1, NULL), true);
    e->length = two(e, "Gather", shape, one(e, 1), NULL);
    e->seen = along(e, "Cast", &e->mask, 1, "to", net_type_to_onnx(NET_F32));
    const net_id others = two(e, "Sub", real(e, 1), unsqueezed(e, e->seen, middle, 2), NULL);
    e->hidden = two(e, "Mul", others, real(e, -10000), NULL);
}

void encoder_add_all(struct encoder *e)
{
    const struct encoder_names *const n = e->config.family->names;
    e->distance = e->cosine = e->sine = NET_NONE;
    add_inputs(e);
    net_id x = embed(e);
    for (unsigned layer = 0; layer < e->config.layers && !e->starved; layer++)
        x = run_layer(e, layer, x);
    add_output(e, x);
    if (e->config.pooling != ENCODER_NONE)
        add_output(e, embedding_of(e, x));
    if (e->starved || !has(e, n->pooler, "weight"))
        return;
    const net_id pooler = linear(e, n->pooler, first_token(e, x), e->config.width, e->config.width);
    add_output(e, end(e, begin(e, "Tanh", &pooler, 1, "pooler_output"), true));
}
