/* Multiply-accumulates per second of the Neural Engine's executing side with its own rules of addition, beside OpenBLAS sgemm
 * and a plain loop in float on the same host. One thread each; thread time is measured, so other load on the host counts little.
 * Then element-wise work and a lookup table on 4 million elements.
 */
#include "tests/units/ane_exec_example.h"
#include "units/ane/ane_kernel_set.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#define SECONDS     0.7 /* per figure */
#define ROUNDS      7
#define FLOOR_GMACS 12.0 /* on AVX-512: half of what an idle host reaches */

static double now(bool wall)
{
    struct timespec t;
    clock_gettime(wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* OpenBLAS's Fortran sgemm. It is loaded by name because another BLAS is linked as well. */
typedef void (*sgemm_type)(const char *, const char *, const int *, const int *, const int *, const float *, const float *,
                           const int *, const float *, const int *, const float *, float *, const int *);

static sgemm_type openblas(void)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    sgemm_type sgemm = NULL;
    void (*threads)(int) = NULL;
    if (!library)
        return NULL;
    *(void **)&sgemm = dlsym(library, "sgemm_");
    *(void **)&threads = dlsym(library, "openblas_set_num_threads");
    if (threads)
        threads(1);
    return sgemm;
}

/* Seconds of the best run. */
static double run_best(struct ane_example *e, unsigned threads)
{
    const double end = now(true) + SECONDS;
    double best = 1e9;
    while (now(true) < end) { /* long enough to include a quiet moment of the host */
        const double begin = now(threads > 1);
        ane_example_must_run(e, threads);
        const double took = now(threads > 1) - begin;
        best = took < best ? took : best;
    }
    return best;
}

static double conv(const char *path, unsigned threads, uint32_t channels, uint32_t size, uint32_t outputs, uint32_t kernel)
{
    uint64_t state = 1;
    struct ane_example e;
    ane_example_open(&e);
    struct ane_task *t = ane_example_task(&e);
    ane_example_shape(t, channels, size, size, outputs, size, size);
    t->kernel_width = t->kernel_height = kernel;
    t->pad_left = t->pad_top = kernel / 2;
    t->source = ane_example_dram(&e, BAR_IN, channels, size, size);
    t->result = ane_example_dram(&e, BAR_OUT, outputs, size, size);
    ane_example_fill(&e, &t->source, channels, size, size, 1, &state);
    const size_t count = (size_t)channels * kernel * kernel * outputs;
    uint16_t *weight = malloc(count * sizeof *weight);
    for (size_t i = 0; i < count; i++)
        weight[i] = ane_half_bits(ane_example_random(&state, 0.1));
    ane_example_weights(&e, t, weight, NULL);
    double rate = 0;
    if (ane_core_use(e.core, path)) {
        const double took = run_best(&e, threads);
        rate = (double)count * size * size / took * 1e-9;
    }
    free(weight);
    ane_example_close(&e);
    return rate;
}

/* c = a * b of n x n floats: by OpenBLAS, or by a plain loop when sgemm is NULL. */
static double product(sgemm_type sgemm, int n)
{
    const size_t count = (size_t)n * (size_t)n;
    const float one = 1, zero = 0;
    float *a = malloc(3 * count * sizeof *a), *b = a + count, *c = b + count;
    double best = 1e9;
    for (size_t i = 0; i < count; i++) {
        a[i] = 1.0f / (float)(1 + i % 37);
        b[i] = 1.0f / (float)(1 + i % 41);
        c[i] = 0;
    }
    for (int r = 0; r < ROUNDS; r++) {
        const double begin = now(false);
        if (sgemm)
            sgemm("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
        else
            for (int i = 0; i < n; i++)
                for (int l = 0; l < n; l++)
                    for (int j = 0; j < n; j++)
                        c[i * n + j] += a[i * n + l] * b[l * n + j];
        const double took = now(false) - begin;
        best = took < best ? took : best;
    }
    free(a);
    return (double)count * n / best * 1e-9;
}

/* The sums alone, in bursts of 2 ms: what the kernel reaches when nothing else runs on the core. */
static double sums(void)
{
    enum { K = 1152, ROWS = 32 };
    float *panel = aligned_alloc(64, K * ANE_MAC_LANES * sizeof *panel), *weight = malloc(K * ROWS * sizeof *weight);
    float *out = malloc(ROWS * ANE_MAC_LANES * sizeof *out);
    const struct ane_mac_block b = {
        .panel = panel, .weight = weight, .out = out, .k = K, .rows = ROWS, .group = 4, .align = 4096};
    uint64_t state = 1;
    double best = 1e9;
    for (size_t i = 0; i < K * ANE_MAC_LANES; i++)
        panel[i] = (float)ane_example_random(&state, 1);
    for (size_t i = 0; i < K * ROWS; i++)
        weight[i] = (float)ane_example_random(&state, 1);
    for (const double end = now(true) + SECONDS; ane_set_avx512.usable() && now(true) < end;) {
        const double begin = now(false);
        for (int i = 0; i < 40; i++)
            ane_set_avx512.mac(&b);
        const double took = now(false) - begin;
        best = took < best ? took : best;
    }
    free(panel);
    free(weight);
    free(out);
    return 40.0 * K * ROWS * ANE_MAC_LANES / best * 1e-9;
}

static double planar(bool two, bool table)
{
    uint64_t state = 1;
    struct ane_example e;
    struct ane_table tanh_table;
    ane_example_open(&e);
    struct ane_task *t = ane_example_task(&e);
    ane_example_shape(t, 1, 2560, 1600, 1, 2560, 1600);
    t->source = ane_example_dram(&e, BAR_IN, 1, 2560, 1600);
    t->result = ane_example_dram(&e, BAR_OUT, 1, 2560, 1600);
    ane_example_fill(&e, &t->source, 1, 2560, 1600, 4, &state);
    t->engine = table ? ANE_ENGINE_NE : ANE_ENGINE_PE;
    t->ne_op = ANE_NE_ELEMENT;
    if (two)
        t->second = ane_example_dram(&e, BAR_SECOND, 1, 2560, 1600);
    if (table && ane_table_make("tanh", NAN, &tanh_table)) {
        t->nonlinear = ANE_TABLE;
        ane_example_table(&e, t, &tanh_table);
    }
    const double took = run_best(&e, 1);
    ane_example_close(&e);
    return 2560.0 * 1600 / took * 1e-6;
}

static void bench_convolutions(void)
{
    const sgemm_type peer = openblas();
    const double first = conv("avx512", 1, 64, 56, 64, 3), second = conv("avx512", 2, 256, 28, 256, 3);
    printf("sums alone:                            %6.2f GMAC/s\n", sums());
    printf("conv 3x3, 64 -> 64 channels, 56x56:    %6.2f GMAC/s\n", first);
    printf("conv 3x3, 256 -> 256 channels, 28x28:  %6.2f GMAC/s, two threads %.2f (wall)\n", conv("avx512", 1, 256, 28, 256, 3),
           second);
    printf("conv 1x1, 512 -> 512 channels, 32x32:  %6.2f GMAC/s\n", conv("avx512", 1, 512, 32, 512, 1));
    printf("conv 3x3, 512 -> 512 channels, 7x7:    %6.2f GMAC/s\n", conv("avx512", 1, 512, 7, 512, 3));
    printf("portable, 64 -> 64, 56x56:             %6.2f GMAC/s\n", conv("portable", 1, 64, 56, 64, 3));
    printf("reference, 64 -> 64, 56x56:            %6.2f GMAC/s\n", conv("reference", 1, 64, 56, 64, 3));
    if (peer)
        printf("OpenBLAS sgemm 1024x1024x1024:         %6.2f GMAC/s\n", product(peer, 1024));
    printf("plain float loop 512x512x512:          %6.2f GMAC/s\n", product(NULL, 512));
    CHECK(first == 0 || first > FLOOR_GMACS, "%g GMAC/s", first);
}

static void bench_elements(void)
{
    printf("planar, one source, 4.1 M elements:    %6.0f M/s\n", planar(false, false));
    printf("planar, two sources:                   %6.0f M/s\n", planar(true, false));
    printf("table (tanh):                          %6.0f M/s\n", planar(false, true));
}

static const struct suite_test tests[] = {{"convolutions", bench_convolutions}, {"elements", bench_elements}};
SUITE_MAIN("bench ane exec", tests)
