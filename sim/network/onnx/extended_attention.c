/* Attention in the forms of onnxruntime and of ONNX's operator set 23, and rotation. */
#include "sim/network/onnx/extended.h"
#include "sim/network/onnx/extended_heads.h"

#include <math.h>

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

/* Heads of what has four dimensions; 0 = they are not known. */
static int64_t heads_in(const struct onnx_parts *p, net_id x)
{
    const struct net_shape *const s = x == NET_NONE ? NULL : &p->model->value[x].shape;
    return s && s->known && s->dims == 4 && s->dim[1] > 0 ? s->dim[1] : 0;
}

/* Queries are the last places of sequences of these lengths [B]: how many places are before them, [B, 1, 1, 1]. */
static net_id before_last(struct onnx_parts *p, net_id length, net_id q)
{
    const net_id before = ONNX_PART(p, "Sub", length, onnx_part_length(p, q, 2));
    return ONNX_PART(p, "Unsqueeze", before, onnx_part_ints(p, (const int64_t[]){1, 2, 3}, 3));
}

/* A mask of fewer places than there are keys: the others are not attended to. */
static net_id lengthened(struct onnx_parts *p, net_id mask, net_id k, double low)
{
    if (mask == NET_NONE || k == NET_NONE)
        return mask;
    const struct net_shape *const m = &p->model->value[mask].shape, *const s = &p->model->value[k].shape;
    if (!m->known || m->dims < 1 || !s->known || s->dims != 4)
        return mask;
    const int64_t have = m->dim[m->dims - 1], want = s->dim[2];
    int64_t pads[2 * NET_DIMS_MAX] = {0};
    if (have < 2 || want <= have) /* one stands for all of them */
        return mask;
    pads[2 * m->dims - 1] = want - have;
    return ONNX_PART(p, "Pad", mask, onnx_part_ints(p, pads, 2 * m->dims), onnx_part_number(p, low));
}

/* ---- ONNX 23: Q, K, V, mask, past K, past V -> Y, present K, present V ---- */

