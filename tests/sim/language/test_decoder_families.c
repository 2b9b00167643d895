/* The reference decoder on tiny random models of each family, against logits of a float64 forward pass in NumPy; and the
 * sampler. */
#include "sim/base/npy.h"
#include "sim/language/decoder.h"
#include "sim/language/sampler.h"
#include "tests/sim/language/language_example.h"

#include <math.h>

/* Rows of a token and the logits after it. */
struct answers {
    struct example_file file;
    struct npy_array array;
    size_t rows, columns;
};

static float answer(const struct answers *a, size_t row, size_t column)
{
    float value;
    memcpy(&value, a->array.data + 4 * (row * a->columns + column), sizeof value);
    return value;
}

/* The largest difference from the answers, relative to the largest logit. */
static double difference(struct decoder *d, const struct answers *a)
{
    float logits[256];
    struct orch_error error = {0};
    double largest = 0, range = 0;
    decoder_rewind(d, 0);
    for (size_t i = 0; i < a->rows; i++) {
        CHECK(decoder_step(d, (uint32_t)answer(a, i, 0), logits, &error), "%s", error.text);
        for (size_t k = 0; k + 1 < a->columns; k++) {
            largest = fmax(largest, fabs((double)logits[k] - answer(a, i, k + 1)));
            range = fmax(range, fabs((double)answer(a, i, k + 1)));
        }
    }
    return largest / range;
}

static void check_family(const char *name)
{
    char path[64];
    struct example_file file;
    struct answers a;
    struct orch_error error = {0};
    struct language_shape shape;
    snprintf(path, sizeof path, "families/%s.gguf.gz", name);
    CU_ASSERT_TRUE_FATAL(example_golden(path, &file));
    snprintf(path, sizeof path, "families/%s.npy", name);
    CU_ASSERT_TRUE_FATAL(example_golden(path, &a.file));
    CU_ASSERT_TRUE_FATAL(npy_parse(a.file.bytes, a.file.size, &a.array, &error));
    a.rows = a.array.shape[0];
    a.columns = a.array.shape[1];
    struct gguf *const gguf = gguf_parse(name, file.bytes, file.size, &error);
    struct decoder *const d =
        gguf && shape_of_gguf(gguf, &shape, &error) ? decoder_create(&shape, gguf_weights(gguf), 24, &error) : NULL;
    CHECK(d != NULL, "%s: %s", name, error.text);
    if (d) {
        CU_ASSERT_TRUE(shape.vocabulary + 1 == a.columns && a.rows == 20);
        const double off = difference(d, &a);
        CHECK(off < 2e-6, "%s: logits differ by %g of their range", name, off);
        /* What the cache still holds of another text does no harm. */
        CU_ASSERT_TRUE(difference(d, &a) == off);
    }
    decoder_free(d);
    gguf_close(gguf);
    free(file.bytes);
    free(a.file.bytes);
}

