/* Files that could be read in two ways: newer or older operator sets, attributes that nobody knows, types and shapes that
 * disagree. Each is refused in a line that names the node, as onnxruntime refuses it. */
#include "sim/network/onnx/onnx.h"
#include "sim/network/passes/pass.h"
#include "tests/sim/network/onnx_example.h"
#include "tests/support/suite.h"

static struct net_model *import(struct message *m, struct orch_error *error)
{
    *error = (struct orch_error){0};
    struct net_model *const model = onnx_import("m.onnx", m->byte, m->size, error);
    free(m->byte);
    return model;
}

static void refuse(struct message m, int code, const char *wrong)
{
    struct orch_error error;
    struct net_model *const model = import(&m, &error);
    CHECK(!model && error.exit_code == code && strstr(error.text, wrong) && !strchr(error.text, '\n'), "%s: %s", wrong,
          model ? "accepted" : error.text);
    net_model_free(model);
}

/* A node with x (1x2x5x5), z of i64, and weights w (2x2x3x3), in a file of that operator set. */
static struct message one_node(unsigned opset, struct message node)
{
    static const int64_t dim[] = {1, 2, 5, 5}, dims[] = {2, 2, 3, 3};
    static const float weights[36];
    struct message graph = {NULL, 0}, tensor = tensor_proto("w", 1, dims, 4, weights, sizeof weights);
    put_graph_input(&graph, "x", 1, dim, 4);
    put_graph_input(&graph, "z", 7, dim, 4);
    put_message(&graph, 5, &tensor);
    put_message(&graph, 1, &node);
    put_graph_output(&graph, "y");
    return model_proto(opset, &graph);
}

static struct message with_int(struct message node, const char *name, int64_t value)
{
    put_int_attribute(&node, name, value);
    return node;
}

static struct message with_ints(struct message node, const char *name, int64_t first, int64_t second)
{
    put_ints_attribute(&node, name, (const int64_t[]){first, second}, 2);
    return node;
}

static struct message with_float(struct message node, const char *name, float value)
{
    put_float_attribute(&node, name, value);
    return node;
}

static struct message with_word(struct message node, const char *name, const char *word)
{
    struct message a = {NULL, 0};
    put_text(&a, 1, name);
    put_text(&a, 4, word);
    put_number(&a, 20, 3);
    put_message(&node, 5, &a);
    return node;
}

static void test_what_says_something_else(void)
{
    refuse(one_node(99, node_proto("Relu", "x", "y")), ORCH_USAGE, "opset 99 of ONNX's operators: 27 is the newest");
    refuse(one_node(0, node_proto("Relu", "x", "y")), ORCH_USAGE, "node 'y' (Relu): no opset_import says");
    refuse(one_node(13, with_ints(node_proto("Conv", "x w", "y"), "stride", 2, 2)), ORCH_USAGE,
           "no attribute 'stride'; did you mean strides?");
    refuse(one_node(13, with_int(node_proto("Conv", "x w", "y"), "strides", 2)), ORCH_USAGE,
           "strides is an integer; it has to be a list of integers");
    refuse(one_node(13, with_float(node_proto("Softmax", "x", "y"), "axis", 1)), ORCH_USAGE, "axis is a number");
    refuse(one_node(13, with_word(node_proto("Conv", "x w", "y"), "auto_pad", "SAME")), ORCH_USAGE,
           "auto_pad is 'SAME'; it can be NOTSET|SAME_UPPER|SAME_LOWER|VALID");
    refuse(one_node(13, with_word(node_proto("Conv", "x w", "y"), "auto_pad", "SA\nME")), ORCH_USAGE, "auto_pad is 'SA?ME'");
    refuse(one_node(18, with_ints(node_proto("ReduceMean", "x", "y"), "axes", 1, 2)), ORCH_USAGE,
           "axes is no longer there from opset 18");
    refuse(one_node(12, with_float(node_proto("Clip", "x", "y"), "min", 0)), ORCH_USAGE, "min is no longer there from opset 11");
    refuse(one_node(9, with_int(with_ints(node_proto("AveragePool", "x", "y"), "kernel_shape", 2, 2), "ceil_mode", 1)),
           ORCH_USAGE, "ceil_mode is of opsets from 10; the file says 9");
    refuse(one_node(13, node_proto("Concat", "x x", "y")), ORCH_USAGE, "attribute axis is missing");
    refuse(one_node(13, node_proto("Gelu", "x", "y")), ORCH_USAGE, "the operator is of opsets from 20; the file says 13");
    refuse(one_node(18, with_word(node_proto("Pad", "x z", "y"), "mode", "wrap")), ORCH_USAGE,
           "mode is 'wrap'; it can be constant|reflect|edge in that opset");
    refuse(one_node(20, with_word(node_proto("GridSample", "x w", "y"), "mode", "bilinear")), ORCH_USAGE,
           "mode is 'bilinear'; it can be nearest|linear|cubic");
    refuse(one_node(13, node_proto("Upsample", "x w", "y")), ORCH_USAGE, "no longer there from opset 10, Resize is in its place");
    refuse(one_node(9, node_proto("Slice", "x", "y")), ORCH_USAGE, "attribute ends is missing");
    refuse(one_node(8, with_int(node_proto("BatchNormalization", "x w w w w", "y"), "spatial", 0)), ORCH_UNMODELLED, "spatial=0");
}

