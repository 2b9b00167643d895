/* The plain handlers, by family; NULL when the operation is not of the family. */
#ifndef ORCHARD_UNITS_GPU_GPU_EXEC_PLAIN_H
#define ORCHARD_UNITS_GPU_GPU_EXEC_PLAIN_H

#include "units/gpu/gpu_exec.h"

gpu_handler *gpu_plain_integer(unsigned op);
gpu_handler *gpu_plain_float(unsigned op);
gpu_handler *gpu_plain_mask(unsigned op);
gpu_handler *gpu_plain_shuffle(unsigned op);
gpu_handler *gpu_plain_reduce(unsigned op);
gpu_handler *gpu_plain_memory(unsigned op);
gpu_handler *gpu_plain_atomic(unsigned op);
gpu_handler *gpu_plain_special(unsigned op);

#endif
