/* Normalisation of sums, as fused by onnxruntime's optimizer. */
#include "sim/network/onnx/extended.h"

static net_id sum_of(struct onnx_parts *p, net_id a, net_id b)
{
    return b == NET_NONE ? a : ONNX_PART(p, "Add", a, b);
}

static void refuse_statistics(struct onnx_parts *p, size_t first, size_t last)
{
    for (size_t k = first; k <= last; k++)
        if (onnx_part_wanted(p, k))
            onnx_part_refuse(p, ORCH_UNMODELLED, "output %zu, which is for training", k);
}

static net_id layer_norm(struct onnx_parts *p, net_id x, net_id scale, net_id offset)
{
    const net_id y = ONNX_PART(p, "LayerNormalization", x, scale, offset);
    onnx_part_int(p, "axis", -1);
    onnx_part_real(p, "epsilon", net_attr_real(p->of, "epsilon", 1e-12));
    return y;
}

static net_id rms_norm(struct onnx_parts *p, net_id x, net_id scale, int64_t axis, double epsilon)
{
    const net_id y = ONNX_PART(p, "RMSNormalization", x, scale);
    onnx_part_int(p, "axis", axis);
    onnx_part_real(p, "epsilon", net_attr_real(p->of, "epsilon", epsilon));
    return y;
}

void onnx_extend_simplified_layer_norm(struct onnx_parts *p)
{
    refuse_statistics(p, 1, 1);
    onnx_part_give(p, 0, rms_norm(p, onnx_part_in(p, 0), onnx_part_in(p, 1), net_attr_int(p->of, "axis", -1), 1e-5));
}

/* Inputs x, skip, scale, offset, bias; the last output is the sum. */
void onnx_extend_skip_layer_norm(struct onnx_parts *p)
{
    refuse_statistics(p, 1, 2);
    const net_id x = sum_of(p, sum_of(p, onnx_part_in(p, 0), onnx_part_in(p, 1)), onnx_part_in(p, 4));
    onnx_part_give(p, 0, layer_norm(p, x, onnx_part_in(p, 2), onnx_part_in(p, 3)));
    onnx_part_give(p, 3, x);
}

void onnx_extend_skip_simplified_layer_norm(struct onnx_parts *p)
{
    refuse_statistics(p, 1, 2);
    const net_id x = sum_of(p, sum_of(p, onnx_part_in(p, 0), onnx_part_in(p, 1)), onnx_part_in(p, 3));
    onnx_part_give(p, 0, rms_norm(p, x, onnx_part_in(p, 2), -1, 1e-12));
    onnx_part_give(p, 3, x);
}

/* Inputs: words, segments, tables of words, places and segments, scale, offset, mask, places. */
void onnx_extend_embed_layer_norm(struct onnx_parts *p)
{
    const net_id words = onnx_part_in(p, 0), segments = onnx_part_in(p, 1), mask = onnx_part_in(p, 7);
    net_id places = onnx_part_in(p, 8);
    if (places == NET_NONE) {
        const net_id length = ONNX_PART(p, "Squeeze", onnx_part_length(p, words, 1));
        places = ONNX_PART(p, "Range", onnx_part_integer(p, 0), length, onnx_part_integer(p, 1));
    }
    net_id x = ONNX_PART(p, "Gather", onnx_part_in(p, 2), words);
    x = ONNX_PART(p, "Add", x, ONNX_PART(p, "Gather", onnx_part_in(p, 3), places));
    if (segments != NET_NONE)
        x = ONNX_PART(p, "Add", x, ONNX_PART(p, "Gather", onnx_part_in(p, 4), segments));
    onnx_part_give(p, 0, layer_norm(p, x, onnx_part_in(p, 5), onnx_part_in(p, 6)));
    onnx_part_give(p, 2, x);
    if (!onnx_part_wanted(p, 1))
        return;
    const net_id kept =
        mask == NET_NONE ? ONNX_PART(p, "Mul", words, ONNX_PART(p, "CastLike", onnx_part_integer(p, 0), words)) : mask;
    const net_id counted = ONNX_PART(p, "ReduceSum", kept, onnx_part_ints(p, &(int64_t){1}, 1));
    onnx_part_int(p, "keepdims", 0);
    onnx_part_give(p, 1, counted);
}
