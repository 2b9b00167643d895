#include "sim/trace/trace_perfetto.h"

#include "isa/a64/a64_isa.h"
#include "isa/amx/amx_isa.h"
#include "sim/base/run_result.h"
#include "sim/listen/perfetto_listener.h"
#include "sim/trace/trace_errors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A launch that has not ended yet; the texts are copies. */
struct flight {
    uint64_t run, op;
    char *name, *kernel, *workload, *precision, *unit;
    double submitted_ns, started_ns;
    uint32_t instance;
    struct flight *next;
};

/* The values that came before the end of an operator. */
struct values {
    uint64_t run, op;
    struct run_values stalls, counters;
};

struct viewer {
    struct perfetto_listener *out;
    struct flight *flights; /* newest first */
    struct values values;
    struct run_result result; /* of the current run, as far as it is known */
    uint64_t run;
    bool failed;
};

static double ns_of(int64_t ps)
{
    return (double)ps * 1e-3;
}

static struct event_place place_of(const char *unit, uint64_t instance)
{
    struct event_place place = {0, (uint32_t)instance};
    while (place.part < PART_COUNT && (!unit || strcmp(orch_part_name(place.part), unit) != 0))
        place.part++;
    if (place.part == PART_COUNT)
        place.part = PART_SOC;
    return place;
}

static void emit(struct viewer *v, struct event *event, uint64_t run, double time_ns)
{
    event->run = run;
    event->time_ns = time_ns;
    perfetto_listener_on_event(v->out, event);
}

/* ---- launches ---- */

static void free_flight(struct flight *f)
{
    free(f->name);
    free(f->kernel);
    free(f->workload);
    free(f->precision);
    free(f->unit);
    free(f);
}

static void take_launch(struct viewer *v, const struct trace_launch *l)
{
    struct flight *const f = calloc(1, sizeof *f);
    if (!f) {
        v->failed = true;
        return;
    }
    *f = (struct flight){.run = l->run,
                         .op = l->op,
                         .submitted_ns = ns_of(l->submitted_ps),
                         .started_ns = NAN,
                         .instance = (uint32_t)l->instance,
                         .next = v->flights};
    v->flights = f;
    v->failed |= !run_result_set_text(&f->name, l->name) || !run_result_set_text(&f->kernel, l->kernel) ||
                 !run_result_set_text(&f->workload, l->workload) || !run_result_set_text(&f->precision, l->precision) ||
                 !run_result_set_text(&f->unit, l->unit);
}

static struct flight **find(struct viewer *v, uint64_t run, uint64_t op)
{
    struct flight **at = &v->flights;
    while (*at && ((*at)->run != run || (*at)->op != op))
        at = &(*at)->next;
    return at;
}

static struct event_values list_of(const struct run_values *values, struct event_value *list)
{
    for (size_t i = 0; i < values->count; i++)
        list[i] = (struct event_value){values->item[i].name, "", values->item[i].value};
    return (struct event_values){list, values->count};
}

static void forget_values(struct values *v)
{
    run_values_free(&v->stalls);
    run_values_free(&v->counters);
    *v = (struct values){.op = 0};
}

/* Tells the listener of an operator with the values that came before its end. */
static void emit_op(struct viewer *v, struct event *event, uint64_t run, double end_ns)
{
    const bool ours = v->values.op == event->op_end.op.op && v->values.run == run;
    const size_t stalls = ours ? v->values.stalls.count : 0, counters = ours ? v->values.counters.count : 0;
    struct event_value *const list = calloc(stalls + counters + 1, sizeof *list);
    if (list && ours) {
        event->op_end.stalls = list_of(&v->values.stalls, list);
        event->op_end.counters = list_of(&v->values.counters, list + stalls);
    }
    v->failed |= !list;
    emit(v, event, run, end_ns);
    free(list);
    forget_values(&v->values);
}

