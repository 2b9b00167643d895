/* GPU timing against published microbenchmarks: philipturner/metal-benchmarks (M1 Max; "cycles" there are per instruction of a
 * simdgroup and scheduler), Chips and Cheese (M1 memory path), Mesa src/asahi/compiler/agx_performance.c (occupancy). */
#include "isa/array_count.h"
#include "tests/units/gpu_timing_example.h"

#include <math.h>
#include <stdio.h>

/* Cycles of a scheduler per turn of the body, on one core with `simds` simdgroups; start and end fall out as a difference. */
static double cycles_per_turn(const struct gpu_params *params, const char *text, unsigned simds)
{
    double cycles[2];
    for (unsigned i = 0; i < 2; i++) {
        const struct example_launch launch = {.text = text, .cores = 1, .simds = 1, .groups = simds, .loops = i ? 96 : 32};
        const struct example_run run = example_run_with(params, &launch);
        CHECK(!run.failed, "%s", text);
        cycles[i] = run.cycles;
    }
    return (cycles[1] - cycles[0]) / 64 / ((simds + 3) / 4);
}

static bool near(double value, double expected, double tolerance)
{
    return fabs(value - expected) <= tolerance * expected;
}

/* Independent chains, full occupancy. */
static void test_throughput_per_class(void)
{
    static const struct {
        const char *text;
        double cycles, tolerance;
    } rows[] = {
        {".repeat 8\nfadd32 r{i}, r{i}, r20\n.end\nstop", 8, 0.03},
        {".repeat 8\nfmadd32 r{i}, r{i}, r20, r21\n.end\nstop", 8, 0.03},
        {".repeat 8\nfadd16 r{i}l, r{i}l, r20l\n.end\nstop", 8, 0.03},
        {".repeat 8\niadd r{i}, r{i}, r20\n.end\nstop", 8, 0.03},
        {".repeat 8\nimadd r{i}, r{i}, r20, 0\n.end\nstop", 32, 0.03},
        {".repeat 8\nrint r{i}, r{i}\n.end\nstop", 32, 0.03},
        {".repeat 8\nexp2 r{i}, r{i}\n.end\nstop", 32, 0.03},
        {".repeat 8\nrcp r{i}, r{i}\n.end\nstop", 48, 0.03},
        {".repeat 8\nrsqrt r{i}, r{i}\n.end\nstop", 64, 0.03},
        {".repeat 8\nsimd_shuffle_down r{i}, r{i}, 1\n.end\nstop", 16.3, 0.03},
        /* mixes: complex and simple work side by side */
        {".repeat 4\nimadd r{i}, r{i}, r20, 0\niadd r{i+4}, r{i+4}, r20\n.end\nstop", 16, 0.03},
        {".repeat 4\nimadd r{i}, r{i}, r20, 0\niadd r{i+4}, r{i+4}, r20\niadd r{i+8}, r{i+8}, r20\n.end\nstop", 16.5, 0.05},
        {".repeat 4\nimadd r{i}, r{i}, r20, 0\niadd r{i+4}, r{i+4}, r20\niadd r{i+8}, r{i+8}, r20\n"
         "iadd r{i+12}, r{i+12}, r20\n.end\nstop",
         21.4, 0.07},
        {".repeat 4\nimadd r{i}, r{i}, r20, 0\nrint r{i+4}, r{i+4}\n.end\nstop", 32, 0.03},
    };
    const struct gpu_params params = example_gpu(1);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const double cycles = cycles_per_turn(&params, rows[i].text, 88);
        CHECK(near(cycles, rows[i].cycles, rows[i].tolerance), "%s: %.2f, measured %.2f", rows[i].text, cycles, rows[i].cycles);
    }
}

