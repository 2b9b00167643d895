/* What the parts of gemm's tile program share. */
#ifndef ORCHARD_UNITS_GPU_KERNELS_GPU_GEMM_TILE_H
#define ORCHARD_UNITS_GPU_KERNELS_GPU_GEMM_TILE_H

#include "units/gpu/kernels/gpu_gemm.h"

enum {
    GEMM_FOUR = 4,
    GEMM_DEPTH = 16,      /* of k: size of the fragments held at a time */
    GEMM_STEP_BYTES = 64, /* of k */
    GEMM_SEGMENT_BYTES = 128,
    GEMM_PASSES_MAX = 4,
    GEMM_THREADS = 128,
    GEMM_BUFFERS = 2 /* of blocks in threadgroup memory: one is filled while the other is used */
};

/* A or B: `extent` rows (columns) of the result by k. A block in threadgroup memory has the order of device memory. */
struct gemm_operand {
    bool k_inner;                   /* neighbours in memory are neighbours along k */
    uint32_t extent, tile;          /* in all; per threadgroup */
    uint32_t inner, outer;          /* of a block: elements per line, and lines */
    uint32_t stride;                /* of lines in device memory */
    uint32_t pitch;                 /* in threadgroup memory, in elements */
    uint32_t address[GEMM_BUFFERS]; /* in threadgroup memory */
    bool shuffled;                  /* lines run along k, in the order of B's fragments */
    unsigned passes;                /* loads of four elements that each thread does for a block */
    unsigned segment; /* elements of a line that a pass takes: at most 128 bytes, so that its lanes store contiguously */
    unsigned index[GEMM_PASSES_MAX]; /* base + index is the source */
    struct gpu_base base;            /* register pair, advances with k */
    unsigned staged;                 /* half index of what is being loaded */
    unsigned put;                    /* half register: where this thread stores it, in elements */
    unsigned take[GEMM_FOUR]; /* half registers: where this lane's fragments are; one each when loaded element by element */
    unsigned edge;            /* place of this thread's four along the result; only if they can be cut */
    bool cut;                 /* whether they can */
    unsigned fragment;        /* half index */
};

struct gemm_tile {
    const struct gpu_gemm *g;
    struct gpu_emit *e;
    bool halves; /* operands are used as halves */
    bool far;    /* gpu_gemm_is_far */
    unsigned column_groups;
    unsigned acc;            /* [row_tiles][column_tiles] pairs */
    unsigned four_halves;    /* halves of four elements */
    unsigned wide_a, wide_b; /* bf16: the fragments of one matrix as words */
    struct gemm_operand a, b;
    unsigned row, column; /* of the result: first row of this lane's tile 0, first of its four columns of group 0 */
};

/* ---- gpu_gemm_place.c: registers, threadgroup memory, who does what ---- */

uint32_t gemm_element_bytes(const struct gpu_gemm *g);
/* Allocates all registers and finds all places; acc = 0. part = which part of k. */
void gemm_start(struct gemm_tile *t, unsigned part);
void gemm_free_operands(struct gemm_tile *t);
/* Derives batch and part of k from the grid's z. */
void gemm_find_batch(struct gemm_tile *t, unsigned batch, unsigned part);
/* Sets row and column. */
void gemm_find_result(struct gemm_tile *t);
uint32_t gemm_groups_across(const struct gpu_gemm *g);
uint32_t gemm_groups_down(const struct gpu_gemm *g);
/* Number of whole steps of every part of k. */
uint32_t gemm_part_steps(const struct gpu_gemm *g);
/* The rest of k beyond the whole steps. */
uint32_t gemm_rest_of_k(const struct gpu_gemm *g);
/* four = 4 * (which four of a line), and line: what this thread loads in the first pass. */
void gemm_thread_place(struct gpu_emit *e, const struct gemm_operand *o, unsigned four, unsigned line);
/* Number of elements before line `line` of a block in threadgroup memory. */
uint32_t gemm_line_place(const struct gemm_operand *o, uint32_t line);
/* First element and line of a pass, for thread 0. */
uint32_t gemm_pass_inner(const struct gemm_operand *o, unsigned pass);
uint32_t gemm_pass_line(const struct gemm_operand *o, unsigned pass);
uint32_t gemm_advance_elements(const struct gemm_tile *t, const struct gemm_operand *o);

/* ---- gpu_gemm_load.c: from device memory through registers into threadgroup memory ---- */

unsigned gemm_passes(const struct gemm_tile *t); /* of a step: of A, then of B */
void gemm_load_pass(struct gemm_tile *t, unsigned pass);
void gemm_advance(struct gemm_tile *t); /* to the next step */
void gemm_load_step(struct gemm_tile *t);
void gemm_load_rest(struct gemm_tile *t);
/* Waits for what was loaded and stores it to a buffer. */
void gemm_put_step(struct gemm_tile *t, unsigned buffer);

/* ---- gpu_gemm_result.c ---- */

void gemm_store_result(struct gemm_tile *t);

#endif
