/* Language models from the command line: text that is generated, times by shape, llama-bench's table, and what is refused. */
#include "isa/array_count.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cli_home home = {.name = "language", .options = "-q"};

/* The text comes first, then the numbers; the document has the tokens. */
static void test_text(void)
{
    char file[512];
    snprintf(file, sizeof file, "%s", suite_golden("language/stories260K/stories260K-q8_0.gguf"));
    if (!cli_ask(&home, "run %s --prompt-text Lily --generate 8 --unit gpu --chip m1", file))
        return;
    CHECK(strncmp(home.outcome.out, "Lily", 4) == 0 && strstr(home.outcome.out, "tokens/s, prefill") &&
              strstr(home.outcome.out, "J a token\n"),
          "%s", home.outcome.out);
    CU_ASSERT_TRUE_FATAL(cli_ask(&home, "run %s --prompt-text Lily --generate 8 --unit gpu --chip m1 --json", file));
    json_object *const d = cli_document(&home.outcome);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    CU_ASSERT_TRUE(document_number(d, "tokens_per_second") > 0 && document_number(d, "prefill_seconds") > 0);
    CU_ASSERT_TRUE(strncmp(document_text(d, "/generation/text"), "Lily", 4) == 0);
    CU_ASSERT_STRING_EQUAL(document_text(d, "/generation/stop"), "count");
    json_object_put(d);
    cli_home_remove(&home);
}

/* The same text on each unit, a row for each; several sequences begin together. */
static void test_units(void)
{
    char file[512];
    snprintf(file, sizeof file, "%s", suite_golden("language/stories260K/stories260K-q8_0.gguf"));
    if (!cli_ask(&home, "run %s --prompt-text Lily --generate 5 --unit all --chip m1 --json", file))
        return;
    json_object *const d = cli_document(&home.outcome);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    static const char *const units[] = {"cpu", "amx", "gpu", "ane"}; /* for the last of which blocks become f16 */
    CHECK(json_object_array_length(d) == ARRAY_COUNT(units), "%zu units", json_object_array_length(d));
    for (size_t i = 0; i < json_object_array_length(d) && i < ARRAY_COUNT(units); i++) {
        json_object *const row = json_object_array_get_idx(d, i);
        CU_ASSERT_STRING_EQUAL(document_text(row, "unit"), units[i]);
        CU_ASSERT_STRING_EQUAL(document_text(row, "/generation/text"),
                               document_text(json_object_array_get_idx(d, 0), "/generation/text"));
    }
    json_object_put(d);
    CU_ASSERT_TRUE_FATAL(
        cli_ask(&home, "run %s --prompt-text Lily --generate 5 --unit amx --chip m1 --batch 3 --kv-cache q8_0 --json", file));
    json_object *const b = cli_document(&home.outcome);
    CHECK(b && json_object_array_length(document_at(b, "/generation/sequences")) == 3, "%s", home.outcome.out);
    json_object_put(b);
    /* Launches alone take the GPU ten times as long as cores take for all of so small a model. */
    CU_ASSERT_TRUE_FATAL(cli_ask(&home, "run %s --prompt-text Lily --generate 5 --unit auto --chip m1 --json", file));
    json_object *const a = cli_document(&home.outcome);
    const char *const unit = a ? document_text(a, "unit") : "";
    CHECK(strcmp(unit, "cpu") == 0 || strcmp(unit, "amx") == 0, "on %s", unit);
    json_object_put(a);
    cli_home_remove(&home);
}

