/* What a launch draws and moves while it is being timed, for those who wait for the run. */
#include "sim/run/interval.h"
#include "sim/run/run_internal.h"
#include "sim/run/gpu/run_launch.h"

#include <math.h>

/* The mean power since the pass began: what it has counted so far is priced like the measure of a whole launch. */
static double watts_so_far(const struct run_launch *l, const struct activity *activity, double seconds)
{
    struct energy_model model;
    struct run_measure so_far = *l->m;
    if (!l->run->kind->energy || !energy_model_open(&model, l->run->request->chip, NULL))
        return NAN;
    so_far.activity = *activity;
    so_far.gpu.device_ns = 1e9 * seconds;
    return run_joules_of(l->run->kind, &model, &so_far, l->run->request->celsius, seconds, seconds) / seconds;
}

/* When somebody asks hangs on the clock of the host, so that asking must change nothing: the counters are read, not taken. */
static void tell_state(const struct launch_watch *w, double seconds)
{
    const struct run_launch *const l = w->l;
    struct activity activity = l->taken; /* what windows took on their way */
    double cycles[GPU_STALL_COUNT];
    soc_gpu_activity(l->m->soc, &activity);
    const uint64_t *const count = activity.count;
    const struct work_state state = {
        .watts = watts_so_far(l, &activity, seconds),
        .celsius = NAN, /* fixed clocks have no machine around the chip */
        .dram_gbps = 1e-9 * (double)(count[ACT_DRAM_READ_BYTES] + count[ACT_DRAM_WRITE_BYTES]) / seconds,
        .utilisation = interval_gpu_stalls(l->gpu->timing, l->m->gpu.params.cores, cycles),
    };
    w->told->state(w->told->context, &state);
}

static void tell(void *watch, const char *doing, double fraction, double time_ns, bool *stop)
{
    struct launch_watch *const w = watch;
    if (isnan(w->begin_ns)) /* it is told of the first threadgroups before they run */
        w->begin_ns = time_ns;
    const double seconds = 1e-9 * (time_ns - w->begin_ns);
    if (seconds > 0 && work_progress_due(w->told) && w->told->state)
        tell_state(w, seconds);
    w->told->tell(w->told->context, doing, fraction, time_ns, stop);
}

void run_launch_watch(struct launch_watch *w, struct run_launch *l)
{
    *w = (struct launch_watch){.work = {tell, w, NULL, NULL}, .told = l->setup->progress, .l = l, .begin_ns = NAN};
    if (w->told)
        l->setup->progress = &w->work;
}

void run_launch_unwatch(const struct launch_watch *w)
{
    w->l->setup->progress = w->told;
}
