/* ONNX files: any bytes are a model or one line that says why not. What is a model also goes through shapes and passes. Inputs
 * that are no ONNX file by their first byte become a node list between a good header and good ends.
 */
#include "sim/network/memory.h"
#include "sim/network/network.h"
#include "sim/network/onnx/onnx.h"
#include "tests/sim/network/onnx_example.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok)
        __builtin_trap();
}

static void check_line(const struct orch_error *error)
{
    check(error->text[0] != 0 && !strchr(error->text, '\n'));
    check(error->exit_code == ORCH_USAGE || error->exit_code == ORCH_UNMODELLED);
}

static void try_model(const uint8_t *data, size_t size)
{
    struct orch_error error;
    struct net_memory plan;
    const struct net_open_options options = {.level = 2};
    memset(&error, 0, sizeof error);
    struct net_model *const model = onnx_import("fuzz", data, size, &error);
    if (!model) {
        check_line(&error);
        return;
    }
    model->folded_bytes_max = 1 << 16;
    if (net_prepare(model, &options, NULL, &error)) {
        check(net_memory_plan(model, &plan, &error));
        net_memory_free(&plan);
    } else {
        check_line(&error);
    }
    net_model_free(model);
}

/* Of ONNX, and of com.microsoft. */
static const char *const ops[] = {
    "Add",      "Conv",   "Reshape",         "Slice",    "Gather", "Concat",     "Softmax",        "Pad",     "Resize",
    "MatMul",   "Split",  "Transpose",       "MaxPool",  "Expand", "ReduceMean", "Unsqueeze",      "Squeeze", "Tile",
    "TopK",     "Shape",  "ConstantOfShape", "Range",    "LSTM",   "Einsum",     "QuantizeLinear", "Cast",    "Clip",
    "Identity", "OneHot", "ScatterND",       "GatherND", "Loop"};
static const char *const extended[] = {"Attention",
                                       "MultiHeadAttention",
                                       "GroupQueryAttention",
                                       "RotaryEmbedding",
                                       "QAttention",
                                       "MatMulNBits",
                                       "QLinearConcat",
                                       "SkipLayerNormalization",
                                       "EmbedLayerNormalization",
                                       "FusedConv",
                                       "DynamicQuantizeMatMul",
                                       "QGemm",
                                       "GroupNorm",
                                       "BiasSplitGelu",
                                       "QLinearAveragePool",
                                       "FusedMatMul"};

/* The bytes choose operators, names and attributes of a chain of nodes. */
static void try_nodes(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"x", "y", "k", "v0", "v1", "v2", "v3", "v4"};
    static const char *const attributes[] = {
        "axis",         "to",        "group",     "perm",         "axes",       "pads", "strides", "keepdims",
        "kernel_shape", "blocksize", "num_heads", "kv_num_heads", "block_size", "N",    "K",       "transB"};
    enum { ATTRIBUTES = sizeof attributes / sizeof *attributes };
    struct message graph = {NULL, 0};
    const int64_t shape[3] = {2, -1, 4}, flat = 3;
    const int64_t numbers[3] = {data[0] % 7 - 2, size > 1 ? data[1] % 9 - 3 : 0, 1};
    struct message x = value_info("x", 1, shape, 3), y = value_info("y", 7, &flat, 1);
    struct message k = tensor_proto("k", 7, &flat, 1, numbers, sizeof numbers);
    put_message(&graph, 11, &x);
    put_message(&graph, 11, &y);
    put_message(&graph, 5, &k);
    for (size_t at = 0, made = 0; at + 6 <= size && made < 5; at += 6, made++) {
        char inputs[32], output[4] = {'v', (char)('0' + made), 0, 0};
        int64_t list[3] = {(int8_t)data[at + 4] % 5, (int8_t)data[at + 5] % 5, 1};
        snprintf(inputs, sizeof inputs, "%s %s %s", names[data[at + 1] % 8], names[data[at + 2] % 8], names[data[at + 3] % 8]);
        const bool other = data[at] & 128;
        struct message node = node_proto(other ? extended[data[at] % (sizeof extended / sizeof *extended)]
                                               : ops[data[at] % (sizeof ops / sizeof *ops)],
                                         inputs, output);
        if (other)
            put_text(&node, 7, "com.microsoft");
        if (data[at + 4] & 16)
            put_ints_attribute(&node, attributes[data[at + 4] % ATTRIBUTES], list, 1 + data[at + 5] % 3);
        else
            put_int_attribute(&node, attributes[data[at + 4] % ATTRIBUTES], list[1]);
        if (other) /* few have one attribute alone */
            put_int_attribute(&node, attributes[data[at + 5] % ATTRIBUTES], 1 + data[at + 3] % 4);
        put_message(&graph, 1, &node);
    }
    struct message out = value_info("v0", 1, NULL, 0);
    put_message(&graph, 12, &out);
    struct message model = model_proto(7 + data[0] % 15, &graph), set = {NULL, 0};
    put_text(&set, 1, "com.microsoft");
    put_number(&set, 2, 1);
    put_message(&model, 8, &set);
    try_model(model.byte, model.size);
    free(model.byte);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || data[0] == 8)
        try_model(data, size);
    else
        try_nodes(data, size);
    return 0;
}
