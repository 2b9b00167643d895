/* The events of a run on the simulated time line. */
#include "sim/run/run_internal.h"

#include <math.h>

enum { STALLS_MAX = CPU_STALL_COUNT + AMX_STALL_COUNT + GPU_STALL_COUNT + ANE_STALL_COUNT + 1 };

static void emit(struct event_bus *bus, struct event *event, uint64_t number)
{
    event->run = number;
    if (bus)
        event_bus_emit(bus, event);
}

static struct event_op op_of(const struct run *run)
{
    return (struct event_op){.op = 1,
                             .name = run->program_name,
                             .kernel = run->program_name,
                             .shape = run->request->workload,
                             .precision = run->begin.precision,
                             .place = {run_part(run), 0}};
}

void run_emit_begin(const struct run *run, struct event_bus *bus, uint64_t number)
{
    const struct event_op op = op_of(run);
    emit(bus, &(struct event){.kind = EVENT_RUN_BEGIN, .run_begin = run->begin}, number);
    if (run->request->mode == RUN_FUNCTIONAL) /* without time there is nothing to say of operators */
        return;
    emit(bus, &(struct event){.kind = EVENT_LAUNCH, .launch = op}, number);
    emit(bus, &(struct event){.kind = EVENT_OP_BEGIN, .op_begin = op}, number);
}

static void emit_op_end(const struct run *run, const struct run_measure *m, const struct run_result *r, struct event_bus *bus,
                        uint64_t number)
{
    struct event_value stalls[STALLS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < r->stalls.count && count < STALLS_MAX; i++)
        stalls[count++] = (struct event_value){r->stalls.item[i].name, "cycles",
                                               r->stalls.item[i].value * (isnan(r->cycles) ? m->end_ns : r->cycles)};
    const struct event_op_end end = {
        .op = op_of(run),
        .seconds = r->seconds,
        .cycles = r->cycles,
        .macs = r->macs,
        .flops = r->flops,
        .repeats = run_repeats(run),
        .activity = &m->activity,
        .stalls = {stalls, count},
    };
    emit(bus, &(struct event){.kind = EVENT_OP_END, .time_ns = m->end_ns, .op_end = end}, number);
}

void run_emit_end(const struct run *run, const struct run_measure *m, const struct run_result *r, const struct orch_error *error,
                  struct event_bus *bus, uint64_t number)
{
    if (r && run->request->mode != RUN_FUNCTIONAL)
        emit_op_end(run, m, r, bus, number);
    const struct event_run_end end = {.status = r                                      ? EVENT_RUN_DONE
                                                : error->exit_code == ORCH_INTERRUPTED ? EVENT_RUN_INTERRUPTED
                                                                                       : EVENT_RUN_FAILED,
                                      .error = r ? NULL : error->text,
                                      .result = r};
    emit(bus, &(struct event){.kind = EVENT_RUN_END, .time_ns = m->end_ns, .run_end = end}, number);
}
