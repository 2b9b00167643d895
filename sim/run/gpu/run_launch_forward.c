/* The time of a large launch of GPU machine code from windows of it.
 *
 * Some windows of the launch are timed: its beginning, then, ever farther apart, moments amid it. From one window to the next the
 * launch goes forward without being timed: where each slot of each core has come follows from how fast cores are, threadgroups
 * are executed up to there for what steers them, and what slots access on the last part of the way reaches the caches in the
 * order of time. The time of the launch is the integral of the pace over its work, and a tail in which cores run empty one slot
 * after the other. So the cost of a launch depends on its kernel and its chip, hardly on its size.
 *
 * The idea of timing windows amid untimed stretches that keep the caches warm: Wunderlich et al., SMARTS, ISCA 2003.
 */
#include "sim/base/host_time.h"
#include "sim/run/gpu/run_forward.h"
#include "sim/run/run_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Windows whose paces scatter are as many as make their mean sure, but half of the work between two of them is not timed. */
#define MOST_TIMED 0.5
/* What the lines cost that cores fetch is learned from two intervals of a window, each this share of it: in shorter ones, cores
 * differ by where they are in a lap of their loop. */
#define MOMENTS_APART 0.48
/* Ends of the first threadgroup of a slot and its successors that are timed, and the share of a window before such an end. */
#define ENDS_IN_STEP 2
#define BEFORE_END   0.25
/* How much farther than the launch has come the next window lies, and how many windows at the end share the launch. */
#define GROWTH          3.0
#define FEW_GROWTH      1.0 /* of few waves: the beginning is a large part of them */
#define WINDOWS         4.0
#define WINDOWS_OF_MANY 3.0 /* of GPUs that hold at least so many simdgroups, whose windows scatter by a few thousandths: */
#define MANY_SIMDGROUPS 256.0
#define WINDOWS_OF_FEW  5.0 /* of few waves: how much windows differ decides whether they stand for the launch at all */
/* A launch that finds the SLC empty fills it. Writes begin to displace lines when it is filled by the first of these shares, and
 * do so all the time after the second one: windows lie at both. */
#define FILLING 0.7
#define FILLED  1.4
/* Where the paces of windows differ so much that the time of the launch is less sure than that (relative), few waves are timed
 * whole. Launches that are between 0.3 and 0.5 % sure (attention, the library's product, two of ggml's; on M1 Max)
 * are off by 1.0 % in the mean and 2.1 at most when windows stand for them, and take a fifth to a twelfth of the host's time. */
#define FEW_SURE 0.005
/* Launches end as a whole when that takes fewer instructions. */
#define TAIL_WORK 0x1p19
/* ---- the work of threadgroups ---- */

/* Where all threadgroups have been executed, the sum of what they execute is known. */
static void scale_work(struct run_launch *l)
{
    const double factor = (double)l->m->gpu.totals.instructions / run_repeats(l->run) / run_launch_work(l);
    gpu_work_scale(&l->work, factor);
}

static bool open_forward(struct forward *f)
{
    struct run_launch *l = f->l;
    f->cores = l->m->gpu.params.cores;
    f->slots = l->m->gpu.occupancy;
    f->simdgroups = run_launch_mean_simdgroups(l);
    f->schedule = gpu_schedule_create(f->cores, f->slots, l->setup->group_count, &l->work);
    f->trial = gpu_schedule_create(f->cores, f->slots, l->setup->group_count, &l->work);
    f->drift = gpu_drift_create(f->cores, 1);
    f->convoy = gpu_convoy_create(f->cores);
    if (!f->schedule || !f->trial || !f->drift || !f->convoy || !gpu_crowd_remember(l->crowd, l->slc_lines))
        return orch_no_memory(l->error);
    run_launch_rewind(l);
    if (l->run->request->mode == RUN_FULL)
        scale_work(l);
    f->all = run_launch_work(l);
    f->resident = (double)f->cores * f->slots * f->simdgroups;
    f->extent = run_forward_extent(l, f->all / (double)l->setup->group_count / f->simdgroups);
    f->window = (f->extent.settling + f->extent.counted) * f->resident;
    return true;
}

static void close_forward(struct forward *f)
{
    gpu_schedule_free(f->schedule);
    gpu_schedule_free(f->trial);
    gpu_drift_free(f->drift);
    gpu_convoy_free(f->convoy);
}

/* ---- windows ---- */

