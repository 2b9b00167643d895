/* Blocks that are skipped take no time, count as blocks that are timed, and leave caches, translations and the branch predictor
 * as these do: what is timed afterwards takes as long as after a timed past. So do blocks whose accesses are made later, of
 * which the earliest never are.
 */
#include "tests/units/cpu_timing_rig.h"

#include <math.h>

#define NONE   A64_DEP_NONE
#define MIB    (UINT64_C(1) << 20)
#define BLOCKS 6

static unsigned pick(uint64_t *seed, unsigned n)
{
    return (unsigned)(suite_random(seed) % n);
}

/* A loop that reads, calculates and writes: four loads and a store of 16 bytes in each block, branches at its end. */
static void make_blocks(struct example_block block[BLOCKS])
{
    for (uint32_t i = 0; i < BLOCKS; i++) {
        example_block_init(&block[i], i, 0x4000 + 0x100 * i);
        for (unsigned k = 0; k < 4; k++) {
            example_load(&block[i], A64_C_LOAD_V, 32 + k, k, 16);
            example_add(&block[i], A64_C_FP_FMA, 36 + k, 32 + k, 36 + k);
        }
        example_store(&block[i], 36, 5, 16);
        example_add(&block[i], A64_C_BRANCH_COND, NONE, 0, NONE);
    }
}

/* `reach` bytes are walked through again and again, or jumped into (`scatter`). */
static void walk(struct cpu_trace *trace, const struct example_block block[BLOCKS], uint64_t *seed, unsigned times,
                 uint64_t reach, bool scatter)
{
    for (unsigned t = 0; t < times; t++) {
        const unsigned which = pick(seed, 10) ? t % 3 : pick(seed, BLOCKS);
        const uint64_t at = scatter ? pick(seed, (unsigned)(reach / 16)) * UINT64_C(16) : t * UINT64_C(16) % reach;
        const uint64_t address[5] = {16 * MIB + at, 48 * MIB + at, 80 * MIB + at / 2, 112 * MIB + at / 4, 144 * MIB + at};
        CU_ASSERT_TRUE_FATAL(example_trace_add(trace, &block[which].block, address));
    }
}

struct past {
    uint64_t instructions, branches, mispredicted;
    struct mem_counters mem;
    struct activity activity;
    double future_cycles; /* of a second trace */
};

static void time_trace(const struct rig *r, const struct cpu_trace *trace)
{
    cpu_timing_feed(r->timing, trace);
    while (cpu_timing_pending(r->timing))
        cpu_timing_advance(r->timing, INFINITY);
}

/* What happens to the first trace. A deferred one is skipped; of its accesses those that came last are made in the end. */
enum how { TIMED, SKIPPED, DEFERRED };

static struct past past_of(const struct cpu_trace *first, const struct cpu_trace *second, enum how how)
{
    struct rig r = example_rig();
    struct past p = {.instructions = 0};
    cpu_timing_defer(r.timing, how == DEFERRED);
    if (how != TIMED) {
        const double now = cpu_timing_now(r.timing), done = cpu_timing_done_at(r.timing);
        cpu_timing_feed(r.timing, first);
        cpu_timing_skip(r.timing);
        cpu_timing_catch_up(r.timing);
        CU_ASSERT_FALSE(cpu_timing_pending(r.timing));
        CU_ASSERT_EQUAL(cpu_timing_now(r.timing), now);
        CU_ASSERT_EQUAL(cpu_timing_done_at(r.timing), done);
    } else {
        time_trace(&r, first);
    }
    p.instructions = cpu_timing_instructions(r.timing);
    p.branches = cpu_timing_branches(r.timing, &p.mispredicted);
    mem_port_counters(r.port, &p.mem);
    mem_system_take_activity(r.system, &p.activity);
    cpu_timing_take_activity(r.timing, &p.activity);
    mem_system_restart(r.system, 0);
    cpu_timing_restart(r.timing, 0);
    if (how != TIMED)
        mem_port_resume(r.port, 0);
    time_trace(&r, second);
    p.future_cycles = cpu_timing_done_at(r.timing);
    rig_free(&r);
    return p;
}

static bool close_to(uint64_t a, uint64_t b, double share, double slack)
{
    return fabs((double)a - (double)b) <= share * (double)b + slack;
}

static void compare_with(const char *what, const struct past *skipped, const struct past *timed)
{
    CU_ASSERT_EQUAL(skipped->instructions, timed->instructions);
    CU_ASSERT_EQUAL(skipped->branches, timed->branches);
    CU_ASSERT_EQUAL(skipped->mispredicted, timed->mispredicted);
    for (int i = 0; i < ACT_COUNT; i++)
        if (strncmp(activity_name((enum activity_event)i), "CPU_", 4) == 0)
            CHECK(skipped->activity.count[i] == timed->activity.count[i], "%s: %s", what, activity_name((enum activity_event)i));
    CHECK(close_to(skipped->mem.tlb_misses, timed->mem.tlb_misses, 0.01, 2), "%s: page walks %llu, timed %llu", what,
          (unsigned long long)skipped->mem.tlb_misses, (unsigned long long)timed->mem.tlb_misses);
    for (int i = ACT_DRAM_READ_BYTES; i <= ACT_DRAM_WRITE_BYTES; i++)
        CHECK(close_to(skipped->activity.count[i], timed->activity.count[i], 0.02, 65536), "%s: %s %llu, timed %llu", what,
              activity_name((enum activity_event)i), (unsigned long long)skipped->activity.count[i],
              (unsigned long long)timed->activity.count[i]);
    CHECK(fabs(skipped->future_cycles / timed->future_cycles - 1) < 0.02, "%s: then %.0f ns, after a timed past %.0f", what,
          skipped->future_cycles, timed->future_cycles);
}

