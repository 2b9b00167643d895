#include "sim/scenario/together_internal.h"

#include "isa/array_count.h"
#include "sim/run/run_progress.h"

#include <math.h>
#include <string.h>

/* ---- alone ---- */

/* Counts the busy cores of each cluster from the cores that the members were given. */
static void count_active(const struct together *t, unsigned active[MEM_CLUSTERS_MAX])
{
    memset(active, 0, MEM_CLUSTERS_MAX * sizeof *active);
    for (unsigned i = 0; i < t->count; i++)
        for (unsigned c = 0; c < t->member[i].measure.core_count; c++)
            active[t->member[i].measure.cores[c]->cluster]++;
}

static bool run_alone(struct together *t, struct orch_error *error)
{
    unsigned active[MEM_CLUSTERS_MAX];
    for (unsigned i = 0; i < t->count; i++) {
        struct member *w = &t->member[i];
        if (!run_simulate(w->run, &w->measure, &w->outcome.alone, error))
            return orch_fail_in(error, "%.120s", w->part.request.workload);
        w->has_energy = run_energy(w->run) != NULL;
        if (w->has_energy)
            w->energy = *run_energy(w->run);
    }
    count_active(t, active);
    if (!together_machine_open(&t->machine, t->member[0].part.request.chip, active, error))
        return false;
    for (unsigned i = 0; i < t->count; i++) {
        struct member *w = &t->member[i];
        together_load_read(&t->machine, w->run, &w->measure, &w->outcome.alone, &w->load);
    }
    return true;
}

/* ---- events ---- */

static struct event_op op_of(const struct member *w, unsigned number)
{
    const struct event_run_begin *b = run_begin_event(w->run);
    return (struct event_op){.op = number + 1,
                             .name = b->program_name,
                             .kernel = b->program_name,
                             .shape = b->workload,
                             .precision = b->precision,
                             .place = {run_part(w->run), w->first_core},
                             .submitted_ns = w->part.start_seconds * 1e9,
                             .started_ns = w->part.start_seconds * 1e9};
}

static void emit_op(const struct member *w, unsigned number, struct event_bus *bus, uint64_t run)
{
    const struct event_op op = op_of(w, number);
    const struct run_result *r = &w->outcome.alone;
    const struct event_op_end end = {.op = op,
                                     .seconds = w->outcome.seconds,
                                     .cycles = NAN,
                                     .macs = r->macs,
                                     .flops = r->flops,
                                     .repeats = w->part.request.repeat ? w->part.request.repeat : 1,
                                     .activity = &w->measure.activity};
    struct event events[] = {{.kind = EVENT_LAUNCH, .launch = op},
                             {.kind = EVENT_OP_BEGIN, .time_ns = op.started_ns, .op_begin = op},
                             {.kind = EVENT_OP_END, .time_ns = w->outcome.end_seconds * 1e9, .op_end = end}};
    for (size_t i = 0; bus && i < ARRAY_COUNT(events); i++) {
        events[i].run = run;
        event_bus_emit(bus, &events[i]);
    }
}

/* ---- the whole ---- */

void together_tell(struct together *t, const struct work_progress *progress)
{
    for (unsigned i = 0; i < t->count; i++)
        t->member[i].part.request.progress = t->member[i].run->progress = progress;
}

bool together_execute(struct together *t, struct event_bus *bus, uint64_t number, struct run_result *whole,
                      struct orch_error *error)
{
    struct orch_error own = {0};
    double end_ns = 0;
    struct run_progress told;
    const struct work_progress *const listened = run_progress_begin(&told, bus, number, t->text);
    struct event begin = {.kind = EVENT_RUN_BEGIN, .run = number, .run_begin = t->begin};
    if (listened)
        together_tell(t, listened);
    if (bus)
        event_bus_emit(bus, &begin);
    t->line_by_line = !t->by_rates && together_may_meet(t);
    const bool ok = run_alone(t, &own) &&
                    (t->line_by_line ? together_meet(t, &end_ns, &own) : together_share(t, bus, number, &end_ns, &own)) &&
                    together_fill_result(t, end_ns, whole, &own);
    for (unsigned i = 0; ok && i < t->count; i++)
        emit_op(&t->member[i], i, bus, number);
    struct event end = {.kind = EVENT_RUN_END,
                        .run = number,
                        .time_ns = end_ns,
                        .run_end = {.status = ok                                  ? EVENT_RUN_DONE
                                              : own.exit_code == ORCH_INTERRUPTED ? EVENT_RUN_INTERRUPTED
                                                                                  : EVENT_RUN_FAILED,
                                    .error = ok ? NULL : own.text,
                                    .result = ok ? whole : NULL}};
    if (listened)
        together_tell(t, NULL);
    if (bus)
        event_bus_emit(bus, &end);
    if (!ok && error)
        *error = own;
    return ok;
}

const char *together_sharing(const struct together *t)
{
    return t->line_by_line ? "line by line" : "max-min fair rates";
}

unsigned together_count(const struct together *t)
{
    return t->count;
}

const struct together_outcome *together_outcome(const struct together *t, unsigned number)
{
    return &t->member[number].outcome;
}

unsigned together_resource_count(const struct together *t)
{
    return t->resources;
}

const struct together_resource *together_resource(const struct together *t, unsigned number)
{
    return &t->resource[number];
}
