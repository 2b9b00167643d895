/* What calibration leaves behind: values by chip, and their origin. The date is that of the row in the database. */
#include "sim/base/json_out.h"
#include "sim/prove/calibrate/calibrate.h"
#include "sim/run/run_version.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_object *score_json(const struct calibrate_score *s)
{
    json_object *const o = json_object_new_object();
    json_add_all_digits(o, "mape", s->mape);
    json_add_all_digits(o, "rms_log", s->rms_log);
    return o;
}

static json_object *provenance(const struct calibrate_request *q, const struct calibrate_result *r)
{
    json_object *const o = json_object_new_object(), *const ids = json_object_new_array();
    for (size_t i = 0; i < r->rows; i++)
        json_object_array_add(ids, json_object_new_string(r->id[i]));
    const char *const base = strrchr(q->name, '/');
    json_add_text(o, "file", base ? base + 1 : q->name);
    json_add_text(o, "file_hash", r->hash);
    json_object_object_add(o, "rows", ids);
    json_add_text(o, "version", run_model_version());
    json_object_object_add(o, "before", score_json(&r->before));
    json_object_object_add(o, "after", score_json(&r->after));
    json_add_count(o, "folds", r->folds);
    if (r->folds) {
        json_add_text(o, "folds_by", r->folds_by_source ? "source" : "row");
        json_object_object_add(o, "in_fold", score_json(&r->in_fold));
        json_object_object_add(o, "out_of_fold", score_json(&r->out_of_fold));
        json_object_object_add(o, "out_of_fold_before", score_json(&r->out_before));
    }
    json_add_all_digits(o, "condition", r->condition);
    return o;
}

static json_object *parameters(const struct calibrate_request *q, const struct calibrate_result *r)
{
    json_object *const list = json_object_new_array();
    for (size_t k = 0; k < r->keys; k++) {
        json_object *const o = json_object_new_object(), *const row = json_object_new_array();
        json_add_text(o, "key", q->key[k]);
        json_add_all_digits(o, "factor", r->factor[k]);
        json_add_all_digits(o, "log_error", r->log_error[k]);
        json_add_all_digits(o, "lowest_factor", exp(r->bounds[k].low));
        json_add_all_digits(o, "highest_factor", exp(r->bounds[k].high));
        json_add_bool(o, "at_bound", r->at_bound[k]);
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
