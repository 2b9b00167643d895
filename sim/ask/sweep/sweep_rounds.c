#include "sim/ask/sweep/sweep_rounds.h"

#include "sim/base/checksum.h"

#include <math.h>

/* The share of a threadgroup's life on a full core that does not depend on its neighbours. It only has to be near: what it gets
 * wrong is smooth, and interpolated. Threadgroups of gemm:256x256x256 on M1, one, two or three of them on a core, live for 14, 23
 * and 32 thousand cycles. */
#define ALONE 0.2

double sweep_rounds_makespan(uint64_t groups, unsigned cores, unsigned resident)
{
    const uint64_t places = (uint64_t)cores * resident, whole = groups / places, rest = groups % places;
    const double fullest = (double)((rest + cores - 1) / cores);
    return (double)whole + (rest ? ALONE + (1 - ALONE) * fullest / resident : 0);
}

static uint64_t add(uint64_t hash, uint64_t number)
{
    return checksum_add(hash, &number, sizeof number);
}

struct sweep_rounds sweep_rounds_of(const struct run_launch_list *list)
{
    struct sweep_rounds r = {.known = list->count > 0, .deal = CHECKSUM_START, .tail = CHECKSUM_START};
    bool taken[GPU_KERNEL_STEPS] = {false};
    for (unsigned i = 0; i < list->count; i++) {
        const struct run_launch_entry *const l = &list->launch[i];
        const uint64_t places = (uint64_t)list->cores * l->resident, whole = l->resident ? l->groups / places : 0;
        const uint64_t rest = l->groups - whole * places, fullest = (rest + list->cores - 1) / list->cores;
        r.known = r.known && l->resident > 0 && l->groups > 0;
        r.tail = add(add(add(r.tail, l->groups), whole), fullest);
        r.deal = add(add(add(add(r.deal, l->groups), whole), fullest), whole ? list->cores : 0);
    }
    for (unsigned n = 0; r.known && n < SWEEP_ROUNDS_LAUNCHES && n < list->count; n++) {
        unsigned best = list->count;
        for (unsigned i = 0; i < list->count; i++)
            if (!taken[i] && (best == list->count || list->launch[i].groups * list->launch[i].threads >
                                                         list->launch[best].groups * list->launch[best].threads))
                best = i;
        taken[best] = true;
        const struct run_launch_entry *const l = &list->launch[best];
        r.coordinate[2 * n] = log(sweep_rounds_makespan(l->groups, list->cores, l->resident));
        r.coordinate[2 * n + 1] = log((double)l->groups);
    }
    return r;
}
