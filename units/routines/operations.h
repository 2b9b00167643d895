/* What kernels compute, whatever unit does it: one operation each, with its parameters, operands, work and reference. Names,
 * shapes, generated contents and results are those of the GPU library's kernels of the same names.
 *
 * ROUTINE_..._PARAMETERS are the parameters of an operation; a library adds its own behind them and closes the list. The enums
 * are their positions.
 */
#ifndef ORCHARD_UNITS_ROUTINES_OPERATIONS_H
#define ORCHARD_UNITS_ROUTINES_OPERATIONS_H

#include "units/kernel_function.h"
#include "units/kernel_pages.h"
#include "units/routines/routine.h"

/* ---- products ---- */

enum { GEMM_M, GEMM_N, GEMM_K, GEMM_BATCH, GEMM_TA, GEMM_TB, GEMM_ALPHA, GEMM_BETA, GEMM_OWN };
#define ROUTINE_GEMM_PARAMETERS                                                                                                  \
    {.name = "m", .least = 1, .most = 1 << 30, .required = true}, {.name = "n", .least = 1, .most = 1 << 30, .required = true},  \
        {.name = "k", .least = 1, .most = 1 << 30, .required = true},                                                            \
        {.name = "batch", .missing = 1, .least = 1, .most = 1 << 24}, {.name = "ta", .least = 0, .most = 1},                     \
        {.name = "tb", .least = 0, .most = 1},                                                                                   \
        {.name = "alpha", .missing = 1, .least = -1000000, .most = 1000000, .decimal = true},                                    \
    {                                                                                                                            \
        .name = "beta", .missing = 0, .least = -1000000, .most = 1000000, .decimal = true                                        \
    }
extern const struct routine_operation operation_gemm; /* operands a, b, c */

enum { QGEMM_M, QGEMM_N, QGEMM_K, QGEMM_ZERO, QGEMM_ACT, QGEMM_OWN };
#define ROUTINE_QGEMM_PARAMETERS                                                                                                 \
    {.name = "m", .least = 1, .most = 1 << 28, .required = true}, {.name = "n", .least = 1, .most = 1 << 28, .required = true},  \
        {.name = "k", .least = 1, .most = 1 << 16, .required = true}, {.name = "zero", .least = -128, .most = 127},              \
    {                                                                                                                            \
        .name = "act", .words = "none|relu"                                                                                      \
    }
/* Signed bytes: c = a b + bias as whole numbers, then each column times its scale, both in f32, to the nearest whole number (ties
 * to the even one), plus zero, limited to a byte, and with relu to zero and more. */
extern const struct routine_operation operation_qgemm; /* operands a, b, bias, scale, c */

enum { MHA_S, MHA_E, MHA_H, MHA_CAUSAL, MHA_OWN };
#define ROUTINE_MHA_PARAMETERS                                                                                                   \
    {.name = "s", .least = 1, .most = 1 << 24, .required = true}, {.name = "e", .least = 1, .most = 1 << 24, .required = true},  \
        {.name = "h", .least = 1, .most = 4096, .required = true},                                                               \
    {                                                                                                                            \
        .name = "causal", .least = 0, .most = 1                                                                                  \
    }
extern const struct routine_operation operation_mha; /* operands x, wq, wk, wv, wo, out: f32 */

enum { FEED_M, FEED_E, FEED_F, FEED_ACT, FEED_OWN };
#define ROUTINE_FEED_PARAMETERS                                                                                                  \
    {.name = "m", .least = 1, .most = 1 << 28, .required = true}, {.name = "e", .least = 1, .most = 1 << 28, .required = true},  \
        {.name = "f", .least = 1, .most = 1 << 28, .required = true},                                                            \
    {                                                                                                                            \
        .name = "act", .words = "gelu|gelu_tanh|relu|silu|sigmoid|tanh"                                                          \
    }
extern const struct routine_operation operation_feedforward; /* operands x, w1, b1, w2, b2, out: f32 */
enum kernel_function operation_feedforward_function(const struct routine_request *request);

