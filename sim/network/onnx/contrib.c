/* Operators of the domain com.microsoft, which the decoders of onnxruntime-genai and onnxruntime's optimizer have, as nodes of
 * ONNX's own operators: passes and units then see what they know. Meanings: microsoft/onnxruntime, docs/ContribOperators.md.
 *
 * A batch is taken to be without padding: seqlens_k and total_sequence_length are those of the past and the step. Weights of few
 * bits are widened when the file is read.
 */
#include "sim/network/onnx/contrib_internal.h"

#include "isa/array_count.h"

#include <string.h>

/* ---- norms and activations ---- */

static net_id norm(struct contrib_builder *b, const char *op, net_id x, net_id scale, net_id shift)
{
    const net_id input[] = {x, scale, shift};
    struct net_node *const n = contrib_node(b, op, input, shift != NET_NONE ? 3 : 2, b->from->output[0], 1);
    b->ok = n && ((net_set_real(n, "epsilon", net_attr_real(b->from, "epsilon", 1e-5)) &&
                   net_set_int(n, "axis", net_attr_int(b->from, "axis", -1))) ||
                  orch_no_memory(b->error));
    return b->ok ? n->output[0] : NET_NONE;
}

static void simplified(struct contrib_builder *b)
{
    if (contrib_has_output(b, 1))
        contrib_refuse(b, "its second output");
    norm(b, "RMSNormalization", net_input(b->from, 0), net_input(b->from, 1), NET_NONE);
}

/* The norm of a sum, which is the fourth output. */
static void skip_norm(struct contrib_builder *b, bool layer)
{
    const struct net_node *const f = b->from;
    const net_id bias = net_input(f, layer ? 4 : 3), to = net_output(f, 3);
    if (contrib_has_output(b, 1) || contrib_has_output(b, 2))
        contrib_refuse(b, "an output of mean or deviation");
    net_id sum = contrib_make_into(b, "Add", bias == NET_NONE ? to : NET_NONE, net_input(f, 0), net_input(f, 1), NET_NONE);
    if (bias != NET_NONE)
        sum = contrib_make_into(b, "Add", to, sum, bias, NET_NONE);
    norm(b, layer ? "LayerNormalization" : "RMSNormalization", sum, net_input(f, 2), layer ? net_input(f, 3) : NET_NONE);
}

static void skip_simplified(struct contrib_builder *b)
{
    skip_norm(b, false);
}

static void skip_layer(struct contrib_builder *b)
{
    skip_norm(b, true);
}

static void gelu(struct contrib_builder *b, const char *approximate)
{
    const net_id bias = net_input(b->from, 1);
    const net_id x = bias == NET_NONE ? net_input(b->from, 0) : contrib_make(b, "Add", net_input(b->from, 0), bias);
    struct net_node *const n = contrib_node(b, "Gelu", &x, 1, b->from->output[0], 1);
    b->ok = n && (net_set_text(n, "approximate", approximate) || orch_no_memory(b->error));
}

static void exact_gelu(struct contrib_builder *b)
{
    gelu(b, "none");
}

static void fast_gelu(struct contrib_builder *b)
{
    gelu(b, "tanh");
}

static void quick_gelu(struct contrib_builder *b)
{
    const net_id x = net_input(b->from, 0);
    struct net_node *const n = contrib_node(b, "Swish", &x, 1, b->from->output[0], 1);
    b->ok = n && (net_set_real(n, "alpha", net_attr_real(b->from, "alpha", 1.702)) || orch_no_memory(b->error));
}

/* ---- products with weights of few bits ---- */

enum { SIDE_MOST = 1 << 24 };

struct few_bits {
    const struct net_array *codes, *scales, *zeros;
    int64_t rows, columns, block, blocks, bits, bytes; /* of the result; blocks and bytes: of a column, and of a block */
};

static const struct net_array *constant_of(const struct contrib_builder *b, size_t k)
{
    const net_id id = net_input(b->from, k);
    return id == NET_NONE ? NULL : b->model->value[id].constant;
}

static bool read_few_bits(struct contrib_builder *b, struct few_bits *w)
{
    const struct net_node *const f = b->from;
    *w = (struct few_bits){.codes = constant_of(b, 1),
                           .scales = constant_of(b, 2),
                           .zeros = constant_of(b, 3),
                           .rows = net_attr_int(f, "K", 0),
                           .columns = net_attr_int(f, "N", 0),
                           .block = net_attr_int(f, "block_size", 0),
                           .bits = net_attr_int(f, "bits", 4)};
    if (net_input(f, 4) != NET_NONE)
        contrib_refuse(b, "g_idx, an order of rows,");
    if (!w->codes || !w->scales || (net_input(f, 3) != NET_NONE && !w->zeros) || (w->bits != 4 && w->bits != 8))
        contrib_refuse(b, "weights that are computed, or of other than 4 and 8 bits,");
    if (!b->ok)
        return false;
    const bool sound = w->rows > 0 && w->columns > 0 && w->block >= 16 && (w->block & (w->block - 1)) == 0 &&
                       w->block <= 1 << 16 && w->rows <= SIDE_MOST && w->columns <= SIDE_MOST;
    w->blocks = sound ? (w->rows + w->block - 1) / w->block : 0;
    w->bytes = w->block * w->bits / 8;
    const int64_t packed = w->columns * ((w->blocks * w->bits + 7) / 8);
    if (!sound || w->codes->type != NET_U8 || w->codes->count != w->columns * w->blocks * w->bytes ||
        w->scales->count != w->columns * w->blocks || !net_type_is_float(w->scales->type) ||
        (w->zeros && w->zeros->count != (w->zeros->type == NET_U8 ? packed : w->columns * w->blocks)))
        b->ok = orch_fail(b->error, ORCH_USAGE, "codes, scales or zero points do not make %lld by %lld weights in blocks of %lld",
                          (long long)w->rows, (long long)w->columns, (long long)w->block);
    return b->ok;
}

