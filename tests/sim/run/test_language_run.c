/* Language models on simulated units: golden tokens of a trained model, logits of every family against float64, times and joules
 * that are sums of kernels, and what is refused. */
#include "isa/array_count.h"
#include "sim/base/npy.h"
#include "sim/run/language/language_options.h"
#include "sim/run/language/language_step.h"
#include "tests/sim/language/language_example.h"
#include "tests/sim/run_example.h"
#include "tests/sim/story_example.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct chip_db *db;

/* Tokens of the prompt, tokens that follow, and the text, as the golden data have them. */
static void check_story_with(const char *unit, const char *type, const char *id, const char *draft_type,
                             struct language_options options)
{
    json_object *document;
    const char *const file = example_story(type);
    if (!file)
        return;
    char path[512];
    snprintf(path, sizeof path, "%s", file);
    char draft[512] = "";
    if (draft_type)
        snprintf(draft, sizeof draft, "%s", example_story(draft_type));
    json_object *const p = golden_prompt(type, id, &document);
    options.prompt_text = json_object_get_string(json_object_object_get(p, "prompt"));
    options.generate = (unsigned)json_object_get_int(json_object_object_get(p, "count"));
    options.draft = draft_type ? draft : NULL;
    struct outcome o =
        run_on(db, "m1", path, (struct run_request){.unit = unit, .mode = RUN_FUNCTIONAL, .language = &options, .threads = 1});
    CHECK(o.ok, "%s %s on %s: %s", type, id, unit, o.error.text);
    json_object *const got = o.ok ? json_tokener_parse(o.result.generation) : NULL;
    if (got) {
        CHECK(same_numbers(json_object_object_get(got, "prompt_tokens"), json_object_object_get(p, "prompt_tokens")), "%s %s",
              type, id);
        CHECK(same_numbers(json_object_object_get(got, "tokens"), json_object_object_get(p, "tokens")), "%s %s on %s: %s", type,
              id, unit, json_object_get_string(json_object_object_get(got, "text")));
        CU_ASSERT_STRING_EQUAL(json_object_get_string(json_object_object_get(got, "text")),
                               json_object_get_string(json_object_object_get(p, "text")));
        CU_ASSERT_STRING_EQUAL(json_object_get_string(json_object_object_get(got, "stop")),
                               json_object_get_string(json_object_object_get(p, "stop")));
    }
    if (o.ok && draft_type) { /* each pass of the model gives a token of its own beside those that it accepts */
        const double proposed = run_values_get(&o.result.counters, LANGUAGE_DRAFT_PROPOSED),
                     accepted = run_values_get(&o.result.counters, LANGUAGE_DRAFT_ACCEPTED),
                     passes = run_values_get(&o.result.counters, LANGUAGE_DRAFT_PASSES),
                     tokens = run_values_get(&o.result.counters, LANGUAGE_GENERATED_TOKENS);
        CHECK(accepted > 0 && accepted <= proposed, "%g of %g", accepted, proposed);
        CHECK(tokens - 1 - accepted <= passes && passes <= tokens - accepted, "%g tokens, %g accepted, %g passes", tokens,
              accepted, passes);
    }
    json_object_put(got);
    json_object_put(document);
    run_result_free(&o.result);
}

static void check_story(const char *unit, const char *type, const char *id)
{
    check_story_with(unit, type, id, NULL, (struct language_options){0});
}

