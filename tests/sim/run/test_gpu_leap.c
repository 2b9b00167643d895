/* Leaps over laps of long loops: a threadgroup goes on as if it had run them, and a launch that leaps has the time, the counts
 * and the joules of one that does not. */
#include "isa/array_count.h"
#include "sim/workload/gpu/gpu_leap.h"
#include "sim/workload/gpu/gpu_library.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct chip_db *db;

/* ---- one threadgroup ---- */

struct opened {
    struct gpu_library library;
    struct mem_space *space;
    uint64_t address[GPU_KERNEL_BUFFERS];
    struct gpu_setup setup;
    bool *lap;
};

static bool open_kernel(struct opened *o, const char *workload, unsigned step)
{
    struct orch_error error = {0};
    struct unit_fault fault = {0};
    uint64_t given[ABI_ARGS_MAX] = {0};
    unsigned found = 0;
    memset(o, 0, sizeof *o);
    o->space = mem_space_create(0);
    bool ok = gpu_library_open(&o->library, workload, NULL, GPU_G13, 8, &error) &&
              gpu_library_place(&o->library, o->space, NULL, false, 1, o->address, &error);
    const struct abi_kernel *k = &o->library.step[step];
    for (unsigned i = 0; ok && i < k->args; i++)
        if (k->arg[i].buffer)
            given[i] = o->address[o->library.place[step][i].buffer] + o->library.place[step][i].offset_bytes;
    ok = ok && gpu_setup_open_steering(&o->setup, k, GPU_G13, o->space, given, &error);
    o->lap = ok ? calloc(gpu_program_count(o->setup.program) + 1, sizeof *o->lap) : NULL;
    ok = ok && o->lap && gpu_loops_find(&o->setup, 0, o->lap, &found, &fault);
    CHECK(ok && found == 1, "%s: %u loops: %s%s", workload, found, error.text, fault.text);
    return ok && found == 1;
}

static void close_kernel(struct opened *o)
{
    free(o->lap);
    gpu_setup_close(&o->setup);
    gpu_library_close(&o->library);
    mem_space_free(o->space);
}

/* Leaps; each simdgroup comes as far as it is to, also where it has to wait at a barrier on the way. */
static bool leap(struct gpu_leaper *leaper, struct gpu_group *g, uint32_t over, struct gpu_laps_ahead *ahead,
                 struct unit_fault *fault)
{
    const unsigned count = gpu_group_simdgroups(g);
    double to[GPU_SIMDGROUPS_MAX];
    struct gpu_leap_way way;
    for (unsigned i = 0; i < count; i++)
        to[i] = (double)gpu_group_executed(g, i) + over * ahead->instructions[i];
    bool ok = gpu_leaper_begin(leaper, g, over, ahead, NULL, 0, &way, fault);
    for (bool left = true; ok && left;) {
        left = false;
        ok = gpu_leaper_go(leaper, g, 32, NULL, 0, &way, &left, fault);
    }
    ok = ok && gpu_leaper_end(leaper, g, NULL, 0, &way, fault);
    for (unsigned i = 0; ok && i < count; i++) {
        const double at = (double)gpu_group_executed(g, i);
        CHECK(at >= to[i] - 1.5 && at < to[i] + ahead->instructions[i], "simdgroup %u: %.0f, not %.1f", i, at, to[i]);
    }
    return ok;
}

/* Runs the first threadgroup to its end, but after so many laps (0 = never) leaps over `over` laps; false on a fault. */
static bool record(const struct opened *o, uint32_t after, uint32_t over, struct gpu_trace trace[GPU_SIMDGROUPS_MAX],
                   struct gpu_laps_ahead *ahead)
{
    const struct gpu_checks checks = {.steer = true};
    const uint32_t position[3] = {0};
    struct unit_fault fault = {0};
    struct gpu_group *g = gpu_group_create(&o->setup.launch, &checks);
    struct gpu_leaper *leaper = gpu_leaper_create(&o->setup, o->lap, INFINITY);
    bool ok = g && leaper;
    gpu_group_mark_laps(g, o->lap);
    gpu_group_start(g, position, 0);
    uint32_t laps = 0;
    for (bool busy = true; ok && busy;) {
        busy = false;
        for (unsigned i = 0; ok && i < gpu_group_simdgroups(g); i++) {
            const enum gpu_step step = gpu_group_run(g, i, 100, &trace[i], &fault); /* simdgroups advance side by side */
            ok = step != GPU_STEP_FAULT;
            laps += i == 0 && step == GPU_STEP_LAP;
            busy = busy || step != GPU_STEP_DONE;
        }
        if (ok && after && laps == after) {
            ok = gpu_leaper_look(leaper, g, ahead, &fault);
            CU_ASSERT_FATAL(ahead->left[0] > over);
            ok = ok && leap(leaper, g, over, ahead, &fault);
            after = 0;
        }
    }
    gpu_leaper_free(leaper);
    gpu_group_free(g);
    return ok;
}