static struct point point_of(const struct gpu_window *w, double opened_at)
{
    const double issued = fmax(1, w->to.issued - w->from.issued);
    struct point p = {.work = opened_at + (w->from.issued + w->to.issued) / 2,
                      .ns = (w->to.ns - w->from.ns) / issued,
                      .begun = (double)(w->from.next + w->to.next) / 2,
                      .begins = (double)(w->to.next - w->from.next) / issued};
    gpu_counted_add(&p.counts, &w->to.counts, 1 / issued);
    gpu_counted_add(&p.counts, &w->from.counts, -1 / issued);
    return p;
}

/* Adds the work since the last window. */
static void account(struct forward *f, const struct point *to)
{
    const double work = fmax(0, to->work - f->last.work);
    const double change = (to->ns - f->last.ns) / (to->ns + f->last.ns);
    f->ns += gpu_counted_between(f->last.ns, to->ns, f->last.work, to->work);
    gpu_counted_add_between(&f->counts, &f->last.counts, &to->counts, f->last.work, to->work);
    f->begins_over += gpu_counted_between(f->last.begins, to->begins, f->last.work, to->work) - (to->begun - f->last.begun);
    f->squares += change * change * work * work;
    f->last = *to;
}

/* Where the window left every slot. */
static void read_crowd(struct forward *f)
{
    uint64_t next = 0;
    for (unsigned i = 0; i < f->cores * f->slots; i++) {
        struct gpu_slot s = {.group = GPU_NO_GROUP};
        if (!gpu_crowd_holds(f->l->crowd, i, &s.group))
            continue;
        s.done = gpu_crowd_done(f->l->crowd, i);
        gpu_schedule_set(f->schedule, i, s);
        next = s.group >= next ? s.group + 1 : next;
    }
    gpu_schedule_set_next(f->schedule, next);
}

/* Times a window from where the crowd is; one that `waits` lasts until its pace is steady. */
static bool time_window(struct forward *f, const struct gpu_schedule *open, double settling, double counted, bool waits,
                        struct gpu_window *w)
{
    struct run_launch *l = f->l;
    *w = (struct gpu_window){.settling = settling,
                             .end = settling + counted,
                             .latest = waits ? run_forward_latest_end(f, open, settling, counted) : 0,
                             .drift = f->drift,
                             .convoy = f->convoy,
                             .moments_apart = f->extent.counted * f->resident * MOMENTS_APART,
                             .port = l->gpu->port};
    const struct gpu_selection selection = {.open = open, .crowd = f->l->crowd, .window = w};
    const double begin = host_seconds();
    gpu_drift_begin(f->drift);
    gpu_convoy_begin(f->convoy);
    if (open)
        run_launch_restart(l, true);
    if (!run_launch_pass(l, &selection, NULL, NULL))
        return false;
    l->m->host_seconds += host_seconds() - begin;
    f->timed += w->to.issued;
    f->window = w->from.issued > w->first.issued ? fmax(f->window, w->to.issued) : f->window;
    gpu_drift_end(f->drift);
    run_forward_set_paces(f);
    return true;
}

/* ---- the launch ---- */

/* The launch begins: what it takes until all cores are at work counts as it is. */
static bool time_beginning(struct forward *f)
{
    struct gpu_window w;
    if (!time_window(f, NULL, (f->extent.settling + f->extent.counted / 2) * f->resident, f->extent.counted / 2 * f->resident,
                     true, &w))
        return false;
    f->last = point_of(&w, 0);
    f->last.work = w.to.issued;
    f->last.begun = (double)w.to.next;
    f->ns = w.to.ns - w.begin_ns;
    f->counts = w.to.counts;
    read_crowd(f);
    run_forward_look_for_step(f);
    return true;
}

/* A window whose end was put off had not settled when it began to count: on the way to it, the pace was the one that it came to.
 */
static void settle_late(struct forward *f, const struct point *to)
{
    const double change = (to->ns - f->last.ns) / (to->ns + f->last.ns) * fmax(0, to->work - f->last.work);
    f->squares += change * change;
    f->last.ns = to->ns;
    f->last.counts = to->counts;
    f->last.begins = to->begins;
}

