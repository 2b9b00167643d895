/* What the files of the executing side share. Numbers pass between blocks as rows of float: every fp16 value, every product of
 * two and every sum of the rules fits.
 */
#ifndef ORCHARD_UNITS_ANE_ANE_INTERNAL_H
#define ORCHARD_UNITS_ANE_ANE_INTERNAL_H

#include "units/ane/ane_kernel_set.h"
#include "units/ane/ane_numeric.h"

/* An operand whose addresses have been checked: a host pointer to its first element, and strides in bytes. */
struct ane_view {
    uint8_t *first;
    enum ane_format format;
    uint64_t row, plane, group;
    uint32_t interleave;
    bool broadcast_width;
    float crop_gain; /* values are multiplied by this on the way; 0 = unchanged */
};

/* An activation table prepared for use. */
struct ane_lut {
    float low, high, below, above;
    float knot[ANE_TABLE_KNOTS];
    float left_slope, left_intercept, right_slope, right_intercept;
    float per_knot; /* knots per unit of x */
    bool tails_only;
    enum ane_table_mode mode;
};

struct ane_core {
    struct ane_numeric numeric;
    const struct ane_kernel_set *set;
    uint32_t l2_bytes;
    uint8_t *l2;
    float mac_limit;   /* the least float whose fp16 rounding reaches mac_overflow */
    float group_align; /* 2^(24 - mac_group_bits) */
    /* The ring between two tasks: a whole tensor, rows without gaps. A task may read one ring and write the next. */
    struct ane_ring {
        uint8_t *byte;
        uint64_t room, bytes; /* bytes 0 = not written yet */
        uint32_t base;
        enum ane_format format;
    } ring, next_ring;
    uint32_t *map; /* 65536 results of a one-operand task; bit 16: the table clamped */
};

/* One task of a run. */
struct ane_job {
    struct ane_core *core;
    const struct ane_request *request;
    const struct ane_task *task;
    uint64_t offset; /* of the descriptor */
    unsigned threads;
    struct ane_view source, second, result;
    uint32_t outer; /* groups processed as the outermost dimension; 1 for convolutions */
    struct ane_lut lut;
    const uint8_t *coefficients;
    uint64_t coefficient_bytes;
    struct ane_exec_counts *counts;
    struct unit_fault *fault;
};

bool ane_fault(struct ane_job *job, enum unit_fault_kind kind, uint64_t address, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool ane_fault_memory(struct ane_job *job);

/* Runs work(context, first, end) over [0, count) in at most `threads` contiguous parts. False when a part failed (memory). */
typedef bool (*ane_work)(void *context, uint64_t first, uint64_t end);
bool ane_parallel(unsigned threads, uint64_t count, ane_work work, void *context);

/* The number of host threads for storing rows: one where rows of the result may overlap, so that the order does not depend on
 * threads. For work from rows to rows: one also where the result may overlap a source. */
unsigned ane_store_threads(const struct ane_job *job);
unsigned ane_row_threads(const struct ane_job *job, uint64_t elements);

/* ---- ane_dma.c ---- */

/* Checks the operands of the task, makes the views and counts the bytes. */
bool ane_dma_open(struct ane_job *job);
/* The ring becomes full when its writer has ended, and empty when its reader has. */
void ane_dma_close(struct ane_job *job);
/* Loads a row as numbers; `mac` applies the rules of the MAC. */
void ane_dma_load(const struct ane_core *core, const struct ane_view *view, uint32_t group, uint32_t channel, uint32_t row,
                  uint32_t width, bool mac, float *to);
void ane_dma_store(const struct ane_core *core, const struct ane_view *view, uint32_t group, uint32_t channel, uint32_t row,
                   uint32_t width, const float *from);
/* The first byte of a row (interleave 1). */
uint8_t *ane_dma_row(const struct ane_view *view, uint32_t group, uint32_t channel, uint32_t row);

/* ---- engines: false = fault ---- */

bool ane_run_mac(struct ane_job *job);     /* convolution, matrix product */
bool ane_run_element(struct ane_job *job); /* element-wise work of the MAC engines */
bool ane_run_planar(struct ane_job *job);

/* Applies what follows the accumulator (or the source of an element-wise task): bias, scale, limit, nonlinearity. Returns how
 * many values a table clamped. */
uint64_t ane_finish_row(const struct ane_job *job, float channel_bias, float *value, uint32_t count);

/* Runs a task of one operand in which every result depends on one element. Large tasks go through a map of all fp16 values. */
typedef uint64_t (*ane_unary)(const struct ane_job *job, float *value, uint32_t count);
bool ane_run_unary(struct ane_job *job, ane_unary unary);

/* ---- ane_lut.c ---- */

/* Opens the table of the task, in bank 0. False = fault. */
bool ane_lut_open(struct ane_job *job);
float ane_lut_value(const struct ane_lut *lut, float x, bool *clamped);

#endif
