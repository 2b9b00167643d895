/* T5 and Whisper with several texts or sounds side by side, and T5 with a draft: each sequence says the greedy tokens of a
 * forward pass in double precision over itself alone, whether all begin together or join when others end. */
#include "isa/array_count.h"
#include "sim/base/npy.h"
#include "sim/run/language/language_options.h"
#include "tests/sim/run/encoder_run.h"

#include <stdlib.h>
#include <unistd.h>

static struct chip_db *db;

enum { TEXTS = 4 };

/* What some sequence has to say. */
struct expected {
    uint32_t said[SAID];
    unsigned count;
};

/* "ea" stands for 4, "fa" for 5 ...; the end is added. */
static const struct {
    const char *text;
    uint32_t token[8];
    unsigned count;
} texts[TEXTS] = {
    {"eajacb", {3, 4, 9, 28, 1}, 5}, {"ka", {3, 10, 1}, 3}, {"faeagahacb", {3, 5, 4, 6, 7, 28, 1}, 7}, {"jaja", {3, 9, 9, 1}, 4}};

static void expect_text(const struct made_model *m, const uint32_t *text, unsigned count, struct expected *e)
{
    static const uint32_t start = 0;
    static double memory[MADE_PLACES * 48];
    const unsigned seen = exact_encode(m, text, count, NULL, memory);
    e->count = exact_text(m, memory, seen, &start, 1, SAID, e->said);
}

static void check_sequences(const struct outcome *o, const struct expected *expected, unsigned count, const char *way)
{
    json_object *document, *const list = numbers_of(o, "sequences", &document);
    CHECK(list && json_object_array_length(list) == count, "%s: %s", way, o->error.text);
    for (unsigned i = 0; list && i < count; i++) {
        json_object *const got = json_object_object_get(json_object_array_get_idx(list, i), "tokens");
        const size_t tokens = json_object_array_length(got);
        CHECK(tokens == expected[i].count, "%s: sequence %u has %zu tokens, expected %u", way, i + 1, tokens, expected[i].count);
        for (unsigned t = 0; t < expected[i].count && t < tokens; t++)
            CHECK((uint32_t)json_object_get_int(json_object_array_get_idx(got, t)) == expected[i].said[t],
                  "%s: token %u of sequence %u is another", way, t + 1, i + 1);
    }
    json_object_put(document);
}

/* ---- texts ---- */

static void test_texts(void)
{
    static struct made_model m;
    static const struct {
        const char *unit;
        unsigned sequences, batch;
        const char *cache;
    } ways[] = {{"cpu", 2, 0, NULL}, {"cpu", 0, 4, NULL}, {"gpu", 3, 0, NULL}, {"gpu", 0, 3, NULL}, {"hybrid", 0, 4, NULL}};
    char folder[] = "/tmp/orchard_encoder_XXXXXX", path[256], prompts[256], lines[256] = "";
    struct expected expected[TEXTS];
    CU_ASSERT_TRUE_FATAL(mkdtemp(folder) != NULL);
    made_create(&m, TEXT_PLAIN, false, 5);
    write_file(folder, "t5.gguf", m.bytes, m.file_size, path);
    for (unsigned i = 0; i < TEXTS; i++) {
        expect_text(&m, texts[i].token, texts[i].count, &expected[i]);
        strcat(strcat(lines, texts[i].text), "\n");
    }
    write_file(folder, "prompts.txt", lines, strlen(lines), prompts);
    for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
        const struct language_options options = {.prompts = prompts,
                                                 .generate = SAID,
                                                 .sequences = ways[i].sequences,
                                                 .batch = ways[i].batch,
                                                 .kv_cache = ways[i].cache};
        char way[64];
        snprintf(way, sizeof way, "%s, %u join, %u together", ways[i].unit, ways[i].sequences, ways[i].batch);
        struct outcome o =
            run_on(db, "m1", path,
                   (struct run_request){.unit = ways[i].unit, .mode = RUN_FUNCTIONAL, .language = &options, .threads = 1});
        check_sequences(&o, expected, TEXTS, way);
        run_result_free(&o.result);
    }
    made_free(&m);
    unlink(path);
    unlink(prompts);
    rmdir(folder);
}

/* Products of texts that go through together take less time than those of one after another. */
static void test_copies(void)
{
    static struct made_model m;
    char folder[] = "/tmp/orchard_encoder_XXXXXX", path[256];
    struct expected expected[2];
    double prefill[2], seconds[2];
    CU_ASSERT_TRUE_FATAL(mkdtemp(folder) != NULL);
    made_create(&m, TEXT_GATED, false, 5);
    write_file(folder, "t5.gguf", m.bytes, m.file_size, path);
    expect_text(&m, texts[0].token, texts[0].count, &expected[0]);
    expected[1] = expected[0];
    for (unsigned i = 0; i < 2; i++) {
        const struct language_options options = {.prompt_text = texts[0].text, .generate = SAID, .batch = i ? 2 : 0};
        struct outcome o =
            run_on(db, "m1", path, (struct run_request){.unit = "gpu", .mode = RUN_FULL, .language = &options, .threads = 1});
        if (i)
            check_sequences(&o, expected, 2, "two copies");
        prefill[i] = o.result.prefill_seconds;
        seconds[i] = o.result.seconds;
        run_result_free(&o.result);
    }
    CHECK(prefill[1] > prefill[0] && prefill[1] < 2 * prefill[0] && seconds[1] < 2 * seconds[0],
          "two copies take %g times the time of one before the first token, %g in all", prefill[1] / prefill[0],
          seconds[1] / seconds[0]);
    made_free(&m);
    unlink(path);
    rmdir(folder);
}

