/* Operations on sequences: [batch, places, width], with heads [batch, heads, places, width of one]. */
#include "sim/base/distance_bucket.h"
#include "sim/network/zoo/zoo_internal.h"

#include <math.h>
#include <string.h>

static bool linear(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    (void)word;
    return zoo_linear(z, z->current, zoo_number(a, 0, 1), zoo_key(a, "b", 1) != 0);
}

/* norm, rms: over the width. */
static bool norm(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    const int64_t width = zoo_dim(z, z->current, -1);
    const bool offset = strcmp(word, "LayerNormalization") == 0;
    const net_id input[3] = {z->current, zoo_filled(z, width, 1, true), offset ? zoo_filled(z, width, 0, true) : NET_NONE};
    struct net_node *const node = zoo_node(z, word, input, offset ? 3 : 2, 1);
    (void)a;
    return zoo_put(z, node && net_set_int(node, "axis", -1) && net_set_real(node, "epsilon", 1e-5) ? node : NULL);
}

/* gelu, gelu:tanh */
static bool gelu(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    struct net_node *const node = zoo_node(z, word, &z->current, 1, 1);
    return zoo_put(z, node && (!zoo_text(a, 0) || net_set_text(node, "approximate", zoo_text(a, 0))) ? node : NULL);
}

/* embed:ROWS,WIDTH: a row for each whole number; the table may be used again (tied). */
static bool embed(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    const int64_t shape[2] = {zoo_number(a, 0, 1), zoo_number(a, 1, 1)};
    const net_id table = zoo_weight(z, shape, 2, shape[1]), input[2] = {table, z->current};
    return zoo_name(z, "table", table) && zoo_put(z, zoo_node(z, word, input, 2, 1));
}

/* again: the table of the embedding before this one. */
static bool embed_again(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    const net_id input[2] = {zoo_named(z, "table"), z->current};
    (void)a;
    return input[0] != NET_NONE && zoo_put(z, zoo_node(z, word, input, 2, 1));
}

/* tied: a number for each row of the table of embeddings. */
static bool tied(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    static const int64_t turned[2] = {1, 0};
    const net_id x = z->current, table = zoo_named(z, "table");
    (void)a;
    return table != NET_NONE && zoo_transpose(z, table, turned, 2) && zoo_two(z, word, x, z->current);
}

/* places:MOST: a row for each place is added; types:KINDS: that of the first kind. */
static bool add_rows(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    const net_id x = z->current;
    const int64_t shape[2] = {zoo_number(a, 0, 1), zoo_dim(z, x, -1)}, rows = *word ? 1 : zoo_dim(z, x, -2);
    const net_id table = zoo_weight(z, shape, 2, shape[1]);
    return (rows <= shape[0] || zoo_fail(z, "at most %lld places", (long long)shape[0])) && zoo_slice(z, table, 0, rows, 0) &&
           zoo_two(z, "Add", x, z->current);
}

/* class: a row of weights in front. */
static bool add_class(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    const int64_t shape[3] = {1, 1, zoo_dim(z, z->current, -1)}, batch[3] = {zoo_dim(z, z->current, 0), 1, shape[2]};
    const net_id x = z->current;
    (void)a;
    if (!zoo_two(z, "Expand", zoo_weight(z, shape, 3, shape[2]), zoo_integers(z, batch, 3)))
        return false;
    const net_id input[2] = {z->current, x};
    struct net_node *const node = zoo_node(z, word, input, 2, 1);
    return zoo_put(z, node && net_set_int(node, "axis", 1) ? node : NULL);
}

/* tokens: an image's places as a sequence; image:ROWS: back. */
static bool to_tokens(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    static const int64_t turned[3] = {0, 2, 1};
    const net_id x = z->current;
    const int64_t flat[3] = {zoo_dim(z, x, 0), zoo_dim(z, x, 1), zoo_dim(z, x, 2) * zoo_dim(z, x, 3)};
    (void)a;
    (void)word;
    return zoo_reshape(z, x, flat, 3) && zoo_transpose(z, z->current, turned, 3);
}

static bool to_image(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    static const int64_t turned[3] = {0, 2, 1};
    const net_id x = z->current;
    const int64_t rows = zoo_number(a, 0, 1), shape[4] = {zoo_dim(z, x, 0), zoo_dim(z, x, 2), rows, zoo_dim(z, x, 1) / rows};
    (void)word;
    return zoo_transpose(z, x, turned, 3) && zoo_reshape(z, z->current, shape, 4);
}

