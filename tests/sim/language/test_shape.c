/* Shapes of models: the zoo against published counts, GGUF metadata, config.json. */
#include "sim/language/shape.h"
#include "tests/sim/language/language_example.h"

/* The dimensions of every model make exactly the parameters that its publisher counts. */
static void test_parameters(void)
{
    const struct shape_published *p;
    size_t count = 0;
    for (; (p = shape_published_at(count)); count++) {
        struct language_shape s;
        struct orch_error error = {0};
        shape_of_published(p, &s);
        CU_ASSERT_PTR_NOT_NULL_FATAL(s.family);
        CHECK(shape_is_sound(&s, &error), "%s: %s", p->name, error.text);
        CHECK(shape_sizes(&s).parameters == p->parameters, "%s: %llu parameters, published %llu", p->name,
              (unsigned long long)shape_sizes(&s).parameters, (unsigned long long)p->parameters);
        CU_ASSERT_PTR_EQUAL(shape_published_named(p->name), p);
    }
    CHECK(count >= 35, "%zu models", count);
}

/* Mixtral: "12.9B active" (Jiang et al. 2024, with the embedding's rows); gpt-oss-20b: 3.61B active (model card). */
static void test_active(void)
{
    struct language_shape s;
    shape_of_published(shape_published_named("mixtral-8x7b"), &s);
    const double mixtral = (double)shape_sizes(&s).active_parameters + (double)s.vocabulary * s.width;
    CHECK(mixtral > 12.85e9 && mixtral < 12.95e9, "%.4g", mixtral);
    shape_of_published(shape_published_named("gpt-oss-20b"), &s);
    const double oss = (double)shape_sizes(&s).active_parameters;
    CHECK(oss > 3.60e9 && oss < 3.62e9, "%.4g", oss);
}

static void test_bytes(void)
{
    struct language_shape s;
    shape_of_published(shape_published_named("llama-7b"), &s);
    const struct shape_sizes sizes = shape_sizes(&s);
    const uint64_t vectors = sizes.parameters - sizes.matrix_parameters;
    CU_ASSERT_EQUAL(vectors, 65 * 4096); /* two norms a layer and the last */
    CU_ASSERT_EQUAL(shape_bytes(&s, block_format_named("f16")), 2 * sizes.matrix_parameters + 4 * vectors);
    CU_ASSERT_EQUAL(shape_bytes(&s, block_format_named("q8_0")), sizes.matrix_parameters / 32 * 34 + 4 * vectors);
    /* llama.cpp's heads are q6_k: llama-bench says 3.56 GiB of LLaMA 7B in Q4_0. */
    const uint64_t head = 32000 * 4096, rest = sizes.matrix_parameters - head;
    CU_ASSERT_EQUAL(shape_bytes(&s, block_format_named("q4_0")), rest / 32 * 18 + head / 256 * 210 + 4 * vectors);
    CU_ASSERT_EQUAL(shape_bytes(&s, block_format_named("q4_k")), rest / 256 * 144 + head / 256 * 210 + 4 * vectors);
    CU_ASSERT_EQUAL(round(100 * (double)shape_bytes(&s, block_format_named("q4_0")) / 0x1p30), 356);
    CU_ASSERT_EQUAL(shape_cache_bytes(&s, 2), 524288); /* half a megabyte a token, as is often quoted */
    /* Rows of 896 are no multiple of 256: q5_0 stands in for q4_k, but not where rows have 4864 = 19 x 256 values. */
    shape_of_published(shape_published_named("qwen2.5-0.5b"), &s);
    const uint64_t down = (uint64_t)s.layers * s.width * s.feed_forward, all = shape_sizes(&s).matrix_parameters;
    const uint64_t f32 = 4 * (shape_sizes(&s).parameters - all);
    CU_ASSERT_EQUAL(shape_bytes(&s, block_format_named("q4_k")), (all - down) / 32 * 22 + down / 256 * 144 + f32);
}

/* ---- files ---- */

