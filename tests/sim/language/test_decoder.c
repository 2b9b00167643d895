/* The reference decoder against golden tokens, logits and perplexity of stories260K, and against itself where two ways must
 * agree. */
#include "sim/base/npy.h"
#include "sim/language/decoder.h"
#include "sim/language/sampler.h"
#include "sim/language/tokenizer.h"
#include "tests/sim/language/language_example.h"

#include <json-c/json.h>
#include <math.h>

enum { VOCABULARY = 512, CONTEXT = 512 };

/* What the README of the golden data asks of float arithmetic. */
static const double logit_tolerance = 1e-4, nll_tolerance = 1e-5;

struct story {
    const char *type;
    struct example_file file;
    struct gguf *gguf;
    struct tokenizer *tokenizer;
    struct language_shape shape;
    struct decoder *decoder;
    json_object *golden;
};

static bool open_story(const char *type, struct story *s)
{
    char name[128];
    struct orch_error error = {0};
    struct example_file text;
    *s = (struct story){.type = type};
    snprintf(name, sizeof name, "stories260K/stories260K-%s.gguf", type);
    if (!example_golden(name, &s->file))
        return false;
    s->gguf = gguf_parse(name, s->file.bytes, s->file.size, &error);
    s->tokenizer = s->gguf ? tokenizer_create(s->gguf, &error) : NULL;
    if (s->tokenizer && shape_of_gguf(s->gguf, &s->shape, &error))
        s->decoder = decoder_create(&s->shape, gguf_weights(s->gguf), CONTEXT, &error);
    CHECK(s->decoder != NULL, "%s", error.text);
    snprintf(name, sizeof name, "stories260K/golden/%s.json", type);
    CU_ASSERT_TRUE_FATAL(s->decoder && example_golden(name, &text));
    s->golden = json_tokener_parse((char *)text.bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s->golden);
    free(text.bytes);
    return true;
}

static void close_story(struct story *s)
{
    json_object_put(s->golden);
    decoder_free(s->decoder);
    tokenizer_free(s->tokenizer);
    gguf_close(s->gguf);
    free(s->file.bytes);
}

static struct npy_array load_array(const char *name, struct example_file *file)
{
    char path[128];
    struct npy_array array = {0};
    struct orch_error error = {0};
    snprintf(path, sizeof path, "stories260K/golden/%s", name);
    CU_ASSERT_TRUE_FATAL(example_golden(path, file));
    CHECK(npy_parse(file->bytes, file->size, &array, &error), "%s", error.text);
    return array;
}

/* Greedy generation of one prompt; the logits after each token that was fed go to `logits`. */
static void generate(struct story *s, json_object *prompt, struct token_list *tokens, float *logits)
{
    const struct sampler_params greedy = {0};
    struct orch_error error = {0};
    struct sampler *const sampler = sampler_create(&greedy, VOCABULARY, 1, &error);
    const char *const text = json_object_get_string(json_object_object_get(prompt, "prompt"));
    const int count = json_object_get_int(json_object_object_get(prompt, "count"));
    CU_ASSERT_TRUE_FATAL(tokenizer_encode(s->tokenizer, text, strlen(text), TOKENIZE_FRAME, tokens, &error));
    decoder_rewind(s->decoder, 0);
    const size_t prompt_tokens = tokens->count;
    for (size_t i = 0; i < tokens->count; i++) {
        CU_ASSERT_TRUE_FATAL(decoder_step(s->decoder, tokens->token[i], logits + i * VOCABULARY, &error));
        if (i + 1 < tokens->count || (int)(tokens->count - prompt_tokens) == count)
            continue;
        const uint32_t next = sampler_next(sampler, logits + i * VOCABULARY, tokens->token, tokens->count);
        token_list_add(tokens, next, &error);
        if (tokenizer_ends(s->tokenizer, next))
            break;
    }
    sampler_free(sampler);
}

