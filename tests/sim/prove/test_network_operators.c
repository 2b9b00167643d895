/* ONNX's own tests of operators on whole numbers, truth values, places, and on numbers of 16 bits, by kernels of units. */
#include "isa/array_count.h"
#include "sim/prove/check/networks.h"
#include "sim/run/network/run_network.h"
#include "tests/sim/run_example.h"

#include <sys/stat.h>

#define FOLDER "/usr/share/libonnx-testdata/data/node"

static struct chip_db *db;

static const char *const operators[] = {"test_where_example",
                                        "test_where_long_example",
                                        "test_equal",
                                        "test_equal_bcast",
                                        "test_less_bcast",
                                        "test_less_equal",
                                        "test_greater",
                                        "test_greater_equal_bcast",
                                        "test_and_bcast4v3d",
                                        "test_or3d",
                                        "test_xor_bcast3v1d",
                                        "test_not_2d",
                                        "test_add_uint8",
                                        "test_sub_uint8",
                                        "test_max_int32",
                                        "test_min_int64",
                                        "test_argmax_keepdims_example",
                                        "test_argmin_no_keepdims_random",
                                        "test_argmax_negative_axis_keepdims_random",
                                        "test_scatternd",
                                        "test_scatter_elements_with_axis",
                                        "test_scatter_elements_with_negative_indices",
                                        "test_gathernd_example_int32",
                                        "test_gather_elements_1",
                                        "test_gather_2d_indices",
                                        "test_tril",
                                        "test_triu_neg",
                                        "test_isnan",
                                        "test_reduce_sum_default_axes_keepdims_random",
                                        "test_reduce_mean_keepdims_random",
                                        "test_slice_neg_steps",
                                        "test_tile_precomputed",
                                        "test_maxunpool_export_without_output_shape",
                                        "test_not_4d",
                                        "test_logsoftmax_axis_1_expanded",
                                        "test_range_int32_type_negative_delta",
                                        "test_range_float_type_positive_delta_expanded",
                                        "test_prelu_broadcast",
                                        "test_top_k",
                                        "test_selu_example",
                                        "test_celu",
                                        "test_thresholdedrelu",
                                        "test_sign",
                                        "test_reduce_l1_keep_dims_random",
                                        "test_reduce_sum_square_do_not_keepdims_random",
                                        "test_reduce_log_sum_asc_axes",
                                        "test_mean_example",
                                        "test_top_k_negative_axis",
                                        "test_top_k_smallest",
                                        "test_argmax_keepdims_random_select_last_index"};
static const char *const halves[] = {"test_max_float16", "test_min_float16"};

/* Each is right, and at most so many of its nodes are the reference's. */
static void check(const char *unit, const char *const *names, size_t count, unsigned left)
{
    static const struct net_open_options options = {.level = 2};
    struct check_report report = {0};
    struct check_network_rows got = {.row = NULL};
    struct orch_error error = {0};
    struct stat unused;
    if (stat(FOLDER, &unused) != 0) {
        suite_skip("no tests of ONNX");
        return;
    }
    struct chip *const chip = chip_open(db, "m1", NULL, &error);
    const struct run_request request = {.chip = chip, .unit = unit, .mode = RUN_FUNCTIONAL};
    CHECK(chip && check_networks(FOLDER, names, count, &options, &request, &report, &got, &error), "%s", error.text);
    for (size_t k = 0; k < got.count; k++)
        CHECK(got.row[k].right && got.row[k].kernels > 0 && got.row[k].left <= left, "%s: off by %g, %u kernels: %s",
              got.row[k].name, got.row[k].difference, got.row[k].kernels, got.row[k].fallbacks);
    CHECK(got.count == count, "%zu of %zu by kernels", got.count, count);
    check_network_rows_free(&got);
    check_report_free(&report);
    if (chip)
        chip_close(chip);
}

static void test_cores(void)
{
    check("cpu", operators, ARRAY_COUNT(operators), 0);
}

static void test_gpu(void)
{
    check("gpu", operators, ARRAY_COUNT(operators), 0);
}

/* They are widened where they come in and rounded where they go out, which the reference does; what is between is a kernel's. */
static void test_halves(void)
{
    check("cpu", halves, ARRAY_COUNT(halves), 3);
    check("gpu", halves, ARRAY_COUNT(halves), 3);
}

static const struct suite_test tests[] = {
    {"by kernels of cores", test_cores}, {"by kernels of the GPU", test_gpu}, {"numbers of 16 bits", test_halves}};

int main(void)
{
    return example_chips_run("network operators", tests, ARRAY_COUNT(tests), &db);
}
