/* Whole numbers no two of which are the same, in no order: places of what is scattered over a memory. */
#ifndef ORCHARD_SIM_WORKLOAD_DISTINCT_H
#define ORCHARD_SIM_WORKLOAD_DISTINCT_H

#include "sim/workload/element_type.h"

/* So many elements from [low, high), which has at least as many; the seed chooses. */
void distinct_fill(enum element_type type, uint64_t count, double low, double high, uint64_t seed, uint8_t *to);

#endif
