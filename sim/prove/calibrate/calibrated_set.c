/* What calibration leaves behind: values by chip, and where they come from. The date is that of the database's row. */
#include "sim/prove/calibrate/calibrate.h"
#include "sim/run/run_version.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_number(json_object *o, const char *key, double number)
{
    json_object_object_add(o, key, isfinite(number) ? json_object_new_double(number) : NULL);
}

static json_object *score_json(const struct calibrate_score *s)
{
    json_object *const o = json_object_new_object();
    add_number(o, "mape", s->mape);
    add_number(o, "rms_log", s->rms_log);
    return o;
}

static json_object *provenance(const struct calibrate_request *q, const struct calibrate_result *r)
{
    json_object *const o = json_object_new_object(), *const ids = json_object_new_array();
    for (size_t i = 0; i < r->rows; i++)
        json_object_array_add(ids, json_object_new_string(r->id[i]));
    const char *const base = strrchr(q->name, '/');
    json_object_object_add(o, "file", json_object_new_string(base ? base + 1 : q->name));
    json_object_object_add(o, "file_hash", json_object_new_string(r->hash));
    json_object_object_add(o, "rows", ids);
    json_object_object_add(o, "version", json_object_new_string(run_model_version()));
    json_object_object_add(o, "before", score_json(&r->before));
    json_object_object_add(o, "after", score_json(&r->after));
    json_object_object_add(o, "folds", json_object_new_int((int)r->folds));
    if (r->folds) {
        json_object_object_add(o, "folds_by", json_object_new_string(r->folds_by_source ? "source" : "row"));
        json_object_object_add(o, "in_fold", score_json(&r->in_fold));
        json_object_object_add(o, "out_of_fold", score_json(&r->out_of_fold));
        json_object_object_add(o, "out_of_fold_before", score_json(&r->out_before));
    }
    add_number(o, "condition", r->condition);
    return o;
}

static json_object *parameters(const struct calibrate_request *q, const struct calibrate_result *r)
{
    json_object *const list = json_object_new_array();
    for (size_t k = 0; k < r->keys; k++) {
        json_object *const o = json_object_new_object(), *const row = json_object_new_array();
        json_object_object_add(o, "key", json_object_new_string(q->key[k]));
        add_number(o, "factor", r->factor[k]);
        add_number(o, "log_error", r->log_error[k]);
        add_number(o, "lowest_factor", exp(r->bounds[k].low));
        add_number(o, "highest_factor", exp(r->bounds[k].high));
        json_object_object_add(o, "at_bound", json_object_new_boolean(r->at_bound[k]));
        for (size_t j = 0; j < r->keys; j++)
            json_object_array_add(row, json_object_new_double(r->covariance[k][j]));
        json_object_object_add(o, "log_covariance", row);
        json_object_array_add(list, o);
    }
    return list;
}

static bool add_chip(const struct calibrate_request *q, const struct calibrate_result *r, const char *id, json_object *chips,
                     struct orch_error *error)
{
    struct chip *const chip = chip_open(q->chips, id, &q->sets, error);
    json_object *const values = json_object_new_object();
    bool ok = chip != NULL;
    for (size_t k = 0; ok && k < r->keys; k++) {
        char *const text = calibrate_override(chip, q->key[k], log(r->factor[k]));
        ok = text || orch_no_memory(error);
        if (ok)
            json_object_object_add(values, q->key[k], json_tokener_parse(strchr(text, '=') + 1));
        free(text);
    }
    json_object_object_add(chips, id, values);
    if (chip)
        chip_close(chip);
    return ok;
}

json_object *calibrate_body(const struct calibrate_request *q, const struct calibrate_result *r, struct orch_error *error)
{
    json_object *const body = json_object_new_object(), *const chips = json_object_new_object();
    bool ok = true;
    for (unsigned c = 0; ok && c < r->chips; c++)
        ok = add_chip(q, r, r->chip[c], chips, error);
    json_object_object_add(body, "chips", chips);
    json_object_object_add(body, "parameters", parameters(q, r));
    json_object_object_add(body, "provenance", provenance(q, r));
    if (ok)
        return body;
    json_object_put(body);
    return NULL;
}