static void take_op_end(struct viewer *v, const struct trace_op_end *o)
{
    struct flight **const at = find(v, o->run, o->op);
    struct flight *const f = *at;
    if (!f) /* damaged traces may lack the launch */
        return;
    const double end_ns = ns_of(o->time_ps);
    struct event e = {.kind = EVENT_OP_END};
    e.op_end = (struct event_op_end){.op = {.op = f->op,
                                            .name = f->name,
                                            .kernel = f->kernel,
                                            .shape = f->workload,
                                            .precision = f->precision,
                                            .place = place_of(f->unit, f->instance),
                                            .submitted_ns = f->submitted_ns,
                                            .started_ns = isnan(f->started_ns) ? f->submitted_ns : f->started_ns},
                                     .seconds = o->seconds,
                                     .cycles = o->cycles,
                                     .macs = o->macs,
                                     .flops = o->flops,
                                     .repeats = o->repeats};
    if (isnan(e.op_end.seconds))
        e.op_end.seconds = 1e-9 * (end_ns - e.op_end.op.started_ns);
    emit_op(v, &e, o->run, end_ns);
    *at = f->next;
    free_flight(f);
}

/* ---- runs ---- */

static void take_begin(struct viewer *v, const struct trace_run_begin *b)
{
    struct event e = {.kind = EVENT_RUN_BEGIN};
    e.run_begin =
        (struct event_run_begin){.workload = b->workload, .chip_id = b->chip, .device = b->device, .gpu_cores = b->gpu_cores};
    run_result_free(&v->result); /* leaves an empty one */
    v->run = b->run;
    v->failed |= !run_result_set_text(&v->result.device, b->device);
    emit(v, &e, b->run, ns_of(b->time_ps));
}

static void take_value(struct viewer *v, const struct trace_value *t)
{
    const bool stall = t->of && strcmp(t->of, "stall") == 0;
    struct values *const of_op = &v->values;
    if (t->op && (of_op->op != t->op || of_op->run != t->run)) {
        forget_values(of_op);
        of_op->run = t->run;
        of_op->op = t->op;
    }
    struct run_values *const to = t->op   ? (stall ? &of_op->stalls : &of_op->counters)
                                  : stall ? &v->result.stalls
                                          : &v->result.counters;
    if (t->name && (t->op || t->run == v->run))
        v->failed |= !run_values_append(to, t->name, t->value);
}

static void take_placement(struct viewer *v, const struct trace_placement *t)
{
    if (t->run == v->run)
        v->failed |= !run_placement_add(&v->result.placement, t->step, t->unit, t->kernel, t->why);
}

/* A run that has not come to its end has no result. */
static void take_end(struct viewer *v, const struct trace_run_end *t)
{
    struct run_result *const r = &v->result;
    struct event e = {.kind = EVENT_RUN_END};
    r->seconds = t->seconds;
    r->device_seconds = t->device_seconds;
    r->joules = t->joules;
    r->flops = t->flops;
    r->gflops = t->gflops;
    r->watts_avg = t->watts_avg;
    r->dram_gbps = t->dram_gbps;
    v->failed |= !run_result_set_text(&r->bound_by, t->bound_by);
    e.run_end = (struct event_run_end){.error = t->error, .result = t->run == v->run && !t->error ? r : NULL};
    emit(v, &e, t->run, ns_of(t->time_ps));
    run_result_free(r);
}

/* ---- the others ---- */

static void take_transfer(struct viewer *v, const struct trace_transfer *t)
{
    struct event e = {.kind = EVENT_MEM_TRANSFER};
    e.mem_transfer = (struct event_mem_transfer){.what = t->what,
                                                 .from = place_of(t->from, t->from_instance),
                                                 .to = place_of(t->to, t->to_instance),
                                                 .bytes = t->bytes,
                                                 .seconds = t->seconds};
    emit(v, &e, t->run, ns_of(t->time_ps));
}

static void take_sample(struct viewer *v, const struct trace_sample *s)
{
    struct event e = {.kind = EVENT_SAMPLE};
    e.sample = (struct event_sample){.series = s->series ? s->series : "series",
                                     .unit = s->measure ? s->measure : "",
                                     .place = place_of(s->unit, s->instance),
                                     .value = s->value};
    emit(v, &e, s->run, ns_of(s->time_ps));
}

