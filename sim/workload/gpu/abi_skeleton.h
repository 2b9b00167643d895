/* A launch description to fill in, for code that was just assembled. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_ABI_SKELETON_H
#define ORCHARD_SIM_WORKLOAD_GPU_ABI_SKELETON_H

#include "isa/agx/agx_asm.h"

#include <json-c/json.h>

/* The code file is code.bin; buffers start as zeros, scalars are 0, and there is one threadgroup. NULL when memory ran out. */
struct json_object *abi_skeleton(const struct agx_assembly *assembly, const char *name);

#endif
