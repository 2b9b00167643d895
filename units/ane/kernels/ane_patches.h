/* Convolutions by patches: strides beyond what a descriptor has, kernels no larger than the stride, no padding. */
#ifndef ORCHARD_UNITS_ANE_KERNELS_ANE_PATCHES_H
#define ORCHARD_UNITS_ANE_KERNELS_ANE_PATCHES_H

#include "units/ane/kernels/ane_function.h"

/* True when ane_build_patches makes this convolution. */
bool ane_patches_can(const struct ane_conv *conv);
/* Rows of a patch become channels by the strides of copies, its columns by convolutions that pick one of two or three neighbours
 * each; then a 1 x 1 convolution. */
void ane_build_patches(struct ane_builder *b, const struct ane_conv *conv, int64_t activation, struct ane_view x,
                       struct ane_view out);

#endif