/* What is recorded around a leap is what the whole record has there. */
static void check_leap(const char *workload, uint32_t after, uint32_t over)
{
    struct gpu_trace whole[GPU_SIMDGROUPS_MAX], part[GPU_SIMDGROUPS_MAX];
    struct gpu_laps_ahead ahead = {.left = {0}};
    struct opened o;
    for (unsigned i = 0; i < GPU_SIMDGROUPS_MAX; i++) {
        gpu_trace_init(&whole[i]);
        gpu_trace_init(&part[i]);
    }
    if (open_kernel(&o, workload, 0) && record(&o, 0, 0, whole, &ahead) && record(&o, after, over, part, &ahead))
        for (unsigned i = 0; whole[i].written; i++) {
            const size_t gone = (size_t)(over * ahead.instructions[i] + 0.5);
            size_t same = 0, rest = 0;
            CHECK(whole[i].written == part[i].written + gone, "%s: %zu of %zu, without %zu", workload, part[i].written,
                  whole[i].written, gone);
            while (same < part[i].written && memcmp(&whole[i].record[same], &part[i].record[same], sizeof *part[i].record) == 0)
                same++;
            while (rest < part[i].written && memcmp(&whole[i].record[whole[i].written - 1 - rest],
                                                    &part[i].record[part[i].written - 1 - rest], sizeof *part[i].record) == 0)
                rest++;
            CHECK(same + rest >= part[i].written, "%s: simdgroup %u differs", workload, i);
            size_t lines = 0;
            while (lines < part[i].lines_written && whole[i].line[whole[i].lines_written - 1 - lines].address ==
                                                        part[i].line[part[i].lines_written - 1 - lines].address)
                lines++;
            CHECK(lines > 0 && lines < part[i].lines_written, "%s: %zu lines of %zu", workload, lines, part[i].lines_written);
        }
    close_kernel(&o);
    for (unsigned i = 0; i < GPU_SIMDGROUPS_MAX; i++) {
        gpu_trace_release(&whole[i]);
        gpu_trace_release(&part[i]);
    }
}

static void test_threadgroup(void)
{
    check_leap("gemm:64x64x8192", 5, 20);
    check_leap("gemm:64x64x8192", 9, 1);
    check_leap("attention:b=1,h=1,s=4096,d=64", 4, 13);
    check_leap("gemv:8x65536", 3, 30);
}

/* Simdgroups of a convolution (behind the step that packs weights) are on both sides of a barrier of their lap, and some laps are
 * longer than others. */
static void test_barriers(void)
{
    struct gpu_trace trace[GPU_SIMDGROUPS_MAX];
    for (uint32_t over = 1; over < 24; over++) {
        struct gpu_laps_ahead ahead = {.left = {0}};
        struct opened o;
        for (unsigned i = 0; i < GPU_SIMDGROUPS_MAX; i++)
            gpu_trace_init(&trace[i]);
        CU_ASSERT(open_kernel(&o, "conv2d:c=512,h=14,w=14,k=64,pad=1,packed=1", 1) && record(&o, 4 + over, over, trace, &ahead));
        close_kernel(&o);
        for (unsigned i = 0; i < GPU_SIMDGROUPS_MAX; i++)
            gpu_trace_release(&trace[i]);
    }
}

/* ---- launches ---- */

/* Bounds of errors, as shares. Times of whole simulations of so few waves of threadgroups move by 2 % when a clock moves by
 * 0.02 %, some by 7 %: which cores take the last threadgroups hangs on little where they are no whole wave. */
#define MEAN_BOUND   0.015
#define EACH_BOUND   0.03
#define ENERGY_BOUND 0.04

/* Launches with fewer than 2^24 instructions, or loops of fewer than 96 laps, have nothing to leap over. */
static const struct {
    const char *workload, *chip;
    bool cold;
} launches[] = {
    {"gemm:512x512x20480", "m1", true},
    {"gemm:512x512x20480", "m1-max", true},
    {"attention:b=1,h=2,s=3584,d=64", "m1", false},
    {"attention:b=1,h=1,s=4096,d=128", "m1", true},
    {"conv2d:c=512,h=64,w=64,k=128", "m1", true},
    {"softmax:32x1310720", "m1", true},
};

static void test_launches(void)
{
    double sum = 0;
    for (size_t i = 0; i < ARRAY_COUNT(launches); i++) {
        const char *workload = launches[i].workload;
        struct whole_and_sample both =
            run_gpu_both(db, launches[i].chip, workload, (struct run_request){.mode = RUN_TIMING, .cold = launches[i].cold});
        const double whole_j = both.whole.result.joules, sample_j = both.sample.result.joules;
        CHECK(fabs(both.off) < EACH_BOUND, "%s: %+.2f %%", workload, 100 * both.off);
        CHECK(fabs(sample_j / whole_j - 1) < ENERGY_BOUND, "%s: %g J against %g", workload, sample_j, whole_j);
        const char *name = "gpu.simdgroup_instructions";
        CHECK(counter(&both.sample, name) == counter(&both.whole, name), "%s", workload);
        sum += fabs(both.off);
        free_both(&both);
    }
    CHECK(sum / ARRAY_COUNT(launches) < MEAN_BOUND, "mean %.2f %%", 100 * sum / ARRAY_COUNT(launches));
}

static const struct suite_test tests[] = {
    {"a threadgroup goes on behind a leap as if it had run the laps", test_threadgroup},
    {"a leap ends behind barriers on the way", test_barriers},
    {"launches that leap have the time, joules and instructions of the whole", test_launches},
};

int main(void)
{
    return example_chips_run("gpu_leap", tests, ARRAY_COUNT(tests), &db);
}
