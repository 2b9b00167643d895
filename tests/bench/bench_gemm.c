/* Simulated gemm (in-process, instruction detail, with timing on one and on two host threads) against OpenBLAS on one core of the
 * same host in the same run. A run with timing is two passes, because an untimed warm-up goes through the caches first; a cold
 * run is one. */
#include "isa/array_count.h"
#include "sim/run/run.h"

#include <cblas.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

/* Functions taken from OpenBLAS by name, because GSL's CBLAS has the same names and is linked first. */
struct peer {
    void (*set_threads)(int threads);
    char *(*core_name)(void);
    __typeof__(cblas_sgemm) *sgemm;
    __typeof__(cblas_dgemm) *dgemm;
};

static int open_peer(struct peer *peer)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return 0;
    *(void **)&peer->set_threads = dlsym(library, "openblas_set_num_threads");
    *(void **)&peer->core_name = dlsym(library, "openblas_get_corename");
    *(void **)&peer->sgemm = dlsym(library, "cblas_sgemm");
    *(void **)&peer->dgemm = dlsym(library, "cblas_dgemm");
    return peer->set_threads && peer->core_name && peer->sgemm && peer->dgemm;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double openblas_gflops(const struct peer *peer, int n, int is_f64)
{
    const size_t count = (size_t)n * (size_t)n;
    double best = 1e9;
    double *memory = calloc(3 * count, sizeof *memory);
    if (!memory)
        return NAN;
    for (size_t i = 0; i < 2 * count; i++)
        if (is_f64)
            memory[i] = (double)(i % 97) / 97;
        else
            ((float *)memory)[i] = (float)(i % 97) / 97;
    for (int pass = 0; pass < 5; pass++) {
        const double begin = now_s();
        if (is_f64)
            peer->dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, memory, n, memory + count, n, 0,
                        memory + 2 * count, n);
        else
            peer->sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, (float *)memory, n, (float *)(memory + count), n,
                        0, (float *)(memory + 2 * count), n);
        best = fmin(best, now_s() - begin);
    }
    free(memory);
    return 2e-9 * n * n * n / best;
}

struct simulated {
    double host_seconds, amx_per_s, seconds;
};

enum passes { WARMED, COLD };

static int simulate(const struct chip *chip, const char *workload, const char *precision, enum run_mode mode, enum passes passes,
                    unsigned threads, const char *home, struct simulated *out)
{
    struct orch_error error = {0};
    const struct run_request request = {.chip = chip,
                                        .workload = workload,
                                        .precision = precision,
                                        .mode = mode,
                                        .cold = passes == COLD,
                                        .threads = threads,
                                        .home = home,
                                        .seed = 1};
    double best = 1e9;
    for (int pass = 0; pass < 3; pass++) {
        struct run_result result;
        run_result_init(&result);
        struct run *run = run_prepare(&request, &error);
        if (!run || !run_execute(run, NULL, 1, &result, &error)) {
            fprintf(stderr, "%s: %s\n", workload, error.text);
            return 0;
        }
        if (result.host_seconds < best) {
            best = result.host_seconds;
            out->amx_per_s = run_values_get(&result.counters, "amx.instructions") / best;
            out->seconds = result.seconds;
        }
        run_free(run);
        run_result_free(&result);
    }
    out->host_seconds = best;
    return 1;
}

/* The same kernels as AArch64 programs: AMX words between the core's own instructions. */
static int measure_programs(const struct chip *chip)
{
    static const struct {
        const char *precision, *workload;
    } cases[] = {{"f32", "gemm:512x512x512"}, {"f64", "gemm:512x512x512"}, {"f32", "gemm:1024x1024x1024"}};
    printf("%-28s %16s %16s %16s %8s\n", "gemm as a program", "timing on", "one pass", "no timing", "times");
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct simulated timed, cold, functional;
        const char *const workload = cases[i].workload, *const precision = cases[i].precision;
        if (!simulate(chip, workload, precision, RUN_FULL, WARMED, 1, "elf", &timed) ||
            !simulate(chip, workload, precision, RUN_FULL, COLD, 1, "elf", &cold) ||
            !simulate(chip, workload, precision, RUN_FUNCTIONAL, COLD, 1, "elf", &functional))
            return 0;
        printf("%-4s %-23s %8.1f M AMX/s %8.1f M AMX/s %8.1f M AMX/s %8.1f\n", precision, workload, timed.amx_per_s * 1e-6,
               cold.amx_per_s * 1e-6, functional.amx_per_s * 1e-6, cold.host_seconds / functional.host_seconds);
    }
    return 1;
}

int main(void)
{
    static const struct {
        const char *precision;
        int n, peer_f64;
    } cases[] = {{"f32", 1024, 0}, {"f32", 512, 0}, {"f64", 1024, 1}, {"f64", 512, 1}, {"f16", 1024, 0}, {"i8", 1024, 0}};
    struct orch_error error = {0};
    struct chip_db *db = chip_db_open(NULL, &error);
    struct chip *chip = db ? chip_open(db, "m1-max", NULL, &error) : NULL;
    if (!chip) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    struct peer peer;
    if (!open_peer(&peer)) {
        fprintf(stderr, "no libopenblas.so.0\n");
        return 1;
    }
    peer.set_threads(1);
    printf("peer: OpenBLAS, one thread, %s kernels (OPENBLAS_CORETYPE=SkylakeX chooses the AVX-512 ones)\n", peer.core_name());
    printf("%-18s %12s %12s %12s %12s %12s %12s %8s %8s %8s\n", "gemm", "OpenBLAS", "timing on", "one pass", "2 threads",
           "no timing", "M AMX/s", "ratio", "one pass", "2 thr.");
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char workload[64];
        struct simulated timed, cold, overlapped, functional;
        const char *const precision = cases[i].precision;
        const double flop = 2e-9 * cases[i].n * cases[i].n * cases[i].n;
        snprintf(workload, sizeof workload, "gemm:%dx%dx%d", cases[i].n, cases[i].n, cases[i].n);
        if (!simulate(chip, workload, precision, RUN_FULL, WARMED, 1, NULL, &timed) ||
            !simulate(chip, workload, precision, RUN_FULL, COLD, 1, NULL, &cold) ||
            !simulate(chip, workload, precision, RUN_FULL, WARMED, 2, NULL, &overlapped) ||
            !simulate(chip, workload, precision, RUN_FUNCTIONAL, COLD, 1, NULL, &functional))
            return 1;
        const double rate = openblas_gflops(&peer, cases[i].n, cases[i].peer_f64);
        printf("%-4s %-13d %9.1f GF %9.1f GF %9.1f GF %9.1f GF %9.1f GF %12.1f %8.3f %8.3f %8.3f\n", precision, cases[i].n, rate,
               flop / timed.host_seconds, flop / cold.host_seconds, flop / overlapped.host_seconds,
               flop / functional.host_seconds, timed.amx_per_s * 1e-6, flop / timed.host_seconds / rate,
               flop / cold.host_seconds / rate, flop / overlapped.host_seconds / rate);
    }
    if (!measure_programs(chip))
        return 1;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("peak memory of this process, the peer's included: %.0f MB\n", (double)usage.ru_maxrss / 1024);
    chip_close(chip);
    chip_db_close(db);
    return 0;
}