/* "FMUL/FADD/IADD", then "FFMA"; 32 and 16 bits; simdgroups per core 4, 8, 88; parallelism 1 to 4. */
static const double published[2][2][3][4] = {{{{6.60, 5.59, 5.14, 2.86}, {3.44, 3.08, 2.78, 1.58}, {1.84, 1.73, 1.37, 1.01}},
                                              {{3.92, 2.49, 2.55, 1.78}, {2.16, 1.46, 1.47, 1.26}, {1.56, 1.05, 1.04, 1.02}}},
                                             {{{11.34, 8.36, 4.46, 2.75}, {5.71, 4.24, 2.75, 1.60}, {1.99, 1.87, 1.35, 1.02}},
                                              {{3.94, 2.44, 2.55, 1.79}, {2.15, 1.40, 1.47, 1.29}, {1.56, 1.04, 1.04, 1.02}}}};

static double dependent(const struct gpu_params *params, bool fma, bool half, unsigned simds, unsigned chains)
{
    static const char *const lines[2][2] = {{"fadd32 r{i%%%u}, r{i%%%u}, r20", "fadd16 r{i%%%u}l, r{i%%%u}l, r20l"},
                                            {"fmadd32 r{i%%%u}, r{i%%%u}, r20, r21", "fmadd16 r{i%%%u}l, r{i%%%u}l, r20l, r21l"}};
    char line[80], text[160];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(line, sizeof line, lines[fma][half], chains, chains);
#pragma GCC diagnostic pop
    snprintf(text, sizeof text, ".repeat 48\n%s\n.end\nstop", line);
    return cycles_per_turn(params, text, simds) / 48;
}

static void test_parallelism_and_occupancy(void)
{
    static const unsigned simds[3] = {4, 8, 88};
    const struct gpu_params params = example_gpu(1);
    double sum = 0, worst = 0;
    for (int fma = 0; fma < 2; fma++)
        for (int half = 0; half < 2; half++)
            for (int o = 0; o < 3; o++)
                for (unsigned chains = 1; chains <= 4; chains++) {
                    const double measured = published[fma][half][o][chains - 1];
                    const double error = fabs(dependent(&params, fma, half, simds[o], chains) / measured - 1);
                    sum += error;
                    worst = error > worst ? error : worst;
                }
    CHECK(sum / 48 <= 0.12, "mean error %.1f %%", 100 * sum / 48);
    CHECK(worst <= 0.6, "worst error %.1f %%", 100 * worst);
    printf("  parallelism and occupancy: mean error %.1f %%, worst %.0f %%\n", 100 * sum / 48, 100 * worst);
}

/* "x * x + 1": one register, 95 %; back-to-back latency through the register cache 3 and 6 cycles. */
static void test_register_cache(void)
{
    const struct gpu_params params = example_gpu(1);
    const double one = cycles_per_turn(&params, ".repeat 8\nfmadd32 r1, r1, r1, 1.0\n.end\nstop", 88) / 8;
    CHECK(one <= 1.06, "%.2f", one);
    const double add = cycles_per_turn(&params, ".repeat 8\nfadd32 r1.cache, r1.cache, 1.0\n.end\nstop", 4) / 8;
    const double fma = cycles_per_turn(&params, ".repeat 8\nfmadd32 r1.cache, r1.cache, r1.cache, 1.0\n.end\nstop", 4) / 8;
    CHECK(near(add, 3, 0.02) && near(fma, 6, 0.02), "%.2f %.2f", add, fma);
}

/* Dependent instructions of one simdgroup: metal-benchmarks, adjusted latency. */
static void test_latency_per_class(void)
{
    static const struct {
        const char *text;
        double cycles;
    } rows[] = {{"rint r1, r1\nstop", 3.66},
                {"exp2 r1, r1\nstop", 4.31},
                {"rcp r1, r1\nstop", 6.5},
                {"rsqrt r1, r1\nstop", 8.99},
                {"simd_shuffle_down r1, r1, 1\nstop", 3.73}};
    const struct gpu_params params = example_gpu(1);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const double cycles = cycles_per_turn(&params, rows[i].text, 1);
        CHECK(near(cycles, rows[i].cycles, 0.02), "%s: %.2f, measured %.2f", rows[i].text, cycles, rows[i].cycles);
    }
}

