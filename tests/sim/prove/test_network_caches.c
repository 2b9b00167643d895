/* Attention over what is kept, with lengths as values: what onnxruntime computes of the files in tests/golden/exporters, on
 * units; lengths that nobody gives; lengths that do not fit. */
#include "sim/network/arrays.h"
#include "sim/prove/check/networks.h"
#include "tests/sim/run_example.h"

#include <stdlib.h>
#include <unistd.h>

#define FOLDER ORCHARD_SOURCE_DIR "/tests/golden/exporters"

static struct chip_db *db;

static const char *const cases[] = {"attention24_causal", "attention24_lengths",  "ms_attention_ends", "ms_gqa_bias",
                                    "ms_gqa_buffer",      "ms_gqa_buffer_window", "ms_gqa_continued",  "ms_gqa_mask",
                                    "ms_gqa_prompt",      "ms_gqa_ragged",        "ms_gqa_sink",       "ms_gqa_smooth",
                                    "ms_mha_lengths",     "ms_mha_rows"};

static void check_on(const char *unit)
{
    const struct net_open_options options = {.level = 2};
    struct run_request request = {.unit = unit, .mode = RUN_FUNCTIONAL, .threads = 1, .seed = 1};
    struct orch_error error = {0};
    struct chip *const chip = chip_open(db, "m1", NULL, &error);
    struct check_report report = {0};
    struct check_network_rows rows = {.count = 0};
    request.chip = chip;
    const bool ok = chip && check_networks(FOLDER, cases, ARRAY_COUNT(cases), &options, &request, &report, &rows, &error);
    CHECK(ok && rows.count == ARRAY_COUNT(cases), "%s: %zu cases, %s", unit, rows.count, error.text);
    for (size_t k = 0; k < rows.count; k++)
        CHECK(rows.row[k].right && rows.row[k].kernels > 5 && rows.row[k].share == 1,
              "%s on %s: %u kernels, %g of the products, differs by %g of %g", rows.row[k].name, unit, rows.row[k].kernels,
              rows.row[k].share, rows.row[k].difference, rows.row[k].magnitude);
    check_network_rows_free(&rows);
    check_report_free(&report);
    chip_close(chip);
}

static void test_units(void)
{
    check_on("cpu");
    check_on("gpu");
}

/* A mask for two queries and four keys in each of two sequences has as many numbers as one for all heads would: on the Neural
 * Engine it was taken for that. */
static void test_engine(void)
{
    static const char *const batch[] = {"b=2"};
    struct outcome o =
        run_on(db, "m1", FOLDER "/ms_mha_lengths/model.onnx",
               (struct run_request){.unit = "ane", .mode = RUN_TIMING, .detail = "op", .seed = 1, .dims = batch, .dim_count = 1});
    bool sums = false;
    for (size_t k = 0; o.ok && k < o.result.placement.count; k++)
        sums |= strstr(o.result.placement.item[k].kernel, "attention:") != NULL;
    CHECK(o.ok && !sums, "%s", o.error.text);
    run_result_free(&o.result);
}

/* ---- lengths ---- */

static void save(const char *path, const int32_t *number, int64_t count)
{
    struct orch_error error = {0};
    struct net_array *const a = net_array_new(NET_I32, &count, 1, &error);
    memcpy(a->data, number, (size_t)count * sizeof *number);
    CHECK(net_array_save(path, a, &error), "%s", error.text);
    net_array_release(a);
}

static struct outcome run_ragged(const int32_t *last)
{
    char path[64], input[80];
    snprintf(path, sizeof path, "/tmp/orchard_lengths_%d.npy", (int)getpid());
    snprintf(input, sizeof input, "last=%s", path);
    const char *const inputs[] = {input};
    if (last)
        save(path, last, 3);
    struct outcome o =
        run_on(db, "m1", FOLDER "/ms_gqa_ragged/model.onnx",
               (struct run_request){
                   .unit = "cpu", .mode = RUN_TIMING, .detail = "op", .seed = 1, .inputs = inputs, .input_count = last != NULL});
    unlink(path);
    return o;
}

/* What nobody gives is full: one copy for keys and one for values. Where lengths differ rows are looked up besides. */
static void test_lengths(void)
{
    struct outcome full = run_ragged(NULL), same = run_ragged((const int32_t[]){5, 5, 5}),
                   ragged = run_ragged((const int32_t[]){1, 4, 2});
    CHECK(full.ok && same.ok && ragged.ok, "%s%s%s", full.error.text, same.error.text, ragged.error.text);
    CHECK(full.result.seconds == same.result.seconds, "%g s and %g s", full.result.seconds, same.result.seconds);
    CHECK(ragged.result.seconds > full.result.seconds, "%g s and %g s", ragged.result.seconds, full.result.seconds);
    struct outcome beyond = run_ragged((const int32_t[]){1, 6, 2});
    CHECK(!beyond.ok && beyond.error.exit_code == ORCH_USAGE &&
              strstr(beyond.error.text, "sequence 1 has 6 places before 1 new ones"),
          "%s", beyond.error.text);
    run_result_free(&full.result);
    run_result_free(&same.result);
    run_result_free(&ragged.result);
    run_result_free(&beyond.result);
}

static const struct suite_test tests[] = {
    {"onnxruntime's numbers on units", test_units},
    {"a mask for each sequence on the Neural Engine", test_engine},
    {"lengths that are given, left out and wrong", test_lengths},
};

int main(void)
{
    return example_chips_run("network_caches", tests, ARRAY_COUNT(tests), &db);
}
