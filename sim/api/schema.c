#include "sim/api/schema.h"

#include "isa/array_count.h"
#include "sim/api/schema_keys.inc"
#include "sim/base/run_result.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 160 };

static const struct schema_key {
    const char *document, *path, *type, *unit, *text;
} keys[] = {
#define X(document, path, type, unit, text) {#document, path, #type, unit, text},
    SCHEMA_KEYS(X)
#undef X
};

/* What a document is, and the one whose keys it has besides its own. */
static const struct {
    const char *name, *text, *includes;
} documents[] = {
    {"run", "orchard run --json: one run; several chips or units give a list of them", NULL},
    {"sweep", "orchard sweep --json", NULL},
    {"validate", "orchard validate --json; errors are shares: 0.1 is 10 %", "score"},
    {"compare", "orchard compare A B --json", NULL},
    {"compare_several", "orchard compare A B C ... --json", NULL},
    {"check", "the check verbs (isa, kernel, model, thermal) --json", NULL},
    {"score", "how well predictions meet measurements: a part of validate", NULL},
};

const char *schema_name_at(size_t index)
{
    return index < ARRAY_COUNT(documents) ? documents[index].name : NULL;
}

static void put_text(json_object *to, const char *key, const char *text)
{
    json_object_object_add(to, key, json_object_new_string(text));
}

static json_object *child(json_object *of, const char *key, bool list)
{
    json_object *found;
    if (json_object_object_get_ex(of, key, &found))
        return found;
    found = list ? json_object_new_array() : json_object_new_object();
    json_object_object_add(of, key, found);
    return found;
}

/* The keywords of a value: "type" as JSON has it, null where it may stand there. */
static void put_type(json_object *to, const char *type)
{
    const bool none = strstr(type, "_NONE") != NULL;
    const char *const plain = strncmp(type, "NUMBER", 6) == 0  ? "number"
                              : strncmp(type, "COUNT", 5) == 0 ? "integer"
                              : strncmp(type, "TEXT", 4) == 0  ? "string"
                                                               : "boolean";
    if (strcmp(type, "ANY") == 0)
        return;
    if (strncmp(type, "SAME(", 5) == 0) {
        char reference[64];
        snprintf(reference, sizeof reference, "#/$defs/%.*s", (int)strcspn(type + 5, ")"), type + 5);
        put_text(to, "$ref", reference);
    } else if (strcmp(type, "NUMBERS") == 0) {
        put_text(to, "type", "object");
        put_type(child(to, "additionalProperties", false), "NUMBER_NONE");
    } else if (strcmp(type, "TEXTS") == 0) {
        put_text(to, "type", "array");
        put_type(child(to, "items", false), "TEXT");
    } else if (none) {
        json_object *const types = child(to, "type", true);
        json_object_array_add(types, json_object_new_string(plain));
        json_object_array_add(types, json_object_new_string("null"));
    } else {
        put_text(to, "type", plain);
    }
}

/* The object below which members are named; closes it for others. */
static void open_object(json_object *o)
{
    put_text(o, "type", "object");
    if (!json_object_object_get_ex(o, "additionalProperties", NULL))
        json_object_object_add(o, "additionalProperties", json_object_new_boolean(false));
}

static json_object *member(json_object *o, const char *name, bool optional)
{
    json_object *found, *const properties = child(o, "properties", false);
    open_object(o);
    if (json_object_object_get_ex(properties, name, &found))
        return found;
    if (!optional)
        json_object_array_add(child(o, "required", true), json_object_new_string(name));
    return child(properties, name, false);
}

/* Leads to the place of a path, making what is missing on the way. */
static json_object *place_of(json_object *at, const char *path)
{
    while (*path) {
        char step[PATH_SIZE];
        const size_t length = strcspn(path, ".");
        snprintf(step, sizeof step, "%.*s", (int)length, path);
        path += length + (path[length] == '.');
        const size_t name = strcspn(step, "?[");
        const bool optional = strchr(step, '?') != NULL, list = strstr(step, "[]") != NULL;
        step[name] = 0;
        if (strcmp(step, "*") == 0) {
            put_text(at, "type", "object");
            json_object *free_names;
            if (!json_object_object_get_ex(at, "additionalProperties", &free_names) ||
                !json_object_is_type(free_names, json_type_object))
                json_object_object_add(at, "additionalProperties", json_object_new_object());
            at = child(at, "additionalProperties", false);
        } else {
            at = member(at, step, optional);
        }
        if (list) {
            put_text(at, "type", "array");
            at = child(at, "items", false);
        }
    }
    return at;
}

static void add_key(json_object *to, const char *path, const char *type, const char *unit, const char *text)
{
    json_object *const at = place_of(to, path);
    put_type(at, type);
    put_text(at, "description", text);
    if (*unit)
        put_text(at, "unit", unit);
}

static void add_keys(json_object *to, const char *document)
{
    for (size_t i = 0; strcmp(document, "run") == 0 && i < run_text_field_count(); i++)
        add_key(to, run_text_field(i)->name, "TEXT_NONE", "", run_text_field(i)->definition);
    for (size_t i = 0; strcmp(document, "run") == 0 && i < run_number_field_count(); i++)
        add_key(to, run_number_field(i)->name, "NUMBER_NONE", run_number_field(i)->unit, run_number_field(i)->definition);
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++)
        if (strcmp(keys[i].document, document) == 0)
            add_key(to, keys[i].path, keys[i].type, keys[i].unit, keys[i].text);
}

/* Documents that keys of this one refer to. */
static void add_definitions(json_object *to, const char *document, const char *own)
{
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        if (strcmp(keys[i].document, document) != 0 || strncmp(keys[i].type, "SAME(", 5) != 0)
            continue;
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(keys[i].type + 5, ")"), keys[i].type + 5);
        json_object *const definitions = child(to, "$defs", false);
        if (json_object_object_get_ex(definitions, name, NULL))
            continue;
        add_keys(child(definitions, name, false), name);
        if (strcmp(name, own) != 0)
            add_definitions(to, name, own);
    }
}

json_object *schema_of(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(documents); i++) {
        if (strcmp(documents[i].name, name) != 0)
            continue;
        char title[64];
        json_object *const schema = json_object_new_object();
        snprintf(title, sizeof title, "orchard %s", name);
        put_text(schema, "$schema", "https://json-schema.org/draft/2020-12/schema");
        put_text(schema, "title", title);
        put_text(schema, "description", documents[i].text);
        if (documents[i].includes)
            add_keys(schema, documents[i].includes);
        add_keys(schema, name);
        add_definitions(schema, name, name);
        return schema;
    }
    return NULL;
}
