/* What the attention operators share. */
#ifndef ORCHARD_SIM_NETWORK_ONNX_EXTENDED_HEADS_H
#define ORCHARD_SIM_NETWORK_ONNX_EXTENDED_HEADS_H

#include "sim/network/onnx/parts.h"

/* Queries [B, N, S, D], keys [B, M, T, D], values [B, M, T, E], N a multiple of M; scores get the mask added. */
struct onnx_heads {
    net_id q, k, v;
    net_id mask;      /* NET_NONE = none */
    bool mask_by_row; /* it was made here, as [S, T] or [B, 1, S, T] */
    bool has_sink;    /* one more score for each query, whose value is nothing: 0, or what `sink` [N] says */
    net_id sink;
    int64_t heads, kv_heads; /* N and M; 0 = equal, whatever they are */
    double scale, softcap;   /* 0 = one over the root of D, no cap */
    bool may_be_empty;       /* masks may leave a query no key at all: its result is 0 then */
    net_id *products; /* gets [B, N, S, T] of this stage: 0 = products with their scale, 1 = capped, 2 = masked, 3 = shares; */
    int64_t stage;    /* NULL = nobody asks */
};

/* [B, S, N D] as [B, N, S, D], and back. */
net_id onnx_heads_apart(struct onnx_parts *p, net_id x, int64_t heads);
net_id onnx_heads_together(struct onnx_parts *p, net_id x);
/* softmax(scale Q K^T + mask) V as [B, N, S, E]. */
net_id onnx_heads_attend(struct onnx_parts *p, const struct onnx_heads *h);

/* Masks to add, each perhaps NET_NONE: places behind the query's own, the first of which has as many keys before it as `past`
 * says (NET_NONE = none); where `keep` [B, T] or [B, S, T] is zero; keys from `length` [B] on, or with [2 B] those before the
 * second half, too. `low` is added there. */
net_id onnx_mask_causal(struct onnx_parts *p, net_id q, net_id k, net_id past, double low);
net_id onnx_mask_kept(struct onnx_parts *p, net_id keep, unsigned dims, double low);
net_id onnx_mask_length(struct onnx_parts *p, net_id length, const struct onnx_heads *h, double low);
net_id onnx_mask_both(struct onnx_parts *p, net_id a, net_id b);
/* The most negative number of the node's type. */
double onnx_mask_lowest(const struct onnx_parts *p);

/* Pairs of x [B, N, S, D] turned by angles whose cosines and sines are [B or 1, S, D / 2]; only the first `width` numbers of each
 * row when that is not 0. */
net_id onnx_rotated(struct onnx_parts *p, net_id x, net_id cosine, net_id sine, bool interleaved, int64_t width);

#endif