static bool time_amid(struct forward *f)
{
    struct gpu_window w;
    const double opened_at = gpu_schedule_work(f->schedule, f->simdgroups);
    const double counted = run_forward_scatters_held_up(f) ? f->extent.counted_held_up : f->extent.counted;
    if (!time_window(f, f->schedule, f->extent.settling * f->resident, counted * f->resident, true, &w))
        return false;
    const struct point p = point_of(&w, opened_at);
    gpu_begins_add(&f->begins, p.begins, p.ns);
    gpu_places_add(&f->places, p.ns - gpu_begins_ns(&f->begins) * p.begins);
    f->windows++;
    if (w.from.issued > w.first.issued)
        settle_late(f, &p);
    account(f, &p);
    f->ends_missing +=
        (w.to.issued - w.from.issued) / f->all * (double)f->l->setup->group_count - (double)(w.to.next - w.from.next);
    read_crowd(f);
    run_forward_look_for_step(f);
    return true;
}

/* Times so many instructions of each simdgroup for themselves: they stand for no others. */
static bool time_once(struct forward *f, double counted)
{
    struct gpu_window w;
    const double opened_at = gpu_schedule_work(f->schedule, f->simdgroups);
    if (!time_window(f, f->schedule, f->extent.settling * f->resident, counted * f->resident, false, &w))
        return false;
    struct point p = f->last;
    p.work = opened_at + w.from.issued;
    p.begun = (double)w.from.next;
    account(f, &p);
    f->last.work = opened_at + w.to.issued;
    f->last.begun = (double)w.to.next;
    f->ns += w.to.ns - w.from.ns;
    gpu_counted_add(&f->counts, &w.to.counts, 1);
    gpu_counted_add(&f->counts, &w.from.counts, -1);
    return true;
}

/* Instructions of a simdgroup until the first of the threadgroups that run ends. */
static double first_end(const struct forward *f)
{
    const struct gpu_slot *slot = gpu_schedule_slots(f->schedule);
    double least = INFINITY;
    for (unsigned i = 0; i < f->cores * f->slots; i++)
        if (slot[i].group != GPU_NO_GROUP)
            least = fmin(least, gpu_work_of(&f->l->work, slot[i].group) - slot[i].done);
    return least;
}

/* The threadgroups of a core begin in step. Whether they fall out of step decides how well they hide one another's latencies,
 * and when they do so is when the first ones end: these moments are timed where a window would not see them. */
static bool time_first_ends(struct forward *f)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < ENDS_IN_STEP; i++) {
        const double ahead = first_end(f) - f->extent.settling - f->extent.counted * BEFORE_END;
        if (ahead > 0)
            ok = run_forward_go_exactly(f, ahead * f->resident) && time_once(f, f->extent.counted) && (read_crowd(f), true);
    }
    return ok;
}

/* The end follows from the last pace: a core with fewer threadgroups does as much as a full one, until it has none. */
static void drain(struct forward *f)
{
    gpu_schedule_forward(f->schedule, INFINITY, NULL, NULL);
    struct point p = f->last;
    p.work = gpu_schedule_work(f->schedule, f->simdgroups);
    p.begun = (double)f->l->setup->group_count;
    account(f, &p);
    f->ns += gpu_schedule_most_left(f->schedule) * f->simdgroups * f->cores * f->last.ns;
    gpu_counted_add(&f->counts, &f->last.counts, f->all - p.work);
}

/* The distance to the next window. */
static double next_step(const struct forward *f, double at)
{
    const double *counted = f->last.counts.activity;
    const double lines = (counted[ACT_DRAM_READ_BYTES] + counted[ACT_SLC_WRITE_BYTES]) / MEM_LINE_BYTES;
    const double filling = lines > 0 ? FILLING * f->l->slc_lines / lines : INFINITY, filled = FILLED / FILLING * filling;
    const double share = gpu_places_share(&f->places);
    const bool few = run_forward_has_few_waves(f->l);
    const double least = few ? WINDOWS_OF_FEW : f->resident < MANY_SIMDGROUPS ? WINDOWS : WINDOWS_OF_MANY;
    const double windows = share > 0 ? fmax(least, 1 / share) : least;
    const double window = (f->extent.settling + f->extent.counted) * f->resident;
    const double growth = few ? FEW_GROWTH : GROWTH;
    const double step = fmax(window * (1 / MOST_TIMED - 1), fmin(growth * at, f->all / windows));
    if (!f->l->run->request->cold || (at >= filled && f->windows > 0))
        return step;
    if (at >= filling && f->windows == 0)
        return fmin(step, fmax(at / 2, filled - at)); /* it was filled while the beginning was timed */
    return at < filling && at + step > filling ? filling - at : at + step > filled ? filled - at : step;
}

