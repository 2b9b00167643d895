#include "sim/workload/ane/ane_time.h"

#include "sim/base/host_time.h"

#include <math.h>
#include <stdlib.h>

static void add_request(struct ane_timed *t, const struct ane_program *p, const double cycles_by[ANE_STALL_COUNT])
{
    for (int i = 0; i < ANE_STALL_COUNT; i++) {
        const double ns = cycles_by[i] / t->params.clock_ghz;
        t->cycles_by[i] += cycles_by[i];
        if (i == ANE_STALL_REQUEST || i == ANE_STALL_WAKE)
            t->overhead_ns += ns;
        else
            t->device_ns += ns;
    }
    t->macs = t->source_bytes = t->result_bytes = t->coefficient_bytes = t->l2_bytes = 0;
    for (size_t i = 0; i < p->count; i++) {
        t->macs += t->task[i].macs;
        t->source_bytes += t->task[i].source_bytes;
        t->result_bytes += t->task[i].result_bytes;
        t->coefficient_bytes += t->task[i].coefficient_bytes;
        t->l2_bytes += t->task[i].l2_bytes;
    }
}

/* Runs what precedes the timed requests: nothing, a request that leaves its data in the caches, or a request and idle time.
 * Returns when the first timed request begins, in ns. */
static double prepare(struct soc_ane *ane, const struct ane_program *p, struct soc *soc, const struct ane_time_options *o)
{
    struct activity unused = {{0}};
    double now_ns = 0;
    soc_restart(soc, false);
    if (!o->cold || o->idle_ns > 0)
        now_ns = ane_timing_request(ane->timing, p, 0, 0, NULL, NULL) + o->idle_ns;
    soc_take_activity(soc, &unused);
    if (o->idle_ns > 0)
        return now_ns;
    soc_restart(soc, !o->cold);
    return 0;
}

static bool time_on(struct soc_ane *ane, const struct ane_program *p, struct soc *soc, const struct ane_time_options *o,
                    struct ane_timed *t)
{
    double now_ns = prepare(ane, p, soc, o);
    const double begin = host_seconds();
    for (unsigned i = 0; i < (o->repeat ? o->repeat : 1); i++) {
        double cycles_by[ANE_STALL_COUNT] = {0};
        now_ns = ane_timing_request(ane->timing, p, 0, now_ns, t->task, cycles_by);
        add_request(t, p, cycles_by);
    }
    t->host_seconds = host_seconds() - begin;
    soc_take_activity(soc, &t->activity);
    mem_system_counters(soc_memory(soc), &t->memory);
    return !isnan(now_ns);
}

bool ane_time_program(const struct ane_program *p, const uint64_t address[ANE_BARS], struct soc *soc,
                      const struct ane_time_options *o, struct ane_timed *t, struct orch_error *error)
{
    *t = (struct ane_timed){.task = calloc(p->count ? p->count : 1, sizeof *t->task)};
    if (!t->task)
        return orch_no_memory(error);
    struct soc_ane *const ane = soc_ane(soc, error);
    if (!ane)
        return false;
    t->params = ane->params;
    for (unsigned bar = 0; bar < ANE_BARS; bar++)
        ane->address[bar] = address ? address[bar] : 0;
    return time_on(ane, p, soc, o, t) || orch_fail(error, ORCH_UNMODELLED, "%s has no Neural Engine", chip_id(soc_chip(soc)));
}

bool ane_time_run(const struct ane_buffers *b, struct soc *soc, const struct ane_time_options *o, struct ane_timed *t,
                  struct orch_error *error)
{
    const struct ane_program *const p = &b->workload->kernel.program;
    uint64_t address[ANE_BARS];
    for (unsigned bar = 0; bar < ANE_BARS; bar++)
        address[bar] = p->port[bar].kind == ANE_PORT_COEFFICIENTS ? b->coefficients : b->address[bar];
    return ane_time_program(p, address, soc, o, t, error);
}

void ane_timed_free(struct ane_timed *t)
{
    free(t->task);
    t->task = NULL;
}
