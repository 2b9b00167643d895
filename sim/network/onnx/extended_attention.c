/* Attention in the forms of onnxruntime and of ONNX's operator set 23, and rotation. */
#include "sim/network/onnx/extended.h"
#include "sim/network/onnx/extended_heads.h"

static bool too_much(struct onnx_parts *p, size_t first, size_t last, const char *what)
{
    bool there = false;
    for (size_t k = first; k <= last; k++)
        there = there || onnx_part_in(p, k) != NET_NONE;
    if (there)
        onnx_part_refuse(p, ORCH_UNMODELLED, "%s", what);
    return there;
}

/* What was kept of earlier places, in front; along the places. */
static net_id behind(struct onnx_parts *p, net_id past, net_id now)
{
    if (past == NET_NONE)
        return now;
    const net_id all = ONNX_PART(p, "Concat", past, now);
    onnx_part_int(p, "axis", 2);
    return all;
}

/* How many places were kept; NET_NONE = none are. */
static net_id kept(struct onnx_parts *p, net_id past)
{
    return past == NET_NONE ? NET_NONE : onnx_part_length(p, past, 2);
}

/* ---- ONNX 23: Q, K, V, mask, past K, past V -> Y, present K, present V ---- */

void onnx_extend_attention(struct onnx_parts *p)
{
    const int64_t heads = net_attr_int(p->of, "q_num_heads", 0), kv_heads = net_attr_int(p->of, "kv_num_heads", 0);
    const bool flat = onnx_part_dims(p, onnx_part_in(p, 0), heads ? 3 : 4) == 3;
    struct onnx_heads h = {onnx_part_in(p, 0), onnx_part_in(p, 1), onnx_part_in(p, 2), NET_NONE, false, heads, kv_heads, 0, 0};
    if (onnx_part_wanted(p, 3) || onnx_part_in(p, 6) != NET_NONE)
        onnx_part_refuse(p, ORCH_UNMODELLED, "the products as an output, or lengths of keys without padding");
    if (net_attr_int(p->of, "left_window_size", -1) >= 0 || net_attr_int(p->of, "right_window_size", -1) >= 0)
        onnx_part_refuse(p, ORCH_UNMODELLED, "windows of places");
    if (flat && (heads < 1 || kv_heads < 1 || heads % kv_heads))
        onnx_part_refuse(p, ORCH_USAGE, "%lld heads of queries and %lld of keys", (long long)heads, (long long)kv_heads);
    if (flat) {
        h.q = onnx_heads_apart(p, h.q, heads);
        h.k = onnx_heads_apart(p, h.k, kv_heads);
        h.v = onnx_heads_apart(p, h.v, kv_heads);
    }
    const net_id past = onnx_part_in(p, 4);
    h.k = behind(p, past, h.k);
    h.v = behind(p, onnx_part_in(p, 5), h.v);
    h.scale = net_attr_real(p->of, "scale", 0);
    h.softcap = net_attr_real(p->of, "softcap", 0);
    h.mask = onnx_part_in(p, 3);
    h.mask_by_row = h.mask == NET_NONE;
    if (h.mask != NET_NONE && onnx_part_type(p, h.mask) == NET_BOOL)
        h.mask = ONNX_PART(p, "Where", h.mask, onnx_part_number(p, 0), onnx_part_number(p, onnx_mask_lowest(p)));
    if (net_attr_int(p->of, "is_causal", 0))
        h.mask = onnx_mask_both(p, h.mask, onnx_mask_causal(p, h.q, h.k, kept(p, past), onnx_mask_lowest(p)));
    const net_id y = onnx_heads_attend(p, &h);
    onnx_part_give(p, 0, flat ? onnx_heads_together(p, y) : y);
    onnx_part_give(p, 1, h.k);
    onnx_part_give(p, 2, h.v);
}

/* ---- onnxruntime ---- */

/* Which keys count: lengths [B], ones [B, T] or [B, S, T]. */
static net_id padding_mask(struct onnx_parts *p, net_id mask, net_id k)
{
    const double low = net_attr_real(p->of, "mask_filter_value", -10000);
    if (mask == NET_NONE)
        return NET_NONE;
    const unsigned dims = onnx_part_dims(p, mask, 2);
    if (dims == 1)
        return onnx_mask_length(p, mask, k, low);
    if (dims != 2)
        onnx_part_refuse(p, ORCH_UNMODELLED, "a mask of %u dimensions", dims);
    return onnx_mask_kept(p, mask, low);
}

