/* T5 and Whisper on simulated units, of random weights: logits token by token against a forward pass over all places in double
 * precision, texts that runs generate against its greedy tokens, and what is refused. */
#include "isa/array_count.h"
#include "sim/base/distance_bucket.h"
#include "sim/base/npy.h"
#include "sim/language/mel_spectrogram.h"
#include "sim/run/language/language_options.h"
#include "sim/run/language/language_step.h"
#include "tests/sim/run/encoder_run.h"
#include "tests/sim/run_example.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <unistd.h>

enum { TEXT = 20 };

static struct chip_db *db;

static uint32_t token_at(unsigned i)
{
    return 3 + (7 * i + i * i % 11) % (MADE_VOCABULARY - 3);
}

/* ---- logits ---- */

/* The largest difference from the exact logits, as a share of their range, over some tokens one after another. */
static double difference(const struct made_model *m, struct language_stepper *s, bool together)
{
    static double memory[MADE_PLACES * 48];
    double logits[MADE_VOCABULARY], largest = 0, range = 0;
    float sound[MADE_FRAMES * MADE_CHANNELS];
    uint32_t text[TEXT], said[SAID];
    struct language_sum sum = {0};
    struct orch_error error = {0};
    for (unsigned i = 0; i < TEXT; i++)
        text[i] = token_at(i);
    for (unsigned i = 0; i < SAID; i++)
        said[i] = i ? token_at(i + 3) : 0;
    made_sound(sound, 0.7);
    const float *const heard = m->kind == SOUND ? sound : NULL;
    const unsigned seen = exact_encode(m, text, TEXT, heard, memory);
    const struct language_source source = {.token = text, .count = TEXT, .sound = heard};
    CHECK(language_encode(s, &source, 1, &sum, &error), "%s", error.text);
    for (unsigned i = 0; i < SAID; i++) {
        const float *got = NULL;
        if (!together)
            CHECK(language_step(s, &said[i], 1, &got, &sum, &error), "%s", error.text);
        else if (i + 1 == SAID)
            CHECK(language_step(s, said, SAID, &got, &sum, &error), "%s", error.text);
        exact_logits(m, memory, seen, said, i + 1, logits);
        for (unsigned k = 0; got && k < MADE_VOCABULARY; k++) {
            largest = fmax(largest, fabs((double)got[k] - logits[k]));
            range = fmax(range, fabs(logits[k]));
        }
    }
    return range > 0 ? largest / range : INFINITY;
}

static void check_kept(enum encoder_kind kind, bool halves, const char *cached, enum orch_part part, double most)
{
    static const char *const names[] = {"t5", "flan-t5", "whisper"};
    static struct made_model m;
    struct orch_error error = {0};
    struct run_result result;
    struct chip *const chip = chip_open(db, "m1", &(struct chip_overrides){NULL, 0}, &error);
    const struct run_request request = {.chip = chip, .mode = RUN_FUNCTIONAL, .threads = 1};
    struct language_model model = {.name = names[kind]};
    made_create(&m, kind, halves, 17 + kind);
    m.cached = cached && cached[0] != 'p' ? cached : NULL; /* pages alone keep the type */
    run_result_init(&result);
    model.gguf = gguf_parse(names[kind], m.bytes, m.file_size, &error);
    CHECK(chip && model.gguf && shape_of_gguf(model.gguf, &model.shape, &error), "%s", error.text);
    model.weights = model.gguf ? decoder_create(&model.shape, gguf_weights(model.gguf), 1, &error) : NULL;
    CHECK(model.weights != NULL, "%s: %s", names[kind], error.text);
    struct language_unit *const unit = language_unit_create(&request, &result, &error);
    struct language_room room = {.context = TEXT, .lanes = 1, .encoded = kind == SOUND ? MADE_FRAMES / 2 : TEXT};
    CHECK(language_cache_form_read(cached, &room.cache, &error), "%s", error.text);
    room.cache.pages = room.cache.page ? (TEXT + room.cache.page - 1) / room.cache.page : 0;
    for (unsigned together = 0; model.weights && unit && together < 2; together++) {
        struct language_stepper *const s = language_stepper_create(&model, unit, part, &room, &error);
        CHECK(s != NULL, "%s: %s", names[kind], error.text);
        const double off = s ? difference(&m, s, together == 1) : INFINITY;
        CHECK(off < most, "%s %s on %s: logits differ by %g of their range", names[kind], together ? "together" : "one by one",
              orch_part_name(part), off);
        language_stepper_free(s);
    }
    language_unit_free(unit, NULL);
    language_model_close(&model);
    run_result_free(&result);
    chip_close(chip);
    made_free(&m);
}

static void check_model(enum encoder_kind kind, bool halves, enum orch_part part, double most)
{
    check_kept(kind, halves, NULL, part, most);
}

