/* Launches of a GPU that was idle: its clock starts low, and its controller raises it by how busy it finds the GPU. */
#include "power/gpu_ramp.h"
#include "sim/chip/chip_power.h"
#include "sim/run/run_internal.h"
#include "sim/run/run_profile.h"

#include <math.h>
#include <stdio.h>

bool run_burst_check(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    const enum orch_part part = run->kind->part;
    const bool burst = q->burst.buffers || q->burst.launches;
    if (q->idle_s > 0 && part != PART_ANE && (part != PART_GPU || run->kind->composed))
        return orch_fail(
            error, ORCH_USAGE,
            ORCH_OPTION("idle") " belongs to kernels of the GPU and to the Neural Engine, which switch themselves off");
    if (burst && (part != PART_GPU || !(q->idle_s > 0)))
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("burst") " is of kernels on a GPU that was idle: " ORCH_OPTION("idle") " 1 says so");
    if (part != PART_GPU || !(q->idle_s > 0))
        return true;
    if (q->repeat > 1)
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("repeat") " goes on at one clock; " ORCH_OPTION("burst") " NxK repeats from an idle GPU on");
    return q->mode != RUN_FUNCTIONAL ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("idle") ": " ORCH_OPTION("mode") " functional has no time");
}

/* The launch's time at another clock, by simulating it there. */
static bool time_at(const struct run *run, double share, double *device_ns, struct orch_error *error)
{
    struct run_request other = *run->request;
    struct run_result result;
    struct chip *const chip =
        run_chip_at_share(other.source_of_chip->chips, other.chip, other.source_of_chip->sets, POWER_GPU, share, error);
    if (!chip)
        return false;
    other.chip = chip;
    other.idle_s = 0;
    other.burst = (struct run_burst){0};
    other.mode = RUN_TIMING;
    other.output_folder = NULL;
    other.sanitize = false;
    other.profile = false;
    other.watch = NULL;
    other.uncertainty = NULL;
    run_result_init(&result);
    struct run *const slow = run_prepare(&other, error);
    const bool ok = slow && run_execute(slow, NULL, 1, &result, error);
    *device_ns = ok ? 1e9 * result.device_seconds : 0;
    run_free(slow);
    run_result_free(&result);
    chip_close(chip);
    return ok;
}

struct burst {
    double first_ns, fastest_ns, last_ns; /* of a launch, in the first command buffer and so on */
    double mhz;                           /* of the fastest */
};

/* Command buffers of so many launches each, one after another: between two the GPU rests as long as the host takes. */
static struct burst play(struct gpu_ramp *ramp, const struct run_request *q, const struct gpu_params *gpu,
                         const struct gpu_ramp_work *launch)
{
    const unsigned buffers = q->burst.buffers ? q->burst.buffers : 1, launches = q->burst.launches ? q->burst.launches : 1;
    const struct gpu_ramp_work buffer = {launches * launch->fixed_ms + (launches - 1) * 1e-3 * gpu->between_us,
                                         launches * launch->mcycles};
    struct burst b = {.fastest_ns = INFINITY};
    for (unsigned i = 0; i < buffers; i++) {
        double mhz;
        const double ns = 1e6 * gpu_ramp_do(ramp, &buffer, &mhz) / launches;
        if (i == 0)
            b.first_ns = ns;
        if (ns < b.fastest_ns) {
            b.fastest_ns = ns;
            b.mhz = mhz;
        }
        b.last_ns = ns;
        gpu_ramp_rest(ramp, 1e-3 * (gpu->submit_us + gpu->round_trip_us));
    }
    return b;
}

static bool tell(const struct burst *b, double base_mhz, struct run_result *r)
{
    char text[240];
    snprintf(
        text, sizeof text,
        "the GPU had switched itself off and began at %.4g MHz (gpu_control.base_state); the launch counts as in the fastest "
        "command buffer, at %.4g MHz; in the first it took %.4g us, in the last %.4g",
        base_mhz, b->mhz, 1e-3 * b->first_ns, 1e-3 * b->last_ns);
    return run_values_add(&r->counters, "burst.first_ns", b->first_ns) &&
           run_values_add(&r->counters, "burst.last_ns", b->last_ns) && run_values_add(&r->counters, "burst.mhz", b->mhz) &&
           run_assumption_add(&r->assumptions, "gpu_control.use_kp", "inferred", text);
}

bool run_burst(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    struct run_gpu *const g = &m->gpu;
    struct gpu_control_params control;
    struct opp_table table;
    struct gpu_ramp ramp;
    double base_ns;
    if (run->kind->part != PART_GPU || !(q->idle_s > 0) || !(g->device_ns > 0))
        return true;
    if (!chip_gpu_control(q->chip, &control, error) || !chip_opp_table(q->chip, POWER_GPU, &table, error))
        return false;
    if (q->idle_s * 1e3 <= control.off_ms)
        return true;
    if (table.count < 2)
        return run_assumption_add(&result->assumptions, "gpu_states", "guess",
                                  "the clocks of this GPU are not known: it begins at its highest one") ||
               orch_no_memory(error);
    if (!q->source_of_chip)
        return orch_fail(error, ORCH_INTERNAL, "nobody said from where the chip can be opened at another clock");
    gpu_ramp_wake(&ramp, &control, &table);
    const double top = 1e3 * g->params.clock_ghz, base = gpu_ramp_mhz(&ramp);
    if (!time_at(run, base / top, &base_ns, error))
        return false;
    /* t = fixed + cycles / clock, at both. */
    const double cycles = fmax(0, 1e-6 * (base_ns - g->device_ns) / (1 / base - 1 / top));
    const struct gpu_ramp_work launch = {fmax(0, 1e-6 * g->device_ns - cycles / top), cycles};
    const struct burst b = play(&ramp, q, &g->params, &launch);
    g->device_ns = b.fastest_ns;
    g->params.clock_ghz = 1e-3 * b.mhz;
    m->end_ns = g->device_ns + g->overhead_ns;
    return tell(&b, base, result) || orch_no_memory(error);
}
