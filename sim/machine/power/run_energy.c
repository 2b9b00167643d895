#include "sim/machine/power/run_energy.h"

#include "isa/array_count.h"
#include "sim/chip/chip_units.h"

#include <math.h>

/* ---- the chip ---- */

bool energy_model_open(struct energy_model *model, const struct chip *chip, struct orch_error *error)
{
    bool ok = chip_power_params(chip, &model->params, error) && chip_power_slices(chip, model->slices, error) &&
              chip_number(chip, "memory_peak_GBps", &model->memory_gbps, error);
    for (enum power_domain d = 0; ok && d < POWER_DOMAIN_COUNT; d++)
        ok = chip_opp_table(chip, d, &model->table[d], error);
    return ok;
}

double energy_reference_celsius(const struct energy_model *model)
{
    return model->params.leakage_reference_c;
}

/* ---- filling in ---- */

static double top_mhz(const struct opp_table *table)
{
    return table->count ? table->point[table->count - 1].mhz : 0;
}

static void set_point(struct energy_run *run, const struct energy_model *model, enum power_domain domain, double mhz)
{
    run->mhz[domain] = mhz;
    run->volts[domain] = opp_volts(&model->table[domain], mhz);
}

void energy_run_start(struct energy_run *run, const struct energy_model *model, double seconds, double device_s)
{
    *run = (struct energy_run){.profile = {.driver = POWER_SOC, .seconds = seconds, .fixed_s = NAN}, .device_s = device_s};
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++)
        set_point(run, model, d, top_mhz(&model->table[d]));
    run->mhz[POWER_DRAM] = run->mhz[POWER_FABRIC]; /* its voltage does not change with the clock */
    run->volts[POWER_SOC] = model->params.domain[POWER_SOC].volts;
    energy_run_set_slices(run, model, POWER_SOC, model->slices[POWER_SOC], model->slices[POWER_SOC] * seconds,
                          run->mhz[POWER_FABRIC]);
    run->volts[POWER_SOC] = model->params.domain[POWER_SOC].volts;
}

void energy_run_add_activity(struct energy_run *run, const struct energy_model *model, const struct activity *activity,
                             enum power_domain from)
{
    const uint64_t *const n = activity->count;
    const double dram = (double)(n[ACT_DRAM_READ_BYTES] + n[ACT_DRAM_WRITE_BYTES]);
    power_price(&model->params, activity, from, run->profile.event_j);
    run->profile.dram_bytes += dram;
    run->memory_bytes += (double)(n[ACT_SLC_READ_BYTES] + n[ACT_SLC_WRITE_BYTES]) + dram;
}

void energy_run_set_slices(struct energy_run *run, const struct energy_model *model, enum power_domain domain, unsigned slices,
                           double running_s, double mhz)
{
    struct power_profile *const p = &run->profile;
    p->slices[domain] = slices;
    p->running_s[domain] = fmin(running_s, slices * p->seconds);
    p->waiting_s[domain] = slices * p->seconds - p->running_s[domain];
    p->shared_running_s[domain] = slices ? p->running_s[domain] / slices : 0;
    p->shared_waiting_s[domain] = slices ? p->seconds - p->shared_running_s[domain] : 0;
    set_point(run, model, domain, mhz);
}

void energy_run_set_memory(struct energy_run *run, const struct energy_model *model)
{
    static const enum power_domain memory[] = {POWER_SLC, POWER_FABRIC, POWER_DRAM};
    const double most = model->memory_gbps * 1e9 * run->profile.seconds;
    for (size_t i = 0; i < ARRAY_COUNT(memory); i++) {
        const enum power_domain d = memory[i];
        const double bytes = d == POWER_DRAM ? run->profile.dram_bytes : run->memory_bytes;
        const double share = most > 0 ? fmin(1, bytes / most) : 0, volts = run->volts[d];
        energy_run_set_slices(run, model, d, model->slices[d], share * model->slices[d] * run->profile.seconds, run->mhz[d]);
        run->volts[d] = volts;
    }
}

