/* Where the workloads of a run in a machine may move to: the E cores, or another unit. */
#include "sim/run/run_profile.h"
#include "sim/scenario/run_sustained_internal.h"

#include <stdio.h>
#include <string.h>

/* Profiles a workload on the E cores. A program that asks for a kind of core, or for more cores than there are E cores, stays. */
static void try_move(struct run_sustained *run, unsigned number, unsigned *taken)
{
    const struct run_sustained_request *const q = run->request;
    struct run_request there = q->parts ? q->part[number].request : q->run;
    struct run_result unused;
    const unsigned cores = there.cores ? there.cores : 1;

    if (run->profiles.profile[number].driver != POWER_P_CPU || there.core_choice != SOC_ANY_CORE)
        return;
    there.core_choice = SOC_E_CORE;
    there.skip_cores = *taken;
    there.other_cores = 0;
    there.repeat = q->parts ? there.repeat : 1;
    there.progress = run->progress;
    there.program_output = NULL;
    there.output_folder = NULL;
    run_result_init(&unused);
    run->may_move[number] = run_profile(&there, q->db, &q->overrides, &run->moved[number], &unused, NULL);
    run_result_free(&unused);
    *taken += run->may_move[number] ? cores : 0;
}

/* Profiles a workload on the unit that it may move to, in that unit's own precision. */
static bool move_to_unit(struct run_sustained *run, unsigned number, struct orch_error *error)
{
    const struct run_sustained_request *const q = run->request;
    struct run_request there = q->parts ? q->part[number].request : q->run;
    struct run_result result;

    if (there.unit && strcmp(there.unit, q->steer_unit) == 0)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("steer-to") " %s: %s is there already", q->steer_unit, there.workload);
    there.unit = q->steer_unit;
    there.precision = NULL;
    there.policy = NULL;
    there.repeat = 1;
    there.progress = run->progress;
    there.program_output = NULL;
    there.output_folder = NULL;
    run_result_init(&result);
    run->may_move[number] = run_profile(&there, q->db, &q->overrides, &run->moved[number], &result, error);
    if (run->may_move[number] && number == 0)
        snprintf(run->precision, sizeof run->precision, "%.15s", result.precision ? result.precision : "");
    run_result_free(&result);
    return run->may_move[number];
}

bool run_sustained_move(struct run_sustained *run, struct orch_error *error)
{
    unsigned taken = 0;
    for (unsigned i = 0; i < run_sustained_parts(run); i++) {
        if (!run->request->steer_unit)
            try_move(run, i, &taken);
        else if (!move_to_unit(run, i, error))
            return false;
    }
    return true;
}

bool run_sustained_tell_move(const struct run_sustained *run, struct run_result *r)
{
    char text[200];
    if (!run->request->steer_unit)
        return true;
    snprintf(text, sizeof text,
             "work that moves is computed by the %s%s%s; what it needs is in memory that both see, and a move costs what one "
             "between cores does",
             run->request->steer_unit, run->precision[0] ? " in " : "", run->precision);
    return run_assumption_add(&r->assumptions, "steering", "inferred", text);
}