enum { GEMV_M, GEMV_N, GEMV_VECTORS, GEMV_OWN };
#define ROUTINE_GEMV_PARAMETERS                                                                                                  \
    {.name = "m", .least = 1, .most = 1 << 30, .required = true}, {.name = "n", .least = 1, .most = 1 << 30, .required = true},  \
    {                                                                                                                            \
        .name = "vectors", .words = "own|f32"                                                                                    \
    }
extern const struct routine_operation operation_gemv; /* operands a, x, y */

enum { ATTENTION_B, ATTENTION_H, ATTENTION_S, ATTENTION_D, ATTENTION_CAUSAL, ATTENTION_KVH, ATTENTION_OWN };
#define ROUTINE_ATTENTION_PARAMETERS                                                                                             \
    {.name = "b", .missing = 1, .least = 1, .most = 1 << 24}, {.name = "h", .least = 1, .most = 4096, .required = true},         \
        {.name = "s", .least = 1, .most = 1 << 24, .required = true}, {.name = "d", .least = 1, .most = 4096, .required = true}, \
        {.name = "causal", .least = 0, .most = 1},                                                                               \
    {                                                                                                                            \
        .name = "kvh", .missing = 0, .least = 0, .most = 4096                                                                    \
    }
extern const struct routine_operation operation_attention; /* operands q, k, v, out */
enum {
    CACHE_H,
    CACHE_S,
    CACHE_D,
    CACHE_KVH,
    CACHE_Q,
    CACHE_TYPE,
    CACHE_PAGE,
    CACHE_PAGES,
    CACHE_SEEN,
    CACHE_BIAS,
    CACHE_SCALE,
    CACHE_OWN
};
#define ROUTINE_CACHE_ATTENTION_PARAMETERS                                                                                       \
    {.name = "h", .least = 1, .most = 4096, .required = true}, {.name = "s", .least = 1, .most = 1 << 24, .required = true},     \
        {.name = "d", .least = 1, .most = 4096, .required = true}, {.name = "kvh", .missing = 0, .least = 0, .most = 4096},      \
        {.name = "q", .missing = 1, .least = 1, .most = 1 << 24}, {.name = "cached", .words = "own|f16|q8_0"},                   \
        {.name = "page", .missing = 0, .least = 0, .most = 1 << 16},                                                             \
        {.name = "pages", .missing = 0, .least = 0, .most = 1 << 24}, {.name = "seen", .words = "before|all"},                   \
        {.name = "bias", .least = 0, .most = 1},                                                                                 \
    {                                                                                                                            \
        .name = "scale", .words = "depth|one"                                                                                    \
    }
/* Tokens that the first query sees besides one, of which each query behind it sees another, up to all; and what scores are
 * multiplied by. */
int64_t operation_cache_before(const struct routine_request *request);
double operation_cache_scale(const struct routine_request *request);
/* The type of keys and values. */
enum routine_type operation_cached_type(const struct routine_request *request);
/* Pages of keys and values, where the request has some. */
bool operation_cache_pages(const struct routine_request *request, struct kernel_pages *pages, struct isa_error *error);
/* The last q of s tokens attend to all before them and to themselves, or any q queries to all (seen); operands are
 * [token][head][d] as projections leave them, a bias of scores [query][token][head].
 * With pages a table says which one of k and v has the tokens from the next multiple of their size on. */
extern const struct routine_operation operation_cache_attention; /* operands q, k, v, with pages the table, the bias, out */
int64_t operation_kv_heads(const struct routine_request *request);

enum {
    ROPE_B,
    ROPE_H,
    ROPE_S,
    ROPE_D,
    ROPE_BASE,
    ROPE_OFFSET,
    ROPE_STYLE,
    ROPE_ORDER,
    ROPE_PART,
    ROPE_SCALES,
    ROPE_OWN,
    ROPE_POSITIONS = 8192
};
#define ROUTINE_ROPE_PARAMETERS                                                                                                  \
    {.name = "b", .missing = 1, .least = 1, .most = 1 << 24}, {.name = "h", .least = 1, .most = 4096, .required = true},         \
        {.name = "s", .least = 1, .most = ROPE_POSITIONS, .required = true},                                                     \
        {.name = "d", .least = 2, .most = 4096, .required = true},                                                               \
        {.name = "base", .missing = 10000, .least = 2, .most = 100000000, .decimal = true},                                      \
        {.name = "offset", .missing = 0, .least = 0, .most = ROPE_POSITIONS}, {.name = "style", .words = "halves|interleaved"},  \
        {.name = "order", .words = "heads|tokens"}, {.name = "part", .missing = 0, .least = 0, .most = 4096},                    \
    {                                                                                                                            \
        .name = "scales", .missing = 0, .least = 0, .most = 1                                                                    \
    }