static unsigned code_at(const uint8_t *bytes, int64_t i, int64_t bits)
{
    return bits == 8 ? bytes[i] : i % 2 ? bytes[i / 2] >> 4 : bytes[i / 2] & 15;
}

static double zero_of(const struct few_bits *w, int64_t column, int64_t block)
{
    if (!w->zeros)
        return (double)(1 << (w->bits - 1));
    if (w->zeros->type != NET_U8)
        return net_array_double(w->zeros, column * w->blocks + block);
    return code_at((const uint8_t *)w->zeros->data + column * ((w->blocks * w->bits + 7) / 8), block, w->bits);
}

/* Columns of codes become rows of [K][N]. */
static struct net_array *widened(const struct few_bits *w, struct orch_error *error)
{
    struct net_array *const a = net_array_new(w->scales->type, (const int64_t[]){w->rows, w->columns}, 2, error);
    for (int64_t n = 0; a && n < w->columns; n++)
        for (int64_t k = 0; k < w->rows; k++) {
            const int64_t block = k / w->block, at = n * w->blocks + block;
            const uint8_t *const codes = (const uint8_t *)w->codes->data + at * w->bytes;
            const double value = (code_at(codes, k % w->block, w->bits) - zero_of(w, n, block)) * net_array_double(w->scales, at);
            net_write_doubles(a->type, a->data, k * w->columns + n, 1, &value);
        }
    return a;
}

static void few_bits(struct contrib_builder *b)
{
    const struct net_node *const f = b->from;
    const net_id bias = net_input(f, 5);
    struct few_bits w;
    if (!read_few_bits(b, &w))
        return;
    const net_id weights = contrib_constant(b, widened(&w, b->error));
    const net_id product =
        contrib_make_into(b, "MatMul", bias == NET_NONE ? f->output[0] : NET_NONE, net_input(f, 0), weights, NET_NONE);
    if (bias != NET_NONE)
        contrib_make_into(b, "Add", f->output[0], product, bias, NET_NONE);
}

/* ---- all ---- */

static const struct contrib {
    const char *op;
    size_t least; /* inputs */
    void (*lower)(struct contrib_builder *b);
} contribs[] = {{"SimplifiedLayerNormalization", 2, simplified},
                {"SkipSimplifiedLayerNormalization", 3, skip_simplified},
                {"SkipLayerNormalization", 3, skip_layer},
                {"RotaryEmbedding", 4, contrib_rotary},
                {"GroupQueryAttention", 7, contrib_grouped},
                {"MatMulNBits", 3, few_bits},
                {"Gelu", 1, exact_gelu},
                {"BiasGelu", 2, exact_gelu},
                {"FastGelu", 1, fast_gelu},
                {"QuickGelu", 1, quick_gelu}};

bool onnx_take_contrib(struct net_model *model, struct net_graph *graph, const struct net_node *from, bool *taken,
                       struct orch_error *error)
{
    struct contrib_builder b = {.model = model, .graph = graph, .from = from, .error = error, .ok = true};
    const bool microsoft = strcmp(from->domain, "com.microsoft") == 0;
    /* onnxruntime has this one in ONNX's own domain. */
    const bool own = !*from->domain && strcmp(from->op, "SimplifiedLayerNormalization") == 0;
    *taken = false;
    for (size_t i = 0; (microsoft || own) && i < ARRAY_COUNT(contribs); i++) {
        if (strcmp(contribs[i].op, from->op) != 0)
            continue;
        *taken = true;
        if (from->inputs < contribs[i].least || !contrib_has_output(&b, 0))
            return orch_fail(error, ORCH_USAGE, "%zu inputs; expected %zu at least, and an output", from->inputs,
                             contribs[i].least);
        for (size_t k = 0; k < contribs[i].least; k++)
            if (from->input[k] == NET_NONE && strcmp(from->op, "GroupQueryAttention") != 0 &&
                !(contribs[i].lower == skip_layer && k == 3))
                return orch_fail(error, ORCH_USAGE, "input %zu is left out", k);
        if (from->input[0] == NET_NONE)
            return orch_fail(error, ORCH_USAGE, "input 0 is left out");
        contribs[i].lower(&b);
        return b.ok;
    }
    return true;
}
