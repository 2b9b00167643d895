/* Requests as `orchard run` makes them, and their outcome. */
#ifndef ORCHARD_TESTS_SIM_RUN_EXAMPLE_H
#define ORCHARD_TESTS_SIM_RUN_EXAMPLE_H

#include "sim/chip/chip.h"
#include "sim/run/run.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

struct outcome {
    struct run_result result; /* free with run_result_free */
    struct orch_error error;
    bool ok;
    char remark[400]; /* the first one */
};

static inline struct outcome run_on(const struct chip_db *db, const char *chip_name, const char *workload,
                                    struct run_request request)
{
    struct outcome o = {.ok = false};
    struct chip *chip = chip_open(db, chip_name, NULL, &o.error);
    run_result_init(&o.result);
    if (!chip)
        return o;
    request.chip = chip;
    request.workload = workload;
    struct run *run = run_prepare(&request, &o.error);
    o.ok = run && run_execute(run, NULL, 1, &o.result, &o.error);
    if (run && run_remark_count(run))
        snprintf(o.remark, sizeof o.remark, "%s", run_remark(run, 0));
    run_free(run);
    chip_close(chip);
    return o;
}

/* Checksum of the output of that name; 0 when there is none. */
static inline uint64_t checksum(const struct outcome *o, const char *output)
{
    for (size_t i = 0; i < o->result.checksum.count; i++)
        if (strcmp(o->result.checksum.item[i].output, output) == 0)
            return o->result.checksum.item[i].fnv1a64;
    return 0;
}

static inline double counter(const struct outcome *o, const char *name)
{
    return run_values_get(&o->result.counters, name);
}

#endif
