/* Counts by instruction: they change no time, and they add up to what the timing says of the whole launch. */
#include "isa/array_count.h"
#include "tests/units/gpu_timing_example.h"

#include <math.h>
#include <stdio.h>

static const struct example_launch launches[] = {
    {.text = "fadd32 r1, r1, r2\nimadd r3, r1, r2, 0\nrcp r4, r3\nfmul32 r5, r4, r1\nstop",
     .simds = 4,
     .groups = 40,
     .loops = 50},
    {.text = "device_load 0, i32, x, r1, u0_u1, r0, unsigned\nwait 0\nfadd32 r2, r1, r2\n"
             "device_store 1, i32, x, r2, u2_u3, r0, unsigned, 0\nstop",
     .simds = 2,
     .groups = 60,
     .loops = 40,
     .footprint = 1 << 16},
    {.text = "threadgroup_store i32, x, r1, 0, r0l\nthreadgroup_barrier\nthreadgroup_load i32, x, r2, 0, r0l\n"
             "fadd32 r1, r1, r2\nthreadgroup_barrier\nstop",
     .simds = 8,
     .groups = 30,
     .loops = 20,
     .threadgroup_bytes = 4096,
     .passes = 3},
    {.text = ".repeat 200\niadd r{i%8+1}, r{i%8+1}, r10\n.end\nstop", .simds = 1, .groups = 9, .loops = 6},
    {.text = "device_load 0, i32, x, r1, u0_u1, r0, unsigned\nwait 0\nstop",
     .simds = 4,
     .groups = 30,
     .loops = 30,
     .footprint = 1 << 16,
     .shared_lines = 8},
};

/* The cycles that a profile gives to a reason. */
static double cycles_of(const struct gpu_profile *p, unsigned reason)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->count; i++)
        sum += p->row[i].cycles[reason];
    return sum;
}

static void check_sums(const struct example_launch *launch, const struct gpu_profile *p, const struct example_run *run)
{
    double issues = 0;
    for (uint32_t i = 0; i < p->count; i++)
        issues += (double)p->row[i].issues;
    CHECK(issues == run->instructions, "%s: %.0f of %.0f instructions", launch->text, issues, run->instructions);
    CU_ASSERT_EQUAL(run->activity.count[ACT_GPU_INSTRUCTIONS], (uint64_t)issues);
    for (unsigned r = 0; r < GPU_STALL_COUNT; r++) {
        const double own = r == GPU_STALL_LAUNCH ? p->idle_cycles : cycles_of(p, r);
        double stalls = 0;
        for (unsigned core = 0; core < launch->cores; core++)
            stalls += 4 * run->stall[core][r];
        CHECK(fabs(own - stalls) < 1e-6 * fmax(1, stalls), "%s: %s %g, stalls say %g", launch->text,
              gpu_stall_name((enum gpu_stall)r), own, stalls);
    }
}

static void test_sums(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(launches); i++)
        for (unsigned cores = 1; cores <= 3; cores += 2) {
            struct example_launch launch = launches[i];
            struct gpu_profile profile;
            launch.cores = cores;
            const struct example_run without = example_run(&launch);
            launch.profile = &profile;
            const struct example_run with = example_run(&launch);
            CU_ASSERT_FALSE_FATAL(with.failed || without.failed);
            CHECK(with.cycles == without.cycles, "%s: %.17g cycles, profiled %.17g", launch.text, without.cycles, with.cycles);
            CU_ASSERT_EQUAL(memcmp(&with.activity, &without.activity, sizeof with.activity), 0);
            for (unsigned core = 0; core < cores; core++)
                CU_ASSERT_EQUAL(memcmp(with.stall[core], without.stall[core], sizeof with.stall[core]), 0);
            check_sums(&launch, &profile, &with);
            gpu_profile_free(&profile);
        }
}

static struct gpu_profile profile_of(size_t number)
{
    struct example_launch launch = launches[number];
    struct gpu_profile profile = {.count = 0};
    launch.cores = 1;
    launch.profile = &profile;
    CU_ASSERT_FALSE(example_run(&launch).failed);
    return profile;
}

