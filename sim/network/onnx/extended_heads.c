#include "sim/network/onnx/extended_heads.h"

#include <string.h>

/* ---- heads ---- */

net_id onnx_heads_apart(struct onnx_parts *p, net_id x, int64_t heads)
{
    const net_id parts = onnx_part_reshape(p, x, (const int64_t[]){0, 0, heads, -1}, 4);
    return onnx_part_turn(p, parts, (const int64_t[]){0, 2, 1, 3}, 4);
}

net_id onnx_heads_together(struct onnx_parts *p, net_id x)
{
    const net_id rows = onnx_part_turn(p, x, (const int64_t[]){0, 2, 1, 3}, 4);
    return onnx_part_reshape(p, rows, (const int64_t[]){0, 0, -1}, 3);
}

static net_id one_more(struct onnx_parts *p, net_id x, int64_t axis)
{
    return ONNX_PART(p, "Unsqueeze", x, onnx_part_ints(p, &axis, 1));
}

static net_id scaled(struct onnx_parts *p, const struct onnx_heads *h, net_id scores)
{
    if (h->scale != 0)
        return ONNX_PART(p, "Mul", scores, onnx_part_number(p, h->scale));
    const net_id width = ONNX_PART(p, "Cast", onnx_part_length(p, h->q, -1));
    onnx_part_int(p, "to", net_type_to_onnx(NET_F32));
    const net_id root = ONNX_PART(p, "Sqrt", width);
    return ONNX_PART(p, "Div", scores, ONNX_PART(p, "CastLike", root, onnx_part_number(p, 1)));
}

/* The rows of a mask for queries whose groups are rows one after another: [.., S, T] as [.., N / M S, T]. */
static net_id grouped_mask(struct onnx_parts *p, const struct onnx_heads *h, net_id mask)
{
    enum { GROUP_MAX = 64 };
    net_id copy[GROUP_MAX];
    const int64_t group = h->heads / h->kv_heads;
    if (h->mask_by_row && group <= GROUP_MAX) {
        for (int64_t k = 0; k < group; k++)
            copy[k] = mask;
        const net_id all = onnx_part(p, "Concat", copy, (size_t)group);
        onnx_part_int(p, "axis", -2);
        return all;
    }
    const net_id front = onnx_part_ints(p, (const int64_t[]){1, h->heads}, 2), last = onnx_part_ints(p, &(int64_t){1}, 1);
    const net_id shape = ONNX_PART(p, "Concat", front, onnx_part_length(p, h->q, 2), last);
    onnx_part_int(p, "axis", 0);
    return onnx_part_reshape(p, ONNX_PART(p, "Expand", mask, shape), (const int64_t[]){0, h->kv_heads, -1, 0}, 4);
}

/* One more column: a score for each head that takes part in the sum and mixes nothing. */
static net_id with_sink(struct onnx_parts *p, const struct onnx_heads *h, net_id scores)
{
    const net_id last = onnx_part_ints(p, &(int64_t){1}, 1), heads = onnx_part_ints(p, &h->heads, 1);
    const net_id shape = ONNX_PART(p, "Concat", onnx_part_length(p, h->q, 0), heads, onnx_part_length(p, h->q, 2), last);
    onnx_part_int(p, "axis", 0);
    const net_id one =
        h->sink == NET_NONE ? onnx_part_number(p, 0) : onnx_part_reshape(p, h->sink, (const int64_t[]){1, h->heads, 1, 1}, 4);
    const net_id all = ONNX_PART(p, "Expand", one, shape);
    const net_id both = ONNX_PART(p, "Concat", scores, onnx_part_reshape(p, all, (const int64_t[]){0, h->kv_heads, -1, 1}, 4));
    onnx_part_int(p, "axis", -1);
    return both;
}

static bool is_grouped(const struct onnx_heads *h)
{
    return h->kv_heads && h->heads != h->kv_heads;
}

static net_id ungrouped(struct onnx_parts *p, const struct onnx_heads *h, net_id x)
{
    return is_grouped(h) ? onnx_part_reshape(p, x, (const int64_t[]){0, h->heads, -1, 0}, 4) : x;
}

