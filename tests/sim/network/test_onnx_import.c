/* The import of ONNX files: forms of older opsets, kinds of data, data in other files, and files that are damaged or mean harm.
 */
#include "sim/network/network.h"
#include "sim/network/onnx/onnx.h"
#include "sim/network/operators/run.h"
#include "tests/sim/network/onnx_example.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static struct net_model *import(struct message *m, struct orch_error *error)
{
    *error = (struct orch_error){0};
    struct net_model *const model = onnx_import("m.onnx", m->byte, m->size, error);
    free(m->byte);
    *m = (struct message){NULL, 0};
    return model;
}

/* A graph around one node: input x f32 of this shape, output y. */
static struct message one_node(struct message *node, const int64_t *dim, size_t dims)
{
    struct message graph = {NULL, 0};
    put_graph_input(&graph, "x", 1, dim, dims);
    put_message(&graph, 1, node);
    put_graph_output(&graph, "y");
    return graph;
}

/* Runs a model with one input of rising numbers; its first output. */
static struct net_array *run_rising(struct net_model *model, const int64_t *dim, unsigned dims)
{
    struct orch_error error = {0};
    struct net_array *const x = net_array_new(NET_F32, dim, dims, &error), *output[1] = {NULL};
    for (int64_t k = 0; k < x->count; k++)
        ((float *)x->data)[k] = (float)k;
    const struct net_run run = {.model = model, .input = &x};
    CHECK(net_run(&run, output, &error), "%s", error.text);
    net_array_release(x);
    return output[0];
}

static void expect(struct message *node, unsigned opset, const int64_t *dim, unsigned dims, const float *expected, int64_t count)
{
    struct orch_error error;
    struct message graph = one_node(node, dim, dims), m = model_proto(opset, &graph);
    struct net_model *const model = import(&m, &error);
    CHECK(model != NULL, "%s", error.text);
    struct net_array *const y = model ? run_rising(model, dim, dims) : NULL;
    CHECK(y && y->count == count, "%lld results", y ? (long long)y->count : -1);
    for (int64_t k = 0; y && k < count && k < y->count; k++)
        CHECK(net_array_double(y, k) == (double)expected[k], "result %lld is %g, not %g", (long long)k, net_array_double(y, k),
              (double)expected[k]);
    net_array_release(y);
    net_model_free(model);
}

static void test_older_forms(void)
{
    static const int64_t line = 6, square[2] = {2, 3}, image[4] = {1, 1, 2, 2}, one = 1, two = 2, minus = -2;
    struct message n = node_proto("Clip", "x", "y"); /* 6: bounds as attributes */
    put_float_attribute(&n, "min", 1);
    put_float_attribute(&n, "max", 3.5f);
    expect(&n, 8, &line, 1, (const float[]){1, 1, 2, 3, 3.5f, 3.5f}, 6);
    n = node_proto("Slice", "x", "y"); /* 1: everything as attributes */
    put_ints_attribute(&n, "starts", &one, 1);
    put_ints_attribute(&n, "ends", &minus, 1);
    expect(&n, 9, &line, 1, (const float[]){1, 2, 3}, 3);
    n = node_proto("ReduceSum", "x", "y"); /* 11: axes as attribute */
    put_ints_attribute(&n, "axes", &one, 1);
    put_int_attribute(&n, "keepdims", 0);
    expect(&n, 11, square, 2, (const float[]){3, 12}, 2);
    n = node_proto("ReduceMax", "x", "y"); /* still an attribute in 13, no more in 18 */
    put_ints_attribute(&n, "axes", (const int64_t[]){0}, 1);
    expect(&n, 13, square, 2, (const float[]){3, 4, 5}, 3);
    n = node_proto("Softmax", "x", "y"); /* 1: the rest is one axis */
    put_int_attribute(&n, "axis", 0);
    struct message graph = one_node(&n, square, 2), m = model_proto(11, &graph);
    struct orch_error error;
    struct net_model *const model = import(&m, &error);
    struct net_array *const y = model ? run_rising(model, square, 2) : NULL;
    double sum = 0;
    for (int64_t k = 0; y && k < 6; k++)
        sum += net_array_double(y, k);
    CHECK(sum > 0.99999 && sum < 1.00001, "one softmax over all, not %g", sum);
    net_array_release(y);
    net_model_free(model);
    n = node_proto("TopK", "x y2", "y z"); /* 1: k as attribute, though an input of another meaning would be there */
    free(n.byte);
    n = node_proto("TopK", "x", "y z");
    put_int_attribute(&n, "k", two);
    expect(&n, 9, &line, 1, (const float[]){5, 4}, 2);
    n = node_proto("Pad", "x", "y"); /* 2 */
    put_ints_attribute(&n, "pads", (const int64_t[]){1, 2}, 2);
    put_float_attribute(&n, "value", 9);
    expect(&n, 10, &line, 1, (const float[]){9, 0, 1, 2, 3, 4, 5, 9, 9}, 9);
    n = node_proto("Upsample", "x", "y"); /* 7: scales as attribute */
    struct message a = {NULL, 0};
    put_text(&a, 1, "scales");
    for (int k = 0; k < 4; k++)
        put_float(&a, 7, k < 2 ? 1 : 2);
    put_number(&a, 20, 6);
    put_message(&n, 5, &a);
    expect(&n, 7, image, 4, (const float[]){0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3}, 16);
}

