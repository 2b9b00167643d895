/* Members of documents that are not checked. */
#include "sim/base/json_read.h"

json_object *json_peek_any(json_object *object, const char *name)
{
    json_object *value = NULL;
    return json_object_is_type(object, json_type_object) && json_object_object_get_ex(object, name, &value) ? value : NULL;
}

json_object *json_peek(json_object *object, const char *name, enum json_type type)
{
    json_object *const value = json_peek_any(object, name);
    return json_object_is_type(value, type) ? value : NULL;
}

const char *json_peek_string(json_object *object, const char *name)
{
    json_object *const value = json_peek(object, name, json_type_string);
    return value ? json_object_get_string(value) : NULL;
}

double json_peek_number(json_object *object, const char *name, double absent)
{
    json_object *const value = json_peek_any(object, name);
    switch (json_object_get_type(value)) {
    case json_type_int:
    case json_type_double:
    case json_type_string: return json_object_get_double(value);
    default: return absent;
    }
}
