/* ML programs of Core ML: operations made by hand against numbers computed here, packed constants, loops over lists. */
#include "tests/sim/network/coreml_run.h"

/* Runs a block with x = 0, 1, 2, ... of this shape. */
static void expect(struct message *block, const char *opset, const int64_t *in, size_t in_dims, const char *what,
                   const int64_t *shape, unsigned dims, const double *expected)
{
    struct orch_error error;
    struct message file = coreml_program_file(in, in_dims, opset, block);
    struct net_model *const model = import(&file, &error);
    CHECK(model != NULL, "%s: %s", what, error.text);
    if (model)
        check_numbers(model, what, shape, dims, expected);
    net_model_free(model);
}

/* ---- operations ---- */

/* Padding is begin and end of one dimension after the other. */
static void test_conv(void)
{
    static const int64_t in[4] = {1, 1, 2, 3}, kernel[4] = {1, 1, 1, 2}, out[4] = {1, 1, 3, 4}, pads[4] = {1, 0, 0, 2};
    static const float weights[2] = {1, 10};
    double expected[12] = {0};
    struct message block = {NULL, 0}, op = operation("conv");
    put_input(&op, "x", "x");
    put_parameter(&op, "weight", value_floats(weights, kernel, 4));
    put_parameter(&op, "pad_type", value_word("custom"));
    put_parameter(&op, "pad", value_ints(pads, 4, false));
    put_operation(&block, &op, "y");
    for (int y = 1; y < 3; y++) /* a row of zeros above, two columns of zeros behind */
        for (int x = 0; x < 4; x++)
            expected[4 * y + x] = (x < 3 ? 3 * (y - 1) + x : 0) + (x + 1 < 3 ? 10 * (3 * (y - 1) + x + 1) : 0);
    expect(&block, "CoreML5", in, 4, "conv", out, 4, expected);
}

static void test_slice(void)
{
    static const int64_t in[3] = {2, 3, 4}, out[2] = {2, 2};
    static const int64_t begin[3] = {7, 2, -1}, end[3] = {7, 0, 7}, stride[3] = {1, -1, 1};
    static const int64_t begin_mask[3] = {1, 0, 0}, end_mask[3] = {1, 0, 0}, squeeze[3] = {0, 0, 1};
    double expected[4];
    struct message block = {NULL, 0}, op = operation("slice_by_index");
    put_input(&op, "x", "x");
    put_parameter(&op, "begin", value_ints(begin, 3, false));
    put_parameter(&op, "end", value_ints(end, 3, false));
    put_parameter(&op, "stride", value_ints(stride, 3, false));
    put_parameter(&op, "begin_mask", value_ints(begin_mask, 3, false));
    put_parameter(&op, "end_mask", value_ints(end_mask, 3, false));
    put_parameter(&op, "squeeze_mask", value_ints(squeeze, 3, false));
    put_operation(&block, &op, "y");
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) /* rows 2 and 1, the last column */
            expected[2 * a + b] = 12 * a + 4 * (2 - b) + 3;
    expect(&block, "CoreML6", in, 3, "slice_by_index", out, 2, expected);
}

/* A zero keeps a dimension: of the same place in older sets, counted from the end from CoreML7 on. */
static void test_reshape(void)
{
    static const int64_t in[3] = {2, 3, 4}, old[3] = {0, 4, 3}, new[2] = {6, 0}, old_out[3] = {2, 4, 3}, new_out[2] = {6, 4};
    double expected[24];
    for (int k = 0; k < 24; k++)
        expected[k] = k;
    struct message block = {NULL, 0}, op = operation("reshape");
    put_input(&op, "x", "x");
    put_parameter(&op, "shape", value_ints(old, 3, false));
    put_operation(&block, &op, "y");
    expect(&block, "CoreML5", in, 3, "reshape of CoreML5", old_out, 3, expected);
    op = operation("reshape");
    put_input(&op, "x", "x");
    put_parameter(&op, "shape", value_ints(new, 2, false));
    block = (struct message){NULL, 0};
    put_operation(&block, &op, "y");
    expect(&block, "CoreML7", in, 3, "reshape of CoreML7", new_out, 2, expected);
}

