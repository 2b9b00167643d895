#include "sim/prove/validate/run_runner.h"

#include "sim/prove/validate/request.h"

#include <math.h>
#include <stdlib.h>

/* ---- one request ---- */

static bool simulate(const struct run_request *request, struct run_answer *answer, struct orch_error *error)
{
    struct run_result result;
    struct run *const run = run_prepare(request, error);
    run_result_init(&result);
    const bool ok = run && run_execute(run, NULL, 1, &result, error);
    if (ok) {
        const struct energy_run *const energy = run_energy(run);
        *answer = (struct run_answer){.seconds = result.seconds,
                                      .device_seconds = result.device_seconds,
                                      .overhead_seconds = result.overhead_seconds,
                                      .cycles = result.cycles,
                                      .parameters = run_parameters_sd(run),
                                      .has_energy = energy != NULL};
        if (energy)
            answer->energy = *energy;
    }
    run_result_free(&result);
    run_free(run);
    return ok;
}

/* The command line is the key: it says everything that a request is. */
bool run_runner_ask(struct row_chip *chips, struct memo *memo, const struct validate_program *p, unsigned number,
                    struct run_answer *answer, struct orch_error *error)
{
    const struct chip *const chip = row_chip_open(chips, p, error);
    if (!chip)
        return false;
    struct run_request request = validate_request_on(p, number, chip);
    request.source_of_chip = row_chip_source(chips);
    char *const key = validate_request_command(&request, p->chip, row_chip_sets(chips));
    if (!key)
        return orch_no_memory(error);
    bool ok = memo_recall(memo, key, answer);
    if (!ok) {
        ok = simulate(&request, answer, error) && memo_remember(memo, key, answer, error);
        if (!ok)
            memo_forget(memo, key);
    }
    free(key);
    return ok;
}

/* ---- a row ---- */

/* The time of a request that counts; exactly `seconds` when the row is one run. */
static double time_of(const struct validate_program *p, unsigned number, const struct run_answer *a)
{
    const double times = validate_request_times(p, number);
    if (p->requests_apart)
        return times * a->seconds;
    return validate_request_whole(p, number) ? a->seconds + (times - 1) * a->device_seconds : times * a->device_seconds;
}

/* Cycles of all cores of the unit. */
static bool add_cycles(const struct chip *chip, const struct validate_program *p, unsigned number, const struct run_answer *a,
                       struct validate_timing *result, struct orch_error *error)
{
    double cores;
    if (p->measure != VALIDATE_WORK_PER_CYCLE && p->measure != VALIDATE_CYCLES_PER_WORK)
        return true;
    if (!chip_number(chip, "gpu_cores", &cores, error))
        return false;
    result->thread_cycles[0] += validate_request_times(p, number) * a->cycles * cores;
    return true;
}

bool run_runner_run(struct row_chip *chips, struct memo *memo, const struct validate_program *p, struct validate_timing *result,
                    struct orch_error *error)
{
    double deviation = 0;
    if (!p->launches && p->threads != 1)
        return orch_fail(error, ORCH_UNMODELLED, "library kernels run on one core; this row used more");
    *result = (struct validate_timing){.threads = 1};
    for (unsigned i = 0; i < validate_request_count(p); i++) {
        struct run_answer a;
        if (!run_runner_ask(chips, memo, p, i, &a, error) || !add_cycles(row_chip_open(chips, p, error), p, i, &a, result, error))
            return false;
        const double seconds = time_of(p, i, &a);
        if (i == 0)
            result->way_seconds = a.overhead_seconds;
        const bool second = i > 0 && p->measure == VALIDATE_RATIO;
        result->thread_seconds[second] += seconds;
        const double costs = p->requests_apart ? validate_request_times(p, i) : validate_request_whole(p, i) ? 1 : 0;
        result->overhead_seconds += second ? 0 : costs * a.overhead_seconds;
        deviation += seconds * a.parameters;
    }
    result->seconds = result->thread_seconds[0];
    result->parameters = fabs(deviation) / (result->thread_seconds[0] + result->thread_seconds[1]);
    return true;
}
