#include "sim/listen/db_writer_internal.h"

#include <math.h>
#include <string.h>

static bool add_values(struct row_buffer *rows, enum row_table table, const char *kind, int64_t op,
                       const struct event_values *values)
{
    bool ok = true;
    for (size_t i = 0; ok && i < values->count; i++) {
        const struct event_value *const v = &values->item[i];
        if (isfinite(v->value))
            ok = row_buffer_add(rows, table, op, kind, v->name, v->unit, v->value);
    }
    return ok;
}

static bool add_activity(struct row_buffer *rows, int64_t op, const struct activity *activity)
{
    bool ok = true;
    for (int i = 0; ok && activity && i < ACT_COUNT; i++)
        if (activity->count[i])
            ok = row_buffer_add(rows, ROW_ACTIVITY, op, "activity", activity_name((enum activity_event)i),
                                activity_unit((enum activity_event)i), (int64_t)activity->count[i]);
    return ok;
}

static bool add_op(struct row_buffer *rows, const struct event_op_end *e)
{
    const struct event_op *const o = &e->op;
    const int64_t op = (int64_t)o->op;
    return row_buffer_add(rows, ROW_OP, op, o->name, o->kernel, o->shape, o->precision, orch_part_name(o->place.part),
                          (int64_t)o->place.instance, o->submitted_ns, o->started_ns, e->seconds, e->cycles, e->macs, e->flops,
                          (int64_t)(e->repeats ? e->repeats : 1)) &&
           add_activity(rows, op, e->activity) && add_values(rows, ROW_STALL, "stall", op, &e->stalls) &&
           add_values(rows, ROW_COUNTER, "counter", op, &e->counters);
}

static bool add_transfer(struct open_run *r, const struct event *e)
{
    const struct event_mem_transfer *const t = &e->mem_transfer;
    return row_buffer_add(r->rows, ROW_TRANSFER, ++r->seq, e->time_ns, t->what, orch_part_name(t->from.part),
                          (int64_t)t->from.instance, orch_part_name(t->to.part), (int64_t)t->to.instance, (int64_t)t->bytes,
                          t->seconds);
}

static bool add_sample(struct open_run *r, const struct event *e)
{
    const struct event_sample *const s = &e->sample;
    return row_buffer_add(r->rows, ROW_SAMPLE, "sample", s->series, s->unit, orch_part_name(s->place.part),
                          (int64_t)s->place.instance, e->time_ns, s->value);
}

static bool add_dvfs_change(struct open_run *r, const struct event *e)
{
    const struct event_dvfs_change *const d = &e->dvfs_change;
    return row_buffer_add(r->rows, ROW_DVFS_CHANGE, ++r->seq, e->time_ns, orch_part_name(d->place.part),
                          (int64_t)d->place.instance, d->from_mhz, d->to_mhz, d->volts, d->reason);
}

static void hex64(uint64_t number, char text[24])
{
    snprintf(text, 24, "%016llx", (unsigned long long)number);
}

static bool add_fault(struct open_run *r, const struct event *e)
{
    const struct event_fault *const f = &e->fault;
    char pc[24], address[24];
    hex64(f->pc, pc);
    hex64(f->address, address);
    return row_buffer_add(r->rows, ROW_FAULT, ++r->seq, e->time_ns, orch_part_name(f->place.part), (int64_t)f->place.instance,
                          f->fault, pc, address, f->text);
}

/* ---- what a run came to ---- */

static bool add_parts(struct row_buffer *rows, const struct run_result *result)
{
    bool ok = true;
    for (int i = 0; ok && i < PART_COUNT; i++) {
        const char *const part = orch_part_name((enum orch_part)i);
        const double busy = i < RUN_UTILISATION_COUNT ? result->utilisation[i] : (double)NAN;
        const double joules = run_values_get(&result->joules_by, part);
        if (!isnan(busy) || !isnan(joules))
            ok = row_buffer_add(rows, ROW_PART, part, busy, joules);
    }
    /* Energy of something that is not in the table of parts keeps the name that it was given. */
    for (size_t i = 0; ok && i < result->joules_by.count; i++) {
        const struct run_named_value *const v = &result->joules_by.item[i];
        bool known = false;
        for (int p = 0; p < PART_COUNT; p++)
            known = known || strcmp(orch_part_name((enum orch_part)p), v->name) == 0;
        if (!known)
            ok = row_buffer_add(rows, ROW_PART, v->name, (double)NAN, v->value);
    }
    return ok;
}

static bool add_named(struct row_buffer *rows, enum row_table table, const char *kind, const char *unit,
                      const struct run_values *values)
{
    bool ok = true;
    for (size_t i = 0; ok && i < values->count; i++)
        if (isfinite(values->item[i].value))
            ok = row_buffer_add(rows, table, (int64_t)0, kind, values->item[i].name, unit, values->item[i].value);
    return ok;
}

static bool add_lists(struct row_buffer *rows, const struct run_result *result)
{
    bool ok = true;
    for (size_t i = 0; ok && i < result->placement.count; i++) {
        const struct run_placement *const p = &result->placement.item[i];
        ok = row_buffer_add(rows, ROW_PLACEMENT, (int64_t)i + 1, p->op, p->unit, p->kernel, p->why);
    }
    for (size_t i = 0; ok && i < result->assumptions.count; i++) {
        const struct run_assumption *const a = &result->assumptions.item[i];
        ok = row_buffer_add(rows, ROW_ASSUMPTION, (int64_t)i + 1, a->key, a->kind, a->effect);
    }
    for (size_t i = 0; ok && i < result->checksum.count; i++) {
        char digits[24];
        hex64(result->checksum.item[i].fnv1a64, digits);
        ok = row_buffer_add(rows, ROW_CHECKSUM, (int64_t)i + 1, result->checksum.item[i].output, digits);
    }
    return ok;
}

bool db_writer_add_result(struct row_buffer *rows, const struct run_result *result)
{
    return !result ||
           (add_parts(rows, result) && add_lists(rows, result) &&
            add_named(rows, ROW_STALL, "stall", "cycles", &result->stalls) &&
            add_named(rows, ROW_COUNTER, "counter", "", &result->counters) && db_writer_add_profile(rows, result->profile));
}

bool db_writer_add_row(struct open_run *r, const struct event *event)
{
    switch (event->kind) {
    case EVENT_OP_END: return add_op(r->rows, &event->op_end);
    case EVENT_MEM_TRANSFER: return add_transfer(r, event);
    case EVENT_SAMPLE: return add_sample(r, event);
    case EVENT_DVFS_CHANGE: return add_dvfs_change(r, event);
    case EVENT_FAULT: return add_fault(r, event);
    default: return true; /* op_end repeats what launch and op_begin say */
    }
}