extern const struct routine_operation operation_rope; /* operands x, scales (if any), out */
/* Elements of a head that turn. */
int64_t operation_rope_part(const struct routine_request *request);

/* ---- elements ---- */

enum { ELEMENTWISE_N, ELEMENTWISE_OP, ELEMENTWISE_FUSED, ELEMENTWISE_ALPHA, ELEMENTWISE_PERIOD, ELEMENTWISE_OWN };
#define ROUTINE_ELEMENTWISE_PARAMETERS                                                                                           \
    {.name = "n", .least = 1, .most = INT64_C(1) << 42, .required = true},                                                       \
        {.name = "op", .words = KERNEL_FUNCTION_WORDS, .chain = true},                                                           \
        {.name = "fused", .words = KERNEL_FUNCTION_WORDS, .chain = true},                                                        \
        {.name = "alpha", .missing = 0, .least = -1000000, .most = 1000000, .decimal = true},                                    \
    {                                                                                                                            \
        .name = "period", .least = 0, .most = INT64_C(1) << 42                                                                   \
    }
#define OPERATION_CHAIN_MOST (2 * KERNEL_CHAIN_WORDS)
extern const struct routine_operation operation_elementwise; /* operands a, b ..., out */
/* The functions of a request in their order; returns their number. */
unsigned operation_chain(const struct routine_request *request, enum kernel_function function[OPERATION_CHAIN_MOST]);

/* ---- rows ---- */

enum { REDUCE_ROWS, REDUCE_COLUMNS, REDUCE_OP, REDUCE_AXIS, REDUCE_OWN };
enum { REDUCE_SUM, REDUCE_MEAN, REDUCE_MAX, REDUCE_MIN, REDUCE_PROD, REDUCE_NORM2, REDUCE_ARGMAX, REDUCE_ARGMIN };
#define ROUTINE_REDUCE_PARAMETERS                                                                                                \
    {.name = "rows", .least = 1, .most = INT64_C(1) << 40, .required = true},                                                    \
        {.name = "columns", .least = 1, .most = INT64_C(0x7fffffff), .required = true},                                          \
        {.name = "op", .words = "sum|mean|max|min|prod|norm2|argmax|argmin"},                                                    \
    {                                                                                                                            \
        .name = "axis", .missing = 1, .least = 0, .most = 1                                                                      \
    }
extern const struct routine_operation operation_reduce; /* operands x, out */

enum { ROWS_ROWS, ROWS_COLUMNS, SOFTMAX_LOG, SOFTMAX_OWN, NORM_EPS = 2, NORM_AFFINE, NORM_OWN };
#define ROUTINE_ROWS_PARAMETERS                                                                                                  \
    {.name = "rows", .least = 1, .most = INT64_C(1) << 40, .required = true},                                                    \
    {                                                                                                                            \
        .name = "columns", .least = 1, .most = 1 << 30, .required = true                                                         \
    }
#define ROUTINE_SOFTMAX_PARAMETERS                                                                                               \
    ROUTINE_ROWS_PARAMETERS,                                                                                                     \
    {                                                                                                                            \
        .name = "log", .least = 0, .most = 1                                                                                     \
    }
#define ROUTINE_NORM_PARAMETERS                                                                                                  \
    ROUTINE_ROWS_PARAMETERS, {.name = "eps", .usual = 1e-5, .least = 0, .most = 1, .decimal = true},                             \
    {                                                                                                                            \
        .name = "affine", .missing = 1, .least = 0, .most = 1                                                                    \
    }
extern const struct routine_operation operation_softmax;                      /* operands x, out */
extern const struct routine_operation operation_layernorm, operation_rmsnorm; /* operands x, out[, gamma[, beta]] */