/* ---- data ---- */

static struct net_model *import_constant(struct message *tensor, struct orch_error *error)
{
    struct message graph = {NULL, 0};
    put_message(&graph, 5, tensor);
    put_graph_output(&graph, "c");
    struct message m = model_proto(21, &graph);
    return import(&m, error);
}

static void expect_constant(struct message tensor, enum net_type type, const double *expected, int64_t count)
{
    struct orch_error error;
    struct net_model *const model = import_constant(&tensor, &error);
    const struct net_array *const a = model ? model->value[model->graph->output[0]].constant : NULL;
    CHECK(a && a->type == type && a->count == count, "%s", a ? net_type_name(a->type) : error.text);
    for (int64_t k = 0; a && k < count && k < a->count; k++)
        CHECK(net_array_double(a, k) == expected[k], "%s %lld is %g, not %g", net_type_name(type), (long long)k,
              net_array_double(a, k), expected[k]);
    net_model_free(model);
}

static struct message fields(unsigned type, int64_t count, unsigned field, const uint64_t *number, size_t numbers)
{
    struct message t = tensor_proto("c", type, &count, 1, NULL, 0);
    for (size_t k = 0; k < numbers; k++)
        put_number(&t, field, number[k]);
    return t;
}

static void test_data(void)
{
    static const int64_t three = 3, five = 5;
    static const uint16_t halves[3] = {0x3c00, 0xc000, 0x7bff}, bfloats[3] = {0x3f80, 0xc000, 0x4049};
    expect_constant(tensor_proto("c", 10, &three, 1, halves, 6), NET_F16, (const double[]){1, -2, 65504}, 3);
    expect_constant(tensor_proto("c", 16, &three, 1, bfloats, 6), NET_BF16, (const double[]){1, -2, 3.140625}, 3);
    expect_constant(tensor_proto("c", 22, &five, 1, "\xf1\x87\x02", 3), NET_I4, (const double[]){1, -1, 7, -8, 2}, 5);
    expect_constant(tensor_proto("c", 21, &five, 1, "\xf1\x87\x02", 3), NET_U4, (const double[]){1, 15, 7, 8, 2}, 5);
    expect_constant(tensor_proto("c", 9, &three, 1, "\1\0\1", 3), NET_BOOL, (const double[]){1, 0, 1}, 3);
    expect_constant(tensor_proto("c", 3, &three, 1, "\xff\x80\x7f", 3), NET_I8, (const double[]){-1, -128, 127}, 3);
    expect_constant(fields(10, 2, 5, (const uint64_t[]){0x3c00, 0xbc00}, 2), NET_F16, (const double[]){1, -1}, 2);
    expect_constant(fields(3, 2, 5, (const uint64_t[]){5, (uint64_t)-7}, 2), NET_I8, (const double[]){5, -7}, 2);
    expect_constant(fields(7, 2, 7, (const uint64_t[]){1, (uint64_t)-1}, 2), NET_I64, (const double[]){1, -1}, 2);
    expect_constant(fields(12, 2, 11, (const uint64_t[]){4000000000u, 1}, 2), NET_U32, (const double[]){4e9, 1}, 2);
    expect_constant(fields(22, 3, 5, (const uint64_t[]){0xf1, 0x07}, 2), NET_I4, (const double[]){1, -1, 7}, 3);
}

/* ---- data in other files ---- */

