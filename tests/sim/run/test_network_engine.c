/* Operators that the Neural Engine has no kernel for become ones that it has, so that a network stays one request: a factor for
 * each channel, halves of channels, images of twice the size. The numbers are those of cores, to f16. */
#include "sim/network/arrays.h"
#include "sim/network/network.h"
#include "sim/network/onnx/onnx.h"
#include "sim/network/operators/operator.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct chip_db *db;

enum { CHANNELS = 8, HIGH = 6, WIDE = 10, SQUARE = 8 };

static struct net_node *add_node(struct net_model *model, const char *op, size_t inputs, size_t outputs, const char *name)
{
    struct net_node *const node = net_node_new(name, op, "", inputs, outputs);
    char output[40];
    for (size_t k = 0; k < outputs; k++) {
        snprintf(output, sizeof output, "%s%zu", name, k);
        node->output[k] = net_value_add(model, output);
    }
    for (size_t k = 0; k < inputs; k++)
        node->input[k] = NET_NONE;
    node->row = net_operator_find(op, "");
    node->version = 18;
    return node;
}

static void insert(struct net_model *model, struct net_node *node)
{
    CHECK(net_graph_insert(model->graph, model->graph->nodes, node), "a node");
}

static struct net_array *numbers(enum net_type type, const int64_t *shape, unsigned dims, const double *number)
{
    struct orch_error error = {0};
    struct net_array *const a = net_array_new(type, shape, dims, &error);
    net_write_doubles(type, a->data, 0, (size_t)a->count, number);
    return a;
}

/* sum = resize(first half of y) + resize(second half of y), y = x times the mean of each of its channels. */
static void write_network(const char *path)
{
    static const int64_t image[4] = {1, CHANNELS, HIGH, WIDE};
    struct orch_error error = {0};
    struct net_model *const model = net_model_new("engine");
    const net_id x = net_value_add(model, "x");
    model->value[x].type = NET_F32;
    model->value[x].shape = net_shape_of(image, 4);
    CHECK(net_graph_add_input(model->graph, x), "an input");
    struct net_node *const mean = add_node(model, "GlobalAveragePool", 1, 1, "mean");
    struct net_node *const scaled = add_node(model, "Mul", 2, 1, "scaled"), *const halves =
                                                                                add_node(model, "Split", 2, 2, "half");
    struct net_node *const sum = add_node(model, "Add", 2, 1, "sum");
    const net_id parts = net_constant_add(model, "parts", numbers(NET_I64, (const int64_t[]){2}, 1, (const double[]){4, 4}));
    const net_id scales =
        net_constant_add(model, "scales", numbers(NET_F32, (const int64_t[]){4}, 1, (const double[]){1, 1, 3, 2}));
    mean->input[0] = scaled->input[0] = x;
    scaled->input[1] = mean->output[0];
    halves->input[0] = scaled->output[0];
    halves->input[1] = parts;
    CHECK(net_set_int(halves, "axis", 1), "axis");
    insert(model, mean);
    insert(model, scaled);
    insert(model, halves);
    for (unsigned k = 0; k < 2; k++) {
        struct net_node *const large = add_node(model, "Resize", 3, 1, k ? "large_b" : "large_a");
        large->input[0] = halves->output[k];
        large->input[2] = scales;
        CHECK(net_set_text(large, "mode", "nearest") && net_set_text(large, "coordinate_transformation_mode", "asymmetric") &&
                  net_set_text(large, "nearest_mode", "floor"),
              "how");
        sum->input[k] = large->output[0];
        insert(model, large);
    }
    insert(model, sum);
    CHECK(net_model_add_output(model, sum->output[0]), "an output");
    CHECK(onnx_export(model, path, &error), "%s", error.text);
    net_model_free(model);
}

