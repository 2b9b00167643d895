/* Networks of integers on units: sums of products of bytes by the kernels for them, to the bit what the reference has. */
#include "sim/base/checksum.h"
#include "sim/network/arrays.h"
#include "sim/network/network.h"
#include "sim/network/onnx/onnx.h"
#include "sim/network/operators/operator.h"
#include "sim/network/operators/run.h"
#include "sim/network/quantise/quantise.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct chip_db *db;

enum { CHANNELS = 5, SIDE = 9, FILTERS = 7, CLASSES = 11 };

static net_id numbers(struct net_model *model, const char *name, const int64_t *shape, unsigned dims, uint64_t seed)
{
    struct orch_error error = {0};
    struct net_array *const a = net_array_new(NET_F32, shape, dims, &error);
    for (int64_t k = 0; a && k < a->count; k++)
        ((float *)a->data)[k] = (float)(suite_random(&seed) % 2001) / 1000 - 1;
    return net_constant_add(model, name, a);
}

static net_id add(struct net_model *model, const char *op, const net_id *in, size_t inputs)
{
    struct net_node *const node = net_node_new(op, op, "", inputs, 1);
    memcpy(node->input, in, inputs * sizeof *in);
    node->row = net_operator_find(op, "");
    node->version = 21;
    const net_id out = node->output[0] = net_value_add(model, op);
    if (strcmp(op, "Conv") == 0)
        CHECK(net_set_ints(node, "pads", (const int64_t[]){1, 1, 1, 1}, 4), "pads");
    if (strcmp(op, "Gemm") == 0)
        CHECK(net_set_int(node, "transB", 1), "transB");
    CHECK(net_graph_insert(model->graph, model->graph->nodes, node), "a node");
    return out;
}

/* 3 x 3 windows with a border, a bias, an activation, and a product with weights in rows. */
static struct net_model *make_network(void)
{
    static const int64_t image[4] = {1, CHANNELS, SIDE, SIDE}, filters[4] = {FILTERS, CHANNELS, 3, 3}, bias = FILTERS;
    static const int64_t rows[2] = {CLASSES, FILTERS * SIDE * SIDE}, flat[2] = {1, FILTERS * SIDE * SIDE}, offset = CLASSES;
    struct orch_error error = {0};
    struct net_model *const model = net_model_new("network");
    const net_id x = net_value_add(model, "x");
    model->value[x].type = NET_F32;
    model->value[x].shape = net_shape_of(image, 4);
    CHECK(net_graph_add_input(model->graph, x), "input");
    const net_id conv =
        add(model, "Conv", (const net_id[]){x, numbers(model, "w", filters, 4, 1), numbers(model, "b", &bias, 1, 2)}, 3);
    const net_id relu = add(model, "Relu", &conv, 1);
    const net_id shape = net_constant_add(model, "flat", net_array_of_integers(NET_I64, flat, 2, &error));
    const net_id line = add(model, "Reshape", (const net_id[]){relu, shape}, 2);
    const net_id gemm =
        add(model, "Gemm", (const net_id[]){line, numbers(model, "v", rows, 2, 3), numbers(model, "c", &offset, 1, 4)}, 3);
    CHECK(net_model_add_output(model, gemm), "output");
    CHECK(net_prepare(model, &(struct net_open_options){.level = 1}, NULL, &error), "%s", error.text);
    return model;
}

static struct net_array *picture(void)
{
    static const int64_t image[4] = {1, CHANNELS, SIDE, SIDE};
    struct orch_error error = {0};
    struct net_array *const a = net_array_new(NET_F32, image, 4, &error);
    uint64_t seed = 9;
    for (int64_t k = 0; a && k < a->count; k++)
        ((float *)a->data)[k] = (float)(suite_random(&seed) % 4001) / 1000 - 2;
    return a;
}

static void write_network(const char *path, struct net_array *x)
{
    struct orch_error error = {0};
    struct net_model *const model = make_network();
    struct net_array **set[1] = {&x};
    const struct net_samples samples = {.set = set, .count = 1, .inputs = 1};
    struct net_ranges ranges;
    struct net_quantised_count count;
    CHECK(net_calibrate(model, &samples, NET_BY_MINMAX, 0, &ranges, &error) &&
              net_quantise(model, NET_TO_INT8, &ranges, &count, &error) && onnx_export(model, path, &error) &&
              count.products == 2,
          "%s", error.text);
    net_ranges_free(&ranges);
    net_model_free(model);
}

/* By the reference, after all passes but those left out. */
static struct net_array *reference(const char *path, struct net_array *x, const char *without, unsigned *integers)
{
    struct orch_error error = {0};
    struct net_array *out[1] = {NULL};
    struct net_model *const model = net_import(path, &error);
    const struct net_open_options options = {.level = 2, .without = &without, .without_count = without != NULL};
    const struct net_run run = {.model = model, .input = &x};
    CHECK(model && net_prepare(model, &options, NULL, &error) && net_run(&run, out, &error), "%s", error.text);
    *integers = 0;
    for (size_t k = 0; model && k < model->graph->nodes; k++)
        *integers +=
            strcmp(model->graph->node[k]->op, "ConvInteger") == 0 || strcmp(model->graph->node[k]->op, "MatMulInteger") == 0;
    net_model_free(model);
    return out[0];
}

