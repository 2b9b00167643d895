/* What the files of language_unit share. */
#ifndef ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_UNIT_INTERNAL_H
#define ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_UNIT_INTERNAL_H

#include "sim/run/language/language_unit.h"
#include "sim/run/run_internal.h"
#include "sim/workload/cpu/library_home.h"

/* What a shape took, of one kernel. */
struct known_shape {
    char key[160];
    struct run_result result;
    struct activity activity;
    double device_seconds, joules, launch_joules; /* joules without the launch */
    struct run_operation operation;
    double launches;              /* of the GPU; 0 = another unit has it */
    struct power_profile profile; /* without the launch */
};

/* A kernel that is ready to be executed again. */
struct kept_run {
    char workload[160], key[160];
    struct run_request request;
    struct run *run;
    uint64_t used;      /* when it was executed last */
    uint64_t constants; /* where those are that are part of its program; 0 = none */
};

enum { KEPT_RUNS = 64, KEPT_PROGRAMS = 512 };

struct language_unit {
    const struct run_request *request;
    struct run_result *result;
    struct library_home *home; /* executes kernels of the CPU; its memory is that of all units */
    struct mem_space *space;
    struct soc *soc;
    struct energy_model model;
    bool has_energy;
    double between_s; /* from a launch of the GPU to the next in its command buffer */
    bool foresees;    /* kernels are asked for later: they are only listed */
    struct foreseen_shape **foreseen;
    size_t foreseen_count, foreseen_room;
    struct known_shape *known;
    size_t count, room;
    struct activity activity;
    struct kept_run *kept[KEPT_RUNS + KEPT_PROGRAMS];
    uint64_t executed;
    double macs, macs_on[PART_COUNT]; /* multiply-adds of all kernels, and by unit */
    double seconds_on[PART_COUNT];    /* of kernels, by unit */
    double seconds;                   /* of all kernels, for what is an average over time */
    double stall_seconds;
    struct power_profile profile; /* of all kernels */
    bool has_driver[PART_COUNT];  /* the clock of the unit is known */
    double driver_mhz[PART_COUNT];
    enum power_domain driver[PART_COUNT];
    uint64_t instructions;
    double host_seconds;
};

/* ---- language_execute.c: kernels on values ---- */

/* The kernel of the framework that was asked for, or where that has none the library's. */
struct run *language_prepare(struct run_request *q, struct orch_error *error);
/* On the values of a call: in the unit's memory, or handed to the kernel. */
bool language_run_on(struct language_unit *unit, struct run *run, const struct language_call *call, struct run_measure *m,
                     struct run_result *r, struct orch_error *error);
/* Without time: on CPU cores, where the values are; on other units, where a kernel is prepared once and kept. */
bool language_execute_here(struct language_unit *unit, const struct language_call *call, const struct run_request *q,
                           struct orch_error *error);
bool language_execute_there(struct language_unit *unit, const struct language_call *call, const struct run_request *q,
                            const char *key, struct orch_error *error);
void language_forget(struct kept_run *kept);

/* ---- language_foresee.c: kernels that are only listed ---- */

/* The one that was prepared for such a kernel when it was listed; the caller frees it. NULL = there is none. */
struct run *language_foreseen(struct language_unit *unit, const char *key);
void language_foresee_end(struct language_unit *unit);
bool language_foresee(struct language_unit *unit, const struct language_call *call, const struct run_request *request,
                      const char *key, struct orch_error *error);

/* ---- language_sum.c: what shapes took ---- */

struct known_shape *language_find(struct language_unit *unit, const char *key);
struct known_shape *language_remember(struct language_unit *unit, const char *key, struct orch_error *error);
/* The energy of the kernel by itself, and what its command buffer adds. */
void language_price(const struct language_unit *unit, const struct run *run, const struct run_measure *m,
                    const struct run_result *r, struct known_shape *shape);
/* Adds `times` kernels of a known shape to the sum and to the unit's result. */
bool language_add(struct language_unit *unit, const struct known_shape *shape, double times, struct language_sum *sum);

#endif
