#include "sim/ask/sweep/sweep_summary.h"

#include "sim/base/json_out.h"
#include "sim/ask/sweep/effects.h"
#include "sim/ask/sweep/pareto.h"

#include <math.h>
#include <stdlib.h>

static void add_value(json_object *object, const char *name, const struct sweep_key *key, double value)
{
    if (!key->numeric && !isnan(value))
        json_add_text(object, name, key->level[(size_t)value]);
    else
        json_add_number(object, name, value);
}

static json_object *point_json(const struct sweep_data *data, const struct sweep_point *p)
{
    json_object *const row = json_object_new_object(), *const settings = json_object_new_object();
    json_add_count(row, "point", p->number);
    for (size_t k = 0; k < data->spec->key_count; k++)
        add_value(settings, data->spec->key[k].name, &data->spec->key[k], p->value[k]);
    json_object_object_add(row, "settings", settings);
    json_add_text(row, "status", sweep_status_name(p->answer.status));
    json_add_text(row, "method", p->answer.status == SWEEP_DONE ? sweep_method_name(p->answer.method) : NULL);
    json_add_number(row, "expected_error", p->answer.expected_error);
    for (unsigned r = 0; r < SWEEP_RESPONSE_COUNT; r++)
        json_add_number(row, sweep_response_name((enum sweep_response)r), p->answer.response[r]);
    json_add_text(row, "bound_by", *p->answer.bound_by ? p->answer.bound_by : NULL);
    json_add_text(row, "error", *p->answer.error ? p->answer.error : NULL);
    return row;
}

static json_object *levels_json(const struct sweep_key *key, const struct sweep_effect *effect)
{
    json_object *const list = json_object_new_array();
    for (size_t i = 0; i < effect->level_count; i++) {
        const struct sweep_level *const l = &effect->level[i];
        json_object *const o = json_object_new_object();
        add_value(o, "from", key, l->low);
        add_value(o, "to", key, l->high);
        json_add_number(o, "mean", l->count ? l->mean : (double)NAN);
        json_add_number(o, "lowest", l->count ? l->lowest : (double)NAN);
        json_add_number(o, "highest", l->count ? l->highest : (double)NAN);
        json_add_count(o, "points", l->count);
        json_object_array_add(list, o);
    }
    return list;
}

static json_object *effects_json(const struct sweep_data *data, const struct sweep_effects *e)
{
    json_object *const o = json_object_new_object(), *const list = json_object_new_array();
    json_add_text(o, "response", sweep_response_name(e->response));
    json_add_text(o, "unit", sweep_response_unit(e->response));
    json_add_count(o, "points", e->points);
    json_add_number(o, "mean", e->mean);
    json_add_number(o, "lowest", e->lowest);
    json_add_number(o, "highest", e->highest);
    json_add_number(o, "base", e->base);
    json_add_number(o, "explained", e->explained);
    for (size_t i = 0; i < e->count; i++) {
        const struct sweep_effect *const f = &e->effect[i];
        const struct sweep_key *const key = &data->spec->key[f->key];
        json_object *const k = json_object_new_object();
        json_add_text(k, "key", key->name);
        json_add_number(k, "first_order", f->first_order);
        json_add_number(k, "elasticity", f->elasticity);
        json_add_number(k, "coefficient", f->coefficient);
        add_value(k, "low_value", key, f->low_value);
        json_add_number(k, "low_response", f->low_response);
        add_value(k, "high_value", key, f->high_value);
        json_add_number(k, "high_response", f->high_response);
        json_object_object_add(k, "levels", levels_json(key, f));
        json_object_array_add(list, k);
    }
    json_object_object_add(o, "keys", list);
    return o;
}

static bool add_pareto(json_object *o, const struct sweep_data *data, size_t workload, struct orch_error *error)
{
    enum sweep_response response[3];
    const size_t dimensions = sweep_pareto_responses(data, workload, response);
    json_object *const front = json_object_new_array(), *const over = json_object_new_array();
    size_t *index, count;
    const bool ok = sweep_pareto(data, workload, &index, &count, error);
    for (size_t d = 0; d < dimensions; d++)
        json_object_array_add(over, json_object_new_string(sweep_response_name(response[d])));
    for (size_t i = 0; ok && i < count; i++)
        json_object_array_add(front, json_object_new_int64((int64_t)data->point[index[i]].number));
    json_object_object_add(o, "pareto_over", over);
    json_object_object_add(o, "pareto", front);
    free(index);
    return ok;
}

static bool add_workload(json_object *list, const struct sweep_data *data, size_t workload, const struct sweep_summary *how,
                         struct orch_error *error)
{
    json_object *const o = json_object_new_object(), *const rows = json_object_new_array();
    struct sweep_effects effects;
    struct orch_error none = {0};
    size_t shown = 0;
    json_object_array_add(list, o);
    json_add_text(o, "workload", data->spec->workload[workload]);
    if (sweep_effects_of(data, workload, how->response, &effects, &none)) {
        json_object_object_add(o, "effects", effects_json(data, &effects));
        sweep_effects_free(&effects);
    } else {
        json_add_null(o, "effects");
    }
    for (size_t i = 0; i < data->point_count && shown < how->rows; i++)
        if (data->point[i].role == SWEEP_POINT && data->point[i].workload == workload) {
            json_object_array_add(rows, point_json(data, &data->point[i]));
            shown++;
        }
    json_object_object_add(o, "rows", rows);
    return add_pareto(o, data, workload, error);
}

static json_object *interpolation_json(const struct sweep_groups_stats *s)
{
    json_object *const o = json_object_new_object();
    json_add_count(o, "groups", s->groups);
    json_add_count(o, "interpolating", s->interpolating);
    json_add_count(o, "left_out_points", s->left_out_points);
    json_add_number(o, "left_out_rms", s->left_out_rms);
    json_add_number(o, "left_out_greatest", s->left_out_greatest);
    json_add_count(o, "scattering", s->scattering);
    json_add_number(o, "scatter_rms", s->scatter_rms);
    return o;
}

json_object *sweep_summary_json(const struct sweep_data *data, const struct sweep_done *done, const struct sweep_summary *how,
                                struct orch_error *error)
{
    json_object *const o = json_object_new_object(), *const list = json_object_new_array();
    bool ok = true;
    json_add_count(o, "sweep_id", (uint64_t)data->id);
    json_add_text(o, "hash", data->hash);
    json_add_text(o, "name", data->spec->name);
    json_add_text(o, "version", data->version);
    json_add_count(o, "points", data->spec->points);
    json_add_count(o, "done", data->done);
    json_add_count(o, "failed", data->failed);
    for (unsigned m = 0; m < SWEEP_METHOD_COUNT; m++)
        json_add_count(o, sweep_method_name((enum sweep_method)m), data->by_method[m]);
    if (done) {
        json_add_number(o, "host_seconds", done->host_seconds);
        json_add_count(o, "there_before", done->before);
        json_add_text(o, "first_error", *done->first_error ? done->first_error : NULL);
        json_object_object_add(o, "interpolation", interpolation_json(&done->groups));
    }
    for (size_t w = 0; ok && w < data->spec->workload_count; w++)
        ok = add_workload(list, data, w, how, error);
    json_object_object_add(o, "workloads", list);
    if (ok)
        return o;
    json_object_put(o);
    return NULL;
}