static bool same_numbers(const struct token_list *tokens, size_t first, json_object *golden)
{
    const size_t count = json_object_array_length(golden);
    for (size_t i = 0; i < count; i++)
        if (first + i >= tokens->count ||
            (int)tokens->token[first + i] != json_object_get_int(json_object_array_get_idx(golden, i)))
            return false;
    return true;
}

static void check_logits(json_object *kept, const float *logits)
{
    struct example_file file;
    double largest = 0;
    const char *const name = json_object_get_string(json_object_object_get(kept, "file"));
    json_object *const positions = json_object_object_get(kept, "positions");
    const struct npy_array golden = load_array(strrchr(name, '/') ? strrchr(name, '/') + 1 : name, &file);
    for (size_t p = 0; p < json_object_array_length(positions); p++)
        for (size_t i = 0; i < VOCABULARY; i++) {
            float want;
            memcpy(&want, golden.data + 4 * (p * VOCABULARY + i), sizeof want);
            const size_t at = (size_t)json_object_get_int(json_object_array_get_idx(positions, p));
            largest = fmax(largest, fabs((double)logits[at * VOCABULARY + i] - want));
        }
    CHECK(largest < logit_tolerance, "%s: logits differ by %g", name, largest);
    free(file.bytes);
}

static void check_prompt(struct story *s, json_object *prompt)
{
    const char *const id = json_object_get_string(json_object_object_get(prompt, "id"));
    json_object *const given = json_object_object_get(prompt, "prompt_tokens"),
                       *const expected = json_object_object_get(prompt, "tokens"), *kept = NULL;
    struct token_list tokens = {0};
    struct token_text text = {0};
    struct orch_error error = {0};
    float *const logits = malloc(CONTEXT * VOCABULARY * sizeof *logits);
    generate(s, prompt, &tokens, logits);
    const size_t before = json_object_array_length(given), after = json_object_array_length(expected);
    CHECK(same_numbers(&tokens, 0, given), "%s, %s: tokens of the prompt", s->type, id);
    CHECK(tokens.count == before + after && same_numbers(&tokens, before, expected), "%s, %s: %zu new tokens, expected %zu",
          s->type, id, tokens.count - before, after);
    CU_ASSERT_TRUE(tokenizer_decode(s->tokenizer, tokens.token, tokens.count, true, &text, &error));
    const char *const whole = json_object_get_string(json_object_object_get(prompt, "text"));
    CHECK(text.length == strlen(whole) && memcmp(text.text, whole, text.length) == 0, "%s, %s: '%.*s'", s->type, id,
          (int)text.length, text.text);
    if (json_object_object_get_ex(prompt, "logits", &kept) && kept)
        check_logits(kept, logits);
    free(logits);
    token_text_free(&text);
    token_list_free(&tokens);
}

/* Negative logarithm of a token's probability. */
static double nll_of(const float *logits, uint32_t token)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < VOCABULARY; i++)
        most = fmax(most, logits[i]);
    for (size_t i = 0; i < VOCABULARY; i++)
        sum += exp(logits[i] - most);
    return log(sum) - (logits[token] - most);
}

static void check_perplexity(struct story *s)
{
    struct example_file text, file;
    struct token_list tokens = {0};
    struct orch_error error = {0};
    float logits[VOCABULARY];
    char name[64];
    double sum = 0, largest = 0;
    snprintf(name, sizeof name, "nll-%s.npy", s->type);
    const struct npy_array golden = load_array(name, &file);
    CU_ASSERT_TRUE_FATAL(example_golden("stories260K/perplexity.txt", &text));
    CU_ASSERT_TRUE_FATAL(tokenizer_encode(s->tokenizer, (char *)text.bytes, text.size, TOKENIZE_FRAME, &tokens, &error));
    CU_ASSERT_TRUE_FATAL(tokens.count == golden.count + 1);
    decoder_rewind(s->decoder, 0);
    for (size_t i = 0; i + 1 < tokens.count; i++) {
        float want;
        CU_ASSERT_TRUE_FATAL(decoder_step(s->decoder, tokens.token[i], logits, &error));
        const double nll = nll_of(logits, tokens.token[i + 1]);
        memcpy(&want, golden.data + 4 * i, sizeof want);
        largest = fmax(largest, fabs(nll - want));
        sum += nll;
    }
    const double mean = sum / (double)golden.count;
    json_object *const expected = json_object_object_get(s->golden, "perplexity");
    const double golden_mean = json_object_get_double(json_object_object_get(expected, "mean_nll"));
    const double golden_perplexity = json_object_get_double(json_object_object_get(expected, "perplexity"));
    CHECK(fabs(mean - golden_mean) < nll_tolerance, "%s: mean %.9g, expected %.9g", s->type, mean, golden_mean);
    CHECK(fabs(exp(mean) / golden_perplexity - 1) < 0.005, "%s: perplexity %.7g, expected %.7g", s->type, exp(mean),
          golden_perplexity);
    CHECK(largest < logit_tolerance, "%s: one token's differs by %g", s->type, largest);
    token_list_free(&tokens);
    free(text.bytes);
    free(file.bytes);
}

