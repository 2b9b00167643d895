/* Core ML files: any bytes are a model or one line that says why not; what is a model also goes through shapes and passes. By its
 * first byte an input is a whole file, layers of a network between a good input and output, or operations of a program with some
 * values before them.
 */
#include "sim/network/coreml/coreml.h"
#include "sim/network/memory.h"
#include "sim/network/network.h"
#include "tests/sim/network/coreml_example.h"

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
    struct net_model *const model = coreml_import("fuzz", data, size, &error);
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

static void append(struct message *m, const uint8_t *data, size_t size)
{
    for (size_t k = 0; k < size; k++)
        put_byte(m, data[k]);
}

/* The bytes say of each layer which kind it is and what its message holds. */
static void try_layers(const uint8_t *data, size_t size, bool exact)
{
    static const int64_t image[4] = {1, 4, 6, 6}, vector[1] = {8};
    const unsigned kinds[] = {100, 120, 130, 140, 160, 165, 175,  180,  190,  200,  210,  211,  220,  230,  231, 245,
                              250, 280, 290, 300, 301, 310, 320,  330,  340,  345,  350,  410,  420,  430,  920, 925,
                              930, 950, 975, 980, 985, 995, 1015, 1045, 1085, 1120, 1125, 1140, 1155, 1270, 1350};
    struct message layers = {NULL, 0};
    char in[4] = "x", out[4] = "y";
    while (size > 2) {
        const size_t length = data[1] < size - 2 ? data[1] : size - 2;
        struct message body = {NULL, 0};
        append(&body, data + 2, length);
        struct message layer = network_layer("l", in, out, kinds[data[0] % (sizeof kinds / sizeof *kinds)], &body);
        put_message(&layers, 1, &layer);
        in[0] = out[0];
        data += length + 2;
        size -= length + 2;
    }
    struct message file = coreml_network_file(exact ? image : vector, exact ? 4 : 1, exact, &layers);
    try_model(file.byte, file.size);
    free(file.byte);
}

/* An input from three bytes: some whole numbers, some bytes, or a value by its name. */
static void put_any(struct message *op, const uint8_t *data)
{
    static const char *const keys[] = {"x",     "y",     "weight",    "shape",        "axes",          "axis", "begin",
                                       "end",   "pad",   "strides",   "values",       "kernel_sizes",  "perm", "loop_vars",
                                       "ls",    "index", "val",       "reps",         "indices",       "lut",  "mask",
                                       "scale", "data",  "initial_h", "nonzero_data", "quantized_data"};
    const char *const key = keys[data[0] % (sizeof keys / sizeof *keys)];
    const int64_t numbers[3] = {data[1] % 7 - 2, data[2] % 9 - 3, 1};
    const char name[2] = {(char)(data[2] % 4 ? 'a' + data[2] % 8 : 'x'), 0};
    if (data[1] & 64)
        put_parameter(op, key, value_ints(numbers, 1 + data[1] % 3, data[1] & 128));
    else if (data[1] & 32)
        put_parameter(op, key, value_bytes(31, numbers, 5, numbers + 2, 1));
    else
        put_input(op, key, name);
}

static void try_operations(const uint8_t *data, size_t size)
{
    static const char *const types[] = {"conv",
                                        "conv_transpose",
                                        "max_pool",
                                        "add",
                                        "reshape",
                                        "slice_by_index",
                                        "concat",
                                        "split",
                                        "pad",
                                        "matmul",
                                        "linear",
                                        "softmax",
                                        "layer_norm",
                                        "reduce_sum",
                                        "while_loop",
                                        "cond",
                                        "make_list",
                                        "list_write",
                                        "gather",
                                        "tile",
                                        "fill",
                                        "cast",
                                        "lstm",
                                        "resize_bilinear",
                                        "topk",
                                        "const",
                                        "transpose",
                                        "constexpr_lut_to_dense",
                                        "constexpr_sparse_to_dense",
                                        "constexpr_affine_dequantize",
                                        "constexpr_blockwise_shift_scale"};
    static const int64_t shape[4] = {1, 4, 6, 6};
    struct message block = {NULL, 0};
    char out[4] = "a";
    while (size > 4) {
        struct message op = operation(types[data[0] % (sizeof types / sizeof *types)]);
        const unsigned inputs = data[1] % 5;
        data += 2;
        size -= 2;
        for (unsigned k = 0; k < inputs && size > 3; k++, data += 3, size -= 3)
            put_any(&op, data);
        put_operation(&block, &op, size > 4 ? out : "y");
        out[0] = out[0] < 'h' ? (char)(out[0] + 1) : 'a';
    }
    struct message file = coreml_program_file(shape, 4, "CoreML7", &block);
    try_model(file.byte, file.size);
    free(file.byte);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || data[0] % 4 == 0)
        try_model(data, size);
    else if (data[0] % 4 == 1)
        try_operations(data + 1, size - 1);
    else
        try_layers(data + 1, size - 1, data[0] % 4 == 2);
    return 0;
}
