#include "sim/prove/validate/validate_kernel.h"

#include "sim/run/run.h"

static bool run_on(const struct chip *chip, const struct validate_program *p, struct validate_timing *t, struct orch_error *error)
{
    const struct run_request request = {.chip = chip,
                                        .workload = p->workload,
                                        .mode = RUN_TIMING,
                                        .seed = 1,
                                        .precision = p->precision[0] ? p->precision : NULL,
                                        .core_choice = p->core == VALIDATE_E_CORE ? SOC_E_CORE : SOC_P_CORE};
    struct run_result result;
    struct run *const run = run_prepare(&request, error);
    run_result_init(&result);
    const bool ok = run && run_execute(run, NULL, 1, &result, error);
    if (ok) {
        *t = (struct validate_timing){
            .seconds = result.seconds, .threads = 1, .thread_seconds = {result.seconds}, .parameters = run_parameters_sd(run)};
    }
    run_result_free(&result);
    run_free(run);
    return ok;
}

static bool run_row(void *context, const struct validate_program *p, struct validate_timing *t, struct orch_error *error)
{
    const struct validate_kernel *const v = context;
    if (p->threads != 1)
        return orch_fail(error, ORCH_UNMODELLED, "library kernels run on one core; this row used more");
    struct chip *const chip = chip_open(v->db, p->chip, v->overrides, error);
    const bool ok = chip && run_on(chip, p, t, error);
    if (chip)
        chip_close(chip);
    return ok;
}

struct validate_runner validate_kernel_runner(struct validate_kernel *context)
{
    return (struct validate_runner){run_row, context};
}
