/* An AMX core with memory of its own, random operands, and the kernel sets and plain outer products that tests go
 * through. */
#ifndef ORCHARD_TESTS_UNITS_AMX_MACHINE_H
#define ORCHARD_TESTS_UNITS_AMX_MACHINE_H

#include "isa/array_count.h"
#include "tests/support/suite.h"
#include "units/amx/amx_core.h"

#include <stdbool.h>
#include <string.h>

#define BLOCK_BYTES 16384 /* one page: what lies behind faults */
#define BIT(n)      (UINT64_C(1) << (n))
#define SET_COUNT   4

static const char *const set_names[SET_COUNT] = {"avx512fp16", "avx512", "avx2", "portable"};

/* One core with memory of its own. */
struct machine {
    struct mem_space *space;
    struct amx_core *core;
    uint64_t block;
    uint8_t *bytes;
};

static inline bool open_machine(struct machine *m, enum amx_gen gen, const char *set)
{
    memset(m, 0, sizeof *m);
    m->space = mem_space_create(16 * MEM_PAGE_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m->space);
    m->core = set ? amx_core_create_named(gen, m->space, set) : amx_core_create(gen, m->space, AMX_PATH_REFERENCE);
    if (!m->core) {
        mem_space_free(m->space);
        return false;
    }
    m->block = mem_space_alloc(m->space, BLOCK_BYTES, 256);
    m->bytes = mem_at(m->space, m->block, BLOCK_BYTES, MEM_READ | MEM_WRITE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m->bytes);
    return true;
}

static inline void close_machine(struct machine *m)
{
    amx_core_free(m->core);
    mem_space_free(m->space);
}

/* --- random data --- */

/* Lanes of one width: a quarter are zeros, denormals, limits, infinities and NaNs of both kinds and signs, the rest lie
 * around 1, so that sums round in many ways before they overflow. */
static inline void fill_lanes(uint8_t *bytes, size_t count, unsigned exponent_bits, unsigned fraction_bits, uint64_t *seed)
{
    const unsigned width = 1 + exponent_bits + fraction_bits;
    const uint64_t bias = (UINT64_C(1) << (exponent_bits - 1)) - 1, top = (UINT64_C(1) << exponent_bits) - 1;
    const uint64_t fraction_mask = (UINT64_C(1) << fraction_bits) - 1;
    for (size_t at = 0; at < count; at += width / 8) {
        const uint64_t r = suite_random(seed);
        const uint64_t special[8][2] = {{0, 0},
                                        {0, 1},
                                        {0, fraction_mask},
                                        {1, 0},
                                        {top - 1, fraction_mask},
                                        {top, 0},
                                        {top, 1},
                                        {top, (fraction_mask >> 1) + 1 + (r >> 60)}};
        uint64_t exponent = bias - 4 + (r & 7), fraction = (r >> 8) & fraction_mask;
        if ((r >> 62) == 0) {
            exponent = special[(r >> 3) & 7][0];
            fraction = special[(r >> 3) & 7][1];
        }
        const uint64_t lane = (r >> 6 & 1) << (width - 1) | exponent << fraction_bits | fraction;
        memcpy(bytes + at, &lane, width / 8);
    }
}

static inline void fill(uint8_t *bytes, size_t count, unsigned kind, uint64_t *seed)
{
    switch (kind % 5) {
    case 0: fill_lanes(bytes, count, 5, 10, seed); break;
    case 1: fill_lanes(bytes, count, 8, 7, seed); break;
    case 2: fill_lanes(bytes, count, 8, 23, seed); break;
    case 3: fill_lanes(bytes, count, 11, 52, seed); break;
    default:
        for (size_t at = 0; at < count; at++)
            bytes[at] = (uint8_t)(suite_random(seed) >> 32);
    }
}

/* --- outer products --- */

static const struct {
    unsigned op;
    uint64_t mode;
} plain[] = {
    {AMX_FMA64, 0},
    {AMX_FMA32, 0},
    {AMX_FMA16, 0},
    {AMX_FMA16, BIT(62)},
    {AMX_MATFP, UINT64_C(0) << 42},
    {AMX_MATFP, UINT64_C(1) << 42},
    {AMX_MATFP, UINT64_C(2) << 42},
    {AMX_MATFP, UINT64_C(3) << 42},
    {AMX_MATFP, UINT64_C(4) << 42},
    {AMX_MATFP, UINT64_C(7) << 42},
    {AMX_MAC16, 0},
    {AMX_MAC16, BIT(62)},
    {AMX_MAC16, BIT(60) | BIT(61)},
    {AMX_MAC16, BIT(60) | BIT(62)},
    {AMX_MAC16, BIT(61)},
    {AMX_MATINT, 0},
    {AMX_MATINT, BIT(63) | BIT(26) | UINT64_C(3) << 42},
    {AMX_MATINT, UINT64_C(8) << 47 | UINT64_C(10) << 42},
    {AMX_MATINT, UINT64_C(8) << 47 | BIT(26)},
    {AMX_MATINT, UINT64_C(8) << 47 | BIT(63)},
    {AMX_MATINT, UINT64_C(8) << 47 | UINT64_C(10) << 42 | BIT(63) | BIT(26)},
    {AMX_MATINT, UINT64_C(8) << 47 | UINT64_C(12) << 42},
    {AMX_FMS32, 0},
    {AMX_FMS16, BIT(62)},
    {AMX_FMS64, 0},
};
#define PLAIN_COUNT (ARRAY_COUNT(plain))

/* --- comparison --- */

static inline bool same_state(struct machine *a, struct machine *b)
{
    struct amx_state sa, sb;
    amx_core_read_state(a->core, &sa);
    amx_core_read_state(b->core, &sb);
    return memcmp(&sa, &sb, sizeof sa) == 0 && memcmp(a->bytes, b->bytes, BLOCK_BYTES) == 0;
}

static inline void start(struct machine *m, const struct amx_state *state, const uint8_t memory[BLOCK_BYTES])
{
    amx_core_write_state(m->core, state);
    memcpy(m->bytes, memory, BLOCK_BYTES);
}

/* test_avx512fp16 ... : `compare` with the name of each kernel set, a test of its own each. */
#define AMX_SET_TEST(set, compare)                                                                                               \
    static void test_##set(void)                                                                                                 \
    {                                                                                                                            \
        compare(#set);                                                                                                           \
    }
/* clang-format off */
#define AMX_SET_TESTS(compare) \
    AMX_SET_TEST(avx512fp16, compare) \
    AMX_SET_TEST(avx512, compare) \
    AMX_SET_TEST(avx2, compare) \
    AMX_SET_TEST(portable, compare)
/* clang-format on */

/* The reference and a kernel set beside each other, on the same block. False, and the suite skips, when the host lacks the set.
 */
static inline bool open_machine_pair(struct machine *reference, struct machine *fast, enum amx_gen gen, const char *set)
{
    CU_ASSERT_TRUE_FATAL(open_machine(reference, gen, NULL));
    if (!open_machine(fast, gen, set)) {
        close_machine(reference);
        suite_skip(set);
        return false;
    }
    CU_ASSERT_EQUAL(reference->block, fast->block);
    return true;
}

#endif
