/* Skips threadgroups of launches with many of them.
 *
 * When as many threadgroups have begun as the pace needs to settle, the next ones are timed for their pace; then a part of the
 * launch is skipped: the threadgroups under way stay as they are, and behind them begin those at the end of that part. What the
 * skipped ones access last reaches the caches in no time. The time of what was skipped follows from the pace before and behind
 * it. The farther the launch has come, the more may be skipped at a time, so a launch is timed in a few places, and its end as it
 * is. Pipes, queues and the order in which cores wait for one another go on undisturbed, other than in windows, which begin anew.
 */
#include "sim/workload/gpu/gpu_job_internal.h"
#include "sim/workload/gpu/gpu_warm.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* How long the pace settles and how long it is then timed: waves (as many threadgroups as the GPU holds), and instructions of
 * each simdgroup, whichever is longer. */
#define SETTLING_WAVES 2
#define TIMED_WAVES    4
#define SETTLING       50.0
#define TIMED          50.0
/* The pace is timed for twice as many waves, and again, up to so many times, until that changes it by less than this share. */
#define SURE       0.02
#define MOST_TIMED 4
/* Waves behind the last skip that are timed besides: the end. */
#define END_WAVES 2
/* A pace that is steady from piece to piece of a wave needs neither: it is looked for after a part of a wave, behind a skip and
 * when the launch begins in step. Behind such a place only so many waves are left for the next one. */
#define PIECES       8
#define TRIED_BEHIND 0.5
#define TRIED_FIRST  1.0
#define SURE_WAVES   2
/* Fewest waves that are worth a skip, and the most for each one that the launch has come: at a steady pace, or at another one
 * than the time before. */
#define LEAST_WAVES 3
/* Launches are timed whole where less of them than this could be skipped: of 48 launches of 28 kernels on four chips, those that
 * were timed for more than two thirds were off by up to 4.3 % for the little that they saved. */
#define WORTH       (1.0 / 3)
#define GROWTH      6.0
#define GROWTH_WILD 1.0
#define GROWTH_SURE 12.0 /* where two places in a row were sure early and alike */
#define ALIKE       0.005
#define STEADY      0.02
/* New lines per place of the SLC after which hardly any place holds its old line; accesses to L2 per place of the SLC after which
 * what stays in it has been accessed again. */
#define RENEWED 1.0
#define SEEN    4
/* Share of the loads beyond L2 that find their line in the SLC, below which that does not count. */
#define FOUND 0.02
/* Stores for each line read from DRAM below which they do not count. */
#define STORED 0.02
/* A launch that finds the SLC empty fills it. Between these shares of it the pace changes, so that nothing is skipped. */
#define FILLING 0.7
#define FILLED  1.4

static uint64_t wave_of(const struct gpu_job *j)
{
    return (uint64_t)j->params->cores * j->slots;
}

/* The instructions of a simdgroup, in the mean over the launch. */
static double life_of(const struct gpu_job *j)
{
    return gpu_work_before(j->selection.skips->work, j->setup->group_count) / (double)j->setup->group_count;
}

/* Instructions of a wave, in the mean over the launch. */
static double wave_work(const struct gpu_job *j)
{
    return life_of(j) * (double)wave_of(j) * gpu_job_mean_simdgroups(&j->setup->launch);
}

/* At least so many waves, and so many instructions of each simdgroup. */
static uint64_t waves_of(const struct gpu_job *j, unsigned waves, double instructions)
{
    return (uint64_t)fmax(waves, ceil(instructions / life_of(j)));
}

uint64_t gpu_job_least_waves(double life)
{
    const uint64_t settling = (uint64_t)fmax(SETTLING_WAVES, ceil(SETTLING / life));
    const uint64_t timed = (uint64_t)fmax(TIMED_WAVES, ceil(TIMED / life));
    return 2 * (settling + timed) + END_WAVES + LEAST_WAVES;
}

/* ---- what is skipped ---- */

static double work_before(const struct gpu_job *j, uint64_t group)
{
    return gpu_work_before(j->selection.skips->work, group) * gpu_job_mean_simdgroups(&j->setup->launch);
}

/* Gives the latest skip its time and counts. */
static void settle_skip(struct gpu_job *j, const struct gpu_rate *behind)
{
    struct gpu_skipping *s = &j->skipping;
    const double end = s->begin + s->latest, change = (behind->ns - s->rate.ns) / (behind->ns + s->rate.ns);
    j->leapt.ns += gpu_counted_between(s->rate.ns, behind->ns, s->begin, end);
    gpu_counted_add_between(&j->leapt.counts, &s->rate.counts, &behind->counts, s->begin, end);
    s->squares += change * change * s->latest * s->latest;
    s->latest = 0;
}