/* The rest of Attention and MultiHeadAttention: masks, scale. */
static net_id finish(struct onnx_parts *p, struct onnx_heads *h, net_id mask, net_id bias, net_id past)
{
    h->scale = net_attr_real(p->of, "scale", 0);
    h->mask = onnx_mask_both(p, bias, padding_mask(p, mask, h->k));
    if (net_attr_int(p->of, "unidirectional", 0))
        h->mask = onnx_mask_both(p, h->mask, onnx_mask_causal(p, h->q, h->k, kept(p, past), onnx_mask_lowest(p)));
    return onnx_heads_together(p, onnx_heads_attend(p, h));
}

/* One half of what was kept of K and V together, [2, B, N, P, D]. */
static net_id half_of_past(struct onnx_parts *p, net_id past, int64_t which)
{
    return past == NET_NONE ? NET_NONE : ONNX_PART(p, "Gather", past, onnx_part_integer(p, which));
}

/* From the three products on; the first output is Y, the second what is kept of K and V. */
static void attend_all(struct onnx_parts *p, net_id all, const int64_t *width, net_id mask, net_id past, net_id bias)
{
    const int64_t heads = net_attr_int(p->of, "num_heads", 0);
    net_id part[3] = {NET_NONE, NET_NONE, NET_NONE};
    onnx_part_split(p, all, width, 3, part);
    struct onnx_heads h = {.q = onnx_heads_apart(p, part[0], heads), .mask = NET_NONE};
    const net_id before = half_of_past(p, past, 0);
    h.k = behind(p, before, onnx_heads_apart(p, part[1], heads));
    h.v = behind(p, half_of_past(p, past, 1), onnx_heads_apart(p, part[2], heads));
    onnx_part_give(p, 0, finish(p, &h, mask, bias, before));
    if (!onnx_part_wanted(p, 1))
        return;
    const net_id zero = onnx_part_ints(p, &(int64_t){0}, 1);
    const net_id both = ONNX_PART(p, "Concat", ONNX_PART(p, "Unsqueeze", h.k, zero), ONNX_PART(p, "Unsqueeze", h.v, zero));
    onnx_part_int(p, "axis", 0);
    onnx_part_give(p, 1, both);
}

/* Columns of the weights that make Q, K and V: as said, or a third each. */
static bool widths(struct onnx_parts *p, net_id weights, int64_t *width)
{
    size_t count;
    const int64_t *const given = net_attr_ints(p->of, "qkv_hidden_sizes", &count);
    const struct net_array *const w = onnx_part_constant(p, weights);
    const int64_t heads = net_attr_int(p->of, "num_heads", 0);
    for (size_t k = 0; k < 3; k++)
        width[k] = given && count == 3 ? given[k] : w && w->dims == 2 ? w->shape[1] / 3 : 0;
    if (heads < 1 || width[0] < 1)
        onnx_part_refuse(p, ORCH_USAGE, "num_heads is %lld, and the weights must be a constant", (long long)heads);
    if (net_attr_int(p->of, "do_rotary", 0))
        onnx_part_refuse(p, ORCH_UNMODELLED, "do_rotary");
    return !p->failed;
}

/* X, W, bias, mask, past, what is added to the scores. */
void onnx_extend_ms_attention(struct onnx_parts *p)
{
    int64_t width[3];
    if (!widths(p, onnx_part_in(p, 1), width) || too_much(p, 6, 6, "past and present in one buffer"))
        return;
    net_id all = ONNX_PART(p, "MatMul", onnx_part_in(p, 0), onnx_part_in(p, 1));
    if (onnx_part_in(p, 2) != NET_NONE)
        all = ONNX_PART(p, "Add", all, onnx_part_in(p, 2));
    attend_all(p, all, width, onnx_part_in(p, 3), onnx_part_in(p, 4), onnx_part_in(p, 5));
}

/* X, W, bias, scales of X and W, mask, zero points of X and W, past. */
void onnx_extend_quantised_attention(struct onnx_parts *p)
{
    int64_t width[3];
    if (!widths(p, onnx_part_in(p, 1), width))
        return;
    const net_id sums =
        ONNX_PART(p, "MatMulInteger", onnx_part_in(p, 0), onnx_part_in(p, 1), onnx_part_in(p, 6), onnx_part_in(p, 7));
    const net_id scale = ONNX_PART(p, "Mul", onnx_part_in(p, 3), onnx_part_in(p, 4));
    const net_id numbers = ONNX_PART(p, "Cast", sums);
    onnx_part_int(p, "to", net_type_to_onnx(NET_F32));
    const net_id all = ONNX_PART(p, "Add", ONNX_PART(p, "Mul", numbers, scale), onnx_part_in(p, 2));
    attend_all(p, all, width, onnx_part_in(p, 5), onnx_part_in(p, 8), NET_NONE);
}