/* heads:N, merge. Of one place, heads:N,g=GROUP has queries that share keys as places of one head, and merge:1 puts them back. */
static bool heads(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    static const int64_t order[4] = {0, 2, 1, 3};
    const net_id x = z->current;
    const int64_t n = zoo_number(a, 0, 1), shape[4] = {zoo_dim(z, x, 0), zoo_dim(z, x, 1), n, zoo_dim(z, x, 2) / n};
    const int64_t group = zoo_key(a, "g", 0);
    (void)word;
    if (group) {
        const int64_t shared[4] = {shape[0], n, group, shape[3] / group};
        return (shape[1] == 1 || zoo_fail(z, "groups of queries are of one place")) && zoo_reshape(z, x, shared, 4);
    }
    return zoo_reshape(z, x, shape, 4) && zoo_transpose(z, z->current, order, 4);
}

static bool merge(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    static const int64_t order[4] = {0, 2, 1, 3};
    const net_id x = z->current;
    const int64_t shape[3] = {zoo_dim(z, x, 0), zoo_dim(z, x, 2), zoo_dim(z, x, 1) * zoo_dim(z, x, 3)};
    const int64_t one[3] = {shape[0], 1, shape[1] * shape[2]};
    (void)word;
    if (zoo_number(a, 0, 0) == 1)
        return zoo_reshape(z, x, one, 3);
    return zoo_transpose(z, x, order, 4) && zoo_reshape(z, z->current, shape, 3);
}

/* behind:NAME puts the rows of the current heads behind those of a value. */
static bool behind(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    const net_id input[2] = {zoo_named(z, zoo_text(a, 0)), z->current};
    if (input[0] == NET_NONE)
        return false;
    struct net_node *const node = zoo_node(z, word, input, 2, 1);
    return zoo_put(z, node && net_set_int(node, "axis", -2) ? node : NULL);
}

/* attend:Q,K,V[,m=MASK][,scaled=0|1|2]: 1 scales the products (if nothing is said), 2 the queries before */
static bool attend(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    static const int64_t turned[4] = {0, 1, 3, 2};
    const net_id q = zoo_named(z, zoo_text(a, 0)), k = zoo_named(z, zoo_text(a, 1)), v = zoo_named(z, zoo_text(a, 2));
    const char *const mask_name = zoo_key_text(a, "m");
    const net_id mask = mask_name ? zoo_named(z, mask_name) : NET_NONE;
    if (q == NET_NONE || k == NET_NONE || v == NET_NONE || (mask_name && mask == NET_NONE))
        return false;
    const int64_t scaled = zoo_key(a, "scaled", 1);
    const double scale = 1 / sqrt((double)zoo_dim(z, q, -1));
    if (scaled == 2 && !zoo_two(z, "Mul", q, zoo_scalar(z, scale)))
        return false;
    const net_id queries = scaled == 2 ? z->current : q;
    if (!zoo_transpose(z, k, turned, 4) || !zoo_two(z, "MatMul", queries, z->current))
        return false;
    if (scaled == 1 && !zoo_two(z, "Mul", z->current, zoo_scalar(z, scale)))
        return false;
    if (mask_name && !zoo_two(z, "Add", z->current, mask))
        return false;
    struct net_node *const softmax = zoo_node(z, word, &z->current, 1, 1);
    return zoo_put(z, softmax && net_set_int(softmax, "axis", -1) ? softmax : NULL) && zoo_two(z, "MatMul", z->current, v);
}

/* causal:PLACES,NAME: a mask that hides what comes later. The current value stays. */
static bool causal(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    const int64_t n = zoo_number(a, 0, 1), shape[2] = {n, n};
    struct net_array *const mask = net_array_new(NET_F32, shape, 2, z->error);
    const double hidden = -1e9;
    (void)word;
    for (int64_t i = 0; mask && i < n; i++)
        for (int64_t k = i + 1; k < n; k++)
            net_write_doubles(NET_F32, mask->data, i * n + k, 1, &hidden);
    const net_id id = net_constant_add(z->model, "causal", mask);
    return id != NET_NONE && zoo_name(z, zoo_text(a, 1), id);
}

/* relative:BUCKETS,HEADS,PLACES,NAME[,m=MASK]: what the distance of two places adds to their score. */
static bool relative(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    static const int64_t order[3] = {2, 0, 1}, front = 0;
    const net_id before = z->current;
    const int64_t buckets = zoo_number(a, 0, 32), n = zoo_number(a, 2, 1), table[2] = {buckets, zoo_number(a, 1, 1)},
                  shape[2] = {n, n};
    const char *const mask = zoo_key_text(a, "m");
    struct net_array *const place = net_array_new(NET_I64, shape, 2, z->error);
    for (int64_t i = 0; place && i < n * n; i++) {
        const int64_t number = distance_bucket(i % n - i / n, buckets, !mask);
        net_write_integers(NET_I64, place->data, i, 1, &number);
    }
    const net_id input[2] = {zoo_weight(z, table, 2, 1), net_constant_add(z->model, "buckets", place)};
    bool ok = input[1] != NET_NONE && zoo_put(z, zoo_node(z, word, input, 2, 1)) && zoo_transpose(z, z->current, order, 3) &&
              zoo_two(z, "Unsqueeze", z->current, zoo_integers(z, &front, 1)) &&
              (!mask || zoo_two(z, "Add", z->current, zoo_named(z, mask))) && zoo_name(z, zoo_text(a, 3), z->current);
    z->current = before;
    return ok;
}