void gpu_job_end_skips(struct gpu_job *j)
{
    if (j->skipping.latest > 0)
        settle_skip(j, &j->skipping.rate);
}

static double lines_of(const struct gpu_rate *rate, enum activity_event event)
{
    return rate->counts.activity[event] / MEM_LINE_BYTES;
}

/* Tells whether threadgroups find nothing in the SLC: then they find nothing there either if those before them were skipped. */
static bool finds_nothing(const struct gpu_rate *rate)
{
    const double *memory = rate->counts.memory;
    const size_t first = offsetof(struct mem_counters, hits) / sizeof(uint64_t);
    return memory[first + MEM_SLC] < FOUND * memory[first + MEM_DRAM];
}

/* Tells whether what is timed from a threadgroup on may be in the SLC since the same launch ran before: the lines that it
 * accessed last. By the time that the launch comes there, it has displaced them. */
static bool was_left(const struct gpu_job *j, uint64_t group)
{
    const struct gpu_skipping *s = &j->skipping;
    const double timed = (double)(s->settling + MOST_TIMED * s->timed) * wave_work(j);
    const double work = work_before(j, j->setup->group_count) - work_before(j, group) - timed;
    return !j->selection.skips->cold && work * lines_of(&s->rate, ACT_SLC_WRITE_BYTES) < RENEWED * j->selection.skips->slc_lines;
}

/* How many of the last instructions before a threadgroup, all of which are skipped, reach the caches: what is accessed before
 * them has left the caches then, or has been accessed again. */
static double renewing_work(const struct gpu_job *j, uint64_t to, bool filling)
{
    const struct gpu_rate *rate = &j->skipping.rate;
    if (!filling && finds_nothing(rate) && !was_left(j, to))
        return 0;
    const double fresh = lines_of(rate, ACT_SLC_WRITE_BYTES);
    const double seen = lines_of(rate, ACT_L2_READ_BYTES) + lines_of(rate, ACT_L2_WRITE_BYTES);
    const double slc = j->selection.skips->slc_lines;
    return fmin(fresh > 0 ? RENEWED * slc / fresh : INFINITY, seen > 0 ? SEEN * slc / seen : INFINITY);
}

/* Skips so many threadgroups. */
static bool skip(struct gpu_job *j, uint64_t groups, bool filling)
{
    const uint64_t from = j->next, to = from + groups;
    struct gpu_skipping *s = &j->skipping;
    s->begin = s->skipped + gpu_job_issued(j);
    s->latest = work_before(j, to) - work_before(j, from);
    s->skipped += s->latest;
    s->groups += groups;
    const double share = fmin(1, renewing_work(j, to, filling) / s->latest);
    const uint64_t touched = (uint64_t)ceil(share * (double)groups), wave = wave_of(j);
    const struct gpu_warming part = {.first = to - touched,
                                     .end = to,
                                     .before = groups - touched < wave ? 0 : wave,
                                     .resident = wave,
                                     .cores = j->params->cores,
                                     .now_ns = gpu_timing_now_ns(j->timing),
                                     .goes_on = true,
                                     .replay = j->selection.replay};
    j->next = to;
    s->touched = touched > 0;
    return !touched || gpu_warm(j->setup, j->selection.skips->port, &part, &j->fault);
}

/* ---- how far ---- */

/* What a launch that only reads leaves in the SLC gives way without a trace, so its pace does not change when the SLC is full. */
static bool hardly_stores(const struct gpu_rate *rate)
{
    return lines_of(rate, ACT_L2_WRITE_BYTES) < STORED * lines_of(rate, ACT_DRAM_READ_BYTES);
}

/* The most instructions that the next skip may have as long as a launch that began with empty caches has not filled the SLC: the
 * pace before a skip is that of a part that began so far into the launch. */
static double room_until_filled(const struct gpu_job *j, double at, double began)
{
    const double fresh = lines_of(&j->skipping.rate, ACT_SLC_WRITE_BYTES);
    const double filling = fresh > 0 ? FILLING * j->selection.skips->slc_lines / fresh : INFINITY;
    if (!j->selection.skips->cold || began >= filling * FILLED / FILLING || hardly_stores(&j->skipping.rate))
        return INFINITY;
    return fmax(0, filling - at);
}

