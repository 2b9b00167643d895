/* Which policy of networks does most work in a machine over some time. */
#include "sim/scenario/run_sustained.h"

#include "isa/array_count.h"

#include <string.h>

static bool repetitions_by(const struct run_sustained_request *asked, const char *policy, double *repetitions,
                           struct orch_error *error)
{
    struct run_sustained_request q = *asked;
    struct sustain_result series = {0};
    struct run_result result;
    q.run.policy = policy;
    struct run_sustained *const run = run_sustained_prepare(&q, error);
    run_result_init(&result);
    const bool ok = run && run_sustained_execute(run, NULL, 1, &result, &series, error);
    *repetitions = ok ? series.repetitions[0] : 0;
    run_result_free(&result);
    sustain_result_free(&series);
    run_sustained_free(run);
    return ok;
}

/* From the fastest while it is cool to the one that heats least. */
bool run_sustained_policy(const struct run_sustained_request *q, struct run_sustained_choice *choice, struct orch_error *error)
{
    static const char *const policies[] = {"cost", "edp", "energy"};
    *choice = (struct run_sustained_choice){.policy = policies[0]};
    for (size_t i = 0; i < ARRAY_COUNT(policies); i++) {
        double repetitions;
        if (!repetitions_by(q, policies[i], &repetitions, error))
            return false;
        if (i == 0)
            choice->by_time = repetitions;
        if (repetitions > choice->repetitions) {
            choice->repetitions = repetitions;
            choice->policy = policies[i];
        }
    }
    return true;
}