/* x, and 0 for queries that see no key. */
static net_id without_empty(struct onnx_parts *p, const struct onnx_heads *h, net_id x)
{
    if (!h->may_be_empty || h->mask == NET_NONE)
        return x;
    const net_id most = ONNX_PART(p, "ReduceMax", h->mask, onnx_part_ints(p, &(int64_t){-1}, 1));
    const net_id some = ONNX_PART(p, "Greater", most, onnx_part_number(p, onnx_mask_lowest(p) / 2));
    return ONNX_PART(p, "Where", some, x, onnx_part_number(p, 0));
}

static void tell_stage(struct onnx_parts *p, const struct onnx_heads *h, int64_t stage, net_id x)
{
    if (h->products && h->stage == stage)
        *h->products = stage == 3 ? without_empty(p, h, ungrouped(p, h, x)) : ungrouped(p, h, x);
}

/* Queries of one group share their keys: they are rows of one product. */
net_id onnx_heads_attend(struct onnx_parts *p, const struct onnx_heads *h)
{
    const bool grouped = is_grouped(h);
    const net_id q = grouped ? onnx_part_reshape(p, h->q, (const int64_t[]){0, h->kv_heads, -1, 0}, 4) : h->q;
    net_id scores = scaled(p, h, ONNX_PART(p, "MatMul", q, onnx_part_turn(p, h->k, (const int64_t[]){0, 1, 3, 2}, 4)));
    tell_stage(p, h, 0, scores);
    if (h->softcap != 0) {
        const net_id cap = onnx_part_number(p, h->softcap);
        scores = ONNX_PART(p, "Mul", ONNX_PART(p, "Tanh", ONNX_PART(p, "Div", scores, cap)), cap);
    }
    tell_stage(p, h, 1, scores);
    if (h->mask != NET_NONE)
        scores = ONNX_PART(p, "Add", scores, grouped ? grouped_mask(p, h, h->mask) : h->mask);
    tell_stage(p, h, 2, scores);
    net_id share = ONNX_PART(p, "Softmax", h->has_sink ? with_sink(p, h, scores) : scores);
    onnx_part_int(p, "axis", -1);
    if (h->has_sink)
        share = onnx_part_slice(p, share, 0, -1, -1);
    tell_stage(p, h, 3, share);
    return without_empty(p, h, ungrouped(p, h, ONNX_PART(p, "MatMul", share, h->v)));
}

/* ---- masks ---- */

double onnx_mask_lowest(const struct onnx_parts *p)
{
    for (size_t k = 0; k < p->of->inputs; k++)
        if (onnx_part_type(p, p->of->input[k]) == NET_F16)
            return -65504;
    return -3.4028234663852886e38;
}

/* 0, 1 ... below a length that is a list of one. */
static net_id counted(struct onnx_parts *p, net_id length)
{
    return ONNX_PART(p, "Range", onnx_part_integer(p, 0), ONNX_PART(p, "Squeeze", length), onnx_part_integer(p, 1));
}

static net_id chosen(struct onnx_parts *p, net_id keep, double low)
{
    return ONNX_PART(p, "Where", keep, onnx_part_number(p, 0), onnx_part_number(p, low));
}

net_id onnx_mask_causal(struct onnx_parts *p, net_id q, net_id k, net_id past, double low)
{
    const net_id column = counted(p, onnx_part_length(p, k, 2));
    net_id row = one_more(p, counted(p, onnx_part_length(p, q, 2)), 1);
    if (past != NET_NONE)
        row = ONNX_PART(p, "Add", row, past);
    return chosen(p, ONNX_PART(p, "LessOrEqual", column, row), low);
}

net_id onnx_mask_kept(struct onnx_parts *p, net_id keep, unsigned dims, double low)
{
    const net_id kept = ONNX_PART(p, "Cast", keep);
    onnx_part_int(p, "to", net_type_to_onnx(NET_BOOL));
    const net_id mask = chosen(p, kept, low);
    return dims == 3 ? one_more(p, mask, 1) : ONNX_PART(p, "Unsqueeze", mask, onnx_part_ints(p, (const int64_t[]){1, 2}, 2));
}

