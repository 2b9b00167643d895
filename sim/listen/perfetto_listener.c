#include "sim/listen/perfetto_listener_internal.h"

#include "sim/base/place_name.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct perfetto_listener *perfetto_listener_open(const char *path, struct orch_error *error)
{
    struct perfetto_listener *const l = calloc(1, sizeof *l);
    if (!l) {
        orch_no_memory(error);
        return NULL;
    }
    l->file = output_file_open(path, OUTPUT_PLAIN, error);
    if (!l->file) {
        free(l);
        return NULL;
    }
    l->perfetto = perfetto_begin(output_file_stream(l->file));
    if (l->perfetto)
        return l;
    orch_no_memory(error);
    perfetto_listener_discard(l);
    return NULL;
}

void perfetto_listener_discard(struct perfetto_listener *l)
{
    if (!l)
        return;
    perfetto_end(l->perfetto);
    output_file_discard(l->file);
    free(l);
}

bool perfetto_listener_close(struct perfetto_listener *l, struct orch_error *error)
{
    const bool ended = perfetto_end(l->perfetto);
    const bool ok = output_file_flush(l->file, error) && (ended || orch_no_memory(error));
    const bool committed = ok && output_file_commit(l->file, error);
    if (!ok)
        output_file_discard(l->file);
    free(l);
    return committed;
}

/* ---- places ---- */

unsigned perfetto_listener_process(struct perfetto_listener *l, const struct event *e, unsigned offset, const char *what)
{
    const unsigned pid = (unsigned)(e->run % 100000) * PIDS_OF_RUN + offset;
    char name[320];
    snprintf(name, sizeof name, "%s (%s)", what, l->run_name);
    perfetto_process(l->perfetto, pid, name);
    return pid;
}

unsigned perfetto_listener_part(struct perfetto_listener *l, const struct event *e, enum orch_part part)
{
    return perfetto_listener_process(l, e, PID_PART + (unsigned)part, orch_part_name(part));
}

unsigned perfetto_listener_track(struct perfetto_listener *l, unsigned pid, const struct event_place *place)
{
    char name[64];
    snprintf(name, sizeof name, "%s %u", orch_part_name(place->part), place->instance);
    perfetto_track(l->perfetto, pid, place->instance, name);
    return place->instance;
}

/* ---- events ---- */

static const char *op_name(const struct event_op *o)
{
    return o->name ? o->name : o->kernel ? o->kernel : "op";
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct perfetto_detail *)a)->name, ((const struct perfetto_detail *)b)->name);
}

/* Values are ordered by name, so that a run which is read back from the database gives the same file. */
static size_t add_values(struct perfetto_detail *d, size_t used, const struct event_values *values)
{
    const size_t first = used;
    for (size_t i = 0; i < values->count && used + 1 < DETAILS_MAX; i++)
        d[used++] = (struct perfetto_detail){values->item[i].name, NULL, values->item[i].value};
    qsort(d + first, used - first, sizeof *d, by_name);
    return used;
}

static void on_op_end(struct perfetto_listener *l, const struct event *e)
{
    const struct event_op_end *const o = &e->op_end;
    struct perfetto_detail d[DETAILS_MAX] = {
        {"op", NULL, (double)o->op.op},
        {"kernel", o->op.kernel ? o->op.kernel : "", 0},
        {"shape", o->op.shape ? o->op.shape : "", 0},
        {"precision", o->op.precision ? o->op.precision : "", 0},
        {"cycles", NULL, o->cycles},
        {"macs", NULL, o->macs},
        {"flops", NULL, o->flops},
        {"gflops", NULL, o->seconds > 0 ? o->flops / o->seconds * 1e-9 : (double)NAN},
        {"repeats", NULL, (double)o->repeats},
    };
    size_t used = 9;
    used = add_values(d, used, &o->stalls);
    used = add_values(d, used, &o->counters);
    d[used < DETAILS_MAX ? used : DETAILS_MAX - 1] = (struct perfetto_detail){NULL, NULL, 0};

    const unsigned pid = perfetto_listener_part(l, e, o->op.place.part), tid = perfetto_listener_track(l, pid, &o->op.place);
    const bool submitted = isfinite(o->op.submitted_ns) && o->op.submitted_ns <= o->op.started_ns;
    struct perfetto_place from = {0, 0, false};
    if (submitted) {
        const unsigned submits = perfetto_listener_process(l, e, PID_SUBMIT, "submissions");
        perfetto_track(l->perfetto, submits, 0, "submitted, waiting");
        from = perfetto_slice(l->perfetto, submits, 0, op_name(&o->op), o->op.submitted_ns, o->op.started_ns - o->op.submitted_ns,
                              NULL);
    }
    const struct perfetto_place to =
        perfetto_slice(l->perfetto, pid, tid, op_name(&o->op), o->op.started_ns, o->seconds * 1e9, d);
    l->ops += (double)o->repeats;
    l->last_op = to;
    l->last_op_ns = o->op.started_ns;
    if (submitted)
        perfetto_arrow(l->perfetto, "launch", from, o->op.submitted_ns, to, o->op.started_ns);
}

