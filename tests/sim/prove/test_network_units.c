/* Networks by kernels of the CPU's library: golden outputs of an independent runtime, what is left to the reference, and times
 * that are those of the kernels. */
#include "isa/array_count.h"
#include "sim/prove/check/networks.h"
#include "sim/run/run_network.h"
#include "tests/sim/run_example.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static struct chip_db *db;

/* Networks whose outputs must be right, and the nodes that the reference may compute. */
static void test_golden_outputs(void)
{
    static const struct {
        const char *name;
        unsigned left;
    } rows[] = {{"mnist_8", 0}, {"bert_tiny_random", 1}, {"llama_tiny_random", 0}, {"ppocr_cls", 0}, {"ultraface_slim320", 0}};
    const char *const folder = suite_shared("models");
    struct orch_error error = {0};
    if (!folder) {
        suite_skip("no folder of models");
        return;
    }
    struct chip *const chip = chip_open(db, "m1", NULL, &error);
    CHECK(chip != NULL, "%s", error.text);
    const struct run_request request = {.chip = chip, .mode = RUN_FUNCTIONAL};
    const struct net_open_options options = {.level = 2};
    for (size_t i = 0; chip && i < ARRAY_COUNT(rows); i++) {
        struct check_report report = {0};
        struct check_network_rows got = {.row = NULL};
        const bool ok = check_networks(folder, &rows[i].name, 1, &options, &request, &report, &got, &error);
        CHECK(ok && got.count == 1, "%s: %s", rows[i].name, error.text);
        for (size_t k = 0; ok && k < got.count; k++)
            CHECK(got.row[k].right && got.row[k].kernels > 0 && got.row[k].left == rows[i].left && got.row[k].share == 1,
                  "%s: off by %g of %g, %u nodes left, share %g: %s", rows[i].name, got.row[k].difference, got.row[k].magnitude,
                  got.row[k].left, got.row[k].share, got.row[k].fallbacks);
        check_network_rows_free(&got);
        check_report_free(&report);
    }
    if (chip)
        chip_close(chip);
}

/* ONNX's own tests of operators. Each is one node; what no kernel computes would be skipped. */
static void test_operators(void)
{
    static const char *const folder = "/usr/share/libonnx-testdata/data/node";
    static const char *const names[] = {
        "test_basic_conv_with_padding",
        "test_conv_with_strides_and_asymmetric_padding",
        "test_conv_with_autopad_same",
        "test_maxpool_2d_strides",
        "test_globalaveragepool",
        "test_gemm_default_vector_bias",
        "test_matmul_4d",
        "test_add_bcast",
        "test_sub",
        "test_div",
        "test_clip_example",
        "test_hardsigmoid",
        "test_elu",
        "test_leakyrelu",
        "test_softmax_axis_1",
        "test_logsoftmax_axis_0",
        "test_instancenorm_example",
        "test_batchnorm_example",
        "test_transpose_all_permutations_2",
        "test_transpose_all_permutations_4",
        "test_concat_3d_axis_1",
        "test_gather_1",
        "test_gather_negative_indices",
        "test_split_equal_parts_2d",
    };
    const struct net_open_options options = {.level = 2};
    struct check_report report = {0};
    struct check_network_rows got = {.row = NULL};
    struct orch_error error = {0};
    struct stat unused;
    if (stat(folder, &unused) != 0) {
        suite_skip("no tests of ONNX");
        return;
    }
    struct chip *const chip = chip_open(db, "m1", NULL, &error);
    const struct run_request request = {.chip = chip, .mode = RUN_FUNCTIONAL};
    CHECK(chip && check_networks(folder, names, ARRAY_COUNT(names), &options, &request, &report, &got, &error), "%s", error.text);
    for (size_t k = 0; k < got.count; k++)
        CHECK(got.row[k].right && got.row[k].kernels > 0 && got.row[k].left == 0, "%s: off by %g, %u kernels: %s",
              got.row[k].name, got.row[k].difference, got.row[k].kernels, got.row[k].fallbacks);
    CHECK(got.count == ARRAY_COUNT(names), "%zu of %zu by kernels", got.count, ARRAY_COUNT(names));
    check_network_rows_free(&got);
    check_report_free(&report);
    if (chip)
        chip_close(chip);
}

/* The kernel of a line of the placement, as a workload: behind the name of its variant. */
static const char *workload_of(const struct run_placement *p)
{
    const char *const space = strchr(p->kernel, ' ');
    return space ? space + 1 : "";
}

/* The network takes as long as its kernels, and each of them as long as it takes alone on generated values. Windows at the edges
 * of pools branch by values. */
static void test_times_are_those_of_kernels(void)
{
    const char *const folder = suite_shared("models");
    char path[PATH_MAX], name[64];
    double seconds = 0, joules = 0;
    if (!folder) {
        suite_skip("no folder of models");
        return;
    }
    snprintf(path, sizeof path, "%s/mnist_8/model.onnx", folder);
    struct outcome whole = run_on(db, "m1", path, (struct run_request){.unit = "cpu"});
    CHECK(whole.ok, "%s", whole.error.text);
    for (size_t k = 0; whole.ok && k < whole.result.placement.count; k++) {
        const struct run_placement *const p = &whole.result.placement.item[k];
        snprintf(name, sizeof name, RUN_NETWORK_SECONDS, k + 1);
        const double part = run_values_get(&whole.result.counters, name);
        if (strcmp(p->unit, "cpu") != 0) {
            CHECK(isnan(part), "%s of the %s has a time", p->op, p->unit);
            continue;
        }
        struct outcome alone = run_on(db, "m1", workload_of(p), (struct run_request){.unit = "cpu"});
        const double limit = strncmp(workload_of(p), "pool:", 5) == 0 ? 0.5 : 0.02;
        CHECK(alone.ok && fabs(alone.result.seconds / part - 1) < limit, "%s: %g s alone, %g s in the network", p->kernel,
              alone.result.seconds, part);
        seconds += part;
        snprintf(name, sizeof name, RUN_NETWORK_JOULES, k + 1);
        joules += run_values_get(&whole.result.counters, name);
        run_result_free(&alone.result);
    }
    CHECK(fabs(seconds / whole.result.seconds - 1) < 1e-9, "%g s, its kernels %g s", whole.result.seconds, seconds);
    CHECK(fabs(joules / whole.result.joules - 1) < 1e-3, "%g J, its kernels %g J", whole.result.joules, joules);
    CHECK(whole.result.native_mac_share == 1 && whole.result.macs == 786560, "%g of %g", whole.result.native_mac_share,
          whole.result.macs);
    run_result_free(&whole.result);
}

static const struct suite_test tests[] = {{"golden outputs", test_golden_outputs},
                                          {"ONNX's own tests", test_operators},
                                          {"times are those of the kernels", test_times_are_those_of_kernels}};

int main(void)
{
    return example_chips_run("network_units", tests, ARRAY_COUNT(tests), &db);
}
