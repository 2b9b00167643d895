/* How a launch that is timed from windows goes from one to the next: who runs where follows from the schedule, threadgroups are
 * executed up to there for what steers them, and what slots access on the last part of the way reaches the caches in the order of
 * time. */
#include "sim/base/host_time.h"
#include "sim/run/gpu/run_forward.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Instructions of a simdgroup that slots move in turn when what they access reaches the caches. With 256, eleven launches of
 * which cores share lines were off by 1.6 % in the mean and 3.6 % at most; from 128 down, by 1.0 to 1.2 and 2.5 %. */
#define TURN 32.0
/* Instructions of a simdgroup after which nothing is left in L1s and TLBs of what was accessed before: behind 512 and behind
 * 2048, windows of products of matrices on m1 have the same paces to five digits. */
#define NEAR 512.0
/* The same in the warm-up of a launch that is timed whole. There the order of stores and loads of neighbouring threadgroups
 * counts: what is in L2 at the end is what the launch finds first. */
#define TURN_WARM 8.0
/* New lines per place of a cache after which hardly any place holds its old line. */
#define RENEWED 1.0
/* Accesses per place of the SLC after which what stays in it has been accessed again. Twice as many give the same times. */
#define SEEN         4
#define SEEN_HELD_UP 8 /* where cores are held up by what others fetch: how they fall in with one another takes as long */
/* Rounds of all slots, one threadgroup after another, before a window: as many let threadgroups fall out of step. */
#define ROUNDS 24
/* New lines per place of L2 after which hardly any place of it holds its old line. Twice as many as places, because a launch
 * finds lines of its own there, which come and go more often than others. */
#define L2_RENEWED 2.0
/* The same amid a launch, counted by what was read from the SLC in the latest window; twice as many where cores are held up by
 * what they find in L2, so that it and how they fall in with one another settle together. */
#define L2_LEFT         4.0
#define L2_LEFT_HELD_UP 8.0
/* The part of a wave of threadgroups that a warm-up begins with. */
#define WARM_PARTS 4
/* Where data take less than so many times as long in DRAM as instructions take to issue, at the highest pace, the beginning of a
 * launch hides what it misses (products of matrices take eight times as long to issue): which lines the SLC has counts for
 * little, and not in which order it got them. */
#define HIDING 2.0
/* A window that counts at least so many lives of threadgroups shows whether its pace still changes, and lasts up to so many times
 * as long while it does. MLX's argmax along columns, of which 128 threadgroups read the same lines, comes into step within seven
 * lives of them, and takes twice as long then. */
#define LIVES_IN_STEP 2
#define MOST_COUNTED  8
/* Slots are in step from this on (gpu_schedule_step): nine of ten are within a tenth of a life of one another. */
#define IN_STEP 0.8
/* The least time per instruction of a core that others are held up for, relative to the mean. */
#define LEAST_LAG 0.5

/* ---- in step ---- */

double run_forward_latest_end(const struct forward *f, const struct gpu_schedule *open, double settling, double counted)
{
    const double at = open ? gpu_schedule_work(open, f->simdgroups) : 0;
    const double life = f->all / (double)f->l->setup->group_count / f->simdgroups;
    return f->extent.lives < LIVES_IN_STEP ? 0 : fmin(settling + MOST_COUNTED * counted, f->all - life * f->resident - at);
}

/* Threadgroups that share lines wait for whoever fetches them, all at once: so they come into step with one another, and stay so.
 * Where a window leaves them in step, they go forward in step as well, else they fall apart on the way. */
void run_forward_look_for_step(struct forward *f)
{
    f->in_step = f->extent.lives >= LIVES_IN_STEP && gpu_schedule_step(f->schedule) >= IN_STEP;
    run_forward_set_paces(f);
}

/* ---- between windows ---- */

struct touching {
    struct forward *f;
    struct unit_fault *fault;
};

static bool move_piece(void *context, unsigned slot, uint64_t group, double from, double to)
{
    const struct touching *t = context;
    (void)from;
    return gpu_crowd_move(t->f->l->crowd, slot, group, to, true, t->fault);
}