static double uncertainty(const struct forward *f)
{
    return sqrt(f->squares) / f->all;
}

/* Tells whether windows differ too much already to stand for few waves. */
static bool scatters(const struct forward *f)
{
    return run_forward_has_few_waves(f->l) && uncertainty(f) > FEW_SURE;
}

static bool begin_launch(struct forward *f)
{
    return (f->l->run->request->cold || run_forward_leave_caches(f)) && time_beginning(f) && time_first_ends(f);
}

/* Ends early where windows scatter. */
static bool time_launch(struct forward *f)
{
    const double life = f->all / (double)f->l->setup->group_count / f->simdgroups; /* of a threadgroup */
    const bool short_end = 1.5 * life * f->resident + f->extent.settling * f->resident < TAIL_WORK;
    double end;
    if (!begin_launch(f))
        return false;
    for (;;) {
        const double at = gpu_schedule_work(f->schedule, f->simdgroups);
        const double step = next_step(f, at);
        end = f->all - life * f->resident - (short_end ? f->extent.settling * f->resident : f->window);
        if (at + step + f->window > end)
            break;
        if (!run_forward_go(f, step) || !time_amid(f))
            return false;
        if (scatters(f))
            return true;
    }
    const double at = gpu_schedule_work(f->schedule, f->simdgroups);
    if (end > at && !run_forward_go_exactly(f, end - at))
        return false;
    if (short_end)
        return time_once(f, INFINITY); /* threadgroups are left for every slot */
    if (at <= end && !time_amid(f))    /* else the latest window took longer, to where the launch drains */
        return false;
    drain(f);
    return true;
}

/* ---- the result ---- */

static uint64_t times(uint64_t count, double factor)
{
    return (uint64_t)llround((double)count * factor);
}

static void tell_totals(const struct forward *f, double repeats)
{
    struct gpu_totals *t = run_launch_totals(f->l);
    const double executed = (double)gpu_crowd_counts(f->l->crowd).instructions, factor = repeats * f->all / fmax(1, executed);
    if (!t)
        return;
    gpu_crowd_add_totals(f->l->crowd, t);
    t->instructions = times(t->instructions, factor);
    t->active_lanes = times(t->active_lanes, factor);
    double rest = 0;
    for (uint32_t i = 0; i < gpu_program_count(f->l->setup->program); i++)
        t->issues[i] = gpu_totals_scaled(t->issues[i], factor, &rest);
}

static void tell(const struct forward *f)
{
    struct run_measure *m = f->l->m;
    const double repeats = run_repeats(f->l->run);
    struct gpu_counted all = {.activity = {0}};
    double cycles = 0;
    gpu_counted_add(&all, &f->counts, repeats);
    gpu_counted_give(&all, &m->activity, &m->memory);
    for (unsigned i = 0; i < GPU_STALL_COUNT; i++) {
        m->gpu.stalls[i] += all.stall_cycles[i];
        cycles += all.stall_cycles[i];
    }
    m->gpu.issue_share = cycles > 0 ? all.stall_cycles[GPU_STALL_ISSUE] / cycles : 0;
    m->gpu.device_ns = repeats * (f->ns - gpu_begins_add_ns(&f->begins, f->begins_over, f->all));
    m->gpu.timed_share = fmin(1, f->timed / f->all);
    m->gpu.groups_timed = (uint64_t)(m->gpu.timed_share * (double)f->l->setup->group_count);
    m->gpu.scale_uncertainty = uncertainty(f);
    const struct gpu_crowd_counts ran = gpu_crowd_counts(f->l->crowd); /* some: the work has been found */
    m->gpu.replayed_share = (double)ran.played / (double)ran.instructions;
    tell_totals(f, repeats);
}

bool run_launch_forward(struct run_launch *l, bool *sure)
{
    struct forward f = {.l = l};
    run_launch_restart(l, false);
    const bool ok = open_forward(&f) && time_launch(&f);
    *sure = ok && !scatters(&f);
    if (*sure)
        tell(&f);
    close_forward(&f);
    return ok;
}

bool run_launch_touch(struct run_launch *l)
{
    struct forward f = {.l = l};
    const bool ok = open_forward(&f) && run_forward_warm(&f);
    close_forward(&f);
    gpu_crowd_free(l->crowd); /* the timed pass has one of its own */
    l->crowd = NULL;
    run_launch_rewind(l);
    return ok;
}