/* ---- cores ---- */

static enum power_domain domain_of(const struct soc_core *core)
{
    return core->performance ? POWER_P_CPU : POWER_E_CPU;
}

/* Time in which the block worked for this core: neither while the core had sent nothing nor for other cores. */
static double busy_seconds(const struct soc_core *core)
{
    double cycles[AMX_STALL_COUNT], total;
    amx_block_stalls(core->amx, core->slot, cycles, &total);
    return fmax(0, total - cycles[AMX_STALL_CPU] - cycles[AMX_STALL_SHARED]) / (core->amx_clock_ghz * 1e9);
}

/* A core that has no thread to run waits for an interrupt: it is priced as a waiting slice. */
static double work_seconds(const struct soc_core *core)
{
    return fmax(0, soc_core_done_at(core) - soc_core_idle_ns(core)) * 1e-9;
}

static void add_core(struct energy_cores *to, const struct soc_core *core)
{
    const enum power_domain d = domain_of(core);
    to->seconds[d] += work_seconds(core);
    to->mhz[d] = (to->mhz[d] * to->slices[d] + core->clock_ghz * 1e3) / (to->slices[d] + 1);
    to->slices[d]++;
}

static void add_block(struct energy_cores *to, struct soc_core *const *cores, unsigned count, unsigned first)
{
    double busy = 0, most = 0;
    for (unsigned i = first; i < count; i++) {
        if (cores[i]->amx != cores[first]->amx)
            continue;
        busy += busy_seconds(cores[i]);
        most = fmax(most, soc_core_done_at(cores[i]) * 1e-9);
    }
    if (busy <= 0)
        return;
    to->seconds[POWER_AMX] += fmin(busy, most);
    to->shared_seconds[POWER_AMX] += fmin(busy, most);
    to->mhz[POWER_AMX] = cores[first]->amx_clock_ghz * 1e3;
    to->slices[POWER_AMX]++;
    to->rail_mhz = cores[first]->clock_ghz * 1e3;
    to->rail = domain_of(cores[first]);
}

static bool is_first_of_cluster(struct soc_core *const *cores, unsigned i)
{
    for (unsigned k = 0; k < i; k++)
        if (cores[k]->cluster == cores[i]->cluster)
            return false;
    return true;
}

/* Time in which some core of the cluster works: not longer than all of them together, one after another. */
static double cluster_seconds(struct soc_core *const *cores, unsigned count, unsigned cluster)
{
    double most = 0, sum = 0;
    for (unsigned i = 0; i < count; i++)
        if (cores[i]->cluster == cluster) {
            most = fmax(most, soc_core_done_at(cores[i]) * 1e-9);
            sum += work_seconds(cores[i]);
        }
    return fmin(most, sum);
}

void energy_cores_add(struct energy_cores *to, struct soc_core *const *cores, unsigned count)
{
    *to = (struct energy_cores){.rail = POWER_P_CPU};
    for (unsigned i = 0; i < count; i++) {
        add_core(to, cores[i]);
        if (!is_first_of_cluster(cores, i))
            continue;
        to->clusters[domain_of(cores[i])]++;
        to->shared_seconds[domain_of(cores[i])] += cluster_seconds(cores, count, cores[i]->cluster);
        if (cores[i]->amx)
            add_block(to, cores, count, i);
    }
}

void energy_cores_more(struct energy_cores *to, const struct soc_core *core, double core_seconds, double block_seconds)
{
    to->seconds[domain_of(core)] += core_seconds;
    to->shared_seconds[domain_of(core)] += core_seconds;
    if (!to->slices[POWER_AMX])
        return;
    to->seconds[POWER_AMX] += block_seconds;
    to->shared_seconds[POWER_AMX] += block_seconds;
}

