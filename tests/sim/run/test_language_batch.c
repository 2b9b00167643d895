/* Several prompts at the same time on values: each says what it says alone, on every unit, however many generate side by side,
 * whoever joins late, and whether they begin together. */
#include "isa/array_count.h"
#include "sim/run/language/language_options.h"
#include "tests/sim/run_example.h"
#include "tests/sim/story_example.h"

#include <json-c/json.h>
#include <math.h>
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

/* What each prompt says alone; returns how long these take together. */
static double tell_alone(const char *type, const char *unit, const struct language_options *batch, json_object *said[PROMPTS])
{
    double seconds = 0;
    for (size_t i = 0; i < PROMPTS; i++) {
        struct language_options one = *batch;
        one.prompts = NULL;
        one.prompt_text = prompt[i];
        struct outcome alone = tell(type, unit, &one);
        said[i] = tokens_of(&alone);
        CHECK(said[i] != NULL, "%s", alone.error.text);
        seconds += alone.result.seconds;
        run_result_free(&alone.result);
    }
    return seconds;
}

static void check_sequences(const char *type, const char *unit, const struct language_options *batch, json_object *got,
                            json_object *const said[PROMPTS])
{
    static const char *const keys[] = {"prompt_tokens", "tokens", "text", "stop"};
    json_object *const list = json_object_object_get(got, "sequences");
    CHECK(list != NULL && json_object_array_length(list) == PROMPTS, "%s on %s: sequences", type, unit);
    for (size_t i = 0; list && i < PROMPTS; i++) {
        json_object *const here = json_object_array_get_idx(list, i);
        for (size_t k = 0; said[i] && k < ARRAY_COUNT(keys); k++)
            CHECK(json_object_equal(json_object_object_get(said[i], keys[k]), json_object_object_get(here, keys[k])),
                  "%s on %s, %u join, %u begin together, prompt %zu: %s", type, unit, batch->sequences, batch->batch, i + 1,
                  json_object_to_json_string(here));
    }
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

/* `alone_s`: of all prompts, one after another; cores gain nothing, since the weights are in their caches. */
static void check_way(const char *type, const char *unit, const struct language_options *options,
                      json_object *const said[PROMPTS], double alone_s)
{
    struct outcome o = tell(type, unit, options);
    json_object *const got = tokens_of(&o);
    CHECK(got != NULL, "%s", o.error.text);
    check_sequences(type, unit, options, got, said);
    if (got && strcmp(unit, "cpu") != 0)
        CHECK(o.result.seconds < alone_s, "%s on %s: %g s side by side, %g s one after another", type, unit, o.result.seconds,
              alone_s);
    CHECK(counter(&o, LANGUAGE_PASSES) < PROMPTS * (TOKENS - 1), "%g passes", counter(&o, LANGUAGE_PASSES));
    json_object_put(got);
    run_result_free(&o.result);
}

/* With others that join when one has ended, then with all of a batch at a time. */
static void test_same_tokens(void)
{
    static const struct {
        const char *type, *unit;
        unsigned sequences, batch;
        double temperature;
    } ways[] = {{"f32", "cpu", 2, 4, 0}, {"q4_0", "amx", 3, 3, 0.8}, {"q8_0", "gpu", 4, 2, 0}, {"f16", "ane", 3, 0, 0}};
    char folder[] = "/tmp/orchard-batch-XXXXXX", path[64];
    CHECK(mkdtemp(folder) != NULL, "a folder");
    snprintf(path, sizeof path, "%s/prompts.txt", folder);
    write_prompts(path);
    for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
        json_object *said[PROMPTS];
        struct language_options options = {.prompts = path,
                                           .generate = TOKENS,
                                           .sampling = {.repetition_penalty = 1, .temperature = ways[i].temperature, .top_k = 8}};
        if (!example_story(ways[i].type)) /* not here */
            continue;
        const double alone_s = tell_alone(ways[i].type, ways[i].unit, &options, said);
        options.sequences = ways[i].sequences;
        check_way(ways[i].type, ways[i].unit, &options, said, alone_s);
        options.sequences = 0;
        options.batch = ways[i].batch;
        if (options.batch)
            check_way(ways[i].type, ways[i].unit, &options, said, alone_s);
        for (size_t k = 0; k < PROMPTS; k++)
            json_object_put(said[k]);
    }
    CHECK(suite_remove(folder), "%s stays", folder);
}