enum { SCAN_ROWS, SCAN_COLUMNS, SCAN_EXCLUSIVE, SORT_DESCENDING = SCAN_EXCLUSIVE };
#define ROUTINE_SCAN_PARAMETERS(option)                                                                                          \
    ROUTINE_ROWS_PARAMETERS,                                                                                                     \
    {                                                                                                                            \
        .name = option, .least = 0, .most = 1                                                                                    \
    }
extern const struct routine_operation operation_scan, operation_sort; /* operands x, out */
enum { TOPK_ROWS, TOPK_COLUMNS, TOPK_COUNT, TOPK_SMALLEST, TOPK_OWN };
#define ROUTINE_TOPK_PARAMETERS                                                                                                  \
    ROUTINE_ROWS_PARAMETERS, {.name = "k", .least = 1, .most = 1 << 16, .required = true},                                       \
    {                                                                                                                            \
        .name = "smallest", .least = 0, .most = 1                                                                                \
    }
/* Places of the best elements of each row, the best first, of equal ones the first; what is no number has no place. */
extern const struct routine_operation operation_topk; /* operands x, out: u32 */

/* ---- boxes ---- */

enum { NMS_BATCHES, NMS_CLASSES, NMS_BOXES, NMS_MOST, NMS_CENTER };
#define ROUTINE_NMS_PARAMETERS                                                                                                   \
    {.name = "batches", .least = 1, .most = 65536, .required = true},                                                            \
        {.name = "classes", .least = 1, .most = 65536, .required = true},                                                        \
        {.name = "boxes", .least = 1, .most = 1 << 24, .required = true},                                                        \
        {.name = "k", .least = 1, .most = 1 << 24, .required = true},                                                            \
    {                                                                                                                            \
        .name = "center", .least = 0, .most = 1                                                                                  \
    }
/* Places of at most k boxes of each class that stay, the likeliest first; then 2^32 - 1. */
extern const struct routine_operation operation_nms; /* operands boxes, scores, limits, out: u32 */

/* ---- images ---- */

enum { IMAGE_N, IMAGE_C, IMAGE_H, IMAGE_W };
#define ROUTINE_IMAGE_PARAMETERS(side)                                                                                           \
    {.name = "n", .missing = 1, .least = 1, .most = 1 << 24}, {.name = "c", .least = 1, .most = 65536, .required = true},        \
        {.name = "h", .least = 1, .most = side, .required = true},                                                               \
    {                                                                                                                            \
        .name = "w", .least = 1, .most = side, .required = true                                                                  \
    }
enum { IMAGENORM_EPS = 4, IMAGENORM_GROUPS, IMAGENORM_OWN };
#define ROUTINE_BATCHNORM_PARAMETERS                                                                                             \
    ROUTINE_IMAGE_PARAMETERS(65536),                                                                                             \
    {                                                                                                                            \
        .name = "eps", .usual = 1e-5, .least = 0, .most = 1, .decimal = true                                                     \
    }
#define ROUTINE_GROUPNORM_PARAMETERS                                                                                             \
    ROUTINE_BATCHNORM_PARAMETERS,                                                                                                \
    {                                                                                                                            \
        .name = "groups", .missing = 1, .least = 1, .most = 65536                                                                \
    }
extern const struct routine_operation operation_groupnorm; /* operands x, out, gamma, beta */
extern const struct routine_operation operation_batchnorm; /* operands x, out, mean, var, gamma, beta */

enum { POOL_R = 4, POOL_S, POOL_STRIDE, POOL_PAD, POOL_OP, POOL_INCLUDE_PAD, POOL_OWN, POOL_MAX = 0 };
#define ROUTINE_SIDE_MOST 32767
#define ROUTINE_POOL_PARAMETERS                                                                                                  \
    ROUTINE_IMAGE_PARAMETERS(ROUTINE_SIDE_MOST), {.name = "r", .missing = 2, .least = 1, .most = 64},                            \
        {.name = "s", .missing = 2, .least = 1, .most = 64}, {.name = "stride", .missing = 2, .least = 1, .most = 64},           \
        {.name = "pad", .least = 0, .most = 32}, {.name = "op", .words = "max|avg"},                                             \
    {                                                                                                                            \
        .name = "include_pad", .least = 0, .most = 1                                                                             \
    }
