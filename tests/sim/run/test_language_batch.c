/* Several prompts at the same time on values: each says what it says alone, on every unit, however many generate side by side,
 * and whoever joins late. */
#include "isa/array_count.h"
#include "sim/run/language_options.h"
#include "tests/sim/run_example.h"
#include "tests/sim/story_example.h"

#include <json-c/json.h>
#include <stdlib.h>

static struct chip_db *db;

enum { PROMPTS = 4, TOKENS = 12 };
static const char *const prompt[PROMPTS] = {"Once upon a time, a dog", "The sun was", "Tom and Sue went to the park. They",
                                            "One"};

static struct outcome tell(const char *type, const char *unit, const struct language_options *options)
{
    return run_on(db, "m1", example_story(type), (struct run_request){.unit = unit, .language = options, .seed = 3});
}

static json_object *tokens_of(const struct outcome *o)
{
    return o->ok ? json_tokener_parse(o->result.generation) : NULL;
}

/* Compares with each prompt alone; sums up how long these take. */
static double check_sequences(const char *type, const char *unit, const struct language_options *batch, json_object *got)
{
    json_object *const list = json_object_object_get(got, "sequences");
    double seconds = 0;
    CHECK(list != NULL && json_object_array_length(list) == PROMPTS, "%s on %s: sequences", type, unit);
    for (size_t i = 0; list && i < PROMPTS; i++) {
        struct language_options one = *batch;
        one.prompts = NULL;
        one.sequences = 0;
        one.prompt_text = prompt[i];
        struct outcome alone = tell(type, unit, &one);
        json_object *const said = tokens_of(&alone), *const here = json_object_array_get_idx(list, i);
        static const char *const keys[] = {"prompt_tokens", "tokens", "text", "stop"};
        for (size_t k = 0; said && k < ARRAY_COUNT(keys); k++)
            CHECK(json_object_equal(json_object_object_get(said, keys[k]), json_object_object_get(here, keys[k])),
                  "%s on %s, %u side by side, prompt %zu: %s", type, unit, batch->sequences, i + 1,
                  json_object_to_json_string(here));
        CHECK(said != NULL, "%s", alone.error.text);
        seconds += alone.result.seconds;
        json_object_put(said);
        run_result_free(&alone.result);
    }
    return seconds;
}

static void write_prompts(const char *path)
{
    FILE *const f = fopen(path, "w");
    CHECK(f != NULL, "%s", path);
    for (size_t i = 0; f && i < PROMPTS; i++)
        fprintf(f, "%s\n%s", prompt[i], i == 1 ? "\n" : ""); /* an empty line is none */
    if (f)
        fclose(f);
}

static void test_same_tokens(void)
{
    static const struct {
        const char *type, *unit;
        unsigned sequences;
        double temperature;
    } ways[] = {{"f32", "cpu", 2, 0}, {"q4_0", "amx", 3, 0.8}, {"q8_0", "gpu", 4, 0}, {"f16", "ane", 3, 0}};
    char folder[] = "/tmp/orchard-batch-XXXXXX", path[64];
    CHECK(mkdtemp(folder) != NULL, "a folder");
    snprintf(path, sizeof path, "%s/prompts.txt", folder);
    write_prompts(path);
    for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
        const struct language_options options = {
            .prompts = path,
            .sequences = ways[i].sequences,
            .generate = TOKENS,
            .sampling = {.repetition_penalty = 1, .temperature = ways[i].temperature, .top_k = 8}};
        if (!example_story(ways[i].type)) /* not here */
            continue;
        struct outcome o = tell(ways[i].type, ways[i].unit, &options);
        json_object *const got = tokens_of(&o);
        CHECK(got != NULL, "%s", o.error.text);
        const double alone = check_sequences(ways[i].type, ways[i].unit, &options, got);
        if (got && i > 0) /* cores gain nothing: the weights are in their caches */
            CHECK(o.result.seconds < alone, "%s on %s: %g s side by side, %g s one after another", ways[i].type, ways[i].unit,
                  o.result.seconds, alone);
        CHECK(counter(&o, LANGUAGE_PASSES) < PROMPTS * (TOKENS - 1), "%g passes", counter(&o, LANGUAGE_PASSES));
        json_object_put(got);
        run_result_free(&o.result);
    }
    CHECK(suite_remove(folder), "%s stays", folder);
}

static void check_refused(const struct language_options *options, const char *text)
{
    struct outcome o = tell("f16", "cpu", options);
    CHECK(!o.ok && o.error.exit_code == ORCH_USAGE && strstr(o.error.text, text), "%s: %s", text, o.error.text);
    run_result_free(&o.result);
}

static void test_refused(void)
{
    char folder[] = "/tmp/orchard-batch-XXXXXX", path[64], empty[64], bad[64];
    if (!example_story("f16"))
        return;
    CHECK(mkdtemp(folder) != NULL, "a folder");
    snprintf(path, sizeof path, "%s/prompts.txt", folder);
    snprintf(empty, sizeof empty, "%s/empty.txt", folder);
    snprintf(bad, sizeof bad, "%s/bad.txt", folder);
    write_prompts(path);
    fclose(fopen(empty, "w"));
    FILE *const f = fopen(bad, "w");
    fputs("good\nb\xff\n", f);
    fclose(f);
    check_refused(&(struct language_options){.prompts = "/nowhere/prompts", .generate = 4}, "No such file");
    check_refused(&(struct language_options){.prompts = empty, .generate = 4}, "no prompt");
    check_refused(&(struct language_options){.prompts = bad, .generate = 4}, "line 2 has no UTF-8 at byte 1");
    check_refused(&(struct language_options){.prompts = path, .prompt_text = "and", .generate = 4}, "of one prompt");
    check_refused(&(struct language_options){.sequences = 2, .prompt_text = "and", .generate = 4}, "several prompts");
    check_refused(&(struct language_options){.prompts = path, .generate = 10000}, "do not fit the context");
    CHECK(suite_remove(folder), "%s stays", folder);
}

static const struct suite_test tests[] = {{"each says what it says alone", test_same_tokens}, {"what is refused", test_refused}};

int main(void)
{
    return example_chips_run("language_batch", tests, ARRAY_COUNT(tests), &db);
}
