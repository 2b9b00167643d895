#include "sim/workload/cpu/core_leap.h"

#include <math.h>
#include <stdlib.h>

#define HEADS 512

/* Passes of at least so many instructions are compared; shorter ones together. Where they do not agree, more are put together: a
 * row of misses then falls into each. */
#define LEAST_FIRST 4096.0
#define LEAST_MOST  262144.0
#define UNLIKE_MOST 4 /* in a row, until the passes that are compared become longer */

/* Beats are alike within these parts: of their instructions, of long beats and others, and of their pace. A long beat is one of
 * an outer loop, whose inner ones may differ a little from pass to pass. */
#define ALIKE_WORK      0.01
#define ALIKE_WORK_LONG 0.2
#define ALIKE_PACE      0.03

#define ALIKE_LEAST 2 /* comparisons in a row that agree, until a loop is steady */
#define LEAP_FIRST  2 /* passes; each leap after which the pace is the same doubles the next one */
#define LEAP_MOST   16
/* Instructions of a leap, at least: resuming costs as much as timing some thousand, and leaves a trace in the pass before. */
#define LEAP_LEAST 16384.0

/* Shorter beats are leapt over only as far as a trace shows that the loop goes on. What follows a loop of longer ones is taken to
 * last as long as a beat until the loop is late: such loops end rarely. */
#define SEEN_MOST 65536.0

/* One loop. A beat is a pass or several. */
struct head {
    uint32_t id;
    bool used, begun; /* begun: `at` and `then` hold */
    double at;        /* instructions before the beat under way */
    struct core_reading then;
    double least; /* instructions of a beat, at least */
    double work;  /* of the latest beat */
    struct core_reading took;
    double known;            /* instructions of the beats of this run that were timed last, and */
    struct core_reading sum; /* what they took: dear beats among cheap ones count as well */
    unsigned alike, unlike;  /* comparisons in a row */
    unsigned run, trips; /* beats alike in number of instructions: of this run of the loop, of the one before; 0 = not known */
    unsigned next;       /* beats of the next leap */
};

struct core_leap {
    enum part { LOOK, OVER, LEAD, CHECK } part;
    double work; /* so far: up to the block looked at last */
    double leapt;
    struct core_reading extra;
    uint64_t last_pc;
    struct head *head;         /* the loop that is leapt over */
    unsigned left;             /* beats of the leap under way */
    double began, over;        /* instructions before the leap; of it */
    double since;              /* instructions before the beat under way */
    struct core_reading shown; /* when the part under way began */
    struct head heads[HEADS];
};

struct core_leap *core_leap_create(void)
{
    return calloc(1, sizeof(struct core_leap));
}

void core_leap_free(struct core_leap *l)
{
    free(l);
}

const struct core_reading *core_leap_extra(const struct core_leap *l)
{
    return &l->extra;
}

double core_leap_work(const struct core_leap *l)
{
    return l->leapt;
}

bool core_leap_skips(const struct core_leap *l)
{
    return l->part == OVER;
}

static bool alike(double a, double b, double part)
{
    return fabs(a - b) <= part * fmax(a, b);
}

static double work_part(double work)
{
    return work > SEEN_MOST ? ALIKE_WORK_LONG : ALIKE_WORK;
}

/* ---- where to stop ---- */

static struct head *head_of(struct core_leap *l, uint32_t id)
{
    struct head *const h = &l->heads[id % HEADS];
    if (!h->used || h->id != id)
        *h = (struct head){.id = id, .used = true, .least = LEAST_FIRST, .next = LEAP_FIRST};
    return h;
}

/* A leap or what follows it has come to where the loop should have been back for some time. */
static bool is_late(const struct core_leap *l)
{
    return l->part != LOOK && l->work - l->since > (1 + 2 * work_part(l->head->work)) * l->head->work;
}

static bool stops_at(struct core_leap *l, const struct cpu_block *block)
{
    if (is_late(l))
        return true;
    if (block->pc > l->last_pc)
        return false;
    if (l->part != LOOK)
        return l->head->id == block->id && l->work - l->since >= (1 - work_part(l->head->work)) * l->head->work;
    const struct head *const h = head_of(l, block->id);
    return !h->begun || l->work - h->at >= h->least;
}

