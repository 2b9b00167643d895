/* Passes of language models as kernel calls: the library builds every call that is not marked, refuses what is asked for by a
 * parameter or type that it does not have, and the multiply-adds are those of the model. */
#include "sim/language/kernel_calls.h"
#include "tests/support/suite.h"
#include "units/gpu/kernels/gpu_kernels.h"

#include <math.h>
#include <string.h>

static bool library_builds(const struct kernel_call *c, struct isa_error *error)
{
    static struct gpu_kernel kernel;
    struct gpu_kernel_request request = {.generation = GPU_G13, .cores = 8};
    memset(&kernel, 0, sizeof kernel);
    if (!gpu_kernel_parse(c->kernel, c->precision, &request, error))
        return false;
    request.generation = GPU_G13;
    request.cores = 8;
    const bool built = gpu_kernel_build(&request, &kernel, error);
    if (built && c->macs > 0 && strncmp(c->kernel, "gem", 3) == 0)
        CHECK(fabs(kernel.macs / c->macs - 1) < 1e-9, "%s: %g multiply-adds, the library says %g", c->kernel, c->macs,
              kernel.macs);
    gpu_kernel_free(&kernel);
    return built;
}

static void check_builds(const struct kernel_calls *calls)
{
    for (size_t i = 0; i < calls->count; i++) {
        struct isa_error why = {0};
        CHECK(library_builds(&calls->call[i], &why), "%s: %s", calls->call[i].kernel, why.text);
    }
}