/* Q, K and V behind one another for each head, [B, S, N, 3, D]. */
static net_id of_packed(struct onnx_parts *p, net_id packed, int64_t which)
{
    const net_id one = ONNX_PART(p, "Gather", packed, onnx_part_integer(p, which));
    onnx_part_int(p, "axis", 3);
    return onnx_part_turn(p, one, (const int64_t[]){0, 2, 1, 3}, 4);
}

/* A third of the bias on what is [B, S, N D], or on what is apart already none. */
static net_id with_bias(struct onnx_parts *p, net_id x, net_id bias)
{
    return bias == NET_NONE ? x : ONNX_PART(p, "Add", x, bias);
}

/* Q, K, V, bias, mask, what is added to the scores, past K, past V. */
void onnx_extend_multi_head_attention(struct onnx_parts *p)
{
    const int64_t heads = net_attr_int(p->of, "num_heads", 0);
    const net_id q = onnx_part_in(p, 0), k = onnx_part_in(p, 1), v = onnx_part_in(p, 2), bias = onnx_part_in(p, 3);
    const struct net_array *const all_bias = onnx_part_constant(p, bias);
    net_id part[3] = {NET_NONE, NET_NONE, NET_NONE};
    struct onnx_heads h = {.mask = NET_NONE};
    if (heads < 1)
        onnx_part_refuse(p, ORCH_USAGE, "num_heads is %lld", (long long)heads);
    if (too_much(p, 8, 9, "past and present in one buffer, or cache_indirection"))
        return;
    if (bias != NET_NONE && (!all_bias || k == NET_NONE || all_bias->count % 3))
        onnx_part_refuse(p, ORCH_UNMODELLED, "a bias that is no constant of three equal parts, or of packed operands");
    if (bias != NET_NONE && !p->failed)
        onnx_part_split(p, bias, (const int64_t[]){all_bias->count / 3, all_bias->count / 3, all_bias->count / 3}, 3, part);
    if (k == NET_NONE) { /* all three in one */
        h.q = of_packed(p, q, 0);
        h.k = of_packed(p, q, 1);
        h.v = of_packed(p, q, 2);
    } else {
        const bool apart = onnx_part_dims(p, k, 3) == 4;
        h.q = onnx_heads_apart(p, with_bias(p, q, part[0]), heads);
        h.k = v == NET_NONE ? of_packed(p, k, 0) : apart ? k : onnx_heads_apart(p, with_bias(p, k, part[1]), heads);
        h.v = v == NET_NONE ? of_packed(p, k, 1) : apart ? v : onnx_heads_apart(p, with_bias(p, v, part[2]), heads);
    }
    h.k = behind(p, onnx_part_in(p, 6), h.k);
    h.v = behind(p, onnx_part_in(p, 7), h.v);
    onnx_part_give(p, 0, finish(p, &h, onnx_part_in(p, 4), onnx_part_in(p, 5), onnx_part_in(p, 6)));
    onnx_part_give(p, 1, h.k);
    onnx_part_give(p, 2, h.v);
}

/* ---- groups of queries with one key ---- */

/* Rows of tables of cosines and sines for the places from `past` on, [1, S, D / 2], or for given ones [B, S]. */
static net_id rows_of(struct onnx_parts *p, net_id table, net_id x, net_id past, net_id given)
{
    if (given != NET_NONE)
        return ONNX_PART(p, "Gather", table, given);
    net_id place = ONNX_PART(p, "Range", onnx_part_integer(p, 0), ONNX_PART(p, "Squeeze", onnx_part_length(p, x, 2)),
                             onnx_part_integer(p, 1));
    if (past != NET_NONE)
        place = ONNX_PART(p, "Add", place, past);
    return ONNX_PART(p, "Gather", table, ONNX_PART(p, "Unsqueeze", place, onnx_part_ints(p, &(int64_t){0}, 1)));
}

