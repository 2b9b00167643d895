#include "sim/api/events.h"

#include "sim/base/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS = 24, NAME_SIZE = 96 };

struct event_teller {
    const struct orchard_session *session;
    struct orchard_text text[TEXTS]; /* of the event that is being told, as are all below */
    size_t texts;
    struct orchard_quantity *value;
    char (*name)[NAME_SIZE]; /* beside each value: its name when that had to be made */
    size_t values, capacity;
    bool no_memory;
};

struct event_teller *event_teller_create(const struct orchard_session *session)
{
    struct event_teller *const t = calloc(1, sizeof *t);
    if (t)
        t->session = session;
    return t;
}

void event_teller_free(struct event_teller *teller)
{
    if (!teller)
        return;
    free(teller->value);
    free(teller->name);
    free(teller);
}

bool event_teller_is_whole(const struct event_teller *teller)
{
    return !teller->no_memory;
}

/* ---- gathering ---- */

static void text(struct event_teller *t, const char *name, const char *value)
{
    if (t->texts < TEXTS)
        t->text[t->texts++] = (struct orchard_text){name, value};
}

static bool grow(struct event_teller *t)
{
    const size_t capacity = t->capacity ? 2 * t->capacity : 64;
    struct orchard_quantity *const value = realloc(t->value, capacity * sizeof *value);
    if (value)
        t->value = value;
    char(*const name)[NAME_SIZE] = value ? realloc(t->name, capacity * sizeof *name) : NULL;
    if (name)
        t->name = name;
    if (name)
        t->capacity = capacity;
    else
        t->no_memory = true;
    return name != NULL;
}

static void value(struct event_teller *t, const char *name, const char *unit, double number)
{
    if (t->values == t->capacity && !grow(t))
        return;
    t->name[t->values][0] = 0;
    t->value[t->values++] = (struct orchard_quantity){name, unit ? unit : "", number};
}

/* "GROUP.NAME". Names move when the array grows, so they are pointed to at the end. */
static void member(struct event_teller *t, const char *group, const char *name, const char *unit, double number)
{
    const size_t at = t->values;
    value(t, NULL, unit, number);
    if (t->values > at)
        snprintf(t->name[at], NAME_SIZE, "%s.%s", group, name);
}

static void members(struct event_teller *t, const char *group, const struct event_values *list)
{
    for (size_t i = 0; i < list->count; i++)
        member(t, group, list->item[i].name, list->item[i].unit, list->item[i].value);
}

static void result_members(struct event_teller *t, const char *group, const char *unit, const struct run_values *list)
{
    for (size_t i = 0; i < list->count; i++)
        member(t, group, list->item[i].name, unit, list->item[i].value);
}

/* ---- a kind each ---- */

static void run_begin(struct event_teller *t, const struct event_run_begin *e)
{
    text(t, "workload", e->workload);
    text(t, "chip", e->chip_id);
    text(t, "chip_hash", e->chip_hash);
    text(t, "program", e->program_name);
    text(t, "program_kind", e->program_kind);
    text(t, "program_hash", e->program_hash);
    text(t, "device", e->device);
    text(t, "unit", e->unit);
    text(t, "precision", e->precision);
    text(t, "detail", e->detail);
    text(t, "mode", e->mode);
    text(t, "options", e->options);
    text(t, "version", e->version);
    value(t, "seed", "", (double)e->seed);
    value(t, "chip_modified", "", e->chip_modified);
}

static void operator_begin(struct event_teller *t, const struct event_op *e, bool started)
{
    text(t, "kernel", e->kernel);
    text(t, "shape", e->shape);
    text(t, "precision", e->precision);
    value(t, "op", "", (double)e->op);
    value(t, "submitted", "s", e->submitted_ns * 1e-9);
    if (started)
        value(t, "started", "s", e->started_ns * 1e-9);
}

static void operator_end(struct event_teller *t, const struct event_op_end *e)
{
    operator_begin(t, &e->op, true);
    value(t, "seconds", "s", e->seconds);
    value(t, "cycles", "cycles", e->cycles);
    value(t, "macs", "macs", e->macs);
    value(t, "flops", "flop", e->flops);
    value(t, "repeats", "", (double)e->repeats);
    members(t, "stalls", &e->stalls);
    members(t, "counters", &e->counters);
    for (int i = 0; e->activity && i < ACT_COUNT; i++)
        if (e->activity->count[i])
            member(t, "activity", activity_name((enum activity_event)i), activity_unit((enum activity_event)i),
                   (double)e->activity->count[i]);
}

static void run_end(struct event_teller *t, const struct event_run_end *e)
{
    static const char *const statuses[] = {
        [EVENT_RUN_DONE] = "done", [EVENT_RUN_FAILED] = "failed", [EVENT_RUN_INTERRUPTED] = "interrupted"};
    const struct run_result *const r = e->result;
    text(t, "status", statuses[e->status]);
    text(t, "error", e->error);
    if (!r)
        return;
    text(t, "bound_by", r->bound_by);
    for (size_t i = 0; i < run_number_field_count(); i++)
        value(t, run_number_field(i)->name, run_number_field(i)->unit, run_number_of(r, run_number_field(i)));
    result_members(t, "joules_by", "J", &r->joules_by);
    result_members(t, "stalls", "1", &r->stalls);
    result_members(t, "counters", "", &r->counters);
}

static void place(struct orchard_event *to, const struct event_place *from)
{
    to->part = orch_part_name(from->part);
    to->instance = from->instance;
}

