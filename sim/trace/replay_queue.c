/* Launches on the queues of units, simulated in events. Memory holds only launches that are not done, at most
 * TRACE_REPLAY_WINDOW. */
#include "sim/soc/fair_share.h"
#include "sim/trace/replay_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS_MAX = FAIR_FLOWS_MAX, RING = 2 * TRACE_REPLAY_WINDOW };

struct entry {
    struct replay_launch launch;
    struct entry *next;
    double left; /* share of the work that is left */
    double start_ns;
};

/* A stream of a unit runs its launches one after another. */
struct stream {
    enum orch_part part;
    unsigned number;
    struct entry *first, *last;
    bool running;
    double pace;
};

struct replay_queue {
    struct fair_resource dram;
    replay_on_done *on_done;
    void *context;
    struct stream stream[STREAMS_MAX];
    unsigned streams;
    struct entry *spare;
    uint64_t pending, last_op, oldest; /* every operator below `oldest` is done */
    double *done_ns;                   /* when each operator was done, by its number modulo RING; NAN = not done */
    uint8_t *part;                     /* the unit of each operator, likewise */
    double now_ns, busy_ns[PART_COUNT], lost_ns;
};

struct replay_queue *replay_queue_create(double dram_gbps, replay_on_done *on_done, void *context)
{
    struct replay_queue *const q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->dram = (struct fair_resource){"dram", dram_gbps, FAIR_LINE_BYTES};
    q->on_done = on_done;
    q->context = context;
    q->oldest = 1;
    q->done_ns = calloc(RING, sizeof *q->done_ns);
    q->part = calloc(RING, sizeof *q->part);
    if (q->done_ns && q->part)
        return q;
    replay_queue_free(q);
    return NULL;
}

static void free_list(struct entry *e)
{
    for (struct entry *next; e; e = next) {
        next = e->next;
        free(e->launch.name);
        free((void *)(uintptr_t)e->launch.after);
        free(e);
    }
}

void replay_queue_free(struct replay_queue *q)
{
    if (!q)
        return;
    for (unsigned i = 0; i < q->streams; i++)
        free_list(q->stream[i].first);
    free_list(q->spare);
    free(q->done_ns);
    free(q->part);
    free(q);
}

double replay_queue_now(const struct replay_queue *q)
{
    return q->now_ns;
}

double replay_queue_busy_ns(const struct replay_queue *q, enum orch_part part)
{
    return q->busy_ns[part];
}

double replay_queue_lost_ns(const struct replay_queue *q)
{
    return q->lost_ns;
}

/* ---- adding ---- */

static struct stream *stream_of(struct replay_queue *q, enum orch_part part, unsigned number)
{
    for (unsigned i = 0; i < q->streams; i++)
        if (q->stream[i].part == part && q->stream[i].number == number)
            return &q->stream[i];
    if (q->streams == STREAMS_MAX)
        return NULL;
    q->stream[q->streams] = (struct stream){.part = part, .number = number};
    return &q->stream[q->streams++];
}

static struct entry *new_entry(struct replay_queue *q, const struct replay_launch *launch)
{
    struct entry *const e = q->spare ? q->spare : calloc(1, sizeof *e);
    uint64_t *const after = launch->after_count ? malloc(launch->after_count * sizeof *after) : NULL;
    if (!e || (launch->after_count && !after)) {
        if (e != q->spare)
            free(e);
        free(after);
        return NULL;
    }
    if (e == q->spare)
        q->spare = e->next;
    if (after)
        memcpy(after, launch->after, launch->after_count * sizeof *after);
    *e = (struct entry){.launch = *launch, .left = 1};
    e->launch.after = after;
    return e;
}

bool replay_queue_add(struct replay_queue *q, const struct replay_launch *launch, struct orch_error *error)
{
    struct stream *const s = stream_of(q, launch->cost.part, launch->stream);
    if (!s)
        return orch_fail(error, ORCH_UNMODELLED, "more than %d streams of launches", STREAMS_MAX);
    struct entry *const e = new_entry(q, launch);
    if (!e)
        return orch_no_memory(error);
    if (s->last)
        s->last->next = e;
    else
        s->first = e;
    s->last = e;
    /* Operators that the trace leaves out count as done. */
    const uint64_t from = launch->op - q->last_op > RING ? launch->op - RING + 1 : q->last_op + 1;
    for (uint64_t op = from; op < launch->op; op++)
        q->done_ns[op % RING] = 0;
    q->done_ns[launch->op % RING] = NAN;
    q->part[launch->op % RING] = (uint8_t)launch->cost.part;
    if (q->pending == 0)
        q->oldest = launch->op;
    q->last_op = launch->op;
    q->pending++;
    return true;
}

/* ---- running ---- */

/* When the head of a stream may start; INFINITY while it waits for an operator that is not done. */
static double ready_ns(const struct replay_queue *q, const struct entry *e)
{
    const struct replay_launch *const l = &e->launch;
    double ready = l->submit_ns + l->cost.overhead_ns;
    for (size_t i = 0; i < l->after_count; i++) {
        const uint64_t op = l->after[i];
        if (q->last_op - op >= RING)
            continue; /* done so long ago that it cannot hold the launch up */
        const double done = q->done_ns[op % RING];
        if (isnan(done))
            return INFINITY;
        ready = fmax(ready, done + (q->part[op % RING] == l->cost.part ? 0 : l->cost.overhead_ns));
    }
    return ready;
}

