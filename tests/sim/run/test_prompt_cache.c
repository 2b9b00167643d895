/* Prompts that are taken from a file: the text is the same as without it, what the file has is not read again, and files of other
 * models, other types and damaged ones are refused. */
#include "isa/array_count.h"
#include "sim/run/language/language_options.h"
#include "tests/sim/run_example.h"
#include "tests/sim/story_example.h"

#include <stdlib.h>
#include <unistd.h>

static struct chip_db *db;

static const char prompt[] = "Once upon a time, there was a little girl named Lily. She";
static const char longer[] = "Once upon a time, there was a little girl named Lily. She loved to";
static const char other[] = "Once upon a time, a dog";

static struct outcome tell(const char *type, const char *unit, const char *text, const char *cache)
{
    const struct language_options options = {
        .prompt_text = text, .generate = 16, .prompt_cache = cache, .sampling = {.repetition_penalty = 1}};
    return run_on(db, "m1", example_story(type), (struct run_request){.unit = unit, .language = &options});
}

/* Frees the second one. */
static void check_same(const struct outcome *plain, struct outcome *cached, double tokens, bool sooner, const char *how)
{
    CHECK(plain->ok && cached->ok, "%s: %s%s", how, plain->error.text, cached->error.text);
    if (plain->ok && cached->ok) {
        CHECK(strcmp(plain->result.generation, cached->result.generation) == 0, "%s: another text: %s", how,
              cached->result.generation);
        CHECK(counter(cached, LANGUAGE_CACHED_TOKENS) == tokens, "%s: %g tokens of the file", how,
              counter(cached, LANGUAGE_CACHED_TOKENS));
        CHECK(sooner == (cached->result.prefill_seconds < plain->result.prefill_seconds), "%s: %g s, without %g", how,
              cached->result.prefill_seconds, plain->result.prefill_seconds);
    }
    run_result_free(&cached->result);
}

static void test_same_text(void)
{
    static const char *const ways[][2] = {{"f32", "cpu"}, {"q8_0", "amx"}, {"f16", "gpu"}, {"f16", "ane"}};
    for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
        if (!example_story(ways[i][0])) /* not here */
            continue;
        char folder[] = "/tmp/orchard-prompt-XXXXXX", cache[64];
        CHECK(mkdtemp(folder) != NULL, "a folder");
        snprintf(cache, sizeof cache, "%s/prompt", folder);
        struct outcome plain = tell(ways[i][0], ways[i][1], prompt, NULL), first = tell(ways[i][0], ways[i][1], prompt, cache);
        const double tokens = counter(&plain, LANGUAGE_PROMPT_TOKENS);
        check_same(&plain, &first, 0, false, "the first time");
        struct outcome taken = tell(ways[i][0], ways[i][1], prompt, cache);
        check_same(&plain, &taken, tokens, true, "from the file");
        struct outcome more = tell(ways[i][0], ways[i][1], longer, NULL), goes_on = tell(ways[i][0], ways[i][1], longer, cache);
        check_same(&more, &goes_on, tokens, true, "a prompt that goes on");
        struct outcome less = tell(ways[i][0], ways[i][1], other, NULL), parts = tell(ways[i][0], ways[i][1], other, cache);
        const double common = counter(&parts, LANGUAGE_CACHED_TOKENS);
        check_same(&less, &parts, common, true, "a prompt that begins alike");
        CHECK(common > 0 && common < tokens, "%g tokens of %g", common, tokens);
        run_result_free(&plain.result);
        run_result_free(&more.result);
        run_result_free(&less.result);
        CHECK(suite_remove(folder), "%s stays", folder);
    }
}

/* ---- files that do not fit ---- */

static void damage(const char *path, long at, int how)
{
    FILE *const f = fopen(path, "r+b");
    CHECK(f != NULL, "%s", path);
    if (!f)
        return;
    fseek(f, at, SEEK_SET);
    const int was = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(was ^ how, f);
    fclose(f);
}

static void check_refused(const char *type, const char *unit, const char *cache, const char *text)
{
    struct outcome o = tell(type, unit, prompt, cache);
    CHECK(!o.ok && o.error.exit_code == ORCH_USAGE && strstr(o.error.text, text), "%s: %s", text, o.ok ? "taken" : o.error.text);
    run_result_free(&o.result);
}

static void test_refused(void)
{
    char folder[] = "/tmp/orchard-prompt-XXXXXX", cache[64];
    if (!example_story("f16") || !example_story("f32"))
        return;
    CHECK(mkdtemp(folder) != NULL, "a folder");
    snprintf(cache, sizeof cache, "%s/prompt", folder);
    struct outcome made = tell("f16", "cpu", prompt, cache);
    CHECK(made.ok, "%s", made.error.text);
    run_result_free(&made.result);
    check_refused("f32", "cpu", cache, "made by another model");
    check_refused("f16", "ane", cache, "another type");
    damage(cache, 200, 1);
    check_refused("f16", "cpu", cache, "is damaged");
    damage(cache, 200, 1);
    CHECK(truncate(cache, 1000) == 0, "shorter");
    check_refused("f16", "cpu", cache, "another length");
    damage(cache, 0, 255);
    check_refused("f16", "cpu", cache, "no prompt cache");
    const struct language_options options = {.prompt = 4, .generate = 4, .prompt_cache = cache};
    struct outcome timed = run_on(db, "m1", "model:llama-7b", (struct run_request){.unit = "gpu", .language = &options});
    CHECK(!timed.ok && strstr(timed.error.text, "no keys and values"), "%s", timed.error.text);
    run_result_free(&timed.result);
    CHECK(suite_remove(folder), "%s stays", folder);
}

static const struct suite_test tests[] = {{"the text is the same", test_same_text}, {"files that do not fit", test_refused}};

int main(void)
{
    return example_chips_run("prompt_cache", tests, ARRAY_COUNT(tests), &db);
}
