/* What tuning leaves behind: entries of a fitted set. */
#include "isa/array_count.h"
#include "sim/ask/tune/tune.h"
#include "sim/base/json_out.h"
#include "sim/base/json_read.h"
#include "sim/run/run_version.h"

#include <string.h>

static bool is_auto(const char *unit)
{
    return !unit || strcmp(unit, "auto") == 0;
}

json_object *tune_entry(const struct tune_request *q, const struct tune_result *r)
{
    const struct tune_trial *const best = &r->trial[r->best], *const usual = &r->trial[r->usual];
    json_object *const entry = json_object_new_object(), *const use = json_object_new_object();
    json_add_text(entry, "workload", q->workload);
    json_add_text(entry, "asked_unit", is_auto(q->unit) ? NULL : q->unit);
    json_add_text(entry, "precision", q->precision);
    json_add_text(entry, "chip", q->chip);
    json_add_text(use, "workload", best->variant.workload);
    json_add_text(use, "unit", best->unit);
    json_add_count(use, "cores", best->variant.cores);
    json_object_object_add(entry, "use", use);
    json_add_text(entry, "goal", q->goal == TUNE_JOULES ? "joules" : "seconds");
    json_add_all_digits(entry, "seconds", best->seconds);
    json_add_all_digits(entry, "seconds_default", usual->seconds);
    json_add_all_digits(entry, "joules", best->joules);
    json_add_all_digits(entry, "joules_default", usual->joules);
    json_add_all_digits(entry, "difference", best->error);
    json_add_count(entry, "tried", r->count);
    json_add_text(entry, "version", run_model_version());
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
