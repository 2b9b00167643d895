/* Requests to the Neural Engine on the simulated time line, without data. */
#ifndef ORCHARD_SIM_WORKLOAD_ANE_ANE_TIME_H
#define ORCHARD_SIM_WORKLOAD_ANE_ANE_TIME_H

#include "sim/workload/ane/ane_request.h"
#include "sim/soc/soc.h"

struct ane_time_options {
    bool cold;       /* starts with empty caches; otherwise one untimed request comes first */
    unsigned repeat; /* timed requests, back to back; 0 means 1 */
    double idle_ns;  /* idle time between the untimed request and the first timed one, after which the engine must wake up */
};

/* Sums over repeats, and the last request in detail. */
struct ane_timed {
    struct ane_params params;
    double cycles_by[ANE_STALL_COUNT];
    double device_ns, overhead_ns; /* overhead: build, submission, completion, waking up */
    double host_seconds;           /* of the simulation */
    struct activity activity;
    struct mem_counters memory;
    struct ane_task_time *task; /* program->count entries */
    uint64_t macs, source_bytes, result_bytes, coefficient_bytes, l2_bytes;
};

/* Times the requests on the first engine of the soc. Free *timed with ane_timed_free in any case. */
bool ane_time_run(const struct ane_buffers *buffers, struct soc *soc, const struct ane_time_options *options,
                  struct ane_timed *timed, struct orch_error *error);
/* The same of a program without contents. address: of each base register; NULL = each has a region of its own. */
bool ane_time_program(const struct ane_program *program, const uint64_t address[ANE_BARS], struct soc *soc,
                      const struct ane_time_options *options, struct ane_timed *timed, struct orch_error *error);
void ane_timed_free(struct ane_timed *timed);

#endif