/* sum = average over windows of the largest numbers of windows, both with a border below and at the right alone. */
static void write_pools(const char *path)
{
    static const int64_t image[4] = {1, CHANNELS, 12, 16}, three[2] = {3, 3}, two[2] = {2, 2}, border[4] = {0, 0, 1, 1};
    struct orch_error error = {0};
    struct net_model *const model = net_model_new("pools");
    const net_id x = net_value_add(model, "x");
    model->value[x].type = NET_F32;
    model->value[x].shape = net_shape_of(image, 4);
    CHECK(net_graph_add_input(model->graph, x), "an input");
    net_id last = x;
    for (unsigned k = 0; k < 2; k++) {
        struct net_node *const pool = add_node(model, k ? "AveragePool" : "MaxPool", 1, 1, k ? "sum" : "largest");
        pool->input[0] = last;
        last = pool->output[0];
        CHECK(net_set_ints(pool, "kernel_shape", three, 2) && net_set_ints(pool, "strides", two, 2) &&
                  net_set_ints(pool, "pads", border, 4),
              "windows");
        insert(model, pool);
    }
    CHECK(net_model_add_output(model, last) && onnx_export(model, path, &error), "%s", error.text);
    net_model_free(model);
}

static net_id add_input(struct net_model *model, const char *name, const int64_t shape[4])
{
    const net_id id = net_value_add(model, name);
    model->value[id].type = NET_F32;
    model->value[id].shape = net_shape_of(shape, 4);
    CHECK(net_graph_add_input(model->graph, id), "an input");
    return id;
}

/* sum = normalised(x) times a number for each channel, times one for each row of all channels, plus an image for all channels. */
static void write_repeated(const char *path)
{
    static const int64_t image[4] = {1, CHANNELS, SQUARE, SQUARE}, rows[4] = {1, 1, SQUARE, 1}, plane[4] = {1, 1, SQUARE, SQUARE},
                         channels[4] = {1, CHANNELS, 1, 1}, some[1] = {CHANNELS};
    static const double factor[CHANNELS] = {1, -2, 0.5, 3, 1.5, -1, 2, 0.25}, mean[CHANNELS] = {0.5, 0, -0.5, 1, 0, 0.25, 0, -1},
                        variance[CHANNELS] = {1, 2, 0.5, 1, 4, 1, 3, 1};
    struct orch_error error = {0};
    struct net_model *const model = net_model_new("repeated");
    const net_id x = add_input(model, "x", image), keep = add_input(model, "keep", rows), more = add_input(model, "more", plane);
    struct net_node *const normal = add_node(model, "BatchNormalization", 5, 1, "normal");
    struct net_node *const scaled = add_node(model, "Mul", 2, 1, "scaled"), *const kept = add_node(model, "Mul", 2, 1, "kept");
    struct net_node *const sum = add_node(model, "Add", 2, 1, "sum");
    const double *const statistics[4] = {variance, mean, mean, variance}; /* scale, offset, mean, variance */
    normal->input[0] = x;
    for (unsigned k = 0; k < 4; k++) {
        char name[2] = {(char)('a' + k), 0};
        normal->input[k + 1] = net_constant_add(model, name, numbers(NET_F32, some, 1, statistics[k]));
    }
    scaled->input[0] = normal->output[0];
    scaled->input[1] = net_constant_add(model, "factor", numbers(NET_F32, channels, 4, factor));
    kept->input[0] = scaled->output[0];
    kept->input[1] = keep;
    sum->input[0] = kept->output[0];
    sum->input[1] = more;
    insert(model, normal);
    insert(model, scaled);
    insert(model, kept);
    insert(model, sum);
    CHECK(net_model_add_output(model, sum->output[0]) && onnx_export(model, path, &error), "%s", error.text);
    net_model_free(model);
}

static struct net_array *result_of(const char *model, const char *unit, const char *folder, struct outcome *o)
{
    char path[80];
    struct orch_error error = {0};
    *o = run_on(db, "m1", model, (struct run_request){.unit = unit, .output_folder = folder, .seed = 5});
    CHECK(o->ok, "%s", o->error.text);
    snprintf(path, sizeof path, "%s/sum0.npy", folder);
    return o->ok ? net_array_load(path, "sum", &error) : NULL;
}

