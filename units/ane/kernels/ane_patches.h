/* Convolutions by patches: strides beyond those of a descriptor, kernels no larger than the stride, no padding. */
#ifndef ORCHARD_UNITS_ANE_KERNELS_ANE_PATCHES_H
#define ORCHARD_UNITS_ANE_KERNELS_ANE_PATCHES_H

#include "units/ane/kernels/ane_function.h"

/* True when ane_build_patches can build this convolution. */
bool ane_patches_can(const struct ane_conv *conv);
/* Rows of a patch become channels through the strides of copies, its columns through convolutions that select one of two or three
 * neighbours each; a 1 x 1 convolution follows. */
void ane_build_patches(struct ane_builder *b, const struct ane_conv *conv, int64_t activation, struct ane_view x,
                       struct ane_view out);

#endif
