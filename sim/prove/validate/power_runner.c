#include "sim/prove/validate/power_runner.h"

#include "sim/run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct power_runner {
    const struct chip_db *db;
    const struct chip_overrides *overrides;
    struct memo *memo; /* holds struct energy_run; owned by the caller */
    struct chip *chip; /* the last one used */
    struct energy_model model;
    char name[128];
};

struct power_runner *power_runner_create(const struct chip_db *db, const struct chip_overrides *overrides, struct memo *memo)
{
    struct power_runner *const r = calloc(1, sizeof *r);
    if (r) {
        r->db = db;
        r->overrides = overrides;
        r->memo = memo;
    }
    return r;
}

void power_runner_free(struct power_runner *r)
{
    if (!r)
        return;
    chip_close(r->chip);
    free(r);
}

static bool open_chip(struct power_runner *r, const char *name, struct orch_error *error)
{
    if (r->chip && strcmp(r->name, name) == 0)
        return true;
    chip_close(r->chip);
    snprintf(r->name, sizeof r->name, "%s", name);
    r->chip = chip_open(r->db, name, r->overrides, error);
    return r->chip && energy_model_open(&r->model, r->chip, error);
}

/* ---- one launch ---- */

static bool simulate(const struct power_runner *r, const struct validate_program *p, const struct validate_launch *l,
                     struct energy_run *out, struct orch_error *error)
{
    const struct run_request request = {
        .chip = r->chip,
        .workload = l->workload,
        .unit = p->ane ? "ane" : "gpu",
        .precision = *l->precision ? l->precision : NULL,
        .mode = RUN_TIMING,
        .cold = p->beyond_caches,
    };
    struct run_result result;
    struct run *const run = run_prepare(&request, error);
    run_result_init(&result);
    bool ok = run && run_execute(run, NULL, 1, &result, error);
    if (ok && !run_energy(run))
        ok = orch_fail(error, ORCH_UNMODELLED, "%s has no power keys", chip_id(r->chip));
    if (ok)
        *out = *run_energy(run);
    run_result_free(&result);
    run_free(run);
    return ok;
}

static bool run_launch(struct power_runner *r, const struct validate_program *p, const struct validate_launch *l,
                       struct energy_run *out, struct orch_error *error)
{
    char key[256];
    snprintf(key, sizeof key, "%.64s %.128s %.8s %d %d", p->chip, l->workload, l->precision, p->ane, p->beyond_caches);
    if (memo_recall(r->memo, key, out))
        return true;
    if (simulate(r, p, l, out, error) && memo_remember(r->memo, key, out, error))
        return true;
    memo_forget(r->memo, key);
    return false;
}

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

static bool run_all(struct power_runner *r, const struct validate_program *p, struct energy_run *whole, struct orch_error *error)
{
    struct energy_run sum = {.device_s = 0}, one;
    double overhead_s = 0;
    for (unsigned i = 0; i < p->launches; i++) {
        if (!run_launch(r, p, &p->launch[i], &one, error))
            return false;
        add(&sum, &one, p->launch[i].times);
        overhead_s = fmax(overhead_s, one.profile.seconds - one.device_s);
    }
    const struct validate_overhead *const harness = *p->framework ? validate_overhead_of(p->framework) : NULL;
    if (harness)
        overhead_s = fmax(0, overhead_s + validate_overhead_seconds(
                                              harness, p)); /* negative when the harness waits in a quicker way than usual */
    overhead_s += p->idle_seconds;
    const enum power_domain driver = sum.profile.driver;
    energy_run_start(whole, &r->model, sum.device_s + overhead_s, sum.device_s);
    memcpy(whole->profile.event_j, sum.profile.event_j, sizeof sum.profile.event_j);
    whole->profile.dram_bytes = sum.profile.dram_bytes;
    whole->memory_bytes = sum.memory_bytes;
    whole->profile.driver = driver;
    energy_run_set_slices(whole, &r->model, driver, sum.profile.slices[driver], sum.profile.running_s[driver], sum.mhz[driver]);
    energy_run_set_memory(whole, &r->model);
    return true;
}

/* A second with all domains behind closed gates; the always-on rest waits. */
static void idle(const struct power_runner *r, struct energy_run *whole)
{
    energy_run_start(whole, &r->model, 1, 0);
    energy_run_set_slices(whole, &r->model, POWER_SOC, r->model.slices[POWER_SOC], 0, whole->mhz[POWER_SOC]);
    whole->volts[POWER_SOC] = r->model.params.domain[POWER_SOC].volts;
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

bool power_runner_run(struct power_runner *r, const struct validate_program *p, struct validate_timing *result,
                      struct orch_error *error)
{
    struct energy_run whole;
    if (!open_chip(r, p->chip, error))
        return false;
    if (p->launches == 0)
        idle(r, &whole);
    else if (!run_all(r, p, &whole, error))
        return false;
    power_runner_report(&whole, &r->model, p, result);
    result->threads = 1;
    result->thread_seconds[0] = result->seconds;
    return true;
}
