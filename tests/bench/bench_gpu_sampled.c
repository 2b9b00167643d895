/* GPU timing from a sample of threadgroups against timing of the whole launch, over the kernel library: the error of the busy
 * time and the host time saved. There is no outside peer: the whole timing is the truth here.
 */
#include "isa/array_count.h"
#include "sim/chip/chip.h"
#include "sim/run/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const chips[] = {"m1", "m1-max"};
static const char *const kernels[] = {
    "gemm:1024x1024x256",
    "gemm:2048x2048x512",
    "gemv:65536x1024",
    "copy:32M",
    "stream-triad:16M",
    "elementwise:8000000,op=gelu",
    "softmax:16384x500",
    "layernorm:16384x512",
    "reduce:16384x1024,op=sum",
    "transpose:2048x2048",
    "scan:4096x1024",
    "conv2d:c=32,h=112,w=112,k=64,r=3,s=3,pad=1",
    "attention:b=2,h=8,s=2048,d=64",
    "pool:c=256,h=112,w=112,r=2,s=2,stride=2",
    "gather:1000x512x8000",
    "gather:100000x128x64000",
};

/* Busy seconds; NAN when the run failed. */
static double busy(const struct chip *chip, const char *workload, const char *detail, bool *as_asked, double *host)
{
    const struct run_request request = {
        .chip = chip, .workload = workload, .unit = "gpu", .detail = detail, .mode = RUN_TIMING, .threads = 1};
    struct orch_error error = {0};
    struct run_result result;
    double seconds = NAN;
    run_result_init(&result);
    struct run *run = run_prepare(&request, &error);
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (run && run_execute(run, NULL, 1, &result, &error)) {
        clock_gettime(CLOCK_MONOTONIC, &end);
        *host = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
        seconds = result.device_seconds;
        *as_asked = strcmp(result.detail, detail) == 0;
    } else {
        fprintf(stderr, "%s: %s\n", workload, error.text);
    }
    run_free(run);
    run_result_free(&result);
    return seconds;
}

/* Runs all kernels, or those whose names begin with the argument. */
int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct orch_error error = {0};
    struct chip_db *db = chip_db_open(NULL, &error);
    double sum = 0, worst = 0;
    unsigned count = 0;
    bool ok = db != NULL;
    printf("%-8s %-46s %12s %12s %8s %8s %8s %7s\n", "chip", "kernel", "instr", "sampled", "off", "host", "host", "gain");
    for (size_t c = 0; ok && c < ARRAY_COUNT(chips); c++) {
        struct chip *chip = chip_open(db, chips[c], NULL, &error);
        ok = chip != NULL;
        for (size_t k = 0; ok && k < ARRAY_COUNT(kernels); k++) {
            if (argc > 1 && strncmp(kernels[k], argv[1], strlen(argv[1])) != 0)
                continue;
            bool whole = false, part = false;
            double whole_host = 0, part_host = 0;
            const double b = busy(chip, kernels[k], "sampled", &part, &part_host);
            ok = !isnan(b);
            if (!ok || !part) /* there were too few threadgroups for a sample */
                continue;
            const double a = busy(chip, kernels[k], "instr", &whole, &whole_host);
            ok = !isnan(a);
            const double off = b / a - 1;
            sum += fabs(off);
            worst = fmax(worst, fabs(off));
            count++;
            printf("%-8s %-46s %9.1f us %9.1f us %+6.1f %% %6.2f s %6.2f s %6.1fx\n", chips[c], kernels[k], 1e6 * a, 1e6 * b,
                   100 * off, whole_host, part_host, whole_host / part_host);
        }
        chip_close(chip);
    }
    if (count)
        printf("%u kernels sampled: mean error %.1f %%, largest %.1f %%\n", count, 100 * sum / count, 100 * worst);
    chip_db_close(db);
    if (error.text[0])
        fprintf(stderr, "%s\n", error.text);
    return ok ? 0 : 1;
}
