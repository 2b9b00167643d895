/* The shape rules and functions of all families of operators, by the names that operators.inc gives them. */
#ifndef ORCHARD_SIM_NETWORK_OPERATORS_FAMILIES_H
#define ORCHARD_SIM_NETWORK_OPERATORS_FAMILIES_H

#include "sim/network/operators/operator.h"

/* clang-format off */
#define NET_RULES(X) \
    X(dft) X(mel_weights) X(stft) X(arg) X(attention) X(batch_norm) X(col2im) X(deform_conv) X(tensor_scatter) X(cache_buffer) X(cache_rows) X(cast) X(cast_like) X(compress) X(concat) X(constant_of_shape) X(control) X(conv) \
    X(conv_integer) X(conv_transpose) X(depth_to_space) X(dequantise) X(det) X(dropout) X(dynamic_quantise) X(einsum) \
    X(expand) X(eye_like) X(flatten) X(gather) X(gather_elements) X(gather_nd) X(gemm) X(global_pool) X(grid_sample) \
    X(layer_norm) X(loss) X(matmul) X(matmul_integer) X(max_unpool) X(nms) X(non_zero) X(one_hot) X(pad) X(pool) \
    X(qlinear_conv) X(qlinear_matmul) X(quantise) X(range) X(recurrent) X(reduce) X(rescale) X(reshape) X(resize) X(roi_align) \
    X(scatter) X(shape) X(size) X(slice) X(softmax) X(space_to_depth) X(split) X(squeeze) X(tile) X(top_k) X(transpose) \
    X(unique) X(unsqueeze) X(where) X(window)
#define NET_EVALS(X) \
    X(dft) X(mel_weights) X(stft) X(arg) X(attention) X(batch_norm) X(col2im) X(deform_conv) X(tensor_scatter) X(blocks) X(cache_buffer) X(cache_rows) X(cast) X(compress) X(concat) X(constant_of_shape) X(conv) \
    X(conv_integer) X(conv_transpose) X(cum_sum) X(dequantise) X(det) X(dropout) X(dynamic_quantise) X(einsum) X(expand) \
    X(eye_like) X(fused_add) X(gather) X(gather_elements) X(gather_nd) X(global_pool) X(grid_sample) X(group_norm) X(if) \
    X(layer_norm) X(loop) X(loss) X(lp_norm) X(lrn) X(matmul) X(matmul_integer) X(max_unpool) X(mean) X(mvn) X(nms) \
    X(non_zero) X(one_hot) X(pad) X(pointwise) X(pool) X(qlinear_conv) X(qlinear_matmul) X(quantise) X(range) \
    X(recurrent) X(reduce) X(rescale) X(resize) X(reverse_sequence) X(roi_align) X(rotary) X(scan) X(scatter_elements) \
    X(scatter_nd) X(shape) X(size) X(slice) X(softmax) X(split) X(swiglu) X(tile) X(top_k) X(transpose) X(trilu) \
    X(unique) X(view) X(window)
/* clang-format on */

#define X(name) bool net_rule_##name(struct net_infer *i);
NET_RULES(X)
#undef X
#define X(name) bool net_eval_##name(struct net_call *call);
NET_EVALS(X)
#undef X

#endif
