/* Programs that process a matrix of rows x columns row by row: a team of threads per row, passes over its elements, results
 * combined over the team.
 *
 * A team is one simdgroup for short rows and whole threadgroups for longer ones. Rows of up to GPU_ROWS_HELD elements per thread
 * are read once and stay in registers; longer ones are read again in every pass. Threads take four neighbours at a time where the
 * columns are a multiple of four.
 */
#ifndef ORCHARD_UNITS_GPU_KERNELS_GPU_ROWS_H
#define ORCHARD_UNITS_GPU_KERNELS_GPU_ROWS_H

#include "units/gpu/kernels/gpu_emit.h"

#define GPU_ROWS_HELD     8U
#define GPU_ROWS_TEAM_MAX 1024U

struct gpu_rows {
    struct gpu_emit *e;
    enum gpu_type type;
    uint32_t rows, columns;
    struct gpu_base in;
    unsigned team;   /* threads per row */
    unsigned wide;   /* neighbours per load */
    unsigned chunks; /* loads per thread that stay in registers; 0: the row is read again in every pass */
    unsigned parts;  /* threadgroups that share a row, each taking every parts-th piece; 1 unless requested otherwise */
    /* Registers. */
    unsigned row;    /* which row */
    unsigned start;  /* index of its first element */
    unsigned column; /* in a pass: first column of the chunk */
    unsigned first;  /* this thread's first column */
    unsigned lane;   /* in the simdgroup */
    unsigned simdgroup;
    unsigned value; /* elements as float32 */
    unsigned index; /* start + column, for memory */
    unsigned scratch;
};

/* What to do with `count` elements in registers value, value + 1, ... of columns r->column, ...; in memory of the same shape they
 * are at r->index. */
typedef void gpu_rows_chunk(struct gpu_rows *r, void *context, unsigned value, unsigned count);

/* Chooses the team. The caller sets rows, columns, type (and parts) before. */
void gpu_rows_plan(struct gpu_rows *r);
/* Finds the place of each thread, begins the mask over rows that exist, and reads what stays in registers. r->e and r->in are
 * set. */
void gpu_rows_begin(struct gpu_rows *r);
void gpu_rows_pass(struct gpu_rows *r, gpu_rows_chunk *chunk, void *context);
/* value = reduction (as gpu_simd_reduce) over the team, in all its threads. `identity`: bits of the neutral value. */
void gpu_rows_combine(struct gpu_rows *r, const char *op, unsigned value, uint32_t identity);
/* Continues in the team's first thread only, up to gpu_endif. */
void gpu_rows_first_thread(struct gpu_rows *r);
/* Narrows and stores a chunk to memory of the same shape. */
void gpu_rows_store(struct gpu_rows *r, unsigned value, unsigned count, struct gpu_base out);
/* Closes the mask and sets the grid. */
void gpu_rows_end(struct gpu_rows *r);

#endif
