/* What tuning leaves behind: entries of a fitted set. */
#include "isa/array_count.h"
#include "sim/ask/tune/tune.h"
#include "sim/base/json_out.h"
#include "sim/base/json_read.h"
#include "sim/run/run_version.h"

#include <json-c/json.h>
#include <string.h>

static json_object *text_or_null(const char *text)
{
    return text ? json_object_new_string(text) : NULL;
}

static bool is_auto(const char *unit)
{
    return !unit || strcmp(unit, "auto") == 0;
}

json_object *tune_entry(const struct tune_request *q, const struct tune_result *r)
{
    const struct tune_trial *const best = &r->trial[r->best], *const usual = &r->trial[r->usual];
    json_object *const entry = json_object_new_object(), *const use = json_object_new_object();
    json_object_object_add(entry, "workload", json_object_new_string(q->workload));
    json_object_object_add(entry, "asked_unit", is_auto(q->unit) ? NULL : json_object_new_string(q->unit));
    json_object_object_add(entry, "precision", text_or_null(q->precision));
    json_object_object_add(entry, "chip", json_object_new_string(q->chip));
    json_object_object_add(use, "workload", json_object_new_string(best->variant.workload));
    json_object_object_add(use, "unit", json_object_new_string(best->unit));
    json_object_object_add(use, "cores", json_object_new_int((int)best->variant.cores));
    json_object_object_add(entry, "use", use);
    json_object_object_add(entry, "goal", json_object_new_string(q->goal == TUNE_JOULES ? "joules" : "seconds"));
    json_object_object_add(entry, "seconds", json_object_new_double(best->seconds));
    json_object_object_add(entry, "seconds_default", json_object_new_double(usual->seconds));
    json_object_object_add(entry, "joules", json_object_new_double(best->joules));
    json_object_object_add(entry, "joules_default", json_object_new_double(usual->joules));
    json_object_object_add(entry, "difference", json_object_new_double(best->error));
    json_object_object_add(entry, "tried", json_object_new_int64((int64_t)r->count));
    json_object_object_add(entry, "version", json_object_new_string(run_model_version()));
    return entry;
}

static bool is_same_request(json_object *a, json_object *b)
{
    static const char *const keys[] = {"workload", "asked_unit", "precision", "chip"};
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++)
        if (!json_object_equal(json_object_object_get(a, keys[i]), json_object_object_get(b, keys[i])))
            return false;
    return true;
}

json_object *tune_body_with(const char *body, json_object *entry)
{
    json_object *const old = body ? json_tokener_parse(body) : NULL, *const entries = json_peek(old, "entries", json_type_array);
    json_object *const whole = json_object_new_object(), *const list = json_object_new_array();
    for (size_t i = 0; entries && i < json_object_array_length(entries); i++) {
        json_object *const e = json_object_array_get_idx(entries, i);
        if (!is_same_request(e, entry))
            json_object_array_add(list, json_object_get(e));
    }
    json_object_array_add(list, json_object_get(entry));
    json_object_object_add(whole, "entries", list);
    json_object_put(old);
    return whole;
}