/* What the encoder made is kept in the type of the cache as well. Logits are those of a cache that is rounded alike; where
 * float32 falls on the other side of a half of a step, one value of a block is one step off. */
static void test_kept(void)
{
    static const enum orch_part parts[] = {PART_CPU, PART_AMX, PART_GPU};
    static const char *const types[] = {"f16", "q8_0", "q8_0,paged:4"};
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
        for (size_t k = 0; k < ARRAY_COUNT(types); k++)
            for (enum encoder_kind kind = TEXT_GATED; kind <= SOUND; kind++)
                check_kept(kind, false, types[k], parts[i], 1e-4);
    check_kept(TEXT_PLAIN, false, "f16,paged:8", PART_GPU, 1e-4);
    check_kept(TEXT_PLAIN, false, "paged:4", PART_CPU, 1e-5);
}

/* Scores of T5 are not scaled: rounding to float32 goes through steeper powers than in other families. */
static void test_logits(void)
{
    static const enum orch_part parts[] = {PART_CPU, PART_AMX, PART_GPU};
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
        for (enum encoder_kind kind = TEXT_PLAIN; kind <= SOUND; kind++)
            check_model(kind, false, parts[i], 1e-5);
    check_model(TEXT_GATED, true, PART_GPU, 1e-5);
    check_model(SOUND, true, PART_CPU, 1e-5);
}

/* Values are halves: rounding errors of some twenty products and norms. */
static void test_halves(void)
{
    for (enum encoder_kind kind = TEXT_PLAIN; kind <= SOUND; kind++)
        check_model(kind, true, PART_ANE, 2e-2);
}

/* ---- steps of distance ---- */

static void test_distances(void)
{
    for (int both = 0; both < 2; both++)
        for (int64_t buckets = 8; buckets <= 32; buckets *= 2)
            for (int64_t distance = -140; distance <= 140; distance++)
                CHECK(distance_bucket(distance, buckets, both) == exact_bucket(distance, buckets, both), "%lld of %lld, %d",
                      (long long)distance, (long long)buckets, both);
    CU_ASSERT_EQUAL(distance_bucket(-11, 32, true), 8); /* the table of the paper's authors: 8 to 11, 12 to 15, 16 to 22 */
    CU_ASSERT_EQUAL(distance_bucket(-12, 32, true), 9);
    CU_ASSERT_EQUAL(distance_bucket(22, 32, true), 16 + 10);
}

/* ---- runs ---- */

static void test_texts(void)
{
    static struct made_model m;
    static double memory[MADE_PLACES * 48];
    static const char *const units[] = {"cpu", "gpu", "hybrid"};
    /* "ea" stands for 4, "fa" for 5 ...; the end is added. */
    static const uint32_t text[] = {3, 4, 9, 28, 1}, start = 0;
    char folder[] = "/tmp/orchard_encoder_XXXXXX", path[256];
    uint32_t said[SAID];
    CU_ASSERT_TRUE_FATAL(mkdtemp(folder) != NULL);
    made_create(&m, TEXT_PLAIN, false, 5);
    write_file(folder, "t5.gguf", m.bytes, m.file_size, path);
    const unsigned count = exact_text(&m, memory, exact_encode(&m, text, ARRAY_COUNT(text), NULL, memory), &start, 1, SAID, said);
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        const struct language_options options = {.prompt_text = "eajacb", .generate = SAID};
        struct outcome o =
            run_on(db, "m1", path, (struct run_request){.unit = units[i], .mode = RUN_FULL, .language = &options, .threads = 1});
        CHECK(o.ok && o.result.prefill_seconds > 0 && o.result.seconds > o.result.prefill_seconds && o.result.joules > 0,
              "%s: %s", units[i], o.error.text);
        check_said(&o, "prompt_tokens", text, ARRAY_COUNT(text), units[i]);
        check_said(&o, "tokens", said, count, units[i]);
        run_result_free(&o.result);
    }
    made_free(&m);
    unlink(path);
    rmdir(folder);
}