/* Waves until the pace has settled behind a skip. Where nothing of it reaches the caches, all is as it was before. */
static uint64_t settling_behind(const struct gpu_job *j)
{
    return finds_nothing(&j->skipping.rate) ? 0 : j->skipping.settling;
}

/* The most of the launch that the next skip may have. */
static double share_of(const struct gpu_skipping *s)
{
    return s->sure ? 1 : gpu_places_share_of_parts(&s->places, &s->wave, (unsigned)s->timed);
}

/* For each instruction that the launch has come, how many a skip may have. */
static double growth_of(const struct gpu_skipping *s, double change)
{
    return s->alike ? GROWTH_SURE : change < STEADY ? GROWTH : GROWTH_WILD;
}

/* Waves that the place behind the next skip takes. */
static uint64_t waves_behind(const struct gpu_job *j)
{
    return j->skipping.sure ? SURE_WAVES : settling_behind(j) + j->skipping.timed;
}

/* The instructions that skips could have, from the first one on: up to where the SLC begins to be full, and from where it is
 * full; each time the pace is timed before and behind. */
static double skippable(const struct gpu_job *j, double at)
{
    const double all = work_before(j, j->setup->group_count), wave = wave_work(j);
    const double behind = (double)waves_behind(j) * wave, end = END_WAVES * wave;
    const double began = j->skipping.skipped + j->skipping.from.issued, until = at + room_until_filled(j, at, began);
    if (until >= all)
        return all - at - behind - end;
    const double place = (double)(j->skipping.settling + j->skipping.timed) * wave, full = until * FILLED / FILLING;
    return fmax(0, until - at - behind) + fmax(0, all - full - place - behind - end);
}

/* Threadgroups that the next skip has; 0 = none. Whole waves, so that cores go on with threadgroups like those before. */
static uint64_t next_skip(const struct gpu_job *j, double change)
{
    const struct gpu_skipping *s = &j->skipping;
    const uint64_t wave = wave_of(j), behind = (waves_behind(j) + END_WAVES) * wave;
    const uint64_t left = j->setup->group_count - j->next, most = left > behind ? (left - behind) / wave : 0;
    const double at = s->skipped + gpu_job_issued(j);
    if (s->groups == 0 && skippable(j, at) < WORTH * work_before(j, j->setup->group_count))
        return 0;
    const double room = room_until_filled(j, at, s->skipped + s->from.issued);
    const double farthest = fmin(at * growth_of(s, change), fmin(room, share_of(s) * work_before(j, j->setup->group_count)));
    const double waves = fmin((double)most, floor(farthest / wave_work(j)));
    return waves < LEAST_WAVES ? 0 : (uint64_t)waves * wave;
}

/* ---- the pace ---- */

/* Threadgroups run in step more or less, so that the pace of moments goes up and down with waves. The slope of a line through
 * many moments depends less on when the first and the last of them are than their difference does. */
static struct gpu_rate rate_of(const struct gpu_fit *fit)
{
    const double below = fit->moments * fit->xx - fit->x * fit->x, n = fit->moments / below, x = fit->x / below;
    struct gpu_rate rate = {.ns = n * fit->x_ns - x * fit->ns};
    gpu_counted_add(&rate.counts, &fit->x_counts, n);
    gpu_counted_add(&rate.counts, &fit->counts, -x);
    return rate;
}

static void begin_wave(struct gpu_job *j, const struct gpu_mark *now)
{
    struct gpu_skipping *s = &j->skipping;
    s->wave_ns = now->ns;
    s->wave_issued = now->issued;
    s->wave_until = j->next + wave_of(j);
}

/* Of a place, the pace of every wave. */
static void end_wave(struct gpu_job *j, const struct gpu_mark *now)
{
    struct gpu_skipping *s = &j->skipping;
    if (j->next < s->wave_until || now->issued <= s->wave_issued)
        return;
    gpu_places_add(&s->wave, (now->ns - s->wave_ns) / (now->issued - s->wave_issued));
    begin_wave(j, now);
}

static void begin_fit(struct gpu_skipping *s, const struct gpu_mark *from)
{
    s->from = *from;
    s->fit = (struct gpu_fit){.moments = 1};
}

static void add_moment(struct gpu_skipping *s, const struct gpu_mark *now)
{
    const double x = now->issued - s->from.issued, ns = now->ns - s->from.ns;
    struct gpu_counted counts = now->counts;
    gpu_counted_add(&counts, &s->from.counts, -1);
    s->fit.moments++;
    s->fit.x += x;
    s->fit.xx += x * x;
    s->fit.ns += ns;
    s->fit.x_ns += x * ns;
    gpu_counted_add(&s->fit.counts, &counts, 1);
    gpu_counted_add(&s->fit.x_counts, &counts, x);
}