static void test_layer_norm_over_channels(void)
{
    static const int64_t in[4] = {1, 3, 1, 2}, axis = 1, three = 3;
    static const float gamma[3] = {1, 2, 3}, beta[3] = {0, 1, -1};
    double expected[6];
    struct message block = {NULL, 0}, op = operation("layer_norm");
    put_input(&op, "x", "x");
    put_parameter(&op, "axes", value_ints(&axis, 1, false));
    put_parameter(&op, "gamma", value_floats(gamma, &three, 1));
    put_parameter(&op, "beta", value_floats(beta, &three, 1));
    put_operation(&block, &op, "y");
    for (int x = 0; x < 2; x++)
        for (int c = 0; c < 3; c++) /* 0 2 4 and 1 3 5: variance 8/3 */
            expected[2 * c + x] = (double)gamma[c] * (2 * c - 2) / sqrt(8. / 3 + 1e-5) + (double)beta[c];
    expect(&block, "CoreML6", in, 4, "layer_norm over channels", in, 4, expected);
}

static void test_interleaved(void)
{
    static const int64_t in[2] = {2, 2}, out[2] = {2, 4}, axis = 1;
    static const double expected[8] = {0, 0, 1, 1, 2, 4, 3, 9};
    struct message block = {NULL, 0}, square = operation("square"), op = operation("concat"), flag = {NULL, 0};
    put_input(&square, "x", "x");
    put_operation(&block, &square, "s");
    put_input(&op, "values", "x s");
    put_parameter(&op, "axis", value_ints(&axis, 1, true));
    put_number(&flag, 1, 1);
    put_parameter(&op, "interleave", program_value(1, NULL, 0, 3, &flag));
    put_operation(&block, &op, "y");
    expect(&block, "CoreML5", in, 2, "interleaved", out, 2, expected);
}

/* ---- packed constants ---- */

static void times_x(struct message *block, const char *name)
{
    struct message op = operation("mul");
    put_input(&op, "x", "x");
    put_input(&op, "y", name);
    put_operation(block, &op, "y");
}

/* [0,3,2,1,3] at two bits, the first in the lowest bits, is 0x6C 0x03. */
static void test_table(void)
{
    static const int64_t five = 5, four = 4, two = 2;
    static const uint8_t bits[2] = {0x6C, 0x03};
    static const float table[4] = {5, 7, 11, 13};
    static const double expected[5] = {0, 13, 22, 21, 52};
    struct message block = {NULL, 0}, op = operation("constexpr_lut_to_dense"), value;
    value = value_bytes(31, bits, 2, &two, 1);
    put_map(&op, 5, "indices", &value); /* of older sets: attributes */
    value = value_floats(table, &four, 1);
    put_map(&op, 5, "lut", &value);
    value = value_ints(&five, 1, false);
    put_map(&op, 5, "shape", &value);
    put_operation(&block, &op, "w");
    times_x(&block, "w");
    expect(&block, "CoreML6", &five, 1, "a table", &five, 1, expected);
}