/* ---- sounds ---- */

static void test_sounds(void)
{
    enum { SOUNDS = 3 };
    static struct made_model m;
    static double memory[MADE_PLACES * 48];
    static const uint32_t first[] = {3, 4, 5, 6};
    static const struct {
        const char *unit;
        unsigned sequences, batch;
        const char *cache;
    } ways[] = {{"cpu", 2, 0, NULL}, {"cpu", 0, 3, NULL}, {"gpu", 0, 2, NULL}, {"gpu", 2, 0, "paged:4"}};
    char folder[] = "/tmp/orchard_encoder_XXXXXX", path[256], heard[SOUNDS][256], input[SOUNDS][300];
    const char *inputs[SOUNDS];
    struct expected expected[SOUNDS];
    CU_ASSERT_TRUE_FATAL(mkdtemp(folder) != NULL);
    made_create(&m, SOUND, false, 7);
    write_file(folder, "whisper.gguf", m.bytes, m.file_size, path);
    for (unsigned i = 0; i < SOUNDS; i++) {
        float sound[MADE_FRAMES * MADE_CHANNELS];
        struct npy_array array = {
            .type = NPY_F32, .dims = 2, .shape = {MADE_CHANNELS, MADE_FRAMES}, .data = (const uint8_t *)sound};
        struct orch_error error = {0};
        made_sound(sound, 0.7 + 0.4 * i);
        snprintf(heard[i], sizeof heard[i], "%s/%u.npy", folder, i);
        snprintf(input[i], sizeof input[i], "mel=%s", heard[i]);
        inputs[i] = input[i];
        CU_ASSERT_TRUE_FATAL(npy_measure(&array) && npy_save(heard[i], &array, &error));
        const unsigned seen = exact_encode(&m, NULL, 0, sound, memory);
        expected[i].count = exact_text(&m, memory, seen, first, ARRAY_COUNT(first), SAID, expected[i].said);
    }
    CHECK(memcmp(expected[0].said, expected[1].said, sizeof expected[0].said) != 0, "sounds say the same");
    for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
        const struct language_options options = {
            .generate = SAID, .sequences = ways[i].sequences, .batch = ways[i].batch, .kv_cache = ways[i].cache};
        char way[64];
        snprintf(way, sizeof way, "%s, %u join, %u together", ways[i].unit, ways[i].sequences, ways[i].batch);
        struct outcome o = run_on(db, "m1", path,
                                  (struct run_request){.unit = ways[i].unit,
                                                       .mode = RUN_FUNCTIONAL,
                                                       .language = &options,
                                                       .threads = 1,
                                                       .inputs = inputs,
                                                       .input_count = SOUNDS});
        check_sequences(&o, expected, SOUNDS, way);
        run_result_free(&o.result);
    }
    made_free(&m);
    unlink(path);
    for (unsigned i = 0; i < SOUNDS; i++)
        unlink(heard[i]);
    rmdir(folder);
}

/* ---- drafts ---- */

/* A draft that reads the same text: what is said is the model's. Of other weights it is mostly wrong, and the model as its own
 * draft never. */
static void test_drafts(void)
{
    static struct made_model m, other;
    static const char *const units[] = {"cpu", "gpu"};
    char folder[] = "/tmp/orchard_encoder_XXXXXX", path[256], draft[256];
    struct expected expected;
    CU_ASSERT_TRUE_FATAL(mkdtemp(folder) != NULL);
    made_create(&m, TEXT_PLAIN, false, 5);
    made_create(&other, TEXT_GATED, false, 8);
    write_file(folder, "t5.gguf", m.bytes, m.file_size, path);
    write_file(folder, "draft.gguf", other.bytes, other.file_size, draft);
    expect_text(&m, texts[2].token, texts[2].count, &expected);
    for (size_t i = 0; i < 2 * ARRAY_COUNT(units); i++) {
        const struct language_options options = {
            .prompt_text = texts[2].text, .generate = SAID, .draft = i % 2 ? path : draft, .draft_tokens = 3};
        struct outcome o =
            run_on(db, "m1", path,
                   (struct run_request){.unit = units[i / 2], .mode = RUN_FUNCTIONAL, .language = &options, .threads = 1});
        check_said(&o, "tokens", expected.said, expected.count, units[i / 2]);
        const double accepted = counter(&o, LANGUAGE_DRAFT_ACCEPTED), proposed = counter(&o, LANGUAGE_DRAFT_PROPOSED);
        CHECK(proposed > 0 && (accepted == proposed) == (i % 2 == 1), "draft %zu: %g of %g: %s", i, accepted, proposed,
              o.error.text);
        run_result_free(&o.result);
    }
    made_free(&m);
    made_free(&other);
    unlink(path);
    unlink(draft);
    rmdir(folder);
}

static const struct suite_test tests[] = {
    {"texts side by side", test_texts},
    {"copies of a text", test_copies},
    {"sounds side by side", test_sounds},
    {"drafts that read the same", test_drafts},
};
int main(void)
{
    return example_chips_run("language encoder batch", tests, ARRAY_COUNT(tests), &db);
}
