/* Simdgroup instructions per second of the executing side on three compiled kernels, whose outputs are checked, and on kernels of
 * the library; and how long the same matrix product takes in plain C on this host.
 */
#include "isa/array_count.h"
#include "tests/bench/gpu_bench_cases.h"
#include "tests/units/gpu_library_example.h"

#include <inttypes.h>
#include <pthread.h>

#define ROUNDS     3
#define FLOOR_MIPS 50.0 /* millions of instructions per second of one thread */

struct worker {
    const struct gpu_launch *launch;
    uint32_t first, step;
    bool traced, good;
};

static void *work(void *argument)
{
    struct worker *w = argument;
    static _Thread_local struct gpu_trace traces[GPU_SIMDGROUPS_MAX];
    struct unit_fault fault;
    uint32_t groups[3];
    struct gpu_group *group = gpu_group_create(w->launch, NULL);
    gpu_launch_groups(w->launch, groups);
    w->good = group != NULL;
    for (uint32_t i = w->first; w->good && i < groups[0] * groups[1]; i += w->step) {
        const uint32_t position[3] = {i % groups[0], i / groups[0], 0};
        for (unsigned t = 0; t < GPU_SIMDGROUPS_MAX; t++)
            gpu_trace_clear(&traces[t]);
        gpu_group_start(group, position, 0);
        w->good = gpu_group_finish(group, w->traced ? traces : NULL, &fault);
    }
    for (unsigned t = 0; t < GPU_SIMDGROUPS_MAX; t++)
        gpu_trace_release(&traces[t]);
    gpu_group_free(group);
    return NULL;
}

/* Seconds of the best round; negative when something failed. */
static double timed(const struct gpu_launch *launch, unsigned threads, bool traced)
{
    double best = 1e9;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct worker w[2] = {{launch, 0, threads, traced, false}, {launch, 1, threads, traced, true}};
        pthread_t other;
        const double begun = seconds();
        if (threads > 1 && pthread_create(&other, NULL, work, &w[1]) != 0)
            return -1;
        work(&w[0]);
        if (threads > 1)
            pthread_join(other, NULL);
        const double took = seconds() - begun;
        best = took < best ? took : best;
        if (!w[0].good || !w[1].good)
            return -1;
    }
    return best;
}

static bool bench_kernel(const struct bench_case *c, double *one)
{
    struct kernel_machine m;
    if (!kernel_open(&m, &c->kernel))
        return false;
    *one = timed(&m.launch, 1, false);
    const double traced = timed(&m.launch, 1, true), two = timed(&m.launch, 2, false),
                 million = (double)c->kernel.instructions / 1e6;
    const uint64_t hash = bench_output_hash(c, &m);
    const bool good = *one > 0 && traced > 0 && two > 0 && hash == c->hash;
    printf("%-12s %6.1f ms %6.1f M/s, recording %6.1f M/s, two threads %6.1f ms, output %016" PRIx64 "%s\n", c->kernel.name,
           *one * 1e3, million / *one, million / traced, two * 1e3, hash, good ? "" : " WRONG");
    kernel_close(&m);
    return good;
}

/* Kernels of the library. Suites check their outputs. */
static bool bench_library(const char *workload, const char *precision)
{
    struct gpu_example x;
    if (!example_open(&x, workload, precision, 8)) {
        printf("%s: %s\n", workload, x.text);
        return false;
    }
    double best = 1e9;
    bool good = true;
    example_fill(&x, 1);
    for (unsigned round = 0; round < ROUNDS && good; round++) {
        const double begun = seconds();
        x.instructions = 0;
        good = example_run(&x, false);
        const double took = seconds() - begun;
        best = took < best ? took : best;
    }
    printf("%-42s %-3s %6.2f ms %6.1f ns per instruction%s\n", workload, precision, best * 1e3,
           best * 1e9 / (double)(x.instructions ? x.instructions : 1), good ? "" : " WRONG");
    example_close(&x);
    return good;
}

static bool bench_library_all(void)
{
    static const char *const workload[][2] = {{"softmax:256x1000", "f32"},
                                              {"elementwise:1048576,op=gelu", "f32"},
                                              {"elementwise:1048576,op=sin", "f16"},
                                              {"rmsnorm:256x4096", "f16"},
                                              {"scan:256x4096", "f32"},
                                              {"gemv:512x4096", "f16"},
                                              {"copy:16777216", "f32"},
                                              {"conv2d:c=32,h=32,w=32,k=32,pad=1", "f32"},
                                              {"attention:b=1,h=4,s=256,d=64", "f16"},
                                              {"gemm:512x512x512", "f32"}};
    bool good = true;
    for (size_t i = 0; i < ARRAY_COUNT(workload); i++)
        good = bench_library(workload[i][0], workload[i][1]) && good;
    return good;
}

/* The product that sgemm_tiled computes, with its order of additions over k. */
static double plain_product(void)
{
    enum { N = 512 };
    static float a[N][N], b[N][N], c[N][N];
    for (unsigned i = 0; i < N * N; i++) {
        a[i / N][i % N] = (float)(i % 97) * 0.01f;
        b[i / N][i % N] = (float)(i % 89) * 0.01f;
    }
    const double begun = seconds();
    for (unsigned i = 0; i < N; i++)
        for (unsigned k = 0; k < N; k++)
            for (unsigned j = 0; j < N; j++)
                c[i][j] += a[i][k] * b[k][j];
    const double took = seconds() - begun;
    volatile float keep = c[N - 1][N - 1];
    (void)keep;
    return took;
}

int main(void)
{
    bool good = true;
    double sgemm = 0, one;
    for (size_t i = 0; i < ARRAY_COUNT(bench_cases); i++) {
        good = bench_kernel(&bench_cases[i], &one) && good;
        if (i == 0)
            sgemm = one;
        if ((double)bench_cases[i].kernel.instructions / 1e6 / one < FLOOR_MIPS)
            printf("  below the floor of %.0f M/s\n", FLOOR_MIPS);
    }
    good = bench_library_all() && good;
    const double plain = plain_product();
    printf("sgemm_tiled 512 against plain C -O2 on this host: %.1f ms / %.1f ms = %.1f times\n", sgemm * 1e3, plain * 1e3,
           sgemm / plain);
    return good ? 0 : 1;
}
