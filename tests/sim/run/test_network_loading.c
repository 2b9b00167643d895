/* What is done when a network is loaded and what at every run: weights that are constants lie in the layout of the unit's kernels
 * beforehand, weights that are computed or handed in are packed in the run; steps that hang on constants alone run once. */
#include "sim/network/arrays.h"
#include "sim/network/network.h"
#include "sim/network/onnx/onnx.h"
#include "sim/network/operators/operator.h"
#include "sim/run/run_internal.h"
#include "sim/run/network/run_network.h"
#include "sim/run/network/run_network_kernel.h"
#include "sim/run/network/run_network_step.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct chip_db *db;

/* 16 channels are 2 blocks of 8. 16 x 16 pixels are 4 threadgroups of 64; so that all 8 cores of M1 have work, a threadgroup
 * takes 16 of the 32 filters. A thread of the packing takes one channel of a block for one filter, 256 are a threadgroup. */
enum { CHANNELS = 16, SIDE = 16, FILTERS = 32, TAPS = 9 };
enum {
    PRODUCTS = 4 * FILTERS / 16,
    PACKING = CHANNELS * FILTERS / 256,
    PACKED_BYTES = 4 * TAPS * CHANNELS * FILTERS,
    PANEL_BYTES = PACKED_BYTES /* 32 filters are whole panels of 8 and of 16 */
};

static const int64_t image[4] = {1, CHANNELS, SIDE, SIDE}, filters[4] = {FILTERS, CHANNELS, 3, 3};

static struct net_array *numbers(const int64_t *shape, uint64_t seed)
{
    struct orch_error error = {0};
    struct net_array *const a = net_array_new(NET_F32, shape, 4, &error);
    for (int64_t k = 0; a && k < a->count; k++)
        ((float *)a->data)[k] = (float)(suite_random(&seed) % 2001) / 1000 - 1;
    return a;
}

static net_id input(struct net_model *model, const char *name, const int64_t *shape)
{
    const net_id id = net_value_add(model, name);
    model->value[id].type = NET_F32;
    model->value[id].shape = net_shape_of(shape, 4);
    CHECK(net_graph_add_input(model->graph, id), "input");
    return id;
}

static void add_node(struct net_model *model, net_id x, net_id weights, const char *op, const char *name)
{
    struct net_node *const node = net_node_new(name, op, "", 2, 1);
    static const int64_t pads[4] = {1, 1, 1, 1};
    node->input[0] = x;
    node->input[1] = weights;
    node->output[0] = net_value_add(model, name);
    node->row = net_operator_find(op, "");
    node->version = 21;
    CHECK(net_set_ints(node, "pads", pads, 4), "pads");
    CHECK(net_graph_insert(model->graph, model->graph->nodes, node) && net_model_add_output(model, node->output[0]), "a node");
}

/* The same image by weights that the file has and by weights that are handed in. */
static void write_network(const char *op, const int64_t *shape, const char *path)
{
    struct orch_error error = {0};
    struct net_model *const model = net_model_new("loading");
    const net_id x = input(model, "x", image);
    add_node(model, x, net_constant_add(model, "w", numbers(shape, 1)), op, "constant");
    add_node(model, x, input(model, "v", shape), op, "computed");
    CHECK(onnx_export(model, path, &error), "%s", error.text);
    net_model_free(model);
}

static double seconds_of(const struct outcome *o, size_t place)
{
    char name[64];
    snprintf(name, sizeof name, RUN_NETWORK_SECONDS, place + 1);
    return counter(o, name);
}

