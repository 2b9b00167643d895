/* Measures characteristics on simulated chips over several threads. A job is a chip with some values laid over its file. The
 * answers do not depend on the number of threads. */
#ifndef ORCHARD_SIM_PROVE_REGRESS_MEASURE_H
#define ORCHARD_SIM_PROVE_REGRESS_MEASURE_H

#include "sim/chip/chip.h"
#include "sim/prove/regress/metric.h"

enum { REGRESS_WHY_SIZE = 160 };

struct regress_value {
    bool wanted;  /* set by the caller */
    double value; /* NAN with the reason in `why` when not modelled */
    char why[REGRESS_WHY_SIZE];
};

struct regress_job {
    const char *chip;
    struct chip_overrides sets;
    struct regress_value *value; /* one per metric */
    struct orch_error error;     /* of the whole job: the chip cannot be opened with these values */
};

/* `done` may be NULL; it is called as jobs end, by one thread at a time. False with *error only when nothing could be started or
 * an internal error stopped the work. */
bool regress_measure(struct regress_job *jobs, size_t count, unsigned threads,
                     void (*done)(void *context, const struct regress_job *job), void *context, struct orch_error *error);

/* The parts of a job; `chips` and the rest belong to the thread. */
struct regress_worker {
    struct chip_db *chips;
    struct study *study;
    struct device_list *devices;
};
bool regress_measure_loops(const struct regress_worker *worker, struct regress_job *job, struct orch_error *error);
bool regress_measure_kernels(const struct regress_worker *worker, struct regress_job *job, struct orch_error *error);
void regress_refuse(struct regress_value *value, const char *why);

#endif
