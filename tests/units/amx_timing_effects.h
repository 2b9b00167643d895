/* Effects of AMX instructions written out by hand, for suites of the timing. */
#ifndef ORCHARD_TESTS_UNITS_AMX_TIMING_EFFECTS_H
#define ORCHARD_TESTS_UNITS_AMX_TIMING_EFFECTS_H

#include "tests/support/suite.h"
#include "tests/units/amx_timing_example.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct amx_params m1 = AMX_EXAMPLE_PARAMS(2.904, 12, 64);

static inline uint64_t class_rows(unsigned step, unsigned row)
{
    uint64_t rows = 0;
    for (unsigned r = row; r < 64; r += step)
        rows |= UINT64_C(1) << r;
    return rows;
}

static inline struct amx_effect compute(enum amx_unit_class unit_class, enum amx_element x, enum amx_element z, uint64_t rows)
{
    return (struct amx_effect){.unit_class = unit_class,
                               .x_element = x,
                               .y_element = x,
                               .z_element = z,
                               .x_read = 1,
                               .y_read = 1,
                               .z_read = rows,
                               .z_write = rows,
                               .macs = 64,
                               .z_rows_written = (uint32_t)__builtin_popcountll(rows)};
}

static inline struct amx_effect load(uint8_t x, uint32_t bytes)
{
    return (struct amx_effect){.unit_class = AMX_CLASS_LOAD, .x_write = x, .memory_bytes = bytes};
}

static inline struct amx_effect store_row(unsigned row)
{
    return (struct amx_effect){.unit_class = AMX_CLASS_STORE, .z_read = UINT64_C(1) << row, .memory_bytes = 64};
}

static inline void check_near(const char *what, double value, double published, double tolerance)
{
    CHECK(fabs(value - published) <= tolerance * published, "%s: %.4f, published %.4f", what, value, published);
}

static inline double reason_share(struct amx_block *block, enum amx_stall reason)
{
    double cycles[AMX_STALL_COUNT], total;
    amx_block_stalls(block, 0, cycles, &total);
    return cycles[reason] / total;
}

static inline double load_rate_from(const struct amx_params *params, uint64_t start, uint32_t bytes, uint64_t stride)
{
    enum { LOADS = 10000 };
    struct amx_block *block = amx_block_create(params, 1);
    const struct amx_effect e = load(1, bytes);
    double now = 0;
    for (uint64_t i = 0; i < LOADS; i++)
        now = amx_block_send(block, 0, now, AMX_LDX, start + (i * stride & 0x3ffff), &e);
    const double rate = LOADS / amx_block_idle_at(block, 0);
    amx_block_free(block);
    return rate;
}

static inline double load_rate(const struct amx_params *params, uint32_t bytes, uint64_t stride)
{
    return load_rate_from(params, 0, bytes, stride);
}

#endif