/* Mesa's table of threads per core against half registers per thread, and the limits of metal-benchmarks. */
static void test_occupancy(void)
{
    static const unsigned table[][2] = {{104, 1024}, {112, 896}, {128, 832}, {136, 768}, {144, 704}, {160, 640},
                                        {184, 576},  {208, 512}, {232, 448}, {256, 384}, {16, 3072}};
    const struct gpu_params params = example_gpu(1);
    const char *limit;
    for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
        const struct gpu_timing_launch launch = {.simdgroups_per_group = 1, .register_halves = table[i][0]};
        const unsigned groups = gpu_timing_occupancy(&params, &launch, &limit);
        CHECK(groups * 32 == table[i][1], "%u halves: %u threads, published %u", table[i][0], groups * 32, table[i][1]);
        CHECK(strcmp(limit, table[i][0] == 16 ? "threads" : "registers") == 0, "%u: %s", table[i][0], limit);
    }
    const struct gpu_timing_launch shared = {.simdgroups_per_group = 4, .register_halves = 32, .threadgroup_memory_bytes = 32768};
    CU_ASSERT_EQUAL(gpu_timing_occupancy(&params, &shared, &limit), 1);
    CU_ASSERT_STRING_EQUAL(limit, "threadgroup memory");
    const struct gpu_timing_launch small = {.simdgroups_per_group = 1, .register_halves = 16, .threadgroup_memory_bytes = 256};
    CU_ASSERT_EQUAL(gpu_timing_occupancy(&params, &small, &limit), params.threadgroup_memory_groups);
    CU_ASSERT_STRING_EQUAL(limit, "threadgroups with memory");
}

/* A kernel that holds more as its framework has it compiled than its program names, unless its threadgroup would not fit. */
static void test_occupancy_framework(void)
{
    struct gpu_params params = example_gpu(1);
    const char *limit;
    struct gpu_timing_launch launch = {.simdgroups_per_group = 4, .register_halves = 64, .threadgroup_memory_bytes = 1024};
    params.framework_halves = 208;
    CU_ASSERT_EQUAL(gpu_timing_occupancy(&params, &launch, &limit), 13 * 4 / 4);
    launch.holds_more = true;
    CU_ASSERT_EQUAL(gpu_timing_occupancy(&params, &launch, &limit), 512 / 128);
    CU_ASSERT_STRING_EQUAL(limit, "registers");
    launch.register_halves = 256;
    CU_ASSERT_EQUAL(gpu_timing_occupancy(&params, &launch, &limit), 384 / 128);
    launch = (struct gpu_timing_launch){.simdgroups_per_group = 32, .register_halves = 64, .holds_more = true};
    CU_ASSERT_EQUAL(gpu_timing_occupancy(&params, &launch, &limit), 1);
}

/* A chase: load, wait, use. Chips and Cheese: L1 43 ns, L2 76.3, SLC 266, DRAM 311. */
static void test_memory_latency(void)
{
    static const struct {
        uint64_t footprint;
        double ns;
    } rows[] = {{32, 43}, {2048, 76.3}, {32768, 266}, {1u << 22, 311}};
    const char *text = "device_load 0, i32, x, r4, u0_u1, r4, unsigned\nwait 0\niadd r4, r4, 0\nstop";
    for (size_t i = 0; i < 4; i++) {
        double cycles[2];
        const unsigned warm = (unsigned)(rows[i].footprint < 100000 ? rows[i].footprint * 2 : 2000);
        for (unsigned k = 0; k < 2; k++) {
            const struct example_launch launch = {
                .text = text, .cores = 1, .simds = 1, .groups = 1, .loops = warm + 2000 * k, .footprint = rows[i].footprint};
            cycles[k] = example_run(&launch).cycles;
        }
        const double ns = (cycles[1] - cycles[0]) / 2000 / 1.278;
        CHECK(near(ns, rows[i].ns, 0.06), "%u lines: %.1f ns, measured %.1f", (unsigned)rows[i].footprint, ns, rows[i].ns);
    }
}