enum { GLOBALPOOL_OP = 4, GLOBALPOOL_OWN };
#define ROUTINE_GLOBALPOOL_PARAMETERS                                                                                            \
    ROUTINE_IMAGE_PARAMETERS(ROUTINE_SIDE_MOST),                                                                                 \
    {                                                                                                                            \
        .name = "op", .words = "avg|max"                                                                                         \
    }
enum { RESIZE_H = 4, RESIZE_W, RESIZE_MODE, RESIZE_ALIGN, RESIZE_OWN };
#define ROUTINE_RESIZE_PARAMETERS                                                                                                \
    ROUTINE_IMAGE_PARAMETERS(ROUTINE_SIDE_MOST), {.name = "oh", .least = 1, .most = ROUTINE_SIDE_MOST, .required = true},        \
        {.name = "ow", .least = 1, .most = ROUTINE_SIDE_MOST, .required = true}, {.name = "mode", .words = "nearest|bilinear"},  \
    {                                                                                                                            \
        .name = "align", .least = 0, .most = 1                                                                                   \
    }
extern const struct routine_operation operation_pool, operation_globalpool, operation_resize; /* operands x, out */
/* Height or width of what pool gives; 0 = no window fits. */
int64_t operation_pool_side(const struct routine_request *request, bool height);

enum { CONV_K = 4, CONV_R, CONV_S, CONV_STRIDE, CONV_PAD, CONV_GROUPS, CONV_DILATION, CONV_BIAS, CONV_ACT, CONV_OWN };
#define ROUTINE_CONV_PARAMETERS                                                                                                  \
    ROUTINE_IMAGE_PARAMETERS(ROUTINE_SIDE_MOST), {.name = "k", .least = 1, .most = 65536, .required = true},                     \
        {.name = "r", .missing = 3, .least = 1, .most = 64}, {.name = "s", .missing = 3, .least = 1, .most = 64},                \
        {.name = "stride", .missing = 1, .least = 1, .most = 64}, {.name = "pad", .missing = 0, .least = 0, .most = 64},         \
        {.name = "groups", .missing = 1, .least = 1, .most = 65536}, {.name = "dilation", .missing = 1, .least = 1, .most = 64}, \
        {.name = "bias", .missing = 0, .least = 0, .most = 1},                                                                   \
    {                                                                                                                            \
        .name = "act", .words = KERNEL_FUNCTION_WORDS, .chain = true                                                             \
    }
extern const struct routine_operation operation_conv2d; /* operands x, weights[, bias], out */
struct operation_conv {
    int64_t group_c, group_k, h, w, depth; /* channels of a group, sizes of the result (0 = none), products of an element */
    int act;                               /* enum kernel_function; -1 = none */
};
struct operation_conv operation_conv_shape(const struct routine_request *request);

/* ---- moves ---- */

enum { MOVE_ROWS, MOVE_COLUMNS, TRANSPOSE_BATCH, TRANSPOSE_OWN, GATHER_COUNT = 2, GATHER_OWN };
#define ROUTINE_MATRIX_PARAMETERS                                                                                                \
    {.name = "rows", .least = 1, .most = 1 << 30, .required = true},                                                             \
    {                                                                                                                            \
        .name = "columns", .least = 1, .most = 1 << 30, .required = true                                                         \
    }
#define ROUTINE_TRANSPOSE_PARAMETERS                                                                                             \
    ROUTINE_MATRIX_PARAMETERS,                                                                                                   \
    {                                                                                                                            \
        .name = "batch", .missing = 1, .least = 1, .most = 1 << 24                                                               \
    }
#define ROUTINE_GATHER_PARAMETERS                                                                                                \
    ROUTINE_MATRIX_PARAMETERS,                                                                                                   \
    {                                                                                                                            \
        .name = "count", .least = 1, .most = 1 << 30, .required = true                                                           \
    }
