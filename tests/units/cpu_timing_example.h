/* Running blocks on a core without caches and reading what they took, for suites. */
#ifndef ORCHARD_TESTS_UNITS_CPU_TIMING_EXAMPLE_H
#define ORCHARD_TESTS_UNITS_CPU_TIMING_EXAMPLE_H

#include "tests/support/suite.h"
#include "tests/units/cpu_example.h"

#include <math.h>

#define NONE A64_DEP_NONE

struct result {
    double cycles, stall[CPU_STALL_COUNT];
    uint64_t instructions, branches, mispredicts;
};

static inline struct result result_of(const struct cpu_timing *timing)
{
    struct result r;
    cpu_timing_stalls(timing, r.stall, &r.cycles);
    r.instructions = cpu_timing_instructions(timing);
    r.branches = cpu_timing_branches(timing, &r.mispredicts);
    double sum = 0;
    for (int i = 0; i < CPU_STALL_COUNT; i++)
        sum += r.stall[i];
    CHECK(sum == r.cycles, "stalls add up to %.0f of %.0f cycles", sum, r.cycles);
    const double ns = cpu_timing_done_at(timing);
    CHECK(fabs(ns * EXAMPLE_P_GHZ - r.cycles) < 1e-3 + 1e-9 * r.cycles, "%.3f ns, %.0f cycles", ns, r.cycles);
    return r;
}

/* Runs a block `times` times with the same addresses. */
static inline struct result run(const struct cpu_params *params, const struct cpu_block *block, unsigned times,
                                const uint64_t *address)
{
    struct cpu_timing *timing = cpu_timing_create(params, NULL, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(timing);
    struct cpu_trace trace = {0};
    for (unsigned i = 0; i < times; i++)
        CU_ASSERT_TRUE_FATAL(example_trace_add(&trace, block, address));
    cpu_timing_feed(timing, &trace);
    CU_ASSERT_TRUE(cpu_timing_pending(timing));
    cpu_timing_advance(timing, 1e300);
    CU_ASSERT_FALSE(cpu_timing_pending(timing));
    const struct result r = result_of(timing);
    CU_ASSERT_EQUAL(r.instructions, (uint64_t)times * block->count);
    cpu_timing_free(timing);
    example_trace_free(&trace);
    return r;
}

static inline void check_near(const char *what, double got, double want, double tolerance)
{
    CHECK(fabs(got - want) <= tolerance * want, "%s: %.4f, expected %.4f", what, got, want);
}

#endif
