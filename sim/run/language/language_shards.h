/* Layers of a language model on several units, one after another: the values behind the last layer of a unit are what the next
 * one goes on with, in the memory that all of them see. */
#ifndef ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_SHARDS_H
#define ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_SHARDS_H

#include "sim/base/error.h"
#include "sim/base/run_result.h"

#include <stdbool.h>
#include <stddef.h>

enum { LANGUAGE_SHARDS = 3 }; /* GPU, Neural Engine, cores with their AMX blocks */

struct language_shard {
    enum orch_part part;
    unsigned layers;
};
struct language_shards {
    struct language_shard shard[LANGUAGE_SHARDS];
    unsigned count; /* 0 = one unit has all layers */
};

/* "gpu=8,ane=3,amx=1": in the order of the layers, all of which have a unit. False with what is wrong. */
bool language_shards_read(const char *text, unsigned layers, struct language_shards *shards, struct orch_error *error);
/* The same in words. */
void language_shards_write(const struct language_shards *shards, char *text, size_t size);
enum orch_part language_shards_part(const struct language_shards *shards, unsigned layer);
bool language_shards_have(const struct language_shards *shards, enum orch_part part);

#endif
