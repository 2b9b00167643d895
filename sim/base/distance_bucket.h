/* Steps of distance between two tokens, as T5's bias of scores tells them apart. */
#ifndef ORCHARD_SIM_BASE_DISTANCE_BUCKET_H
#define ORCHARD_SIM_BASE_DISTANCE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

/* Number of the bucket of `distance`, the key's place less the query's. `both`: half of the buckets are for each direction; else
 * only what came before counts. Half of those of a direction are exact, the rest goes in logarithmic steps up to 128 tokens
 * (transformers, modeling_t5.py, _relative_position_bucket). */
int64_t distance_bucket(int64_t distance, int64_t buckets, bool both);

#endif