static void test_affine_and_sparse(void)
{
    static const int64_t shape[2] = {2, 2}, two = 2, five = 5, one = 1, zero = 0;
    static const int8_t q[4] = {-3, 4, 5, -6};
    static const float scale[2] = {0.5F, 2}, data[2] = {7, -3};
    static const int8_t points[2] = {1, -1};
    static const uint8_t mask = 0x12; /* elements 1 and 4 */
    static const double scaled[4] = {0 * -2, 1 * 1.5, 2 * 12, 3 * -10}, dense[5] = {0, 7, 0, 0, -12};
    struct message block = {NULL, 0}, op = operation("constexpr_affine_dequantize"), value;
    value = value_bytes(21, q, 4, shape, 2);
    put_map(&op, 5, "quantized_data", &value);
    value = value_floats(scale, &two, 1);
    put_map(&op, 5, "scale", &value);
    value = value_bytes(21, points, 2, &two, 1);
    put_map(&op, 5, "zero_point", &value);
    value = value_ints(&zero, 1, true);
    put_map(&op, 5, "axis", &value);
    put_operation(&block, &op, "w");
    times_x(&block, "w");
    expect(&block, "CoreML6", shape, 2, "scaled integers", shape, 2, scaled);
    op = operation("constexpr_sparse_to_dense");
    block = (struct message){NULL, 0};
    value = value_bytes(31, &mask, 1, &one, 1);
    put_map(&op, 5, "mask", &value);
    value = value_floats(data, &two, 1);
    put_map(&op, 5, "nonzero_data", &value);
    value = value_ints(&five, 1, false);
    put_map(&op, 5, "shape", &value);
    put_operation(&block, &op, "w");
    times_x(&block, "w");
    expect(&block, "CoreML6", &five, 1, "a mask", &five, 1, dense);
}

/* Blocks of two along the rows, four-bit integers packed two in a byte. */
static void test_blocks(void)
{
    static const int64_t shape[2] = {2, 4}, scales[2] = {2, 2};
    static const uint8_t bytes[4] = {0x21, 0xF3, 0x87, 0x65}; /* 1 2 3 -1, 7 -8 5 6 */
    static const float scale[4] = {1, 10, 0.5F, 2};
    static const double numbers[8] = {1, 2, 30, -10, 3.5, -4, 10, 12};
    double expected[8];
    struct message block = {NULL, 0}, op = operation("constexpr_blockwise_shift_scale");
    put_parameter(&op, "data", value_bytes(25, bytes, 4, shape, 2));
    put_parameter(&op, "scale", value_floats(scale, scales, 2));
    put_operation(&block, &op, "w");
    times_x(&block, "w");
    for (int k = 0; k < 8; k++)
        expected[k] = k * numbers[k];
    expect(&block, "CoreML8", shape, 2, "blocks", shape, 2, expected);
}

/* ---- loops ---- */

static struct message loop_input(const char *name)
{
    struct message named = {NULL, 0};
    put_text(&named, 1, name);
    return named;
}

static const int64_t three = 3, rows[3] = {0, 1, 2};

/* Empty sums, the rows of x, and the values that the loop begins with. */
static struct message before_loop(void)
{
    static const int64_t zero = 0, two = 2;
    static const float nothing[2] = {0, 0};
    struct message block = {NULL, 0}, op = operation("make_list");
    put_parameter(&op, "init_length", value_ints(&three, 1, true));
    put_operation(&block, &op, "sums");
    op = operation("make_list");
    put_parameter(&op, "init_length", value_ints(&three, 1, true));
    put_operation(&block, &op, "empty");
    op = operation("list_scatter");
    put_input(&op, "ls", "empty");
    put_parameter(&op, "indices", value_ints(rows, 3, false));
    put_input(&op, "value", "x");
    put_operation(&block, &op, "rows");
    const struct {
        const char *name;
        struct message value;
    } constants[3] = {
        {"i", value_ints(&zero, 1, true)}, {"s", value_floats(nothing, &two, 1)}, {"n", value_ints(&three, 1, true)}};
    for (unsigned k = 0; k < 3; k++) {
        struct message value = constants[k].value;
        op = operation("const");
        put_map(&op, 5, "val", &value);
        put_operation(&block, &op, constants[k].name);
    }
    return block;
}

