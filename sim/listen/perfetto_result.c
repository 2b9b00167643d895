/* What the result of a run tells beyond its events, as slices and counters of a Chrome trace. */
#include "sim/listen/perfetto_listener_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REASONS_MAX = 64, TRACK_RUN_REASONS = 1, TRACK_LEFT_OUT = 2 };

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

/* ---- cores at work on kernels of a network ---- */

enum { CORES_MAX = 128, CORE_SLICES_MAX = 2048 }; /* the latter for each run: about half a megabyte */

/* How many cores work on a kernel of a network; 0 = not known. */
static unsigned kernel_cores(const struct perfetto_listener *l, const struct run_result *r, size_t place, enum orch_part part)
{
    const double groups = counted(r, place, "threadgroups"), cores = counted(r, place, "cores");
    if (part == PART_GPU && groups > 0 && l->gpu_cores > 0)
        return (unsigned)fmin(fmin(groups, l->gpu_cores), CORES_MAX);
    return part != PART_GPU && cores > 0 ? (unsigned)fmin(cores, CORES_MAX) : 0;
}

struct long_kernel {
    double seconds;
    unsigned cores;
};

static int longest_first(const void *a, const void *b)
{
    const struct long_kernel *const x = a, *const y = b;
    return x->seconds < y->seconds ? 1 : x->seconds > y->seconds ? -1 : 0;
}

/* Kernels at least so long have their cores shown: the longest ones, so many that the file stays small. Sets the number of those
 * left out. */
static double least_shown_s(const struct perfetto_listener *l, const struct run_result *r, size_t *left_out)
{
    struct long_kernel *const k = calloc(r->placement.count + 1, sizeof *k);
    size_t count = 0, shown = 0, slices = 0;
    for (size_t i = 0; k && i < r->placement.count; i++) {
        const enum orch_part part = part_named(r->placement.item[i].unit);
        const double seconds = counted(r, i, "seconds");
        const unsigned cores = isnan(seconds) || part == PART_COUNT ? 0 : kernel_cores(l, r, i, part);
        if (cores > 0)
            k[count++] = (struct long_kernel){seconds, cores};
    }
    if (k)
        qsort(k, count, sizeof *k, longest_first);
    while (shown < count && slices + k[shown].cores <= CORE_SLICES_MAX)
        slices += k[shown++].cores;
    while (shown > 0 && shown < count && k[shown - 1].seconds == k[shown].seconds) /* of equal ones all or none */
        shown--;
    const double least = shown > 0 ? k[shown - 1].seconds : (double)INFINITY;
    *left_out = count - shown;
    free(k);
    return least;
}

/* A slice on the lane of each core that works on the kernel. All are as long as the kernel: of a core its mean share is known. */
static void put_kernel_cores(struct perfetto_listener *l, const struct event *e, const struct run_result *r, size_t place,
                             struct perfetto_place kernel, double begin_ns, double end_ns)
{
    const struct run_placement *const p = &r->placement.item[place];
    const enum orch_part part = part_named(p->unit);
    const unsigned cores = kernel_cores(l, r, place, part), pid = perfetto_listener_part(l, e, part);
    const struct perfetto_detail d[] = {
        {"threadgroups, mean", NULL, counted(r, place, "threadgroups") / cores}, {"cores at work", NULL, cores}, {NULL, NULL, 0}};
    for (unsigned core = 0; kernel.written && core < cores; core++) {
        char name[64];
        snprintf(name, sizeof name, "%s core %u", orch_part_name(part), core);
        perfetto_track(l->perfetto, pid, TRACK_CORES + core, name);
        const struct perfetto_place at =
            perfetto_slice(l->perfetto, pid, TRACK_CORES + core, p->op ? p->op : "kernel", begin_ns, end_ns - begin_ns, d);
        perfetto_arrow(l->perfetto, "deals out", kernel, begin_ns, at, begin_ns);
    }
}

static void tell_left_out(struct perfetto_listener *l, const struct event *e, const char *whose, const char *what, double count)
{
    const struct perfetto_detail d[] = {{what, NULL, count}, {NULL, NULL, 0}};
    const unsigned pid = perfetto_listener_process(l, e, PID_RUN, "run");
    char name[80];
    snprintf(name, sizeof name, "left out: %s", whose);
    perfetto_track(l->perfetto, pid, TRACK_LEFT_OUT, name);
    perfetto_moment(l->perfetto, pid, TRACK_LEFT_OUT, name, 0, d);
}

