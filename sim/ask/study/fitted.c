#include "sim/ask/study/fitted.h"

#include "sim/base/json_read.h"

#include <stdlib.h>
#include <string.h>

static bool fitted_parse(struct fitted_set *set, const char *name, const char *hash, const char *body, struct orch_error *error)
{
    *set = (struct fitted_set){.name = strdup(name), .body = json_tokener_parse(body)};
    set->calibrated = json_peek(set->body, "chips", json_type_object) != NULL;
    const bool ok = set->name && (set->calibrated || json_peek(set->body, "entries", json_type_array));
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
    return json_peek(json_peek(set->body, "chips", json_type_object), chip_id, json_type_object);
}

/* Whether a calibrated set has values for the chip. */
static bool fitted_has_chip(const struct fitted_set *set, const char *chip_id)
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

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static json_object *entry_for(const struct fitted_set *set, const char *chip_id, const struct run_request *q)
{
    json_object *const entries = json_peek(set->body, "entries", json_type_array);
    const char *const unit = q->unit && strcmp(q->unit, "auto") != 0 ? q->unit : NULL;
    for (size_t i = 0; entries && i < json_object_array_length(entries); i++) {
        json_object *const e = json_object_array_get_idx(entries, i);
        if (same(json_peek_string(e, "workload"), q->workload) && same(json_peek_string(e, "chip"), chip_id) &&
            same(json_peek_string(e, "precision"), q->precision) && same(json_peek_string(e, "asked_unit"), unit))
            return json_peek(e, "use", json_type_object);
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
    q->workload = json_peek_string(use, "workload");
    q->unit = json_peek_string(use, "unit");
    q->cores = (unsigned)json_peek_number(use, "cores", 0);
}
