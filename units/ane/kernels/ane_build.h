/* Writes programs: tensors in buffers or tile memory, one function per kind of descriptor, coefficients after them.
 *
 * Errors stay in the builder: after the first one the functions do nothing, and ane_build_end reports it. What the hardware
 * cannot do is refused with ane_build_limit, so that a scheduler can tell it from a wrong request.
 */
#ifndef ORCHARD_UNITS_ANE_KERNELS_ANE_BUILD_H
#define ORCHARD_UNITS_ANE_KERNELS_ANE_BUILD_H

#include "units/ane/kernels/ane_kernels.h"

/* A tensor of fp16 elements, channels x height x width, as descriptors address it. Strides are in bytes; a stride of 0 repeats.
 */
struct ane_view {
    enum ane_place place;
    uint8_t bar; /* DRAM */
    uint32_t base;
    uint32_t channels, height, width;
    uint32_t row, plane;
    bool broadcast_width; /* one element per row stands for the whole row */
};

enum {
    ANE_BAR_COEFFICIENTS = 1,
    ANE_BAR_SCRATCH = 3,
    ANE_BAR_OUTPUT = 4,
    ANE_HALF_BYTES = 2,
    ANE_ROW_BYTES = 64,
    ANE_L2_BYTES = 16,
    ANE_COEFFICIENT_BYTES = 65536 /* memory of an engine: eiln/ane; sbryngelson/ane-guide (arXiv 2606.22283), chapter 21 */
};

struct ane_builder {
    const struct ane_kernel_request *request;
    struct ane_kernel *kernel;
    struct isa_error *error;
    bool failed;
    struct ane_task *task; /* owned */
    size_t count, room;
    struct ane_pack pack; /* owned */
    struct {
        size_t at, bytes;
        const float *weight, *bias; /* from which they were made */
    } packed;                       /* the coefficients of the convolution before, in pack */
    struct ane_port port[ANE_BARS];
    unsigned outputs, outputs_added, inputs_added;
    uint64_t scratch_bytes;
    struct ane_resident {
        uint32_t base, bytes;
    } resident[24]; /* tensors in tile memory, by address */
    unsigned residents;
    unsigned rings; /* operands that pass from one descriptor to the next */
    unsigned constants;
    struct {
        uint32_t base;
        uint8_t bytes[2 * ANE_TABLE_HALVES];
    } table[12]; /* tables that are already in the coefficients */
    unsigned tables;
};

/* Starts a program with so many outputs, whose base registers come first. */
void ane_build_begin(struct ane_builder *b, const struct ane_kernel_request *request, struct ane_kernel *kernel, unsigned outputs,
                     struct isa_error *error);
