#include "sim/ask/study/fitted.h"

#include <stdlib.h>
#include <string.h>

bool fitted_parse(struct fitted_set *set, const char *name, const char *hash, const char *body, struct orch_error *error)
{
    *set = (struct fitted_set){.name = strdup(name), .body = json_tokener_parse(body)};
    json_object *const entries = json_object_object_get(set->body, "entries"), *const chips =
                                                                                   json_object_object_get(set->body, "chips");
    set->calibrated = json_object_is_type(chips, json_type_object);
    const bool ok = set->name && (set->calibrated || json_object_is_type(entries, json_type_array));
    snprintf(set->label, sizeof set->label, "%s %.80s %s", set->calibrated ? "calibrated" : "tuned", name, hash);
    if (ok)
        return true;
    fitted_close(set);
    return orch_fail(error, ORCH_USAGE, "fitted set '%.80s': its body has neither entries nor chips", name);
}

bool fitted_open(struct orch_db *db, const char *name, struct fitted_set *set, struct orch_error *error)
{
    char *body = NULL, hash[DB_HASH_SIZE];
    *set = (struct fitted_set){0};
    const bool ok = db_get_fitted_set(db, name, &body, hash, error) &&
                    (fitted_parse(set, name, hash, body, error) || db_content_fail(db, "fitted_set", error));
    free(body);
    return ok;
}

const char *fitted_hash(const struct fitted_set *set)
{
    return strrchr(set->label, ' ') + 1;
}

void fitted_close(struct fitted_set *set)
{
    free(set->name);
    json_object_put(set->body);
    *set = (struct fitted_set){0};
}

/* ---- calibrated: values of chips ---- */

static json_object *values_of(const struct fitted_set *set, const char *chip_id)
{
    return json_object_object_get(json_object_object_get(set->body, "chips"), chip_id);
}

bool fitted_has_chip(const struct fitted_set *set, const char *chip_id)
{
    return values_of(set, chip_id) != NULL;
}

static char *override_text(const char *key, json_object *value)
{
    const char *const json = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
    const size_t size = strlen(key) + strlen(json) + 2;
    char *const text = malloc(size);
    if (text)
        snprintf(text, size, "%s=%s", key, json);
    return text;
}

bool fitted_sets_make(const struct fitted_set *set, const char *chip_id, const struct chip_overrides *given,
                      struct fitted_sets *sets, struct orch_error *error)
{
    json_object *const values = values_of(set, chip_id);
    const size_t own = values ? (size_t)json_object_object_length(values) : 0, others = given ? given->count : 0;
    *sets =
        (struct fitted_sets){.text = calloc(own + others + 1, sizeof *sets->text), .owned = calloc(own + 1, sizeof *sets->owned)};
    bool ok = sets->text && sets->owned;
    if (ok && values) {
        json_object_object_foreach(values, key, value)
        {
            sets->owned[sets->count] = override_text(key, value);
            ok = ok && sets->owned[sets->count];
            sets->text[sets->count] = sets->owned[sets->count];
            sets->count += ok;
        }
    }
    for (size_t i = 0; ok && i < others; i++)
        sets->text[own + i] = given->text[i];
    sets->overrides = (struct chip_overrides){sets->text, own + others};
    if (ok)
        return true;
    fitted_sets_free(sets);
    return orch_no_memory(error);
}

void fitted_sets_free(struct fitted_sets *sets)
{
    for (size_t i = 0; i < sets->count; i++)
        free(sets->owned[i]);
    free(sets->owned);
    free(sets->text);
    *sets = (struct fitted_sets){0};
}

/* ---- tuned: choices of kernels ---- */

static const char *text_of(json_object *o, const char *key)
{
    return json_object_get_string(json_object_object_get(o, key));
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static json_object *entry_for(const struct fitted_set *set, const char *chip_id, const struct run_request *q)
{
    json_object *const entries = json_object_object_get(set->body, "entries");
    const char *const unit = q->unit && strcmp(q->unit, "auto") != 0 ? q->unit : NULL;
    for (size_t i = 0; entries && i < json_object_array_length(entries); i++) {
        json_object *const e = json_object_array_get_idx(entries, i);
        if (same(text_of(e, "workload"), q->workload) && same(text_of(e, "chip"), chip_id) &&
            same(text_of(e, "precision"), q->precision) && same(text_of(e, "asked_unit"), unit))
            return json_object_object_get(e, "use");
    }
    return NULL;
}

void fitted_apply(const struct fitted_set *set, const char *chip_id, struct run_request *q, bool *used)
{
    json_object *const use = set->calibrated ? NULL : entry_for(set, chip_id, q);
    q->fitted = set->label;
    *used = set->calibrated ? fitted_has_chip(set, chip_id) : use != NULL;
    if (!use)
        return;
    q->workload = text_of(use, "workload");
    q->unit = text_of(use, "unit");
    q->cores = (unsigned)json_object_get_int(json_object_object_get(use, "cores"));
}