static void test_gguf(void)
{
    struct example_file file;
    struct orch_error error = {0};
    struct language_shape s;
    CU_ASSERT_TRUE_FATAL(example_golden("stories260K/stories260K-q4_0.gguf", &file));
    struct gguf *const g = gguf_parse("stories", file.bytes, file.size, &error);
    CHECK(g && shape_of_gguf(g, &s, &error), "%s", error.text);
    CU_ASSERT_TRUE(s.layers == 5 && s.width == 64 && s.heads == 8 && s.kv_heads == 4 && s.head_size == 8 &&
                   s.feed_forward == 172);
    CU_ASSERT_TRUE(s.vocabulary == 512 && s.context == 512 && s.tied && s.rope == SHAPE_ROPE_INTERLEAVED && s.rope_size == 8);
    CU_ASSERT_TRUE(s.rope_base == 10000 && s.epsilon > 0.99e-5 && s.epsilon < 1.01e-5);
    uint64_t values = 0;
    for (size_t i = 0; i < gguf_weights(g)->count; i++)
        values += gguf_weights(g)->tensor[i].count;
    CU_ASSERT_EQUAL(shape_sizes(&s).parameters, values);
    gguf_close(g);
    free(file.bytes);
}

/* A file with a vocabulary alone says nothing about the output matrix: Phi-3 has one of its own. */
static void test_vocabulary(void)
{
    struct example_file file;
    struct orch_error error = {0};
    struct language_shape s;
    CU_ASSERT_TRUE_FATAL(example_golden("tokenizers/ggml-vocab-phi-3.gguf.gz", &file));
    struct gguf *const g = gguf_parse("phi-3", file.bytes, file.size, &error);
    CHECK(g && shape_of_gguf(g, &s, &error), "%s", error.text);
    CU_ASSERT_EQUAL(shape_sizes(&s).parameters, 3821079552);
    gguf_close(g);
    free(file.bytes);
}

static void refused(struct example_writer *w, const char *what, int code)
{
    struct orch_error error = {0};
    struct language_shape s;
    struct gguf *const g = gguf_parse("m.gguf", w->bytes, w->size, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CHECK(!shape_of_gguf(g, &s, &error) && strstr(error.text, what) && strncmp(error.text, "m.gguf: ", 8) == 0 &&
              error.exit_code == code,
          "expected '%s', got '%s'", what, error.text);
    gguf_close(g);
}

static void test_gguf_errors(void)
{
    static struct example_writer w;
    example_header(&w, 3, 0, 0);
    refused(&w, "general.architecture is missing", ORCH_USAGE);
    example_header(&w, 3, 0, 1);
    example_text(&w, "general.architecture", "mamba");
    refused(&w, "general.architecture 'mamba' is not modelled", ORCH_UNMODELLED);
    example_header(&w, 3, 0, 1);
    example_text(&w, "general.architecture", "llama");
    refused(&w, "llama.block_count is missing", ORCH_USAGE);
    example_header(&w, 3, 0, 2);
    example_text(&w, "general.architecture", "llama");
    example_number(&w, "llama.block_count", 0);
    refused(&w, "llama.block_count: expected an integer from 1 to 65536", ORCH_USAGE);
    static const char *const keys[] = {
        "block_count",    "embedding_length", "attention.head_count", "attention.head_count_kv", "feed_forward_length",
        "context_length", "vocab_size"};
    static const uint32_t numbers[] = {2, 64, 8, 3, 128, 512, 100};
    example_header(&w, 3, 0, 1 + ARRAY_COUNT(keys));
    example_text(&w, "general.architecture", "llama");
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        char key[64];
        snprintf(key, sizeof key, "llama.%s", keys[i]);
        example_number(&w, key, numbers[i]);
    }
    refused(&w, "8 heads cannot share 3 heads of keys and values evenly", ORCH_USAGE);
}

static bool read_config(const char *text, struct language_shape *s, struct orch_error *error)
{
    *error = (struct orch_error){0};
    return shape_of_config("config.json", text, strlen(text), s, error);
}

