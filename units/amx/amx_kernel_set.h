/* Fast kernels for plain outer products: one set per host instruction set, chosen when a core is created.
 *
 * A kernel applies a batch of outer products to one accumulator, in order, with Z held in host registers. "Plain" means that
 * every lane is enabled, Z included, and that lanes are taken unchanged. A NaN in Z stays NaN through every following fused
 * multiply-add, so it suffices to replace NaN results by the default NaN once, at the end of a batch.
 */
#ifndef ORCHARD_UNITS_AMX_AMX_KERNEL_SET_H
#define ORCHARD_UNITS_AMX_AMX_KERNEL_SET_H

#include <stddef.h>
#include <stdint.h>

enum amx_outer {
    AMX_OUTER_NONE,
    AMX_OUTER_F64,
    AMX_OUTER_F32,
    AMX_OUTER_F16, /* f16 x f16 -> f16 */
    AMX_OUTER_F16_F32,
    AMX_OUTER_BF16, /* bf16 x bf16 -> bf16, one rounding */
    AMX_OUTER_BF16_F32,
    AMX_OUTER_I16,     /* 16 x 16 -> 16, modulo 2^16 */
    AMX_OUTER_I16_I32, /* signed 16 x signed 16 -> 32, modulo 2^32 */
    AMX_OUTER_I8_I16,  /* matint ALU 8 */
    AMX_OUTER_I8_I32,
    AMX_OUTER_COUNT
};

/* How integer kernels interpret their lanes. */
enum amx_outer_flag {
    AMX_X_SIGNED = 1,
    AMX_Y_SIGNED = 2, /* 8-bit kinds */
    AMX_X_LOW_BYTE = 4,
    AMX_Y_LOW_BYTE = 8 /* 16-bit kinds: the signed low byte of each lane */
};

/* The operands of one outer product: 64 bytes each, at any alignment. */
struct amx_pair {
    const uint8_t *x, *y;
};

/* `count` outer products, repeated in every further pass with operands x_step and y_step bytes further on. */
struct amx_batch {
    const struct amx_pair *pairs;
    unsigned count, passes; /* at least 1 */
    ptrdiff_t x_step, y_step;
    unsigned flags; /* enum amx_outer_flag */
};

/* z = 64 rows of 64 bytes, 64-byte aligned. The accumulator consists of the rows j*A + accumulator, where A is the number of
 * accumulators of the kind (8, 4, 2 or 1). */
typedef void amx_outer_kernel(uint8_t (*z)[64], unsigned accumulator, const struct amx_batch *batch);

/* z += x*y on one row of 64 bytes, lane by lane; NaN results become the default NaN. */
typedef void amx_row_kernel(uint8_t *z, const uint8_t *x, const uint8_t *y);

struct amx_dispatch;

struct amx_kernel_set {
    const char *name;
    const struct amx_dispatch *dispatch;      /* instruction handlers built for the same host (amx_core_state.h) */
    amx_row_kernel *row[AMX_OUTER_F16 + 1];   /* of F64, F32 and F16 only; NULL as below */
    amx_outer_kernel *outer[AMX_OUTER_COUNT]; /* NULL: there is no fast kernel, and the plain implementation runs */
};

/* The best set of this host; the portable one runs everywhere. */
const struct amx_kernel_set *amx_kernel_set_best(void);
const struct amx_kernel_set *amx_kernel_set_portable(void);
/* The set with that name if this host can run it, NULL otherwise (tests and benchmarks compare sets). */
const struct amx_kernel_set *amx_kernel_set_named(const char *name);

#endif
