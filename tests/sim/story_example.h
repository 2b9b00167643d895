/* The trained story teller (stories260K) that tests generate with. */
#ifndef ORCHARD_TESTS_SIM_STORY_EXAMPLE_H
#define ORCHARD_TESTS_SIM_STORY_EXAMPLE_H

#include "tests/sim/language/language_example.h"

#include <json-c/json.h>
#include <stdio.h>
#include <unistd.h>

/* The file of a type (q8_0 ...); NULL when it is neither here nor beside the checkout. Valid until the next golden or shared
 * path. */
static inline const char *example_story(const char *type)
{
    char name[128];
    snprintf(name, sizeof name, "language/stories260K/stories260K-%s.gguf", type);
    if (access(suite_golden(name), R_OK) == 0)
        return suite_golden(name);
    snprintf(name, sizeof name, "models/llm/stories260K/stories260K-%s.gguf", type);
    return suite_shared(name);
}

/* What was computed elsewhere for a prompt; put the document in the end. */
static inline json_object *golden_prompt(const char *type, const char *id, json_object **document)
{
    char name[128];
    struct example_file text;
    snprintf(name, sizeof name, "stories260K/golden/%s.json", type);
    CU_ASSERT_TRUE_FATAL(example_golden(name, &text));
    *document = json_tokener_parse((char *)text.bytes);
    free(text.bytes);
    json_object *const list = json_object_object_get(*document, "prompts");
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        json_object *const p = json_object_array_get_idx(list, i);
        if (strcmp(json_object_get_string(json_object_object_get(p, "id")), id) == 0)
            return p;
    }
    CU_FAIL_FATAL("no such prompt");
    return NULL;
}

static inline bool same_numbers(json_object *a, json_object *b)
{
    const size_t count = json_object_array_length(a);
    bool same = count == json_object_array_length(b);
    for (size_t i = 0; same && i < count; i++)
        same = json_object_get_int(json_object_array_get_idx(a, i)) == json_object_get_int(json_object_array_get_idx(b, i));
    return same;
}

#endif
