/* Products whose operands do not fit tile memory together, in blocks of pixels and of output channels. */
#ifndef ORCHARD_UNITS_ANE_KERNELS_ANE_PRODUCT_BLOCKS_H
#define ORCHARD_UNITS_ANE_KERNELS_ANE_PRODUCT_BLOCKS_H

#include "units/ane/kernels/ane_fold.h"
#include "units/ane/kernels/ane_function.h"

/* Writes all parts of a 1 x 1 convolution and the function behind it: in blocks where that moves less to and from memory than
 * tiles of all channels do, otherwise as ane_build_activated. */
void ane_build_product(struct ane_builder *b, const struct ane_conv *conv, int64_t activation, const struct ane_fold *fold,
                       struct ane_view x, struct ane_view out);

#endif
