/* A timing as JSON text whose numbers have all their digits. Zeros, empty lists and values that do not apply are left out. */
#include "sim/base/json_out.h"
#include "sim/base/json_read.h"
#include "sim/run/kind.h"
#include "sim/run/run_timing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A field that is added to these structs is added below as well: a known timing must give the same joules as a new one. */
_Static_assert(sizeof(struct energy_cores) ==
                   (3 * sizeof(double) + 2 * sizeof(unsigned)) * POWER_DOMAIN_COUNT + 2 * sizeof(double),
               "energy_cores as written here");

/* ---- writing ---- */

static void add_exact(json_object *to, const char *key, double number)
{
    if (!isnan(number))
        json_object_object_add(to, key, json_exact_number(number));
}

static void add_text(json_object *to, const char *key, const char *text)
{
    if (text)
        json_object_object_add(to, key, json_object_new_string(text));
}

static void add_values(json_object *to, const char *key, const struct run_values *values)
{
    json_object *const object = json_object_new_object();
    for (size_t i = 0; i < values->count; i++)
        json_object_object_add(object, values->item[i].name, json_exact_number(values->item[i].value));
    json_object_object_add(to, key, object);
}

/* Lists of strings, one list each. */
static void add_row(json_object *rows, const char *const *text, size_t count)
{
    json_object *const row = json_object_new_array();
    for (size_t i = 0; i < count; i++)
        json_object_array_add(row, text[i] ? json_object_new_string(text[i]) : NULL);
    json_object_array_add(rows, row);
}

static void add_lists(json_object *to, const struct run_result *r)
{
    json_object *const placement = json_object_new_array(), *const assumptions = json_object_new_array();
    for (size_t i = 0; i < r->placement.count; i++) {
        const struct run_placement *p = &r->placement.item[i];
        add_row(placement, (const char *const[]){p->op, p->unit, p->kernel, p->why}, 4);
    }
    for (size_t i = 0; i < r->assumptions.count; i++) {
        const struct run_assumption *a = &r->assumptions.item[i];
        add_row(assumptions, (const char *const[]){a->key, a->kind, a->effect}, 3);
    }
    json_object_object_add(to, "placement", placement);
    json_object_object_add(to, "assumptions", assumptions);
}

static json_object *result_json(const struct run_result *r)
{
    json_object *const o = json_object_new_object(), *const utilisation = json_object_new_array();
    for (size_t i = 0; i < run_text_field_count(); i++)
        add_text(o, run_text_field(i)->name, run_text_of(r, run_text_field(i)));
    for (size_t i = 0; i < run_number_field_count(); i++)
        add_exact(o, run_number_field(i)->name, run_number_of(r, run_number_field(i)));
    for (int i = 0; i < RUN_UTILISATION_COUNT; i++)
        json_object_array_add(utilisation, json_exact_number(r->utilisation[i]));
    json_object_object_add(o, "utilisation", utilisation);
    add_values(o, "stalls", &r->stalls);
    add_values(o, "counters", &r->counters);
    add_lists(o, r);
    return o;
}

static json_object *activity_json(const struct activity *activity)
{
    json_object *const o = json_object_new_object();
    for (int i = 0; i < ACT_COUNT; i++)
        if (activity->count[i])
            json_object_object_add(o, activity_name((enum activity_event)i), json_object_new_uint64(activity->count[i]));
    return o;
}

static json_object *by_json(const struct run_timing *t)
{
    json_object *const o = json_object_new_object();
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        json_object *const one = activity_json(&t->by[d]);
        if (json_object_object_length(one))
            json_object_object_add(o, power_domain_name(d), one);
        else
            json_object_put(one);
    }
    return o;
}

static json_object *cores_json(const struct energy_cores *c)
{
    json_object *const o = json_object_new_object();
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        if (!c->slices[d])
            continue;
        json_object *const one = json_object_new_object();
        add_exact(one, "seconds", c->seconds[d]);
        add_exact(one, "shared_seconds", c->shared_seconds[d]);
        add_exact(one, "mhz", c->mhz[d]);
        add_exact(one, "slices", c->slices[d]);
        add_exact(one, "clusters", c->clusters[d]);
        json_object_object_add(o, power_domain_name(d), one);
    }
    add_exact(o, "rail_mhz", c->rail_mhz);
    add_exact(o, "rail", c->rail);
    return o;
}

char *run_timing_json(const struct run_timing *t)
{
    json_object *const o = json_object_new_object();
    json_object_object_add(o, "kind", json_object_new_string(t->kind->name));
    add_exact(o, "end_ns", t->end_ns);
    add_exact(o, "gpu_groups", (double)t->gpu_groups);
    add_exact(o, "gpu_clock_ghz", t->gpu_clock_ghz);
    add_exact(o, "ane_clock_ghz", t->ane_clock_ghz);
    add_exact(o, "gpu_bytes", t->gpu_bytes);
    add_exact(o, "gpu_group_threads", t->gpu_group_threads);
    json_object_object_add(o, "activity", activity_json(&t->activity));
    json_object_object_add(o, "by", by_json(t));
    json_object_object_add(o, "busy", cores_json(&t->busy));
    json_object_object_add(o, "result", result_json(&t->result));
    return json_line(o);
}

/* ---- reading ---- */

#define COUNT_MAX 1000000000

/* What stands for an absent number: this, unless said otherwise. Infinities come back as they were. */
static double number(const struct json_node *from, const char *key, double absent)
{
    return json_find_number(from, key, JSON_ANY, absent);
}