static void check_placement(const struct outcome *o, const char *how)
{
    const struct run_placement *const p = o->result.placement.item;
    CHECK(o->ok && o->result.placement.count == 2, "%s: %s", how, o->error.text);
    if (!o->ok || o->result.placement.count != 2)
        return;
    CHECK(strstr(p[0].op, "constant") && !strstr(p[0].kernel, "conv_pack"), "%s: %s by %s", how, p[0].op, p[0].kernel);
    CHECK(strstr(p[1].op, "computed") && strstr(p[1].kernel, "conv_pack") == p[1].kernel, "%s: %s by %s", how, p[1].op,
          p[1].kernel);
    CHECK(counter(o, "gpu.threadgroups") == 2 * PRODUCTS + PACKING, "%s: %g threadgroups", how, counter(o, "gpu.threadgroups"));
    CHECK(counter(o, RUN_COUNTER_PACKED) == PACKED_BYTES, "%s: %g bytes", how, counter(o, RUN_COUNTER_PACKED));
}

/* With values: the same numbers either way. */
static void test_values(void)
{
    char folder[] = "/tmp/orchard-loading-XXXXXX", model[64], x[80], v[80];
    struct orch_error error = {0};
    CHECK(mkdtemp(folder) != NULL, "a folder");
    snprintf(model, sizeof model, "%s/m.onnx", folder);
    snprintf(x, sizeof x, "x=%s/x.npy", folder);
    snprintf(v, sizeof v, "v=%s/v.npy", folder);
    write_network("Conv", filters, model);
    struct net_array *const pixels = numbers(image, 9), *const weights = numbers(filters, 1);
    CHECK(net_array_save(x + 2, pixels, &error) && net_array_save(v + 2, weights, &error), "%s", error.text);
    const char *const inputs[2] = {x, v};
    static const struct {
        const char *unit, *precision;
    } ways[] = {{"gpu", "f32"}, {"gpu", "f16"}, {"amx", "f32"}, {"cpu", "f32"}};
    for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
        struct outcome o = run_on(
            db, "m1", model,
            (struct run_request){.unit = ways[i].unit, .precision = ways[i].precision, .inputs = inputs, .input_count = 2});
        CHECK(o.ok && checksum(&o, "constant") != 0 && checksum(&o, "constant") == checksum(&o, "computed"), "%s %s: %s",
              ways[i].unit, ways[i].precision, o.error.text);
        CHECK(o.ok && seconds_of(&o, 0) > 0 && seconds_of(&o, 1) > seconds_of(&o, 0), "%s %s: %g s and %g s", ways[i].unit,
              ways[i].precision, seconds_of(&o, 0), seconds_of(&o, 1));
        CHECK(i < 2 || counter(&o, RUN_COUNTER_CORE_PACKED) == (double)PANEL_BYTES, "%s: %g bytes", ways[i].unit,
              counter(&o, RUN_COUNTER_CORE_PACKED));
        if (i == 0)
            check_placement(&o, "with values");
        run_result_free(&o.result);
    }
    net_array_release(pixels);
    net_array_release(weights);
    CHECK(suite_remove(folder), "%s stays", folder);
}

/* From characteristics: the seconds of the network are those of its launches, without that one. */
static void test_seconds(void)
{
    static const char kernel[] = "conv2d:n=1,c=16,h=16,w=16,k=32,r=3,s=3,stride=1,pad=1,groups=1,dilation=1,bias=0";
    char folder[] = "/tmp/orchard-loading-XXXXXX", model[64], packed[160];
    CHECK(mkdtemp(folder) != NULL, "a folder");
    snprintf(model, sizeof model, "%s/m.onnx", folder);
    snprintf(packed, sizeof packed, "%s,packed=1", kernel);
    write_network("Conv", filters, model);
    const struct run_request request = {.unit = "gpu", .mode = RUN_TIMING};
    struct outcome whole = run_on(db, "m1", model, request);
    struct outcome with = run_on(db, "m1", kernel, request), without = run_on(db, "m1", packed, request);
    check_placement(&whole, "without values");
    CHECK(with.ok && without.ok && with.result.placement.count == 2 && without.result.placement.count == 1, "%s%s",
          with.error.text, without.error.text);
    CHECK(seconds_of(&whole, 0) == without.result.device_seconds && seconds_of(&whole, 1) == with.result.device_seconds &&
              fabs(whole.result.device_seconds / (with.result.device_seconds + without.result.device_seconds) - 1) < 1e-9,
          "%g s and %g s of %g s, alone %g s and %g s", seconds_of(&whole, 0), seconds_of(&whole, 1), whole.result.device_seconds,
          without.result.device_seconds, with.result.device_seconds);
    CHECK(with.result.device_seconds > without.result.device_seconds, "packing takes %g s",
          with.result.device_seconds - without.result.device_seconds);
    CHECK(run_assumption_find(&whole.result.assumptions, "packing") &&
              run_assumption_find(&without.result.assumptions, "packing") &&
              !run_assumption_find(&with.result.assumptions, "packing"),
          "results say what was packed before");
    run_result_free(&whole.result);
    run_result_free(&with.result);
    run_result_free(&without.result);
    CHECK(suite_remove(folder), "%s stays", folder);
}