uint32_t core_leap_next(struct core_leap *l, const struct cpu_trace *trace, uint32_t from, bool fresh)
{
    for (uint32_t i = from; i < trace->blocks; i++) {
        const struct cpu_block *const block = trace->block[i];
        if ((i > from || fresh) && stops_at(l, block))
            return i;
        l->last_pc = block->pc;
        l->work += i + 1 < trace->blocks ? block->count : trace->last_count;
    }
    return trace->blocks;
}

/* ---- what is made of it ---- */

/* What the core would show if nothing had been leapt over. */
static struct core_reading whole(const struct core_leap *l, const struct core_reading *shown)
{
    struct core_reading r = *shown;
    core_reading_add(&r, &l->extra, 1);
    return r;
}

static struct core_reading since(const struct core_reading *now, const struct core_reading *then)
{
    struct core_reading d = *now;
    core_reading_add(&d, then, -1);
    return d;
}

/* What was run between l->shown and now counts as `work` at the loop's pace instead. */
static void stand_for(struct core_leap *l, const struct core_reading *shown, double work)
{
    const struct core_reading took = since(shown, &l->shown);
    core_reading_add(&l->extra, &took, -1);
    core_reading_add(&l->extra, &l->head->sum, work / l->head->known);
}

/* Beats of inner loops went on meanwhile without being looked at; those of outer loops hold the leap. */
static void look_again(struct core_leap *l)
{
    const struct head *const over = l->head;
    l->part = LOOK;
    l->head = NULL;
    for (struct head *h = l->heads; h < l->heads + HEADS; h++)
        if (h != over && h->at > l->began - over->work) {
            h->begun = false;
            h->run = 0;
        }
}

/* Of more beats than so many, the latest ones count most. Long ones, of outer loops, are dear when they come to new rows of an
 * operand; short ones only grow cheaper from beat to beat while caches fill, and the latest one tells their pace. */
#define KNOWN_BEATS 8.0

static void know(struct head *h, double work, const struct core_reading *took)
{
    const double most = work > SEEN_MOST ? KNOWN_BEATS * work : 0, fade = h->known > most ? most / h->known : 1;
    core_reading_add(&h->sum, &h->sum, fade - 1);
    core_reading_add(&h->sum, took, 1);
    h->known = fade * h->known + work;
}

static void end_run(struct head *h)
{
    if (h->run > ALIKE_LEAST)
        h->trips = h->run;
    h->run = h->alike = 0;
    h->next = LEAP_FIRST;
    h->known = 0;
    h->sum = (struct core_reading){0};
}

static void begin_beat(const struct core_leap *l, struct head *h, const struct core_reading *shown)
{
    h->then = whole(l, shown);
    h->at = l->work;
    h->begun = true;
}

static void begin_part(struct core_leap *l, enum part part, const struct core_reading *shown)
{
    l->part = part;
    l->since = l->work;
    l->shown = *shown;
}

/* Beats that the loop will still make, as far as that is known. */
static unsigned to_come(const struct head *h)
{
    return h->trips > h->run ? h->trips - h->run : h->trips ? 0 : LEAP_MOST;
}

/* How many beats from block `at` on a trace shows, `most` at most. */
static unsigned seen(const struct head *h, const struct cpu_trace *trace, uint32_t at, unsigned most)
{
    unsigned beats = 0;
    double work = 0;
    for (uint32_t i = at; i + 1 < trace->blocks && beats < most; i++) {
        const struct cpu_block *const next = trace->block[i + 1];
        work += trace->block[i]->count;
        if (work > (1 + ALIKE_WORK) * h->work)
            break;
        if (next->id != h->id || next->pc > trace->block[i]->pc || work < (1 - ALIKE_WORK) * h->work)
            continue;
        beats++;
        work = 0;
    }
    return beats;
}