static void test_families(void)
{
    static const char *const names[] = {"gpt2",    "phi2",    "phi3",   "qwen2",  "qwen3",   "gemma",
                                        "mixtral", "mistral", "llama3", "linear", "gpt-oss", "phi4-mini"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        check_family(names[i]);
}

/* Llama 3's stretching of waves by its parameters is that by the factors that GGUF files hold instead. */
static void test_scaling(void)
{
    struct example_file file;
    struct answers a;
    struct orch_error error = {0};
    struct language_shape shape;
    struct weight_tensor kept[64];
    struct weight_list without = {.tensor = kept};
    CU_ASSERT_TRUE_FATAL(example_golden("families/llama3.gguf.gz", &file) && example_golden("families/llama3.npy", &a.file));
    CU_ASSERT_TRUE_FATAL(npy_parse(a.file.bytes, a.file.size, &a.array, &error));
    a.rows = a.array.shape[0];
    a.columns = a.array.shape[1];
    struct gguf *const gguf = gguf_parse("llama3", file.bytes, file.size, &error);
    CU_ASSERT_TRUE_FATAL(gguf && shape_of_gguf(gguf, &shape, &error));
    for (size_t i = 0; i < gguf_weights(gguf)->count; i++)
        if (strcmp(gguf_weights(gguf)->tensor[i].name, "rope_freqs.weight") != 0)
            kept[without.count++] = gguf_weights(gguf)->tensor[i];
    for (unsigned with = 0; with < 2; with++) {
        shape.scaling = with ? SHAPE_SCALING_LLAMA3 : SHAPE_SCALING_NONE;
        shape.scaling_factor = 8;
        shape.scaling_low = 1;
        shape.scaling_high = 4;
        shape.scaling_context = 64;
        struct decoder *const d = decoder_create(&shape, &without, 24, &error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(d);
        const double off = difference(d, &a);
        CHECK(with ? off < 2e-6 : off > 1e-3, "scaling %u: logits differ by %g of their range", with, off);
        decoder_free(d);
    }
    gguf_close(gguf);
    free(file.bytes);
    free(a.file.bytes);
}

/* ---- the sampler ---- */

/* Logarithms of 8, 4, 2, 1, 1 sixteenths. */
static const float sixteenths[5] = {2.0794415f, 1.3862944f, 0.6931472f, 0, 0};

static void expect(struct sampler_params params, const uint32_t *history, size_t count, const double expected[5])
{
    struct orch_error error = {0};
    struct sampler *const s = sampler_create(&params, 5, 7, &error);
    double p[5], seen[5] = {0};
    enum { DRAWS = 20000 };
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    for (unsigned i = 0; i < DRAWS; i++)
        seen[sampler_next(s, sixteenths, history, count)] += 1.0 / DRAWS;
    sampler_probabilities(s, p);
    for (unsigned i = 0; i < 5; i++) {
        CHECK(fabs(p[i] - expected[i]) < 1e-6, "probability of %u is %g, expected %g", i, p[i], expected[i]);
        CHECK(fabs(seen[i] - expected[i]) < 5 * sqrt(0.25 / DRAWS), "share of %u is %g, expected %g", i, seen[i], expected[i]);
    }
    sampler_free(s);
}

static void test_sampler(void)
{
    const uint32_t history[] = {3, 0, 0};
    expect((struct sampler_params){.temperature = 0}, NULL, 0, (const double[]){1, 0, 0, 0, 0});
    expect((struct sampler_params){.temperature = 1}, NULL, 0,
           (const double[]){8 / 16.0, 4 / 16.0, 2 / 16.0, 1 / 16.0, 1 / 16.0});
    expect((struct sampler_params){.temperature = 1, .top_k = 2}, NULL, 0, (const double[]){8 / 12.0, 4 / 12.0, 0, 0, 0});
    expect((struct sampler_params){.temperature = 1, .top_p = 0.7}, NULL, 0, (const double[]){8 / 12.0, 4 / 12.0, 0, 0, 0});
    expect((struct sampler_params){.temperature = 1, .top_p = 0.01}, NULL, 0, (const double[]){1, 0, 0, 0, 0});
    expect((struct sampler_params){.temperature = 1, .min_p = 0.24}, NULL, 0,
           (const double[]){8 / 14.0, 4 / 14.0, 2 / 14.0, 0, 0});
    /* At half the temperature probabilities are squared. */
    expect((struct sampler_params){.temperature = 0.5}, NULL, 0,
           (const double[]){64 / 86.0, 16 / 86.0, 4 / 86.0, 1 / 86.0, 1 / 86.0});
    /* The logit of token 0 is divided by 3, once: 8 becomes 2. Token 3 has logit 0 and stays. */
    expect((struct sampler_params){.temperature = 1, .repetition_penalty = 3, .repetition_last = 3}, history, 3,
           (const double[]){2 / 10.0, 4 / 10.0, 2 / 10.0, 1 / 10.0, 1 / 10.0});
    expect((struct sampler_params){.temperature = 0, .repetition_penalty = 3, .repetition_last = 2}, history, 3,
           (const double[]){0, 1, 0, 0, 0});
}

static void test_sampler_seeds(void)
{
    const struct sampler_params params = {.temperature = 1};
    struct orch_error error = {0};
    struct sampler *const a = sampler_create(&params, 5, 1, &error), *const b = sampler_create(&params, 5, 1, &error),
                          *const c = sampler_create(&params, 5, 2, &error);
    unsigned same = 0;
    for (unsigned i = 0; i < 100; i++) {
        const uint32_t first = sampler_next(a, sixteenths, NULL, 0);
        CU_ASSERT_EQUAL(sampler_next(b, sixteenths, NULL, 0), first);
        same += sampler_next(c, sixteenths, NULL, 0) == first;
    }
    CU_ASSERT_TRUE(same < 70);
    const float odd[5] = {NAN, -INFINITY, 1, NAN, -INFINITY}, none[5] = {NAN, NAN, NAN, NAN, NAN};
    CU_ASSERT_EQUAL(sampler_next(a, odd, NULL, 0), 2);
    CU_ASSERT_TRUE(sampler_next(a, none, NULL, 0) < 5);
    sampler_free(a);
    sampler_free(b);
    sampler_free(c);
    CU_ASSERT_PTR_NULL(sampler_create(&(struct sampler_params){.temperature = -1}, 5, 1, &error));
    CHECK(strstr(error.text, "temperature -1: expected 0 to 100") != NULL, "%s", error.text);
    CU_ASSERT_PTR_NULL(sampler_create(&(struct sampler_params){.top_p = NAN}, 5, 1, &error));
}

static const struct suite_test tests[] = {
    {"computes every family as NumPy does", test_families},
    {"stretches waves as Llama 3 does", test_scaling},
    {"samples with the right probabilities", test_sampler},
    {"samples the same with the same seed", test_sampler_seeds},
};
SUITE_MAIN("decoder_families", tests)
