/* One kernel of a network, on the unit whose library has it. */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_STEP_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_STEP_H

#include "sim/run/lower/lowering.h"
#include "sim/run/network/run_network.h"

struct run_kind;

struct network_step {
    struct run_request request;
    struct run *run;
    enum orch_part asked;
    bool elsewhere;   /* the library of the asked unit has no such kernel */
    bool at_load;     /* it runs before the network: it has values and neither time nor energy */
    bool whole;       /* in f32 although the network is not */
    uint32_t present; /* operands that it finds in the caches (run_network_residency.h) */
};

/* Opens the kernel: on the asked unit, else on the CPU, without options of the asked unit's. False with why neither has it. */
bool network_step_open(const struct run_network *network, enum orch_part asked, struct lowered_step *lowered,
                       struct network_step *step, struct orch_error *error);
void network_step_close(struct network_step *step);
/* Runs it, adds what it did to the network, and its line to the placement. */
bool network_step_run(struct run_network *network, const char *title, const struct lowered_step *lowered,
                      struct network_step *step, struct orch_error *error);

/* Adds the line of a kernel that ran when the network was loaded. False = out of memory. */
bool network_step_note_load(struct run_network *network, const char *title, const struct lowered_step *lowered,
                            enum orch_part part);

/* ---- for run_network_kernel.c, which has no values ---- */

void network_step_ask(const struct run_network *network, const char *workload, const char *precision, enum orch_part part,
                      struct run_request *request);
/* Opens what is asked, on that unit only. */
bool network_step_prepare(const struct run_request *request, struct network_step *step, struct orch_error *error);
/* Takes the costs of a kernel's own command buffer from what it did. */
void network_step_without_buffer(struct run_network *network, const struct run_request *request, const struct run_kind *kind,
                                 struct run_measure *pass, struct run_result *result);
/* Where the network is gone through for a unit alone: what the chip draws while that unit waits. */
void network_step_note_waiting(struct run_network *network, const struct run_kind *kind, const struct run_measure *pass,
                               const struct run_result *result);
/* A kernel of this unit is the next one: another command buffer may begin. */
void network_step_count_buffer(struct run_network *network, enum orch_part part);
/* For run_network_request.c: adds what a request did, whose kernels have lines of their own. */
bool network_step_add_measure(struct run_network *network, struct run_measure *pass, enum orch_part part,
                              const struct run_result *result);
/* Completes a line of the placement. False = out of memory. */
bool network_step_complete(const struct run_network *network, size_t placement, const char *kernel, const char *why,
                           double seconds, double joules);
/* Adds what a kernel did, and completes its line of the placement. False = out of memory. */
bool network_step_add(struct run_network *network, const struct network_step *step, const struct run_kind *kind,
                      struct run_measure *pass, const struct run_result *result, size_t placement);

#endif