/* Brings the crowd to where the schedule is. */
static bool move_crowd(struct forward *f, bool settle, struct unit_fault *fault)
{
    const struct gpu_slot *slot = gpu_schedule_slots(f->schedule);
    for (unsigned i = 0; i < f->cores * f->slots; i++)
        if (slot[i].group != GPU_NO_GROUP && (!gpu_crowd_move(f->l->crowd, i, slot[i].group, slot[i].done, false, fault) ||
                                              (settle && !gpu_crowd_settle(f->l->crowd, i, fault))))
            return false;
    return true;
}

/* The instructions after which what was accessed before them has left the caches or has been accessed again. */
static double renewing_work(const struct forward *f)
{
    const double *counted = f->last.counts.activity;
    const double lines = (counted[ACT_DRAM_READ_BYTES] + counted[ACT_DRAM_WRITE_BYTES]) / MEM_LINE_BYTES;
    const double accesses = run_forward_scatters_held_up(f) ? SEEN_HELD_UP : SEEN;
    const double seen = f->touches > 0 ? accesses * f->l->slc_lines / f->touches : INFINITY;
    return fmin(seen, lines > 0 ? RENEWED * f->l->slc_lines / lines : INFINITY);
}

/* The threadgroups that end in the counted part of a window after so much work. */
static double ends_after(struct forward *f, double work)
{
    const double time = gpu_schedule_time(f->schedule, work / f->simdgroups);
    gpu_schedule_copy(f->trial, f->schedule);
    gpu_schedule_forward(f->trial, gpu_schedule_rounds(f->trial, time, ROUNDS) + f->extent.settling, NULL, NULL);
    const uint64_t from = gpu_schedule_next(f->trial);
    gpu_schedule_forward(f->trial, f->extent.counted, NULL, NULL);
    return (double)(gpu_schedule_next(f->trial) - from);
}

/* Where threadgroups begin and end, the pace is another one than amid them, and a window sees few of them do so. Of some
 * distances about as long as wanted, this takes the one by which windows see as many as their share. */
static double choose_step(struct forward *f, double work)
{
    enum { TRIED = 16 };
    const double groups = (double)f->l->setup->group_count, share = groups * f->extent.counted * f->resident / f->all;
    const double round = f->all / groups * f->cores * f->slots;
    double best = work, least = INFINITY;
    for (unsigned i = 0; i < TRIED; i++) {
        const double tried = work - fmin(round, work / 2) * i / TRIED;
        const double missing = fabs(f->ends_missing + share - ends_after(f, tried));
        if (missing < least) {
            least = missing;
            best = tried;
        }
    }
    return best;
}

void run_forward_set_paces(struct forward *f)
{
    for (unsigned core = 0; core < f->cores; core++)
        gpu_schedule_set_pace(f->schedule, core, f->in_step ? 1 : gpu_drift_pace(f->drift, core));
    gpu_schedule_keep_step(f->schedule, f->in_step);
}

/* Cores that go forward turn by turn. */
struct turns {
    struct forward *f;
    struct gpu_fetched cost;
    double *held_up; /* by core: the instructions that what it has fetched costs it, up to the latest turn */
};

static double held_up(const struct turns *t, unsigned core)
{
    const struct gpu_fetched fetched = gpu_crowd_fetched(t->f->l->crowd, core);
    return t->cost.slc * fetched.slc + t->cost.dram * fetched.dram;
}

/* In its next turn a core comes behind by what it fetched in this one, more than others. */
static void hold_up(struct turns *t)
{
    struct forward *f = t->f;
    double mean = 0;
    for (unsigned core = 0; core < f->cores; core++)
        mean += (held_up(t, core) - t->held_up[core]) / f->cores;
    for (unsigned core = 0; core < f->cores; core++) {
        const double now = held_up(t, core), lag = (now - t->held_up[core] - mean) / (TURN * f->slots * f->simdgroups);
        gpu_schedule_set_pace(f->schedule, core, 1 / fmax(LEAST_LAG, 1 / gpu_drift_pace(f->drift, core) + lag));
        t->held_up[core] = now;
    }
}

bool run_forward_is_held_up(const struct forward *f)
{
    const struct gpu_fetched cost = gpu_convoy_cost(f->convoy);
    return !f->in_step && (cost.slc > 0 || cost.dram > 0);
}

/* The instructions of a simdgroup after which nothing is left in L2 of what was accessed before. */
static double renews_l2(const struct forward *f)
{
    const double *counted = f->last.counts.activity;
    const double lines = counted[ACT_SLC_READ_BYTES] / MEM_LINE_BYTES;
    const double left = run_forward_is_held_up(f) ? L2_LEFT_HELD_UP : L2_LEFT;
    return lines <= 0 ? INFINITY : fmax(NEAR, left * f->l->l2_lines / lines / f->resident);
}