/* Copies of a prompt that has more tokens together than go through a pass: their last tokens are in the second one. */
static void test_copies(void)
{
    enum { WORDS = 200, COPIES = 3 };
    char text[8 * WORDS] = "Once";
    for (size_t i = 1, at = 4; i < WORDS; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, " %s", i % 7 ? "day" : "sun,");
    struct language_options options = {
        .prompt_text = text, .batch = COPIES, .generate = 6, .sampling = {.repetition_penalty = 1, .temperature = 1}};
    if (!example_story("f32"))
        return;
    struct run_request q = {.unit = "cpu", .mode = RUN_FUNCTIONAL, .language = &options, .seed = 3};
    struct outcome o = run_on(db, "m1", example_story("f32"), q);
    json_object *const got = tokens_of(&o), *const list = json_object_object_get(got, "sequences");
    CHECK(list && json_object_array_length(list) == COPIES, "%s", o.error.text);
    const double tokens = counter(&o, LANGUAGE_PROMPT_TOKENS);
    CHECK(tokens > 512 && tokens < 1024, "%g tokens of prompts", tokens);
    options.batch = 0;
    for (size_t i = 0; list && i < COPIES; i++) {
        q.seed = 3 + i;
        struct outcome alone = run_on(db, "m1", example_story("f32"), q);
        json_object *const said = tokens_of(&alone), *const here = json_object_array_get_idx(list, i);
        CHECK(said && json_object_equal(json_object_object_get(said, "tokens"), json_object_object_get(here, "tokens")),
              "copy %zu: %s", i + 1, json_object_to_json_string(here));
        json_object_put(said);
        run_result_free(&alone.result);
    }
    json_object_put(got);
    run_result_free(&o.result);
}

/* By shapes alone: four sequences take less than four times the time of one, and all their tokens count. */
static void test_time(void)
{
    struct outcome o[2];
    if (!example_story("f32"))
        return;
    for (unsigned i = 0; i < 2; i++) {
        const struct language_options options = {.prompt = 32, .generate = 8, .batch = i ? 4 : 0};
        o[i] = run_on(db, "m1", example_story("f32"),
                      (struct run_request){.unit = "amx", .mode = RUN_TIMING, .detail = "op", .language = &options});
        CHECK(o[i].ok, "%s", o[i].error.text);
    }
    const double reading = o[1].result.prefill_seconds / o[0].result.prefill_seconds,
                 rate = o[1].result.tokens_per_second / o[0].result.tokens_per_second;
    CHECK(reading > 1 && reading < 4 && rate > 1 && rate < 4, "prompts %g times the time, %g times the tokens", reading, rate);
    CHECK(counter(&o[1], LANGUAGE_GENERATED_TOKENS) == 32 && counter(&o[1], LANGUAGE_PROMPT_TOKENS) == 128 &&
              counter(&o[1], LANGUAGE_CACHE_BYTES) == 4 * counter(&o[0], LANGUAGE_CACHE_BYTES),
          "%g tokens", counter(&o[1], LANGUAGE_GENERATED_TOKENS));
    for (unsigned i = 0; i < 2; i++)
        run_result_free(&o[i].result);
}

