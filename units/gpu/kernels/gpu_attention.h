/* Attention in one pass over the keys: scores of a block of keys, running maximum and sum, weighted sum of values. Nothing of the
 * size of all scores is written. (Method: Dao et al., FlashAttention.)
 */
#ifndef ORCHARD_UNITS_GPU_KERNELS_GPU_ATTENTION_H
#define ORCHARD_UNITS_GPU_KERNELS_GPU_ATTENTION_H

#include "units/gpu/kernels/gpu_emit.h"

#define GPU_ATTENTION_DEPTH_MAX 256 /* of a head: limited by the registers */

struct gpu_attention {
    uint32_t batch, heads, kv_heads, length, depth; /* depth: elements of a head, a multiple of 4 */
    bool causal;
    enum gpu_type type;
    unsigned q, k, v, out; /* buffers: [batch][heads or kv_heads][length][depth] */
};

bool gpu_attention_build(const struct gpu_attention *a, struct gpu_kernel *kernel, struct isa_error *error);

#endif
