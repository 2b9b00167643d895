/* Buffers of one request to the Neural Engine, and what executing it does to them. */
#ifndef ORCHARD_SIM_WORKLOAD_ANE_ANE_REQUEST_H
#define ORCHARD_SIM_WORKLOAD_ANE_ANE_REQUEST_H

#include "sim/workload/ane/ane_workload.h"
#include "units/ane/ane_exec.h"

/* Addresses that the engine's own address translation reaches: 3.5 GiB (eiln/ane). */
#define ANE_REQUEST_BYTES_MAX (UINT64_C(0xe0000000))

struct ane_buffers {
    const struct ane_workload *workload;
    struct mem_space *space;
    uint64_t address[ANE_BARS], bytes[ANE_BARS]; /* 0 = no buffer; the coefficients' is the program's own copy */
    uint64_t coefficients; /* where streams of coefficients come from, for timing; nothing is stored there */
};

/* Places every port in `space`, zero-filled. False with exit code 2 when they do not fit the engine's address space. */
bool ane_buffers_open(struct ane_buffers *buffers, const struct ane_workload *workload, struct mem_space *space,
                      struct orch_error *error);
/* Start contents of the inputs: the files of "NAME=FILE", else reproducible numbers. */
bool ane_buffers_fill(const struct ane_buffers *buffers, uint64_t seed, const char *const *inputs, size_t input_count,
                      struct orch_error *error);
/* Host pointer of the buffer that a array lies in. */
uint8_t *ane_buffers_at(const struct ane_buffers *buffers, const struct ane_array *array);

/* Executes once; a fault is exit code 4 (3: not modelled) and names the descriptor. `counts` are added to. */
bool ane_buffers_run(const struct ane_buffers *buffers, struct ane_core *core, unsigned threads, struct ane_exec_counts *counts,
                     struct orch_error *error);
/* A core with the numeric rules of a chip. NULL with *error. */
struct ane_core *ane_request_core(const struct chip *chip, struct orch_error *error);

#endif