static void test_sounds(void)
{
    static struct made_model m;
    static double memory[MADE_PLACES * 48];
    static const char *const units[] = {"cpu", "gpu"};
    static const uint32_t first[] = {3, 4, 5, 6};
    char folder[] = "/tmp/orchard_encoder_XXXXXX", path[256], heard[256], input[300], header[4096];
    float sound[MADE_FRAMES * MADE_CHANNELS];
    uint32_t said[SAID];
    struct npy_array array = {.type = NPY_F32, .dims = 2, .shape = {MADE_CHANNELS, MADE_FRAMES}, .data = (const uint8_t *)sound};
    struct orch_error error = {0};
    CU_ASSERT_TRUE_FATAL(mkdtemp(folder) != NULL);
    made_create(&m, SOUND, false, 7);
    made_sound(sound, 0.7);
    write_file(folder, "whisper.gguf", m.bytes, m.file_size, path);
    snprintf(heard, sizeof heard, "%s/mel.npy", folder);
    snprintf(input, sizeof input, "mel=%s", heard);
    CU_ASSERT_TRUE_FATAL(npy_measure(&array) && npy_save(heard, &array, &error) && npy_header(&array, header, sizeof header));
    const char *const inputs[] = {input};
    const unsigned seen = exact_encode(&m, NULL, 0, sound, memory);
    const unsigned count = exact_text(&m, memory, seen, first, ARRAY_COUNT(first), SAID, said);
    const struct language_options options = {.generate = SAID};
    struct run_request request = {.mode = RUN_FULL, .language = &options, .threads = 1, .inputs = inputs, .input_count = 1};
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        request.unit = units[i];
        struct outcome o = run_on(db, "m1", path, request);
        CHECK(o.ok && o.result.prefill_seconds > 0, "%s: %s", units[i], o.error.text);
        check_said(&o, "prompt_tokens", first, ARRAY_COUNT(first), units[i]);
        check_said(&o, "tokens", said, count, units[i]);
        run_result_free(&o.result);
    }
    request.input_count = 0;
    struct outcome o = run_on(db, "m1", path, request);
    CHECK(!o.ok && strstr(o.error.text, "--input FILE.wav"), "%s", o.error.text);
    array.shape[1]--;
    request.input_count = 1;
    CU_ASSERT_TRUE_FATAL(npy_measure(&array) && npy_save(heard, &array, &error));
    o = run_on(db, "m1", path, request);
    CHECK(!o.ok && strstr(o.error.text, "hears 5 channels of 24 frames"), "%s", o.error.text);
    made_free(&m);
    unlink(path);
    unlink(heard);
    rmdir(folder);
}

/* A sound file of 16-bit samples, at `rate`. */
static void write_sound(const char *folder, const int16_t *sample, unsigned count, uint32_t rate, char path[256])
{
    uint8_t file[44 + 2 * MADE_FRAMES * MEL_STEP + 2] = "RIFF\0\0\0\0WAVEfmt \20\0\0\0\1\0\1\0";
    const uint32_t bytes = 2 * count, second = 2 * rate, frame = 2 | 16 << 16;
    memcpy(file + 24, &rate, 4);
    memcpy(file + 28, &second, 4);
    memcpy(file + 32, &frame, 4);
    memcpy(file + 36, "data", 4);
    memcpy(file + 40, &bytes, 4);
    memcpy(file + 44, sample, bytes);
    write_file(folder, "sound.wav", file, 44 + bytes, path);
}

/* A sound file says what its spectrogram says. */
static void test_sound_files(void)
{
    enum { COUNT = 20 * MEL_STEP, MOST = MADE_FRAMES * MEL_STEP };
    static struct made_model m;
    static double memory[MADE_PLACES * 48];
    static const uint32_t first[] = {3, 4, 5, 6};
    char folder[] = "/tmp/orchard_encoder_XXXXXX", path[256], heard[256];
    float sample[COUNT], mel[MADE_FRAMES * MADE_CHANNELS];
    int16_t stored[MOST + 1] = {0};
    uint32_t said[SAID];
    struct orch_error error = {0};
    CU_ASSERT_TRUE_FATAL(mkdtemp(folder) != NULL);
    made_create(&m, SOUND, false, 7);
    write_file(folder, "whisper.gguf", m.bytes, m.file_size, path);
    for (unsigned i = 0; i < COUNT; i++) {
        stored[i] = (int16_t)(9000 * sin(0.02 * i + 1e-5 * i * i));
        sample[i] = stored[i] / 32768.0f;
    }
    CU_ASSERT_TRUE_FATAL(mel_spectrogram(sample, COUNT, MADE_CHANNELS, MADE_FRAMES, mel, &error));
    const unsigned seen = exact_encode(&m, NULL, 0, mel, memory);
    const unsigned count = exact_text(&m, memory, seen, first, ARRAY_COUNT(first), SAID, said);
    static const struct {
        unsigned count;
        uint32_t rate;
        const char *what;
    } rows[] = {{COUNT, MEL_RATE, NULL},
                {COUNT, 44100, "44100 samples a second; whisper.gguf hears 16000"},
                {MOST + 1, MEL_RATE, "hears 0.24 s at a time"},
                {0, MEL_RATE, "it has no samples"}};
    const char *const inputs[] = {heard};
    const struct language_options options = {.generate = SAID};
    const struct run_request request = {
        .unit = "cpu", .mode = RUN_FULL, .language = &options, .threads = 1, .inputs = inputs, .input_count = 1};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        write_sound(folder, stored, rows[i].count, rows[i].rate, heard);
        struct outcome o = run_on(db, "m1", path, request);
        if (rows[i].what)
            CHECK(!o.ok && strstr(o.error.text, rows[i].what), "expected '%s', got '%s'", rows[i].what, o.error.text);
        else
            check_said(&o, "tokens", said, count, "cpu");
        run_result_free(&o.result);
    }
    made_free(&m);
    unlink(path);
    unlink(heard);
    rmdir(folder);
}