/* Bandwidth of a core: L1 65.6, L2 37.6 bytes per cycle (671 and 384 GB/s over 8 cores). */
static void test_memory_bandwidth(void)
{
    static const struct {
        uint64_t footprint;
        double bytes;
    } rows[] = {{32, 65.6}, {2048, 37.6}};
    const char *text = ".repeat 4\ndevice_load 0, i32, x, r{4+i}, u0_u1, r0, unsigned\n.end\nwait 0\nstop";
    for (size_t i = 0; i < 2; i++) {
        const struct example_launch launch = {
            .text = text, .cores = 1, .simds = 8, .groups = 6, .loops = 400, .footprint = rows[i].footprint};
        const struct example_run run = example_run(&launch);
        const double bytes = 6.0 * 8 * 400 * 4 * 128 / run.cycles;
        CHECK(near(bytes, rows[i].bytes, 0.08), "%u lines: %.1f bytes per cycle, measured %.1f", (unsigned)rows[i].footprint,
              bytes, rows[i].bytes);
        CHECK(run.activity.count[ACT_GPU_L1_READ_BYTES] == UINT64_C(6) * 8 * 400 * 4 * 128, "counted %llu",
              (unsigned long long)run.activity.count[ACT_GPU_L1_READ_BYTES]);
    }
}

/* 32 lanes that touch 32 lines take 32 times the path of one line. */
static void test_coalescing(void)
{
    const char *text = "device_load 0, i32, x, r4, u0_u1, r0, unsigned\nwait 0\nstop";
    double cycles[2];
    for (unsigned i = 0; i < 2; i++) {
        const struct example_launch launch = {
            .text = text, .cores = 1, .simds = 8, .groups = 6, .loops = 100, .footprint = 32, .shared_lines = i ? 32 : 1};
        cycles[i] = example_run(&launch).cycles;
    }
    CHECK(cycles[1] > 1.9 * cycles[0], "%.0f and %.0f cycles", cycles[0], cycles[1]);
}

/* Lanes that read 4 bytes each, 16 bytes apart: the path takes the lines whole, 8 cycles for 128 bytes. Reductions of MLX in one
 * threadgroup run at 16 bytes per cycle and core (TristanBilot/mlx-benchmark, argmax over 64x1024x128, nine chips: 15.1 to 17.6).
 */
static void test_pieces_of_lines(void)
{
    const struct example_launch launch = {.text = "device_load 0, i32, x, r4, u0_u1, r0, unsigned\nwait 0\nstop",
                                          .cores = 1,
                                          .simds = 8,
                                          .groups = 6,
                                          .loops = 100,
                                          .footprint = 32,
                                          .shared_lines = 4,
                                          .both_halves = true};
    const double bytes = 6.0 * 8 * 100 * 128 / example_run(&launch).cycles;
    CHECK(near(bytes, 16, 0.05), "%.1f bytes per cycle", bytes);
}

/* Four loads of a simdgroup touch the same lines piece by piece, and more lines are on their way than L1 has places: each is read
 * once all the same. */
static void test_lines_on_their_way(void)
{
    const char *text = ".repeat 4\ndevice_load 0, i32, x, r{4+i}, u0_u1, r0, unsigned\n.end\nwait 0\nstop";
    const struct example_launch launch = {
        .text = text, .cores = 1, .simds = 4, .groups = 3, .loops = 20, .footprint = 1u << 20, .shared_lines = 16, .pieces = 4};
    const struct example_run run = example_run(&launch);
    const double again = (double)run.activity.count[ACT_L2_READ_BYTES], once = 3.0 * 4 * 20 * 16 * GPU_LINE_BYTES;
    CHECK(!run.failed && again < 0.06 * once, "%.0f bytes were read from L2 again, besides %.0f from DRAM", again, once);
}

/* Stores of half a line each: where the halves meet before they leave the core, L2 gets a line for two of them, else one for
 * each. No line is read first: L2 knows by byte what there is. */