/* What `write` makes: on the engine in one request, with the numbers of cores. */
static void check_network(void (*write)(const char *path), int64_t count)
{
    char folder[] = "/tmp/orchard-engine-XXXXXX", model[64];
    struct outcome cores, engine;
    CHECK(mkdtemp(folder) != NULL, "a folder");
    snprintf(model, sizeof model, "%s/m.onnx", folder);
    write(model);
    struct net_array *const a = result_of(model, "cpu", folder, &cores), *const b = result_of(model, "ane", folder, &engine);
    double largest = 0, difference = 0;
    CHECK(a && b && a->count == count && a->count == b->count, "the sum's shape");
    for (int64_t i = 0; a && b && i < a->count; i++) {
        largest = fmax(largest, fabs(net_array_double(a, i)));
        difference = fmax(difference, fabs(net_array_double(a, i) - net_array_double(b, i)));
    }
    CHECK(largest > 0 && difference < 0x1p-9 * largest, "%g of %g", difference, largest);
    for (size_t i = 0; i < engine.result.placement.count; i++)
        CHECK(strcmp(engine.result.placement.item[i].unit, "ane") == 0, "%s on %s by %s", engine.result.placement.item[i].op,
              engine.result.placement.item[i].unit, engine.result.placement.item[i].kernel);
    CHECK(counter(&engine, "network.requests") == 1, "%g requests", counter(&engine, "network.requests"));
    net_array_release(a);
    net_array_release(b);
    run_result_free(&cores.result);
    run_result_free(&engine.result);
    CHECK(suite_remove(folder), "%s stays", folder);
}

static void test_one_request(void)
{
    check_network(write_network, CHANNELS / 2 * 3 * HIGH * 2 * WIDE);
}

static void test_pools(void)
{
    check_network(write_pools, CHANNELS * 3 * 4);
}

static void test_repeated(void)
{
    check_network(write_repeated, CHANNELS * SQUARE * SQUARE);
}

/* Weights as palettes of four bits: a quarter of the bytes, of which products of few tokens are made. Other units have none. */
static void test_weights_in_fewer_bytes(void)
{
    static const char model[] = "model:llama-2-7b-mlp4";
    const struct run_request timing = {.unit = "ane", .mode = RUN_TIMING};
    struct run_request fewer = timing, elsewhere = timing;
    fewer.precision = elsewhere.precision = "i4";
    elsewhere.unit = "gpu";
    struct outcome whole = run_on(db, "m1", model, timing), palette = run_on(db, "m1", model, fewer);
    struct outcome refused = run_on(db, "m1", model, elsewhere);
    CHECK(whole.ok && palette.ok, "%s%s", whole.error.text, palette.error.text);
    CHECK(fabs(counter(&palette, "activity.ane_coefficient_bytes") / counter(&whole, "activity.ane_coefficient_bytes") - 0.25) <
              0.01,
          "%g bytes of %g", counter(&palette, "activity.ane_coefficient_bytes"),
          counter(&whole, "activity.ane_coefficient_bytes"));
    CHECK(palette.result.seconds < 0.5 * whole.result.seconds, "%g s, %g s with all bytes", palette.result.seconds,
          whole.result.seconds);
    CHECK(!refused.ok && refused.error.exit_code == ORCH_UNMODELLED && strstr(refused.error.text, "weights of i4"), "%s",
          refused.error.text);
    run_result_free(&whole.result);
    run_result_free(&palette.result);
    run_result_free(&refused.result);
}

/* There is nothing of the Neural Engine to sample: its kernels stay there, and are as fast as when every part is timed. */
static void test_sampled(void)
{
    static const char path[] = ORCHARD_SOURCE_DIR "/tests/golden/exporters/tf_transposes/model.onnx";
    static const char *const one[] = {"unk__1=1"};
    struct run_request q = {.unit = "ane", .mode = RUN_FULL, .dims = one, .dim_count = 1, .seed = 1};
    struct outcome whole = run_on(db, "m1", path, q);
    q.detail = "sampled";
    struct outcome sampled = run_on(db, "m1", path, q);
    CHECK(whole.ok && sampled.ok, "%s%s", whole.error.text, sampled.error.text);
    CHECK(sampled.result.native_mac_share == 1 && sampled.result.seconds == whole.result.seconds,
          "%g of the products, %g s and %g s", sampled.result.native_mac_share, sampled.result.seconds, whole.result.seconds);
    run_result_free(&whole.result);
    run_result_free(&sampled.result);
}

static const struct suite_test tests[] = {{"samples", test_sampled},
                                          {"weights in fewer bytes", test_weights_in_fewer_bytes},
                                          {"normalisation and arrays that repeat", test_repeated},
                                          {"windows that reach beyond one side", test_pools},
                                          {"factors of channels, halves, larger images are one request", test_one_request}};

int main(void)
{
    return example_chips_run("network_engine", tests, ARRAY_COUNT(tests), &db);
}