static struct message external(const char *location, const char *offset, const char *length)
{
    static const int64_t two = 2;
    static const char *const keys[] = {"location", "offset", "length"};
    const char *const values[] = {location, offset, length};
    struct message t = tensor_proto("c", 1, &two, 1, NULL, 0), graph = {NULL, 0};
    put_number(&t, 14, 1);
    for (size_t k = 0; k < 3; k++) {
        struct message entry = {NULL, 0};
        if (!values[k])
            continue;
        put_text(&entry, 1, keys[k]);
        put_text(&entry, 2, values[k]);
        put_message(&t, 13, &entry);
    }
    put_message(&graph, 5, &t);
    put_graph_output(&graph, "c");
    return model_proto(21, &graph);
}

static void try_external(const char *folder, const char *location, const char *offset, const char *length, const char *wrong)
{
    char path[512];
    struct orch_error error = {0};
    struct message m = external(location, offset, length);
    snprintf(path, sizeof path, "%s/in/m.onnx", folder);
    struct net_model *const model = onnx_import(path, m.byte, m.size, &error);
    if (wrong)
        CHECK(!model && error.exit_code == ORCH_USAGE && strstr(error.text, wrong), "%s: %s", location,
              model ? "accepted" : error.text);
    else
        CHECK(model && net_array_double(model->value[model->graph->output[0]].constant, 1) == 2.5, "%s: %s", location,
              error.text);
    net_model_free(model);
    free(m.byte);
}

static void test_external_data(void)
{
    char folder[] = "/tmp/orchard_onnx_XXXXXX", path[512], target[512];
    const float numbers[3] = {7, 1.5f, 2.5f};
    CHECK(mkdtemp(folder) != NULL, "no folder");
    snprintf(path, sizeof path, "%s/in", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/in/sub", folder);
    mkdir(path, 0700);
    for (unsigned k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, k == 0 ? "in/w.bin" : k == 1 ? "in/sub/w.bin" : "secret.bin");
        FILE *const file = fopen(path, "wb");
        CHECK(file && fwrite(numbers, sizeof numbers, 1, file) == 1, "%s", path);
        if (file)
            fclose(file);
    }
    snprintf(path, sizeof path, "%s/in/link.bin", folder);
    snprintf(target, sizeof target, "%s/secret.bin", folder);
    CHECK(symlink(target, path) == 0, "no link");
    snprintf(path, sizeof path, "%s/in/up", folder);
    CHECK(symlink(folder, path) == 0, "no link");
    try_external(folder, "w.bin", "4", "8", NULL);
    try_external(folder, "sub/w.bin", "4", NULL, NULL);
    try_external(folder, "../secret.bin", "4", "8", "in the folder of the model");
    try_external(folder, "sub/../../secret.bin", "4", "8", "in the folder of the model");
    try_external(folder, target, "4", "8", "in the folder of the model");
    try_external(folder, "link.bin", "4", "8", "symbolic link");
    try_external(folder, "up/secret.bin", "4", "8", "external data 'up'");
    try_external(folder, "sub", "0", "8", "no file");
    try_external(folder, "w.bin", "8", "8", "12 bytes");
    try_external(folder, "w.bin", "18446744073709551615", "8", "12 bytes");
    try_external(folder, "w.bin", "0", "12", "12 bytes of external data, not 8");
    try_external(folder, "w.bin", "x", "8", "offset 'x'");
    try_external(folder, "none.bin", "0", "8", "none.bin");
    try_external(folder, NULL, "0", "8", "in the folder of the model");
    CHECK(suite_remove(folder), "%s remains", folder);
}

/* ---- damaged and hostile files ---- */

static struct message small_model(void)
{
    static const int64_t dim[2] = {-1, 4}, weights[2] = {4, 2};
    static const float numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct message graph = {NULL, 0};
    struct message node = node_proto("MatMul", "x w", "h"), relu = node_proto("Relu", "h", "y");
    struct message w = tensor_proto("w", 1, weights, 2, numbers, sizeof numbers);
    put_graph_input(&graph, "x", 1, dim, 2);
    put_message(&graph, 5, &w);
    put_message(&graph, 1, &node);
    put_message(&graph, 1, &relu);
    put_graph_output(&graph, "y");
    return model_proto(13, &graph);
}

static void test_truncated(void)
{
    struct message m = small_model();
    struct orch_error error;
    size_t refused = 0;
    for (size_t size = 0; size <= m.size; size++) {
        uint8_t *const part = malloc(size + 1); /* of that size, so that a sanitizer sees reads behind it */
        memcpy(part, m.byte, size);
        struct net_model *const model = onnx_import("m.onnx", part, size, &error);
        CHECK(model != NULL || (error.exit_code == ORCH_USAGE && !strchr(error.text, '\n')), "%zu bytes: %s", size, error.text);
        refused += model == NULL;
        net_model_free(model);
        free(part);
    }
    CHECK(refused == m.size, "%zu of %zu", refused, m.size);
    free(m.byte);
}