/* pick:PLACE of the sequence, from the back when negative. */
static bool pick(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    const int64_t given = zoo_number(a, 0, 0), at = given < 0 ? given + zoo_dim(z, z->current, 1) : given;
    const net_id input[2] = {z->current, zoo_integers(z, &at, 1)};
    struct net_node *const node = zoo_node(z, word, input, 2, 1);
    const int64_t axis = 1;
    return zoo_put(z, node && net_set_int(node, "axis", 1) ? node : NULL) &&
           zoo_two(z, "Squeeze", z->current, zoo_integers(z, &axis, 1));
}

/* parts:A,B...: the width in equal parts of these names. */
static bool parts(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    int64_t part[ZOO_ARGS];
    for (unsigned k = 0; k < a->count; k++)
        part[k] = zoo_dim(z, z->current, -1) / a->count;
    const net_id input[2] = {z->current, zoo_integers(z, part, a->count)};
    struct net_node *const node = zoo_node(z, word, input, 2, a->count);
    bool ok = zoo_put(z, node && net_set_int(node, "axis", -1) ? node : NULL);
    for (unsigned k = 0; ok && k < a->count; k++)
        ok = zoo_name(z, zoo_text(a, k), node->output[k]);
    return ok;
}

/* scale:N: divides by the root of N. */
static bool scale(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    return zoo_two(z, word, z->current, zoo_scalar(z, 1 / sqrt((double)zoo_number(a, 0, 1))));
}

/* channels: a row for each of the batch as what is added to its image. */
static bool by_channel(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    static const int64_t axes[2] = {2, 3};
    (void)a;
    return zoo_two(z, word, z->current, zoo_integers(z, axes, 2));
}

/* temperature: one parameter, the factor of the logarithm. */
static bool temperature(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    const net_id x = z->current, parameter = zoo_filled(z, 1, 2.6592, true);
    (void)a;
    return zoo_one(z, "Exp", parameter) && zoo_two(z, word, x, z->current);
}

/* against:NAME: products of all rows with all rows of the other. */
static bool against(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    static const int64_t turned[2] = {1, 0};
    const net_id x = z->current, other = zoo_named(z, zoo_text(a, 0));
    return other != NET_NONE && zoo_transpose(z, other, turned, 2) && zoo_two(z, word, x, z->current);
}

/* by:NAME: the product with another, of all heads at once. */
static bool by(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    const net_id other = zoo_named(z, zoo_text(a, 0));
    return other != NET_NONE && zoo_two(z, word, z->current, other);
}

/* unit: rows of length 1. */
static bool unit(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    static const int64_t last = -1;
    const net_id x = z->current, input[2] = {x, zoo_integers(z, &last, 1)};
    struct net_node *const node = zoo_node(z, "ReduceL2", input, 2, 1);
    (void)a;
    return zoo_put(z, node && net_set_int(node, "keepdims", 1) ? node : NULL) && zoo_two(z, word, x, z->current);
}

const struct zoo_operation zoo_sequence_operations[] = {
    {"linear", linear, ""},
    {"norm", norm, "LayerNormalization"},
    {"rms", norm, "RMSNormalization"},
    {"gelu", gelu, "Gelu"},
    {"embed", embed, "Gather"},
    {"again", embed_again, "Gather"},
    {"tied", tied, "MatMul"},
    {"places", add_rows, ""},
    {"types", add_rows, "first"},
    {"class", add_class, "Concat"},
    {"tokens", to_tokens, ""},
    {"grid", to_image, ""},
    {"heads", heads, ""},
    {"merge", merge, ""},
    {"attend", attend, "Softmax"},
    {"behind", behind, "Concat"},
    {"causal", causal, ""},
    {"relative", relative, "Gather"},
    {"pick", pick, "Gather"},
    {"parts", parts, "Split"},
    {"scale", scale, "Mul"},
    {"channels", by_channel, "Unsqueeze"},
    {"temperature", temperature, "Mul"},
    {"against", against, "MatMul"},
    {"by", by, "MatMul"},
    {"unit", unit, "Div"},
    {NULL, NULL, NULL},
};
