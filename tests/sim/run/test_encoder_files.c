#define _GNU_SOURCE /* memmem */
/* GGUF files of encoders of texts: tokens, hidden states and embeddings by kernels of units, against a pass in double precision
 * (tests/golden/language/encoder_files/make.py, written with numpy from the definitions of the models). */
#include "sim/base/file_read.h"
#include "sim/network/case.h"
#include "sim/network/encoder/encoder_config.h"
#include "sim/run/language/language_model.h"
#include "tests/sim/encoder_example.h"

#include <stdlib.h>
#include <unistd.h>

static struct chip_db *db;

static const char *const models[] = {"bert", "nomic-bert", "jina-bert-v2"};

static const char *path_of(const char *model, const char *end)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/language/encoder_files/%s.%s", suite_golden(""), model, end);
    return path;
}

static void check_unit(const char *unit, double bound)
{
    for (size_t m = 0; m < ARRAY_COUNT(models); m++) {
        char golden[4096];
        snprintf(golden, sizeof golden, "%s", path_of(models[m], "json"));
        encoder_check(db, path_of(models[m], "gguf"), golden, unit, bound);
    }
}

static void test_cores(void)
{
    check_unit("cpu", 3e-6);
}

static void test_gpu(void)
{
    check_unit("gpu", 3e-6);
}

static void test_engine(void)
{
    check_unit("ane", 3e-2);
}

/* Turned heads and slopes by distance leave what the mask hides alone. */
static void test_filled_up(void)
{
    for (size_t m = 0; m < ARRAY_COUNT(models); m++) {
        char golden[4096];
        snprintf(golden, sizeof golden, "%s", path_of(models[m], "json"));
        encoder_check_filled_up(path_of(models[m], "gguf"), golden);
    }
}

/* ---- what files say ---- */

static uint8_t *read_all(const char *model, size_t *size)
{
    uint8_t *bytes = NULL;
    FILE *const f = fopen(path_of(model, "gguf"), "rb");
    const bool ok = f && file_read_all(f, 1 << 20, &bytes, size);
    if (f)
        fclose(f);
    CHECK(ok, "%s", path_of(model, "gguf"));
    return ok ? bytes : NULL;
}

/* The model of a file with other bytes behind the first place of `from`. */
static struct net_model *changed(const char *model, const char *from, size_t skip, const void *to, size_t count,
                                 struct orch_error *error)
{
    size_t size = 0;
    uint8_t *const bytes = read_all(model, &size), *const at = bytes ? memmem(bytes, size, from, strlen(from)) : NULL;
    CHECK(at != NULL, "%s", from);
    if (at)
        memcpy(at + skip, to, count);
    struct gguf *const gguf = at ? gguf_parse("m.gguf", bytes, size, error) : NULL;
    struct net_model *const made = gguf ? encoder_of_gguf(gguf, error) : NULL;
    gguf_close(gguf);
    free(bytes);
    return made;
}

static void refuse(const char *model, const char *key, uint32_t number, int code, const char *part)
{
    struct orch_error error = {0};
    struct net_model *const made = changed(model, key, strlen(key) + 4, &number, sizeof number, &error);
    CHECK(!made && error.exit_code == code && strstr(error.text, part) && strstr(error.text, "m.gguf"), "%s %u: %s", key, number,
          error.text);
    net_model_free(made);
}

static void test_metadata(void)
{
    refuse("bert", "bert.block_count", 0, ORCH_USAGE, "bert.block_count: expected an integer from 1 to 512");
    refuse("bert", "bert.block_count", 3, ORCH_USAGE, "tensor 'blk.2.attn_q.weight': is missing");
    refuse("bert", "bert.attention.head_count", 5, ORCH_USAGE, "5 heads do not divide a width of 24");
    refuse("bert", "bert.context_length", 21, ORCH_USAGE, "tensor 'position_embd.weight': has another shape");
    refuse("bert", "bert.pooling_type", 3, ORCH_UNMODELLED, "bert.pooling_type: the last token is not modelled");
    refuse("bert", "bert.pooling_type", 4, ORCH_UNMODELLED, "ranks of pairs");
    refuse("bert", "bert.pooling_type", 5, ORCH_USAGE, "bert.pooling_type: expected a number from 0 to 4");
    refuse("bert", "bert.embedding_length", 48, ORCH_USAGE, "has another shape");
    refuse("nomic-bert", "nomic-bert.context_length", 1 << 20, ORCH_USAGE, "context_length");
    refuse("nomic-bert", "nomic-bert.attention.head_count", 32, ORCH_UNMODELLED, "turn in part");
    refuse("jina-bert-v2", "jina-bert-v2.feed_forward_length", 39, ORCH_USAGE, "blk.0.ffn_gate.weight': has another shape");
}

