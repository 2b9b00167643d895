/* Compiled kernels to their ends: outputs computed by numpy, instruction counts by an independent interpreter; every path, two
 * host threads, and the checks of --sanitize, which must find nothing. */
#include "isa/array_count.h"
#include "tests/units/gpu_exec_example.h"
#include "tests/units/gpu_kernel_example.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>

#define OUT_BYTES 8192

static const struct kernel_example kernels[] = {
    {.name = "sgemm_tiled",
     .main = 128,
     .constant_first = 16,
     .constant_halves = 32,
     .register_halves = 22,
     .threadgroup_memory = 2048,
     .group = {16, 16, 1},
     .groups = {2, 3, 1},
     .argument =
         {{"A", 'f', 10, 3072, 0}, {"B", 'f', 11, 2048, 0}, {"C", '0', 0, 1536, 0}, {"N", 's', 32, 0, 0}, {"K", 's', 64, 0, 0}},
     .out = 2,
     .instructions = 24624,
     .active_lanes = 634368},
    {.name = "histogram",
     .register_halves = 12,
     .threadgroup_memory = 256,
     .group = {128, 1, 1},
     .groups = {6, 1, 1},
     .argument = {{"x", 'u', 44, 3000, 0}, {"bins", 'i', 1000, 64, 0}, {"n", 's', 3000, 0, 0}, {"per_thread", 's', 4, 0, 0}},
     .out = 1,
     .instructions = 1896,
     .active_lanes = 47496},
    {.name = "stencil5",
     .preamble = 256,
     .register_halves = 10,
     .group = {16, 8, 1},
     .groups = {3, 3, 1},
     .argument = {{"in", 'f', 49, 777, 0}, {"out", '0', 0, 777, 0}, {"W", 's', 37, 0, 0}, {"H", 's', 21, 0, 0}},
     .out = 1,
     .absolute = 2e-7,
     .relative = 1e-6,
     .instructions = 1263,
     .active_lanes = 30800},
    {.name = "mandelbrot",
     .register_halves = 18,
     .group = {8, 8, 1},
     .groups = {4, 3, 1},
     .argument = {{"out", '0', 0, 768, 0},
                  {"width", 's', 32, 0, 0},
                  {"x0", 's', 0xc0066666, 0, 0},
                  {"y0", 's', 0xbf8ccccd, 0, 0},
                  {"step", 's', 0x3dc00000, 0, 0},
                  {"limit", 's', 80, 0, 0}},
     .out = 0,
     .instructions = 13392,
     .active_lanes = 219444},
    {.name = "softmax_row",
     .main = 128,
     .constant_first = 10,
     .constant_halves = 6,
     .register_halves = 18,
     .threadgroup_memory = 256,
     .group = {64, 1, 1},
     .groups = {6, 1, 1},
     .argument = {{"x", 'f', 26, 900, 4}, {"y", '0', 0, 900, 0}, {"cols", 's', 150, 0, 0}},
     .out = 1,
     .absolute = 1e-7,
     .relative = 1e-4,
     .instructions = 2670,
     .active_lanes = 48282},
};
#define KERNELS (ARRAY_COUNT(kernels))

static void check_output(const struct kernel_machine *m, const struct kernel_example *k, const char *how)
{
    static uint8_t wanted[OUT_BYTES];
    const struct kernel_argument *a = &k->argument[k->out];
    char file[32];
    snprintf(file, sizeof file, "out_%s.bin", a->name);
    CHECK(kernel_read_file(k->name, file, wanted, sizeof wanted) == 4 * a->count, "%s", file);
    const uint8_t *got = mem_at(m->space, m->address[k->out], 4ULL * a->count, MEM_READ);
    for (uint32_t i = 0; i < a->count; i++) {
        float x, y;
        memcpy(&x, got + 4 * i, 4);
        memcpy(&y, wanted + 4 * i, 4);
        const bool close = fabs((double)x - (double)y) <= k->absolute + k->relative * fabs((double)y);
        if (memcmp(&x, &y, 4) != 0 && !close) {
            CHECK(false, "%s %s: element %u is %g, should be %g", k->name, how, i, (double)x, (double)y);
            return;
        }
    }
}

