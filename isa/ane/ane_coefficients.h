/* Coefficient banks: weights as the kernel DMA streams them into the 16 engines, and activation tables.
 *
 * Planes of 2^OCGSize output channels, whose lanes are innermost, go round the banks, each after its biases; sparse planes are
 * mask bytes and the values that they mark. Only ane_bank.c knows the details, and says which are known and which are chosen.
 */
#ifndef ORCHARD_ISA_ANE_ANE_COEFFICIENTS_H
#define ORCHARD_ISA_ANE_ANE_COEFFICIENTS_H

#include "isa/ane/ane_task.h"

/* The dense weights of a convolution as fp16 bits: weight[out][in within group][kernel_height][kernel_width], bias[out] or NULL.
 * Shapes, formats, palette and sparsity are those of the task, whose channels_in and channels_out count the channels of all
 * groups together. int8 weights are whole numbers here. */
struct ane_weights {
    uint16_t *weight;   /* owned */
    uint16_t *bias;     /* owned, NULL = none */
    size_t per_channel; /* weights of one output channel */
    size_t channels;
    uint64_t nonzero; /* of the weights */
};
/* Reads the banks of a task; false when a bank is shorter than its contents. Free with ane_weights_free. */
bool ane_weights_unpack(const struct ane_task *task, const uint8_t *coefficients, size_t bytes, struct ane_weights *weights,
                        struct isa_error *error);
void ane_weights_free(struct ane_weights *weights);
/* Lays weights out in the format of the task after the `used` bytes of a pack, which grows, and sets the task's banks. The
 * task's channel_group_log2, strides and small_source decide the order, so they must be set before. int8 weights must be whole
 * numbers in range; the caller puts their scale into post_scale. A palette is one codebook for all banks, with the weights' own
 * values when they are few enough, else with the centres of clusters. Zero weights of sparse banks take no room. */
struct ane_pack {
    uint8_t *bytes; /* owned by the caller */
    size_t used, room;
};
bool ane_weights_pack(struct ane_task *task, const uint16_t *weight, const uint16_t *bias, struct ane_pack *pack,
                      struct isa_error *error);
/* The same for weights without values: the banks have their sizes and places, and nothing but zeros. Not for sparse ones, whose
 * size hangs on values. */
bool ane_weights_reserve(struct ane_task *task, struct ane_pack *pack, struct isa_error *error);

/* An activation table: 64 halfwords in one bank. y is interpolated between knots at x * 2^spacing_log2. At or below `low` it is
 * `below`, at or above `high` it is `above`; between a clamp and the knots it is the line slope * x + intercept. Tables without
 * knots use the left line at x <= 0 (the step of ceil.bin needs 0 there). Bits 0x60 of a mode mean an odd function, which is read
 * at |x|, so fraction and integer part are those toward zero. */
#define ANE_TABLE_HALVES 64u
#define ANE_TABLE_KNOTS  33u
enum ane_table_mode {
    ANE_TABLE_CENTRED = 0x01,
    ANE_TABLE_RIGHT = 0x02,
    ANE_TABLE_EXP2 = 0x0a,
    ANE_TABLE_ODD = 0x60,
    ANE_TABLE_FRACTION = 0x63,
    ANE_TABLE_INTEGER = 0x64,
    ANE_TABLE_RECIPROCAL = 0x67,
    ANE_TABLE_SQRT = 0xc5,
    ANE_TABLE_RSQRT = 0xc6,
    ANE_TABLE_LOG2 = 0xc9
};
struct ane_table {
    uint16_t low, high;    /* clamps of x */
    uint16_t below, above; /* y there */
    uint16_t knot[ANE_TABLE_KNOTS];
    uint16_t left_slope, left_intercept, right_slope, right_intercept;
    int16_t spacing_log2; /* knots are 2^-spacing_log2 apart; 0x40 = tails only, they meet at x = 0 */
    uint16_t mode;        /* enum ane_table_mode */
};
bool ane_table_mode_is_known(uint16_t mode);
bool ane_table_read(const uint8_t *bytes, size_t size, struct ane_table *table, struct isa_error *error);
void ane_table_write(const struct ane_table *table, uint8_t bytes[2 * ANE_TABLE_HALVES]);
/* The name of the function that the table holds ("tanh", "gelu", "exp2" ...): that of the library table which it equals within
 * rounding; NULL when there is none. */
const char *ane_table_name(const struct ane_table *table);
/* The parameter of that function (the slope of leaky_relu, the bound of hardtanh ...); NAN when it has none. */
double ane_table_alpha(const struct ane_table *table);
/* Makes a table of the library by name (relu6, leaky_relu, elu, selu, gelu, sigmoid, sigmoid_half, tanh, exp2, log2, sqrt, rsqrt,
 * reciprocal, sign ...). alpha is for functions with a parameter; NAN stands for its usual value. False when there is no such
 * name. */
bool ane_table_make(const char *name, double alpha, struct ane_table *table);
/* The names of the library in order, with what the functions compute; NULL past the end. */
const char *ane_table_at(size_t index, const char **text);

#endif