static bool does_one_thing(enum orch_part part)
{
    return part == PART_GPU || part == PART_ANE;
}

static bool unit_runs(const struct replay_queue *q, enum orch_part part)
{
    for (unsigned i = 0; i < q->streams; i++)
        if (q->stream[i].part == part && q->stream[i].running)
            return true;
    return false;
}

/* Starts the stream head that is ready first; false when none can start now. */
static bool start_one(struct replay_queue *q)
{
    struct stream *best = NULL;
    double best_ns = INFINITY;
    for (unsigned i = 0; i < q->streams; i++) {
        struct stream *const s = &q->stream[i];
        if (!s->first || s->running || (does_one_thing(s->part) && unit_runs(q, s->part)))
            continue;
        const double ready = ready_ns(q, s->first);
        if (ready <= q->now_ns &&
            (ready < best_ns || (ready == best_ns && best && s->first->launch.op < best->first->launch.op))) {
            best = s;
            best_ns = ready;
        }
    }
    if (!best)
        return false;
    best->running = true;
    best->first->start_ns = q->now_ns;
    return true;
}

static void set_paces(struct replay_queue *q)
{
    static const double load = 1;
    struct fair_flow flow[STREAMS_MAX] = {{0}};
    struct fair_rate rate[STREAMS_MAX];
    struct stream *of[STREAMS_MAX];
    double sum = 0;
    unsigned count = 0;
    for (unsigned i = 0; i < q->streams; i++) {
        struct stream *const s = &q->stream[i];
        s->pace = 1;
        if (!s->running || !(s->first->launch.cost.dram_bytes > 0) || !(s->first->launch.cost.busy_ns > 0))
            continue;
        /* Alone, the launch got all the bandwidth it asked for. */
        const double demand = fmin(s->first->launch.cost.dram_bytes / s->first->launch.cost.busy_ns, q->dram.capacity_gbps);
        of[count] = s;
        flow[count++] = (struct fair_flow){.demand_gbps = demand, .load = &load};
        sum += demand;
    }
    if (sum <= q->dram.capacity_gbps)
        return;
    fair_share(&q->dram, 1, flow, count, rate);
    for (unsigned k = 0; k < count; k++)
        of[k]->pace = rate[k].gbps / flow[k].demand_gbps;
}

/* When a running launch will end at its present pace. */
static double end_ns(const struct replay_queue *q, const struct stream *s)
{
    return q->now_ns + s->first->left * s->first->launch.cost.busy_ns / s->pace;
}

static double next_event(const struct replay_queue *q)
{
    double next = INFINITY;
    for (unsigned i = 0; i < q->streams; i++) {
        const struct stream *const s = &q->stream[i];
        if (!s->first)
            continue;
        if (s->running)
            next = fmin(next, end_ns(q, s));
        else if (!does_one_thing(s->part) || !unit_runs(q, s->part))
            next = fmin(next, ready_ns(q, s->first));
    }
    return next;
}

static void finish(struct replay_queue *q, struct stream *s)
{
    struct entry *const e = s->first;
    const struct replay_launch *const l = &e->launch;
    const struct replay_done done = {
        .op = l->op, .cost = &l->cost, .name = l->name, .submit_ns = l->submit_ns, .start_ns = e->start_ns, .end_ns = q->now_ns};
    q->on_done(q->context, &done);
    q->done_ns[l->op % RING] = q->now_ns;
    s->running = false;
    s->first = e->next;
    if (!s->first)
        s->last = NULL;
    free(e->launch.name);
    free((void *)(uintptr_t)e->launch.after);
    e->launch.name = NULL;
    e->launch.after = NULL;
    e->next = q->spare;
    q->spare = e;
    q->pending--;
    while (q->oldest <= q->last_op && !isnan(q->done_ns[q->oldest % RING]))
        q->oldest++;
}

static void advance(struct replay_queue *q, double until_ns)
{
    const double ns = until_ns - q->now_ns;
    bool busy[PART_COUNT] = {false}, ends[STREAMS_MAX];
    for (unsigned i = 0; i < q->streams; i++)
        ends[i] = q->stream[i].running && end_ns(q, &q->stream[i]) <= until_ns;
    q->now_ns = until_ns;
    for (unsigned i = 0; i < q->streams; i++) {
        struct stream *const s = &q->stream[i];
        if (!s->running)
            continue;
        const double alone = s->first->launch.cost.busy_ns;
        busy[s->part] = true;
        q->lost_ns += ns * (1 - s->pace);
        s->first->left -= alone > 0 ? ns * s->pace / alone : 0;
        if (ends[i])
            finish(q, s);
    }
    for (int part = 0; part < PART_COUNT; part++)
        q->busy_ns[part] += busy[part] ? ns : 0;
}

bool replay_queue_make_room(struct replay_queue *q, uint64_t next_op, bool all, struct orch_error *error)
{
    while (q->pending && (all || next_op - q->oldest >= TRACE_REPLAY_WINDOW)) {
        while (start_one(q))
            continue;
        set_paces(q);
        const double next = next_event(q);
        if (isinf(next))
            return orch_fail(error, ORCH_INTERNAL, "operator %llu of the trace cannot start", (unsigned long long)q->oldest);
        advance(q, fmax(next, q->now_ns));
    }
    return true;
}