static void test_store_gathering(void)
{
    const char *text = "device_store 0, i16, x, r4l, u0_u1, r0, unsigned, 0\nstop";
    const double stores = 6.0 * 8 * 100;
    for (unsigned dense = 0; dense < 2; dense++) {
        const struct example_launch launch = {
            .text = text, .cores = 1, .simds = 8, .groups = 6, .loops = 100, .footprint = 1u << 20, .dense = dense};
        const struct example_run run = example_run(&launch);
        const double lines = (double)run.activity.count[ACT_L2_WRITE_BYTES] / GPU_LINE_BYTES, least = dense ? stores / 2 : stores;
        CHECK(!run.failed && run.activity.count[ACT_DRAM_READ_BYTES] < 1024, "%s: %llu bytes read",
              dense ? "halves that meet" : "halves alone", (unsigned long long)run.activity.count[ACT_DRAM_READ_BYTES]);
        CHECK(lines > least - 128 && lines < least + 16, "%.0f lines written", lines);
    }
}

/* Turns of the banks add up: clpeak, about 128 bytes per cycle and core. */
static void test_threadgroup_memory(void)
{
    const char *text = ".repeat 8\nthreadgroup_load i32, x, r{4+i}, r0l, 0\n.end\nstop";
    double cycles[2];
    for (unsigned i = 0; i < 2; i++) {
        const struct example_launch launch = {
            .text = text, .cores = 1, .simds = 8, .groups = 6, .loops = 200, .passes = i ? 8 : 1, .threadgroup_bytes = 4096};
        cycles[i] = example_run(&launch).cycles;
    }
    CHECK(near(6.0 * 8 * 200 * 8 / cycles[0], 1, 0.03), "%.0f cycles", cycles[0]);
    CHECK(near(cycles[1] / cycles[0], 8, 0.03), "%.0f and %.0f cycles", cycles[0], cycles[1]);
}

/* Every simdgroup of a threadgroup waits for the slowest. */
static void test_barrier(void)
{
    const struct example_launch launch = {
        .text = "threadgroup_barrier\niadd r1, r1, 0\nstop", .cores = 1, .simds = 8, .groups = 3, .loops = 100};
    const struct example_run run = example_run(&launch);
    CHECK(!run.failed && run.cycles > 100 * 16, "%.0f cycles", run.cycles);
    CHECK(run.stall[0][GPU_STALL_BARRIER] > 0.3 * run.total[0], "%.0f of %.0f", run.stall[0][GPU_STALL_BARRIER], run.total[0]);
}

/* A program larger than the instruction cache waits for it, turn after turn; a smaller one only at first. */
static void test_instruction_cache(void)
{
    static const char *const texts[] = {".repeat 500\nfmadd32 r{i%16}, r{i%16}, r20, r21\n.end\nstop",
                                        ".repeat 4000\nfmadd32 r{i%16}, r{i%16}, r20, r21\n.end\nstop"};
    double share[2];
    for (unsigned i = 0; i < 2; i++) {
        const struct example_launch launch = {.text = texts[i], .cores = 1, .simds = 1, .groups = 4, .loops = i ? 5 : 40};
        const struct example_run run = example_run(&launch);
        share[i] = run.stall[0][GPU_STALL_INSTRUCTION_FETCH] / run.total[0];
    }
    CHECK(share[0] < 0.1 && share[1] > 0.2, "%.3f and %.3f", share[0], share[1]);
}

/* A slot takes so many accesses; the next one waits for the oldest. */
static void test_scoreboard_slots(void)
{
    struct gpu_params params = example_gpu(1);
    const struct example_launch launch = {
        .text = ".repeat 16\ndevice_load 0, i32, x, r{4+i}, u0_u1, r0, unsigned\n.end\nwait 0\nstop",
        .cores = 1,
        .simds = 1,
        .groups = 1,
        .loops = 64,
        .footprint = 1u << 22};
    const double eight = example_run_with(&params, &launch).cycles;
    params.slot_entries = 16;
    const double sixteen = example_run_with(&params, &launch).cycles;
    CHECK(eight > 1.5 * sixteen, "%.0f and %.0f cycles", eight, sixteen);
}

