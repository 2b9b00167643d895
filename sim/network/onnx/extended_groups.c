/* GroupQueryAttention: lengths of sequences are numbers of the run, and what is kept may be a buffer of the greatest length.
 * Facts of microsoft/onnxruntime, docs/ContribOperators.md; what is left open there (which rows are zeros, where a prompt begins)
 * is as its CPU computes it (tests/golden/exporters). */
#include "sim/network/onnx/extended.h"
#include "sim/network/onnx/extended_heads.h"

/* Rows that each sequence has before its new ones [B], and how many there are at most. */
struct kept {
    net_id first, total;
};

static net_id as_places(struct onnx_parts *p, net_id number)
{
    const net_id wide = ONNX_PART(p, "Cast", number);
    onnx_part_int(p, "to", net_type_to_onnx(NET_I64));
    return wide;
}

static net_id length_of(struct onnx_parts *p, net_id x, int64_t axis)
{
    return ONNX_PART(p, "Squeeze", onnx_part_length(p, x, axis));
}

static net_id counted(struct onnx_parts *p, net_id length)
{
    return ONNX_PART(p, "Range", onnx_part_integer(p, 0), length, onnx_part_integer(p, 1));
}

static net_id unsqueezed(struct onnx_parts *p, net_id x, const int64_t *axes, size_t count)
{
    return ONNX_PART(p, "Unsqueeze", x, onnx_part_ints(p, axes, count));
}

/* What was kept (NET_NONE = nothing) with the new rows behind, [B, N, total, D]. */
static net_id kept_rows(struct onnx_parts *p, const struct kept *kept, net_id past, net_id now)
{
    return past == NET_NONE ? ONNX_PART(p, ".CacheRows", now, kept->first, kept->total)
                            : ONNX_PART(p, ".CacheRows", now, kept->first, kept->total, past);
}

/* The buffer that these rows stay in. */
static net_id kept_buffer(struct onnx_parts *p, net_id past, net_id rows)
{
    return past == NET_NONE ? rows : ONNX_PART(p, ".CacheBuffer", rows, past);
}

/* A prompt is what has as many new places as there are at most: it begins at 0, and shorter sequences are filled up behind. */
static struct kept kept_of(struct onnx_parts *p, net_id q, net_id last, net_id most)
{
    const net_id now = length_of(p, q, 2), zero = onnx_part_integer(p, 0);
    const net_id total = ONNX_PART(p, "Squeeze", as_places(p, most));
    const net_id length = ONNX_PART(p, "Add", as_places(p, last), onnx_part_integer(p, 1));
    const net_id flat = onnx_part_reshape(p, length, &(int64_t){-1}, 1);
    const net_id is_prompt = ONNX_PART(p, "Equal", total, now);
    return (struct kept){ONNX_PART(p, "Where", is_prompt, zero, ONNX_PART(p, "Sub", flat, now)), total};
}

/* The place of each query, [B, S]. */
static net_id places_of(struct onnx_parts *p, const struct kept *kept, net_id q)
{
    return ONNX_PART(p, "Add", unsqueezed(p, kept->first, &(int64_t){1}, 1), counted(p, length_of(p, q, 2)));
}

/* Keys behind the query's own place, and those that are `window` places or more before it: [B, 1, S, T]. */
static net_id mask_of(struct onnx_parts *p, const struct kept *kept, net_id q, int64_t window)
{
    const net_id row = unsqueezed(p, places_of(p, kept, q), (const int64_t[]){1, 3}, 2), column = counted(p, kept->total);
    net_id seen = ONNX_PART(p, "LessOrEqual", column, row);
    if (window > 0) {
        const net_id from = ONNX_PART(p, "Sub", row, onnx_part_integer(p, window));
        seen = ONNX_PART(p, "And", seen, ONNX_PART(p, "Greater", column, from));
    }
    return ONNX_PART(p, "Where", seen, onnx_part_number(p, 0), onnx_part_number(p, onnx_mask_lowest(p)));
}