/* Kernels of a network follow one another; returns whether there are any. Arrows lead from the launch to the first kernel of each
 * unit, and where the unit changes from one kernel to the next. */
static bool put_kernels(struct perfetto_listener *l, const struct event *e, const struct run_result *r)
{
    struct perfetto_place before = {0, 0, false};
    size_t left_out, kernels = 0;
    bool launched[PART_COUNT] = {false};
    const double least_s = least_shown_s(l, r, &left_out);
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
        if (l->last_op.written && !launched[part])
            perfetto_arrow(l->perfetto, "launch", l->last_op, l->last_op_ns, at, now_ns);
        launched[part] = true;
        if (seconds >= least_s)
            put_kernel_cores(l, e, r, i, at, now_ns, end_ns);
        before = at;
        kernels++;
        now_ns = end_ns;
    }
    if (left_out)
        tell_left_out(l, e, "cores of the shortest kernels", "kernels left out", (double)left_out);
    return kernels > 0;
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

/* How many cores worked on each launch of a run, and what each of them had on the average. */
struct crew {
    enum orch_part part;
    unsigned cores;
    const char *of; /* what */
    double each;
};

static struct crew crew_of(const struct perfetto_listener *l, const struct run_result *r)
{
    const double groups = run_values_get(&r->counters, "gpu.threadgroups"),
                 copies = run_values_get(&r->counters, "program.cores"),
                 instructions = run_values_get(&r->counters, "cpu.instructions");
    struct crew c = {.cores = 0};
    if (groups > 0 && l->gpu_cores > 0) {
        const double cores = fmin(fmin(groups, l->gpu_cores), CORES_MAX);
        c = (struct crew){PART_GPU, (unsigned)cores, "threadgroups, mean", groups / cores};
    } else if (copies > 0 && instructions > 0) {
        const double cores = fmin(copies, CORES_MAX);
        c = (struct crew){PART_CPU, (unsigned)cores, "instructions, mean", instructions / cores / l->ops};
    }
    return c;
}

/* One of equal launches that follow one another: the cores are at work at its end, for so long as the unit is busy. */
static void put_launch(struct perfetto_listener *l, const struct event *e, const struct crew *c, double end_ns, double busy_ns)
{
    const double begin_ns = whole_ps(end_ns - busy_ns);
    for (unsigned core = 0; core < c->cores; core++) {
        const struct perfetto_detail d[] = {{c->of, NULL, c->each}, {"cores at work", NULL, c->cores}, {NULL, NULL, 0}};
        const unsigned pid = perfetto_listener_part(l, e, c->part), tid = TRACK_CORES + core;
        char name[64];
        snprintf(name, sizeof name, "%s core %u", orch_part_name(c->part), core);
        perfetto_track(l->perfetto, pid, tid, name);
        const struct perfetto_place at = perfetto_slice(l->perfetto, pid, tid, "at work", begin_ns, end_ns - begin_ns, d);
        perfetto_arrow(l->perfetto, "deals out", l->last_op, begin_ns, at, begin_ns);
    }
}

/* A lane for each core that worked on the launches of a run. What is known of a core is its mean share, and that a launch ends
 * when the last core does: all lanes are as long as the unit was busy, which it was at the end. Launches are equal parts of the
 * time; of many the first are shown. */
static void put_cores(struct perfetto_listener *l, const struct event *e, const struct run_result *r)
{
    const struct crew c = crew_of(l, r);
    const double busy_s = isfinite(r->device_seconds) ? fmin(r->device_seconds, r->seconds) : r->seconds;
    if (!(l->ops >= 1) || c.cores == 0 || !l->last_op.written || !isfinite(busy_s))
        return;
    const double shown = fmin(l->ops, CORE_SLICES_MAX / c.cores);
    for (double launch = 1; launch <= shown; launch++)
        put_launch(l, e, &c, whole_ps(1e9 * r->seconds * launch / l->ops), 1e9 * busy_s / l->ops);
    if (shown < l->ops)
        tell_left_out(l, e, "cores of the later launches", "launches left out", l->ops - shown);
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
    const bool network = put_kernels(l, e, r);
    if (!r->device) {
        if (!network)
            put_cores(l, e, r);
        put_reasons(l, e, r);
        put_means(l, e, r);
    }
}
