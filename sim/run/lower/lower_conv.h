/* What convolutions, plain ones and transposed ones, are when they are not the library's own kernel. */
#ifndef ORCHARD_SIM_RUN_LOWER_LOWER_CONV_H
#define ORCHARD_SIM_RUN_LOWER_LOWER_CONV_H

#include "sim/network/operators/window.h"
#include "sim/run/lower/lowering.h"

struct lowered_conv {
    struct net_window w;
    int64_t n, c, k, groups;       /* images, channels of the input and of the result */
    int64_t kernel, points, image; /* elements of a window, of planes of the result and of the input */
};

/* False, with the reason, when the node's windows make no sense. */
bool lowering_read_conv(struct lowering *l, bool transposed, struct lowered_conv *conv);
/* The bias and the activation of the node, on the result. */
bool lowering_finish_conv(struct lowering *l, const struct lowered_conv *conv);
/* A transposed convolution as a product, from what reaches each point of the result. */
bool lowering_transposed_by_windows(struct lowering *l, const struct lowered_conv *conv);
/* A border of zeros around each plane, which the window then has no more. */
const void *lowering_pad_planes(struct lowering *l, enum net_type type, const void *x, int64_t planes, struct net_window *w);

#endif