static void take_clock(struct viewer *v, const struct trace_clock *c)
{
    struct event e = {.kind = EVENT_DVFS_CHANGE};
    e.dvfs_change = (struct event_dvfs_change){.place = place_of(c->unit, c->instance),
                                               .from_mhz = c->from_mhz,
                                               .to_mhz = c->to_mhz,
                                               .volts = c->volts,
                                               .reason = c->reason};
    emit(v, &e, c->run, ns_of(c->time_ps));
}

static void take_fault(struct viewer *v, const struct trace_fault *f)
{
    struct event e = {.kind = EVENT_FAULT};
    e.fault = (struct event_fault){
        .place = place_of(f->unit, f->instance), .fault = f->fault, .pc = f->pc, .address = f->address, .text = f->text};
    emit(v, &e, f->run, ns_of(f->time_ps));
}

/* The GPU's words are in its code, not in the trace: its instructions are called by their places. */
static const char *instruction_name(const struct trace_instruction *i, enum orch_part part, char *text, size_t size)
{
    struct a64_insn decoded;
    if (part == PART_AMX && amx_disasm_word((uint32_t)i->word, text, size) > 0)
        return text;
    if (part == PART_CPU && i->word) {
        a64_decode((uint32_t)i->word, &decoded);
        a64_disasm(&decoded, i->pc, text, size);
        return text;
    }
    snprintf(text, size, "at 0x%llx", (unsigned long long)i->pc);
    return text;
}

static void take_instruction(struct viewer *v, const struct trace_instruction *i)
{
    char name[96];
    const struct event_place place = place_of(i->unit, i->instance);
    const struct perfetto_instruction one = {.run = i->run,
                                             .op = i->op,
                                             .place = place,
                                             .begin_ns = ns_of(i->time_ps),
                                             .duration_ns = (double)i->duration_ps * 1e-3,
                                             .name = instruction_name(i, place.part, name, sizeof name),
                                             .pc = i->pc,
                                             .operand = i->operand};
    perfetto_listener_instruction(v->out, &one);
}

static void take(struct viewer *v, const struct trace_record *r)
{
    switch (r->kind) {
    case TRACE_RUN_BEGIN: take_begin(v, &r->run_begin); break;
    case TRACE_LAUNCH: take_launch(v, &r->launch); break;
    case TRACE_OP_BEGIN: {
        struct flight *const f = *find(v, r->op_begin.run, r->op_begin.op);
        if (f)
            f->started_ns = ns_of(r->op_begin.time_ps);
        break;
    }
    case TRACE_OP_END: take_op_end(v, &r->op_end); break;
    case TRACE_TRANSFER: take_transfer(v, &r->transfer); break;
    case TRACE_SAMPLE: take_sample(v, &r->sample); break;
    case TRACE_CLOCK: take_clock(v, &r->clock); break;
    case TRACE_FAULT: take_fault(v, &r->fault); break;
    case TRACE_INSTRUCTION: take_instruction(v, &r->instruction); break;
    case TRACE_VALUE: take_value(v, &r->value); break;
    case TRACE_PLACEMENT: take_placement(v, &r->placement); break;
    case TRACE_RUN_END: take_end(v, &r->run_end); break;
    default: break;
    }
}

bool trace_perfetto(struct trace_reader *reader, const char *path, struct orch_error *error)
{
    struct trace_error own;
    struct trace_record record;
    enum trace_step step = TRACE_OVER;
    struct viewer v = {.out = perfetto_listener_open(path, error)};
    if (!v.out)
        return false;
    run_result_init(&v.result);
    while (!v.failed && (step = trace_next(reader, &record, &own)) == TRACE_GOT)
        take(&v, &record);
    while (v.flights) {
        struct flight *const f = v.flights;
        v.flights = f->next;
        free_flight(f);
    }
    forget_values(&v.values);
    run_result_free(&v.result);
    if (!v.failed && step == TRACE_OVER)
        return perfetto_listener_close(v.out, error);
    perfetto_listener_discard(v.out);
    return v.failed ? orch_no_memory(error) : trace_tell(&own, error);
}