static void check_story(const char *type)
{
    struct story s;
    if (!open_story(type, &s)) {
        suite_skip("the F32 and F16 files of stories260K are not here");
        return;
    }
    json_object *const prompts = json_object_object_get(s.golden, "prompts");
    CU_ASSERT_EQUAL(json_object_array_length(prompts), 8);
    for (size_t i = 0; i < json_object_array_length(prompts); i++)
        check_prompt(&s, json_object_array_get_idx(prompts, i));
    check_perplexity(&s);
    close_story(&s);
}

static void test_f32(void)
{
    check_story("f32");
}

static void test_f16(void)
{
    check_story("f16");
}

static void test_q8_0(void)
{
    check_story("q8_0");
}

static void test_q4_0(void)
{
    check_story("q4_0");
}

/* ---- limits ---- */

static void test_limits(void)
{
    struct story s;
    struct orch_error error = {0};
    CU_ASSERT_TRUE_FATAL(open_story("q4_0", &s));
    CU_ASSERT_FALSE(decoder_step(s.decoder, VOCABULARY, NULL, &error));
    CHECK(strstr(error.text, "token 512: the vocabulary has 512 tokens") != NULL, "%s", error.text);
    struct decoder *const d = decoder_create(&s.shape, gguf_weights(s.gguf), 2, &error);
    CU_ASSERT_TRUE_FATAL(d && decoder_step(d, 1, NULL, &error) && decoder_step(d, 2, NULL, &error));
    CU_ASSERT_FALSE(decoder_step(d, 3, NULL, &error));
    CHECK(strstr(error.text, "the context of 2 tokens is full") != NULL, "%s", error.text);
    decoder_free(d);
    struct language_shape wide = s.shape;
    wide.width = 128;
    CU_ASSERT_PTR_NULL(decoder_create(&wide, gguf_weights(s.gguf), 2, &error));
    CHECK(strstr(error.text, "tensor 'token_embd.weight': expected 512 rows of 128 values, got 512 of 64") != NULL, "%s",
          error.text);
    wide = s.shape;
    wide.layers = 6;
    CU_ASSERT_PTR_NULL(decoder_create(&wide, gguf_weights(s.gguf), 2, &error));
    CHECK(strstr(error.text, "tensor 'blk.5.attn_norm.weight' is missing") != NULL, "%s", error.text);
    wide = s.shape;
    wide.family = shape_family_named("gpt-oss");
    CU_ASSERT_PTR_NULL(decoder_create(&wide, gguf_weights(s.gguf), 2, &error));
    CHECK(strstr(error.text, "tensor 'blk.0.post_attention_norm.weight' is missing") != NULL, "%s", error.text);
    close_story(&s);
}

static const struct suite_test tests[] = {
    {"computes stories260K in F32", test_f32},        {"computes stories260K in F16", test_f16},
    {"computes stories260K in Q8_0", test_q8_0},      {"computes stories260K in Q4_0", test_q4_0},
    {"says what is wrong with a model", test_limits},
};
SUITE_MAIN("decoder", tests)
