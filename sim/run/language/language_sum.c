#include "isa/list_grow.h"
#include "sim/run/language/language_unit_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct known_shape *language_find(struct language_unit *u, const char *key)
{
    for (size_t i = u->count; i-- > 0;)
        if (strcmp(u->known[i].key, key) == 0)
            return &u->known[i];
    return NULL;
}

struct known_shape *language_remember(struct language_unit *u, const char *key, struct orch_error *error)
{
    struct known_shape *const grown = list_grow(u->known, u->count, &u->room, sizeof *grown);
    if (!grown) {
        orch_no_memory(error);
        return NULL;
    }
    u->known = grown;
    struct known_shape *const k = &grown[u->count++];
    memset(k, 0, sizeof *k);
    run_result_init(&k->result);
    snprintf(k->key, sizeof k->key, "%s", key);
    return k;
}

/* The energy of the kernel by itself, and what its command buffer adds. */
void language_price(const struct language_unit *u, const struct run *run, const struct run_measure *m, const struct run_result *r,
                    struct known_shape *k)
{
    k->device_seconds = run->kind->part == PART_GPU ? r->device_seconds : r->seconds;
    k->joules = r->joules;
    k->launches = run->kind->part == PART_GPU ? fmax(1, (double)r->placement.count) : 0;
    if (!u->has_energy)
        return;
    const double joules =
        run_joules_profiled(run->kind, &u->model, m, u->request->celsius, k->device_seconds, k->device_seconds, &k->profile);
    if (run->kind->part != PART_GPU)
        return;
    k->joules = joules;
    k->launch_joules = r->joules - k->joules;
}

/* Adds a share of the joules of each part. */
static bool add_parts(struct language_unit *u, const struct run_result *r, double share)
{
    bool ok = true;
    for (size_t i = 0; ok && i < r->joules_by.count; i++)
        ok = run_values_add(&u->result->joules_by, r->joules_by.item[i].name, share * r->joules_by.item[i].value);
    for (size_t i = 0; ok && i < r->counters.count; i++)
        if (strncmp(r->counters.item[i].name, "energy.", 7) == 0)
            ok = run_values_add(&u->result->counters, r->counters.item[i].name, share * r->counters.item[i].value);
    return ok;
}

/* Where the bytes of a chip of two dies went: what crossed the link between them, too. */
static bool add_dies(struct language_unit *u, const struct run_result *r, double times)
{
    bool ok = true;
    for (size_t i = 0; ok && i < r->counters.count; i++)
        if (strncmp(r->counters.item[i].name, "traffic.die", 11) == 0)
            ok = run_values_add(&u->result->counters, r->counters.item[i].name, times * r->counters.item[i].value);
    return ok;
}

/* Adds `times` kernels of a known shape. */
bool language_add(struct language_unit *u, const struct known_shape *k, double times, struct language_sum *sum)
{
    const struct run_result *const r = &k->result;
    const uint64_t *const n = k->activity.count;
    const double seconds = times * k->device_seconds, whole = times * r->seconds,
                 share = r->seconds > 0 ? k->device_seconds / r->seconds : 0;
    const double joules_share = r->joules > 0 ? k->joules / r->joules : 0;
    bool ok = true;
    *sum = (struct language_sum){sum->seconds + seconds,
                                 sum->seconds_low + times * share * r->seconds_low,
                                 sum->seconds_high + times * share * r->seconds_high,
                                 sum->joules + times * k->joules,
                                 sum->joules_low + times * joules_share * r->joules_low,
                                 sum->joules_high + times * joules_share * r->joules_high,
                                 sum->flops + times * k->operation.flops,
                                 sum->macs + times * k->operation.macs,
                                 sum->launch_seconds,
                                 sum->launch_joules,
                                 sum->launch_shape,
                                 sum->kernels + (uint64_t)times,
                                 sum->launches + times * k->launches,
                                 sum->slc_bytes + times * (double)(n[ACT_SLC_READ_BYTES] + n[ACT_SLC_WRITE_BYTES]),
                                 sum->dram_read_bytes + times * (double)n[ACT_DRAM_READ_BYTES],
                                 sum->dram_written_bytes + times * (double)n[ACT_DRAM_WRITE_BYTES]};
    if (r->seconds - k->device_seconds > sum->launch_seconds) {
        sum->launch_seconds = r->seconds - k->device_seconds;
        sum->launch_joules = k->launch_joules;
        sum->launch_shape = (size_t)(k - u->known);
    }
    for (unsigned i = 0; i < (unsigned)times; i++)
        activity_add(&u->activity, &k->activity);
    u->seconds += seconds;
    power_profile_add(&u->profile, &k->profile, times, 1);
    /* Stalls and utilisation of a kernel are shares of the time that it takes with its command buffer. */
    for (int i = 0; i < RUN_UTILISATION_COUNT; i++)
        if (!isnan(r->utilisation[i]))
            u->result->utilisation[i] =
                (isnan(u->result->utilisation[i]) ? 0 : u->result->utilisation[i]) + whole * r->utilisation[i];
    for (size_t i = 0; ok && i < r->stalls.count; i++) {
        if (strcmp(r->stalls.item[i].name, RUN_STALL_LAUNCH) == 0)
            continue; /* once for a step, not for each kernel */
        u->stall_seconds += whole * r->stalls.item[i].value;
        ok = run_values_add(&u->result->stalls, r->stalls.item[i].name, whole * r->stalls.item[i].value);
    }
    ok = ok && add_parts(u, r, times * joules_share) && add_dies(u, r, times);
    u->result->watts_peak = fmax(u->result->watts_peak, r->watts_peak);
    const struct run_assumption *const adopted = run_assumption_find(&r->assumptions, RUN_ENERGY_ADOPTED);
    if (ok && adopted && !run_assumption_find(&u->result->assumptions, RUN_ENERGY_ADOPTED))
        ok = run_assumption_add(&u->result->assumptions, adopted->key, adopted->kind, adopted->effect);
    return ok;
}