static void refuse(struct message m, int code, const char *wrong)
{
    struct orch_error error;
    struct net_model *const model = import(&m, &error);
    CHECK(!model && error.exit_code == code && strstr(error.text, wrong) && !strchr(error.text, '\n'), "%s: %s", wrong,
          model ? "accepted" : error.text);
    net_model_free(model);
}

static struct message nodes(const char *const *op, const char *const *in, const char *const *out, size_t count)
{
    static const int64_t dim = 4;
    struct message graph = {NULL, 0};
    put_graph_input(&graph, "x", 1, &dim, 1);
    for (size_t k = 0; k < count; k++) {
        struct message n = node_proto(op[k], in[k], out[k]);
        put_message(&graph, 1, &n);
    }
    put_graph_output(&graph, "y");
    return model_proto(13, &graph);
}

#define NODES(count, ...)                                                                                                        \
    nodes((const char *const[]){__VA_ARGS__}, (const char *const[]){__VA_ARGS__} + (count),                                      \
          (const char *const[]){__VA_ARGS__} + 2 * (count), count)

static void test_graphs_that_make_no_sense(void)
{
    refuse(NODES(2, "Relu", "Relu", "b", "a", "a", "b"), ORCH_USAGE, "node 'a' (Relu): input 'b' is computed by nothing");
    refuse(NODES(1, "Relu", "nothing", "y"), ORCH_USAGE, "'nothing'");
    refuse(NODES(2, "Relu", "Exp", "x", "x", "y", "y"), ORCH_USAGE, "computed twice");
    refuse(NODES(1, "Relu", "x", "z"), ORCH_USAGE, "output 'y' is computed by no node");
    refuse(NODES(1, "Relu", "x", "x"), ORCH_USAGE, "computed twice");
    refuse(NODES(1, "Re\nlu", "a\x1b[31m", "y"), ORCH_USAGE, "node 'y' (Re?lu): input 'a?[31m'");
    struct message empty = {NULL, 0};
    refuse(empty, ORCH_USAGE, "no graph");
    struct orch_error error;
    struct message m = NODES(1, "Frobnicate", "x", "y");
    struct net_model *const model = import(&m, &error); /* an operator that is not there is a matter of running it */
    struct net_array *x = net_array_new(NET_F32, (const int64_t[]){4}, 1, &error), *y[1];
    const struct net_run run = {.model = model, .input = &x};
    CHECK(model && !net_run(&run, y, &error) && error.exit_code == ORCH_UNMODELLED && strstr(error.text, "node 'y' (Frobnicate)"),
          "%s", error.text);
    net_array_release(x);
    net_model_free(model);
}

static void refuse_tensor(struct message tensor, int code, const char *wrong)
{
    struct orch_error error;
    struct net_model *const model = import_constant(&tensor, &error);
    CHECK(!model && error.exit_code == code && strstr(error.text, wrong) && strstr(error.text, "initialiser 'c'"), "%s: %s",
          wrong, model ? "accepted" : error.text);
    net_model_free(model);
}

static void test_tensors_that_lie(void)
{
    static const int64_t huge[3] = {1 << 20, 1 << 20, 1 << 20}, large = INT64_C(1) << 30, three = 3, minus = -1,
                         nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    refuse_tensor(tensor_proto("c", 1, huge, 3, "abcd", 4), ORCH_USAGE, "negative, or there is more");
    refuse_tensor(tensor_proto("c", 1, &large, 1, "abcd", 4), ORCH_USAGE, "elements of f32 are more than the file has");
    refuse_tensor(tensor_proto("c", 1, &large, 1, NULL, 0), ORCH_USAGE, "elements of f32 are more than the file has");
    refuse_tensor(tensor_proto("c", 1, &minus, 1, "abcd", 4), ORCH_USAGE, "negative, or there is more");
    refuse_tensor(tensor_proto("c", 1, &three, 1, "0123456789abcdef", 16), ORCH_USAGE, "16 bytes of data, not 12");
    refuse_tensor(tensor_proto("c", 1, nine, 9, "0123", 4), ORCH_USAGE, "9 dimensions");
    refuse_tensor(tensor_proto("c", 8, &three, 1, "0123", 4), ORCH_UNMODELLED, "string");
    refuse_tensor(tensor_proto("c", 99, &three, 1, "0123", 4), ORCH_UNMODELLED, "unknown");
}

