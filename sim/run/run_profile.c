#include "sim/run/run_profile.h"
#include "isa/array_count.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The second clock is low enough to separate the parts of the time and high enough for every chip to have it. */
#define SECOND_SHARE 0.6

enum { OVERRIDES_MAX = 64, TEXT_BYTES = 1024 };

/* Keys of the clocks that move with a domain: single numbers, or lists by the number of active cores. */
static const char *const *clock_keys(enum power_domain driver)
{
    static const char *const p[] = {"cpu_p.clock_ghz", "amx.clock_ghz", NULL}, *const e[] = {"cpu_e.clock_ghz", "amx_e.clock_ghz",
                                                                                             NULL};
    static const char *const gpu[] = {"gpu.clock_ghz", NULL}, *const ane[] = {"ane.clock_ghz", NULL}, *const none[] = {NULL};

    switch (driver) {
    case POWER_P_CPU:
    case POWER_AMX: return p;
    case POWER_E_CPU: return e;
    case POWER_GPU: return gpu;
    case POWER_ANE: return ane;
    default: return none;
    }
}

static void scaled_override(const struct chip *chip, const char *key, double share, char *text)
{
    const struct chip_value *const v = chip_value(chip, key);
    int used = snprintf(text, TEXT_BYTES, "%s=", key);

    if (v->list && v->count > 1) {
        for (size_t i = 0; i < v->count && used < TEXT_BYTES - 40; i++)
            used += snprintf(text + used, (size_t)(TEXT_BYTES - used), "%s%.9g", i ? "," : "[", v->list[i] * share);
        snprintf(text + used, (size_t)(TEXT_BYTES - used), "]");
    } else {
        snprintf(text + used, (size_t)(TEXT_BYTES - used), "%.9g", v->number * share);
    }
}

struct chip *run_chip_at_share(const struct chip_db *db, const struct chip *chip, const struct chip_overrides *overrides,
                               enum power_domain driver, double share, struct orch_error *error)
{
    const char *text[OVERRIDES_MAX + 2];
    char own[2][TEXT_BYTES];
    size_t count = 0, mine = 0;

    for (size_t i = 0; overrides && i < overrides->count && count < OVERRIDES_MAX; i++)
        text[count++] = overrides->text[i];
    for (const char *const *key = clock_keys(driver); *key; key++) {
        const struct chip_value *const v = chip_value(chip, *key);
        if (v && v->known && mine < 2) {
            scaled_override(chip, *key, share, own[mine]);
            text[count++] = own[mine++];
        }
    }
    const struct chip_overrides all = {text, count};
    return chip_open(db, chip_id(chip), &all, error);
}

static bool simulate(const struct run_request *request, struct run_result *result, struct power_profile *profile,
                     struct orch_error *error)
{
    struct run *const run = run_prepare(request, error);

    if (!run)
        return false;
    bool ok = run_execute(run, NULL, 1, result, error);
    if (ok) {
        const struct energy_run *const energy = run_energy(run);
        if (energy)
            *profile = energy->profile;
        else
            ok = orch_fail(error, ORCH_UNMODELLED, "%s on %s: its energy is not known, which a run in a device needs",
                           request->workload, chip_id(request->chip));
    }
    run_free(run);
    return ok;
}

/* Kernels of the AMX, the GPU and the Neural Engine need no values for their times; programs of the CPU do. */
static bool has_timing_mode(const struct run_request *q)
{
    struct run_request timing = *q;
    timing.mode = RUN_TIMING;
    struct run *const run = run_prepare(&timing, NULL);
    run_free(run);
    return run != NULL;
}

/* Copies of a program that are repeated start again on their own core as soon as they end: fast cores do not wait for slow ones,
 * nor slow ones for fast ones when these are throttled. What the caches and memory of a shared run cost per copy is kept. */
static void keep_cores_busy(struct power_profile *p, const struct chip *chip)
{
    static const enum power_domain cores[] = {POWER_P_CPU, POWER_E_CPU};
    double ghz;

    if (p->driver == POWER_P_CPU && p->slices[POWER_E_CPU] &&
        chip_number_active(chip, "cpu_e.clock_ghz", p->slices[POWER_E_CPU], &ghz, NULL))
        p->own_mhz[POWER_E_CPU] = ghz * 1e3;

    for (size_t i = 0; i < ARRAY_COUNT(cores); i++) {
        const enum power_domain d = cores[i];
        const double all = p->slices[d] * p->seconds;
        if (p->running_s[d] <= 0 || p->running_s[d] >= all)
            continue;
        p->event_j[d] *= all / p->running_s[d];
        p->running_s[d] = all;
        p->waiting_s[d] = p->shared_waiting_s[d] = 0;
        p->shared_running_s[d] = fmax(p->shared_running_s[d], p->seconds);
    }
}

/* Time that the domain's clock decides: of the whole run, or of a core of the driver when other cores run beside it and may take
 * longer. */
static double driver_seconds(const struct power_profile *p, bool cores)
{
    const unsigned slices = p->slices[p->driver];
    return cores && slices ? p->running_s[p->driver] / slices : p->seconds;
}

bool run_profile_split(const struct run_request *request, const struct chip_db *db, const struct chip_overrides *overrides,
                       struct power_profile *profile, struct orch_error *error)
{
    struct run_request slower = *request;
    struct power_profile second;
    struct run_result other;

    struct chip *const chip = run_chip_at_share(db, request->chip, overrides, profile->driver, SECOND_SHARE, error);
    if (!chip)
        return false;
    slower.chip = chip;
    slower.program_output = NULL;
    slower.output_folder = NULL;
    slower.sanitize = false;
    if (has_timing_mode(&slower))
        slower.mode = RUN_TIMING;
    run_result_init(&other);
    const bool ok = simulate(&slower, &other, &second, error);
    run_result_free(&other);
    chip_close(chip);
    if (!ok)
        return false;
    /* t = fixed + work / share, at shares 1 and SECOND_SHARE. */
    const double once = driver_seconds(profile, request->cores > 1), later = driver_seconds(&second, request->cores > 1);
    const double work = once > 0 ? (later - once) / (1 / SECOND_SHARE - 1) / once : 1;
    profile->fixed_s = fmin(fmax(1 - work, 0), 1) * profile->seconds;
    if (request->cores > 1)
        keep_cores_busy(profile, request->chip);
    return true;
}

bool run_profile(const struct run_request *request, const struct chip_db *db, const struct chip_overrides *overrides,
                 struct power_profile *profile, struct run_result *result, struct orch_error *error)
{
    if (!simulate(request, result, profile, error))
        return false;
    profile->dram_bytes = isnan(result->dram_bytes) ? 0 : result->dram_bytes;
    return run_profile_split(request, db, overrides, profile, error);
}