enum { CONCAT_ROWS, CONCAT_A, CONCAT_INPUTS = 4, CONCAT_OWN };
#define ROUTINE_CONCAT_PARAMETERS                                                                                                \
    {.name = "rows", .least = 1, .most = 1 << 30, .required = true},                                                             \
        {.name = "a", .least = 1, .most = 1 << 30, .required = true},                                                            \
        {.name = "b", .least = 1, .most = 1 << 30, .required = true}, {.name = "c", .least = 0, .most = 1 << 30},                \
    {                                                                                                                            \
        .name = "d", .least = 0, .most = 1 << 30                                                                                 \
    }
enum { PAD_TOP = 2, PAD_BOTTOM, PAD_LEFT, PAD_RIGHT, PAD_VALUE, PAD_OWN };
#define ROUTINE_PAD_PARAMETERS                                                                                                   \
    ROUTINE_MATRIX_PARAMETERS, {.name = "top", .least = 0, .most = 1 << 20}, {.name = "bottom", .least = 0, .most = 1 << 20},    \
        {.name = "left", .least = 0, .most = 1 << 20}, {.name = "right", .least = 0, .most = 1 << 20},                           \
    {                                                                                                                            \
        .name = "value", .least = -65504, .most = 65504, .decimal = true                                                         \
    }
enum { SLICE_ROW = 2, SLICE_COLUMN, SLICE_H, SLICE_W, SLICE_OWN };
#define ROUTINE_SLICE_PARAMETERS                                                                                                 \
    ROUTINE_MATRIX_PARAMETERS, {.name = "row", .least = 0, .most = 1 << 28}, {.name = "column", .least = 0, .most = 1 << 28},    \
        {.name = "h", .least = 1, .most = 1 << 28, .required = true},                                                            \
    {                                                                                                                            \
        .name = "w", .least = 1, .most = 1 << 28, .required = true                                                               \
    }
#define ROUTINE_BROADCAST_PARAMETERS ROUTINE_MATRIX_PARAMETERS
extern const struct routine_operation operation_transpose, operation_pad, operation_slice; /* operands x, out */
extern const struct routine_operation operation_broadcast;                                 /* x of one row, out */
extern const struct routine_operation operation_concat;                                    /* a, b ..., out */
extern const struct routine_operation operation_gather;                                    /* table, index, out */
extern const struct routine_operation operation_embedding;                                 /* table, index, out in f32 */
#define ROUTINE_QUANTISE_PARAMETERS                                                                                              \
    {                                                                                                                            \
        .name = "count", .least = 1, .most = INT64_C(1) << 36, .required = true                                                  \
    }
extern const struct routine_operation operation_quantise; /* x in f32, out */

enum { CONVERT_N, CONVERT_FROM, CONVERT_TO, CONVERT_CHANNELS, CONVERT_INNER, CONVERT_BIAS, CONVERT_OWN };
#define ROUTINE_CONVERT_WORDS "number|u8|i8|i32"
#define ROUTINE_CONVERT_PARAMETERS                                                                                               \
    {.name = "n", .least = 1, .most = INT64_C(1) << 36, .required = true}, {.name = "from", .words = ROUTINE_CONVERT_WORDS},     \
        {.name = "to", .words = ROUTINE_CONVERT_WORDS},                                                                          \
        {.name = "channels", .missing = 1, .least = 1, .most = INT64_C(1) << 30},                                                \
        {.name = "inner", .missing = 1, .least = 1, .most = INT64_C(1) << 36},                                                   \
    {                                                                                                                            \
        .name = "bias", .least = 0, .most = 1                                                                                    \
    }
/* Element i has the parameters of channel i / inner % channels. Numbers become integers by x / scale, to the nearest, ties to the
 * even one, plus offset, limited to the type; integers numbers by (x - zero) scale, plus bias; integers integers by both. */
extern const struct routine_operation operation_convert; /* x, scale, zero of integers, offset of integers, bias, out */
/* The type that `from` or `to` says; numbers are of the request's. */
enum routine_type operation_convert_type(const struct routine_request *request, int parameter);
/* The part of a matrix that pad and slice show; (0, 0) of the result is (top, left) of the input. */
struct operation_window {
    int64_t rows, columns, top, left;
    double filler;
};
struct operation_window operation_window(const struct routine_request *request);