/* A draft changes nothing but the time: the tokens are those of the model alone, on every unit. */
static void test_drafts(void)
{
    static const struct {
        const char *unit, *type, *id, *draft_type, *draft_unit;
        unsigned tokens;
    } rows[] = {{"cpu", "f32", "once", "q4_0", NULL, 4},
                {"gpu", "q8_0", "word", "q4_0", NULL, 1},
                {"amx", "f32", "cat", "f32", NULL, 7},
                {"gpu", "f32", "word", "f16", "ane", 5},
                {"hybrid", "q4_0", "word", "q8_0", "cpu", 64}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        check_story_with(rows[i].unit, rows[i].type, rows[i].id, rows[i].draft_type,
                         (struct language_options){.draft_unit = rows[i].draft_unit, .draft_tokens = rows[i].tokens});
}

/* Layers on several units, in any order: values change their type where the Neural Engine begins and ends. */
static void test_layers(void)
{
    static const struct {
        const char *type, *id, *layers, *cache;
    } rows[] = {{"f32", "word", "amx=2,gpu=3", NULL},
                {"f16", "word", "amx=2,gpu=2,ane=1", NULL},
                {"f16", "long", "ane=1,gpu=3,cpu=1", "paged:8"},
                {"q8_0", "digits", "gpu=1,cpu=4", NULL},
                {"q4_0", "empty", "cpu=3,gpu=2", "paged"}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        check_story_with("combined", rows[i].type, rows[i].id, NULL,
                         (struct language_options){.layers = rows[i].layers, .kv_cache = rows[i].cache});
}

/* Attention of the AMX block and of the Neural Engine is the cores'; the GPU has everything but the embedding, which multiplies
 * nothing. */
static void test_share_of_unit(void)
{
    static const struct {
        const char *unit, *type;
        double least, most;
    } rows[] = {{"cpu", "q8_0", 1, 1},      {"gpu", "q8_0", 1, 1},      {"amx", "q8_0", 0.9, 0.999},
                {"amx", "f32", 0.9, 0.999}, {"ane", "f16", 0.9, 0.999}, {"hybrid", "q4_0", 1, 1}};
    const struct language_options options = {.prompt_text = "Lily", .generate = 2};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        char path[512];
        if (!example_story(rows[i].type))
            continue;
        snprintf(path, sizeof path, "%s", example_story(rows[i].type));
        struct outcome o =
            run_on(db, "m1", path, (struct run_request){.unit = rows[i].unit, .mode = RUN_FUNCTIONAL, .language = &options});
        const double share = o.ok ? o.result.native_mac_share : NAN;
        CHECK(share >= rows[i].least && share <= rows[i].most, "%s on %s: %g", rows[i].type, rows[i].unit, share);
        run_result_free(&o.result);
    }
}

static void test_golden_tokens(void)
{
    static const struct {
        const char *unit, *type, *id;
    } rows[] = {{"cpu", "q8_0", "word"},  {"cpu", "q8_0", "bytes"}, {"cpu", "q4_0", "empty"},  {"cpu", "f32", "digits"},
                {"cpu", "f16", "spaces"}, {"amx", "f32", "word"},   {"amx", "q8_0", "digits"}, {"amx", "f16", "bytes"},
                {"amx", "q4_0", "long"},  {"gpu", "q8_0", "word"},  {"gpu", "q4_0", "cat"},    {"gpu", "f16", "word"},
                {"gpu", "q8_0", "long"},  {"ane", "f16", "word"},   {"ane", "f16", "long"},    {"ane", "q8_0", "word"},
                {"ane", "q4_0", "word"},  {"ane", "f32", "word"},   {"hybrid", "q8_0", "long"}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        check_story(rows[i].unit, rows[i].type, rows[i].id);
}

/* ---- families ---- */

static struct npy_array answers_of(const char *name, struct example_file *file)
{
    char path[64];
    struct npy_array array = {0};
    struct orch_error error = {0};
    snprintf(path, sizeof path, "families/%s.npy", name);
    CU_ASSERT_TRUE_FATAL(example_golden(path, file));
    CU_ASSERT_TRUE_FATAL(npy_parse(file->bytes, file->size, &array, &error));
    return array;
}

/* The largest difference of logits, relative to the largest of them. Tokens go one by one, or all together, when only the last
 * row is compared. */
static double difference(struct language_stepper *s, const struct npy_array *a, bool together)
{
    struct orch_error error = {0};
    struct language_sum sum = {0};
    uint32_t token[64];
    const size_t columns = a->shape[1], rows = a->shape[0];
    double largest = 0, range = 0;
    CU_ASSERT_TRUE_FATAL(rows <= ARRAY_COUNT(token));
    for (size_t i = 0; i < rows; i++) {
        const float *logits = NULL;
        float row[512];
        CU_ASSERT_TRUE_FATAL(columns <= ARRAY_COUNT(row));
        memcpy(row, a->data + 4 * i * columns, 4 * columns);
        token[i] = (uint32_t)row[0];
        if (!together)
            CHECK(language_step(s, &token[i], 1, &logits, &sum, &error), "%s", error.text);
        else if (i + 1 == rows)
            CHECK(language_step(s, token, rows, &logits, &sum, &error), "%s", error.text);
        for (size_t k = 0; logits && k + 1 < columns; k++) {
            largest = fmax(largest, fabs((double)logits[k] - (double)row[k + 1]));
            range = fmax(range, fabs((double)row[k + 1]));
        }
    }
    return largest / range;
}

/* `most`: the largest difference relative to the range of logits. */
static void check_within(const char *name, enum orch_part part, double most)
{
    char path[64];
    struct example_file file, answers;
    struct orch_error error = {0};
    struct run_result result;
    struct chip *const chip = chip_open(db, "m1", &(struct chip_overrides){NULL, 0}, &error);
    const struct run_request request = {.chip = chip, .mode = RUN_FUNCTIONAL, .threads = 1};
    struct language_model m = {.name = name};
    snprintf(path, sizeof path, "families/%s.gguf.gz", name);
    CU_ASSERT_TRUE_FATAL(chip && example_golden(path, &file));
    const struct npy_array a = answers_of(name, &answers);
    run_result_init(&result);
    m.gguf = gguf_parse(name, file.bytes, file.size, &error);
    CU_ASSERT_TRUE_FATAL(m.gguf && shape_of_gguf(m.gguf, &m.shape, &error));
    m.weights = decoder_create(&m.shape, gguf_weights(m.gguf), 1, &error);
    struct language_unit *const unit = language_unit_create(&request, &result, &error);
    CU_ASSERT_TRUE_FATAL(m.weights && unit);
    for (unsigned together = 0; together < 2; together++) {
        struct language_stepper *const s =
            language_stepper_create(&m, unit, part, &(struct language_room){.context = 24, .lanes = 1}, &error);
        CHECK(s != NULL, "%s: %s", name, error.text);
        if (!s)
            continue;
        const double off = difference(s, &a, together == 1);
        CHECK(off < most, "%s %s on %s: logits differ by %g of their range", name, together ? "together" : "one by one",
              orch_part_name(part), off);
        language_stepper_free(s);
    }
    language_unit_free(unit, NULL);
    language_model_close(&m);
    run_result_free(&result);
    chip_close(chip);
    free(file.bytes);
    free(answers.bytes);
}

static void check_family(const char *name, enum orch_part part)
{
    check_within(name, part, 2e-6);
}

static void test_families(void)
{
    static const char *const names[] = {"gpt2",   "phi2",   "phi3",    "qwen2",   "qwen3",   "gemma",
                                        "llama3", "linear", "mistral", "mixtral", "gpt-oss", "phi4-mini"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        check_family(names[i], PART_CPU);
    static const char *const there[] = {"qwen3", "phi2", "llama3", "mixtral", "phi4-mini"};
    for (size_t i = 0; i < ARRAY_COUNT(there); i++)
        check_family(there[i], PART_GPU);
    check_family("mixtral", PART_AMX);
    check_family("gpt-oss", PART_AMX);
    check_within("gpt-oss", PART_GPU, 1e-5); /* its logits reach 5 alone, and those of its experts pass two sigmoids */
}

/* ---- time ---- */

/* The same text with time as without; what is said of parts adds up to the whole. */
static void test_time(void)
{
    char path[512];
    const struct language_options options = {.prompt_text = "Lily", .generate = 6};
    struct run_request request = {.unit = "cpu", .mode = RUN_FUNCTIONAL, .language = &options};
    snprintf(path, sizeof path, "%s", example_story("q8_0"));
    struct outcome without = run_on(db, "m1", path, request);
    request.mode = RUN_FULL;
    struct outcome with = run_on(db, "m1", path, request);
    const struct run_result *const r = &with.result;
    CU_ASSERT_TRUE_FATAL(without.ok && with.ok);
    CU_ASSERT_STRING_EQUAL(without.result.generation, r->generation);
    CU_ASSERT_TRUE(isnan(without.result.seconds) && isnan(without.result.joules));
    const double decode = counter(&with, LANGUAGE_DECODE_SECONDS);
    CHECK(fabs(r->prefill_seconds + decode - r->seconds) < 1e-12, "%g + %g, %g", r->prefill_seconds, decode, r->seconds);
    CHECK(fabs(5 / decode - r->tokens_per_second) < 1e-6 * r->tokens_per_second, "%g", r->tokens_per_second);
    const double joules = counter(&with, LANGUAGE_PREFILL_JOULES) + 5 * counter(&with, LANGUAGE_TOKEN_JOULES);
    CHECK(fabs(joules - r->joules) < 1e-9 * joules, "%g, %g", joules, r->joules);
    CU_ASSERT_TRUE(r->seconds_low < r->seconds && r->seconds < r->seconds_high && r->seconds > 50e-6 && r->seconds < 1e-3);
    double parts = 0, stalls = 0;
    for (size_t i = 0; i < r->joules_by.count; i++)
        parts += r->joules_by.item[i].value;
    for (size_t i = 0; i < r->stalls.count; i++)
        stalls += r->stalls.item[i].value;
    CHECK(fabs(parts - r->joules) < 1e-9 * r->joules && fabs(stalls - 1) < 1e-9, "%g of %g J, stalls %g", parts, r->joules,
          stalls);
    run_result_free(&without.result);
    run_result_free(&with.result);
}

/* On the GPU the command buffers of the steps hold up the whole as long as they take, kernels the rest; and of each kernel it is
 * said what holds up itself. */
static void test_stalls_of_command_buffers(void)
{
    char path[512];
    const struct language_options options = {.prompt_text = "Lily", .generate = 3};
    snprintf(path, sizeof path, "%s", example_story("q8_0"));
    struct outcome o = run_on(db, "m1", path, (struct run_request){.unit = "gpu", .language = &options});
    const struct run_result *const r = &o.result;
    double kernels = 0, launch = 0;
    for (size_t i = 0; o.ok && i < r->stalls.count; i++)
        *(strcmp(r->stalls.item[i].name, "launch") == 0 ? &launch : &kernels) += r->stalls.item[i].value;
    CHECK(o.ok && fabs(launch - r->overhead_seconds / r->seconds) < 1e-3, "launches hold up %g of the time and take %g: %s",
          launch, r->overhead_seconds / r->seconds, o.error.text);
    CHECK(fabs(kernels + launch - 1) < 1e-3, "kernels %g, launches %g", kernels, launch);
    for (size_t i = 0; o.ok && i < r->placement.count; i++)
        CU_ASSERT_STRING_NOT_EQUAL(r->placement.item[i].why, "bound by launch");
    run_result_free(&o.result);
}

/* A faster chip is faster, and a step takes longer the more tokens it attends to. */
static void test_time_grows(void)
{
    char path[512];
    double each[2];
    snprintf(path, sizeof path, "%s", example_story("q8_0"));
    for (unsigned i = 0; i < 2; i++) {
        const struct language_options options = {.prompt_text = "Lily", .generate = i ? 60 : 4};
        struct outcome o = run_on(db, "m1", path, (struct run_request){.unit = "cpu", .language = &options});
        each[i] = o.ok ? 1 / o.result.tokens_per_second : NAN;
        run_result_free(&o.result);
    }
    CHECK(each[1] > 1.02 * each[0] && each[1] < 2 * each[0], "%g and %g s a token", each[0], each[1]);
}

/* A word over several tokens ends the text in front of it, and nothing of it is shown; in the prompt it counts nothing. */
static void test_stops(void)
{
    char path[512], *shown = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s", example_story("q8_0"));
    struct language_options options = {
        .prompt_text = "Once upon a time", .generate = 24, .stop = {"upon", "girl named", "little bird"}, .stops = 3};
    FILE *const out = open_memstream(&shown, &size);
    const struct run_request q = {.unit = "cpu", .mode = RUN_FUNCTIONAL, .language = &options, .program_output = out, .seed = 1};
    struct outcome o = run_on(db, "m1", path, q);
    fclose(out);
    CHECK(o.ok && strstr(o.result.generation, "\"text\":\"Once upon a time, there was a little \"") &&
              strstr(o.result.generation, "\"stop\":\"word\"") && strstr(o.result.generation, "\"stop_word\":\"girl named\""),
          "%s%s", o.error.text, o.ok ? o.result.generation : "");
    CU_ASSERT_STRING_EQUAL(shown, "Once upon a time, there was a little \n");
    free(shown);
    run_result_free(&o.result);
}

static void generate(struct sampler_params sampling, uint64_t seed, char *tokens, size_t size)
{
    char path[512];
    const struct language_options options = {.prompt_text = "Once upon", .generate = 24, .sampling = sampling};
    snprintf(path, sizeof path, "%s", example_story("q4_0"));
    struct outcome o =
        run_on(db, "m1", path, (struct run_request){.unit = "cpu", .mode = RUN_FUNCTIONAL, .language = &options, .seed = seed});
    CHECK(o.ok, "%s", o.error.text);
    snprintf(tokens, size, "%s", o.ok ? o.result.generation : "");
    run_result_free(&o.result);
}

/* A text that an encoder reads costs more the longer it is, before the first token; so do tokens that look at it. Its keys and
 * values take memory like those of the decoder's own tokens. */
static void test_encoder(void)
{
    struct outcome o[2];
    for (unsigned i = 0; i < 2; i++) {
        const struct language_options options = {.prompt = i ? 400 : 16, .generate = 3};
        o[i] = run_on(db, "m1", "model:t5-small",
                      (struct run_request){.unit = "gpu", .precision = "f16", .mode = RUN_TIMING, .language = &options});
        CHECK(o[i].ok, "%s", o[i].error.text);
    }
    CHECK(o[1].result.prefill_seconds > 2 * o[0].result.prefill_seconds, "%g and %g s to read a text",
          o[0].result.prefill_seconds, o[1].result.prefill_seconds);
    CHECK(o[1].result.tokens_per_second < o[0].result.tokens_per_second, "%g tokens/s", o[1].result.tokens_per_second);
    /* two kinds, 6 layers, 512 values, 2 bytes */
    CHECK(counter(&o[0], LANGUAGE_CACHE_BYTES) == 2 * 6 * 512 * 2 * (16 + 3), "%g bytes", counter(&o[0], LANGUAGE_CACHE_BYTES));
    for (unsigned i = 0; i < 2; i++)
        run_result_free(&o[i].result);
}

static void test_sampling(void)
{
    static char a[4096], b[4096], c[4096], greedy[4096];
    const struct sampler_params warm = {.temperature = 1, .top_k = 40};
    generate(warm, 1, a, sizeof a);
    generate(warm, 1, b, sizeof b);
    generate(warm, 2, c, sizeof c);
    generate((struct sampler_params){.temperature = 0}, 1, greedy, sizeof greedy);
    CU_ASSERT_STRING_EQUAL(a, b);
    CU_ASSERT_TRUE(strcmp(a, c) != 0 && strcmp(a, greedy) != 0);
    generate((struct sampler_params){.temperature = 1, .top_k = 1}, 3, a, sizeof a);
    CU_ASSERT_STRING_EQUAL(a, greedy);
}

/* ---- what is refused ---- */

static void refused(const char *path, const struct language_options *options, struct run_request request, int code,
                    const char *text)
{
    request.language = options;
    struct outcome o = run_on(db, "m1", path, request);
    CHECK(!o.ok && (int)o.error.exit_code == code && strstr(o.error.text, text) && !strchr(o.error.text, '\n'), "%s: %d %s", text,
          (int)o.error.exit_code, o.error.text);
    run_result_free(&o.result);
}

static void test_refusals(void)
{
    char path[512];
    const struct language_options no_text = {.prompt_text = "a\xff"}, much = {.generate = 512}, wide = {.context = 513},
                                  narrow = {.generate = 20, .context = 20}, counted = {.prompt = 8}, none = {.generate = 4};
    snprintf(path, sizeof path, "%s", example_story("q8_0"));
    refused("model:t5-small", &(struct language_options){.generate = 3}, (struct run_request){.unit = "gpu"}, ORCH_USAGE,
            "tokens of the text");
    refused(path, &no_text, (struct run_request){.unit = "cpu"}, ORCH_USAGE, "no UTF-8 at byte 1");
    refused(path, &much, (struct run_request){.unit = "cpu"}, ORCH_USAGE, "do not fit the context of 512 tokens");
    refused(path, &wide, (struct run_request){.unit = "cpu"}, ORCH_USAGE, "was made for 512 tokens");
    refused(path, &narrow, (struct run_request){.unit = "cpu"}, ORCH_USAGE, "context of 20 tokens");
    refused(path, &counted, (struct run_request){.unit = "cpu"}, ORCH_USAGE, "a number of tokens is for");
    const struct language_options shape = {.draft = "model:llama-7b"}, alone = {.draft_unit = "cpu"},
                                  tpu = {.draft = path, .draft_unit = "tpu"}, timed = {.draft = path};
    refused(path, &shape, (struct run_request){.unit = "cpu"}, ORCH_USAGE, "takes a file with weights");
    refused(path, &alone, (struct run_request){.unit = "cpu"}, ORCH_USAGE, "are for a --draft");
    refused(path, &tpu, (struct run_request){.unit = "cpu"}, ORCH_USAGE, "draft-unit tpu: it is cpu, amx, gpu or ane");
    refused(path, &timed, (struct run_request){.unit = "gpu", .mode = RUN_TIMING}, ORCH_USAGE, "depends on values");
    const struct language_options elsewhere = {.prefill_unit = "ane"}, nowhere = {.prefill_unit = "tpu"};
    refused(path, &elsewhere, (struct run_request){.unit = "cpu"}, ORCH_UNMODELLED, "of the Neural Engine are f16");
    refused(path, &nowhere, (struct run_request){.unit = "cpu"}, ORCH_USAGE, "it is cpu, amx, gpu or ane");
    refused(path, &none, (struct run_request){.unit = "cpu", .precision = "f16"}, ORCH_USAGE, "the file says in which types");
    refused("nowhere.gguf", &none, (struct run_request){.unit = "cpu"}, ORCH_USAGE, "nowhere.gguf");
    refused("model:llama-7", &none, (struct run_request){.unit = "gpu"}, ORCH_USAGE, "did you mean llama-7b");
    refused("gemv:64x64", &none, (struct run_request){.unit = "cpu"}, ORCH_USAGE, "belong to language models");
    /* A vocabulary alone has no weights. */
    struct example_file file;
    CU_ASSERT_TRUE_FATAL(example_golden("tokenizers/ggml-vocab-gpt-2.gguf.gz", &file));
    char place[] = "/tmp/orchard-vocabulary-XXXXXX.gguf";
    const int handle = mkstemps(place, 5);
    CU_ASSERT_TRUE_FATAL(handle >= 0 && write(handle, file.bytes, file.size) == (ssize_t)file.size);
    close(handle);
    refused(place, &none, (struct run_request){.unit = "cpu"}, ORCH_USAGE, "");
    CU_ASSERT_TRUE(truncate(place, 1000) == 0);
    refused(place, &none, (struct run_request){.unit = "cpu"}, ORCH_USAGE, "");
    unlink(place);
    free(file.bytes);
}

static const struct suite_test tests[] = {
    {"golden tokens", test_golden_tokens},
    {"drafts change no token", test_drafts},
    {"nor do layers on several units", test_layers},
    {"share of the unit", test_share_of_unit},
    {"every family as NumPy does", test_families},
    {"time and joules add up", test_time},
    {"command buffers hold up as long as they take", test_stalls_of_command_buffers},
    {"time grows with the context", test_time_grows},
    {"an encoder reads before", test_encoder},
    {"words that end it", test_stops},
    {"sampling", test_sampling},
    {"refusals", test_refusals},
};
int main(void)
{
    return example_chips_run("language run", tests, ARRAY_COUNT(tests), &db);
}
