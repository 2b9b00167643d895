/* A trained model as transformers saves it, on simulated units: the golden tokens of the same weights in GGUF files, in each type
 * of numbers, with both kinds of vocabularies, in one file and in several; and what a user can get wrong. */
#include "isa/array_count.h"
#include "sim/language/decoder.h"
#include "sim/language/transformers.h"
#include "sim/run/language/language_model.h"
#include "sim/run/language/language_options.h"
#include "tests/sim/run_example.h"
#include "tests/sim/story_example.h"
#include "tests/sim/transformers_example.h"

static struct chip_db *db;

static struct outcome generate(const char *unit, const char *path, const char *prompt, unsigned tokens)
{
    const struct language_options options = {.prompt_text = prompt, .generate = tokens};
    return run_on(db, "m1", path, (struct run_request){.unit = unit, .mode = RUN_FUNCTIONAL, .language = &options, .threads = 1});
}

/* Saves the weights of a GGUF file anew. */
static bool save(const char *type, struct saved_model *m)
{
    struct orch_error error = {0};
    struct language_shape shape;
    const char *const file = example_story(type);
    struct gguf *const gguf = file ? gguf_open(file, &error) : NULL;
    if (!gguf)
        return false;
    CU_ASSERT_TRUE_FATAL(shape_of_gguf(gguf, &shape, &error));
    struct tokenizer *const t = tokenizer_create(gguf, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    m->gguf = gguf;
    m->shape = &shape;
    saved_write(m, t);
    m->gguf = NULL;
    m->shape = NULL;
    tokenizer_free(t);
    gguf_close(gguf);
    return true;
}

static void check_golden(const struct outcome *o, const char *unit, json_object *golden)
{
    json_object *const got = o->ok ? json_tokener_parse(o->result.generation) : NULL;
    CHECK(o->ok, "%s: %s", unit, o->error.text);
    CHECK(got && same_numbers(json_object_object_get(got, "prompt_tokens"), json_object_object_get(golden, "prompt_tokens")),
          "%s", unit);
    CHECK(got && same_numbers(json_object_object_get(got, "tokens"), json_object_object_get(golden, "tokens")), "%s: %s", unit,
          got ? json_object_get_string(json_object_object_get(got, "text")) : "");
    json_object_put(got);
}

/* Single precision holds what blocks of eight bits stand for, so that their golden tokens are its own. */
static void test_golden_tokens(void)
{
    static const struct {
        const char *type, *dtype, *unit, *id;
        unsigned shards;
        bool pieces;
    } rows[] = {{"q8_0", "F32", "cpu", "word", 0, false},
                {"q8_0", "F32", "amx", "digits", 3, true},
                {"f32", "F32", "gpu", "word", 0, true},
                {"f16", "F16", "ane", "word", 2, false}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct saved_model m = {.dtype = rows[i].dtype, .shards = rows[i].shards, .pieces = rows[i].pieces};
        json_object *document;
        if (!save(rows[i].type, &m))
            continue; /* F32 and F16 are beside the checkout */
        json_object *const p = golden_prompt(rows[i].type, rows[i].id, &document);
        struct outcome o = generate(rows[i].unit, m.folder, json_object_get_string(json_object_object_get(p, "prompt")),
                                    (unsigned)json_object_get_int(json_object_object_get(p, "count")));
        check_golden(&o, rows[i].unit, p);
        run_result_free(&o.result);
        json_object_put(document);
        saved_remove(&m);
    }
}

/* BF16: what the reference decoder says next on the same file, as long as no other token is nearly as likely. */
static void test_brain_floats(void)
{
    enum { TOKENS = 12 };
    static const char *const units[] = {"cpu", "amx", "gpu", "ane"};
    struct saved_model m = {.dtype = "BF16", .shards = 2};
    struct orch_error error = {0};
    struct language_model model;
    struct token_list tokens = {0};
    float logits[512];
    CU_ASSERT_TRUE_FATAL(save("q8_0", &m));
    CU_ASSERT_TRUE_FATAL(language_model_open(m.folder, &model, &error));
    struct decoder *const d = decoder_create(&model.shape, transformers_list(model.folder), 64, &error);
    CU_ASSERT_TRUE_FATAL(d && tokenizer_encode(model.tokenizer, "Lily", 4, TOKENIZE_FRAME, &tokens, &error));
    const size_t before = tokens.count;
    for (size_t i = 0; i < tokens.count && tokens.count < before + TOKENS; i++) {
        CU_ASSERT_TRUE(decoder_step(d, tokens.token[i], logits, &error));
        uint32_t best = 0;
        for (uint32_t k = 1; k < 512; k++)
            best = logits[k] > logits[best] ? k : best;
        if (i + 1 == tokens.count)
            token_list_add(&tokens, best, &error);
    }
    for (size_t u = 0; u < ARRAY_COUNT(units); u++) {
        struct outcome o = generate(units[u], m.folder, "Lily", TOKENS);
        CHECK(o.ok, "%s: %s", units[u], o.error.text);
        json_object *const got = o.ok ? json_tokener_parse(o.result.generation) : NULL;
        json_object *const list = json_object_object_get(got, "tokens");
        for (size_t i = 0; list && i < json_object_array_length(list); i++)
            CHECK((uint32_t)json_object_get_int(json_object_array_get_idx(list, i)) == tokens.token[before + i], "%s: token %zu",
                  units[u], i);
        CHECK(list && json_object_array_length(list) == TOKENS, "%s", units[u]);
        json_object_put(got);
        run_result_free(&o.result);
    }
    token_list_free(&tokens);
    decoder_free(d);
    language_model_close(&model);
    saved_remove(&m);
}

static void refuse(const char *unit, const char *path, int code, const char *wrong)
{
    struct outcome o = generate(unit, path, "Lily", 2);
    CHECK(!o.ok && o.error.exit_code == code && strstr(o.error.text, wrong), "%s: %s", wrong, o.ok ? "it ran" : o.error.text);
    run_result_free(&o.result);
}

static void test_refusals(void)
{
    struct saved_model m = {.dtype = "F32"};
    char path[512];
    CU_ASSERT_TRUE_FATAL(save("q8_0", &m));
    struct outcome rounded = generate("ane", m.folder, "Lily", 2); /* float32, which the Neural Engine gets as f16 */
    CHECK(rounded.ok, "%s", rounded.error.text);
    run_result_free(&rounded.result);
    snprintf(path, sizeof path, "%s/other.safetensors", m.folder);
    refuse("cpu", path, ORCH_USAGE, "other.safetensors");
    snprintf(path, sizeof path, "%s/model.safetensors", m.folder);
    CU_ASSERT_EQUAL(truncate(path, 100000), 0);
    refuse("cpu", m.folder, ORCH_USAGE, "model.safetensors: ");
    snprintf(path, sizeof path, "%s/config.json", m.folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/model.safetensors", m.folder);
    refuse("cpu", path, ORCH_USAGE, "its dimensions stand in config.json beside it");
    saved_remove(&m);
}

static const struct suite_test tests[] = {{"golden tokens from safetensors", test_golden_tokens},
                                          {"brain floats", test_brain_floats},
                                          {"what is refused", test_refusals}};
int main(void)
{
    return example_chips_run("language saved", tests, ARRAY_COUNT(tests), &db);
}
