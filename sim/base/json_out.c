#include "sim/base/json_out.h"

#include <math.h>
#include <string.h>

static json_object *rounded(double number, int digits)
{
    if (!isfinite(number))
        return NULL;
    char text[40];
    snprintf(text, sizeof text, "%.*g", digits, number);
    return json_object_new_double_s(number, text);
}

json_object *json_number(double number)
{
    return rounded(number, 10);
}

json_object *json_exact_number(double number)
{
    char text[32];
    if (isnan(number))
        return NULL;
    snprintf(text, sizeof text, "%.17g", number);
    if (isinf(number))
        snprintf(text, sizeof text, "%s", number > 0 ? "1e999" : "-1e999");
    return json_object_new_double_s(number, text);
}

void json_add_number(json_object *object, const char *name, double number)
{
    json_object_object_add(object, name, json_number(number));
}

void json_add_digits(json_object *object, const char *name, double number, int digits)
{
    json_object_object_add(object, name, rounded(number, digits));
}

void json_add_all_digits(json_object *object, const char *name, double number)
{
    json_object_object_add(object, name, isfinite(number) ? json_object_new_double(number) : NULL);
}

void json_add_count(json_object *object, const char *name, uint64_t count)
{
    json_object_object_add(object, name, json_object_new_uint64(count));
}

void json_add_bool(json_object *object, const char *name, bool value)
{
    json_object_object_add(object, name, json_object_new_boolean(value));
}

void json_add_text(json_object *object, const char *name, const char *text)
{
    json_object_object_add(object, name, text ? json_object_new_string(text) : NULL);
}

void json_add_null(json_object *object, const char *name)
{
    json_object_object_add(object, name, NULL);
}

void json_add_hash(json_object *object, const char *name, uint64_t hash)
{
    char text[24];
    snprintf(text, sizeof text, "0x%016llx", (unsigned long long)hash);
    json_add_text(object, name, text);
}

void json_print(json_object *object, FILE *out)
{
    fprintf(out, "%s\n", json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(object);
}

char *json_line(json_object *object)
{
    const char *const text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    char *const copy = text ? strdup(text) : NULL;
    json_object_put(object);
    return copy;
}
