#define _GNU_SOURCE /* memmem */
/* Folders of encoders of texts: tokens, hidden states and embeddings by kernels of units, against a pass in double precision
 * (tests/golden/language/encoders/make.py, written from the definitions of the models with nothing but Python's own library). */
#include "sim/base/file_read.h"
#include "sim/network/encoder/encoder_config.h"
#include "tests/sim/encoder_example.h"

#include <stdlib.h>
#include <unistd.h>

static struct chip_db *db;

static const char *const models[] = {"bert", "distilbert", "roberta"};

static const char *folder_of(const char *model)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/language/encoders/%s", suite_golden(""), model);
    return path;
}

static const char *golden_path(const char *model)
{
    static char path[4200];
    snprintf(path, sizeof path, "%s/golden.json", folder_of(model));
    return path;
}

static void check_unit(const char *unit, double bound)
{
    for (size_t m = 0; m < ARRAY_COUNT(models); m++)
        encoder_check(db, folder_of(models[m]), golden_path(models[m]), unit, bound);
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

static void test_filled_up(void)
{
    encoder_check_filled_up(folder_of("bert"), golden_path("bert"));
}

/* ---- what is wrong ---- */

static void refuse_config(const char *text, int code, const char *part)
{
    struct orch_error error = {0};
    struct encoder_config config;
    CHECK(!encoder_config_parse("config.json", text, strlen(text), &config, &error) && error.exit_code == code &&
              strstr(error.text, part),
          "%s: %s", text, error.text);
}

static void test_configs(void)
{
#define SIZES "\"num_hidden_layers\":2,\"hidden_size\":24,\"intermediate_size\":40,\"vocab_size\":26"
    refuse_config("{\"model_type\":\"albert\"}", ORCH_UNMODELLED, "config.json: model_type: \"albert\" is not modelled");
    refuse_config("{\"model_type\":\"bert\"}", ORCH_USAGE, "num_hidden_layers");
    refuse_config("{\"model_type\":\"bert\"," SIZES ",\"num_attention_heads\":5,\"max_position_embeddings\":20}", ORCH_USAGE,
                  "5 heads do not divide a width of 24");
    refuse_config("{\"model_type\":\"roberta\"," SIZES ",\"num_attention_heads\":3,\"max_position_embeddings\":2}", ORCH_USAGE,
                  "max_position_embeddings: leaves no place");
    refuse_config("{\"model_type\":\"bert\"," SIZES
                  ",\"num_attention_heads\":3,\"max_position_embeddings\":20,\"hidden_act\":\"x\"}",
                  ORCH_UNMODELLED, "hidden_act: \"x\" is not modelled");
    refuse_config("{\"model_type\":\"bert\"," SIZES ",\"num_attention_heads\":3,\"max_position_embeddings\":20,"
                  "\"position_embedding_type\":\"relative_key\"}",
                  ORCH_UNMODELLED, "position_embedding_type");
    refuse_config("{\"model_type\":", ORCH_USAGE, "config.json");
}

static void refuse_text(const char *model, struct language_options options, const char *part)
{
    options.sampling.repetition_penalty = 1;
    struct outcome o = run_on(db, "m1", folder_of(model),
                              (struct run_request){.unit = "cpu", .mode = RUN_FUNCTIONAL, .threads = 1, .language = &options});
    CHECK(!o.ok && o.error.exit_code == ORCH_USAGE && strstr(o.error.text, part), "%s", o.error.text);
    run_result_free(&o.result);
}

static void test_texts(void)
{
    refuse_text(
        "bert",
        (struct language_options){.prompt_text = "the cat sat on the mat the cat sat on the mat the cat sat on the mat the"},
        "the model has places for 20");
    refuse_text("bert", (struct language_options){.prompt_text = "\xff"}, "no UTF-8 at byte 0");
    refuse_text("bert", (struct language_options){.prompt_text = "a", .generate = 3}, "generates nothing");
}

static char *read_all(const char *path, size_t *size)
{
    uint8_t *bytes = NULL;
    FILE *const f = fopen(path, "rb");
    const bool ok = f && file_read_all(f, 1 << 24, &bytes, size);
    if (f)
        fclose(f);
    return ok ? (char *)bytes : NULL;
}

/* Tensors that are missing, of another shape, or that nobody knows are named. */
static void test_tensors(void)
{
    static const struct {
        const char *from, *to, *part;
    } cases[] = {
        {"bert.encoder.layer.1.output.dense.bias", "bert.encoder.layer.1.output.dense.vias", "output.dense.bias': is missing"},
        {"bert.pooler.dense.bias", "bert.pooler.dense.biaz", "pooler.dense.bias': is missing"},
        {"bert.embeddings.word_embeddings.weight", "bert.embeddings.wort_embeddings.weight", "word_embeddings.weight"}};
    char path[4200], folder[] = "/tmp/orchard-encoder-XXXXXX";
    struct orch_error error = {0};
    size_t size;
    CHECK(mkdtemp(folder) != NULL, "a folder");
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        snprintf(path, sizeof path, "%s/model.safetensors", folder_of("bert"));
        char *const bytes = read_all(path, &size);
        char *const at = bytes ? memmem(bytes, size, cases[i].from, strlen(cases[i].from)) : NULL;
        CHECK(at != NULL, "%s", cases[i].from);
        if (at)
            memcpy(at, cases[i].to, strlen(cases[i].to));
        snprintf(path, sizeof path, "%s/model.safetensors", folder);
        FILE *const f = fopen(path, "wb");
        CHECK(f && fwrite(bytes, 1, size, f) == size && fclose(f) == 0, "%s", path);
        free(bytes);
        snprintf(path, sizeof path, "cp %s/config.json %s", folder_of("bert"), folder);
        CHECK(system(path) == 0 && encoder_is(folder), "%s", path);
        error = (struct orch_error){0};
        struct net_model *const model = encoder_load(folder, &error);
        CHECK(!model && error.exit_code == ORCH_USAGE && strstr(error.text, cases[i].part), "%s: %s", cases[i].to, error.text);
        net_model_free(model);
    }
    CHECK(suite_remove(folder), "%s stays", folder);
}

static const struct suite_test tests[] = {
    {"by kernels of cores", test_cores},
    {"by kernels of the GPU", test_gpu},
    {"by programs of the Neural Engine", test_engine},
    {"texts that are filled up", test_filled_up},
    {"config.json that makes no sense", test_configs},
    {"texts that do not fit", test_texts},
    {"tensors that are not there", test_tensors},
};

int main(void)
{
    return example_chips_run("encoder folders", tests, ARRAY_COUNT(tests), &db);
}