static void fill(struct event_teller *t, const struct event *e, struct orchard_event *to)
{
    switch (e->kind) {
    case EVENT_RUN_BEGIN: run_begin(t, &e->run_begin); break;
    case EVENT_LAUNCH:
    case EVENT_OP_BEGIN:
        to->what = e->launch.name;
        place(to, &e->launch.place);
        operator_begin(t, &e->launch, e->kind == EVENT_OP_BEGIN);
        break;
    case EVENT_OP_END:
        to->what = e->op_end.op.name;
        place(to, &e->op_end.op.place);
        operator_end(t, &e->op_end);
        break;
    case EVENT_MEM_TRANSFER:
        to->what = e->mem_transfer.what;
        place(to, &e->mem_transfer.to);
        text(t, "from", orch_part_name(e->mem_transfer.from.part));
        text(t, "to", orch_part_name(e->mem_transfer.to.part));
        value(t, "bytes", "bytes", (double)e->mem_transfer.bytes);
        value(t, "seconds", "s", e->mem_transfer.seconds);
        break;
    case EVENT_SAMPLE:
        to->what = e->sample.series;
        place(to, &e->sample.place);
        value(t, "value", e->sample.unit, e->sample.value);
        break;
    case EVENT_DVFS_CHANGE:
        place(to, &e->dvfs_change.place);
        text(t, "reason", e->dvfs_change.reason);
        value(t, "from_mhz", "MHz", e->dvfs_change.from_mhz);
        value(t, "to_mhz", "MHz", e->dvfs_change.to_mhz);
        value(t, "volts", "V", e->dvfs_change.volts);
        break;
    case EVENT_FAULT:
        to->what = e->fault.fault;
        place(to, &e->fault.place);
        text(t, "text", e->fault.text);
        value(t, "pc", "", (double)e->fault.pc);
        value(t, "address", "", (double)e->fault.address);
        break;
    case EVENT_RUN_END: run_end(t, &e->run_end); break;
    case EVENT_PROGRESS:
    case EVENT_KIND_COUNT: break;
    }
}

/* ---- telling ---- */

static void tell_progress(const struct orchard_session *session, const struct event *event)
{
    const struct event_progress *const e = &event->progress;
    char line[320], time[FORMAT_SIZE], simulated[FORMAT_SIZE + 16] = "", left[48] = "";
    if (event->time_ns > 0)
        snprintf(simulated, sizeof simulated, "simulated %s, ", format_quantity(time, event->time_ns * 1e-9, "s"));
    if (e->fraction > 0.02 && e->fraction <= 1)
        snprintf(left, sizeof left, ", %.0f s to go", e->part_seconds * (1 / e->fraction - 1));
    snprintf(line, sizeof line, "%s  %shost %.0f s%s", e->what ? e->what : "simulating", simulated, e->host_seconds, left);
    session->progress(session->context, &(struct orchard_progress){line, e->fraction, 0, 0, e->host_seconds, e->stop});
}

/* The run is over, or broken off: what was drawn about it can go. */
static void tell_over(const struct orchard_session *session)
{
    session->progress(session->context, &(struct orchard_progress){.fraction = NAN, .host_seconds = NAN});
}

static void tell_event(struct event_teller *t, const struct event *event)
{
    static const enum orchard_event_kind kinds[EVENT_KIND_COUNT] = {
        [EVENT_RUN_BEGIN] = ORCHARD_RUN_BEGIN, [EVENT_LAUNCH] = ORCHARD_LAUNCH,         [EVENT_OP_BEGIN] = ORCHARD_OP_BEGIN,
        [EVENT_OP_END] = ORCHARD_OP_END,       [EVENT_MEM_TRANSFER] = ORCHARD_TRANSFER, [EVENT_SAMPLE] = ORCHARD_SAMPLE,
        [EVENT_DVFS_CHANGE] = ORCHARD_CLOCK,   [EVENT_FAULT] = ORCHARD_FAULT,           [EVENT_RUN_END] = ORCHARD_RUN_END,
    };
    struct orchard_event told = {.kind = kinds[event->kind],
                                 .kind_name = event_kind_name(event->kind),
                                 .run = event->run,
                                 .seconds = event->time_ns * 1e-9};
    t->texts = t->values = 0;
    fill(t, event, &told);
    for (size_t i = 0; i < t->values; i++)
        if (!t->value[i].name)
            t->value[i].name = t->name[i];
    told.text = t->text;
    told.texts = t->texts;
    told.value = t->value;
    told.values = t->values;
    t->session->event(t->session->context, &told);
}

void event_teller_on_event(void *teller, const struct event *event)
{
    struct event_teller *const t = teller;
    if (t->session->progress && event->kind == EVENT_PROGRESS)
        tell_progress(t->session, event);
    else if (t->session->progress && (event->kind == EVENT_RUN_END || event->kind == EVENT_FAULT))
        tell_over(t->session);
    if (t->session->event && event->kind != EVENT_PROGRESS)
        tell_event(t, event);
}

/* ---- looking into an event ---- */

double orchard_event_number(const struct orchard_event *event, const char *name)
{
    for (size_t i = 0; i < event->values; i++)
        if (strcmp(event->value[i].name, name) == 0)
            return event->value[i].value;
    return NAN;
}

const char *orchard_event_text(const struct orchard_event *event, const char *name)
{
    for (size_t i = 0; i < event->texts; i++)
        if (strcmp(event->text[i].name, name) == 0)
            return event->text[i].text;
    return NULL;
}
