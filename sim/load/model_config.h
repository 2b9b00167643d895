/* What a Triton config.pbtxt says of a model: batching, instances, and the unit that an execution accelerator names. Field names
 * are those of ModelConfig (triton-inference-server/common, protobuf/model_config.proto). */
#ifndef ORCHARD_SIM_LOAD_MODEL_CONFIG_H
#define ORCHARD_SIM_LOAD_MODEL_CONFIG_H

#include "sim/load/batcher.h"

#include <stdbool.h>
#include <stdint.h>

enum { MODEL_CONFIG_GROUPS = 8, MODEL_CONFIG_IGNORED = 8 };

struct model_config_group {
    unsigned count;
    char unit[8]; /* of KIND_CPU and KIND_GPU; "" = whatever was asked for */
};

struct model_config {
    char name[128];
    unsigned max_batch; /* 0 = shapes are literal, there is no batch dimension */
    struct batch_rule rule;
    struct model_config_group group[MODEL_CONFIG_GROUPS];
    unsigned groups;
    char unit[8], precision[8], power_mode[16]; /* of the execution accelerator; "" = not said */
    char ignored[MODEL_CONFIG_IGNORED][48];     /* fields that are known and change nothing here */
    unsigned ignored_count;
};

bool model_config_parse(const char *file, const char *text, size_t size, struct model_config *config, struct orch_error *error);
bool model_config_read(const char *path, struct model_config *config, struct orch_error *error);

#endif