/* A count that fits; others are 0. */
static uint64_t count(const struct json_node *from, const char *key, uint64_t most)
{
    const double value = number(from, key, 0);
    return value >= 0 && value <= (double)most ? (uint64_t)value : 0;
}

static bool read_values(const struct json_node *from, struct run_values *values)
{
    bool ok = from->value != NULL;
    struct json_node item;
    for (struct json_walk walk = {.of = from}; ok && json_next(&walk, &item);)
        ok = run_values_append(values, item.name, item.value ? json_get_number(&item, NULL, JSON_ANY) : NAN);
    return ok;
}

static const char *text_at(const struct json_node *row, size_t i)
{
    json_object *const text = json_object_array_get_idx(row->value, i);
    return text ? json_object_get_string(text) : NULL;
}

static bool read_lists(const struct json_node *from, struct run_result *r)
{
    const struct json_node placement = json_get_array(from, "placement", 0, SIZE_MAX),
                           assumptions = json_get_array(from, "assumptions", 0, SIZE_MAX);
    struct json_node item;
    bool ok = json_ok(from);
    for (struct json_walk walk = {.of = &placement}; ok && json_next(&walk, &item);) {
        const struct json_node row = json_get_array(&item, NULL, 0, 4);
        ok =
            row.value && run_placement_add(&r->placement, text_at(&row, 0), text_at(&row, 1), text_at(&row, 2), text_at(&row, 3));
    }
    for (struct json_walk walk = {.of = &assumptions}; ok && json_next(&walk, &item);) {
        const struct json_node row = json_get_array(&item, NULL, 0, 3);
        ok = row.value && run_assumption_add(&r->assumptions, text_at(&row, 0), text_at(&row, 1), text_at(&row, 2));
    }
    return ok;
}

static bool read_result(const struct json_node *from, struct run_result *r)
{
    const struct json_node utilisation = json_get_array(from, "utilisation", RUN_UTILISATION_COUNT, RUN_UTILISATION_COUNT),
                           stalls = json_get_object(from, "stalls"), counters = json_get_object(from, "counters");
    struct json_node share;
    bool ok = true;
#define X(name, definition) ok = ok && run_result_set_text(&r->name, json_find_string(from, #name, NULL));
    RUN_TEXT_TABLE(X)
#undef X
#define X(name, unit, kind, better, definition) r->name = number(from, #name, NAN);
    RUN_NUMBER_TABLE(X)
#undef X
    for (struct json_walk walk = {.of = &utilisation}; json_next(&walk, &share);)
        r->utilisation[share.index] = share.value ? json_get_number(&share, NULL, JSON_ANY) : NAN;
    return ok && read_values(&stalls, &r->stalls) && read_values(&counters, &r->counters) && read_lists(from, r);
}

/* An event or a domain that is not there is 0; one that this version does not know does not come here: versions have their own.
 */
static void read_activity(const struct json_node *from, struct activity *activity)
{
    for (int i = 0; i < ACT_COUNT; i++)
        activity->count[i] = json_find_integer(from, activity_name((enum activity_event)i), 0, UINT64_MAX, 0);
}

static void read_cores(const struct json_node *from, struct energy_cores *c)
{
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        const struct json_node one = json_find_object(from, power_domain_name(d));
        c->seconds[d] = number(&one, "seconds", 0);
        c->shared_seconds[d] = number(&one, "shared_seconds", 0);
        c->mhz[d] = number(&one, "mhz", 0);
        c->slices[d] = (unsigned)count(&one, "slices", COUNT_MAX);
        c->clusters[d] = (unsigned)count(&one, "clusters", COUNT_MAX);
    }
    c->rail_mhz = number(from, "rail_mhz", 0);
    c->rail = (enum power_domain)count(from, "rail", POWER_DOMAIN_COUNT - 1);
}

static bool read_timing(const struct json_node *o, struct run_timing *t)
{
    const struct json_node activity = json_find_object(o, "activity"), by = json_get_object(o, "by"),
                           busy = json_get_object(o, "busy"), result = json_get_object(o, "result");
    t->kind = run_kind_named(json_get_string(o, "kind"));
    t->end_ns = number(o, "end_ns", 0);
    t->gpu_groups = count(o, "gpu_groups", UINT64_C(1) << 53);
    t->gpu_clock_ghz = number(o, "gpu_clock_ghz", 0);
    t->ane_clock_ghz = number(o, "ane_clock_ghz", 0);
    t->gpu_bytes = number(o, "gpu_bytes", 0);
    t->gpu_group_threads = (unsigned)count(o, "gpu_group_threads", COUNT_MAX);
    read_activity(&activity, &t->activity);
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        const struct json_node events = json_find_object(&by, power_domain_name(d));
        read_activity(&events, &t->by[d]);
    }
    read_cores(&busy, &t->busy);
    return t->kind && json_ok(o) && read_result(&result, &t->result) && isfinite(t->result.seconds);
}

bool run_timing_parse(const char *json, struct run_timing *timing, struct orch_error *error)
{
    struct json_reader r;
    if (!json_reader_open(&r, "characteristic", json, strlen(json), error))
        return false;
    r.null_is_absent = true;
    run_timing_free(timing);
    const struct json_node top = json_top(&r);
    const bool read = read_timing(&top, timing), ok = json_reader_close(&r) && read;
    if (!ok)
        run_timing_free(timing);
    return ok || orch_fail(error, ORCH_USAGE, "not a timing of this version");
}
