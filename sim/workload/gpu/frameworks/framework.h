/* Whose kernels run for an operator of the GPU library: its own, or ones that have the tiles, passes, copies and dispatch rules
 * that a framework's public kernels have, by version and kind of chip. Where the rules come from: README.md.
 *
 *     struct framework_choice c;
 *     framework_choose("mlx@0.20", "M1 Max", &c, &error) &&
 *     gpu_library_open(&library, "gemm:1024x1024x1024", "f32", ...) && framework_apply(&c, &library, &error)
 */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_FRAMEWORKS_FRAMEWORK_H
#define ORCHARD_SIM_WORKLOAD_GPU_FRAMEWORKS_FRAMEWORK_H

#include "sim/workload/gpu/gpu_library.h"

#define FRAMEWORK_TEXT_BYTES 32

enum framework_set { FRAMEWORK_ORCHARD, FRAMEWORK_MLX, FRAMEWORK_MPS, FRAMEWORK_MFA, FRAMEWORK_GGML };

struct framework_choice {
    enum framework_set set;
    uint32_t version; /* of three numbers: 0.20.1 is 0x00001401 (framework_version) */
    char letter;      /* last letter of Metal's name of the GPU: g (M1), s (M1 Pro, M1 Max), d (M1 Ultra) */
    unsigned family;  /* of Metal: 7 (M1), 8 (M2), 9 (M3, M4) */
};

/* Reads "mlx@0.20", "ggml@2023-11", "mlx" (the newest version that is known), "orchard". */
bool framework_choose(const char *text, const char *chip_name, struct framework_choice *choice, struct orch_error *error);
/* "mlx@0.20.0": choices whose texts and letters are equal are equal. */
void framework_describe(const struct framework_choice *choice, char text[FRAMEWORK_TEXT_BYTES]);
/* What a launch costs beside gpu.between_us where a whole network is one command buffer, in microseconds: encoding it and what
 * the framework has Metal track. */
double framework_launch_us(const struct framework_choice *choice);
#define framework_version(a, b, c) ((uint32_t)(a) << 16 | (uint32_t)(b) << 8 | (uint32_t)(c))

/* Puts the framework's launches in the place of the library's own, over the same operands; scratch buffers are its own. False,
 * with what there is instead, when the framework has none for the operator, its type or its numbers. */
bool framework_apply(const struct framework_choice *choice, struct gpu_library *library, struct orch_error *error);

/* Whether the framework has kernels for an operator in a type: those that `framework_apply` may still refuse for some numbers. */
bool framework_has(enum framework_set set, const char *name, size_t length, const char *precision);

/* ---- lists ---- */

struct framework_set_info {
    const char *name;     /* "mlx" */
    const char *versions; /* "0.0.6 to 0.30.1" */
    const char *text;
};
size_t framework_set_count(void); /* orchard is the first */
const struct framework_set_info *framework_set_at(size_t index);

struct framework_operator_info {
    enum framework_set set;
    const char *name;       /* of the library's operator: "gemm" */
    const char *precisions; /* "f32 f16" */
    const char *text;       /* which kernels run */
};
size_t framework_operator_count(void);
const struct framework_operator_info *framework_operator_at(size_t index);

#endif
