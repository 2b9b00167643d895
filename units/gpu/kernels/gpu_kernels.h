/* The GPU kernel library: AGX programs, written for each shape as assembler text by C builders and assembled by isa/agx.
 *
 * A kernel is one row of the table: name, parameters, element types, a builder. Building a request gives buffers and one or more
 * steps (launches in order); sim places the buffers, runs the steps and reports. Nothing here computes results.
 *
 *     struct gpu_kernel_request r = {.generation = GPU_G13, .cores = 32};
 *     gpu_kernel_parse("softmax:128x1000", "f16", &r, &error) && gpu_kernel_build(&r, &kernel, &error)
 */
#ifndef ORCHARD_UNITS_GPU_KERNELS_GPU_KERNELS_H
#define ORCHARD_UNITS_GPU_KERNELS_GPU_KERNELS_H

#include "isa/agx/agx_asm.h"
#include "isa/isa_error.h"
#include "units/gpu/gpu_program.h"
#include "units/kernel_text.h"

/* Element types of buffers. Quantised ones are GGUF blocks (ggml: block of 32 or 256 weights). */
enum gpu_type { GPU_F32, GPU_F16, GPU_BF16, GPU_I32, GPU_U32, GPU_U8, GPU_Q4_0, GPU_Q8_0, GPU_Q4_K, GPU_Q6_K, GPU_TYPE_COUNT };
const char *gpu_type_name(enum gpu_type type); /* "f32" ..., spelt as for --precision */
/* Bytes of `count` elements (whole blocks for quantised types). */
uint64_t gpu_type_bytes(enum gpu_type type, uint64_t count);

#define GPU_KERNEL_PARAMETERS 16
#define GPU_KERNEL_BUFFERS    12
#define GPU_KERNEL_STEPS      72
#define GPU_KERNEL_ARGUMENTS  128

struct gpu_kernel;
struct gpu_kernel_request;

struct gpu_kernel_info {
    const char *name;       /* "softmax" */
    const char *grammar;    /* "RxC" */
    const char *precisions; /* "f32 f16" */
    const char *text;       /* what it computes; data layout */
    unsigned positional;    /* number of parameters that come first, as AxBxC */
    const struct kernel_parameter *parameter;
    /* Checks beyond single values belong in the builder, which fails with a text for the user. */
    bool (*build)(const struct gpu_kernel_request *request, struct gpu_kernel *kernel, struct isa_error *error);
};
size_t gpu_kernel_count(void);
const struct gpu_kernel_info *gpu_kernel_at(size_t index);
const struct gpu_kernel_info *gpu_kernel_find(const char *name, size_t length); /* NULL when there is none */

struct gpu_kernel_request {
    const struct gpu_kernel_info *info;
    int64_t value[GPU_KERNEL_PARAMETERS];
    double decimal[GPU_KERNEL_PARAMETERS]; /* of decimal parameters */
    enum gpu_type type;
    enum gpu_generation generation; /* variants by capability */
    uint32_t cores;                 /* of the chip: split-K and grid sizes may depend on it */
};

/* Parses "softmax:128x1000,axis=1": fills info, value and type; generation and cores are the caller's. precision NULL = the first
 * of the row. False with a text that names the wrong option and the nearest right one. */
bool gpu_kernel_parse(const char *workload, const char *precision, struct gpu_kernel_request *request, struct isa_error *error);
/* Writes the canonical text: equal requests have equal texts. */
int gpu_kernel_describe(const struct gpu_kernel_request *request, char *text, size_t size);

enum gpu_buffer_role { GPU_BUFFER_INPUT, GPU_BUFFER_OUTPUT, GPU_BUFFER_SCRATCH, GPU_BUFFER_IN_OUT };
struct gpu_kernel_buffer {
    char name[12]; /* "a", "bias", "out" */
    enum gpu_type type;
    uint64_t count; /* elements */
    enum gpu_buffer_role role;
    /* Range of generated inputs: uniform in [low, high); integers in [low, high). */
    double low, high;
    bool places;   /* its values are places in other buffers: they decide what is touched */
    bool distinct; /* no two of its integers are the same */
};

struct gpu_kernel_argument {
    enum { GPU_ARGUMENT_BUFFER, GPU_ARGUMENT_U32 } kind;
    uint16_t offset_bytes; /* in the argument block */
    uint16_t buffer;       /* index */
    uint64_t value;        /* the word, or the byte offset into the buffer */
};

struct gpu_kernel_step {
    char variant[32];         /* "sgemm_64x64_matrix" */
    struct agx_assembly code; /* owned; includes the size of the argument block, the local size and threadgroup memory */
    uint32_t grid_threads[3], group_threads[3];
    struct gpu_kernel_argument argument[GPU_KERNEL_ARGUMENTS];
    unsigned arguments;
};

struct gpu_kernel {
    struct gpu_kernel_buffer buffer[GPU_KERNEL_BUFFERS];
    unsigned buffers;
    struct gpu_kernel_step step[GPU_KERNEL_STEPS];
    unsigned steps;
    /* The first so many steps hang on constant operands alone and are done when those are loaded: before the run, not in it. */
    unsigned loading_steps;
    double flops, macs; /* of the operation, not of the program: 2mnk ...; 0 = none */
    double min_bytes;   /* every operand touched once */
};

/* False with a text for the user (what is impossible and what is possible). Free with gpu_kernel_free. */
bool gpu_kernel_build(const struct gpu_kernel_request *request, struct gpu_kernel *kernel, struct isa_error *error);
void gpu_kernel_free(struct gpu_kernel *kernel);

/* The transforms of Winograd's F(6 x 6, 3 x 3), rows of a matrix that is filled up with zeros: image and weights are m d m', the
 * result's first six rows and columns are m d m' of their products. */
#define GPU_WINOGRAD_SIDE 8
enum gpu_winograd_transform { GPU_WINOGRAD_IMAGE, GPU_WINOGRAD_WEIGHTS, GPU_WINOGRAD_RESULT };
void gpu_winograd_matrix(enum gpu_winograd_transform which, float matrix[GPU_WINOGRAD_SIDE][GPU_WINOGRAD_SIDE]);

#endif
