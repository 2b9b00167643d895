#include "sim/workload/core_sample.h"

#include <math.h>
#include <string.h>

/* How far the time of skipped work is off although the paces of windows agree, relative, one standard deviation: what was found
 * over the programs and kernels of tests/sim/run/test_cpu_sample.c and some forty longer ones. */
#define SKIPPED_SD 0.003

/* Between its limits, the gap before the next window is this part of the work so far: short runs and short phases at their start
 * are seen by enough windows, too. Where the paces of the windows so far agree, fewer tell as much: how well they tell it goes by
 * the root of their number. */
#define GAP_PART_MOST  128.0
#define GAP_PART_LEAST 16.0
#define STEADY_SD      0.002 /* of the time so far, relative, where the least part is enough: less than SKIPPED_SD */

void core_reading_add(struct core_reading *to, const struct core_reading *from, double factor)
{
    to->ns += factor * from->ns;
    for (int i = 0; i < CORE_SAMPLE_STALLS; i++)
        to->stall[i] += factor * from->stall[i];
    for (int i = 0; i < MEM_TIMED_COUNTS; i++)
        to->memory[i] += factor * from->memory[i];
}

static struct core_reading difference(const struct core_reading *after, const struct core_reading *before)
{
    struct core_reading d = *after;
    core_reading_add(&d, before, -1);
    return d;
}

/* Between 0 and 1, by number: gaps of equal length would fall into step with what the program repeats. */
static double jitter(unsigned number)
{
    uint64_t h = (number + UINT64_C(1)) * UINT64_C(0x9E3779B97F4A7C15);
    h ^= h >> 32;
    h *= UINT64_C(0xD6E8FEB86659FD93);
    return (double)(h >> 40) / (double)(1 << 24);
}

void core_sample_begin(struct core_sample *s, const struct core_sample_shape *shape)
{
    *s = (struct core_sample){.shape = *shape, .part = CORE_SAMPLE_START, .left = shape->first};
}

void core_sample_reshape(struct core_sample *s, const struct core_sample_shape *shape)
{
    const double expected = s->shape.expected;
    const bool blind = s->shape.blind;
    if (s->part == CORE_SAMPLE_START)
        s->left = fmax(1, s->left + shape->first - s->shape.first + (s->shape.miss - shape->miss) * s->missed);
    s->shape = *shape;
    s->shape.expected = expected;
    s->shape.blind = blind;
}

double core_sample_piece(const struct core_sample *s)
{
    return fmin(s->left, s->shape.piece > 0 ? s->shape.piece : s->shape.window);
}

/* Of rare kinds, the first pieces and then one in so many. */
#define RARE_FIRST 8
#define RARE_SHARE 16

static bool is_rare(const struct core_sample *s, unsigned kind)
{
    return s->shape.rare && kind >= s->shape.rare;
}

bool core_sample_times(const struct core_sample *s, unsigned kind)
{
    const struct core_sample_kind *const k = &s->kind[kind];
    if (s->part != CORE_SAMPLE_GAP || s->shape.blind || !is_rare(s, kind))
        return s->part != CORE_SAMPLE_GAP;
    return k->timed_pieces < RARE_FIRST || RARE_SHARE * k->timed_pieces < k->pieces;
}

/* The part of the work so far that the next gap is. */
static double part_of(const struct core_sample *s)
{
    const double ns = STEADY_SD * (s->estimate.ns + s->counted.ns);
    const double unsure = ns > 0 && s->windows >= GAP_PART_LEAST ? s->variance / (ns * ns) : INFINITY;
    return fmin(fmax(1, unsure) * GAP_PART_LEAST, GAP_PART_MOST);
}

/* As how many instructions an access that misses L1 counts: it takes the host so much longer. */
#define MISS_COST 64
/* Gaps grow by more than windows where these are long: the timed share is halved. Sums, stores and a hash table over 64 MiB stay
 * within 0.6 % of every instruction timed. */
#define DEAR_GAP 2

static double length_of(const struct core_sample *s)
{
    return s->dear && s->shape.dear > 0 ? s->shape.dear : 1;
}

static void judge_cost(struct core_sample *s)
{
    s->dear = MISS_COST * s->missed_in_run > s->in_run;
    s->in_run = s->missed_in_run = 0;
}

