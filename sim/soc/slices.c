#include "isa/list_grow.h"
#include "sim/soc/slices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum state { WAITING, RUNNING, FINISHED };

#define NOTHING_LEFT 1e-12    /* a remainder below this share of a slice is rounding */
#define FULL         0.999999 /* a resource at this share of its capacity counts as full */

struct entry {
    struct slice slice;
    double *load;       /* by resource, per byte of the flow */
    double demand_gbps; /* alone, at its busiest resource; 0 = moves no data */
    int *after;
    size_t after_count;
    enum state state;
    double ready_ns; /* when it was submitted and all that it waits for was done */
    double left;     /* share of the work still to do */
    double pace;     /* speed as a share of the speed it has alone */
    int limit;       /* resource that holds it back; -1 = none */
    struct slice_outcome outcome;
};

struct slices {
    struct fair_resource *resource;
    unsigned resources;
    double *bytes, *full_ns, *gbps;
    struct entry *entry;
    int count;
    size_t capacity;
};

struct slices *slices_create(const struct fair_resource *resource, unsigned count)
{
    struct slices *const s = count <= FAIR_RESOURCES_MAX ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return NULL;
    s->resources = count;
    s->resource = calloc(count + 1, sizeof *s->resource);
    s->bytes = calloc(count + 1, sizeof *s->bytes);
    s->full_ns = calloc(count + 1, sizeof *s->full_ns);
    s->gbps = calloc(count + 1, sizeof *s->gbps);
    if (!s->resource || !s->bytes || !s->full_ns || !s->gbps) {
        slices_free(s);
        return NULL;
    }
    memcpy(s->resource, resource, count * sizeof *resource);
    return s;
}

void slices_free(struct slices *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->count; i++) {
        free(s->entry[i].load);
        free(s->entry[i].after);
    }
    free(s->entry);
    free(s->resource);
    free(s->bytes);
    free(s->full_ns);
    free(s->gbps);
    free(s);
}

static bool grow(struct slices *s)
{
    struct entry *const entry = list_grow(s->entry, (size_t)s->count, &s->capacity, sizeof *entry);
    if (entry)
        s->entry = entry;
    return entry != NULL;
}

/* The flow of a slice has the rate of its busiest resource; the loads of the others follow in proportion. */
static void set_flow(const struct slices *s, struct entry *e)
{
    double most = 0;
    for (unsigned j = 0; e->slice.bytes && j < s->resources; j++)
        most = fmax(most, e->slice.bytes[j]);
    for (unsigned j = 0; j < s->resources; j++)
        e->load[j] = most > 0 ? e->slice.bytes[j] / most : 0;
    e->demand_gbps = e->slice.alone_ns > 0 ? most / e->slice.alone_ns : 0;
}

int slices_add(struct slices *s, const struct slice *slice, const int *after, size_t count)
{
    struct entry e = {.slice = *slice, .after_count = count, .left = 1, .limit = -1};
    e.load = calloc(s->resources + 1, sizeof *e.load);
    e.after = calloc(count + 1, sizeof *e.after);
    if (!e.load || !e.after || !grow(s)) {
        free(e.load);
        free(e.after);
        return -1;
    }
    if (count)
        memcpy(e.after, after, count * sizeof *after);
    set_flow(s, &e);
    e.slice.bytes = NULL;
    s->entry[s->count] = e;
    return s->count++;
}

/* Returns the first slice that `e` still waits for, or -1 when there is none; then *ready_ns is when `e` may start. */
static int waits_for(const struct slices *s, const struct entry *e, double *ready_ns)
{
    *ready_ns = e->slice.submit_ns;
    for (size_t i = 0; i < e->after_count; i++) {
        const int other = e->after[i];
        if (other < 0 || other >= s->count)
            return s->count;
        if (s->entry[other].state != FINISHED)
            return other;
        *ready_ns = fmax(*ready_ns, s->entry[other].outcome.end_ns);
    }
    return -1;
}

/* Returns the slice that is running in a queue, or -1. */
static int runs_in(const struct slices *s, int queue)
{
    for (int i = 0; queue != SLICES_NO_QUEUE && i < s->count; i++)
        if (s->entry[i].state == RUNNING && s->entry[i].slice.queue == queue)
            return i;
    return -1;
}

static bool may_start(const struct slices *s, struct entry *e, double now_ns)
{
    return e->state == WAITING && waits_for(s, e, &e->ready_ns) < 0 && e->ready_ns <= now_ns;
}

/* Starts the slice of the highest priority among those that may start; false when none may. */
static bool start_one(struct slices *s, double now_ns)
{
    struct entry *best = NULL;
    for (int i = 0; i < s->count; i++) {
        struct entry *const e = &s->entry[i];
        if (may_start(s, e, now_ns) && runs_in(s, e->slice.queue) < 0 && (!best || e->slice.priority > best->slice.priority))
            best = e;
    }
    if (!best)
        return false;
    best->state = RUNNING;
    best->outcome.start_ns = now_ns;
    best->outcome.queued_ns = now_ns - best->ready_ns;
    return true;
}