static unsigned kernels_of_bytes(const struct run_result *r)
{
    unsigned count = 0;
    for (size_t k = 0; k < r->placement.count; k++) {
        const bool converts = strstr(r->placement.item[k].kernel, "convert") != NULL;
        CHECK(strcmp(r->placement.item[k].unit, "reference") != 0, "%s is left", r->placement.item[k].op);
        count += !converts && (strstr(r->placement.item[k].kernel, "_i8") || strstr(r->placement.item[k].kernel, "gemm8"));
    }
    return count;
}

static void test_exact(void)
{
    static const char *const units[] = {"cpu", "amx", "gpu", "auto"};
    char folder[] = "/tmp/orchard-integers-XXXXXX", model[64], input[64], option[80];
    struct orch_error error = {0};
    unsigned integers, none;
    CHECK(mkdtemp(folder) != NULL, "a folder");
    snprintf(model, sizeof model, "%s/m.onnx", folder);
    snprintf(input, sizeof input, "%s/x.npy", folder);
    snprintf(option, sizeof option, "x=%s", input);
    struct net_array *const x = picture();
    write_network(model, x);
    CHECK(net_array_save(input, x, &error), "%s", error.text);
    struct net_array *const sums = reference(model, x, NULL, &integers), *const plain = reference(model, x, "integer", &none);
    CHECK(integers == 2 && none == 0, "%u and %u products of integers", integers, none);
    for (int64_t k = 0; sums && plain && k < sums->count; k++) /* products of scaled integers, rounded where sums are not */
        CHECK(fabs(net_array_double(sums, k) - net_array_double(plain, k)) < 0.02 * (1 + fabs(net_array_double(plain, k))),
              "%lld is %g, not %g", (long long)k, net_array_double(sums, k), net_array_double(plain, k));
    const uint64_t expected = sums ? checksum_add(CHECKSUM_START, sums->data, net_array_bytes(sums)) : 0;
    for (size_t u = 0; u < ARRAY_COUNT(units); u++) {
        const char *const inputs = option;
        const struct run_request request = {.unit = units[u], .mode = RUN_FUNCTIONAL, .inputs = &inputs, .input_count = 1};
        struct outcome o = run_on(db, "m1", model, request);
        CHECK(o.ok && o.result.checksum.count == 1 && o.result.checksum.item[0].fnv1a64 == expected, "%s: other bits %s",
              units[u], o.error.text);
        CHECK(kernels_of_bytes(&o.result) == 2, "%s: %u kernels of bytes", units[u], kernels_of_bytes(&o.result));
        run_result_free(&o.result);
    }
    net_array_release(sums);
    net_array_release(plain);
    net_array_release(x);
    CHECK(suite_remove(folder), "%s stays", folder);
}

/* Weights that are halves are computed as halves where a unit has them and nobody says otherwise. */
static void test_own_precision(void)
{
    static const struct {
        const char *unit, *asked, *got;
    } cases[] = {{"gpu", NULL, "f16"},  {"auto", NULL, "f16"}, {"cpu", NULL, "f32"},   {"amx", NULL, "f32"},
                 {"gpu", "f32", "f32"}, {"ane", NULL, "f16"},  {"hybrid", NULL, "f16"}};
    char folder[] = "/tmp/orchard-halves-XXXXXX", path[64], whole[64];
    struct orch_error error = {0};
    struct net_quantised_count count;
    CHECK(mkdtemp(folder) != NULL, "a folder");
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    snprintf(whole, sizeof whole, "%s/n.onnx", folder);
    struct net_model *const model = make_network();
    CHECK(onnx_export(model, whole, &error) && net_quantise(model, NET_TO_F16, NULL, &count, &error) &&
              onnx_export(model, path, &error),
          "%s", error.text);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct run_request request = {.unit = cases[i].unit, .mode = RUN_FUNCTIONAL, .precision = cases[i].asked};
        struct outcome o = run_on(db, "m1", path, request);
        CHECK(o.ok && strcmp(o.result.precision, cases[i].got) == 0, "%s: %s %s", cases[i].unit, o.ok ? o.result.precision : "",
              o.error.text);
        run_result_free(&o.result);
    }
    struct outcome o = run_on(db, "m1", whole, (struct run_request){.unit = "gpu", .mode = RUN_FUNCTIONAL});
    CHECK(o.ok && strcmp(o.result.precision, "f32") == 0, "%s", o.error.text);
    run_result_free(&o.result);
    net_model_free(model);
    CHECK(suite_remove(folder), "%s stays", folder);
}

static const struct suite_test tests[] = {{"multiplies bytes exactly", test_exact},
                                          {"halves where weights are", test_own_precision}};

int main(void)
{
    return example_chips_run("network_integers", tests, ARRAY_COUNT(tests), &db);
}