static double gap_of(const struct core_sample *s)
{
    const struct core_sample_shape *const p = &s->shape;
    const double part = s->work / part_of(s), length = length_of(s), apart = length > 1 ? DEAR_GAP * length : 1;
    const double gap = apart * fmin(fmax(p->gap_least, part), p->gap_most) * (0.5 + jitter(2 * s->windows));
    const double to_last = p->expected - p->lead - p->spread - length * p->window - s->work;
    if (p->blind)
        return INFINITY;
    return to_last > 0 && gap > to_last ? to_last : gap;
}

/* The pace of a kind in what was timed of it last is known: so is the time of what came before. */
static void close_kind(struct core_sample *s, struct core_sample_kind *k)
{
    struct core_reading pace = {0};
    if (k->in_window <= 0)
        return;
    core_reading_add(&pace, &k->window, 1 / k->in_window);
    k->step = k->known ? pace.ns - k->pace.ns : 0;
    s->variance += k->pending * k->pending * k->step * k->step / 2;
    core_reading_add(&s->estimate, &pace, k->known ? k->pending / 2 : k->pending);
    if (k->known)
        core_reading_add(&s->estimate, &k->pace, k->pending / 2);
    k->pace = pace;
    k->known = true;
    k->pending = k->in_window = 0;
    k->window = (struct core_reading){0};
}

/* A kind that no window has seen yet, while leads did, goes at its pace there: where kinds take turns in steps of a lead and a
 * window, it would else always lie in leads. */
static void take_lead(struct core_sample_kind *k)
{
    if (!k->known && k->in_window <= 0 && k->in_lead > 0) {
        k->in_window = k->in_lead;
        k->window = k->lead;
    }
    k->in_lead = 0;
    k->lead = (struct core_reading){0};
}

/* The start is windows throughout. */
static void close_window(struct core_sample *s)
{
    s->windows += s->part == CORE_SAMPLE_WINDOW;
    s->in_window = 0;
    for (unsigned i = 0; i < CORE_SAMPLE_KINDS; i++) {
        take_lead(&s->kind[i]);
        close_kind(s, &s->kind[i]);
    }
}

static void next_part(struct core_sample *s)
{
    /* Where little would be skipped, nothing is. */
    if (s->part == CORE_SAMPLE_START && !s->shape.blind && s->shape.expected > 0 && s->shape.expected < 2 * s->work) {
        s->left = INFINITY;
        return;
    }
    switch (s->part) {
    case CORE_SAMPLE_LEAD:
        s->part = CORE_SAMPLE_WINDOW;
        s->left = length_of(s) * s->shape.window;
        break;
    case CORE_SAMPLE_START:
    case CORE_SAMPLE_WINDOW:
        close_window(s);
        judge_cost(s);
        s->part = CORE_SAMPLE_GAP;
        s->left = gap_of(s);
        break;
    case CORE_SAMPLE_GAP:
        s->part = CORE_SAMPLE_LEAD;
        s->left = s->shape.lead + s->shape.spread * jitter(2 * s->windows + 1);
        break;
    }
}

static void advance(struct core_sample *s, double work)
{
    s->work += work;
    s->left -= work;
    if (s->left <= 0)
        next_part(s);
}

void core_sample_enter(struct core_sample *s, enum core_sample_part part)
{
    if (part != s->part && (s->part == CORE_SAMPLE_START || s->part == CORE_SAMPLE_WINDOW))
        close_window(s);
    s->part = part;
    s->left = INFINITY;
}

void core_sample_end_gap(struct core_sample *s)
{
    s->left = 0;
    if (s->part == CORE_SAMPLE_GAP && !s->shape.blind)
        next_part(s);
}

/* Accesses that reached further than L1, and those that did so ahead of time. */
static double missed(const struct core_reading *took)
{
    double count = took->memory[MEM_TIMED_PREFETCHED] + took->memory[MEM_TIMED_GATHERED];
    for (int level = MEM_L1 + 1; level < MEM_LEVEL_COUNT; level++)
        count += took->memory[level];
    return count;
}