/* While the GPU waits for a command buffer or between launches, it and what all share has a clock and no work. */
static void add_waiting(struct language_unit *u, double seconds)
{
    static const enum power_domain waits[] = {POWER_GPU, POWER_SLC, POWER_FABRIC, POWER_DRAM, POWER_SOC};
    struct power_profile *const p = &u->profile;
    p->seconds += seconds;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        p->waiting_s[waits[i]] += p->slices[waits[i]] * seconds;
        p->shared_waiting_s[waits[i]] += p->slices[waits[i]] ? seconds : 0;
    }
}

bool language_unit_profile(const struct language_unit *u, enum orch_part part, struct power_profile *profile)
{
    *profile = u->profile;
    if (!u->has_energy || !u->has_driver[part])
        return false;
    profile->driver = u->driver[part];
    profile->mhz = u->driver_mhz[part];
    return true;
}

double language_unit_share(const struct language_unit *unit, enum orch_part part)
{
    return unit->macs > 0 ? unit->macs_on[part] / unit->macs : NAN;
}

void language_sum_add(struct language_sum *sum, const struct language_sum *part)
{
    *sum = (struct language_sum){sum->seconds + part->seconds,
                                 sum->seconds_low + part->seconds_low,
                                 sum->seconds_high + part->seconds_high,
                                 sum->joules + part->joules,
                                 sum->joules_low + part->joules_low,
                                 sum->joules_high + part->joules_high,
                                 sum->flops + part->flops,
                                 sum->macs + part->macs,
                                 sum->launch_seconds + part->launch_seconds,
                                 sum->launch_joules + part->launch_joules,
                                 sum->launch_shape,
                                 sum->kernels + part->kernels,
                                 sum->launches + part->launches,
                                 sum->slc_bytes + part->slc_bytes,
                                 sum->dram_read_bytes + part->dram_read_bytes,
                                 sum->dram_written_bytes + part->dram_written_bytes};
}

double language_unit_between_s(const struct language_unit *unit)
{
    return unit->between_s;
}

bool language_unit_overlap(struct language_unit *u, struct language_sum *sum, double seconds, struct orch_error *error)
{
    const double shorter = sum->seconds > 0 ? 1 - seconds / sum->seconds : 1;
    double idle_j = 0;
    sum->seconds *= shorter;
    sum->seconds_low *= shorter;
    sum->seconds_high *= shorter;
    u->seconds -= seconds;
    if (u->has_energy && !run_joules_without_idle(&u->model, u->request->celsius, seconds, u->result, &idle_j))
        return orch_no_memory(error);
    sum->joules -= idle_j;
    sum->joules_low -= idle_j;
    sum->joules_high -= idle_j;
    return true;
}

bool language_unit_close_steps(struct language_unit *u, struct language_sum *sum, double steps, struct orch_error *error)
{
    if (sum->launch_seconds <= 0)
        return true;
    const struct known_shape *const k = &u->known[sum->launch_shape];
    /* Each launch but the first of a command buffer waits for the one before it; the GPU idles as it does around the buffer. */
    const double between = fmax(0, sum->launches - steps) * u->between_s;
    sum->launch_joules *= steps + between / sum->launch_seconds;
    sum->launch_seconds = sum->launch_seconds * steps + between;
    const double seconds = sum->launch_seconds, joules = sum->launch_joules;
    sum->seconds += seconds;
    sum->seconds_low += seconds;
    sum->seconds_high += seconds;
    sum->joules += joules;
    sum->joules_low += joules;
    sum->joules_high += joules;
    u->seconds += seconds;
    u->stall_seconds += seconds;
    add_waiting(u, seconds);
    const double share = k->result.joules > 0 ? joules / k->result.joules : 0;
    return (run_values_add(&u->result->stalls, RUN_STALL_LAUNCH, seconds) && add_parts(u, &k->result, share)) ||
           orch_no_memory(error);
}