/* Lists of 2 B hold ends and starts; the first B of any are ends. */
net_id onnx_mask_length(struct onnx_parts *p, net_id length, const struct onnx_heads *h, double low)
{
    const net_id list = ONNX_PART(p, "Cast", length);
    onnx_part_int(p, "to", net_type_to_onnx(NET_I64));
    const net_id batch = onnx_part_length(p, h->q, 0), count = onnx_part_length(p, list, 0);
    const net_id shape = ONNX_PART(p, "Concat", batch, onnx_part_ints(p, (const int64_t[]){1, 1, 1}, 3));
    onnx_part_int(p, "axis", 0);
    const net_id is_both = ONNX_PART(p, "Cast", ONNX_PART(p, "Equal", count, ONNX_PART(p, "Add", batch, batch)));
    onnx_part_int(p, "to", net_type_to_onnx(NET_I64));
    const net_id end = ONNX_PART(p, "Slice", list, onnx_part_ints(p, &(int64_t){0}, 1), batch);
    const net_id last = ONNX_PART(p, "Slice", list, ONNX_PART(p, "Sub", count, batch), count);
    const net_id start = ONNX_PART(p, "Mul", last, is_both), column = counted(p, onnx_part_length(p, h->k, 2));
    const net_id before = ONNX_PART(p, "Less", column, ONNX_PART(p, "Reshape", end, shape));
    const net_id behind = ONNX_PART(p, "GreaterOrEqual", column, ONNX_PART(p, "Reshape", start, shape));
    return chosen(p, ONNX_PART(p, "And", before, behind), low);
}

net_id onnx_mask_both(struct onnx_parts *p, net_id a, net_id b)
{
    return a == NET_NONE ? b : b == NET_NONE ? a : ONNX_PART(p, "Add", a, b);
}

/* ---- rotation ---- */

static net_id one_of_pair(struct onnx_parts *p, net_id pairs, int64_t which)
{
    const net_id y = ONNX_PART(p, "Gather", pairs, onnx_part_integer(p, which));
    onnx_part_int(p, "axis", -1);
    return y;
}

static net_id joined(struct onnx_parts *p, net_id a, net_id b)
{
    const net_id y = ONNX_PART(p, "Concat", a, b);
    onnx_part_int(p, "axis", -1);
    return y;
}

/* Neighbours are pairs. */
static net_id rotate_neighbours(struct onnx_parts *p, net_id x, net_id c, net_id s)
{
    const net_id pairs = onnx_part_reshape(p, x, (const int64_t[]){0, 0, 0, -1, 2}, 5);
    const net_id a = one_of_pair(p, pairs, 0), b = one_of_pair(p, pairs, 1);
    const net_id left = ONNX_PART(p, "Sub", ONNX_PART(p, "Mul", a, c), ONNX_PART(p, "Mul", b, s));
    const net_id right = ONNX_PART(p, "Add", ONNX_PART(p, "Mul", b, c), ONNX_PART(p, "Mul", a, s));
    const net_id both = joined(p, one_more(p, left, -1), one_more(p, right, -1));
    return onnx_part_reshape(p, both, (const int64_t[]){0, 0, 0, -1}, 4);
}

net_id onnx_rotated(struct onnx_parts *p, net_id x, net_id cosine, net_id sine, bool interleaved, int64_t width)
{
    const net_id c = one_more(p, cosine, 1), s = one_more(p, sine, 1);
    const net_id part = width ? onnx_part_slice(p, x, 0, width, -1) : x;
    const net_id y =
        interleaved ? rotate_neighbours(p, part, c, s) : ONNX_PART(p, ".RotaryEmbedding", part, joined(p, c, c), joined(p, s, s));
    return width ? joined(p, y, onnx_part_slice(p, x, width, INT64_MAX, -1)) : y;
}