static void settle_until(struct gpu_job *j, uint64_t waves)
{
    j->skipping.until = j->next + waves * wave_of(j);
}

/* The pace settles for so many waves, unless it is found to be steady earlier. */
static void begin_settling(struct gpu_job *j, uint64_t waves, double tried)
{
    struct gpu_skipping *s = &j->skipping;
    s->measuring = false;
    s->settled = j->next + waves * wave_of(j);
    s->trial_from = gpu_job_issued(j) + tried * wave_work(j);
}

/* Times the pace for some waves anew. */
static void begin_timing(struct gpu_job *j, const struct gpu_mark *from)
{
    struct gpu_skipping *s = &j->skipping;
    s->trial = j->next < s->settled;
    gpu_steady_begin(&s->steady, wave_work(j) / PIECES, from->ns, from->issued);
    begin_fit(s, from);
    begin_wave(j, from);
    s->measuring = true;
    s->waves = s->timed / 2;
    s->half_ns = 0;
    settle_until(j, s->waves);
}

/* The pace of twice as many waves is another one: it is timed for longer, up to the end of the launch. */
static bool goes_on_timing(struct gpu_job *j)
{
    struct gpu_skipping *s = &j->skipping;
    const double ns = rate_of(&s->fit).ns, change = s->half_ns > 0 ? fabs(ns / s->half_ns - 1) : 1;
    const uint64_t end = j->next + (s->waves + END_WAVES) * wave_of(j);
    if (s->waves >= s->timed && (change < SURE || s->waves >= MOST_TIMED * s->timed || end > j->setup->group_count))
        return false;
    settle_until(j, s->waves);
    s->waves *= 2;
    s->half_ns = ns;
    return true;
}

/* The pace is known: skips what may be skipped. */
static bool look_behind(struct gpu_job *j, const struct gpu_mark *to)
{
    struct gpu_skipping *s = &j->skipping;
    const struct gpu_rate rate = rate_of(&s->fit);
    const double change = s->known ? fabs(rate.ns / s->rate.ns - 1) : 0;
    const bool sure = gpu_steady_sure(&s->steady);
    s->alike = s->known && s->sure && sure && change < ALIKE;
    s->sure = sure;
    if (s->latest > 0)
        settle_skip(j, &rate);
    s->rate = rate;
    s->known = true;
    gpu_places_add(&s->places, rate.ns);
    const uint64_t groups = next_skip(j, change);
    const bool filling = room_until_filled(j, s->skipped + to->issued, s->skipped + s->from.issued) < INFINITY;
    if (!groups) {
        begin_timing(j, to);
        return true;
    }
    if (!skip(j, groups, filling))
        return false;
    if (filling)
        settle_skip(j, &rate);
    begin_settling(j, s->touched ? s->settling : 0, s->touched ? TRIED_BEHIND : 0);
    return true;
}

/* One more moment of a pace that is being timed. */
static bool go_on_timing(struct gpu_job *j, const struct gpu_mark *now)
{
    struct gpu_skipping *s = &j->skipping;
    add_moment(s, now);
    end_wave(j, now);
    gpu_steady_moment(&s->steady, now->ns, now->issued);
    if (gpu_steady_sure(&s->steady))
        return look_behind(j, now);
    if (!s->trial)
        return j->next < s->until || goes_on_timing(j) || look_behind(j, now);
    const bool changes = s->steady.pieces == PIECES && fabs(gpu_steady_change(s->steady.pace, PIECES)) > ALIKE;
    if (j->next >= s->settled || changes || s->steady.pieces >= 2 * PIECES)
        begin_timing(j, now);
    return true;
}

bool gpu_job_skip(struct gpu_job *j)
{
    struct gpu_skipping *s = &j->skipping;
    struct gpu_mark now;
    if (!s->settling) {
        s->settling = waves_of(j, SETTLING_WAVES, SETTLING);
        s->timed = waves_of(j, TIMED_WAVES, TIMED);
        begin_settling(j, s->settling, TRIED_FIRST);
    }
    if (j->next >= j->setup->group_count || (!s->measuring && j->next < s->settled && gpu_job_issued(j) < s->trial_from))
        return true;
    gpu_job_take_mark(j, &now);
    if (s->measuring)
        return go_on_timing(j, &now);
    begin_timing(j, &now);
    return true;
}
