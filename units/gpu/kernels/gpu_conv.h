/* Convolutions of images: what all the programs share. Images are N x C x H x W, weights K x C/groups x R x S. */
#ifndef ORCHARD_UNITS_GPU_KERNELS_GPU_CONV_H
#define ORCHARD_UNITS_GPU_KERNELS_GPU_CONV_H

#include "units/gpu/kernels/gpu_math.h"

struct gpu_conv {
    uint32_t n, c, h, w, k, r, s, stride, pad, dilation, groups;
    uint32_t out_h, out_w;
    uint32_t group_c, group_k; /* channels of one group: in, out */
    uint32_t cores;            /* of the chip */
    enum gpu_type type;
    bool has_bias, has_act;
    bool is_packed;                 /* the layout of the weights is made when they are loaded */
    enum gpu_math act;              /* of one operand */
    unsigned x, weights, bias, out; /* buffers */
};

/* Returns a register with the bias of the channel whose number is in register `channel`, to be freed by the caller;
 * GPU_NO_REGISTER without bias. */
unsigned gpu_conv_bias(struct gpu_emit *e, const struct gpu_conv *v, unsigned channel);
/* value += bias, then the activation. */
void gpu_conv_finish(struct gpu_emit *e, const struct gpu_conv *v, unsigned value, unsigned bias);

/* The launch that was just begun brings the weights into the kernel's layout: it is no part of runs where that is done before. */
void gpu_conv_packs(const struct gpu_conv *v, struct gpu_kernel *kernel);

/* Masks an element as loaded, at half index `half`: kept where register `mask` is all ones, zero where it is zero. */
void gpu_conv_mask(struct gpu_emit *e, enum gpu_type type, unsigned half, unsigned mask);

/* One thread per element of the result. */
bool gpu_conv_direct(const struct gpu_conv *v, struct gpu_kernel *kernel, struct isa_error *error);
/* Products of 8x8 matrices: output channels x pixels, summed over channels and taps; nothing is copied in memory. */
bool gpu_conv_matrix(const struct gpu_conv *v, struct gpu_kernel *kernel, struct isa_error *error);
/* Winograd F(m x m, 3 x 3), m = 2, 4 or 6: transforms of weights and image, (m+2)^2 matrix products, transform of the result. */
bool gpu_conv_winograd(const struct gpu_conv *v, unsigned m, struct gpu_kernel *kernel, struct isa_error *error);

#endif