/* Prompts and steps by shape; the second time from characteristics, with the same answer; longer contexts take longer. */
static void test_timing(void)
{
    const char *const line =
        "run model:gpt2 --unit gpu --chip m1 --precision f16 --prompt %u --generate 8 --detail op --rerun --json";
    double decode[3];
    static const unsigned prompts[] = {16, 16, 300};
    for (unsigned i = 0; i < ARRAY_COUNT(prompts); i++) {
        char words[200];
        snprintf(words, sizeof words, line, prompts[i]);
        CU_ASSERT_TRUE_FATAL(cli_ask(&home, "%s", words));
        json_object *const d = cli_document(&home.outcome);
        CU_ASSERT_PTR_NOT_NULL_FATAL(d);
        decode[i] = 8 / document_number(d, "tokens_per_second");
        const double sum = document_number(d, "prefill_seconds") + decode[i];
        CHECK(fabs(sum / document_number(d, "seconds") - 1) < 1e-9, "%g s", sum);
        CU_ASSERT_STRING_EQUAL(document_text(d, "detail"), "op");
        json_object_put(d);
    }
    CHECK(decode[0] == decode[1] && decode[2] > 1.01 * decode[0] && decode[2] < 2 * decode[0], "%g, %g, %g s", decode[0],
          decode[1], decode[2]);
    /* Weights are read once for a token: no faster than the memory of M1 (68.25 GB/s for 248 MB), and not half as fast. */
    const double bytes = 2 * 124e6, each = decode[0] / 8;
    CHECK(each > bytes / 68.25e9 && each < 2 * bytes / 68.25e9, "%g s a token", each);
    cli_home_remove(&home);
}

static json_object *bench(const char *options)
{
    CU_ASSERT_TRUE_FATAL(cli_ask(&home, "bench-llm model:gpt2 --prompt 4 --generate 2 --json %s", options));
    json_object *const d = cli_document(&home.outcome);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    cli_home_remove(&home); /* nothing is known to the next one */
    return d;
}

static void check_row(json_object *d, unsigned i, const char *chip, const char *test)
{
    char path[4][40];
    static const char *const keys[] = {"tokens_per_second_low", "tokens_per_second", "tokens_per_second_high", "chip"};
    for (size_t k = 0; k < ARRAY_COUNT(keys); k++)
        snprintf(path[k], sizeof path[k], "/%u/%s", i, keys[k]);
    const double rate = document_number(d, path[1]);
    CHECK(document_number(d, path[0]) < rate && rate < document_number(d, path[2]), "row %u: %g tokens/s", i, rate);
    CU_ASSERT_STRING_EQUAL(document_text(d, path[3]), chip);
    snprintf(path[0], sizeof path[0], "/%u/test", i);
    CU_ASSERT_STRING_EQUAL(document_text(d, path[0]), test);
}

/* Threads of the host ask for kernels in another order, and change no number. */
static void test_bench(void)
{
    json_object *const two = bench("--chip m1,m2 --precision q8_0 --threads 2"),
                       *const one = bench("--chip m1 --precision f16,q8_0 --threads 1");
    CU_ASSERT_TRUE_FATAL(json_object_array_length(two) == 4 && json_object_array_length(one) == 4);
    for (unsigned i = 0; i < 4; i++) {
        check_row(two, i, i < 2 ? "m1_4p4e_8g" : "m2_4p4e_10g", i % 2 ? "tg2" : "pp4");
        check_row(one, i, "m1_4p4e_8g", i % 2 ? "tg2" : "pp4");
    }
    for (unsigned i = 0; i < 2; i++)
        CHECK(json_object_equal(json_object_array_get_idx(two, i), json_object_array_get_idx(one, i + 2)), "two threads: %s",
              json_object_to_json_string(json_object_array_get_idx(two, i)));
    /* A token of half the bytes is faster. */
    CU_ASSERT_TRUE(document_number(one, "/3/tokens_per_second") > 1.2 * document_number(one, "/1/tokens_per_second"));
    json_object_put(two);
    json_object_put(one);
}

