/* Requests to the Neural Engine at work. For the kinds that make them. */
#ifndef ORCHARD_SIM_RUN_ANE_RUN_ANE_H
#define ORCHARD_SIM_RUN_ANE_RUN_ANE_H

#include "sim/run/kind.h"
#include "sim/workload/ane/ane_workload.h"

/* What such a run works on. */
static inline struct ane_workload *run_ane_workload(const struct run *run)
{
    return run->work;
}

/* `given`: the caller's buffers by array of the workload, elements in order. */
bool run_ane_time_in(struct run *run, const struct run_given *given, struct run_measure *m, struct run_result *result,
                     struct orch_error *error);
/* Builds the program again with the constants among the caller's buffers. */
bool run_ane_set_constants(struct run *run, const struct run_given *given, struct orch_error *error);
/* Opens the chip unless the measure has one and times one request of the program, without buffers of its own. */
bool run_ane_time(const struct run *run, struct run_measure *m, struct orch_error *error);
bool run_ane_account(struct run *run, const struct run_measure *m, struct run_result *result, struct orch_error *error);
/* Descriptor by descriptor, and the roofline. */
void run_ane_explain(FILE *out, const struct run *run, const struct run_result *result);

#endif
