/* Which claims of the table are asked about. */
#define _GNU_SOURCE /* memmem */
#include "sim/report/claims_internal.h"

#include <string.h>

/* Whether a member has one of the texts of a list, between commas, in it. */
static bool has_one(json_object *row, const char *name, const char *list)
{
    json_object *value = NULL;
    const char *const text = json_object_object_get_ex(row, name, &value) ? json_object_get_string(value) : NULL;
    for (const char *at = list; text && *at; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        if (length && memmem(text, strlen(text), at, length))
            return true;
        at += length;
    }
    return false;
}

json_object *claims_wanted(json_object *list, const char *only)
{
    json_object *const kept = json_object_new_array();
    for (size_t i = 0; json_object_is_type(list, json_type_array) && i < json_object_array_length(list); i++) {
        json_object *const row = json_object_array_get_idx(list, i);
        if (!only || has_one(row, "topic", only) || has_one(row, "claim", only))
            json_object_array_add(kept, json_object_get(row));
    }
    return kept;
}
