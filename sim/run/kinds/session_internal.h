/* What the files of a session share: a chip with memory of the caller's own, and its jobs. */
#ifndef ORCHARD_SIM_RUN_KINDS_SESSION_INTERNAL_H
#define ORCHARD_SIM_RUN_KINDS_SESSION_INTERNAL_H

#include "sim/orchard.h"
#include "sim/run/run_internal.h"
#include "sim/workload/gpu/abi_kernel.h"
#include "units/mem/mem_pool.h"

struct session_block {
    uint64_t address, bytes;
};

struct session_job {
    struct run_request request;
    char *workload, *unit, *precision, *entry; /* copies that the request points to */
    char **args;
    uint64_t buffer[ABI_ARGS_MAX];
    struct abi_kernel *kernel; /* compiled, with what its launch says; NULL = another job */
    struct run_result result;
    bool done;
};

struct orchard {
    struct chip_db *db;
    struct chip *chip;
    struct soc *soc;
    struct mem_space *space;
    struct mem_pool *pool; /* of the caller's buffers */
    struct mem_pool_params memory;
    struct session_block *block; /* what orchard_alloc has handed out */
    size_t blocks, block_room;
    struct session_job **job;
    int jobs;
};

void session_hand_over(struct orchard_error *to, const struct orch_error *from);
/* A job at the end of the queue; NULL when memory ran out. */
struct session_job *session_new_job(struct orchard *orchard, const char *workload, struct orch_error *e);
/* Gives its number; a wrong request is refused at once, not at orchard_wait, and taken off the queue: -1. */
int session_accept(struct orchard *orchard, struct session_job *job, struct orch_error *e, struct orchard_error *error);

/* ---- session_kernel.c ---- */

void session_free_kernel(struct session_job *job);

#endif
