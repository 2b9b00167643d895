#include "sim/run/run_progress.h"

#include "sim/base/host_time.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEAST_SECONDS 0.1 /* of the host, between two events */

/* A run does one thing after another, and some of them several times. */
static bool begins_anew(const struct run_progress *p, const char *doing, double fraction)
{
    return strcmp(p->doing, doing) != 0 || fraction < p->fraction;
}

static void tell(void *context, const char *doing, double fraction, double time_ns, bool *stop)
{
    struct run_progress *const p = context;
    const double now_s = host_seconds();
    char what[160];
    if (begins_anew(p, doing, fraction)) {
        snprintf(p->doing, sizeof p->doing, "%s", doing);
        p->part_s = now_s;
    }
    p->fraction = fraction;
    if (now_s - p->last_s < LEAST_SECONDS)
        return;
    p->last_s = now_s;
    snprintf(what, sizeof what, "%s %.100s", doing, p->name);
    const struct event e = {.kind = EVENT_PROGRESS,
                            .run = p->number,
                            .time_ns = time_ns,
                            .progress = {fraction, now_s - p->begun_s, now_s - p->part_s, what, p->state, stop}};
    event_bus_emit(p->bus, &e);
}

static bool due(void *context)
{
    const struct run_progress *const p = context;
    return host_seconds() - p->last_s >= LEAST_SECONDS;
}

static void take_state(void *context, const struct work_state *state)
{
    struct run_progress *const p = context;
    p->state = *state;
}

const struct work_progress *run_progress_begin(struct run_progress *p, struct event_bus *bus, uint64_t number, const char *name)
{
    const double now_s = host_seconds();
    if (!bus || !event_bus_wants_progress(bus))
        return NULL;
    *p = (struct run_progress){.work = {tell, p, due, take_state},
                               .bus = bus,
                               .number = number,
                               .name = name,
                               .fraction = NAN,
                               .state = {NAN, NAN, NAN, NAN},
                               .begun_s = now_s,
                               .part_s = now_s,
                               .last_s = now_s};
    return &p->work;
}
