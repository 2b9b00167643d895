/* The timing of a run by itself: everything that a simulation found out, without what energy, temperature and the chip's name
 * add. A timing can be kept. The result that is made from it later equals the result of a new simulation bit for bit.
 */
#ifndef ORCHARD_SIM_RUN_RUN_TIMING_H
#define ORCHARD_SIM_RUN_RUN_TIMING_H

#include "sim/run/run.h"

struct run_kind;
struct run_measure;

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
/* The same of many requests, by so many threads of the host, which change no timing; all timings must be initialised. False with
 * the error of the first request that could not be simulated, whose number is in *failed. */
bool run_timing_simulate_all(const struct run_request *request, size_t count, unsigned threads, struct run_timing *timing,
                             size_t *failed, struct orch_error *error);
/* Makes the result of a request from a timing. The request must be the one that was timed, except for keys of the chip that only
 * energy reads. The result must be initialised; *energy (may be NULL) is what run_energy gives, *has_energy whether there is any.
 */
bool run_timing_result(const struct run_timing *timing, const struct run_request *request, struct run_result *result,
                       struct energy_run *energy, bool *has_energy, struct orch_error *error);

/* The same with what the run did, for who adds up runs. */
bool run_timing_measure(const struct run_timing *timing, const struct run_request *request, struct run_measure *measure,
                        struct run_result *result, struct orch_error *error);

/* What a GPU kernel did, without when: its energy can be worked out for other times, clocks and DRAM traffic. */
struct run_timing_work {
    const struct run_kind *kind; /* NULL = nothing is known */
    struct activity activity;
    uint64_t gpu_groups;
};
/* The kind of anything but a GPU kernel is NULL. */
struct run_timing_work run_timing_work(const struct run_timing *timing);
struct run_timing_took {
    double seconds, device_seconds, dram_bytes; /* dram_bytes NAN = as many as in the timing */
};
/* Joules of that work on a chip when it takes so much; NAN when the chip says nothing about energy. `celsius` as in requests. */
double run_timing_work_joules(const struct run_timing_work *work, const struct chip *chip, double celsius,
                              const struct run_timing_took *took);

/* JSON text that keeps every bit; the caller frees it. NULL when memory ran out. */
char *run_timing_json(const struct run_timing *timing);
bool run_timing_parse(const char *json, struct run_timing *timing, struct orch_error *error);

/* A source of timings that it knows or has simulated and keeps (sim/ask/study). A returned timing belongs to the source and is
 * valid until the next call. */
struct run_known {
    void *context;
    const struct run_timing *(*timing)(void *context, const struct run_request *request, bool *was_known,
                                       struct orch_error *error);
    /* May be NULL. What is known without simulating: *timing is NULL when it is not. */
    bool (*find)(void *context, const struct run_request *request, const struct run_timing **timing, struct orch_error *error);
    /* May be NULL. Simulates requests that are not known, by so many threads, and keeps their timings; *failed as above. */
    bool (*learn)(void *context, const struct run_request *request, size_t count, unsigned threads, size_t *failed,
                  struct orch_error *error);
};

#endif
