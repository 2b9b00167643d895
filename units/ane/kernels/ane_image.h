/* NCHW images as inputs and outputs: rows at multiples of 64 bytes. */
#ifndef ORCHARD_UNITS_ANE_KERNELS_ANE_IMAGE_H
#define ORCHARD_UNITS_ANE_KERNELS_ANE_IMAGE_H

#include "units/ane/kernels/ane_build.h"

/* Larger than any limit, so that it is the limits of the chip that refuse. */
#define ANE_SIDE_MOST    65536
#define ANE_CHANNEL_MOST 131071
#define ANE_IMAGE_PARAMETERS                                                                                                     \
    {.name = "n", .missing = 1, .least = 1, .most = 65536},                                                                      \
        {.name = "c", .least = 1, .most = ANE_CHANNEL_MOST, .required = true},                                                   \
        {.name = "h", .least = 1, .most = ANE_SIDE_MOST, .required = true},                                                      \
    {                                                                                                                            \
        .name = "w", .least = 1, .most = ANE_SIDE_MOST, .required = true                                                         \
    }

struct ane_view ane_image_input(struct ane_builder *b, const char *name, uint32_t n, uint32_t c, uint32_t h, uint32_t w);
struct ane_view ane_image_output(struct ane_builder *b, const char *name, uint32_t n, uint32_t c, uint32_t h, uint32_t w);
/* Names the weights of a convolution, tensors of outer x inner x height x width values up to `range`, and the bias of so many
 * channels, 0 = none. */
void ane_image_weights(struct ane_builder *b, const uint32_t shape[4], uint32_t bias, double range);

#endif
