/* The buffers of one request to the Neural Engine, and its execution. */
#ifndef ORCHARD_SIM_WORKLOAD_ANE_ANE_REQUEST_H
#define ORCHARD_SIM_WORKLOAD_ANE_ANE_REQUEST_H

#include "sim/workload/ane/ane_workload.h"
#include "units/ane/ane_exec.h"

/* Addresses that the engine's own address translation reaches: 3.5 GiB (eiln/ane). */
#define ANE_REQUEST_BYTES_MAX (UINT64_C(0xe0000000))

struct ane_buffers {
    const struct ane_workload *workload;
    struct mem_space *space;
    uint64_t address[ANE_BARS], bytes[ANE_BARS]; /* 0 = no buffer; coefficients are read from the program itself */
    uint64_t coefficients;                       /* address that they are streamed from, for timing; nothing is stored there */
};

/* Allocates a zero-filled buffer in `space` for every port. False with exit code 2 when they do not fit into it or into the
 * engine's address space. */
bool ane_buffers_open(struct ane_buffers *buffers, const struct ane_workload *workload, struct mem_space *space,
                      struct orch_error *error);
/* Fills the inputs from the files of "NAME=FILE", the others with reproducible numbers. */
bool ane_buffers_fill(const struct ane_buffers *buffers, uint64_t seed, const char *const *inputs, size_t input_count,
                      struct orch_error *error);
/* Host pointer to the buffer of an array; NULL when it has none. */
uint8_t *ane_buffers_at(const struct ane_buffers *buffers, const struct ane_array *array);

/* Executes the request once and adds to *counts. A fault is exit code 4 (3 for what is not modelled); its text names the
 * descriptor. */
bool ane_buffers_run(const struct ane_buffers *buffers, struct ane_core *core, unsigned threads, struct ane_exec_counts *counts,
                     struct orch_error *error);
/* Creates a core with the numeric rules of a chip. NULL with *error. */
struct ane_core *ane_request_core(const struct chip *chip, struct orch_error *error);

#endif
