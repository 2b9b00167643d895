/* What the kernel libraries share: the row that describes one kernel, and workloads written as KERNEL:SHAPE. */
#ifndef ORCHARD_SIM_WORKLOAD_KERNEL_INFO_H
#define ORCHARD_SIM_WORKLOAD_KERNEL_INFO_H

#include <stdbool.h>
#include <stddef.h>

struct kernel_info {
    const char *name;       /* "gemm" */
    const char *grammar;    /* of the shape: "MxNxK[,batch=B][,ta=1]..." */
    const char *units;      /* "amx" */
    const char *precisions; /* "f64 f32 f16 bf16 i16 i8" */
    const char *text;       /* what it computes and how its data are laid out */
};

/* Finds the row whose name stands before the colon of `workload`; NULL when there is none. */
const struct kernel_info *kernel_info_find(const struct kernel_info *rows, size_t count, const char *workload);

/* True when the text has the form of a kernel ("word:..."), whether or not any library has that kernel. */
bool kernel_is_workload(const char *workload);

#endif