/* Of the two nodes, image and weights are moved and multiplied: six kernels, of which one moves constant weights. */
static void check_constant_steps(const struct outcome *o, const char *unit)
{
    size_t loaded = 0, untimed = 0;
    for (size_t i = 0; i < o->result.placement.count; i++) {
        const bool at_load = strcmp(o->result.placement.item[i].why, RUN_NETWORK_AT_LOAD) == 0;
        loaded += at_load && strncmp(o->result.placement.item[i].kernel, "gather:", 7) == 0 &&
                  strstr(o->result.placement.item[i].op, "constant") != NULL;
        untimed += isnan(seconds_of(o, i));
    }
    CHECK(o->ok && o->result.placement.count == 6 && loaded == 1 && untimed == 1, "%s: %zu kernels, %zu at load, %zu untimed: %s",
          unit, o->result.placement.count, loaded, untimed, o->error.text);
    CHECK(run_assumption_find(&o->result.assumptions, "loading") != NULL, "%s: the result says so", unit);
}

/* A transposed convolution turns its weights: a step that hangs on constants alone has no time, and the numbers are the same. */
static void test_constant_steps(void)
{
    static const int64_t turned[4] = {CHANNELS, 12, 3, 3};
    static const char *const units[] = {"cpu", "amx", "gpu"};
    char folder[] = "/tmp/orchard-loading-XXXXXX", model[64], v[80];
    struct orch_error error = {0};
    CHECK(mkdtemp(folder) != NULL, "a folder");
    snprintf(model, sizeof model, "%s/m.onnx", folder);
    snprintf(v, sizeof v, "v=%s/v.npy", folder);
    write_network("ConvTranspose", turned, model);
    struct net_array *const weights = numbers(turned, 1);
    CHECK(net_array_save(v + 2, weights, &error), "%s", error.text);
    const char *const inputs[1] = {v};
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        struct outcome o = run_on(db, "m1", model, (struct run_request){.unit = units[i], .inputs = inputs, .input_count = 1});
        struct outcome timed = run_on(db, "m1", model, (struct run_request){.unit = units[i], .detail = "op"});
        CHECK(o.ok && checksum(&o, "constant") != 0 && checksum(&o, "constant") == checksum(&o, "computed"), "%s: %s", units[i],
              o.error.text);
        check_constant_steps(&o, units[i]);
        check_constant_steps(&timed, units[i]);
        run_result_free(&o.result);
        run_result_free(&timed.result);
    }
    net_array_release(weights);
    CHECK(suite_remove(folder), "%s stays", folder);
}