/* The members that matter of config.json files as published. */
static void test_config(void)
{
    struct orch_error error;
    struct language_shape s, zoo;
    const bool ok = read_config(
        "{\"model_type\":\"llama\",\"hidden_size\":2048,\"num_hidden_layers\":16,\"num_attention_heads\":32,\"num_key_value_"
        "heads\":8,"
        "\"head_dim\":64,\"intermediate_size\":8192,\"vocab_size\":128256,\"max_position_embeddings\":131072,\"rms_norm_eps\":1e-"
        "05,"
        "\"rope_theta\":500000.0,\"tie_word_embeddings\":true,\"rope_scaling\":{\"factor\":32.0,\"low_freq_factor\":1.0,"
        "\"high_freq_factor\":4.0,\"original_max_position_embeddings\":8192,\"rope_type\":\"llama3\"}}",
        &s, &error);
    CHECK(ok, "%s", error.text);
    shape_of_published(shape_published_named("llama-3.2-1b"), &zoo);
    CU_ASSERT_EQUAL(shape_sizes(&s).parameters, 1235814400);
    CU_ASSERT_TRUE(s.scaling == zoo.scaling && s.scaling_factor == zoo.scaling_factor &&
                   s.scaling_context == zoo.scaling_context);
    CU_ASSERT_TRUE(s.rope == SHAPE_ROPE_HALVES && s.rope_size == 64 && s.tied);
    CU_ASSERT_TRUE(read_config(
        "{\"model_type\":\"gpt2\",\"n_embd\":768,\"n_layer\":12,\"n_head\":12,\"n_positions\":1024,\"vocab_size\":50257,"
        "\"n_inner\":null,\"layer_norm_epsilon\":1e-05}",
        &s, &error));
    CU_ASSERT_EQUAL(shape_sizes(&s).parameters, 124439808);
    CU_ASSERT_TRUE(read_config(
        "{\"model_type\":\"phi\",\"hidden_size\":2560,\"num_hidden_layers\":32,\"num_attention_heads\":32,\"intermediate_size\":"
        "10240,"
        "\"vocab_size\":51200,\"max_position_embeddings\":2048,\"partial_rotary_factor\":0.4,\"num_key_value_heads\":null}",
        &s, &error));
    CU_ASSERT_TRUE(s.rope_size == 32 && shape_sizes(&s).parameters == 2779683840);
}

static void test_config_errors(void)
{
    static const struct {
        const char *text, *what;
        int code;
    } cases[] = {
        {"{\"model_type\":\"mamba\"}", "config.json: model_type: \"mamba\" is not modelled", ORCH_UNMODELLED},
        {"{}", "config.json: model_type: is missing", ORCH_USAGE},
        {"{\"model_type\":\"llama\"}", "num_hidden_layers: is missing", ORCH_USAGE},
        {"{\"model_type\":\"llama\",\"num_hidden_layers\":-1}", "num_hidden_layers: expected an integer from 1 to 65536",
         ORCH_USAGE},
        {"[]", "config.json", ORCH_USAGE},
        {"{\"model_type\":\"whisper\"}", "a config.json with an encoder of sound is not read", ORCH_USAGE},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct orch_error error;
        struct language_shape s;
        CHECK(!read_config(cases[i].text, &s, &error) && strstr(error.text, cases[i].what) && error.exit_code == cases[i].code,
              "expected '%s', got '%s'", cases[i].what, error.text);
    }
}

static const struct suite_test tests[] = {
    {"counts the parameters that publishers count", test_parameters},
    {"counts those that one token passes", test_active},
    {"adds up bytes by format", test_bytes},
    {"reads GGUF metadata", test_gguf},
    {"takes a vocabulary for what it is", test_vocabulary},
    {"refuses GGUF metadata that make no model", test_gguf_errors},
    {"reads config.json", test_config},
    {"refuses a config.json that makes no model", test_config_errors},
};
SUITE_MAIN("shape", tests)
