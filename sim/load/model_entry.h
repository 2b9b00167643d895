/* A model as servers name it: a file, a published model, or a folder of a model repository (M/config.pbtxt, M/1/model.onnx). */
#ifndef ORCHARD_SIM_LOAD_MODEL_ENTRY_H
#define ORCHARD_SIM_LOAD_MODEL_ENTRY_H

#include "sim/load/model_config.h"

enum { MODEL_PATH = 1024 };

struct model_entry {
    char name[128];            /* of the folder, of the published model, or of the file without its ending */
    char workload[MODEL_PATH]; /* what `orchard run` takes */
    bool configured;
    struct model_config config; /* when configured */
};

bool model_entry_open(const char *text, struct model_entry *entry, struct orch_error *error);

#endif