/* What is missing and shows in the request itself; the rest is about layouts and indirection, which a request cannot say. */
static bool shows_in_request(const char *missing)
{
    static const char *const beginnings[] = {"gemv in", "gemm with", "gather of", "positions beyond"};
    for (size_t i = 0; i < ARRAY_COUNT(beginnings); i++)
        if (strncmp(missing, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

static double check_calls(const struct language_shape *s, const char *format, unsigned past, unsigned tokens)
{
    struct kernel_calls calls = {0};
    struct orch_error error = {0};
    double macs = 0;
    CHECK(kernel_calls_of(s, block_format_named(format), past, tokens, &calls, &error), "%s: %s", s->name, error.text);
    for (size_t i = 0; i < calls.count; i++) {
        const struct kernel_call *const c = &calls.call[i];
        struct isa_error why = {0};
        macs += c->times * c->macs;
        if (c->missing && !shows_in_request(c->missing))
            continue;
        const bool builds = library_builds(c, &why);
        CHECK(builds == !c->missing, "%s, %s: %s %s: missing '%s', the library says '%s'", s->name, c->what, c->kernel,
              c->precision, c->missing ? c->missing : "", why.text);
    }
    kernel_calls_free(&calls);
    return macs;
}

/* Multiply-adds of attention behind 500 tokens: over all of them, or those of a layer's window and a key without a token. */
static double attention_macs(const struct language_shape *s)
{
    double keys = 0;
    for (unsigned i = 0; i < s->layers; i++)
        keys += s->family->sinks ? 1.0 + (i % 2 == 0 ? 128 : 501) : 501;
    return 2.0 * s->heads * s->head_size * keys;
}

/* One token passes each active weight once, and attention looks at all tokens. */
static void test_decode(void)
{
    static const char *const formats[] = {"f16", "q8_0", "q4_k"};
    const struct shape_published *p;
    for (size_t i = 0; (p = shape_published_at(i)); i++) {
        struct language_shape s;
        shape_of_published(p, &s);
        if (s.family->encoder)
            continue;
        const struct shape_sizes sizes = shape_sizes(&s);
        const double weights = (double)(sizes.active_parameters - (sizes.parameters - sizes.matrix_parameters));
        const double expected = weights + attention_macs(&s);
        for (size_t f = 0; f < ARRAY_COUNT(formats); f++)
            CHECK(fabs(check_calls(&s, formats[f], 500, 1) / expected - 1) < 1e-12, "%s", p->name);
    }
}

static void test_prefill(void)
{
    struct language_shape s;
    shape_of_published(shape_published_named("llama-2-7b"), &s);
    /* The head is asked for the last token alone. */
    const double inner = 6607343616.0 - 32000.0 * 4096 - 65 * 4096, attention = 2.0 * 32 * 4096 * (64 * 65 / 2);
    const double expected = 64 * inner + 32000.0 * 4096 + attention;
    CHECK(fabs(check_calls(&s, "f16", 0, 64) / expected - 1) < 1e-9, "%.12g and %.12g", check_calls(&s, "f16", 0, 64), expected);
    check_calls(&s, "q4_0", 0, 64);
    shape_of_published(shape_published_named("llama-3.1-8b"), &s);
    s.scaling = SHAPE_SCALING_NONE;
    check_calls(&s, "q8_0", 10000, 1);
}

/* A token of ggml: values in f32, keys and values in f16, 32 places of the cache. */
static void test_as_ggml(void)
{
    struct language_shape s;
    struct kernel_calls calls = {.as_ggml = true};
    struct orch_error error = {0};
    unsigned wide = 0;
    shape_of_published(shape_published_named("llama-2-7b"), &s);
    CHECK(kernel_calls_of(&s, block_format_named("f16"), 3, 1, &calls, &error), "%s", error.text);
    for (size_t i = 0; i < calls.count; i++) {
        const struct kernel_call *const c = &calls.call[i];
        struct isa_error why = {0};
        CHECK(strcmp(c->what, "token_embd") == 0 || library_builds(c, &why), "%s: %s", c->kernel, why.text);
        wide += strncmp(c->kernel, "gemv:", 5) == 0 && strstr(c->kernel, ",vectors=f32") && strcmp(c->precision, "f16") == 0;
        if (strcmp(c->what, "attention") == 0)
            CHECK(strcmp(c->kernel, "cache-attention:h=32,s=32,d=128,kvh=32,q=1") == 0 && strcmp(c->precision, "f16") == 0, "%s",
                  c->kernel);
        if (strcmp(c->what, "cache_k") == 0)
            CHECK(strcmp(c->kernel, "copy:8192") == 0 && strcmp(c->precision, "f16") == 0, "%s", c->kernel);
        if (strcmp(c->what, "attn_norm") == 0)
            CU_ASSERT_STRING_EQUAL(c->precision, "f32");
    }
    CU_ASSERT_EQUAL(wide, 8);
    kernel_calls_free(&calls);
}

/* Of a call by its name; 0 = there is none. */
static double macs_of(const struct kernel_calls *calls, const char *what)
{
    double macs = 0;
    for (size_t i = 0; i < calls->count; i++)
        if (strcmp(calls->call[i].what, what) == 0)
            macs += calls->call[i].times * calls->call[i].macs;
    return macs;
}

/* Several sequences do as often what one does, whether products share it or attention has it for each; so does the head. */
static void test_sequences(void)
{
    static const char *const names[] = {"attn_q", "attn_output", "attention", "ffn_down", "output"};
    struct language_shape s;
    struct orch_error error = {0};
    shape_of_published(shape_published_named("qwen2.5-0.5b"), &s);
    for (unsigned tokens = 1; tokens <= 7; tokens += 6) {
        struct kernel_calls one = {0}, five = {.sequences = 5};
        CHECK(kernel_calls_of(&s, block_format_named("f16"), tokens > 1 ? 0 : 9, tokens, &one, &error), "%s", error.text);
        CHECK(kernel_calls_of(&s, block_format_named("f16"), tokens > 1 ? 0 : 9, tokens, &five, &error), "%s", error.text);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            CHECK(macs_of(&one, names[i]) > 0 && macs_of(&five, names[i]) == 5 * macs_of(&one, names[i]), "%s: %g and %g",
                  names[i], macs_of(&one, names[i]), macs_of(&five, names[i]));
        kernel_calls_free(&one);
        kernel_calls_free(&five);
    }
}

/* A cache in blocks: values become blocks, which attention reads; prompts meet their own keys as they are. */
static void test_cached(void)
{
    struct language_shape s;
    struct orch_error error = {0};
    shape_of_published(shape_published_named("llama-2-7b"), &s);
    for (unsigned tokens = 1; tokens <= 4; tokens += 3) {
        struct kernel_calls calls = {.cached = block_format_named("q8_0"), .as_ggml = tokens == 1};
        unsigned kept = 0, met = 0;
        CHECK(kernel_calls_of(&s, block_format_named("q4_0"), 40, tokens, &calls, &error), "%s", error.text);
        for (size_t i = 0; i < calls.count; i++) {
            const struct kernel_call *const c = &calls.call[i];
            struct isa_error why = {0};
            const bool keeps = strncmp(c->what, "cache_", 6) == 0, meets = strcmp(c->what, "attention") == 0;
            CHECK(!(keeps || meets) || library_builds(c, &why), "%s: %s", c->kernel, why.text);
            kept += keeps && strncmp(c->kernel, "quantise:", 9) == 0 && strcmp(c->precision, "q8_0") == 0;
            met += meets && strstr(c->kernel, ",cached=q8_0") && strcmp(c->precision, "f32") == 0;
        }
        CHECK(kept == 2 && met == 1, "%u tokens: %u kept, %u met", tokens, kept, met);
        kernel_calls_free(&calls);
    }
}

static double all_macs(const struct kernel_calls *calls)
{
    double macs = 0;
    for (size_t i = 0; i < calls->count; i++)
        macs += calls->call[i].times * calls->call[i].macs;
    return macs;
}

/* Whisper: an encoder of 1500 places over convolutions of 3000 frames; each layer of the decoder looks at all of them, whose keys
 * and values come from matrices of its own. */
static void test_sound(void)
{
    struct language_shape s;
    struct orch_error error = {0};
    struct kernel_calls encode = {0}, step = {0};
    shape_of_published(shape_published_named("whisper-base"), &s);
    const double w = 512, f = 2048, n = 1500, layers = 6, square = w * w;
    CHECK(kernel_calls_encode(&s, block_format_named("f16"), &encode, &error), "%s", error.text);
    const double convolutions = 2 * n * 3 * 80 * w + n * 3 * square, layer = n * (4 * square + 2 * w * f) + 2 * n * n * w;
    CHECK(all_macs(&encode) == convolutions + layers * (layer + 2 * n * square), "%g multiply-adds", all_macs(&encode));
    CHECK(kernel_calls_of(&s, block_format_named("f16"), 5, 1, &step, &error), "%s", error.text);
    const double token = layers * (6 * square + 2 * w * f + 2 * 6 * w + 2 * n * w) + 51865 * w;
    CHECK(all_macs(&step) == token, "%g of %g", all_macs(&step), token);
    check_builds(&encode);
    check_builds(&step);
    kernel_calls_free(&encode);
    kernel_calls_free(&step);
}

/* T5 reads a text of any length, without convolutions, and has no matrices of gates. */
static void test_text(void)
{
    struct language_shape s;
    struct orch_error error = {0};
    struct kernel_calls encode = {.encoded = 40};
    shape_of_published(shape_published_named("t5-small"), &s);
    const double w = 512, f = 2048, n = 40, layers = 6;
    CHECK(kernel_calls_encode(&s, block_format_named("f32"), &encode, &error), "%s", error.text);
    CHECK(all_macs(&encode) == layers * (n * (6 * w * w + 2 * w * f) + 2 * n * n * w), "%g multiply-adds", all_macs(&encode));
    check_builds(&encode);
    kernel_calls_free(&encode);
}

/* What an encoder made is kept in the type of the cache: a kernel for keys and one for values of each sequence, and
 * cross-attention reads it, as it does on values. */
static void test_cached_across(void)
{
    static const char *const names[] = {"t5-small", "whisper-base"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        for (unsigned cached = 0; cached < 2; cached++) {
            struct language_shape s;
            struct orch_error error = {0};
            const struct block_format *const own = cached ? block_format_named("q8_0") : NULL;
            struct kernel_calls encode = {.encoded = 40, .sequences = 2, .cached = own}, step = encode;
            double kept = 0, met = 0;
            shape_of_published(shape_published_named(names[i]), &s);
            CHECK(kernel_calls_encode(&s, block_format_named("f16"), &encode, &error) &&
                      kernel_calls_of(&s, block_format_named("f16"), 3, 1, &step, &error),
                  "%s", error.text);
            for (size_t k = 0; k < encode.count; k++)
                if (strncmp(encode.call[k].what, "cross_cache_", 12) == 0)
                    kept += encode.call[k].times * (strcmp(encode.call[k].kernel, cached ? "quantise:20480" : "copy:40960") == 0);
            for (size_t k = 0; k < step.count; k++)
                if (strcmp(step.call[k].what, "cross_attention") == 0)
                    met += step.call[k].times * ((strstr(step.call[k].kernel, ",cached=q8_0") != NULL) == (cached == 1)) *
                           (strcmp(step.call[k].precision, cached ? "f32" : "f16") == 0);
            CHECK(kept == 2 * 2 * s.layers && met == 2 * s.layers, "%s: %g kept, %g met", names[i], kept, met);
            check_builds(&encode);
            check_builds(&step);
            kernel_calls_free(&encode);
            kernel_calls_free(&step);
        }
}

static void test_limits(void)
{
    struct language_shape s;
    struct kernel_calls calls = {0};
    struct orch_error error = {0};
    shape_of_published(shape_published_named("gpt2"), &s);
    CU_ASSERT_FALSE(kernel_calls_of(&s, block_format_named("f16"), 1024, 1, &calls, &error));
    CHECK(strstr(error.text, "1 tokens behind 1024 others: the context is 1024") != NULL, "%s", error.text);
    kernel_calls_free(&calls);
}

static const struct suite_test tests[] = {
    {"asks for kernels that the library builds, token by token", test_decode},
    {"does so for prompts", test_prefill},
    {"has tokens as ggml has them", test_as_ggml},
    {"has tokens of several sequences", test_sequences},
    {"has caches of another type", test_cached},
    {"keeps what an encoder made in that type", test_cached_across},
    {"has an encoder of sound", test_sound},
    {"has an encoder of text", test_text},
    {"refuses what is no pass", test_limits},
};
SUITE_MAIN("kernel_calls", tests)
