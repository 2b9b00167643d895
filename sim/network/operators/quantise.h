/* Numbers as quantised integers. */
#ifndef ORCHARD_SIM_NETWORK_OPERATORS_QUANTISE_H
#define ORCHARD_SIM_NETWORK_OPERATORS_QUANTISE_H

#include "sim/network/graph/element.h"

/* Rounded to nearest, ties to even, moved by the zero point, and kept in the range of the type. */
int64_t net_quantised(double scaled, int64_t zero, enum net_type type);

#endif
