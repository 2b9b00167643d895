/* What a task descriptor asks for, in the units of an engineer: shapes, operands with byte strides, the operation, rounding and
 * post-processing. The executing and the timing side of units/ane and the disassembler read this, and never raw fields; builders
 * fill it and encode.
 */
#ifndef ORCHARD_ISA_ANE_ANE_TASK_H
#define ORCHARD_ISA_ANE_ANE_TASK_H

#include "isa/ane/ane_td.h"

enum ane_format { ANE_U8, ANE_I8, ANE_F16 };
unsigned ane_format_bytes(enum ane_format format);

/* Where an operand lives. */
enum ane_place {
    ANE_PLACE_NONE,
    ANE_PLACE_DRAM, /* buffer of the request: base register `bar` + base */
    ANE_PLACE_L2,   /* tile memory, at `base` */
    ANE_PLACE_CHAIN /* a ring in tile memory through which the whole tensor passes to or from the neighbouring task; `base`
                       names the ring */
};

struct ane_layout {
    uint32_t base, row, plane, depth, group; /* bytes */
};

/* A tensor as the DMA or the tile memory addresses it, in bytes. The elements of a row are neighbours. Groups are the outermost
 * dimension (reductions walk rows as groups). */
struct ane_operand {
    enum ane_place place;
    enum ane_format format;
    uint8_t bar; /* DRAM: slot of the request, 0..31 */
    uint32_t base;
    uint32_t row, plane, depth, group;   /* strides */
    bool broadcast_width;                /* one element per row stands for the whole row */
    uint8_t interleave;                  /* channels stored side by side, 1 = none */
    uint8_t cache_hint;                  /* sources 2, results 3 in most programs; 0, with the two below, stands for that */
    uint8_t cache_reuse, cache_no_reuse; /* sources: hints for data that is and is not read again */
    uint8_t dependency;                  /* the DMA waits for an earlier task: DependencyMode */
    uint8_t dependency_scope;            /* results: DependencyScope */
    uint8_t l2_dependent;                /* first source: Dependent */
    uint8_t alias;                       /* ANE_ALIAS_* */
    bool keep_padding;                   /* results in DRAM: the bytes between the end of a row and its stride stay as they are */
    bool named; /* the operand is in tile memory, but the descriptor names a DRAM buffer (`bar`, `other`) without accessing it */
    /* Operands in DRAM: the staging tile in tile memory. Operands in tile memory: the DRAM buffer when `named`, else zero. */
    struct ane_layout other;
};
#define ANE_ALIAS_CONVOLUTION_SOURCE 1u
#define ANE_ALIAS_CONVOLUTION_RESULT 2u
#define ANE_ALIAS_PLANAR_SOURCE      4u
#define ANE_ALIAS_PLANAR_RESULT      8u

enum ane_engine { ANE_ENGINE_NE, ANE_ENGINE_PE };

/* Operations of the planar engine on x (first source) and y (second). */
enum ane_pe_op { ANE_PE_ADD, ANE_PE_MUL, ANE_PE_MAX, ANE_PE_MIN };
/* Reduction along the width of each row, or pooling over windows of kernel_width x kernel_height; NONE is element by element. */
enum ane_pe_reduce { ANE_REDUCE_NONE, ANE_REDUCE_SUM, ANE_REDUCE_MAX, ANE_POOL_AVERAGE, ANE_POOL_MAX, ANE_POOL_MIN };

enum ane_ne_op {
    ANE_NE_CONVOLUTION, /* coefficients from the banks */
    ANE_NE_ELEMENT,     /* one value in, one out: activation, scale, copy */
    ANE_NE_MATMUL       /* the second source takes the place of the coefficients */
};
enum ane_nonlinear { ANE_LINEAR, ANE_RELU, ANE_TABLE };
enum ane_kernel_format { ANE_KERNEL_U8, ANE_KERNEL_I8, ANE_KERNEL_F16 };

struct ane_bank {
    bool enabled;
    uint32_t base, bytes; /* in the coefficients of the program */
};

struct ane_task {
    enum ane_engine engine;
    bool last;     /* end of the network */
    uint32_t next; /* byte offset of the next descriptor, 0 = none */
    uint16_t id, queue, priority;