/* Sets the pace of every running slice. False when more run at once than fair_share takes. */
static bool set_paces(struct slices *s, struct orch_error *error)
{
    struct fair_flow flow[FAIR_FLOWS_MAX] = {{0}};
    struct fair_rate rate[FAIR_FLOWS_MAX];
    struct entry *of[FAIR_FLOWS_MAX];
    unsigned count = 0;
    for (int i = 0; i < s->count; i++) {
        struct entry *const e = &s->entry[i];
        e->pace = 1;
        e->limit = -1;
        if (e->state != RUNNING || e->demand_gbps <= 0)
            continue;
        if (count == FAIR_FLOWS_MAX)
            return orch_fail(error, ORCH_UNMODELLED, "more than %d slices of work share the chip at once", FAIR_FLOWS_MAX);
        of[count] = e;
        flow[count++] = (struct fair_flow){e->demand_gbps,     e->load, e->slice.weight, e->slice.priority, e->slice.latency_ns,
                                           e->slice.requesters};
    }
    fair_share(s->resource, s->resources, flow, count, rate);
    memset(s->gbps, 0, s->resources * sizeof *s->gbps);
    for (unsigned k = 0; k < count; k++) {
        of[k]->pace = rate[k].gbps / of[k]->demand_gbps;
        of[k]->limit = rate[k].limit;
        for (unsigned j = 0; j < s->resources; j++)
            s->gbps[j] += rate[k].gbps * of[k]->load[j];
    }
    return true;
}

/* Time at which the next slice ends or may start; INFINITY when none does. */
static double next_event(const struct slices *s, double now_ns)
{
    double next = INFINITY;
    for (int i = 0; i < s->count; i++) {
        const struct entry *const e = &s->entry[i];
        double ready_ns;
        if (e->state == RUNNING && e->left * e->slice.alone_ns <= 0)
            next = now_ns;
        else if (e->state == RUNNING && e->pace > 0)
            next = fmin(next, now_ns + e->left * e->slice.alone_ns / e->pace);
        else if (e->state == WAITING && waits_for(s, e, &ready_ns) < 0 && ready_ns > now_ns)
            next = fmin(next, ready_ns);
    }
    return next;
}

/* True when nothing is left, or so little that adding its duration to now_ns does not change it. */
static bool is_over(const struct entry *e, double now_ns)
{
    return e->left <= NOTHING_LEFT || (e->pace > 0 && now_ns + e->left * e->slice.alone_ns / e->pace <= now_ns);
}

static void advance(struct slices *s, double now_ns, double until_ns)
{
    const double ns = until_ns - now_ns;
    for (unsigned j = 0; j < s->resources; j++) {
        s->bytes[j] += s->gbps[j] * ns;
        s->full_ns[j] += s->gbps[j] >= FULL * s->resource[j].capacity_gbps ? ns : 0;
    }
    for (int i = 0; i < s->count; i++) {
        struct entry *const e = &s->entry[i];
        if (e->state != RUNNING)
            continue;
        e->left -= e->slice.alone_ns > 0 ? ns * e->pace / e->slice.alone_ns : e->left;
        if (e->limit >= 0)
            e->outcome.lost_ns[e->limit] += ns * (1 - e->pace);
        if (!is_over(e, until_ns))
            continue;
        e->state = FINISHED;
        e->outcome.end_ns = until_ns;
    }
}

static bool finished(const struct slices *s)
{
    for (int i = 0; i < s->count; i++)
        if (s->entry[i].state != FINISHED)
            return false;
    return true;
}

/* Writes why a slice does not proceed; returns as snprintf does. */
static int explain(const struct slices *s, const struct entry *e, char *text, size_t size)
{
    double ignored;
    if (e->state == RUNNING)
        return snprintf(text, size, "%s waits for %s, which gives it nothing", e->slice.name,
                        e->limit >= 0 ? s->resource[e->limit].name : "a resource");
    const int other = waits_for(s, e, &ignored), holder = runs_in(s, e->slice.queue);
    if (other >= 0)
        return snprintf(text, size, "%s waits for %s", e->slice.name,
                        other < s->count ? s->entry[other].slice.name : "a slice that does not exist");
    return snprintf(text, size, "%s waits in its queue behind %s", e->slice.name,
                    holder >= 0 ? s->entry[holder].slice.name : "nothing");
}

static bool nothing_moves(const struct slices *s, struct orch_error *error)
{
    char text[400] = "";
    size_t used = 0;
    for (int i = 0; i < s->count && used + 3 < sizeof text; i++) {
        if (s->entry[i].state == FINISHED)
            continue;
        if (used)
            used += (size_t)snprintf(text + used, sizeof text - used, "; ");
        const int n = explain(s, &s->entry[i], text + used, sizeof text - used);
        used += n > 0 ? (size_t)n : 0;
    }
    return orch_fail(error, ORCH_INTERNAL, "no slice can go on: %s", text);
}

bool slices_run(struct slices *s, slices_observe *observe, void *context, double *end_ns, struct orch_error *error)
{
    double now_ns = 0;
    while (!finished(s)) {
        while (start_one(s, now_ns))
            continue;
        if (!set_paces(s, error))
            return false;
        const double next_ns = next_event(s, now_ns);
        if (isinf(next_ns))
            return nothing_moves(s, error);
        if (observe && next_ns > now_ns)
            observe(context, &(struct slices_interval){now_ns, next_ns, s->gbps});
        advance(s, now_ns, next_ns);
        now_ns = next_ns;
    }
    *end_ns = now_ns;
    return true;
}

const struct slice_outcome *slices_outcome(const struct slices *s, int slice)
{
    return slice >= 0 && slice < s->count ? &s->entry[slice].outcome : NULL;
}

double slices_bytes(const struct slices *s, unsigned resource)
{
    return resource < s->resources ? s->bytes[resource] : 0;
}

double slices_full_ns(const struct slices *s, unsigned resource)
{
    return resource < s->resources ? s->full_ns[resource] : 0;
}
