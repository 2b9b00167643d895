/* The verb schema: what the keys of documents mean. */
#include "sim/api/api.h"
#include "sim/api/schema.h"
#include "sim/base/suggest.h"

#include <string.h>

static int unknown(struct api_context *context, const char *name)
{
    struct orch_error error = {0};
    struct suggest s;
    char hint[96];
    suggest_start(&s, name);
    for (size_t i = 0; schema_name_at(i); i++)
        suggest_offer(&s, schema_name_at(i));
    orch_fail(&error, ORCH_USAGE, "no document is called '%.60s'%s (", name, suggest_phrase(&s, hint, sizeof hint));
    for (size_t i = 0; schema_name_at(i); i++)
        orch_fail_more(&error, "%s%s", i ? "|" : "", schema_name_at(i));
    orch_fail_more(&error, ")");
    return api_fail(context, &error);
}

/* A document has one form alone, JSON: it is also what a person gets. */
static int show(struct api_context *context, const char *name)
{
    json_object *const schema = schema_of(name);
    if (!schema)
        return unknown(context, name);
    if (api_wants_text(context))
        fprintf(context->out, "%s\n",
                json_object_to_json_string_ext(schema, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
    if (api_wants_document(context))
        api_document(context, json_object_get(schema));
    json_object_put(schema);
    return ORCH_OK;
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    if (words > 1)
        return api_usage(context, "one document, got '%s' and more", word[0]);
    if (words == 1)
        return show(context, word[0]);
    json_object *const names = json_object_new_array();
    for (size_t i = 0; schema_name_at(i); i++) {
        json_object_array_add(names, json_object_new_string(schema_name_at(i)));
        if (api_wants_text(context))
            fprintf(context->out, "%s\n", schema_name_at(i));
    }
    if (api_wants_document(context))
        api_document(context, names);
    else
        json_object_put(names);
    return ORCH_OK;
}

const struct api_verb verb_schema = {
    .help =
        {
            .name = "schema",
            .synopsis = "[DOCUMENT]",
            .summary = "the JSON schema of a document: every key with type, unit and meaning",
            .text = "DOCUMENT is run, sweep, validate, compare or check: what these verbs print with --json.\n"
                    "The schema is of draft 2020-12; units stand in the keyword \"unit\".",
            .examples = "orchard schema run\n"
                        "orchard schema",
        },
    .ask = ask,
};
