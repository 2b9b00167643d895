/* The verb models: the zoo, files of weights, and what is neither. */
#include "isa/array_count.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct cli_home home = {.name = "models", .options = "-q"};

static void test_list(void)
{
    if (!cli_ask(&home, "models --json"))
        return;
    json_object *const d = cli_document(&home.outcome);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    CU_ASSERT_TRUE(json_object_array_length(d) >= 35);
    CU_ASSERT_STRING_EQUAL(document_text(d, "/0/name"), "llama-7b");
    CU_ASSERT_EQUAL(document_number(d, "/0/parameters"), 6738415616);
    json_object_put(d);
    CU_ASSERT_TRUE(cli_ask(&home, "models list") && strstr(home.outcome.out, "gpt-oss-20b") &&
                   strstr(home.outcome.out, "efficientnet-b0"));
    CU_ASSERT_TRUE(cli_ask(&home, "models show resnet50") && strstr(home.outcome.out, "4,089,184,256 multiplications"));
    cli_home_remove(&home);
}

static void test_show(void)
{
    if (!cli_ask(&home, "models show llama-3-8b --json --chip m2-max"))
        return;
    json_object *const d = cli_document(&home.outcome);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    CU_ASSERT_EQUAL(document_number(d, "parameters"), 8030261248);
    CU_ASSERT_EQUAL(document_number(d, "cache_bytes_per_token_f16"), 131072);
    /* The smallest memory of this chip is 32 GiB: float32 weights do not fit, float16 ones do with the whole context. */
    CU_ASSERT_EQUAL(document_number(d, "/fits/0/memory_gib"), 32);
    CU_ASSERT_STRING_EQUAL(document_text(d, "/fits/0/context/f32"), "");
    CU_ASSERT_EQUAL(document_number(d, "/fits/0/context/f16"), 8192);
    CU_ASSERT_STRING_EQUAL(document_text(d, "/fits/0/chips"), "M2 Max");
    json_object_put(d);
    CU_ASSERT_TRUE(cli_ask(&home, "models show model:gemma-2b") && strstr(home.outcome.out, "parameters 2506172416"));
    cli_home_remove(&home);
}

static void test_files(void)
{
    if (!cli_ask(&home, "models show %s --json --chip m1", suite_golden("language/stories260K/stories260K-q4_0.gguf")))
        return;
    json_object *const d = cli_document(&home.outcome);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    CU_ASSERT_EQUAL(document_number(d, "parameters"), 260032);
    CU_ASSERT_EQUAL(document_number(d, "stored_values"), 260032);
    CU_ASSERT_EQUAL(document_number(d, "file_bytes"), 258688);
    CU_ASSERT_EQUAL(document_number(d, "/types/q4_0/tensors"), 30);
    CU_ASSERT_STRING_EQUAL(document_text(d, "/tensors/0/name"), "token_embd.weight");
    CU_ASSERT_STRING_EQUAL(document_text(d, "/tensors/0/type"), "q8_0");
    json_object_put(d);
    suite_write_text(
        home.folder, "config.json",
        "{\"model_type\":\"gpt2\",\"n_embd\":768,\"n_layer\":12,\"n_head\":12,\"n_positions\":1024,\"vocab_size\":50257}");
    CU_ASSERT_TRUE(cli_ask(&home, "models show $/config.json --chip m1") && strstr(home.outcome.out, "parameters 124439808"));
    suite_write_text(home.folder, "model.index.json", "{\"weight_map\":{}}");
    CU_ASSERT_TRUE(cli_ask(&home, "models show $/model.index.json") && strstr(home.outcome.out, "no tensors"));
    CU_ASSERT_TRUE(cli_ask(&home, "models show " ORCHARD_SOURCE_DIR "/tests/examples/networks/digits") &&
                   strstr(home.outcome.out, "digits/model.onnx: opset "));
    cli_home_remove(&home);
}

static void test_errors(void)
{
    static const struct {
        const char *words, *what;
    } cases[] = {
        {"show llama-3-8", "'llama-3-8' is neither a file nor a model of the zoo (orchard models); did you mean llama-3-8b?"},
        {"show $/text", "is none of the files that are shown: GGUF, config.json, safetensors"},
        {"show $", "is none of the files that are shown"},
        {"check $", "networks are checked by orchard model check"},
        {"show $/cut.gguf", "cut.gguf: byte 4: 4 bytes are announced, 0 are left"},
        {"show", "expected show NAME|FILE"},
        {"list all", "is neither list, show NAME|FILE, quantize FILE, accuracy FILE nor passes NAME|FILE"},
        {"show phi-2 --chip m9", "m9"},
    };
    cli_home_open(&home);
    suite_write_text(home.folder, "text", "nothing");
    suite_write_text(home.folder, "cut.gguf", "GGUF");
    for (size_t i = 0; i < ARRAY_COUNT(cases) && cli_ask(&home, "models %s", cases[i].words); i++)
        CHECK(home.outcome.code == 2 && strstr(home.outcome.err, cases[i].what), "%s: %d, %s", cases[i].words, home.outcome.code,
              home.outcome.err);
    cli_home_remove(&home);
}

static const struct suite_test tests[] = {
    {"lists the zoo", test_list},
    {"shows a model of the zoo", test_show},
    {"shows files", test_files},
    {"says what is wrong", test_errors},
};
SUITE_MAIN("models_cli", tests)