static const char *const mixed_text = "get_sr r0, thread_position_in_grid.x\n"
                                      ".repeat 4\ndevice_load 0, i32, x, r{4+i}, u0_u1, r0, unsigned\n.end\n"
                                      "threadgroup_load i32, x, r9, r0l, 0\n"
                                      ".repeat 6\nfmadd32 r{10+i}, r{10+i}, r9, r20\n.end\nimadd r17, r17, r9, 0\nwait 0\n"
                                      ".repeat 4\nfadd32 r{4+i}, r{4+i}, r9\n.end\nthreadgroup_barrier\n"
                                      "device_store 0, i32, x, r4, u2_u3, r0, unsigned, 0\nstop";

/* Each cycle of a core has one reason. */
static void test_stalls_add_up(void)
{
    const struct example_launch launch = {
        .text = mixed_text, .cores = 4, .simds = 4, .groups = 37, .loops = 60, .footprint = 1 << 15, .threadgroup_bytes = 8192};
    const struct example_run run = example_run(&launch);
    CU_ASSERT_FALSE(run.failed);
    for (unsigned core = 0; core < 4; core++) {
        double sum = 0;
        for (unsigned r = 0; r < GPU_STALL_COUNT; r++) {
            CHECK(run.stall[core][r] >= 0, "%s %g", gpu_stall_name((enum gpu_stall)r), run.stall[core][r]);
            sum += run.stall[core][r];
        }
        CHECK(fabs(sum - run.total[core]) < 1e-6 * run.total[core], "core %u: %.3f of %.3f", core, sum, run.total[core]);
        CHECK(run.total[core] >= run.cycles * 0.999999, "core %u: %.1f, launch %.1f", core, run.total[core], run.cycles);
    }
    CHECK(run.activity.count[ACT_GPU_INSTRUCTIONS] == (uint64_t)run.instructions, "%.0f instructions", run.instructions);
    CHECK(run.activity.count[ACT_GPU_F32_FLOPS] == UINT64_C(37) * 4 * 60 * 32 * (6 * 2 + 4), "flops");
}

static void test_determinism(void)
{
    const struct example_launch launch = {
        .text = mixed_text, .cores = 3, .simds = 4, .groups = 29, .loops = 40, .footprint = 1 << 14, .threadgroup_bytes = 8192};
    const struct example_run a = example_run(&launch), b = example_run(&launch);
    CU_ASSERT_EQUAL(memcmp(&a.cycles, &b.cycles, sizeof a.cycles), 0);
    CU_ASSERT_EQUAL(memcmp(a.stall, b.stall, sizeof a.stall), 0);
}

/* The inner loop of a matrix product on simdgroup matrices: per 8 of depth, 4 + 4 fragments from threadgroup memory and 16
 * products; loads ahead from device memory. metal-benchmarks reaches 101.7 of 128 multiply-adds per core and cycle (79 %). */
static const char *const matrix_text =
    ".repeat 4\nthreadgroup_load i32, xy, r{40+2*i}_r{41+2*i}, r0l, 0\nthreadgroup_load i32, xy, r{48+2*i}_r{49+2*i}, r0l, "
    "0\n.end\n"
    ".repeat 4\n.repeat 4 j\nsimd_matrix_fmadd32 r{8*i+2*j}_r{8*i+2*j+1}, r{40+2*i}_r{41+2*i}, r{48+2*j}_r{49+2*j}, "
    "r{8*i+2*j}_r{8*i+2*j+1}\n.end\n.end\niadd r1, r1, 1\niadd r2, r2, 1\nstop";

static double matrix_share(double pipe_cycles)
{
    struct gpu_params params = example_gpu(1);
    params.cost[GPU_COST_MATRIX_F32].pipe_cycles = pipe_cycles;
    const struct example_launch launch = {.text = matrix_text,
                                          .cores = 1,
                                          .simds = 4,
                                          .groups = 6,
                                          .loops = 100,
                                          .passes = 2,
                                          .register_halves = 144,
                                          .threadgroup_bytes = 16384};
    const struct example_run run = example_run_with(&params, &launch);
    CU_ASSERT_FALSE(run.failed);
    return 6.0 * 4 * 100 * 16 * 512 / run.cycles / 128;
}

