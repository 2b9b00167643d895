/* Numbers as quantised integers. */
#ifndef ORCHARD_SIM_NETWORK_OPERATORS_QUANTISE_H
#define ORCHARD_SIM_NETWORK_OPERATORS_QUANTISE_H

#include "sim/network/graph/element.h"

/* Rounded to nearest, ties to even, moved by the zero point, and kept in the range of the type. */
int64_t net_quantised(double scaled, int64_t zero, enum net_type type);

/* How eight bits say numbers of a range, with zero in it, as DynamicQuantizeLinear does: 255 steps; where all are zero the scale
 * is 0, and what numbers are divided by is 1. */
struct net_eight_bits {
    float scale, divisor;
    int64_t zero;
};
struct net_eight_bits net_eight_bits_of(float low, float high);

#endif
