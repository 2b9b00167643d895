/* Models as transformers saves them: tiny random ones of each family against logits of a float64 forward pass in NumPy,
 * tokenizers against the ids that the models' own give, and files that are damaged or say something else. */
#include "sim/base/npy.h"
#include "sim/language/decoder.h"
#include "sim/language/transformers.h"
#include "sim/language/vocabulary_file.h"
#include "tests/sim/language/language_example.h"
#include "tests/sim/transformers_example.h"

#include <math.h>

enum { TEXTS = 46 };

/* ---- weights ---- */

/* The largest difference of a model's logits from the golden ones of its family, relative to the largest. */
static double difference(struct decoder *d, const struct npy_array *golden)
{
    const size_t columns = golden->shape[1];
    float logits[256], want[257];
    struct orch_error error = {0};
    double largest = 0, range = 0;
    for (size_t i = 0; i < golden->shape[0]; i++) {
        memcpy(want, golden->data + 4 * i * columns, 4 * columns);
        CHECK(decoder_step(d, (uint32_t)want[0], logits, &error), "%s", error.text);
        for (size_t k = 0; k + 1 < columns; k++) {
            largest = fmax(largest, fabs((double)logits[k] - (double)want[k + 1]));
            range = fmax(range, fabs((double)want[k + 1]));
        }
    }
    return largest / range;
}

struct family {
    struct example_file file, answers;
    struct npy_array golden;
    struct gguf *gguf;
    struct language_shape shape;
};

static void open_family(const char *name, struct family *f)
{
    char path[64];
    struct orch_error error = {0};
    snprintf(path, sizeof path, "families/%s.gguf.gz", name);
    CU_ASSERT_TRUE_FATAL(example_golden(path, &f->file));
    snprintf(path, sizeof path, "families/%s.npy", name);
    CU_ASSERT_TRUE_FATAL(example_golden(path, &f->answers));
    CU_ASSERT_TRUE_FATAL(npy_parse(f->answers.bytes, f->answers.size, &f->golden, &error));
    f->gguf = gguf_parse(name, f->file.bytes, f->file.size, &error);
    CU_ASSERT_TRUE_FATAL(f->gguf && shape_of_gguf(f->gguf, &f->shape, &error));
}

static void close_family(struct family *f)
{
    gguf_close(f->gguf);
    free(f->file.bytes);
    free(f->answers.bytes);
}

static void check_family(const char *name, const char *dtype, unsigned shards, double bound)
{
    struct family f;
    struct orch_error error = {0};
    open_family(name, &f);
    struct saved_model saved = {.gguf = f.gguf, .shape = &f.shape, .dtype = dtype, .shards = shards};
    saved_write(&saved, NULL);
    CU_ASSERT_TRUE(transformers_is(saved.folder));
    struct transformers *const m = transformers_open(saved.folder, &error);
    struct decoder *const d = m ? decoder_create(transformers_shape(m), transformers_list(m), 24, &error) : NULL;
    CHECK(d != NULL, "%s: %s", name, error.text);
    const double off = d ? difference(d, &f.golden) : 1;
    CHECK(off < bound, "%s in %s: logits differ by %g of their range", name, dtype, off);
    decoder_free(d);
    transformers_close(m);
    saved_remove(&saved);
    close_family(&f);
}

