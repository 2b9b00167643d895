#include "sim/workload/gpu/abi_json.h"

#include "sim/base/suggest.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 16

static unsigned long line_of(const char *text, size_t at)
{
    unsigned long line = 1;
    for (size_t i = 0; i < at; i++)
        line += text[i] == '\n';
    return line;
}

bool abi_json_parse(const char *file, const char *text, size_t size, struct json_object **document, struct orch_error *error)
{
    *document = NULL;
    if (size > INT32_MAX)
        return orch_fail(error, ORCH_USAGE, "%.300s: larger than 2 GiB; this is no launch description", file);
    struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
    if (!tokener)
        return orch_no_memory(error);
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    *document = json_tokener_parse_ex(tokener, text, (int)size);
    const enum json_tokener_error code = json_tokener_get_error(tokener);
    const size_t at = json_tokener_get_parse_end(tokener);
    json_tokener_free(tokener);
    bool ok = true;
    if (code == json_tokener_continue)
        ok = orch_fail(error, ORCH_USAGE, "%.300s:%lu: the JSON text ends too early", file, line_of(text, size));
    else if (code != json_tokener_success)
        ok = orch_fail(error, ORCH_USAGE, "%.300s:%lu: %s", file, line_of(text, at), json_tokener_error_desc(code));
    else if (!json_object_is_type(*document, json_type_object))
        ok = orch_fail(error, ORCH_USAGE, "%.300s: expected a JSON object that describes a launch", file);
    if (!ok) {
        json_object_put(*document);
        *document = NULL;
    }
    return ok;
}

bool abi_wrong(const struct abi_node *node, const char *member, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *dot = node->place[0] && member ? "." : "";
    const char *colon = node->place[0] || member ? ": " : "";
    return orch_fail(node->error, ORCH_USAGE, "%.200s: %s%s%s%s%s", node->file, node->place, dot, member ? member : "", colon,
                     text);
}

struct json_object *abi_member(const struct abi_node *node, const char *member)
{
    struct json_object *value = NULL;
    return node->object && json_object_object_get_ex(node->object, member, &value) ? value : NULL;
}

bool abi_whole(const struct abi_node *node, const char *member, uint64_t lowest, uint64_t highest, uint64_t *value)
{
    struct json_object *o = abi_member(node, member);
    if (!o)
        return true;
    /* json-c keeps numbers beyond 64 bits at the nearest end. */
    const bool negative = json_object_get_int64(o) < 0;
    const uint64_t number = json_object_get_uint64(o);
    if (!json_object_is_type(o, json_type_int) || negative || number < lowest || number > highest)
        return abi_wrong(node, member, "expected a whole number from %llu to %llu, got %.60s", (unsigned long long)lowest,
                         (unsigned long long)highest, json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
    *value = number;
    return true;
}

bool abi_whole32(const struct abi_node *node, const char *member, uint32_t lowest, uint32_t highest, uint32_t *value)
{
    uint64_t wide = *value;
    if (!abi_whole(node, member, lowest, highest, &wide))
        return false;
    *value = (uint32_t)wide;
    return true;
}

bool abi_real(const struct abi_node *node, const char *member, double *value)
{
    struct json_object *o = abi_member(node, member);
    if (!o)
        return true;
    if (!json_object_is_type(o, json_type_double) && !json_object_is_type(o, json_type_int))
        return abi_wrong(node, member, "expected a number, got %.60s", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
    *value = json_object_is_type(o, json_type_int) && json_object_get_int64(o) >= 0 ? (double)json_object_get_uint64(o)
                                                                                    : json_object_get_double(o);
    return true;
}

bool abi_text(const struct abi_node *node, const char *member, const char **value)
{
    struct json_object *o = abi_member(node, member);
    if (!o)
        return true;
    if (!json_object_is_type(o, json_type_string) || strlen(json_object_get_string(o)) != (size_t)json_object_get_string_len(o))
        return abi_wrong(node, member, "expected a text in quotes");
    *value = json_object_get_string(o);
    return true;
}

bool abi_object(const struct abi_node *node, const char *member, struct abi_node *child)
{
    *child = (struct abi_node){.object = abi_member(node, member), .file = node->file, .error = node->error};
    snprintf(child->place, sizeof child->place, "%.20s%s%.40s", node->place, node->place[0] ? "." : "", member);
    if (child->object && !json_object_is_type(child->object, json_type_object))
        return abi_wrong(node, member, "expected an object { ... }");
    return true;
}

bool abi_array(const struct abi_node *node, const char *member, struct json_object **array)
{
    *array = abi_member(node, member);
    if (*array && !json_object_is_type(*array, json_type_array))
        return abi_wrong(node, member, "expected a list [ ... ]");
    return true;
}

bool abi_required(const struct abi_node *node, const char *member, const char *fix)
{
    return abi_member(node, member) ? true : abi_wrong(node, member, "is missing; %s", fix);
}

bool abi_no_misspelling(const struct abi_node *node, const char *const *known, size_t count)
{
    json_object_object_foreach(node->object, name, value)
    {
        struct suggest s;
        bool is_known = false;
        (void)value;
        suggest_start(&s, name);
        for (size_t i = 0; i < count && !is_known; i++) {
            is_known = strcmp(known[i], name) == 0;
            suggest_offer(&s, known[i]);
        }
        if (!is_known && suggest_best(&s))
            return abi_wrong(node, NULL, "unknown member \"%.40s\"; did you mean \"%s\"?", name, suggest_best(&s));
    }
    return true;
}
