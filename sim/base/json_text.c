#include "sim/base/json_text.h"

enum { JSON_DEPTH = 16 };

static unsigned long line_of(const char *text, size_t offset)
{
    unsigned long line = 1;
    for (size_t i = 0; i < offset; i++)
        line += text[i] == '\n';
    return line;
}

json_object *json_text_parse(const char *stem, const char *text, size_t size, struct orch_error *error)
{
    if (size == 0 || size > 1 << 24) {
        orch_fail(error, ORCH_USAGE, "%s.json: %s", stem, size ? "larger than 16 MiB" : "empty file");
        return NULL;
    }
    json_tokener *tokener = json_tokener_new_ex(JSON_DEPTH);
    if (!tokener) {
        orch_no_memory(error);
        return NULL;
    }
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    json_object *root = json_tokener_parse_ex(tokener, text, (int)size);
    const enum json_tokener_error why = json_tokener_get_error(tokener);
    if (why != json_tokener_success || !json_object_is_type(root, json_type_object)) {
        orch_fail(error, ORCH_USAGE, "%s.json:%lu: %s", stem, line_of(text, json_tokener_get_parse_end(tokener)),
                  why == json_tokener_success    ? "expected an object"
                  : why == json_tokener_continue ? "ends in the middle"
                                                 : json_tokener_error_desc(why));
        json_object_put(root);
        root = NULL;
    }
    json_tokener_free(tokener);
    return root;
}