static void try_leap(struct core_leap *l, struct head *h, const struct cpu_trace *trace, uint32_t at,
                     const struct core_reading *shown)
{
    const unsigned left = to_come(h), worth = (unsigned)ceil(LEAP_LEAST / h->work), wanted = h->next > worth ? h->next : worth;
    const unsigned known = wanted < left ? wanted : left;
    if (h->alike < ALIKE_LEAST)
        return;
    const unsigned beats = h->work > SEEN_MOST ? known : seen(h, trace, at, known);
    if (beats < worth)
        return;
    l->head = h;
    l->left = beats;
    l->over = 0;
    l->began = l->work;
    begin_part(l, OVER, shown);
}

/* The beat that ends here is compared with the one before. */
static void end_beat(struct core_leap *l, struct head *h, const struct core_reading *now)
{
    const double work = l->work - h->at;
    const struct core_reading took = since(now, &h->then);
    const bool same = h->work > 0 && alike(work, h->work, work_part(h->work));
    if (!same)
        end_run(h);
    h->run++;
    if (same && alike(took.ns / work, h->took.ns / h->work, ALIKE_PACE)) {
        h->alike++;
        h->unlike = 0;
    } else {
        h->alike = 0;
        if (same && ++h->unlike >= UNLIKE_MOST && h->least < LEAST_MOST) {
            h->least = 2 * fmax(work, h->least) * (1 - ALIKE_WORK);
            h->unlike = h->run = h->trips = 0;
        }
    }
    h->work = work;
    h->took = took;
    know(h, work, &took);
}

static void look(struct core_leap *l, struct head *h, const struct cpu_trace *trace, uint32_t at,
                 const struct core_reading *shown)
{
    const struct core_reading now = whole(l, shown);
    if (h->begun)
        end_beat(l, h, &now);
    begin_beat(l, h, shown);
    try_leap(l, h, trace, at, shown);
}

void core_leap_stop(struct core_leap *l, const struct core_reading *shown)
{
    struct head *const h = l->head;
    if (l->part == LOOK)
        return;
    if (l->part == OVER) {
        const double work = l->work - l->since + l->over;
        stand_for(l, shown, work);
        l->leapt += work;
    }
    end_run(h);
    h->begun = false;
    look_again(l);
}

/* A beat of the leap ends here. */
static void go_over(struct core_leap *l, const struct core_reading *shown)
{
    l->over += l->work - l->since;
    l->since = l->work;
    l->head->run++;
    if (--l->left > 0)
        return;
    stand_for(l, shown, l->over);
    l->leapt += l->over;
    begin_part(l, LEAD, shown);
}

static void check(struct core_leap *l, const struct cpu_trace *trace, uint32_t at, const struct core_reading *shown)
{
    struct head *const h = l->head;
    const struct core_reading took = since(shown, &l->shown);
    const double work = l->work - l->since;
    const bool steady = alike(took.ns / work, h->took.ns / h->work, ALIKE_PACE);
    /* The pace of what was leapt over lay between the two. */
    core_reading_add(&l->extra, &h->sum, -l->over / h->known / 2);
    know(h, work, &took);
    core_reading_add(&l->extra, &h->sum, l->over / h->known / 2);
    h->took = took;
    h->work = work;
    h->run++;
    h->alike = steady ? ALIKE_LEAST : 0;
    h->next = !steady ? LEAP_FIRST : h->next < LEAP_MOST ? 2 * h->next : LEAP_MOST;
    look_again(l);
    begin_beat(l, h, shown);
    try_leap(l, h, trace, at, shown);
}

void core_leap_arrive(struct core_leap *l, const struct cpu_trace *trace, uint32_t at, const struct core_reading *shown)
{
    if (l->part == LOOK) {
        look(l, head_of(l, trace->block[at]->id), trace, at, shown);
        return;
    }
    if (is_late(l) || !alike(l->work - l->since, l->head->work, work_part(l->head->work))) {
        core_leap_stop(l, shown);
        return;
    }
    switch (l->part) {
    case OVER: go_over(l, shown); break;
    case LEAD:
        stand_for(l, shown, l->work - l->since);
        l->head->run++;
        begin_part(l, CHECK, shown);
        break;
    case CHECK: check(l, trace, at, shown); break;
    case LOOK: break;
    }
}
