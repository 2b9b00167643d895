/* Names of functions of one or two numbers, as requests for kernels write them (elementwise, activations of conv2d): one list for
 * the libraries of all units that have them. */
#ifndef ORCHARD_UNITS_KERNEL_FUNCTION_H
#define ORCHARD_UNITS_KERNEL_FUNCTION_H

/* ORDER: as in KERNEL_FUNCTION_WORDS, enum gpu_math, the rows of units/routines/function_truth.c and those of
 * units/cpu/kernels/native/elementwise.c. */
enum kernel_function {
    KERNEL_RELU,
    KERNEL_RELU6,
    KERNEL_LEAKY_RELU,
    KERNEL_GELU,
    KERNEL_GELU_TANH,
    KERNEL_SILU,
    KERNEL_SIGMOID,
    KERNEL_TANH,
    KERNEL_ELU,
    KERNEL_SELU,
    KERNEL_SOFTPLUS,
    KERNEL_SOFTSIGN,
    KERNEL_MISH,
    KERNEL_HARD_SIGMOID,
    KERNEL_HARD_SWISH,
    KERNEL_EXP,
    KERNEL_EXP2,
    KERNEL_LOG,
    KERNEL_LOG2,
    KERNEL_SQRT,
    KERNEL_RSQRT,
    KERNEL_RCP,
    KERNEL_ABS,
    KERNEL_NEG,
    KERNEL_SQUARE,
    KERNEL_ERF,
    KERNEL_SIN,
    KERNEL_COS,
    KERNEL_FLOOR,
    KERNEL_CEIL,
    KERNEL_ROUND,
    KERNEL_TRUNC,
    KERNEL_ADD,
    KERNEL_SUB,
    KERNEL_MUL,
    KERNEL_DIV,
    KERNEL_MAX,
    KERNEL_MIN,
    KERNEL_POW,
    KERNEL_FUNCTIONS
};
#define KERNEL_FUNCTION_WORDS                                                                                                    \
    "relu|relu6|leaky_relu|gelu|gelu_tanh|silu|sigmoid|tanh|elu|selu|softplus|softsign|mish|hard_sigmoid|hard_swish|"            \
    "exp|exp2|log|log2|sqrt|rsqrt|rcp|abs|neg|square|erf|sin|cos|floor|ceil|round|trunc|add|sub|mul|div|max|min|pow"

/* From the first function of two numbers on, all have two. */
#define KERNEL_FIRST_BINARY KERNEL_ADD

#endif
