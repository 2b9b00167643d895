#include "sim/api/verb_run_together.h"

#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/listen/run_json.h"
#include "sim/scenario/together.h"
#include "sim/trace/trace_recorder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_object *outcome_json(const struct together_outcome *o)
{
    json_object *j = json_object_new_object();
    json_add_text(j, "workload", o->alone.workload);
    json_add_text(j, "unit", o->alone.unit);
    json_add_number(j, "seconds", o->seconds);
    json_add_number(j, "seconds_alone", o->alone.seconds);
    json_add_number(j, "slowdown", o->slowdown);
    json_add_number(j, "start_seconds", o->start_seconds);
    json_add_number(j, "end_seconds", o->end_seconds);
    json_add_number(j, "queued_seconds", o->queued_seconds);
    json_add_number(j, "joules_dynamic", o->dynamic_joules);
    json_add_number(j, "dram_gbps", o->dram_gbps);
    json_add_number(j, "dram_gbps_alone", o->alone.dram_gbps);
    json_add_text(j, "limited_by", o->limited_by);
    json_add_number(j, "limited_share", o->limited_share);
    json_object_object_add(j, "alone", run_json(&o->alone, NULL));
    return j;
}

static json_object *document(const struct together *t, const struct run_result *whole)
{
    json_object *j = run_json(whole, NULL), *parts = json_object_new_array(), *resources = json_object_new_array();
    for (unsigned i = 0; i < together_count(t); i++)
        json_object_array_add(parts, outcome_json(together_outcome(t, i)));
    for (unsigned i = 0; i < together_resource_count(t); i++) {
        const struct together_resource *r = together_resource(t, i);
        json_object *o = json_object_new_object();
        json_add_text(o, "resource", r->name);
        json_add_number(o, "capacity_gbps", isinf(r->capacity_gbps) ? (double)NAN : r->capacity_gbps);
        json_add_number(o, "bytes", r->bytes);
        json_add_number(o, "full_share", r->full_share);
        json_object_array_add(resources, o);
    }
    json_add_text(j, "sharing", together_sharing(t));
    json_object_object_add(j, "concurrent", parts);
    json_object_object_add(j, "resources", resources);
    return j;
}

static void print_parts(struct api_context *context, const struct together *t)
{
    static const struct table_column columns[] = {
        {"workload", NULL, false, 48}, {"unit", NULL, false, 0},      {"alone", NULL, true, 0},
        {"together", NULL, true, 0},   {"slow-down", NULL, true, 0},  {"DRAM alone", "GB/s", true, 0},
        {"together", "GB/s", true, 0}, {"events", "energy", true, 0}, {"limited by", NULL, false, 0},
    };
    struct table *table = table_create(columns, ARRAY_COUNT(columns));
    for (unsigned i = 0; i < together_count(t); i++) {
        const struct together_outcome *o = together_outcome(t, i);
        char text[FORMAT_SIZE];
        table_row(table);
        table_cell(table, "%s", o->alone.workload);
        table_cell(table, "%s", o->alone.unit);
        table_cell(table, "%s", format_si(text, o->alone.seconds, "s"));
        table_cell(table, "%s", format_si(text, o->seconds, "s"));
        table_cell(table, "%.2f", o->slowdown);
        table_cell(table, "%s", format_digits(text, o->alone.dram_gbps, 3));
        table_cell(table, "%s", format_digits(text, o->dram_gbps, 3));
        table_cell(table, "%s", isnan(o->dynamic_joules) ? "-" : format_si(text, o->dynamic_joules, "J"));
        table_cell(table, "%s%s", o->limited_by, o->queued_seconds > 0 ? ", queue" : "");
    }
    api_table(context, table);
}

static bool show(const struct verb_together *c, const struct together *t, const struct run_result *whole,
                 struct orch_error *error)
{
    struct api_context *const context = c->record->context;
    if (api_wants_document(context))
        json_object_array_add(c->rows, document(t, whole));
    if (!api_wants_text(context))
        return true;
    if (!api_summary(context, whole, 4, 8, error))
        return false;
    fputc('\n', context->out);
    print_parts(context, t);
    fprintf(context->out, "  shared: %s\n", together_sharing(t));
    for (unsigned i = 0; i < together_resource_count(t); i++) {
        const struct together_resource *r = together_resource(t, i);
        if (r->full_share > 0)
            fprintf(context->out, "  %s is full for %.0f %% of the time\n", r->name, 100 * r->full_share);
    }
    return true;
}

static bool execute(void *together, struct event_bus *bus, uint64_t number, struct run_result *whole, struct orch_error *error)
{
    return together_execute(together, bus, number, whole, error);
}

bool verb_run_together(const struct verb_together *c, struct orch_error *error)
{
    struct together_part part[TOGETHER_PARTS];
    struct run_result whole;
    unsigned count;
    char *storage = NULL;
    run_result_init(&whole);
    if (c->common->watch)
        return orch_fail(
            error, ORCH_UNMODELLED,
            "level instruction: one workload by itself; several at once are recorded at " ORCH_OPTION("level") " operator");
    bool ok = together_parse(c->text, c->common, part, &count, &storage, error);
    if (ok)
        verb_run_parts_apply(c->parts, part, count);
    ok = ok && (!c->record->trace || trace_recorder_expect(c->record->trace, part, count, error));
    struct together *t = ok ? together_prepare(part, count, c->text, error) : NULL;
    ok = t && api_record_run(c->record, c->common->chip, execute, t, c->number, &whole, error) && show(c, t, &whole, error);
    run_result_free(&whole);
    together_free(t);
    free(storage);
    return ok;
}
