/* Simdgroup instructions per second of the executing side on three compiled kernels, outputs checked; and how long the same
 * matrix product takes in plain C on this host. */
#include "tests/support/suite.h"
#include "tests/units/gpu_kernel_example.h"

#include <inttypes.h>
#include <pthread.h>
#include <time.h>

#define ROUNDS 3
#define FLOOR_MIPS 50.0 /* of one thread */

/* Hashes (FNV-1a 64) of the outputs whose SHA-256 an independent interpreter of the machine code gives. */
struct bench_case {
    struct kernel_example kernel;
    uint64_t hash;
};

static const struct bench_case cases[] = {
    {{.name = "sgemm_tiled", .main = 128, .constant_first = 16, .constant_halves = 32, .register_halves = 22, .threadgroup_memory = 2048,
      .group = {16, 16, 1}, .groups = {32, 32, 1},
      .argument = {{"A", 'f', 1001, 262144, 0}, {"B", 'f', 1002, 262144, 0}, {"C", '0', 0, 262144, 0}, {"N", 's', 512, 0, 0}, {"K", 's', 512, 0, 0}},
      .out = 2, .instructions = 27140096}, UINT64_C(0x3acb56b046ba42d4)},
    {{.name = "mandelbrot", .register_halves = 18, .group = {8, 8, 1}, .groups = {32, 32, 1},
      .argument = {{"out", '0', 0, 65536, 0}, {"width", 's', 256, 0, 0}, {"x0", 's', 0xbff00000, 0, 0}, {"y0", 's', 0xbfa00000, 0, 0},
                   {"step", 's', 0x3c200000, 0, 0}, {"limit", 's', 256, 0, 0}},
      .out = 0, .instructions = 2021164}, UINT64_C(0xc30236fb3b2c6b7d)},
    {{.name = "hash_u32", .main = 128, .constant_first = 10, .constant_halves = 8, .register_halves = 10, .group = {64, 1, 1}, .groups = {1024, 1, 1},
      .argument = {{"x", 'u', 1003, 65536, 0}, {"y", '0', 0, 65536, 0}, {"rounds", 's', 64, 0, 0}},
      .out = 1, .instructions = 1751040}, UINT64_C(0xcfb0ef5f47d06864)},
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t fnv(const uint8_t *bytes, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

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

/* Best of some rounds, seconds; negative when something failed. */
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
    const double traced = timed(&m.launch, 1, true), two = timed(&m.launch, 2, false), million = (double)c->kernel.instructions / 1e6;
    const size_t bytes = 4U * c->kernel.argument[c->kernel.out].count;
    const uint64_t hash = fnv(mem_at(m.space, m.address[c->kernel.out], bytes, MEM_READ), bytes);
    const bool good = *one > 0 && traced > 0 && two > 0 && hash == c->hash;
    printf("%-12s %6.1f ms %6.1f M/s, recording %6.1f M/s, two threads %6.1f ms, output %016" PRIx64 "%s\n", c->kernel.name,
           *one * 1e3, million / *one, million / traced, two * 1e3, hash, good ? "" : " WRONG");
    kernel_close(&m);
    return good;
}

/* The same product as sgemm_tiled, in order of k. */
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
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        good = bench_kernel(&cases[i], &one) && good;
        if (i == 0)
            sgemm = one;
        if ((double)cases[i].kernel.instructions / 1e6 / one < FLOOR_MIPS)
            printf("  below the floor of %.0f M/s\n", FLOOR_MIPS);
    }
    const double plain = plain_product();
    printf("sgemm_tiled 512 against plain C -O2 on this host: %.1f ms / %.1f ms = %.1f times\n", sgemm * 1e3, plain * 1e3, sgemm / plain);
    return good ? 0 : 1;
}
