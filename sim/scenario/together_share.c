/* Workloads at the same time, as slices that share the chip at max-min fair rates. */
#include "sim/scenario/together_internal.h"

#include "sim/soc/slices.h"

#include <stdio.h>
#include <string.h>

enum { QUEUE_GPU, QUEUE_ANE };

static int queue_of(const struct run *run)
{
    const enum orch_part part = run_part(run);
    return part == PART_GPU ? QUEUE_GPU : part == PART_ANE ? QUEUE_ANE : SLICES_NO_QUEUE;
}

/* Adds two slices: submission and launch, which delay no other workload, then the phase in which the unit is busy. */
static bool add_slices(struct slices *s, struct member *w)
{
    const double overhead_ns = w->measure.end_ns - w->load.busy_ns;
    const struct slice launch = {.name = w->part.request.workload,
                                 .queue = SLICES_NO_QUEUE,
                                 .alone_ns = overhead_ns,
                                 .submit_ns = w->part.start_seconds * 1e9};
    const int first = slices_add(s, &launch, NULL, 0);
    const struct slice busy = {.name = w->part.request.workload,
                               .queue = queue_of(w->run),
                               .alone_ns = w->load.busy_ns,
                               .bytes = w->load.bytes,
                               .weight = w->part.weight,
                               .priority = w->part.priority,
                               .latency_ns = w->load.latency_ns,
                               .requesters = w->load.requesters};
    w->slice = first < 0 ? -1 : slices_add(s, &busy, &first, 1);
    return w->slice >= 0;
}

static void read_outcome(const struct together *t, const struct slices *s, struct member *w)
{
    const struct slice_outcome *o = slices_outcome(s, w->slice);
    struct together_outcome *out = &w->outcome;
    double most = 0;
    unsigned worst = 0;
    for (unsigned j = 0; j < t->machine.count; j++)
        if (o->lost_ns[j] > most) {
            most = o->lost_ns[j];
            worst = j;
        }
    out->start_seconds = w->part.start_seconds;
    out->begin_seconds = o->start_ns * 1e-9;
    out->end_seconds = o->end_ns * 1e-9;
    out->seconds = out->end_seconds - out->start_seconds;
    out->slowdown = out->alone.seconds > 0 ? out->seconds / out->alone.seconds : 1;
    out->dram_gbps = out->seconds > 0 ? out->alone.dram_bytes / out->seconds * 1e-9 : 0;
    out->queued_seconds = o->queued_ns * 1e-9;
    out->limited_share = out->seconds > 0 ? most * 1e-9 / out->seconds : 0;
    const bool shared = out->limited_share > 1e-9;
    snprintf(out->limited_by, sizeof out->limited_by, "%s",
             shared                ? t->machine.name[worst]
             : out->alone.bound_by ? out->alone.bound_by
                                   : "");
}

static void read_resources(struct together *t, const struct slices *s, double end_ns)
{
    t->resources = 0;
    for (unsigned j = 0; j < t->machine.count; j++) {
        const double bytes = slices_bytes(s, j);
        if (bytes <= 0)
            continue;
        struct together_resource *r = &t->resource[t->resources++];
        memcpy(r->name, t->machine.name[j], sizeof r->name);
        r->capacity_gbps = t->machine.resource[j].capacity_gbps;
        r->bytes = bytes;
        r->full_share = end_ns > 0 ? slices_full_ns(s, j) / end_ns : 0;
    }
}

/* Context of watch_dram, which emits the share of the DRAM's bandwidth in use as a time series. */
struct watch {
    const struct together *t;
    struct event_bus *bus;
    uint64_t number;
};

static void watch_dram(void *context, const struct slices_interval *interval)
{
    const struct watch *w = context;
    const struct together_machine *m = &w->t->machine;
    for (unsigned d = 0; w->bus && d < m->memory.dies; d++) {
        const unsigned j = m->dram[d];
        const struct event_sample sample = {.series = "utilisation",
                                            .unit = "1",
                                            .place = {PART_DRAM, d},
                                            .value = interval->gbps[j] / m->resource[j].capacity_gbps};
        struct event event = {.kind = EVENT_SAMPLE, .run = w->number, .time_ns = interval->end_ns, .sample = sample};
        event_bus_emit(w->bus, &event);
    }
}

bool together_share(struct together *t, struct event_bus *bus, uint64_t number, double *end_ns, struct orch_error *error)
{
    struct slices *s = slices_create(t->machine.resource, t->machine.count);
    struct watch watch = {t, bus, number};
    bool ok = s != NULL;
    for (unsigned i = 0; ok && i < t->count; i++)
        ok = add_slices(s, &t->member[i]);
    if (!ok)
        orch_no_memory(error);
    ok = ok && slices_run(s, watch_dram, &watch, end_ns, error);
    for (unsigned i = 0; ok && i < t->count; i++)
        read_outcome(t, s, &t->member[i]);
    if (ok)
        read_resources(t, s, *end_ns);
    slices_free(s);
    return ok;
}