/* Finishes the program. Frees what the builder owns in any case. */
bool ane_build_end(struct ane_builder *b);
void ane_build_fail(struct ane_builder *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Fails as above, for limits of the hardware: error.offset = 1. */
void ane_build_limit(struct ane_builder *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *ane_build_generation(const struct ane_builder *b); /* "H13" */

/* ---- places ---- */

/* Rows at multiples of 64 bytes, planes of `height` rows. These are buffers of the request; outputs are in the order in which
 * they are added.
 */
struct ane_view ane_build_input(struct ane_builder *b, const char *name, uint64_t images, uint32_t channels, uint32_t height,
                                uint32_t width);
struct ane_view ane_build_output(struct ane_builder *b, const char *name, uint64_t images, uint32_t channels, uint32_t height,
                                 uint32_t width);
/* A tensor between two steps: in tile memory while residents take no more than half of it, otherwise in the scratch buffer. */
struct ane_view ane_build_between(struct ane_builder *b, uint32_t channels, uint32_t height, uint32_t width);
/* The same, while `beside` bytes of the tile memory stay free for tiles and rings of the steps in between. */
struct ane_view ane_build_between_beside(struct ane_builder *b, uint64_t beside, uint32_t channels, uint32_t height,
                                         uint32_t width);
/* The same, always in the scratch buffer. */
struct ane_view ane_build_scratch(struct ane_builder *b, uint32_t channels, uint32_t height, uint32_t width);
/* A tensor that only the next descriptor reads, in order. */
struct ane_view ane_build_ring(struct ane_builder *b, uint32_t channels, uint32_t height, uint32_t width);
/* One value per row of a reduction, in tile memory: height = rows, width 1, broadcast. */
struct ane_view ane_build_column(struct ane_builder *b, uint32_t rows);
struct ane_view ane_build_column_beside(struct ane_builder *b, uint64_t beside, uint32_t rows); /* as above */
/* Allows tile memory above `mark` (handed out since then, unless tensors were freed) to be used again. */
uint32_t ane_build_mark(const struct ane_builder *b);
void ane_build_release(struct ane_builder *b, uint32_t mark);
/* Frees a tensor that no later step reads. */
void ane_build_free(struct ane_builder *b, const struct ane_view *view);
/* Bytes in the largest piece without residents: the room for tiles. */
uint32_t ane_build_room(const struct ane_builder *b);

uint64_t ane_view_bytes(const struct ane_view *view);                 /* channels * plane */
struct ane_view ane_view_image(struct ane_view view, uint64_t index); /* image `index` after view, whole images apart */
struct ane_view ane_view_channels(struct ane_view view, uint32_t first, uint32_t count);
struct ane_view ane_view_rows(struct ane_view view, uint32_t first, uint32_t count);
/* The elements of each plane as one row when rows are full, height = 1; otherwise unchanged. */

/* Names a tensor of the user, with the shape and strides (elements of rank) of `view`. */
struct ane_kernel_tensor *ane_build_tensor(struct ane_builder *b, const char *name, enum ane_tensor_role role,
                                           const struct ane_view *view, double low, double high);
void ane_tensor_axis(struct ane_kernel_tensor *tensor, uint64_t extent, uint64_t stride);

/* ---- constants ---- */

/* The next constant of the request as fp16 values (owned by the caller): what the user gave, or uniform values of [low, high).
 * Weights are then rounded to what --precision can hold, others are not. NULL when memory is out. */
float *ane_build_weights(struct ane_builder *b, const char *name, uint64_t count, double low, double high);
float *ane_build_constant(struct ane_builder *b, const char *name, uint64_t count, double low, double high);
/* Whether weights have no values. */
bool ane_build_is_blank(const struct ane_builder *b);

/* ---- descriptors ---- */

struct ane_conv {
    uint32_t kernel_width, kernel_height, stride_x, stride_y, pad_left, pad_top;
    uint32_t step; /* 0, 1 = plain; 2, 3: the input is upsampled with zeros */
    uint32_t groups;
    bool depthwise, relu;
    const float *weight; /* [out][in within group][kernel_height][kernel_width] */
    const float *bias;   /* [out], NULL = none */
    float scale;         /* of the result, 0 = 1 */
    bool plain;          /* coefficients of the builder: fp16, whatever --precision says */
    size_t same_as;      /* descriptor with these coefficients, from 1; 0 = none; they lie in the program once */
};
/* A convolution of single pixels, with coefficients of the builder. */
static inline struct ane_conv ane_conv_of_pixels(const float *weight, const float *bias)
{
    return (struct ane_conv){.kernel_width = 1,
                             .kernel_height = 1,
                             .stride_x = 1,
                             .stride_y = 1,
                             .groups = 1,
                             .weight = weight,
                             .bias = bias,
                             .plain = true};
}
/* Emits as many descriptors as necessary: output channels whose weights one may stream, columns of which a tile fits. */
void ane_build_conv(struct ane_builder *b, const struct ane_conv *conv, struct ane_view source, struct ane_view result);
/* Emits one descriptor. */
void ane_build_conv_task(struct ane_builder *b, const struct ane_conv *conv, struct ane_view source, struct ane_view result);
/* y[co][p] = sum over ci second[co][ci] * source[ci][p]; ci runs along the width of second, co along its planes. */
void ane_build_matmul(struct ane_builder *b, struct ane_view source, struct ane_view second, float scale, struct ane_view result);

/* nonlinear((x + before) * scale) */
struct ane_element {
    const char *table;           /* of ane_table_make; NULL = none */
    const struct ane_table *own; /* instead: a table of the caller's */
    double alpha;
    bool relu;
    float before, scale; /* scale 0 = 1 */
};
void ane_build_element(struct ane_builder *b, const struct ane_element *element, struct ane_view source, struct ane_view result);

/* scale * op(pre * x, y) + bias; with `constant`, bias alone for every finite x. */
struct ane_planar {
    enum ane_pe_op op;
    bool absolute, relu, subtract, constant;
    float pre, scale, bias; /* pre, scale 0 = 1 */
};
void ane_build_planar(struct ane_builder *b, const struct ane_planar *planar, struct ane_view first,
                      const struct ane_view *second, struct ane_view result);
/* Copies: y = x. */
void ane_build_copy(struct ane_builder *b, struct ane_view source, struct ane_view result);
/* The same without the first `skipped` elements of each source row. */
void ane_build_copy_from(struct ane_builder *b, struct ane_view source, uint32_t skipped, struct ane_view result);
/* One value per row: scale * sum + bias, or the largest; with `reciprocal`, 1 / that. Rows are those of all channels. */
void ane_build_reduce(struct ane_builder *b, enum ane_pe_reduce kind, bool reciprocal, float scale, float bias,
                      struct ane_view source, struct ane_view result);
struct ane_pool {
    enum ane_pe_reduce kind;
    uint32_t kernel_width, kernel_height, stride_x, stride_y, pad_left, pad_top;
    float scale; /* 0 = 1 */
};
void ane_build_pool(struct ane_builder *b, const struct ane_pool *pool, struct ane_view source, struct ane_view result);

#endif
