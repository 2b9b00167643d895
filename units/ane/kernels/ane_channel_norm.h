/* Normalisation over channels: the elements of a row are the channels of a pixel, as products have them. */
#ifndef ORCHARD_UNITS_ANE_KERNELS_ANE_CHANNEL_NORM_H
#define ORCHARD_UNITS_ANE_KERNELS_ANE_CHANNEL_NORM_H

#include "units/ane/kernels/ane_build.h"

struct ane_channel_norm {
    uint64_t rows;
    uint32_t columns;
    bool centred, affine; /* layernorm, or rmsnorm without a mean; affine: a factor, and centred a summand, for each channel */
    float eps;
};

/* Adds buffers x and out, constants gamma and beta, and the descriptors of a whole kernel. */
void ane_build_channel_norm(struct ane_builder *b, const struct ane_channel_norm *norm);

#endif
