/* Profiles on their way out. */
#include "units/gpu/gpu_timing_state.h"

bool gpu_profile_begin(struct gpu_timing *t)
{
    return !t->launch.profile || gpu_profile_create(&t->profile, gpu_program_count(t->launch.program));
}

/* Adds the time up to now of schedulers that sleep, which gpu_timing_stalls counts, too; with the factor -1 it takes it back,
 * since it will be counted when they wake up. */
static void add_sleep(struct gpu_timing *t, double factor)
{
    for (unsigned c = 0; c < t->params.cores; c++) {
        const double now = gpu_core_now(t, c);
        for (unsigned i = 0; i < t->params.schedulers; i++) {
            const struct gpu_scheduler *s = &t->core[c].scheduler[i];
            const enum gpu_stall why = s->count ? (enum gpu_stall)s->why : GPU_STALL_LAUNCH;
            gpu_profile_charge(t, s->waiting, why, factor * (now - s->time));
        }
    }
}

void gpu_timing_take_profile(struct gpu_timing *t, struct gpu_profile *into)
{
    if (!t->profile.row)
        return;
    add_sleep(t, 1);
    if (into)
        gpu_profile_add(into, &t->profile);
    gpu_profile_clear(&t->profile);
    add_sleep(t, -1);
}