/* The families' matrices are F16, so that both types hold them exactly. */
static void test_families(void)
{
    static const char *const names[] = {"gpt2",  "phi2",    "phi3",    "qwen2",  "qwen3",
                                        "gemma", "mixtral", "mistral", "llama3", "linear"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        check_family(names[i], "F32", i % 3, 2e-6);
    check_family("gpt2", "BF16", 3, 2e-2);
    check_family("mixtral", "BF16", 0, 2e-2);
}

/* ---- tokenizers ---- */

/* Tokens of a text against a line of numbers. */
static bool same_tokens(const struct token_list *tokens, const char *line)
{
    size_t i = 0;
    char *after;
    for (;; i++, line = after) {
        const unsigned long token = strtoul(line, &after, 10);
        if (after == line || *line == '\n')
            return i == tokens->count;
        if (i >= tokens->count || tokens->token[i] != token)
            return false;
    }
}

static void check_texts(const char *name, const struct tokenizer *t)
{
    static const char divider[] = "\n__ggml_vocab_test__\n";
    struct example_file texts, expected;
    char path[128];
    struct orch_error error = {0};
    unsigned count = 0;
    snprintf(path, sizeof path, "tokenizers/ggml-vocab-%s.gguf.out", name);
    CU_ASSERT_TRUE_FATAL(example_golden("tokenizers/texts.inp", &texts) && example_golden(path, &expected));
    const char *line = (char *)expected.bytes, *text = (char *)texts.bytes;
    for (const char *end; (end = strstr(text, divider)); text = end + sizeof divider - 1, count++) {
        struct token_list tokens = {0};
        CHECK(tokenizer_encode(t, text, (size_t)(end - text), 0, &tokens, &error) && same_tokens(&tokens, line),
              "%s, text %u: %zu tokens, expected%.*s %s", name, count, tokens.count, (int)strcspn(line, "\n"), line, error.text);
        token_list_free(&tokens);
        line += strcspn(line, "\n") + 1;
    }
    CU_ASSERT_EQUAL(count, TEXTS);
    free(texts.bytes);
    free(expected.bytes);
}

static const struct vocabulary_ends nobody = {TOKEN_NONE, TOKEN_NONE, TOKEN_NONE};

/* Reads a file of one of the two kinds as a tokenizer; the caller closes. */
static struct tokenizer *open_vocabulary(const char *path, bool pieces, uint8_t **bytes, struct gguf **gguf,
                                         struct orch_error *error)
{
    struct example_file file;
    size_t size = 0;
    CU_ASSERT_TRUE_FATAL(example_read(path, &file));
    char *const text = strndup((const char *)file.bytes, file.size);
    *bytes = pieces ? vocabulary_of_pieces("v", file.bytes, file.size, &nobody, &size, error)
                    : vocabulary_of_json("v", text, strlen(text), &nobody, &size, error);
    *gguf = *bytes ? gguf_parse("v", *bytes, size, error) : NULL;
    free(text);
    free(file.bytes);
    return *gguf ? tokenizer_create(*gguf, error) : NULL;
}

static void check_vocabulary(const char *name, bool pieces, bool lists)
{
    char path[128];
    struct example_file file;
    struct orch_error error = {0};
    uint8_t *bytes = NULL;
    struct gguf *other = NULL;
    snprintf(path, sizeof path, "tokenizers/ggml-vocab-%s.gguf.gz", name);
    CU_ASSERT_TRUE_FATAL(example_golden(path, &file));
    struct gguf *const gguf = gguf_parse(name, file.bytes, file.size, &error);
    struct tokenizer *const t = gguf ? tokenizer_create(gguf, &error) : NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    snprintf(path, sizeof path, "/tmp/orchard-vocabulary-XXXXXX");
    close(mkstemp(path));
    if (pieces)
        saved_pieces(path, gguf, t);
    else
        saved_byte_tokenizer(path, gguf, t, lists);
    struct tokenizer *const read = open_vocabulary(path, pieces, &bytes, &other, &error);
    CHECK(read != NULL, "%s: %s", name, error.text);
    if (read)
        check_texts(name, read);
    unlink(path);
    tokenizer_free(read);
    gguf_close(other);
    free(bytes);
    tokenizer_free(t);
    gguf_close(gguf);
    free(file.bytes);
}

static void test_tokenizers(void)
{
    check_vocabulary("gpt-2", false, false);
    check_vocabulary("gpt-2", false, true);
    check_vocabulary("phi-3", true, false);
}

/* ---- what is wrong ---- */

static void refuse_json(const char *text, int code, const char *wrong)
{
    struct orch_error error = {0};
    size_t size;
    uint8_t *const bytes = vocabulary_of_json("t.json", text, strlen(text), &nobody, &size, &error);
    CHECK(!bytes && error.exit_code == code && strstr(error.text, wrong) && !strchr(error.text, '\n'), "%s: %s", wrong,
          error.text);
    free(bytes);
}

static void refuse_pieces(const char *bytes, size_t size, int code, const char *wrong)
{
    struct orch_error error = {0};
    size_t written;
    uint8_t *const gguf = vocabulary_of_pieces("t.model", (const uint8_t *)bytes, size, &nobody, &written, &error);
    CHECK(!gguf && error.exit_code == code && strstr(error.text, wrong), "%s: %s", wrong, error.text);
    free(gguf);
}

#define BYTES "\"decoder\":{\"type\":\"ByteLevel\"},"

static void test_damaged_vocabularies(void)
{
    refuse_json("[1]", ORCH_USAGE, "t.json: no JSON object");
    refuse_json("{\"model\":", ORCH_USAGE, "no JSON object, at byte 9");
    refuse_json("{" BYTES "\"model\":{\"merges\":[]}}", ORCH_USAGE, "model.vocab");
    refuse_json("{" BYTES "\"model\":{\"vocab\":{\"a\":-1},\"merges\":[]}}", ORCH_USAGE, "model.vocab.a");
    refuse_json("{" BYTES "\"model\":{\"vocab\":{\"a\":4194304},\"merges\":[]}}", ORCH_USAGE, "model.vocab.a");
    refuse_json("{" BYTES "\"pre_tokenizer\":{\"type\":\"ByteLevel\"},\"model\":{\"vocab\":{\"a\":0},\"merges\":[\"ab\"]}}",
                ORCH_USAGE, "model.merges[0]: \"ab\" is no pair");
    refuse_json("{" BYTES "\"pre_tokenizer\":{\"type\":\"ByteLevel\"},\"model\":{\"vocab\":{\"a\":0},\"merges\":[[\"a\"]]}}",
                ORCH_USAGE, "model.merges[0]");
    refuse_json("{\"model\":{\"byte_fallback\":true,\"vocab\":{\"a\":0},\"merges\":[\"a b\"]}}", ORCH_USAGE,
                "\"ab\" is no token");
    refuse_pieces("", 0, ORCH_USAGE, "t.model: no SentencePiece model");
    refuse_pieces("\x0a\x05\x0a", 3, ORCH_USAGE, "damaged");
    refuse_pieces("\x0a\x03\x0a\x7f"
                  "a\x12\x02\x18\x02",
                  9, ORCH_USAGE, "a damaged piece");
    refuse_pieces("\x0a\x03\x0a\x01"
                  "a",
                  5, ORCH_UNMODELLED, "kind 1");
}

/* A folder of a family with one of its files written anew. */
static void refuse_folder(const char *family, const char *file, const char *text, int code, const char *wrong)
{
    struct family f;
    struct orch_error error = {0};
    char path[512];
    open_family(family, &f);
    struct saved_model saved = {.gguf = f.gguf, .shape = &f.shape, .dtype = "F32", .shards = 2};
    saved_write(&saved, NULL);
    if (text) {
        saved_text(&saved, file, text);
    } else {
        snprintf(path, sizeof path, "%s/%s", saved.folder, file);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/model.safetensors.index.json", saved.folder);
    struct transformers *const m = transformers_open(path, &error);
    struct decoder *const d = m ? decoder_create(transformers_shape(m), transformers_list(m), 4, &error) : NULL;
    CHECK(!d && error.exit_code == code && strstr(error.text, wrong), "%s: %s", wrong, error.text);
    decoder_free(d);
    transformers_close(m);
    saved_remove(&saved);
    close_family(&f);
}

static void test_folders(void)
{
    refuse_folder("qwen2", "config.json", NULL, ORCH_USAGE, "config.json");
    refuse_folder("qwen2", "tokenizer.json", NULL, ORCH_USAGE, "neither tokenizer.json nor tokenizer.model");
    refuse_folder("qwen2", "model-00002-of-00002.safetensors", NULL, ORCH_USAGE, "model-00002-of-00002.safetensors");
    refuse_folder("qwen2", "config.json", "{\"model_type\":\"bloom\"}", ORCH_UNMODELLED, "\"bloom\" is not modelled");
    refuse_folder(
        "qwen2", "config.json",
        "{\"model_type\":\"llama\",\"vocab_size\":24,\"hidden_size\":16,\"num_hidden_layers\":2,\"num_attention_heads\":4,"
        "\"num_key_value_heads\":2,\"intermediate_size\":24,\"max_position_embeddings\":24}",
        ORCH_UNMODELLED, "architecture llama has no such bias");
    refuse_folder(
        "qwen2", "config.json",
        "{\"model_type\":\"qwen2\",\"vocab_size\":24,\"hidden_size\":16,\"num_hidden_layers\":3,\"num_attention_heads\":4,"
        "\"num_key_value_heads\":2,\"intermediate_size\":24,\"max_position_embeddings\":24}",
        ORCH_USAGE, "'blk.2.attn_norm.weight' is missing");
    refuse_folder(
        "llama3", "config.json",
        "{\"model_type\":\"llama\",\"vocab_size\":24,\"hidden_size\":16,\"num_hidden_layers\":2,\"num_attention_heads\":4,"
        "\"num_key_value_heads\":2,\"intermediate_size\":24,\"max_position_embeddings\":24,\"hidden_act\":\"gelu\"}",
        ORCH_UNMODELLED, "hidden_act: \"gelu\" is not the activation of architecture llama");
}

static const struct suite_test tests[] = {{"families", test_families},
                                          {"tokenizers", test_tokenizers},
                                          {"damaged vocabularies", test_damaged_vocabularies},
                                          {"folders that lack something", test_folders}};
SUITE_MAIN("transformers", tests)