/* Q, K, V [B, N, S, D] from three inputs, or from heads behind one another in the first one. */
static void heads_of(struct onnx_parts *p, struct onnx_heads *h)
{
    const net_id q = onnx_part_in(p, 0), k = onnx_part_in(p, 1), v = onnx_part_in(p, 2);
    if (k == NET_NONE) {
        const net_id all = onnx_heads_apart(p, q, h->heads + 2 * h->kv_heads);
        h->q = onnx_part_slice(p, all, 0, h->heads, 1);
        h->k = onnx_part_slice(p, all, h->heads, h->heads + h->kv_heads, 1);
        h->v = onnx_part_slice(p, all, h->heads + h->kv_heads, h->heads + 2 * h->kv_heads, 1);
    } else {
        h->q = onnx_heads_apart(p, q, h->heads);
        h->k = onnx_heads_apart(p, k, h->kv_heads);
        h->v = onnx_heads_apart(p, v, h->kv_heads);
    }
}

static void rotate(struct onnx_parts *p, struct onnx_heads *h, const struct kept *kept)
{
    const net_id given = onnx_part_in(p, 9), place = given == NET_NONE ? places_of(p, kept, h->q) : given;
    const net_id c = ONNX_PART(p, "Gather", onnx_part_in(p, 7), place), s = ONNX_PART(p, "Gather", onnx_part_in(p, 8), place);
    const bool interleaved = net_attr_int(p->of, "rotary_interleaved", 0) != 0;
    h->q = onnx_rotated(p, h->q, c, s, interleaved, 0);
    h->k = onnx_rotated(p, h->k, c, s, interleaved, 0);
}

static void check(struct onnx_parts *p, const struct onnx_heads *h)
{
    if (h->heads < 1 || h->kv_heads < 1 || h->heads % h->kv_heads)
        onnx_part_refuse(p, ORCH_USAGE, "%lld heads of queries and %lld of keys", (long long)h->heads, (long long)h->kv_heads);
    if (onnx_part_in(p, 5) == NET_NONE || onnx_part_in(p, 6) == NET_NONE)
        onnx_part_refuse(p, ORCH_USAGE, "without lengths of sequences (seqlens_k, total_sequence_length)");
    if (onnx_part_in(p, 12) != NET_NONE || onnx_part_in(p, 13) != NET_NONE)
        onnx_part_refuse(p, ORCH_UNMODELLED, "scales of a quantised cache");
    if (onnx_part_wanted(p, 3))
        onnx_part_refuse(p, ORCH_UNMODELLED, "the products as an output");
}

/* Q (or all three), K, V, past K, past V, last places, how many there are at most, cosines, sines, places, what is added, sinks.
 */
void onnx_extend_group_query_attention(struct onnx_parts *p)
{
    struct onnx_heads h = {.heads = net_attr_int(p->of, "num_heads", 0),
                           .kv_heads = net_attr_int(p->of, "kv_num_heads", 0),
                           .mask = onnx_part_in(p, 10),
                           .sink = onnx_part_in(p, 11)};
    const net_id past_k = onnx_part_in(p, 3), past_v = onnx_part_in(p, 4);
    check(p, &h);
    if (p->failed)
        return;
    heads_of(p, &h);
    const struct kept kept = kept_of(p, h.q, onnx_part_in(p, 5), onnx_part_in(p, 6));
    if (net_attr_int(p->of, "do_rotary", 0))
        rotate(p, &h, &kept);
    h.k = kept_rows(p, &kept, past_k, h.k);
    h.v = kept_rows(p, &kept, past_v, h.v);
    h.scale = net_attr_real(p->of, "scale", 0);
    h.softcap = net_attr_real(p->of, "softcap", 0);
    h.has_sink = h.sink != NET_NONE || net_attr_int(p->of, "smooth_softmax", 0) == 1;
    h.mask_by_row = h.mask == NET_NONE;
    h.mask = onnx_mask_both(p, h.mask, mask_of(p, &kept, h.q, net_attr_int(p->of, "local_window_size", -1)));
    const net_id present_k = kept_buffer(p, past_k, h.k), present_v = kept_buffer(p, past_v, h.v);
    onnx_part_give(p, 0, onnx_heads_together(p, onnx_heads_attend(p, &h)));
    onnx_part_give(p, 1, present_k);
    onnx_part_give(p, 2, present_v);
}