/* Goes forward, and what is accessed reaches the caches. */
static bool go_touching(struct forward *f, double work, struct unit_fault *fault)
{
    struct turns t = {f, gpu_convoy_cost(f->convoy), calloc(f->cores, sizeof *t.held_up)};
    struct touching context = {f, fault};
    const double l2 = renews_l2(f);
    bool ok = t.held_up;
    for (unsigned core = 0; ok && core < f->cores; core++)
        t.held_up[core] = held_up(&t, core);
    for (double left = gpu_schedule_time(f->schedule, work / f->simdgroups); ok && left > 0; left -= TURN) {
        gpu_crowd_begin_turn(f->l->crowd, left > l2 ? GPU_REACH_SLC : left > NEAR ? GPU_REACH_L2 : GPU_REACH_ALL);
        ok = gpu_schedule_forward(f->schedule, fmin(left, TURN), move_piece, &context);
        if (!f->in_step && left <= l2) /* else they wait for one another already */
            hold_up(&t);
    }
    run_forward_set_paces(f);
    free(t.held_up);
    return ok;
}

bool run_forward_go_exactly(struct forward *f, double work)
{
    struct unit_fault fault = {0};
    const double touched = fmin(work, renewing_work(f));
    const double begin = host_seconds();
    const uint64_t before = gpu_crowd_counts(f->l->crowd).touched;
    run_launch_restart(f->l, true);
    double time = gpu_schedule_time(f->schedule, (work - touched) / f->simdgroups);
    time = gpu_schedule_rounds(f->schedule, time, ROUNDS);
    bool ok = gpu_schedule_forward(f->schedule, time, NULL, NULL) && (touched == work || move_crowd(f, false, &fault));
    ok = ok && go_touching(f, touched, &fault) && move_crowd(f, true, &fault);
    f->touches = (double)(gpu_crowd_counts(f->l->crowd).touched - before) / touched;
    f->l->m->host_seconds += host_seconds() - begin;
    return ok || run_launch_fault(f->l, &fault);
}

bool run_forward_go(struct forward *f, double work)
{
    return run_forward_go_exactly(f, choose_step(f, work));
}

/* ---- the caches that a launch finds ---- */

/* Touches the last lines of every buffer, as many as the SLC holds, from begin to end, all buffers side by side. `quickly`,
 * they reach the SLC alone: what follows renews the rest. */
static void sweep(struct run_launch *l, bool quickly)
{
    const struct abi_kernel *k = l->setup->kernel;
    const uint64_t most = (uint64_t)l->slc_lines * MEM_LINE_BYTES;
    uint64_t longest = 0;
    uint64_t bytes[ABI_ARGS_MAX];
    for (unsigned i = 0; i < k->args; i++) {
        bytes[i] = run_launch_buffer(l, i);
        longest = bytes[i] > longest ? bytes[i] : longest;
    }
    enum mem_level (*const warm)(struct mem_port *, double, uint64_t, uint32_t, enum mem_access_kind) =
        quickly ? mem_port_warm_side : mem_port_warm;
    for (uint64_t at = 0; at < longest; at += MEM_LINE_BYTES)
        for (unsigned i = 0; i < k->args; i++)
            if (at < bytes[i] && bytes[i] - at <= most)
                warm(l->gpu->port[at / MEM_LINE_BYTES % l->gpu->params.cores], 0, l->setup->address[i] + at, MEM_LINE_BYTES,
                     MEM_ACCESS_LOAD);
}

/* Every core fetches the program before it runs it. */
static void touch_code(const struct run_launch *l)
{
    const struct gpu_program *program = l->setup->program;
    const uint64_t end = gpu_program_pc(program, gpu_program_count(program) - 1) + 1;
    for (uint64_t at = 0; at < end; at += MEM_LINE_BYTES)
        for (unsigned core = 0; core < l->gpu->params.cores; core++)
            mem_port_warm(l->gpu->port[core], 0, l->setup->code_address + at, MEM_LINE_BYTES, MEM_ACCESS_FETCH);
}