/* Graphs in attributes of nodes of graphs, deeper than any stack would hold. */
static void test_nesting(void)
{
    for (unsigned depth = 10; depth <= 5000; depth *= 500) {
        struct message graph = {NULL, 0};
        for (unsigned k = 0; k < depth; k++) {
            struct message attribute = {NULL, 0}, node = node_proto("If", "x", "y"), outer = {NULL, 0};
            put_text(&attribute, 1, "then_branch");
            put_message(&attribute, 6, &graph);
            put_number(&attribute, 20, 5);
            put_message(&node, 5, &attribute);
            put_message(&outer, 1, &node);
            graph = outer;
        }
        refuse(model_proto(13, &graph), ORCH_USAGE, depth < 20 ? "nested" : "nested too deep");
    }
    struct message graph = {NULL, 0}, again = {NULL, 0}, m = model_proto(13, &graph);
    put_message(&m, 7, &again);
    refuse(m, ORCH_USAGE, "stands twice");
}

/* FunctionProto: names of inputs and outputs are separated by blanks; its nodes come after. */
static struct message function_proto(const char *name, const char *input, const char *output)
{
    struct message f = {NULL, 0}, set = {NULL, 0};
    put_number(&set, 2, 13);
    put_text(&f, 1, name);
    put_text(&f, 4, input);
    put_text(&f, 5, output);
    put_text(&f, 10, "mine");
    put_message(&f, 9, &set);
    return f;
}

/* A node of the domain in which functions are. */
static struct message call(const char *op, const char *in, const char *out)
{
    struct message n = node_proto(op, in, out);
    put_text(&n, 7, "mine");
    return n;
}

static void test_functions(void)
{
    static const int64_t four = 4;
    struct orch_error error;
    struct message graph = {NULL, 0}, inner = function_proto("Leaky", "a", "b"), outer = function_proto("Twice", "a", "b");
    struct message leaky = node_proto("LeakyRelu", "a", "b"), alpha = {NULL, 0}, first = call("Leaky", "a", "t"),
                   second = call("Leaky", "t", "b");
    put_text(&alpha, 1, "alpha");
    put_text(&alpha, 21, "slope"); /* refers to the attribute of the node */
    put_number(&alpha, 20, 1);
    put_message(&leaky, 5, &alpha);
    put_message(&inner, 7, &leaky);
    for (unsigned k = 0; k < 2; k++) {
        struct message slope = {NULL, 0};
        put_text(&slope, 1, "slope");
        put_text(&slope, 21, "slope");
        put_number(&slope, 20, 1);
        put_message(k ? &second : &first, 5, &slope);
    }
    put_message(&outer, 7, &first);
    put_message(&outer, 7, &second);
    struct message n = node_proto("Neg", "x", "m"), twice = call("Twice", "m", "y");
    put_float_attribute(&twice, "slope", 0.5f);
    put_graph_input(&graph, "x", 1, &four, 1);
    put_message(&graph, 1, &n);
    put_message(&graph, 1, &twice);
    put_graph_output(&graph, "y");
    struct message m = model_proto(13, &graph);
    put_message(&m, 25, &inner);
    put_message(&m, 25, &outer);
    struct net_model *const model = import(&m, &error);
    CHECK(model != NULL && model->graph->nodes == 3, "%s", error.text);
    struct net_array *const y = model ? run_rising(model, &four, 1) : NULL;
    CHECK(y && net_array_double(y, 3) == -0.75, "%g", y ? net_array_double(y, 3) : 0);
    net_array_release(y);
    net_model_free(model);
    struct message endless = function_proto("Again", "a", "b"), again = call("Again", "a", "b");
    put_message(&endless, 7, &again);
    again = call("Again", "x", "y");
    graph = one_node(&again, &four, 1);
    m = model_proto(13, &graph);
    put_message(&m, 25, &endless);
    refuse(m, ORCH_USAGE, "functions are nested too deep");
}

static const struct suite_test tests[] = {{"forms of older opsets", test_older_forms},
                                          {"kinds of data", test_data},
                                          {"data in other files", test_external_data},
                                          {"truncated files", test_truncated},
                                          {"graphs that make no sense", test_graphs_that_make_no_sense},
                                          {"tensors that lie", test_tensors_that_lie},
                                          {"nested messages", test_nesting},
                                          {"functions of the model", test_functions}};
SUITE_MAIN("onnx_import", tests)
