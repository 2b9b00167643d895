/* The Neural Engine's kernel library: operators built as chains of task descriptors, coefficients and tables, tiled to the tile
 * memory. Built programs are ordinary programs: they save, disassemble, load and run like Apple's.
 *
 *     struct ane_kernel_request r = {.limits = limits};
 *     ane_kernel_parse("conv2d:n=1,c=64,h=56,w=56,k=64,r=3,s=3,stride=1,pad=1,groups=1", "f16", &r, &error)
 *         && ane_kernel_build(&r, &kernel, &error)
 */
#ifndef ORCHARD_UNITS_ANE_KERNELS_ANE_KERNELS_H
#define ORCHARD_UNITS_ANE_KERNELS_ANE_KERNELS_H

#include "isa/ane/ane_coefficients.h"
#include "isa/ane/ane_program.h"
#include "units/ane/ane_params.inc"
#include "units/kernel_text.h"
#include "units/unit_params.h"

#define ANE_KERNEL_PARAMETERS KERNEL_PARAMETERS
#define ANE_KERNEL_TENSORS    8

/* What a generation accepts. */
struct ane_limits {
    enum ane_generation generation;
    uint32_t l2_bytes;
    ANE_LIMITS(PARAM_FIELD)
};

/* Element types of weights (activations are f16). */
enum ane_weight_type {
    ANE_WEIGHT_F16,
    ANE_WEIGHT_I8,
    ANE_WEIGHT_PALETTE4,
    ANE_WEIGHT_PALETTE8,
    ANE_WEIGHT_SPARSE,
    ANE_WEIGHT_PALETTE6,
    ANE_WEIGHT_PALETTE2,
    ANE_WEIGHT_TYPES
};
const char *ane_weight_type_name(enum ane_weight_type type); /* spelt as for --precision */

struct ane_kernel_request;
struct ane_kernel;
struct ane_kernel_info {
    const char *name, *grammar, *text;
    unsigned positional;
    const struct kernel_parameter *parameter; /* ends with name NULL */
    bool (*build)(const struct ane_kernel_request *request, struct ane_kernel *kernel, struct isa_error *error);
};
size_t ane_kernel_count(void);
const struct ane_kernel_info *ane_kernel_at(size_t index);
const struct ane_kernel_info *ane_kernel_find(const char *name, size_t length);

struct ane_kernel_request {
    const struct ane_kernel_info *info;
    int64_t value[ANE_KERNEL_PARAMETERS];
    double decimal[ANE_KERNEL_PARAMETERS];
    enum ane_weight_type weights;
    struct ane_limits limits;
    /* Weights and other constants in the order of the kernel's constant tensors: f32, row-major. NULL = generated from `seed`
     * (uniform, scaled so that results stay in range; the run reports it). */
    const float *constant[4];
    uint64_t seed;
    bool blank; /* nobody reads the coefficients: they are 0, and only their sizes and places count (not of sparse weights) */
};
/* The grammar is that of the other libraries: "gemm:512x512x512", "softmax:128x1000", name=value. False with a text that names
 * the wrong option and the nearest right one. precision: f16 (default), i8, i4 = palette of 4 bits, p2, p6, p8, sparse; NULL =
 * f16. */
bool ane_kernel_parse(const char *workload, const char *precision, struct ane_kernel_request *request, struct isa_error *error);
int ane_kernel_describe(const struct ane_kernel_request *request, char *text, size_t size);

/* A tensor that the user sees, and where the program keeps it. */
enum ane_tensor_role { ANE_TENSOR_INPUT, ANE_TENSOR_OUTPUT, ANE_TENSOR_CONSTANT };
/* Generated inputs: uniform in [low, high), or 0 up to the diagonal that ends in the last corner and -40000 beyond it. */
enum ane_tensor_fill { ANE_FILL_UNIFORM, ANE_FILL_CAUSAL };
struct ane_kernel_tensor {
    char name[16];
    enum ane_tensor_fill fill;
    enum ane_tensor_role role;
    unsigned rank;
    uint32_t shape[5]; /* as the operator defines it: conv2d n, c, h, w; gemm m, k ... */
    uint8_t bar;       /* inputs and outputs */
    /* Byte address of element (i0, i1, ...) = offset + sum i * stride; fp16 elements. */
    uint64_t offset;
    uint32_t stride[5];
    double low, high; /* generated values */
};
struct ane_kernel {
    struct ane_program program; /* owned */
    struct ane_kernel_tensor tensor[ANE_KERNEL_TENSORS];
    unsigned tensors;
    double flops, macs; /* of the operation */
    char variant[64];   /* how it was built: "tiles=4x2, banks resident" */
};
/* False with the exact limit that the request exceeds ("kernel 31x31: H13 convolves at most 29x29"), so that a scheduler can
 * choose another unit; error.offset is then 1, and 0 for wrong requests. Free with ane_kernel_free. */
bool ane_kernel_build(const struct ane_kernel_request *request, struct ane_kernel *kernel, struct isa_error *error);
void ane_kernel_free(struct ane_kernel *kernel);

#endif
