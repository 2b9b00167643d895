/* Windows that slide over the spatial dimensions of a tensor: kernels of convolutions and pools. */
#ifndef ORCHARD_SIM_NETWORK_OPERATORS_WINDOW_H
#define ORCHARD_SIM_NETWORK_OPERATORS_WINDOW_H

#include "sim/network/operators/operator.h"

enum { NET_SPATIAL_MAX = 3 };

struct net_window {
    unsigned dims;
    int64_t in[NET_SPATIAL_MAX], kernel[NET_SPATIAL_MAX], stride[NET_SPATIAL_MAX], dilation[NET_SPATIAL_MAX];
    int64_t before[NET_SPATIAL_MAX], after[NET_SPATIAL_MAX]; /* padding */
    int64_t out[NET_SPATIAL_MAX];                            /* negative = not known */
};

/* Of a node whose input 0 has two dimensions before the spatial ones. `kernel` are the spatial dimensions of the weights, NULL
 * for those of the attribute kernel_shape. `transposed` for ConvTranspose. */
bool net_window_read(struct net_infer *i, const struct net_shape *x, const int64_t *kernel, bool transposed,
                     struct net_window *w);
/* The same for arrays, as three dimensions, the missing ones in front with size 1. */
bool net_window_of(struct net_call *call, const struct net_array *weights, bool transposed, struct net_window *w);

#endif
