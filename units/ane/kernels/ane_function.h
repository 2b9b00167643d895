/* Functions of one or two numbers as descriptors: tables of the MAC engines, arithmetic of the planar engine, chains of both. */
#ifndef ORCHARD_UNITS_ANE_KERNELS_ANE_FUNCTION_H
#define ORCHARD_UNITS_ANE_KERNELS_ANE_FUNCTION_H

#include "units/ane/kernels/ane_build.h"

/* ORDER: as in ANE_FUNCTION_WORDS and the rows of ane_function.c. */
enum ane_function {
    ANE_FUNCTION_RELU,
    ANE_FUNCTION_RELU6,
    ANE_FUNCTION_LEAKY_RELU,
    ANE_FUNCTION_GELU,
    ANE_FUNCTION_GELU_TANH,
    ANE_FUNCTION_SILU,
    ANE_FUNCTION_SIGMOID,
    ANE_FUNCTION_TANH,
    ANE_FUNCTION_ELU,
    ANE_FUNCTION_SELU,
    ANE_FUNCTION_SOFTPLUS,
    ANE_FUNCTION_SOFTSIGN,
    ANE_FUNCTION_MISH,
    ANE_FUNCTION_HARD_SIGMOID,
    ANE_FUNCTION_HARD_SWISH,
    ANE_FUNCTION_HARDTANH,
    ANE_FUNCTION_EXP,
    ANE_FUNCTION_EXP2,
    ANE_FUNCTION_LOG,
    ANE_FUNCTION_LOG2,
    ANE_FUNCTION_LOG10,
    ANE_FUNCTION_SQRT,
    ANE_FUNCTION_RSQRT,
    ANE_FUNCTION_RCP,
    ANE_FUNCTION_ABS,
    ANE_FUNCTION_NEG,
    ANE_FUNCTION_SQUARE,
    ANE_FUNCTION_CUBE,
    ANE_FUNCTION_ERF,
    ANE_FUNCTION_SIGN,
    ANE_FUNCTION_TRUNC,
    ANE_FUNCTION_FRAC,
    ANE_FUNCTION_FLOOR,
    ANE_FUNCTION_CEIL,
    ANE_FUNCTION_SIN,
    ANE_FUNCTION_COS,
    ANE_FUNCTION_ADD,
    ANE_FUNCTION_SUB,
    ANE_FUNCTION_MUL,
    ANE_FUNCTION_DIV,
    ANE_FUNCTION_MAX,
    ANE_FUNCTION_MIN,
    ANE_FUNCTION_POW,
    ANE_FUNCTION_COUNT
};
#define ANE_FUNCTION_WORDS                                                                                                       \
    "relu|relu6|leaky_relu|gelu|gelu_tanh|silu|sigmoid|tanh|elu|selu|softplus|softsign|mish|hard_sigmoid|hard_swish|hardtanh|"   \
    "exp|exp2|log|log2|log10|sqrt|rsqrt|rcp|abs|neg|square|cube|erf|sign|trunc|frac|floor|ceil|sin|cos|add|sub|mul|div|max|min|" \
    "pow"

bool ane_function_is_binary(enum ane_function function);
/* result = function(x) or function(x, *y), followed by relu where the planar engine does it at no cost (`then_relu`, for binary
 * functions except div and pow). alpha: for functions that have one; 0 = the default. Binary functions except pow take `number`
 * when y is NULL. */
struct ane_function_call {
    enum ane_function function;
    double alpha;
    float number;
    bool then_relu;
};
bool ane_function_takes_relu(enum ane_function function, bool number);
void ane_build_function(struct ane_builder *b, const struct ane_function_call *call, struct ane_view x, const struct ane_view *y,
                        struct ane_view result);

/* The unary functions come first: kernels that end with a function offer these words, with "none" before them. */
#define ANE_ACTIVATION_WORDS                                                                                                     \
    "none|relu|relu6|leaky_relu|gelu|gelu_tanh|silu|sigmoid|tanh|elu|selu|softplus|softsign|mish|hard_sigmoid|hard_swish|"       \
    "hardtanh|exp|exp2"
enum ane_activation { ANE_ACTIVATION_NONE, ANE_ACTIVATION_RELU }; /* else 1 + enum ane_function */
/* A convolution and its activation: relu is part of the descriptor, others follow in descriptors of their own. Sets conv->relu.
 */
void ane_build_activated(struct ane_builder *b, const struct ane_conv *conv, int64_t activation, struct ane_view x,
                         struct ane_view result);
/* The same, while `beside` bytes of the tile memory stay free for tiles. */
void ane_build_activated_beside(struct ane_builder *b, uint64_t beside, const struct ane_conv *conv, int64_t activation,
                                struct ane_view x, struct ane_view result);

#endif