/* ---- whole numbers ---- */

/* Types of elements: numbers are of the request's type, words of 64 bits are two of i32, the lower one first. */
#define ROUTINE_WHOLE_WORDS   "number|u8|i32|i64"
#define ROUTINE_CAST_WORDS    ROUTINE_WHOLE_WORDS "|bool|f32" /* f32: beside numbers of 16 bits */
#define ROUTINE_INTEGER_WORDS "add|sub|mul|min|max|and|or|xor|div|mod|rem|shl|shr"
#define ROUTINE_COMPARE_WORDS "eq|lt|le|gt|ge"
#define ROUTINE_SINGLE_WORDS  "none|a|b|both"
enum { WHOLE_NUMBER, WHOLE_U8, WHOLE_I32, WHOLE_I64, WHOLE_BOOL, WHOLE_F32 };
enum {
    INTEGER_ADD,
    INTEGER_SUB,
    INTEGER_MUL,
    INTEGER_MIN,
    INTEGER_MAX,
    INTEGER_AND,
    INTEGER_OR,
    INTEGER_XOR,
    INTEGER_DIV, /* toward zero */
    INTEGER_MOD, /* with the sign of the divisor */
    INTEGER_REM, /* with that of what is divided */
    INTEGER_SHL, /* by 0 up to the width; what is beyond gives 0 */
    INTEGER_SHR
};
enum { COMPARE_EQ, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE };
enum { SINGLE_NONE, SINGLE_A, SINGLE_B, SINGLE_BOTH };
enum { PAIR_N, PAIR_OP, PAIR_OF, PAIR_PERIOD, PAIR_OWN };
#define ROUTINE_PAIR_PARAMETERS(ops)                                                                                             \
    {.name = "n", .least = 1, .most = INT64_C(1) << 36, .required = true}, {.name = "op", .words = ops},                         \
        {.name = "of", .words = ROUTINE_WHOLE_WORDS},                                                                            \
    {                                                                                                                            \
        .name = "period", .least = 0, .most = INT64_C(1) << 36                                                                   \
    }
enum { SELECT_N, SELECT_OF, SELECT_SINGLE, SELECT_OWN };
#define ROUTINE_SELECT_PARAMETERS                                                                                                \
    {.name = "n", .least = 1, .most = INT64_C(1) << 36, .required = true}, {.name = "of", .words = ROUTINE_WHOLE_WORDS},         \
    {                                                                                                                            \
        .name = "single", .words = ROUTINE_SINGLE_WORDS                                                                          \
    }
enum { CAST_N, CAST_FROM, CAST_TO, CAST_OWN };
#define ROUTINE_CAST_PARAMETERS                                                                                                  \
    {.name = "n", .least = 1, .most = INT64_C(1) << 36, .required = true}, {.name = "from", .words = ROUTINE_CAST_WORDS},        \
    {                                                                                                                            \
        .name = "to", .words = ROUTINE_CAST_WORDS                                                                                \
    }
/* b begins again after `period` elements unless that is 0. Sums and products wrap as the type does. */
extern const struct routine_operation operation_integer; /* operands a, b, out */
extern const struct routine_operation operation_compare; /* operands a, b, out: bytes, 1 or 0 */
/* a where the condition's byte is not 0, else b; either may be one element for all. */
extern const struct routine_operation operation_select; /* operands condition, a, b, out */
/* Numbers become whole toward zero, what is wide keeps its low bits, bool is whether it is not 0. */
extern const struct routine_operation operation_cast; /* operands x, out */

/* ---- functions ---- */

/* alpha as requests give it: slope of leaky_relu, scale of elu; 0 = the usual value. */
double function_value(enum kernel_function function, double x, double y, double alpha);
/* What an error of the argument makes of the function's value. */
double function_carried(enum kernel_function function, double x, double y, double alpha, double value, double error);
/* How far a result may be from that of the exact function, with float32 arithmetic: function_truth.c has the table. */
double function_error(enum kernel_function function, double x, double y, double value);

#endif