void onnx_extend_attention(struct onnx_parts *p)
{
    const int64_t heads = net_attr_int(p->of, "q_num_heads", 0), kv_heads = net_attr_int(p->of, "kv_num_heads", 0);
    const bool flat = onnx_part_dims(p, onnx_part_in(p, 0), heads ? 3 : 4) == 3;
    struct onnx_heads h = {
        .q = onnx_part_in(p, 0), .k = onnx_part_in(p, 1), .v = onnx_part_in(p, 2), .heads = heads, .kv_heads = kv_heads};
    const net_id length = onnx_part_in(p, 6);
    net_id products = NET_NONE;
    if (net_attr_int(p->of, "left_window_size", -1) >= 0 || net_attr_int(p->of, "right_window_size", -1) >= 0)
        onnx_part_refuse(p, ORCH_UNMODELLED, "windows of places");
    if (flat && (heads < 1 || kv_heads < 1 || heads % kv_heads))
        onnx_part_refuse(p, ORCH_USAGE, "%lld heads of queries and %lld of keys", (long long)heads, (long long)kv_heads);
    if (flat) {
        h.q = onnx_heads_apart(p, h.q, heads);
        h.k = onnx_heads_apart(p, h.k, kv_heads);
        h.v = onnx_heads_apart(p, h.v, kv_heads);
    } else {
        h.heads = heads_in(p, h.q);
        h.kv_heads = h.heads ? heads_in(p, h.k) : 0;
        if (h.kv_heads && h.heads % h.kv_heads)
            onnx_part_refuse(p, ORCH_USAGE, "%lld heads of queries and %lld of keys", (long long)h.heads, (long long)h.kv_heads);
    }
    const net_id past = onnx_part_in(p, 4);
    h.k = behind(p, past, h.k);
    h.v = behind(p, onnx_part_in(p, 5), h.v);
    h.scale = net_attr_real(p->of, "scale", 0);
    h.softcap = net_attr_real(p->of, "softcap", 0);
    h.mask = onnx_part_in(p, 3);
    h.products = onnx_part_wanted(p, 3) ? &products : NULL;
    h.stage = net_attr_int(p->of, "qk_matmul_output_mode", 0);
    const double low = h.products ? -INFINITY : onnx_mask_lowest(p); /* whoever asks for masked products is told the infinity */
    h.may_be_empty = length != NET_NONE || (h.mask != NET_NONE && onnx_part_type(p, h.mask) == NET_BOOL);
    h.mask_by_row = h.mask == NET_NONE && net_attr_int(p->of, "is_causal", 0);
    if (h.mask != NET_NONE && onnx_part_type(p, h.mask) == NET_BOOL)
        h.mask = ONNX_PART(p, "Where", h.mask, onnx_part_number(p, 0), onnx_part_number(p, low));
    else if (h.mask != NET_NONE && onnx_part_type(p, h.mask) != NET_TYPES && !net_type_is_float(onnx_part_type(p, h.mask)))
        h.mask = ONNX_PART(p, "CastLike", h.mask, h.q); /* whole numbers are added to the scores */
    h.mask = lengthened(p, h.mask, h.k, low);
    if (net_attr_int(p->of, "is_causal", 0)) {
        const net_id before = length == NET_NONE ? kept(p, past) : before_last(p, length, h.q);
        h.mask = onnx_mask_both(p, h.mask, onnx_mask_causal(p, h.q, h.k, before, low));
    } else if (length != NET_NONE) {
        h.mask = onnx_mask_both(p, h.mask, onnx_mask_length(p, length, &h, low));
    }
    const net_id y = onnx_heads_attend(p, &h);
    onnx_part_give(p, 0, flat ? onnx_heads_together(p, y) : y);
    onnx_part_give(p, 1, h.k);
    onnx_part_give(p, 2, h.v);
    if (h.products)
        onnx_part_give(p, 3, products);
}

/* ---- onnxruntime ---- */

/* Which keys count: lengths [B], ends and starts [2 B] (with more behind them [3 B + 2], which padding on the right does not
 * need), ones [B, T] or [B, S, T]. */
static net_id padding_mask(struct onnx_parts *p, net_id mask, const struct onnx_heads *h)
{
    const double low = net_attr_real(p->of, "mask_filter_value", -10000);
    if (mask == NET_NONE)
        return NET_NONE;
    const unsigned dims = onnx_part_dims(p, mask, 0);
    if (dims < 1 || dims > 3)
        onnx_part_refuse(p, ORCH_UNMODELLED, "a mask of %u dimensions (0 = it is not known)", dims);
    return dims == 1 ? onnx_mask_length(p, mask, h, low) : onnx_mask_kept(p, mask, dims, low);
}

/* The rest of Attention and MultiHeadAttention: masks, scale; `before` places were kept. */
static net_id finish(struct onnx_parts *p, struct onnx_heads *h, net_id mask, net_id bias, net_id before)
{
    h->scale = net_attr_real(p->of, "scale", 0);
    h->mask = onnx_mask_both(p, bias, padding_mask(p, mask, h));
    if (net_attr_int(p->of, "unidirectional", 0))
        h->mask = onnx_mask_both(p, h->mask, onnx_mask_causal(p, h->q, h->k, before, onnx_mask_lowest(p)));
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
    onnx_part_give(p, 0, finish(p, &h, mask, bias, kept(p, before)));
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
    const net_id past_k = onnx_part_in(p, 6);
    h.k = behind(p, past_k, h.k);
    h.v = behind(p, onnx_part_in(p, 7), h.v);
    onnx_part_give(p, 0, finish(p, &h, onnx_part_in(p, 4), onnx_part_in(p, 5), kept(p, past_k)));
    onnx_part_give(p, 1, h.k);
    onnx_part_give(p, 2, h.v);
}
