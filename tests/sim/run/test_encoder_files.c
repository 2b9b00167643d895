#define _GNU_SOURCE /* memmem */
/* GGUF files of encoders of texts: tokens, hidden states and embeddings by kernels of units, against a pass in double precision
 * (tests/golden/language/encoder_files/make.py, written with numpy from the definitions of the models). */
#include "isa/array_count.h"
#include "sim/base/file_read.h"
#include "sim/base/json_read.h"
#include "sim/network/case.h"
#include "sim/network/encoder/encoder.h"
#include "sim/network/encoder/encoder_config.h"
#include "sim/network/network.h"
#include "sim/network/operators/run.h"
#include "sim/run/language/language_model.h"
#include "sim/run/language/language_options.h"
#include "sim/run/network/run_network_text.h"
#include "tests/sim/run_example.h"

#include <math.h>
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

static json_object *golden_of(const char *model)
{
    json_object *const root = json_object_from_file(path_of(model, "json"));
    CHECK(root != NULL, "%s", path_of(model, "json"));
    return root;
}

static double difference(const struct net_array *got, json_object *want)
{
    double most = 0;
    int64_t at = 0;
    const bool lists = json_object_is_type(json_object_array_get_idx(want, 0), json_type_array);
    for (size_t i = 0; i < json_object_array_length(want); i++) {
        json_object *const item = json_object_array_get_idx(want, i);
        for (size_t k = 0; k < (lists ? json_object_array_length(item) : 1); k++, at++) {
            const double number = json_object_get_double(lists ? json_object_array_get_idx(item, k) : item);
            most = at < got->count ? fmax(most, fabs(net_array_double(got, at) - number)) : INFINITY;
        }
    }
    return at == got->count ? most : INFINITY;
}

static void check_case(const char *model, const char *unit, json_object *golden, double bound)
{
    static const char *const names[] = {"last_hidden_state", "sentence_embedding"};
    struct net_array *none[2] = {NULL}, *output[2] = {NULL};
    const struct run_network_arrays arrays = {none, output, NULL};
    const struct language_options options = {.prompt_text = json_peek_string(golden, "text"),
                                             .sampling = {.repetition_penalty = 1}};
    struct outcome o =
        run_on(db, "m1", path_of(model, "gguf"),
               (struct run_request){.unit = unit, .mode = RUN_FUNCTIONAL, .threads = 1, .language = &options, .arrays = &arrays});
    CHECK(o.ok, "%s on %s: %s", model, unit, o.error.text);
    for (size_t k = 0; o.ok && k < ARRAY_COUNT(names); k++) {
        json_object *const want = json_peek(golden, names[k], json_type_array);
        const double off = want && output[k] ? difference(output[k], want) : INFINITY;
        CHECK(off <= bound, "%s on %s: %s is off by %g", model, unit, names[k], off);
    }
    for (size_t k = 0; o.ok && k < o.result.placement.count; k++)
        CHECK(strcmp(o.result.placement.item[k].unit, "reference") != 0, "%s on %s: %s is left", model, unit,
              o.result.placement.item[k].op);
    for (size_t k = 0; k < 2; k++)
        net_array_release(output[k]);
    run_result_free(&o.result);
}

static void check_unit(const char *unit, double bound)
{
    for (size_t m = 0; m < ARRAY_COUNT(models); m++) {
        json_object *const root = golden_of(models[m]), *const cases = json_peek(root, "cases", json_type_array);
        for (size_t i = 0; cases && i < json_object_array_length(cases); i++)
            check_case(models[m], unit, json_object_array_get_idx(cases, i), bound);
        json_object_put(root);
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

/* Texts side by side, the shorter ones filled up: turned heads and slopes by distance leave what the mask hides alone. */
static void check_filled_up(const char *name)
{
    static const struct net_open_options everything = {.level = 2};
    json_object *const root = golden_of(name), *const cases = json_peek(root, "cases", json_type_array);
    struct orch_error error = {0};
    struct net_model *const model = encoder_load(path_of(name, "gguf"), &error);
    struct net_array *input[2] = {NULL}, *output[2] = {NULL};
    struct token_list text[3] = {{0}};
    for (size_t i = 0; cases && i < 3; i++) {
        json_object *const ids = json_peek(json_object_array_get_idx(cases, i), "ids", json_type_array);
        for (size_t k = 0; k < json_object_array_length(ids); k++)
            token_list_add(&text[i], (uint32_t)json_object_get_int(json_object_array_get_idx(ids, k)), &error);
    }
    const struct net_run run = {.model = model, .input = input};
    const bool ok = model && run_network_put_tokens(model, input, text, 3, &error) && net_bind_inputs(model, input, &error) &&
                    net_prepare(model, &everything, NULL, &error) && net_run(&run, output, &error);
    CHECK(ok, "%s: %s", name, error.text);
    for (size_t i = 0; ok && i < 3; i++) {
        json_object *const want = json_peek(json_object_array_get_idx(cases, i), "sentence_embedding", json_type_array);
        const size_t width = json_object_array_length(want);
        for (size_t k = 0; k < width; k++)
            CHECK(fabs(net_array_double(output[1], (int64_t)(i * width + k)) -
                       json_object_get_double(json_object_array_get_idx(want, k))) < 2e-6,
                  "%s, text %zu, number %zu", name, i, k);
    }
    for (size_t k = 0; k < 3; k++) {
        token_list_free(&text[k]);
        if (k < 2) {
            net_array_release(input[k]);
            net_array_release(output[k]);
        }
    }
    net_model_free(model);
    json_object_put(root);
}

static void test_filled_up(void)
{
    for (size_t m = 0; m < ARRAY_COUNT(models); m++)
        check_filled_up(models[m]);
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