    uint32_t width_in, height_in, channels_in;
    uint32_t width_out, height_out, channels_out;
    uint32_t groups;      /* convolution groups (the channels above are those of all groups); rows of a reduction */
    uint32_t tile_height; /* rows of a work unit */
    uint32_t engines;     /* 1, 2, 4, 8 or 16; 0 for the planar engine */

    struct ane_operand source, second, result;

    /* NE */
    enum ane_ne_op ne_op;
    uint32_t kernel_width, kernel_height;
    uint32_t stride_x, stride_y, pad_left, pad_top;
    uint32_t step_x, step_y;     /* Ox, Oy: outputs per input position; more than 1 for transposed convolutions */
    uint32_t channel_group_log2; /* OCGSize: output channels that an engine handles at once, side by side in its bank */
    bool depthwise;              /* each output channel reads its own input channel (UnicastEn) */
    enum ane_kernel_format kernel_format;
    uint32_t palette_bits; /* 0 = none; 1, 2, 4, 6, 8 */
    bool sparse;
    bool bias;        /* the first coefficient of every channel is its bias */
    float acc_bias;   /* added before scale and activation; fp16 value */
    float post_scale; /* fp16 value */
    uint32_t post_shift;
    enum ane_nonlinear nonlinear;
    bool input_relu;
    struct ane_bank bank[ANE_BANKS];
    bool small_source, double_buffer;
    uint8_t shape_preferred, shape_least, shape_most; /* ShPref, ShMin, ShMax; all 0 stands for 4 with small_source, else 1 */
    uint8_t binary_point;                             /* 0 stands for 28 with kernel format f16 */
    uint8_t coefficient_bar;                          /* 0 stands for 1, the usual one; used when a bank is enabled */
    uint32_t unicast_channels;                        /* UnicastCin; 0 stands for 1 */

    /* PE: y = final_scale * (scale * op(pre_scale * x0, x1) + bias) */
    enum ane_pe_op pe_op;
    enum ane_pe_reduce pe_reduce;
    bool pe_absolute, pe_relu, pe_reciprocal;
    bool pe_subtract_second; /* x1 is subtracted, wherever it comes from */
    float pe_pre_scale, pe_scale, pe_bias, pe_final_scale;
    /* log2 of the tile: width in bits 0..3, height in 4..7; 0 stands for tile_height and the width of the first source's tile */
    uint8_t planar_tile;

    /* Both engines. These fields do not influence results, and a builder may leave them 0. */
    uint8_t padding_mode;      /* L2: 1 pads with the least value; 0 stands for what the operation needs */
    uint16_t pixel_offset;     /* elements left out at the start of each source row */
    uint8_t kernel_dependency; /* NE.KernelCfg.Dependency: 1 and 4 pair the producer and the consumer of a small tensor in L2 */
    uint8_t command_bar;       /* where the next descriptor is read from */
    uint8_t unusual_flags;     /* of header word 6, bits 8..15: those that differ from what the places of the operands imply */
    uint16_t exe_cycles;       /* the compiler's estimate */
    bool newer_compiler;       /* hints that the compiler of macOS 26 adds: an event to log, sizes of the kernel DMA */
    uint32_t debug_log_events; /* 0 stands for fff86a in the last task and fff868 in others */
};

/* Reads a descriptor. False, with the byte offset in the descriptor, when packets are not where H13 has them, when a field holds
 * what no known program holds, when fields contradict one another, or when the task makes no sense (shapes, spans of operands,
 * places). */
bool ane_task_decode(const struct ane_td *td, struct ane_task *task, struct isa_error *error);
/* Writes the whole descriptor. False when the task makes no sense, when a value has no encoding (scales and biases must be fp16
 * values: ane_half_round) or when fields contradict one another; the text names the field and its limit. ane_task_decode gives
 * the same task back, with the fields that may be left 0 filled in. */
bool ane_task_encode(const struct ane_task *task, struct ane_td *td, struct isa_error *error);

/* The bytes that a tensor of the task touches: *from is its base, *to is past its last element. */
void ane_operand_span(const struct ane_task *task, const struct ane_operand *operand, uint64_t *from, uint64_t *to);

/* Whether the task reads a second source. */
bool ane_task_has_second(const struct ane_task *task);
/* Whether it sums rows, or takes their largest element. */
bool ane_task_reduces_rows(const struct ane_task *task);

#endif
