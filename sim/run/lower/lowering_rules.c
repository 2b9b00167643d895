/* The table of operators, and what follows from a rule alone. */
#include "sim/run/lower/lowering.h"

#include "isa/array_count.h"

#include <string.h>

#define ORCHARD "orchard"

/* Operators without a row are computed by the reference, whatever the library could do for them. */
static const struct lowering_rule lowering_rules[] = {
    {"Conv", "", lowering_conv, ""},
    {"FusedConv", ORCHARD, lowering_conv, ""},
    {"MatMul", "", lowering_product, ""},
    {"Gemm", "", lowering_product, ""},
    {"FusedMatMul", ORCHARD, lowering_product, ""},
    {"ConvTranspose", "", lowering_conv_transpose, ""},
    {"ConvInteger", "", lowering_conv_integer, ""},
    {"MatMulInteger", "", lowering_matmul_integer, ""},
    {"LSTM", "", lowering_lstm, ""},
    {"GRU", "", lowering_gru, ""},
    {"RNN", "", lowering_rnn, ""},
    {"MaxPool", "", lowering_pool, "max"},
    {"AveragePool", "", lowering_pool, "avg"},
    {"GlobalMaxPool", "", lowering_globalpool, "max"},
    {"GlobalAveragePool", "", lowering_globalpool, "avg"},
    {"Relu", "", lowering_function, "relu"},
    {"LeakyRelu", "", lowering_function, "leaky_relu"},
    {"Elu", "", lowering_function, "elu"},
    {"Sigmoid", "", lowering_function, "sigmoid"},
    {"Tanh", "", lowering_function, "tanh"},
    {"Softplus", "", lowering_function, "softplus"},
    {"Softsign", "", lowering_function, "softsign"},
    {"Mish", "", lowering_function, "mish"},
    {"HardSigmoid", "", lowering_function, "hard_sigmoid"},
    {"HardSwish", "", lowering_function, "hard_swish"},
    {"Selu", "", lowering_function, "selu"},
    {"Celu", "", lowering_celu, ""},
    {"ThresholdedRelu", "", lowering_threshold, ""},
    {"Sign", "", lowering_sign, ""},
    {"Shrink", "", lowering_shrink, ""},
    {"Gelu", "", lowering_function, "gelu"},
    {"Swish", "", lowering_function, "silu"},
    {"Exp", "", lowering_function, "exp"},
    {"Log", "", lowering_function, "log"},
    {"Sqrt", "", lowering_function, "sqrt"},
    {"Reciprocal", "", lowering_function, "rcp"},
    {"Abs", "", lowering_function, "abs"},
    {"Neg", "", lowering_function, "neg"},
    {"Erf", "", lowering_function, "erf"},
    {"Sin", "", lowering_function, "sin"},
    {"Cos", "", lowering_function, "cos"},
    {"Sinh", "", lowering_composed, "sinh"},
    {"Cosh", "", lowering_composed, "cosh"},
    {"Tan", "", lowering_composed, "tan"},
    {"Asinh", "", lowering_composed, "asinh"},
    {"Acosh", "", lowering_composed, "acosh"},
    {"Atanh", "", lowering_composed, "atanh"},
    {"Asin", "", lowering_angle, "asin"},
    {"Acos", "", lowering_angle, "acos"},
    {"Atan", "", lowering_angle, "atan"},
    {"Floor", "", lowering_function, "floor"},
    {"Ceil", "", lowering_function, "ceil"},
    {"Round", "", lowering_function, "round"},
    {"Clip", "", lowering_clip, ""},
    {"Add", "", lowering_pair, "add"},
    {"Sub", "", lowering_pair, "sub"},
    {"Mul", "", lowering_pair, "mul"},
    {"Div", "", lowering_pair, "div"},
    {"Max", "", lowering_pair, "max"},
    {"Min", "", lowering_pair, "min"},
    {"Pow", "", lowering_pair, "pow"},
    {"FusedAdd", ORCHARD, lowering_pair, "add+relu"},
    {"Sum", "", lowering_sum, "add"},
    {"Mean", "", lowering_sum, "mean"},
    {"SwiGLU", ORCHARD, lowering_pair, "silu+mul"},
    {"Softmax", "", lowering_softmax, "0"},
    {"LogSoftmax", "", lowering_softmax, "1"},
    {"Hardmax", "", lowering_hardmax, ""},
    {"NegativeLogLikelihoodLoss", "", lowering_loss, ""},
    {"SoftmaxCrossEntropyLoss", "", lowering_loss, "softmax"},
    {"LayerNormalization", "", lowering_norm, "layernorm"},
    {"RMSNormalization", "", lowering_norm, "rmsnorm"},
    {"BatchNormalization", "", lowering_batch_norm, ""},
    {"InstanceNormalization", "", lowering_instance_norm, ""},
    {"GroupNormalization", "", lowering_group_norm, ""},
    {"LRN", "", lowering_lrn, ""},
    {"LpNormalization", "", lowering_lp_norm, ""},
    {"MeanVarianceNormalization", "", lowering_mvn, ""},
    {"ReduceMean", "", lowering_reduce, "mean"},
    {"ReduceSum", "", lowering_reduce, "sum"},
    {"ReduceMax", "", lowering_reduce, "max"},
    {"ReduceMin", "", lowering_reduce, "min"},
    {"ReduceProd", "", lowering_reduce, "prod"},
    {"ReduceL2", "", lowering_reduce, "norm2"},
    {"ReduceL1", "", lowering_reduce_sum_of, "abs/"},
    {"ReduceSumSquare", "", lowering_reduce_sum_of, "square/"},
    {"ReduceLogSum", "", lowering_reduce_sum_of, "/log"},
    {"ReduceLogSumExp", "", lowering_reduce_log_sum_exp, ""},
    {"Transpose", "", lowering_transpose, ""},
    {"Concat", "", lowering_concat, ""},
    {"Gather", "", lowering_gather, ""},
    {"Slice", "", lowering_slice, ""},
    {"Split", "", lowering_slice, "split"},
    {"Expand", "", lowering_expand, ""},
    {"Resize", "", lowering_resize, ""},
    {"DFT", "", lowering_dft, ""},
    {"STFT", "", lowering_stft, ""},
    {"GridSample", "", lowering_grid_sample, ""},
    {"Pad", "", lowering_by_places, "pad"},
    {"Tile", "", lowering_by_places, ""},
    {"DepthToSpace", "", lowering_by_places, ""},
    {"SpaceToDepth", "", lowering_by_places, ""},
    {"GatherElements", "", lowering_by_places, ""},
    {"GatherND", "", lowering_by_places, ""},
    {"Trilu", "", lowering_by_places, ""},
    {"Compress", "", lowering_by_places, ""},
    {"MaxUnpool", "", lowering_by_places, ""},
    {"NonZero", "", lowering_non_zero, ""},
    {"NonMaxSuppression", "", lowering_nms, ""},
    {"ScatterND", "", lowering_scatter, ""},
    {"ScatterElements", "", lowering_scatter, ""},
    {"TensorScatter", "", lowering_tensor_scatter, ""},
    {"CumSum", "", lowering_running_sum, ""},
    {"TopK", "", lowering_top, ""},
    {"ArgMax", "", lowering_place_of, "argmax"},
    {"ArgMin", "", lowering_place_of, "argmin"},
    {"Where", "", lowering_where, ""},
    {"Equal", "", lowering_compare, "eq"},
    {"Less", "", lowering_compare, "lt"},
    {"LessOrEqual", "", lowering_compare, "le"},
    {"Greater", "", lowering_compare, "gt"},
    {"GreaterOrEqual", "", lowering_compare, "ge"},
    {"And", "", lowering_logic, "and"},
    {"Or", "", lowering_logic, "or"},
    {"Xor", "", lowering_logic, "xor"},
    {"Not", "", lowering_logic, "not"},
    {"BitwiseAnd", "", lowering_bits, "and"},
    {"BitwiseOr", "", lowering_bits, "or"},
    {"BitwiseNot", "", lowering_bits, "not"},
    {"BitShift", "", lowering_bits, "shift"},
    {"Mod", "", lowering_modulo, ""},
    {"IsNaN", "", lowering_is_nan, ""},
    {"IsInf", "", lowering_is_inf, ""},
    {"ReverseSequence", "", lowering_by_places, ""},
    {"OneHot", "", lowering_one_hot, ""},
    {"Range", "", lowering_range, ""},
    {"ConstantOfShape", "", lowering_constant_of_shape, ""},
    {"EyeLike", "", lowering_eye_like, ""},
    {"HannWindow", "", lowering_window, "hann"},
    {"HammingWindow", "", lowering_window, "hamming"},
    {"BlackmanWindow", "", lowering_window, "blackman"},
    {"PRelu", "", lowering_prelu, ""},
    {"Cast", "", lowering_cast, ""},
    {"CastLike", "", lowering_cast, ""},
    {"QuantizeLinear", "", lowering_quantise, ""},
    {"DequantizeLinear", "", lowering_dequantise, ""},
    {"DynamicQuantizeLinear", "", lowering_dynamic_quantise, ""},
    {"BitwiseXor", "", lowering_bits, "xor"},
    {"Rescale", ORCHARD, lowering_rescale, ""},
    {"Attention", ORCHARD, lowering_attention, ""},
    {"RotaryEmbedding", ORCHARD, lowering_rotary, ""},
    {"CacheRows", ORCHARD, lowering_cache_rows, ""},
    {"CacheBuffer", ORCHARD, NULL, ""}, /* the rows are written where they stay */
    {"Reshape", "", NULL, ""},
    {"Flatten", "", NULL, ""},
    {"Squeeze", "", NULL, ""},
    {"Unsqueeze", "", NULL, ""},
    {"Identity", "", NULL, ""},
    {"Dropout", "", NULL, ""},
    {"Shape", "", NULL, ""}, /* numbers of elements are the host's */
    {"Size", "", NULL, ""},
};