/* Three times: sum += row i of x, and the sum goes to item i of a list. */
static struct message loop_block(const char *limit_name)
{
    static const int64_t one = 1;
    struct message block = before_loop(), condition = {NULL, 0}, body = {NULL, 0}, op;
    const char *const names[3] = {"ci", "cs", "cl"}, *const inner[3] = {"bi", "bs", "bl"};
    for (unsigned k = 0; k < 3; k++) {
        struct message a = loop_input(names[k]), b = loop_input(inner[k]);
        put_message(&condition, 1, &a);
        put_message(&body, 1, &b);
    }
    op = operation("less");
    put_input(&op, "x", "ci");
    put_input(&op, "y", limit_name);
    put_operation(&condition, &op, "go");
    put_text(&condition, 2, "go");
    op = operation("list_read");
    put_input(&op, "ls", "rows");
    put_input(&op, "index", "bi");
    put_operation(&body, &op, "row");
    op = operation("add");
    put_input(&op, "x", "bs");
    put_input(&op, "y", "row");
    put_operation(&body, &op, "sum");
    op = operation("list_write");
    put_input(&op, "ls", "bl");
    put_input(&op, "index", "bi");
    put_input(&op, "value", "sum");
    put_operation(&body, &op, "longer");
    op = operation("add");
    put_input(&op, "x", "bi");
    put_parameter(&op, "y", value_ints(&one, 1, true));
    put_operation(&body, &op, "next");
    put_text(&body, 2, "next");
    put_text(&body, 2, "sum");
    put_text(&body, 2, "longer");
    op = operation("while_loop");
    put_input(&op, "loop_vars", "i s sums");
    put_output(&op, "oi");
    put_output(&op, "os");
    put_message(&op, 4, &condition);
    put_message(&op, 4, &body);
    put_operation(&block, &op, "ol");
    op = operation("list_gather");
    put_input(&op, "ls", "ol");
    put_parameter(&op, "indices", value_ints(rows, 3, false));
    put_operation(&block, &op, "y");
    return block;
}

static void test_loop(void)
{
    static const int64_t in[2] = {3, 2};
    static const double expected[6] = {0, 1, 2, 4, 6, 9};
    struct message block = loop_block("n");
    expect(&block, "CoreML6", in, 2, "a loop", in, 2, expected);
    /* A limit that hangs on the input, and none at all. */
    block = loop_block("cs");
    struct message file = coreml_program_file(in, 2, "CoreML6", &block);
    refuses(&file, ORCH_UNMODELLED, "the condition does not follow from constants");
    block = loop_block("i");
    file = coreml_program_file(in, 2, "CoreML6", &block);
    struct orch_error error;
    struct net_model *const model = import(&file, &error); /* 0 < 0: no turn, so the list stays empty */
    CHECK(!model && strstr(error.text, "not a known place of a list"), "%s", error.text);
    net_model_free(model);
}

static void test_endless(void)
{
    static const int64_t in = 1;
    struct message block = {NULL, 0}, op = operation("while_loop"), condition = {NULL, 0}, body = {NULL, 0}, flag = {NULL, 0};
    struct message a = loop_input("c"), b = loop_input("d"), truth = operation("const");
    put_message(&condition, 1, &a);
    put_message(&body, 1, &b);
    put_number(&flag, 1, 1);
    struct message value = program_value(1, NULL, 0, 3, &flag);
    put_map(&truth, 5, "val", &value);
    put_operation(&condition, &truth, "t");
    put_text(&condition, 2, "t");
    put_text(&body, 2, "d");
    put_input(&op, "loop_vars", "x");
    put_message(&op, 4, &condition);
    put_message(&op, 4, &body);
    put_operation(&block, &op, "y");
    struct message file = coreml_program_file(&in, 1, "CoreML6", &block);
    refuses(&file, ORCH_UNMODELLED, "loops of too many steps");
}

static const struct suite_test tests[] = {
    {"pads one dimension after the other", test_conv},
    {"slices with masks", test_slice},
    {"keeps dimensions by the operator set", test_reshape},
    {"normalises over channels", test_layer_norm_over_channels},
    {"interleaves", test_interleaved},
    {"looks weights up", test_table},
    {"scales and spreads weights", test_affine_and_sparse},
    {"scales blocks of four bits", test_blocks},
    {"unrolls a loop over lists", test_loop},
    {"ends endless loops", test_endless},
};
SUITE_MAIN("coreml_programs", tests)
