/* The energy of a run of any kind, from its measure. */
#include "sim/run/run_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

/* ---- what ran ---- */

void run_energy_of_gpu(const struct energy_model *model, const struct run_measure *m, struct energy_run *e)
{
    const struct run_gpu *g = &m->gpu;
    const double share = g->groups && g->groups < model->slices[POWER_GPU] ? (double)g->groups / model->slices[POWER_GPU] : 1;

    energy_run_add_activity(e, model, &m->activity, POWER_GPU);
    energy_run_set_slices(e, model, POWER_GPU, model->slices[POWER_GPU], share * model->slices[POWER_GPU] * e->device_s,
                          g->params.clock_ghz * 1e3);
    e->profile.shared_running_s[POWER_GPU] = e->device_s;
    e->profile.shared_waiting_s[POWER_GPU] = e->profile.seconds - e->device_s;
    e->profile.driver = POWER_GPU;
}

void run_energy_of_ane(const struct energy_model *model, const struct run_measure *m, struct energy_run *e)
{
    energy_run_add_activity(e, model, &m->activity, POWER_ANE);
    energy_run_set_slices(e, model, POWER_ANE, model->slices[POWER_ANE], model->slices[POWER_ANE] * e->device_s,
                          m->ane.timed.params.clock_ghz * 1e3);
    e->profile.driver = POWER_ANE;
}

void run_energy_of_cores(const struct energy_model *model, const struct run_measure *m, struct energy_run *e)
{
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        energy_run_add_activity(e, model, &m->by[d], d);
    energy_run_set_cores(e, model, &m->busy);
    e->profile.driver = m->busy.slices[POWER_P_CPU] ? POWER_P_CPU : POWER_E_CPU;
}

static void take(const struct run_kind *kind, const struct energy_model *model, const struct run_measure *m, double seconds,
                 double device_seconds, struct energy_run *e)
{
    energy_run_start(e, model, seconds, device_seconds);
    kind->energy(model, m, e);
    energy_run_set_memory(e, model);
}

static double celsius_of(const struct energy_model *model, double asked)
{
    return asked != 0 ? asked : energy_reference_celsius(model);
}

double run_joules_profiled(const struct run_kind *kind, const struct energy_model *model, const struct run_measure *m,
                           double celsius, double seconds, double device_seconds, struct power_profile *profile)
{
    struct energy_run e;
    struct energy_report report;
    take(kind, model, m, seconds, device_seconds, &e);
    energy_report(&e, model, celsius_of(model, celsius), &report);
    *profile = e.profile;
    profile->mhz = e.mhz[profile->driver];
    return report.joules;
}

double run_joules_of(const struct run_kind *kind, const struct energy_model *model, const struct run_measure *m, double celsius,
                     double seconds, double device_seconds)
{
    struct power_profile unused;
    return run_joules_profiled(kind, model, m, celsius, seconds, device_seconds, &unused);
}

/* ---- results ---- */

static const enum orch_part part_of[] = {
    [POWER_P_CPU] = PART_CPU,     [POWER_E_CPU] = PART_CPU, [POWER_AMX] = PART_AMX,
    [POWER_GPU] = PART_GPU,       [POWER_ANE] = PART_ANE,   [POWER_SLC] = PART_SLC,
    [POWER_FABRIC] = PART_FABRIC, [POWER_DRAM] = PART_DRAM, [POWER_SOC] = PART_SOC,
};

static bool add_counter(struct run_result *r, enum power_domain domain, const char *kind, double joules)
{
    char name[64];
    if (joules == 0)
        return true;
    snprintf(name, sizeof name, "energy.%s.%s", power_domain_name(domain), kind);
    for (char *c = name; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return run_values_add(&r->counters, name, joules);
}

bool run_joules_add(const struct energy_report *report, struct run_result *r)
{
    bool ok = true;
    r->joules = report->joules;
    r->watts_avg = report->watts;
    r->watts_peak = report->busy_watts;
    for (enum power_domain d = 0; ok && d < POWER_DOMAIN_COUNT; d++) {
        const struct power_energy *e = &report->domain[d];
        ok = run_values_add(&r->joules_by, orch_part_name(part_of[d]), power_energy_sum(e)) &&
             add_counter(r, d, "dynamic", e->dynamic_j) && add_counter(r, d, "clock", e->clock_j) &&
             add_counter(r, d, "leakage", e->leakage_j);
    }
    return ok;
}

bool run_joules_without_idle(const struct energy_model *model, double celsius, double seconds, struct run_result *r,
                             double *joules)
{
    struct energy_run e;
    struct energy_report report;
    bool ok = true;
    energy_run_start(&e, model, seconds, 0);
    energy_run_set_memory(&e, model);
    energy_report(&e, model, celsius_of(model, celsius), &report);
    *joules = report.joules;
    for (enum power_domain d = 0; ok && d < POWER_DOMAIN_COUNT; d++) {
        const struct power_energy *const p = &report.domain[d];
        ok = run_values_add(&r->joules_by, orch_part_name(part_of[d]), -power_energy_sum(p)) &&
             add_counter(r, d, "dynamic", -p->dynamic_j) && add_counter(r, d, "clock", -p->clock_j) &&
             add_counter(r, d, "leakage", -p->leakage_j);
    }
    return ok;
}

/* ---- the whole ---- */

bool run_joules(struct run *run, const struct run_measure *m, struct run_result *r, struct orch_error *error)
{
    struct energy_model model;
    struct energy_report report;
    if (run->request->mode == RUN_FUNCTIONAL || run->kind->sums_joules)
        return true;
    if (!energy_model_open(&model, run->request->chip, NULL)) /* a chip without power keys: its runs have no joules */
        return true;
    struct energy_run *const e = &run->energy;
    take(run->kind, &model, m, r->seconds, r->device_seconds, e);
    e->profile.mhz = e->mhz[e->profile.driver];
    e->profile.flops = isnan(r->flops) ? 0 : r->flops;
    run->has_energy = true;
    energy_report(e, &model, celsius_of(&model, run->request->celsius), &report);
    return (run_joules_add(&report, r) && run_joules_judge(run, &model, &report, m, r)) || orch_no_memory(error);
}

const struct energy_run *run_energy(const struct run *run)
{
    return run->has_energy ? &run->energy : NULL;
}
