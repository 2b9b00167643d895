/* The list of values that were taken from measured rows or chosen over them, with these rows. */
#include "sim/base/json_out.h"
#include "sim/prove/validate/fitted.h"
#include "sim/prove/validate/validation.h"

#include <stdlib.h>
#include <string.h>

static bool names_row(const struct fitted_value *value, const struct validate_row *row)
{
    for (size_t i = 0; i < value->rows; i++)
        if (fitted_names(value->row[i], row))
            return true;
    return false;
}

static json_object *rows_of(const struct validation *v, const struct fitted_value *value)
{
    json_object *const list = json_object_new_array();
    for (size_t i = 0; i < v->rows; i++)
        if (names_row(value, &v->row[i]))
            json_object_array_add(list, json_object_new_string(v->row[i].id));
    return list;
}

static json_object *value_json(const struct validation *v, const struct fitted_value *value)
{
    json_object *const o = json_object_new_object(), *const on = json_object_new_array();
    json_add_text(o, "key", value->key);
    json_add_text(o, "where", value->where);
    json_add_text(o, "value", value->value);
    json_add_text(o, "decides", value->interval ? "intervals" : "predictions");
    for (size_t i = 0; i < value->rows; i++)
        json_object_array_add(on, json_object_new_string(value->row[i]));
    json_object_object_add(o, "fitted_on", on);
    json_object_object_add(o, "rows", rows_of(v, value));
    return o;
}

static size_t count_taken(const struct validation *v)
{
    size_t count = 0;
    for (size_t i = 0; i < v->rows; i++)
        count += fitted_list_key(v->fitted, &v->row[i]) != NULL;
    return count;
}

json_object *validation_fitted_json(const struct validation *v)
{
    json_object *const o = json_object_new_object(), *const list = json_object_new_array();
    for (size_t i = 0; i < fitted_list_count(v->fitted); i++)
        json_object_array_add(list, value_json(v, fitted_list_at(v->fitted, i)));
    json_add_count(o, "rows", v->rows);
    json_add_count(o, "fitted_rows", count_taken(v));
    json_object_object_add(o, "values", list);
    return o;
}

static void print_value(const struct validation *v, const struct fitted_value *value, FILE *out)
{
    enum { SHOWN = 6, LONGEST = 32 };
    json_object *const rows = rows_of(v, value);
    const size_t count = json_object_array_length(rows);
    fprintf(out, "%s = %.*s%s (%s)%s: ", value->key, LONGEST, value->value, strlen(value->value) > LONGEST ? "..." : "",
            value->where, value->interval ? ", intervals only" : "");
    fprintf(out, "%zu row%s", count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count && i < SHOWN; i++)
        fprintf(out, "%s %s", i ? "," : ":", json_object_get_string(json_object_array_get_idx(rows, i)));
    fputs(count > SHOWN ? ", ...\n" : "\n", out);
    json_object_put(rows);
}

void validation_write_fitted(const struct validation *v, FILE *out)
{
    for (size_t i = 0; i < fitted_list_count(v->fitted); i++)
        print_value(v, fitted_list_at(v->fitted, i), out);
    fprintf(out, "\n%zu values; %zu of %zu rows count as fitted\n", fitted_list_count(v->fitted), count_taken(v), v->rows);
}
