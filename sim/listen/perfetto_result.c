/* What the result of a run tells beyond its events, as slices and counters of a Chrome trace. */
#include "sim/listen/perfetto_listener_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REASONS_MAX = 64, TRACK_RUN_REASONS = 1 };

static enum orch_part part_named(const char *unit)
{
    enum orch_part part = 0;
    while (part < PART_COUNT && (!unit || strcmp(orch_part_name(part), unit) != 0))
        part++;
    return part;
}

static double counted(const struct run_result *r, size_t place, const char *what)
{
    char name[64];
    snprintf(name, sizeof name, "network.kernel%zu.%s", place + 1, what);
    return run_values_get(&r->counters, name);
}

/* The format writes picoseconds: slices that follow one another meet at whole ones. */
static double whole_ps(double ns)
{
    return nearbyint(ns * 1e3) * 1e-3;
}

/* Kernels of a network follow one another. Where the unit changes, an arrow leads from one to the next. */
static void put_kernels(struct perfetto_listener *l, const struct event *e, const struct run_result *r)
{
    struct perfetto_place before = {0, 0, false};
    double now_ns = 0;
    for (size_t i = 0; i < r->placement.count; i++) {
        const struct run_placement *const p = &r->placement.item[i];
        const double seconds = counted(r, i, "seconds");
        const enum orch_part part = part_named(p->unit);
        if (isnan(seconds) || part == PART_COUNT)
            continue;
        const struct perfetto_detail d[] = {{"kernel", p->kernel ? p->kernel : "", 0},
                                            {"why", p->why ? p->why : "", 0},
                                            {"joules", NULL, counted(r, i, "joules")},
                                            {NULL, NULL, 0}};
        const double begin = counted(r, i, "begin_seconds"); /* where units work at the same time */
        now_ns = isnan(begin) ? now_ns : whole_ps(1e9 * begin);
        const double end_ns = whole_ps(now_ns + 1e9 * seconds);
        const unsigned pid = perfetto_listener_part(l, e, part);
        perfetto_track(l->perfetto, pid, TRACK_KERNELS, "kernels of the network, launches left out");
        const struct perfetto_place at =
            perfetto_slice(l->perfetto, pid, TRACK_KERNELS, p->op ? p->op : "kernel", now_ns, end_ns - now_ns, d);
        if (before.written && before.pid != at.pid)
            perfetto_arrow(l->perfetto, "hands over", before, now_ns, at, now_ns);
        before = at;
        now_ns = end_ns;
    }
}

static int longer_first(const void *a, const void *b)
{
    const struct run_named_value *const x = a, *const y = b;
    return x->value < y->value ? 1 : x->value > y->value ? -1 : strcmp(x->name, y->name);
}

/* The whole time, divided by what it was lost to: the lengths are right, the order is that of the lengths. */
static void put_reasons(struct perfetto_listener *l, const struct event *e, const struct run_result *r)
{
    struct run_named_value reason[REASONS_MAX];
    size_t count = 0;
    double now_ns = 0;
    for (size_t i = 0; i < r->stalls.count && count < REASONS_MAX; i++)
        if (r->stalls.item[i].value > 0)
            reason[count++] = r->stalls.item[i];
    if (count == 0 || !isfinite(r->seconds))
        return;
    qsort(reason, count, sizeof *reason, longer_first);
    const unsigned pid = perfetto_listener_process(l, e, PID_RUN, "run");
    perfetto_track(l->perfetto, pid, TRACK_RUN_REASONS, "time by reason, the longest first (not in order of time)");
    for (size_t i = 0; i < count; i++) {
        const struct perfetto_detail d[] = {{"share", NULL, reason[i].value}, {NULL, NULL, 0}};
        const double end_ns = whole_ps(now_ns + 1e9 * r->seconds * reason[i].value);
        perfetto_slice(l->perfetto, pid, TRACK_RUN_REASONS, reason[i].name, now_ns, end_ns - now_ns, d);
        now_ns = end_ns;
    }
}

/* Runs at fixed clocks have no series: their means hold from the beginning to the end. */
static void put_means(struct perfetto_listener *l, const struct event *e, const struct run_result *r)
{
    const struct {
        const char *name, *unit;
        double value;
    } means[] = {{"power, mean", "W", r->watts_avg}, {"DRAM bandwidth, mean", "GB/s", r->dram_gbps}};
    const unsigned pid = perfetto_listener_process(l, e, PID_RUN, "run");
    for (size_t i = 0; i < sizeof means / sizeof *means && !r->device && isfinite(r->seconds); i++) {
        if (!isfinite(means[i].value))
            continue;
        perfetto_counter(l->perfetto, pid, means[i].name, means[i].unit, 0, means[i].value);
        perfetto_counter(l->perfetto, pid, means[i].name, means[i].unit, 1e9 * r->seconds, 0);
    }
}

void perfetto_listener_result(struct perfetto_listener *l, const struct event *e, const struct run_result *r)
{
    put_kernels(l, e, r);
    if (!r->device) {
        put_reasons(l, e, r);
        put_means(l, e, r);
    }
}