const struct lowering_rule *lowering_rule(const struct net_node *node)
{
    for (size_t i = 0; i < ARRAY_COUNT(lowering_rules); i++)
        if (strcmp(lowering_rules[i].op, node->op) == 0 && strcmp(lowering_rules[i].domain, node->domain) == 0)
            return &lowering_rules[i];
    return NULL;
}

static bool are_bytes(enum net_type a, enum net_type b)
{
    return (a == NET_U8 || a == NET_I8) && (b == NET_U8 || b == NET_I8);
}

static bool are_halves(enum net_type a, enum net_type b)
{
    return (a == NET_F16 && b == NET_F32) || (a == NET_F32 && b == NET_F16);
}

bool lowering_is_view(const struct lowering_rule *rule, const struct net_node *node, struct net_array *const *in, bool halves)
{
    const bool like = node->inputs > 1 && in[1];
    const enum net_type to = like ? in[1]->type : net_type_of_onnx(net_attr_int(node, "to", 0));
    if (rule->lower == lowering_cast) /* bytes keep their bits, and truth values are bytes */
        return node->inputs > 0 && in[0] &&
               (to == in[0]->type || are_bytes(to, in[0]->type) || (halves && are_halves(to, in[0]->type)) ||
                (in[0]->type == NET_BOOL && are_bytes(to, to)));
    if (rule->lower == lowering_cache_rows) /* nothing was kept */
        return node->inputs > 2 && in[0] && in[2] && in[0]->dims == 4 && in[2]->count == 1 &&
               net_array_integer(in[2], 0) == in[0]->shape[2];
    return !rule->lower || (rule->lower == lowering_reduce && lowering_reduces_nothing(node, in));
}

bool lowering_gives_places(const struct lowering_rule *rule, struct net_array *const *out, size_t outputs)
{
    const bool multiplied = rule->lower == lowering_conv_integer || rule->lower == lowering_matmul_integer ||
                            rule->lower == lowering_quantise || rule->lower == lowering_dynamic_quantise ||
                            rule->lower == lowering_bits;
    for (size_t k = 0; k < outputs && !multiplied; k++)
        if (out[k] && !net_type_is_float(out[k]->type))
            return true;
    return false;
}