void energy_cores_sum(struct energy_cores *to, const struct energy_cores *pass)
{
    struct energy_cores sum = *pass;
    for (int d = 0; d < POWER_DOMAIN_COUNT; d++) {
        sum.seconds[d] += to->seconds[d];
        sum.shared_seconds[d] += to->shared_seconds[d];
        sum.mhz[d] = pass->slices[d] ? pass->mhz[d] : to->mhz[d];
        sum.slices[d] = pass->slices[d] > to->slices[d] ? pass->slices[d] : to->slices[d];
        sum.clusters[d] = pass->clusters[d] > to->clusters[d] ? pass->clusters[d] : to->clusters[d];
    }
    if (!pass->slices[POWER_AMX]) {
        sum.rail = to->rail;
        sum.rail_mhz = to->rail_mhz;
    }
    *to = sum;
}

void energy_run_set_cores(struct energy_run *run, const struct energy_model *model, const struct energy_cores *c)
{
    static const enum power_domain domains[] = {POWER_P_CPU, POWER_E_CPU, POWER_AMX};
    struct power_profile *const p = &run->profile;
    for (size_t i = 0; i < ARRAY_COUNT(domains); i++) {
        const enum power_domain d = domains[i];
        if (!c->slices[d])
            continue;
        energy_run_set_slices(run, model, d, c->slices[d], c->seconds[d], c->mhz[d]);
        p->shared_running_s[d] = c->shared_seconds[d];
        p->shared_waiting_s[d] = fmax(0, c->clusters[d] * p->seconds - c->shared_seconds[d]);
    }
    if (c->slices[POWER_AMX])
        run->volts[POWER_AMX] = opp_volts(&model->table[c->rail], c->rail_mhz);
}

/* ---- pricing ---- */

/* What a domain did in the run, as power_interval takes it. */
static struct power_use energy_run_use(const struct energy_run *run, const struct energy_model *model, enum power_domain d)
{
    const struct power_profile *const p = &run->profile;
    return (struct power_use){
        .seconds = p->seconds,
        .running_s = p->running_s[d],
        .waiting_s = p->waiting_s[d],
        .gated_s = fmax(0, model->slices[d] * p->seconds - p->running_s[d] - p->waiting_s[d]),
        .any_running_s = p->shared_running_s[d],
        .any_waiting_s = p->shared_waiting_s[d],
        .event_j = p->event_j[d],
    };
}

/* Use of a domain while the unit is not at work: what runs longer than the unit (the rest of the chip) goes on, other slices with
 * a clock wait. */
static struct power_use overhead_use(const struct power_use *whole, const struct energy_run *run, unsigned slices)
{
    const double share = whole->seconds > 0 ? fmax(0, 1 - run->device_s / whole->seconds) : 0;
    const double running_s = fmax(0, whole->running_s - slices * run->device_s);
    const double any_running_s = fmax(0, whole->any_running_s - run->device_s);
    return (struct power_use){
        .seconds = share * whole->seconds,
        .running_s = running_s,
        .waiting_s = fmax(0, share * (whole->running_s + whole->waiting_s) - running_s),
        .gated_s = share * whole->gated_s,
        .any_running_s = any_running_s,
        .any_waiting_s = fmax(0, share * (whole->any_running_s + whole->any_waiting_s) - any_running_s),
    };
}

void energy_report(const struct energy_run *run, const struct energy_model *model, double celsius, struct energy_report *report)
{
    double overhead_j = 0;
    *report = (struct energy_report){.joules = 0};
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        const struct power_point point = {run->volts[d], run->mhz[d], celsius};
        const struct power_use use = energy_run_use(run, model, d), rest = overhead_use(&use, run, model->slices[d]);
        const struct power_energy idle = power_interval(&model->params, d, &rest, &point);
        report->domain[d] = power_interval(&model->params, d, &use, &point);
        report->joules += power_energy_sum(&report->domain[d]);
        overhead_j += power_energy_sum(&idle);
    }
    report->watts = run->profile.seconds > 0 ? report->joules / run->profile.seconds : NAN;
    report->busy_watts = run->device_s > 0 ? (report->joules - overhead_j) / run->device_s : report->watts;
}
