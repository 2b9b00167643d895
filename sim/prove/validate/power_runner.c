#include "sim/prove/validate/power_runner.h"

#include <math.h>
#include <string.h>

/* ---- a row ---- */

/* Adds the work of a launch `times` times; times and clocks are set when all launches are added. */
static void add(struct energy_run *sum, const struct energy_run *one, double times)
{
    const struct power_profile *const from = &one->profile;
    struct power_profile *const to = &sum->profile;
    for (int d = 0; d < POWER_DOMAIN_COUNT; d++) {
        to->event_j[d] += times * from->event_j[d];
        to->running_s[d] += times * from->running_s[d];
        to->slices[d] = from->slices[d] > to->slices[d] ? from->slices[d] : to->slices[d];
        sum->mhz[d] = one->mhz[d];
    }
    to->driver = from->driver;
    to->dram_bytes += times * from->dram_bytes;
    sum->memory_bytes += times * one->memory_bytes;
    sum->device_s += times * one->device_s;
}

static bool run_all(struct row_chip *chips, struct memo *memo, const struct energy_model *model, const struct validate_program *p,
                    struct energy_run *whole, struct orch_error *error)
{
    struct energy_run sum = {.device_s = 0};
    double overhead_s = 0;
    for (unsigned i = 0; i < p->launches; i++) {
        struct run_answer one;
        if (!run_runner_ask(chips, memo, p, i, &one, error))
            return false;
        if (!one.has_energy)
            return orch_fail(error, ORCH_UNMODELLED, "%s has no power keys", p->chip);
        add(&sum, &one.energy, p->launch[i].times);
        overhead_s = fmax(overhead_s, one.energy.profile.seconds - one.energy.device_s);
    }
    const struct validate_overhead *const harness = *p->framework ? validate_overhead_of(p->framework) : NULL;
    if (harness)
        overhead_s += validate_overhead_seconds(harness, p->framework_bytes, p->framework_out_bytes);
    overhead_s += p->idle_seconds;
    const enum power_domain driver = sum.profile.driver;
    energy_run_start(whole, model, sum.device_s + overhead_s, sum.device_s);
    memcpy(whole->profile.event_j, sum.profile.event_j, sizeof sum.profile.event_j);
    whole->profile.dram_bytes = sum.profile.dram_bytes;
    whole->memory_bytes = sum.memory_bytes;
    whole->profile.driver = driver;
    energy_run_set_slices(whole, model, driver, sum.profile.slices[driver], sum.profile.running_s[driver], sum.mhz[driver]);
    energy_run_set_memory(whole, model);
    return true;
}

/* A second with all domains behind closed gates; the always-on rest waits. */
static void idle(const struct energy_model *model, struct energy_run *whole)
{
    energy_run_start(whole, model, 1, 0);
    energy_run_set_slices(whole, model, POWER_SOC, model->slices[POWER_SOC], 0, whole->mhz[POWER_SOC]);
    whole->volts[POWER_SOC] = model->params.domain[POWER_SOC].volts;
}

void power_runner_report(const struct energy_run *run, const struct energy_model *model, const struct validate_program *p,
                         struct validate_timing *result)
{
    struct energy_report report;
    energy_report(run, model, p->celsius > 0 ? p->celsius : energy_reference_celsius(model), &report);
    for (int d = 0; d < POWER_DOMAIN_COUNT; d++)
        result->joules[d] = power_energy_sum(&report.domain[d]);
    result->seconds = run->profile.seconds;
}

bool power_runner_run(struct row_chip *chips, struct memo *memo, const struct validate_program *p, struct validate_timing *result,
                      struct orch_error *error)
{
    struct energy_run whole;
    struct energy_model model;
    const struct chip *const chip = row_chip_open(chips, p, error);
    if (!chip || !energy_model_open(&model, chip, error))
        return false;
    if (p->launches == 0)
        idle(&model, &whole);
    else if (!run_all(chips, memo, &model, p, &whole, error))
        return false;
    power_runner_report(&whole, &model, p, result);
    result->threads = 1;
    result->thread_seconds[0] = result->seconds;
    return true;
}