/* In a machine that stays cool tokens are as fast as at fixed clocks; joules are those of all tokens. */
static void test_in_a_machine(void)
{
    CU_ASSERT_TRUE_FATAL(cli_ask(&home, "run model:gpt2 --unit gpu --chip m1 --prompt 8 --generate 4 --device macbook-air "
                                        "--duration 5 --battery 50 --json"));
    json_object *const d = cli_document(&home.outcome);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    json_object *counters = NULL;
    json_object_object_get_ex(d, "counters", &counters);
    const double tokens = json_object_get_double(json_object_object_get(counters, "device.tokens")),
                 cool = json_object_get_double(json_object_object_get(counters, "device.tokens_per_second_cool")),
                 joules = json_object_get_double(json_object_object_get(counters, "device.joules_per_token")),
                 repetitions = json_object_get_double(json_object_object_get(counters, "device.repetitions"));
    CHECK(fabs(tokens / (4 * repetitions) - 1) < 1e-9, "%g tokens in %g repetitions", tokens, repetitions);
    CHECK(fabs(document_number(d, "tokens_per_second") / cool - 1) < 0.02, "%g tokens/s, cool %g",
          document_number(d, "tokens_per_second"), cool);
    CHECK(fabs(joules * tokens / document_number(d, "joules") - 1) < 1e-6, "%g J a token", joules);
    CHECK(document_number(d, "/device_run/battery_hours_left") > 0, "the battery");
    json_object_put(d);
    cli_home_remove(&home);
}

static void test_refusals(void)
{
    static const struct cli_wrong rows[] = {
        {"run model:llama-7b --unit gpu --chip m1 --precision f16 --prompt 512 --generate 128", 2,
         "the GPU of m1_4p4e_8g may hold 11.2 of 16 GiB; in q8_0 it would be 7.3 GiB"},
        {"run model:gpt2 --unit gpu --chip m1 --prompt 1020 --generate 8", 2, "do not fit the context of 1024 tokens"},
        {"run model:gpt2 --unit gpu --chip m1 --prompt-text Lily", 2, "time alone has no text"},
        {"run model:gpt2 --unit gpu --chip m1 --mode functional --prompt 4", 2, "has no weights here"},
        {"run model:gpt2 --unit gpu --chip m1 --precision f17", 2, "no format of weights"},
        {"run model:gpt2 --unit gpu --chip m1 --prompt-text a --device macbook-air --duration 5", 2, "by its shapes alone"},
        {"run model:gpt2[unit=gpu] + gemm:8x8x8 --chip m1", 3, "do not run beside other work"},
        {"bench-llm llama-7 --chip m1", 2, "did you mean llama-7b"},
        {"bench-llm", 2, "one list of models"},
        {"bench-llm llama-7b --kernels ggml@1999", 2, "versions that are known go from 2023-06"},
        {"bench-llm llama-7b --chip m1 --precision f16", 2, "llama-7b in f16 needs 12.8 GiB"},
    };
    cli_all_wrong(&home, rows, sizeof rows / sizeof *rows);
}

/* Weights without what belongs to them: what to do is said. */
static void test_safetensors(void)
{
    static const char file[] = "\x10\0\0\0\0\0\0\0{\"a\":1}         ";
    char path[256];
    cli_home_open(&home);
    snprintf(path, sizeof path, "%s/model.safetensors", home.folder);
    FILE *const f = fopen(path, "wb");
    CU_ASSERT_TRUE_FATAL(f && fwrite(file, 1, sizeof file - 1, f) == sizeof file - 1 && fclose(f) == 0);
    cli_ask(&home, "run %s --unit cpu", path);
    CHECK(home.outcome.code == 2 && strstr(home.outcome.err, "its dimensions stand in config.json beside it"), "%d: %s",
          home.outcome.code, home.outcome.err);
    cli_home_remove(&home);
}

static const struct suite_test tests[] = {
    {"generates text", test_text},
    {"generates text on each unit", test_units},
    {"times by shapes", test_timing},
    {"prints llama-bench's table", test_bench},
    {"runs in a machine", test_in_a_machine},
    {"refuses", test_refusals},
    {"says what becomes of safetensors", test_safetensors},
};
SUITE_MAIN("language_cli", tests)
