/* Weights and biases: from the request to the contents of the coefficient banks. */
#ifndef ORCHARD_UNITS_ANE_KERNELS_ANE_CONSTANTS_H
#define ORCHARD_UNITS_ANE_KERNELS_ANE_CONSTANTS_H

#include "units/ane/kernels/ane_build.h"

/* Packs weights and bias of a convolution in the format of the request, after what is already packed; sets format and banks. */
void ane_constants_pack(struct ane_builder *b, const struct ane_conv *conv, struct ane_task *task);
/* Appends bytes to the coefficients, at a multiple of 64. */
bool ane_constants_append(struct ane_builder *b, const uint8_t *bytes, size_t size);
/* The nearest fp16 value. */
float ane_constant_half(float value);

#endif
