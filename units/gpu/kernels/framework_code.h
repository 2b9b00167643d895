/* Machine code of the kernels that follow those of frameworks (MLX, MPS, metal-flash-attention, ggml), compiled beforehand.
 *
 * The sources are Metal of our own (mlx/, mps/, mfa/, ggml/). They have the tiles, passes and copies that the frameworks' public
 * kernels are known for, and no line of them. `make framework-kernels` compiles them to the tables NAME.inc beside them, which
 * are built in, so that nobody needs clang to run them; tests/sim/compile/test_framework_kernels.c compiles them again and
 * compares. Which of them run for an operator, and how they are launched, is the business of sim/workload/gpu/frameworks. */
#ifndef ORCHARD_UNITS_GPU_KERNELS_FRAMEWORK_CODE_H
#define ORCHARD_UNITS_GPU_KERNELS_FRAMEWORK_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAMEWORK_CODE_ARGUMENTS 10

/* Sources, in the order of the table: folder, file without suffix. */
/* clang-format off */
#define FRAMEWORK_SOURCES(X) \
    X(mlx, elementwise) \
    X(mlx, gemm) \
    X(mlx, gemv) \
    X(mlx, reduce) \
    X(mlx, softmax) \
    X(mlx, copy) \
    X(mlx, conv) \
    X(mlx, winograd) \
    X(mlx, attention) \
    X(mps, simple) \
    X(mfa, gemm) \
    X(ggml, products) \
    X(ggml, rows) \
    X(ggml, graph)
/* clang-format on */

struct framework_code {
    const char *source; /* "mlx/gemm" */
    const char *name;   /* of the kernel in the source; no other source has it */
    uint32_t code_bytes, main_offset, preamble_offset;
    bool has_preamble;
    uint32_t constants_offset, constants_first, constants_count; /* in bytes; first uniform half-word; in half-words */
    uint32_t argument_bytes, register_halves, threadgroup_memory_bytes, stack_words;
    unsigned arguments;
    struct framework_code_argument {
        char name[16];
        uint32_t offset_bytes; /* of an address in the argument block */
        bool constant;         /* in constant memory: numbers, which the preamble reads */
    } argument[FRAMEWORK_CODE_ARGUMENTS];
    const uint64_t *code; /* little-endian words */
};

size_t framework_code_count(void);
const struct framework_code *framework_code_at(size_t index);
const struct framework_code *framework_code_find(const char *name); /* NULL when there is none */

#endif