/* The GPU's library refuses the option here, and the CPU's kernel is asked for without it. */
static void test_elsewhere(void)
{
    static const struct lowered_step refused = {
        .part = PART_GPU, .workload = "softmax:1x10,packed=1", .common = sizeof "softmax:1x10" - 1};
    struct orch_error error = {0}, lacks = {0};
    struct chip *const chip = chip_open(db, "m1", NULL, &error);
    struct run_result result;
    struct run_measure sum = {.end_ns = 0};
    const struct run_request request = {.chip = chip, .unit = "gpu", .mode = RUN_TIMING};
    struct run_network n = {.request = &request, .part = PART_GPU, .result = &result, .sum = &sum, .characteristics = true};
    struct lowering l = {.part = PART_GPU, .steps = 2, .step = {refused, refused}};
    struct network_step step = {.run = NULL};
    bool here = false;
    float values[10] = {0};
    l.step[0].input[0] = (struct run_operand){values, sizeof values};
    l.step[0].operands =
        (struct run_operands){.input = l.step[0].input, .inputs = 1, .result = values, .result_bytes = sizeof values};
    run_result_init(&result);
    CHECK(network_step_open(&n, PART_GPU, &l.step[0], &step, &error) && step.elsewhere &&
              strcmp(l.step[0].workload, "softmax:1x10") == 0,
          "%s: %s", l.step[0].workload, error.text);
    network_step_close(&step);
    l.step[0] = refused;
    n.kernel_list = network_kernels_create();
    CHECK(network_kernels_add(&n, "twice", &l, &here, &lacks, &error) && lacks.exit_code == 0, "%s%s", error.text, lacks.text);
    CHECK(network_kernels_finish(&n, &error) && n.kernels == 2 && n.elsewhere == 2 && result.placement.count == 2, "%s",
          error.text);
    for (size_t i = 0; i < result.placement.count; i++)
        CHECK(strcmp(result.placement.item[i].unit, "cpu") == 0 && !strstr(result.placement.item[i].kernel, "packed"), "%s on %s",
              result.placement.item[i].kernel, result.placement.item[i].unit);
    network_kernels_free(n.kernel_list);
    run_measure_release(&sum);
    run_result_free(&result);
    chip_close(chip);
}

/* Panels of b that were made before give the same sums as those that a product makes; blocks of k and edges of tiles among them.
 */
static void test_products(void)
{
    static const char *const shapes[] = {"gemm:40x70x5000,tb=1", "gemm:100x70x50,beta=1,alpha=2", "gemm:1x1000x300",
                                         "gemm:20x16x64"};
    static const char *const ways[][2] = {{"amx", "f32"}, {"amx", "f16"}, {"amx", "i8"}, {"cpu", "f32"}, {"cpu", "f16"}};
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++)
        for (size_t k = 0; k < ARRAY_COUNT(ways); k++) {
            char packed[80];
            const struct run_request request = {.unit = ways[k][0], .precision = ways[k][1]};
            snprintf(packed, sizeof packed, "%s,packed=1", shapes[i]);
            if (strcmp(ways[k][1], "i8") == 0 && strstr(shapes[i], "alpha"))
                continue;
            struct outcome plain = run_on(db, "m1", shapes[i], request), loaded = run_on(db, "m1", packed, request);
            CHECK(plain.ok && loaded.ok && checksum(&plain, "c") == checksum(&loaded, "c"), "%s on %s in %s: %s%s", shapes[i],
                  ways[k][0], ways[k][1], plain.error.text, loaded.error.text);
            CHECK(loaded.result.seconds <= plain.result.seconds, "%s on %s in %s: %g s instead of %g s", shapes[i], ways[k][0],
                  ways[k][1], loaded.result.seconds, plain.result.seconds);
            run_result_free(&plain.result);
            run_result_free(&loaded.result);
        }
    struct outcome o = run_on(db, "m1", "gemm:8x8x8,batch=2,packed=1", (struct run_request){.unit = "amx"});
    CHECK(!o.ok && o.error.exit_code == ORCH_USAGE, "one b for each product of a batch: %s", o.error.text);
    run_result_free(&o.result);
}

static const struct suite_test tests[] = {{"constant weights lie as kernels want them, with the same numbers", test_values},
                                          {"seconds have the packing of computed weights alone", test_seconds},
                                          {"another unit has no such option", test_elsewhere},
                                          {"steps that hang on constants alone run once", test_constant_steps},
                                          {"products by panels that were made before", test_products}};

int main(void)
{
    return example_chips_run("network_loading", tests, ARRAY_COUNT(tests), &db);
}