static void compare(const char *what, uint64_t reach, bool scatter)
{
    struct example_block block[BLOCKS];
    struct cpu_trace first = {0}, second = {0};
    uint64_t seed = reach + scatter;
    make_blocks(block);
    walk(&first, block, &seed, 60000, reach, scatter);
    walk(&second, block, &seed, 30000, reach, scatter);
    const struct past timed = past_of(&first, &second, TIMED), skipped = past_of(&first, &second, SKIPPED),
                      deferred = past_of(&first, &second, DEFERRED);
    compare_with(what, &skipped, &timed);
    compare_with(what, &deferred, &timed);
    example_trace_free(&first);
    example_trace_free(&second);
}

static void test_l1(void)
{
    compare("in L1", 16384, false);
    compare("scattered in L1", 8192, true);
}

static void test_l2(void)
{
    compare("in L2", MIB, false);
    compare("scattered in L2", MIB, true);
}

static void test_dram(void)
{
    compare("streams", 32 * MIB, false);
    compare("scattered", 32 * MIB, true);
}

/* Time that stands still for skipped accesses goes on for others. */
static void test_time_goes_on(void)
{
    struct rig r = example_rig();
    mem_port_stop(r.port, true);
    for (unsigned i = 0; i < 1000; i++)
        CU_ASSERT_EQUAL(mem_port_access(r.port, 5, 64 * MIB + i * 4096, 16, MEM_ACCESS_LOAD, 0).ready_ns, 5);
    mem_port_stop(r.port, false);
    const struct mem_reply far = mem_port_access(r.port, 5, 128 * MIB, 16, MEM_ACCESS_LOAD, 0);
    CHECK(far.level == MEM_DRAM && far.ready_ns > 5 + mem_port_l1_latency_ns(r.port), "%g ns", far.ready_ns);
    const double alone = far.ready_ns - 5;
    rig_free(&r);
    struct rig fresh = example_rig();
    CU_ASSERT_DOUBLE_EQUAL(mem_port_access(fresh.port, 5, 128 * MIB, 16, MEM_ACCESS_LOAD, 0).ready_ns - 5, alone, 1e-9);
    rig_free(&fresh);
}

/* Time of work that was skipped goes by as if it had been timed: behind what was done, by reason, to the cycle. */
static void test_passes(void)
{
    struct rig r = example_rig();
    struct example_block block[BLOCKS];
    struct cpu_trace trace = {0};
    uint64_t seed = 5;
    double before[CPU_STALL_COUNT], after[CPU_STALL_COUNT], cycles, total, sum = 0;
    const double shares[CPU_STALL_COUNT] = {[CPU_STALL_PORTS] = 3, [CPU_STALL_L2] = 1};
    make_blocks(block);
    walk(&trace, block, &seed, 100, MIB, false);
    time_trace(&r, &trace);
    const double done = cpu_timing_done_at(r.timing);
    cpu_timing_stalls(r.timing, before, &cycles);
    for (unsigned i = 0; i < 10; i++)
        cpu_timing_pass(r.timing, 100, shares);
    cpu_timing_stalls(r.timing, after, &total);
    CHECK(fabs(cpu_timing_done_at(r.timing) - done - 1000) < 10 * 0.5 / example_cpu().clock_ghz + 1e-9, "%g ns",
          cpu_timing_done_at(r.timing) - done);
    CU_ASSERT_DOUBLE_EQUAL(cpu_timing_now(r.timing), cpu_timing_done_at(r.timing), 1);
    for (int i = 0; i < CPU_STALL_COUNT; i++)
        sum += after[i];
    CU_ASSERT_DOUBLE_EQUAL(sum, total, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(after[CPU_STALL_PORTS] - before[CPU_STALL_PORTS], 0.75 * (total - cycles), 10);
    CU_ASSERT_DOUBLE_EQUAL(after[CPU_STALL_L2] - before[CPU_STALL_L2], 0.25 * (total - cycles), 10);
    example_trace_free(&trace);
    rig_free(&r);
}

static const struct suite_test tests[] = {
    {"time of skipped work passes", test_passes},
    {"a past in L1 can be skipped", test_l1},
    {"a past in L2 can be skipped", test_l2},
    {"a past in DRAM can be skipped", test_dram},
    {"time goes on after it stood still", test_time_goes_on},
};
SUITE_MAIN("cpu_timing_skip", tests)