/* In pages each says the same, however few there are, and on every unit; a pool of two sequences makes the others wait. */
static void test_pages(void)
{
    static const struct {
        const char *type, *unit, *cache, *whole;
        unsigned sequences, batch;
    } ways[] = {{"f32", "cpu", "paged:4", NULL, 3, 0},
                {"f32", "gpu", "q8_0,paged:4:15", "q8_0", 0, 3},
                {"f16", "ane", "paged:8:10", NULL, 4, 0}};
    char folder[] = "/tmp/orchard-batch-XXXXXX", path[64];
    CHECK(mkdtemp(folder) != NULL, "a folder");
    snprintf(path, sizeof path, "%s/prompts.txt", folder);
    write_prompts(path);
    for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
        json_object *got[2];
        for (unsigned paged = 0; paged < 2 && example_story(ways[i].type); paged++) {
            const struct language_options options = {.prompts = path,
                                                     .generate = TOKENS,
                                                     .sampling = {.repetition_penalty = 1},
                                                     .kv_cache = paged ? ways[i].cache : ways[i].whole,
                                                     .sequences = ways[i].sequences,
                                                     .batch = ways[i].batch};
            struct outcome o = run_on(db, "m1", example_story(ways[i].type),
                                      (struct run_request){.unit = ways[i].unit, .mode = RUN_FUNCTIONAL, .language = &options});
            got[paged] = tokens_of(&o);
            CHECK(got[paged] != NULL, "%s", o.error.text);
            const double pool = paged ? counter(&o, LANGUAGE_PAGES) : 0;
            const double page_bytes = paged ? counter(&o, LANGUAGE_CACHE_BYTES) / pool : 1;
            if (paged)
                CHECK(counter(&o, LANGUAGE_PAGES_TAKEN) <= pool && counter(&o, LANGUAGE_PAGE_PIECES) > 1 &&
                          counter(&o, LANGUAGE_PAGE_UNUSED_BYTES) < ways[i].sequences * page_bytes + ways[i].batch * page_bytes,
                      "%s: %g of %g pages, %g bytes of them unused", ways[i].cache, counter(&o, LANGUAGE_PAGES_TAKEN), pool,
                      counter(&o, LANGUAGE_PAGE_UNUSED_BYTES));
            run_result_free(&o.result);
        }
        if (!example_story(ways[i].type))
            continue;
        CHECK(json_object_equal(json_object_object_get(got[0], "sequences"), json_object_object_get(got[1], "sequences")),
              "%s on %s: other tokens", ways[i].cache, ways[i].unit);
        json_object_put(got[0]);
        json_object_put(got[1]);
    }
    CHECK(suite_remove(folder), "%s stays", folder);
}

/* By shapes: tokens of each sequence take whole pages, whatever the context has room for, and the kernel with a table is timed.
 */
static void test_time_of_pages(void)
{
    double seconds[2], bytes[2];
    if (!example_story("f32"))
        return;
    for (unsigned i = 0; i < 2; i++) {
        const struct language_options options = {
            .prompt = 30, .generate = 3, .batch = 2, .context = 200, .kv_cache = i ? "paged:8" : NULL};
        struct outcome o = run_on(db, "m1", example_story("f32"),
                                  (struct run_request){.unit = "cpu", .mode = RUN_TIMING, .detail = "op", .language = &options});
        CHECK(o.ok, "%s", o.error.text);
        bytes[i] = counter(&o, LANGUAGE_CACHE_BYTES);
        seconds[i] = o.result.seconds - o.result.prefill_seconds;
        run_result_free(&o.result);
    }
    CHECK(fabs(bytes[1] / bytes[0] - 40.0 / 200) < 1e-9, "%g of %g bytes", bytes[1], bytes[0]);
    CHECK(seconds[1] > seconds[0], "%g s with pages, %g s without", seconds[1], seconds[0]);
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
    check_refused(&(struct language_options){.batch = 2, .draft = "small.gguf", .generate = 4}, "--batch and --draft");
    check_refused(&(struct language_options){.prompts = path, .generate = 10000}, "do not fit the context");
    check_refused(&(struct language_options){.prompts = path, .generate = 12, .sequences = 2, .kv_cache = "paged:4:5"},
                  "more than all pages");
    check_refused(&(struct language_options){.prompt_text = "and", .generate = 40, .kv_cache = "paged:4:3"}, "there are 3");
    check_refused(&(struct language_options){.prompt_text = "and", .generate = 4, .kv_cache = "paged:16:16000000"},
                  "memory holds");
    check_refused(&(struct language_options){.prompt_text = "and", .kv_cache = "paged", .prompt_cache = "x"}, "--kv-cache and");
    CHECK(suite_remove(folder), "%s stays", folder);
}

static const struct suite_test tests[] = {{"each says what it says alone", test_same_tokens},
                                          {"so do copies of a long prompt", test_copies},
                                          {"takes less time than one after another", test_time},
                                          {"says the same in pages", test_pages},
                                          {"pages have a time", test_time_of_pages},
                                          {"what is refused", test_refused}};

int main(void)
{
    return example_chips_run("language_batch", tests, ARRAY_COUNT(tests), &db);
}