void core_sample_timed(struct core_sample *s, unsigned kind, double work, const struct core_reading *before,
                       const struct core_reading *after)
{
    const struct core_reading took = difference(after, before);
    struct core_sample_kind *const k = &s->kind[kind];
    const bool alone = is_rare(s, kind) && (s->part == CORE_SAMPLE_GAP || s->part == CORE_SAMPLE_LEAD);
    s->timed_work += work;
    s->in_run += work;
    s->missed_in_run += missed(&took);
    k->pieces++;
    k->timed_pieces++;
    if (s->part == CORE_SAMPLE_LEAD && !alone) {
        k->pending += work;
        k->in_lead += work;
        core_reading_add(&s->lead, &took, 1);
        core_reading_add(&k->lead, &took, 1);
    } else {
        core_reading_add(&s->counted, &took, 1);
        s->in_window += alone ? 0 : work;
        k->in_window += work;
        core_reading_add(&k->window, &took, 1);
    }
    if (alone)
        close_kind(s, k);
    if (s->part == CORE_SAMPLE_START && s->in_window >= s->shape.window)
        close_window(s);
    if (s->part == CORE_SAMPLE_START) {
        s->missed += missed(&took);
        s->left -= s->shape.miss * missed(&took);
    }
    advance(s, work);
}

void core_sample_passed(struct core_sample *s, unsigned kind, double work)
{
    s->kind[kind].pending += work;
    s->kind[kind].pieces++;
    advance(s, work);
}

void core_sample_skipped(struct core_sample *s, unsigned kind, double work)
{
    if (!s->kind[kind].known && !s->shape.blind)
        s->left = 0;
    core_sample_passed(s, kind, work);
}

void core_reading_take(struct core_reading *r, const struct soc_core *core, double now_ns)
{
    double total, amx[MEM_TIMED_COUNTS];
    struct mem_counters counters;
    memset(r, 0, sizeof *r);
    r->ns = now_ns;
    mem_port_counters(core->port, &counters);
    mem_timed_counts_get(&counters, r->memory);
    mem_port_counters(core->amx_port, &counters);
    mem_timed_counts_get(&counters, amx);
    for (int i = 0; i < MEM_TIMED_COUNTS; i++)
        r->memory[i] += amx[i];
    cpu_timing_stalls(core->timing, r->stall, &total);
    if (core->amx)
        amx_block_stalls(core->amx, core->slot, r->stall + CPU_STALL_COUNT, &total);
}

/* Work of a kind that no window saw goes at the pace of all that counts. */
static void estimate_rest(const struct core_sample *s, struct core_reading *sum, double *variance)
{
    for (unsigned i = 0; i < CORE_SAMPLE_KINDS; i++) {
        const struct core_sample_kind *const k = &s->kind[i];
        const double counted = s->timed_work > 0 ? k->pending / s->timed_work : 0;
        if (k->known) {
            core_reading_add(sum, &k->pace, k->pending);
        } else {
            core_reading_add(sum, &s->counted, counted);
            core_reading_add(sum, &s->lead, counted);
        }
        *variance += k->pending * k->pending * k->step * k->step / 2;
    }
}

void core_sample_leapt(struct core_sample *s, double work, const struct core_reading *extra)
{
    s->leapt = work;
    s->leap = *extra;
}

double core_sample_extra_ns(const struct core_sample *s)
{
    struct core_reading rest = {0};
    double unused = 0;
    estimate_rest(s, &rest, &unused);
    return s->estimate.ns + rest.ns - s->lead.ns + s->leap.ns;
}

struct core_sampled core_sample_end(struct core_sample *s)
{
    struct core_sampled r = {.sampled = s->timed_work - s->leapt < s->work};
    if (!r.sampled)
        return r;
    if (s->in_window > s->shape.window / 2)
        close_window(s);
    estimate_rest(s, &s->estimate, &s->variance);
    r.extra_ns = s->estimate.ns - s->lead.ns + s->leap.ns;
    for (int i = 0; i < CORE_SAMPLE_STALLS; i++)
        r.extra[i] = s->estimate.stall[i] - s->lead.stall[i] + s->leap.stall[i];
    for (int i = 0; i < MEM_TIMED_COUNTS; i++)
        r.memory[i] = s->counted.memory[i] + s->estimate.memory[i];
    r.sd_ns = hypot(sqrt(s->variance), SKIPPED_SD * (s->estimate.ns + fmax(0, s->leap.ns)));
    r.work = s->work;
    r.timed_work = s->timed_work - s->leapt;
    r.windows = s->windows;
    return r;
}

void core_sampled_add(struct core_sampled *sum, const struct core_sampled *of)
{
    sum->sampled |= of->sampled;
    sum->extra_ns += of->extra_ns;
    for (int i = 0; i < CORE_SAMPLE_STALLS; i++)
        sum->extra[i] += of->extra[i];
    sum->sd_ns += of->sd_ns; /* equal runs err in the same direction */
    sum->work += of->work;
    sum->timed_work += of->timed_work;
    sum->windows += of->windows;
}