static void test_matrix_loop(void)
{
    const double share = matrix_share(18), slower = matrix_share(24);
    CHECK(share >= 0.78 && share <= 0.89, "%.1f %% of 128 multiply-adds", 100 * share);
    CHECK(near(slower, share * 18 / 24, 0.03), "%.3f after %.3f", slower, share);
}

/* One parameter moves what depends on it and nothing else. */
static void test_mutations(void)
{
    const char *adds = ".repeat 8\nfadd32 r{i}, r{i}, r20\n.end\nstop";
    const char *products = ".repeat 8\nimadd r{i}, r{i}, r20, 0\n.end\nstop";
    struct gpu_params params = example_gpu(1);
    const double add = cycles_per_turn(&params, adds, 88), product = cycles_per_turn(&params, products, 88);
    params.cost[GPU_COST_IMUL].pipe_cycles = 6;
    CHECK(near(cycles_per_turn(&params, products, 88), product * 1.5, 0.02), "multiplies follow their pipe");
    CHECK(near(cycles_per_turn(&params, adds, 88), add, 1e-9), "adds do not");
    params = example_gpu(1);
    params.schedulers = 2;
    CHECK(near(cycles_per_turn(&params, adds, 48), add * 2, 0.05), "half the schedulers");
    params = example_gpu(1);
    params.separate_pipes = 1;
    params.issue_per_cycle = 2;
    const char *both = ".repeat 8\nfadd32 r{i}, r{i}, r20\nfadd16 r{8+i}l, r{8+i}l, r21l\n.end\nstop";
    const struct gpu_params plain = example_gpu(1);
    CHECK(near(cycles_per_turn(&plain, both, 88), 16, 0.03), "one pipe");
    CHECK(near(cycles_per_turn(&params, both, 88), 8, 0.08), "f16 and f32 side by side: %.2f",
          cycles_per_turn(&params, both, 88));
}

/* Threadgroups go round the cores; when they do not fill the last round, cores stand idle. */
static void test_tail(void)
{
    const char *text = ".repeat 16\nfadd32 r{i}, r{i}, r20\n.end\nstop";
    struct example_launch launch = {.text = text, .cores = 4, .simds = 32, .groups = 4, .loops = 200, .register_halves = 104};
    const struct example_run full = example_run(&launch);
    launch.groups = 5;
    const struct example_run more = example_run(&launch);
    CHECK(near(more.cycles, 2 * full.cycles, 0.1), "%.0f and %.0f cycles", full.cycles, more.cycles);
    CHECK(more.stall[3][GPU_STALL_LAUNCH] > 0.4 * more.total[3], "the last core waits: %.0f of %.0f",
          more.stall[3][GPU_STALL_LAUNCH], more.total[3]);
}

static const struct suite_test tests[] = {
    {"throughput per class and in mixes", test_throughput_per_class},
    {"parallelism and occupancy", test_parallelism_and_occupancy},
    {"register cache", test_register_cache},
    {"latency per class", test_latency_per_class},
    {"occupancy", test_occupancy},
    {"occupancy of kernels of frameworks", test_occupancy_framework},
    {"memory latency", test_memory_latency},
    {"memory bandwidth of a core", test_memory_bandwidth},
    {"coalescing", test_coalescing},
    {"pieces of lines", test_pieces_of_lines},
    {"lines on their way", test_lines_on_their_way},
    {"store gathering", test_store_gathering},
    {"threadgroup memory", test_threadgroup_memory},
    {"barrier", test_barrier},
    {"instruction cache", test_instruction_cache},
    {"scoreboard slots", test_scoreboard_slots},
    {"stalls add up", test_stalls_add_up},
    {"determinism", test_determinism},
    {"matrix loop", test_matrix_loop},
    {"mutations", test_mutations},
    {"tail", test_tail},
};
SUITE_MAIN("gpu_timing", tests)
