/* The timing of a run as a thing of its own: everything that a simulation found out, apart from what energy, temperature and the
 * chip's name add. It can be kept, and the whole result made of it again without simulating: bit for bit the one of a new run.
 */
#ifndef ORCHARD_SIM_RUN_RUN_TIMING_H
#define ORCHARD_SIM_RUN_RUN_TIMING_H

#include "sim/run/run.h"

struct run_kind;

struct run_timing {
    struct run_result result; /* what is known before energy */
    const struct run_kind *kind;
    double end_ns;
    struct activity activity, by[POWER_DOMAIN_COUNT];
    struct energy_cores busy;
    uint64_t gpu_groups;
    double gpu_clock_ghz, ane_clock_ghz, gpu_bytes;
    unsigned gpu_group_threads;
};
void run_timing_init(struct run_timing *timing);
void run_timing_free(struct run_timing *timing); /* leaves an initialised one */

/* Simulates a request without values where the workload can be timed so. Detail "op" means as much as is needed: sampled where a
 * launch is large. The timing must be initialised. */
bool run_timing_simulate(const struct run_request *request, struct run_timing *timing, struct orch_error *error);
/* The result of the request, which must be that of the timing but for keys of the chip that only energy reads. The result must be
 * initialised; *energy (may be NULL) is what run_energy gives, *has_energy whether there is any. */
bool run_timing_result(const struct run_timing *timing, const struct run_request *request, struct run_result *result,
                       struct energy_run *energy, bool *has_energy, struct orch_error *error);

/* As JSON text that keeps every bit; the caller frees. NULL = memory is short. */
char *run_timing_json(const struct run_timing *timing);
bool run_timing_parse(const char *json, struct run_timing *timing, struct orch_error *error);

/* Who knows timings, or has them simulated and keeps them (sim/study). The timing stays his and is valid until the next call. */
struct run_known {
    void *context;
    const struct run_timing *(*timing)(void *context, const struct run_request *request, bool *was_known,
                                       struct orch_error *error);
};

#endif