/* A draft that hears the same: the text is the model's. It proposes what it would say itself, so a draft of other weights is
 * mostly wrong, and the model as its own draft never. */
static void test_drafts(void)
{
    static struct made_model m, other;
    static double memory[MADE_PLACES * 48];
    static const uint32_t first[] = {3, 4, 5, 6};
    char folder[] = "/tmp/orchard_encoder_XXXXXX", path[256], draft[256], heard[256], input[300];
    float sound[MADE_FRAMES * MADE_CHANNELS];
    uint32_t said[SAID];
    struct npy_array array = {.type = NPY_F32, .dims = 2, .shape = {MADE_CHANNELS, MADE_FRAMES}, .data = (const uint8_t *)sound};
    struct orch_error error = {0};
    CU_ASSERT_TRUE_FATAL(mkdtemp(folder) != NULL);
    made_create(&m, SOUND, false, 7);
    made_create(&other, SOUND, false, 8);
    made_sound(sound, 0.7);
    write_file(folder, "whisper.gguf", m.bytes, m.file_size, path);
    write_file(folder, "draft.gguf", other.bytes, other.file_size, draft);
    snprintf(heard, sizeof heard, "%s/mel.npy", folder);
    snprintf(input, sizeof input, "mel=%s", heard);
    CU_ASSERT_TRUE_FATAL(npy_measure(&array) && npy_save(heard, &array, &error));
    const char *const inputs[] = {input}, *const drafts[] = {draft, path};
    const unsigned seen = exact_encode(&m, NULL, 0, sound, memory);
    const unsigned count = exact_text(&m, memory, seen, first, ARRAY_COUNT(first), SAID, said);
    for (size_t i = 0; i < ARRAY_COUNT(drafts); i++) {
        const struct language_options options = {.generate = SAID, .draft = drafts[i], .draft_tokens = 3};
        struct outcome o =
            run_on(db, "m1", path,
                   (struct run_request){
                       .unit = "cpu", .mode = RUN_FULL, .language = &options, .threads = 1, .inputs = inputs, .input_count = 1});
        check_said(&o, "tokens", said, count, "cpu");
        const double accepted = counter(&o, "language.draft_accepted"), proposed = counter(&o, "language.draft_proposed");
        CHECK(proposed > 0 && (accepted == proposed) == (i == 1), "draft %zu: %g of %g: %s", i, accepted, proposed, o.error.text);
        run_result_free(&o.result);
    }
    made_free(&m);
    made_free(&other);
    unlink(path);
    unlink(draft);
    unlink(heard);
    rmdir(folder);
}

static void test_refusals(void)
{
    static struct made_model m;
    char folder[] = "/tmp/orchard_encoder_XXXXXX", path[256];
    static const struct {
        struct language_options options;
        const char *unit, *what;
    } rows[] = {{{.prompt_text = "ea", .prompt_cache = "x"}, "cpu", "prompt-cache: t5.gguf has an encoder"},
                {{.prompt_text = "ea", .kv_cache = "q8_0", .generate = 4}, "cpu", "no whole blocks of 32"},
                {{.prompt_text = "ea"}, "combined", "unit: t5.gguf has an encoder"},
                {{.prompt_text = "ea", .generate = 33}, "cpu", "do not fit the context of 32"}};
    CU_ASSERT_TRUE_FATAL(mkdtemp(folder) != NULL);
    made_create(&m, TEXT_PLAIN, false, 5);
    write_file(folder, "t5.gguf", m.bytes, m.file_size, path);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct outcome o = run_on(
            db, "m1", path, (struct run_request){.unit = rows[i].unit, .mode = RUN_FUNCTIONAL, .language = &rows[i].options});
        CHECK(!o.ok && strstr(o.error.text, rows[i].what), "expected '%s', got '%s'", rows[i].what, o.error.text);
        run_result_free(&o.result);
    }
    made_free(&m);
    unlink(path);
    rmdir(folder);
}

static const struct suite_test tests[] = {
    {"logits of text and sound, token by token and together", test_logits},
    {"logits with keys and values in other types", test_kept},
    {"logits in halves on the Neural Engine", test_halves},
    {"steps of distance", test_distances},
    {"texts", test_texts},
    {"sounds", test_sounds},
    {"sound files", test_sound_files},
    {"drafts that hear the same", test_drafts},
    {"refusals", test_refusals},
};
int main(void)
{
    return example_chips_run("language encoders", tests, ARRAY_COUNT(tests), &db);
}