/* Keys that are `window` places or more before the query. */
static net_id window_mask(struct onnx_parts *p, const struct onnx_heads *h, net_id past, int64_t window)
{
    const net_id reach = onnx_part_ints(p, &(int64_t){-window}, 1);
    const net_id from = past == NET_NONE ? reach : ONNX_PART(p, "Add", past, reach);
    const net_id length = ONNX_PART(p, "Squeeze", onnx_part_length(p, h->k, 2)), zero = onnx_part_integer(p, 0);
    const net_id column = ONNX_PART(p, "Range", zero, length, onnx_part_integer(p, 1));
    const net_id rows =
        ONNX_PART(p, "Range", zero, ONNX_PART(p, "Squeeze", onnx_part_length(p, h->q, 2)), onnx_part_integer(p, 1));
    const net_id first = ONNX_PART(p, "Add", ONNX_PART(p, "Unsqueeze", rows, onnx_part_ints(p, &(int64_t){1}, 1)), from);
    return ONNX_PART(p, "Where", ONNX_PART(p, "Greater", column, first), onnx_part_number(p, 0),
                     onnx_part_number(p, onnx_mask_lowest(p)));
}

/* Sequences of several lengths have their own places in what is kept. */
static void refuse_ragged(struct onnx_parts *p)
{
    const struct net_array *const last = onnx_part_constant(p, onnx_part_in(p, 5));
    for (int64_t k = 1; last && k < last->count; k++)
        if (net_array_integer(last, k) != net_array_integer(last, 0))
            onnx_part_refuse(p, ORCH_UNMODELLED, "sequences of %lld and %lld places in one batch",
                             (long long)net_array_integer(last, 0) + 1, (long long)net_array_integer(last, k) + 1);
}

/* Q (or all three), K, V, past K, past V, last places, how many there are at most, cosines, sines, places, what is added. All
 * sequences of a batch are taken to be as long as the arrays. */
void onnx_extend_group_query_attention(struct onnx_parts *p)
{
    const int64_t heads = net_attr_int(p->of, "num_heads", 0), kv = net_attr_int(p->of, "kv_num_heads", 0);
    const int64_t window = net_attr_int(p->of, "local_window_size", -1);
    net_id q = onnx_part_in(p, 0), k = onnx_part_in(p, 1), v = onnx_part_in(p, 2);
    const net_id past = onnx_part_in(p, 3);
    struct onnx_heads h = {.heads = heads, .kv_heads = kv, .mask = onnx_part_in(p, 10)};
    if (heads < 1 || kv < 1 || heads % kv)
        onnx_part_refuse(p, ORCH_USAGE, "%lld heads of queries and %lld of keys", (long long)heads, (long long)kv);
    if (too_much(p, 11, 13, "head_sink, or scales of a quantised cache") || net_attr_int(p->of, "smooth_softmax", 0))
        onnx_part_refuse(p, ORCH_UNMODELLED, "a softmax with a sink");
    refuse_ragged(p);
    if (k == NET_NONE) { /* heads behind one another */
        const net_id all = onnx_heads_apart(p, q, heads + 2 * kv);
        h.q = onnx_part_slice(p, all, 0, heads, 1);
        h.k = onnx_part_slice(p, all, heads, heads + kv, 1);
        h.v = onnx_part_slice(p, all, heads + kv, heads + 2 * kv, 1);
    } else {
        h.q = onnx_heads_apart(p, q, heads);
        h.k = onnx_heads_apart(p, k, kv);
        h.v = onnx_heads_apart(p, v, kv);
    }
    if (net_attr_int(p->of, "do_rotary", 0)) {
        const net_id c = rows_of(p, onnx_part_in(p, 7), h.q, kept(p, past), onnx_part_in(p, 9));
        const net_id s = rows_of(p, onnx_part_in(p, 8), h.q, kept(p, past), onnx_part_in(p, 9));
        const bool interleaved = net_attr_int(p->of, "rotary_interleaved", 0) != 0;
        h.q = onnx_rotated(p, h.q, c, s, interleaved, 0);
        h.k = onnx_rotated(p, h.k, c, s, interleaved, 0);
    }
    h.k = behind(p, past, h.k);
    h.v = behind(p, onnx_part_in(p, 4), h.v);
    h.scale = net_attr_real(p->of, "scale", 0);
    h.softcap = net_attr_real(p->of, "softcap", 0);
    h.mask_by_row = h.mask == NET_NONE;
    h.mask = onnx_mask_both(p, h.mask, onnx_mask_causal(p, h.q, h.k, kept(p, past), onnx_mask_lowest(p)));
    if (window > 0)
        h.mask = onnx_mask_both(p, h.mask, window_mask(p, &h, kept(p, past), window));
    onnx_part_give(p, 0, onnx_heads_together(p, onnx_heads_attend(p, &h)));
    onnx_part_give(p, 1, h.k);
    onnx_part_give(p, 2, h.v);
}