/* Runs what is under way to its end when no threadgroup is left to begin. */
static bool finish_crowd(struct forward *f, double turn, struct unit_fault *fault)
{
    const struct gpu_slot *slot = gpu_schedule_slots(f->schedule);
    bool ok = true;
    while (ok && gpu_schedule_busy(f->schedule)) {
        gpu_crowd_begin_turn(f->l->crowd, turn > TURN_WARM && gpu_schedule_most_left(f->schedule) > NEAR * f->slots
                                              ? GPU_REACH_L2
                                              : GPU_REACH_ALL);
        gpu_schedule_drain(f->schedule, turn);
        for (unsigned i = 0; ok && i < f->cores * f->slots; i++) {
            uint64_t number;
            if (gpu_crowd_holds(f->l->crowd, i, &number))
                ok = gpu_crowd_move(f->l->crowd, i, number, slot[i].group == GPU_NO_GROUP ? GPU_WHOLE_GROUP : slot[i].done, true,
                                    fault);
        }
    }
    return ok;
}

/* The last instructions of the launch, so many, reach the caches: L2 and SLC, and all of them once no threadgroup is left to
 * begin.
 */
static bool run_end(struct forward *f, double work, double turn)
{
    struct unit_fault fault = {0};
    struct touching context = {f, &fault};
    const double at = gpu_schedule_work(f->schedule, f->simdgroups), before = fmax(0, f->all - work - at);
    double time = gpu_schedule_rounds(f->schedule, gpu_schedule_time(f->schedule, before / f->simdgroups), ROUNDS);
    bool ok = gpu_schedule_forward(f->schedule, time, NULL, NULL) && move_crowd(f, false, &fault);
    while (ok && gpu_schedule_next(f->schedule) < f->l->setup->group_count) {
        gpu_crowd_begin_turn(f->l->crowd, turn > TURN_WARM ? GPU_REACH_L2 : GPU_REACH_ALL);
        ok = gpu_schedule_forward(f->schedule, turn, move_piece, &context);
    }
    ok = ok && finish_crowd(f, turn, &fault);
    return ok || run_launch_fault(f->l, &fault);
}

/* The share of the caches that the end of the launch renewed: of L2 where the SLC holds all data anyhow. */
static double renewed_by(const struct run_launch *l, bool fits, struct gpu_crowd_counts before)
{
    const struct gpu_crowd_counts now = gpu_crowd_counts(l->crowd);
    return fits ? (double)(now.into_l2 - before.into_l2) / (L2_RENEWED * l->l2_lines)
                : (double)(now.into_slc - before.into_slc) / (RENEWED * l->slc_lines);
}

/* More and more of the end of the launch, beginning with so much, until what was in the caches before has left them: how much
 * that takes is tried, because threadgroups share lines. With `swept`, the SLC has lines of the launch already. */
static bool renew(struct forward *f, double work, bool swept, double turn)
{
    struct run_launch *l = f->l;
    gpu_schedule_copy(f->trial, f->schedule);
    for (;;) {
        const struct gpu_crowd_counts before = gpu_crowd_counts(l->crowd);
        if (!run_end(f, work, turn))
            return false;
        gpu_schedule_copy(f->schedule, f->trial);
        const double renewed = renewed_by(l, swept, before);
        if (renewed >= 1 || work >= f->all)
            return true;
        work = fmin(f->all, work * fmin(16, fmax(2, 1.2 / fmax(renewed, 0.01))));
    }
}

bool run_forward_leave_caches(struct forward *f)
{
    struct run_launch *l = f->l;
    const bool fits = run_launch_buffer_bytes(l) < RUN_SLC_FILLED * l->slc_lines * MEM_LINE_BYTES;
    const bool swept = fits || l->dram_over_issue < HIDING;
    const double wave = f->all / (double)l->setup->group_count * f->cores * f->slots;
    if (swept)
        sweep(l, true);
    if (!renew(f, swept ? wave / WARM_PARTS : wave, swept, TURN))
        return false;
    run_launch_rewind(l);
    return true;
}

bool run_forward_warm(struct forward *f)
{
    struct run_launch *l = f->l;
    const bool fits = run_launch_buffer_bytes(l) < RUN_SLC_FILLED * l->slc_lines * MEM_LINE_BYTES;
    const double wave = f->all / (double)l->setup->group_count * f->cores * f->slots;
    if (fits)
        sweep(l, false);
    touch_code(l);
    return renew(f, fmin(f->all, wave / WARM_PARTS), fits, TURN_WARM);
}