static void check_counts(const struct gpu_group *group, const struct kernel_machine *m, const struct kernel_example *k)
{
    const struct gpu_counts counts = gpu_group_counts(group);
    CHECK(counts.instructions == k->instructions, "%s: %" PRIu64 " instructions", k->name, counts.instructions);
    CHECK(counts.active_lanes == k->active_lanes, "%s: %" PRIu64 " active lanes", k->name, counts.active_lanes);
    uint64_t *issued = calloc(gpu_program_count(m->program), sizeof *issued), sum = 0, stops = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(issued);
    gpu_group_issue_counts(group, issued);
    for (uint32_t i = 0; i < gpu_program_count(m->program); i++) {
        sum += issued[i];
        stops += gpu_program_inst(m->program, i)->op == AGX_OP_STOP ? issued[i] : 0;
    }
    free(issued);
    CHECK(sum == k->instructions, "%s: issue counts add up to %" PRIu64, k->name, sum);
    const uint64_t simdgroups = (uint64_t)k->groups[0] * k->groups[1] * k->groups[2] * k->group[0] * k->group[1] / GPU_LANES;
    CHECK(stops == simdgroups, "%s: %" PRIu64 " stops", k->name, stops);
}

static void test_paths(void)
{
    for (size_t i = 0; i < KERNELS; i++)
        for (unsigned p = 0; p < GPU_PATHS; p++) {
            struct kernel_machine m;
            struct unit_fault fault;
            CU_ASSERT_TRUE_FATAL(kernel_open(&m, &kernels[i]));
            struct gpu_group *group = gpu_example_group(&m.launch, gpu_paths[p]);
            if (group) {
                CHECK(kernel_run(group, &m.launch, 0, 1, &fault), "%s: %s", kernels[i].name, fault.text);
                check_output(&m, &kernels[i], gpu_paths[p]);
                check_counts(group, &m, &kernels[i]);
            }
            gpu_group_free(group);
            kernel_close(&m);
        }
}

static void test_sanitized(void)
{
    const struct gpu_checks checks = {.sanitize = true, .poison = true};
    for (size_t i = 0; i < KERNELS; i++) {
        struct kernel_machine m;
        struct unit_fault fault;
        CU_ASSERT_TRUE_FATAL(kernel_open(&m, &kernels[i]));
        struct gpu_group *group = gpu_group_create(&m.launch, &checks);
        CU_ASSERT_PTR_NOT_NULL_FATAL(group);
        CHECK(kernel_run(group, &m.launch, 0, 1, &fault), "%s: %s", kernels[i].name, fault.text);
        check_output(&m, &kernels[i], "sanitized");
        check_counts(group, &m, &kernels[i]);
        const struct gpu_finding *findings;
        const size_t count = gpu_group_findings(group, &findings);
        CHECK(count == 0, "%s: %s", kernels[i].name, count ? findings[0].text : "");
        gpu_group_free(group);
        kernel_close(&m);
    }
}

struct worker {
    const struct gpu_launch *launch;
    uint32_t first;
    bool good;
};

static void *work(void *argument)
{
    struct worker *w = argument;
    struct unit_fault fault;
    struct gpu_group *group = gpu_group_create(w->launch, NULL);
    w->good = group && kernel_run(group, w->launch, w->first, 2, &fault);
    gpu_group_free(group);
    return NULL;
}

static void test_two_threads(void)
{
    for (size_t i = 0; i < KERNELS; i++) {
        struct kernel_machine m;
        pthread_t thread;
        CU_ASSERT_TRUE_FATAL(kernel_open(&m, &kernels[i]));
        CU_ASSERT_TRUE(gpu_program_order_free(m.program));
        struct worker other = {.launch = &m.launch, .first = 1}, own = {.launch = &m.launch, .first = 0};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, work, &other), 0);
        work(&own);
        pthread_join(thread, NULL);
        CHECK(own.good && other.good, "%s", kernels[i].name);
        check_output(&m, &kernels[i], "on two threads");
        kernel_close(&m);
    }
}

static const struct suite_test tests[] = {{"outputs and counts on every path", test_paths},
                                          {"checks find nothing in good kernels", test_sanitized},
                                          {"two host threads", test_two_threads}};
SUITE_MAIN("gpu kernels", tests)
