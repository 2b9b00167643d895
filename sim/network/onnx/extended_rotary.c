/* RotaryEmbedding of ONNX's operator set 23 and of onnxruntime. */
#include "sim/network/onnx/extended.h"
#include "sim/network/onnx/extended_heads.h"

/* x is [B, N, S, D], or [B, S, N D] with heads that are told or as wide as the tables say. */
static void rotate(struct onnx_parts *p, net_id cosine, net_id sine, net_id table, int64_t width)
{
    const net_id x = onnx_part_in(p, 0);
    const int64_t heads = net_attr_int(p->of, "num_heads", 0);
    const struct net_array *const known = onnx_part_constant(p, table);
    const bool flat = onnx_part_dims(p, x, 3) == 3, interleaved = net_attr_int(p->of, "interleaved", 0) != 0;
    const int64_t pairs = known && known->dims ? known->shape[known->dims - 1] : 0;
    net_id apart = x;
    if (flat && heads > 0)
        apart = onnx_heads_apart(p, x, heads);
    else if (flat && pairs > 0)
        apart = onnx_part_turn(p, onnx_part_reshape(p, x, (const int64_t[]){0, 0, -1, 2 * pairs}, 4),
                               (const int64_t[]){0, 2, 1, 3}, 4);
    else if (flat)
        onnx_part_refuse(p, ORCH_USAGE, "how many heads there are is not said");
    const net_id y = onnx_rotated(p, apart, cosine, sine, interleaved, width);
    onnx_part_give(p, 0, flat ? onnx_heads_together(p, y) : y);
}

/* x, cosines, sines, places. */
void onnx_extend_rotary(struct onnx_parts *p)
{
    const net_id places = onnx_part_in(p, 3);
    const net_id c = places == NET_NONE ? onnx_part_in(p, 1) : ONNX_PART(p, "Gather", onnx_part_in(p, 1), places);
    const net_id s = places == NET_NONE ? onnx_part_in(p, 2) : ONNX_PART(p, "Gather", onnx_part_in(p, 2), places);
    rotate(p, c, s, onnx_part_in(p, 1), net_attr_int(p->of, "rotary_embedding_dim", 0));
}

/* x, places [B, S] or the first place, cosines, sines. */
void onnx_extend_ms_rotary(struct onnx_parts *p)
{
    net_id places = onnx_part_in(p, 1);
    if (net_attr_real(p->of, "scale", 1) != 1)
        onnx_part_refuse(p, ORCH_UNMODELLED, "scale %g", net_attr_real(p->of, "scale", 1));
    if (onnx_part_dims(p, places, 2) < 2) {
        const net_id x = onnx_part_in(p, 0), length = onnx_part_length(p, x, onnx_part_dims(p, x, 3) == 3 ? 1 : 2);
        const net_id steps =
            ONNX_PART(p, "Range", onnx_part_integer(p, 0), ONNX_PART(p, "Squeeze", length), onnx_part_integer(p, 1));
        places = ONNX_PART(p, "Unsqueeze", ONNX_PART(p, "Add", steps, places), onnx_part_ints(p, &(int64_t){0}, 1));
    }
    const net_id c = ONNX_PART(p, "Gather", onnx_part_in(p, 2), places), s = ONNX_PART(p, "Gather", onnx_part_in(p, 3), places);
    rotate(p, c, s, onnx_part_in(p, 2), net_attr_int(p->of, "rotary_embedding_dim", 0));
}