/* The newest set, the words and attributes that there are, and a function's default set are taken. */
static void test_what_says_what_it_means(void)
{
    static const struct {
        unsigned opset;
        const char *word;
    } cases[] = {{7, "VALID"}, {13, "NOTSET"}, {21, "SAME_UPPER"}, {27, "SAME_LOWER"}};
    for (size_t k = 0; k < ARRAY_COUNT(cases); k++) {
        struct orch_error error;
        struct message m = one_node(cases[k].opset, with_word(with_ints(node_proto("Conv", "x w", "y"), "kernel_shape", 3, 3),
                                                              "auto_pad", cases[k].word));
        struct net_model *const model = import(&m, &error);
        CHECK(model && net_infer_shapes(model, &error), "opset %u: %s", cases[k].opset, error.text);
        net_model_free(model);
    }
    /* sets 23 and 24 brought attributes for types of eight bits that are not read */
    struct orch_error wrong;
    struct message cast = one_node(24, with_word(with_int(node_proto("Cast", "x", "y"), "to", 10), "round_mode", "down"));
    struct net_model *const half = import(&cast, &wrong);
    CHECK(half && net_infer_shapes(half, &wrong), "%s", wrong.text);
    net_model_free(half);
    struct message node = with_int(node_proto("DequantizeLinear", "z w", "y"), "output_dtype", 10), scaled = one_node(23, node);
    struct net_model *const typed = import(&scaled, &wrong);
    CHECK(typed && net_infer_shapes(typed, &wrong) && typed->value[typed->graph->output[0]].type == NET_F16, "%s", wrong.text);
    net_model_free(typed);
    /* onnxruntime's optimizer writes it into files of older sets, and reads it there */
    struct orch_error error;
    struct message norm = one_node(12, with_int(node_proto("LayerNormalization", "x w", "y"), "axis", -1));
    struct net_model *const model = import(&norm, &error);
    CHECK(model != NULL, "%s", error.text);
    net_model_free(model);
}

static void refuse_shapes(struct message m, const char *wrong)
{
    struct orch_error error;
    struct net_model *const model = import(&m, &error);
    CHECK(model != NULL, "%s: %s", wrong, error.text);
    CHECK(model && !net_infer_shapes(model, &error) && error.exit_code == ORCH_USAGE && strstr(error.text, wrong), "%s: %s",
          wrong, error.text);
    net_model_free(model);
}

static void test_types_and_shapes_that_disagree(void)
{
    static const int64_t dim[] = {1, 2, 5, 5};
    struct message graph = {NULL, 0}, relu = node_proto("Relu", "x", "y"), declared = value_info("y", 7, dim, 4);
    refuse_shapes(one_node(13, node_proto("Add", "x z", "y")), "node 'y' (Add): input 0 is f32, input 1 is i64");
    refuse_shapes(one_node(13, with_ints(node_proto("Conv", "x w", "y"), "kernel_shape", 3, 5)),
                  "kernel_shape says 5, the weights have 3");
    refuse_shapes(one_node(13, with_int(node_proto("Split", "x", "y v"), "axis", 2)), "5 elements are no 2 equal parts");
    refuse_shapes(one_node(18, with_int(with_int(node_proto("Split", "x", "y v"), "axis", 2), "num_outputs", 3)),
                  "num_outputs is 3 for 2 outputs");
    put_graph_input(&graph, "x", 1, dim, 4);
    put_message(&graph, 1, &relu);
    put_message(&graph, 12, &declared);
    refuse_shapes(model_proto(13, &graph), "output 'y' is i64 by its declaration, and f32 by the node that computes it");
}

static const struct suite_test tests[] = {{"what says something else", test_what_says_something_else},
                                          {"what says what it means", test_what_says_what_it_means},
                                          {"types and shapes that disagree", test_types_and_shapes_that_disagree}};
SUITE_MAIN("onnx_strict", tests)