static void test_tensors(void)
{
    struct orch_error error = {0};
    struct net_model *made = changed("bert", "blk.1.ffn_down.bias", 0, "blk.1.ffn_town", 14, &error);
    CHECK(!made && error.exit_code == ORCH_USAGE && strstr(error.text, "'blk.1.ffn_down.bias': is missing"), "%s", error.text);
    error = (struct orch_error){0};
    made = changed("jina-bert-v2", "blk.1.attn_q.bias", 0, "blk.1.attn_x", 12, &error);
    CHECK(!made && error.exit_code == ORCH_UNMODELLED && strstr(error.text, "'blk.1.attn_x.bias' is none of such an encoder"),
          "%s", error.text);
    net_model_free(made);
}

/* Without pooling a text has rows of tokens alone. */
static void test_no_pooling(void)
{
    static const char key[] = "bert.pooling_type";
    const uint32_t none = 0;
    struct orch_error error = {0};
    struct net_model *const made = changed("bert", key, sizeof key - 1 + 4, &none, sizeof none, &error);
    CHECK(made && made->graph->outputs == 1 && !encoder_pools(made), "%s", error.text);
    net_model_free(made);
}

/* What a file is, and how much it takes. */
static void test_kinds(void)
{
    struct orch_error error = {0};
    char path[4096], folder[4096];
    for (size_t m = 0; m < ARRAY_COUNT(models); m++) {
        struct net_model *const model = encoder_load(path_of(models[m], "gguf"), &error);
        const struct encoder_limits most = model ? encoder_limits_of(model) : (struct encoder_limits){0};
        CHECK(encoder_is(path_of(models[m], "gguf")) && !language_model_is(path_of(models[m], "gguf")), "%s", models[m]);
        CHECK(most.words == 26 && most.tokens == 20, "%s: %llu words, %llu tokens", models[m], (unsigned long long)most.words,
              (unsigned long long)most.tokens);
        CHECK(model && encoder_pools(model), "%s: %s", models[m], error.text);
        net_model_free(model);
    }
    snprintf(path, sizeof path, "%s/language/stories260K/stories260K-q8_0.gguf", suite_golden(""));
    CHECK(!encoder_is(path) && language_model_is(path), "%s is an encoder", path);
    snprintf(folder, sizeof folder, "%s/language/encoders/bert", suite_golden(""));
    CHECK(net_case_model(folder, path, sizeof path) && strcmp(path, folder) == 0, "%s: a case of %s", folder, path);
    snprintf(folder, sizeof folder, "%s/language/stories260K", suite_golden(""));
    CHECK(!net_case_model(folder, path, sizeof path), "%s: a case of %s", folder, path);
}

static void test_texts(void)
{
    static const char *const dims[] = {"sequence=21"};
    const struct language_options options = {.prompt_text =
                                                 "the cat sat on the mat the cat sat on the mat the cat sat on the mat the",
                                             .sampling = {.repetition_penalty = 1}};
    for (size_t m = 0; m < ARRAY_COUNT(models); m++) {
        struct outcome o =
            run_on(db, "m1", path_of(models[m], "gguf"),
                   (struct run_request){.unit = "cpu", .mode = RUN_FUNCTIONAL, .threads = 1, .language = &options});
        CHECK(!o.ok && o.error.exit_code == ORCH_USAGE && strstr(o.error.text, "the model has places for 20"), "%s: %s",
              models[m], o.error.text);
        run_result_free(&o.result);
        o = run_on(db, "m1", path_of(models[m], "gguf"),
                   (struct run_request){.unit = "gpu", .mode = RUN_TIMING, .threads = 1, .dims = dims, .dim_count = 1});
        CHECK(!o.ok && o.error.exit_code == ORCH_USAGE && strstr(o.error.text, "texts of 21 tokens"), "%s: %s", models[m],
              o.error.text);
        run_result_free(&o.result);
    }
}

static const struct suite_test tests[] = {
    {"by kernels of cores", test_cores},
    {"by kernels of the GPU", test_gpu},
    {"by programs of the Neural Engine", test_engine},
    {"texts that are filled up", test_filled_up},
    {"metadata that make no sense", test_metadata},
    {"tensors that are not there, or have no place", test_tensors},
    {"no pooling", test_no_pooling},
    {"which files are encoders", test_kinds},
    {"texts that are too long", test_texts},
};

int main(void)
{
    return example_chips_run("encoder files", tests, ARRAY_COUNT(tests), &db);
}