/* Waits stand at the instruction that waits. */
static void test_places(void)
{
    struct gpu_profile p = profile_of(1);
    CU_ASSERT_FATAL(p.count == 5);
    CU_ASSERT(p.row[1].cycles[GPU_STALL_MEMORY] > 0.9 * cycles_of(&p, GPU_STALL_MEMORY));
    CU_ASSERT_EQUAL(p.row[2].cycles[GPU_STALL_MEMORY], 0);
    gpu_profile_free(&p);
    p = profile_of(2);
    CU_ASSERT(p.row[1].cycles[GPU_STALL_BARRIER] + p.row[4].cycles[GPU_STALL_BARRIER] > 0);
    CU_ASSERT(p.row[3].cycles[GPU_STALL_THREADGROUP_MEMORY] > 0); /* needs what the load brings */
    gpu_profile_free(&p);
}

static void test_accesses(void)
{
    struct gpu_profile p = profile_of(1);
    CU_ASSERT_EQUAL(p.row[0].accesses, p.row[0].issues);
    CU_ASSERT_EQUAL(p.row[0].units, p.row[0].accesses);
    CU_ASSERT_EQUAL(p.row[0].least_units, p.row[0].accesses);
    CU_ASSERT_EQUAL(p.row[2].accesses, 0);
    gpu_profile_free(&p);
    p = profile_of(4); /* 128 bytes in 8 lines */
    CU_ASSERT_EQUAL(p.row[0].units, 8 * p.row[0].accesses);
    CU_ASSERT_EQUAL(p.row[0].least_units, p.row[0].accesses);
    gpu_profile_free(&p);
    p = profile_of(2); /* three passes */
    CU_ASSERT_EQUAL(p.row[0].units, 3 * p.row[0].accesses);
    CU_ASSERT_EQUAL(p.row[0].least_units, p.row[0].accesses);
    CU_ASSERT_EQUAL(p.row[2].units, 3 * p.row[2].accesses);
    CU_ASSERT_EQUAL(p.row[2].lanes, 32 * p.row[2].issues);
    gpu_profile_free(&p);
}

static void test_arithmetic(void)
{
    struct gpu_profile a, b;
    CU_ASSERT_FATAL(gpu_profile_create(&a, 2) && gpu_profile_create(&b, 2));
    b.row[1] = (struct gpu_profile_row){.issues = 3, .lanes = 90, .accesses = 2, .units = 7, .least_units = 4, .cycles = {1.5}};
    b.idle_cycles = 4;
    gpu_profile_add(&a, &b);
    gpu_profile_add(&a, &b);
    CU_ASSERT_EQUAL(a.row[1].issues, 6);
    CU_ASSERT_EQUAL(a.row[1].units, 14);
    CU_ASSERT_EQUAL(a.row[1].cycles[0], 3);
    CU_ASSERT_EQUAL(a.idle_cycles, 8);
    gpu_profile_clear(&a);
    CU_ASSERT_EQUAL(a.row[1].lanes + a.row[1].accesses + a.row[1].issues, 0);
    CU_ASSERT_EQUAL(a.idle_cycles, 0);
    gpu_profile_free(&a);
    gpu_profile_free(&b);
}

/* Whoever waits for a long launch reads its counters whenever his own clock says so. */
static void test_reading_counters_changes_nothing(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(launches); i++) {
        struct example_launch watched = launches[i];
        watched.cores = 2;
        struct example_run run[2];
        for (int w = 0; w < 2; w++) {
            watched.watched = w;
            run[w] = example_run(&watched);
        }
        CHECK(run[0].looks > 0 && run[0].looks == run[1].looks, "launch %zu: %u looks, watched %u", i, run[0].looks,
              run[1].looks);
        CHECK(memcmp(&run[0].cycles, &run[1].cycles, sizeof run[0].cycles) == 0, "launch %zu: %.17g and %.17g cycles", i,
              run[0].cycles, run[1].cycles);
        CHECK(memcmp(run[0].stall, run[1].stall, sizeof run[0].stall) == 0 &&
                  memcmp(&run[0].activity, &run[1].activity, sizeof run[0].activity) == 0,
              "launch %zu: other counts when it is watched", i);
        CHECK(memcmp(&run[1].read, &run[1].activity, sizeof run[1].read) == 0, "launch %zu: who reads sees something else", i);
    }
}

static const struct suite_test tests[] = {
    {"instructions and cycles add up to those of the launch, and times stay", test_sums},
    {"waits belong to the instruction that waits", test_places},
    {"accesses and the least that would do", test_accesses},
    {"reading counters changes nothing", test_reading_counters_changes_nothing},
    {"adding and clearing", test_arithmetic},
};
SUITE_MAIN("gpu profile", tests)