static void on_transfer(struct perfetto_listener *l, const struct event *e)
{
    const struct event_mem_transfer *const t = &e->mem_transfer;
    const struct perfetto_detail d[] = {{"bytes", NULL, (double)t->bytes},
                                        {"from", orch_part_name(t->from.part), 0},
                                        {"GB/s", NULL, t->seconds > 0 ? (double)t->bytes / t->seconds * 1e-9 : (double)NAN},
                                        {NULL, NULL, 0}};
    const unsigned pid = perfetto_listener_part(l, e, t->to.part), tid = TRACK_TRANSFERS + t->to.instance;
    char name[64];
    snprintf(name, sizeof name, "%s %u: transfers", orch_part_name(t->to.part), t->to.instance);
    perfetto_track(l->perfetto, pid, tid, name);
    perfetto_slice(l->perfetto, pid, tid, t->what ? t->what : "transfer", e->time_ns, t->seconds * 1e9, d);
}

static void counter(struct perfetto_listener *l, const struct event *e, const struct event_place *place, const char *series,
                    const char *unit, double value)
{
    char where[64], name[128];
    place_name(series, orch_part_name(place->part), place->instance, where, sizeof where);
    snprintf(name, sizeof name, "%s, %s", series, where);
    perfetto_counter(l->perfetto, perfetto_listener_part(l, e, place->part), name, unit, e->time_ns, value);
}

static void on_dvfs_change(struct perfetto_listener *l, const struct event *e)
{
    const struct event_dvfs_change *const c = &e->dvfs_change;
    const struct perfetto_detail d[] = {
        {"from MHz", NULL, c->from_mhz}, {"to MHz", NULL, c->to_mhz}, {"volts", NULL, c->volts}, {NULL, NULL, 0}};
    const unsigned pid = perfetto_listener_part(l, e, c->place.part);
    perfetto_moment(l->perfetto, pid, perfetto_listener_track(l, pid, &c->place), c->reason ? c->reason : "clock", e->time_ns, d);
    counter(l, e, &c->place, "clock", "MHz", c->to_mhz);
}

static void on_fault(struct perfetto_listener *l, const struct event *e)
{
    const struct event_fault *const f = &e->fault;
    char pc[24], address[24];
    snprintf(pc, sizeof pc, "0x%llx", (unsigned long long)f->pc);
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)f->address);
    const struct perfetto_detail d[] = {
        {"pc", pc, 0}, {"address", address, 0}, {"text", f->text ? f->text : "", 0}, {NULL, NULL, 0}};
    const unsigned pid = perfetto_listener_part(l, e, f->place.part);
    perfetto_moment(l->perfetto, pid, perfetto_listener_track(l, pid, &f->place), f->fault ? f->fault : "fault", e->time_ns, d);
}

static void on_begin(struct perfetto_listener *l, const struct event *e)
{
    const struct event_run_begin *const b = &e->run_begin;
    l->gpu_cores = b->gpu_cores;
    l->ops = 0;
    snprintf(l->run_name, sizeof l->run_name, "%.80s%s%.60s, %.100s", b->chip_id ? b->chip_id : "?", b->device ? " in " : "",
             b->device ? b->device : "", b->workload ? b->workload : "");
}

static void on_end(struct perfetto_listener *l, const struct event *e)
{
    const struct run_result *const r = e->run_end.result;
    const struct perfetto_detail d[] = {
        {"seconds", NULL, r ? r->seconds : (double)NAN},        {"joules", NULL, r ? r->joules : (double)NAN},
        {"gflops", NULL, r ? r->gflops : (double)NAN},          {"bound by", r && r->bound_by ? r->bound_by : "", 0},
        {"error", e->run_end.error ? e->run_end.error : "", 0}, {NULL, NULL, 0}};
    const unsigned pid = perfetto_listener_process(l, e, PID_RUN, "run");
    perfetto_track(l->perfetto, pid, 0, "whole run");
    perfetto_slice(l->perfetto, pid, 0, l->run_name, 0, r && isfinite(r->seconds) ? r->seconds * 1e9 : e->time_ns, d);
    if (r)
        perfetto_listener_result(l, e, r);
}

void perfetto_listener_instruction(struct perfetto_listener *l, const struct perfetto_instruction *i)
{
    const struct event e = {.run = i->run, .time_ns = i->begin_ns};
    char pc[24], operand[24];
    snprintf(pc, sizeof pc, "0x%llx", (unsigned long long)i->pc);
    snprintf(operand, sizeof operand, "0x%llx", (unsigned long long)i->operand);
    const struct perfetto_detail d[] = {{"op", NULL, (double)i->op}, {"pc", pc, 0}, {"operand", operand, 0}, {NULL, NULL, 0}};
    char name[64];
    const unsigned pid = perfetto_listener_part(l, &e, i->place.part), tid = TRACK_INSTRUCTIONS + i->place.instance;
    snprintf(name, sizeof name, "%s %u: instructions", orch_part_name(i->place.part), i->place.instance);
    perfetto_track(l->perfetto, pid, tid, name);
    perfetto_slice(l->perfetto, pid, tid, i->name, i->begin_ns, i->duration_ns, d);
}

void perfetto_listener_on_event(void *listener, const struct event *event)
{
    struct perfetto_listener *const l = listener;
    switch (event->kind) {
    case EVENT_RUN_BEGIN: on_begin(l, event); break;
    case EVENT_OP_END: on_op_end(l, event); break;
    case EVENT_MEM_TRANSFER: on_transfer(l, event); break;
    case EVENT_SAMPLE:
        counter(l, event, &event->sample.place, event->sample.series, event->sample.unit, event->sample.value);
        break;
    case EVENT_DVFS_CHANGE: on_dvfs_change(l, event); break;
    case EVENT_FAULT: on_fault(l, event); break;
    case EVENT_RUN_END: on_end(l, event); break;
    default: break; /* op_end repeats what launch and op_begin say */
    }
}
