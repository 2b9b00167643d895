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
static double busy(const struct chip *chip, const char *workload, const char *detail, bool cold, bool *as_asked, double *host)
{
    const struct run_request request = {
        .chip = chip, .workload = workload, .unit = "gpu", .detail = detail, .mode = RUN_TIMING, .threads = 1, .cold = cold};
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

/* Kernels on chips of two dies, where cores wait for one another, cold: each takes a quarter of a minute to a minute, timed
 * whole. */
static const struct {
    const char *chip, *kernel;
} ultra[] = {
    {"m2-ultra-76", "gemm:4096x4096x512"},
    {"m2-ultra-76", "gemm:4096x4096x1024"},
    {"m2-ultra-76", "gemm:11008x4096x512"},
    {"m2-ultra-76", "gemm:4096x4096x4096"},
    {"m2-ultra-76", "conv2d:n=32,c=128,h=56,w=56,k=128"},
    {"m2-ultra-76", "softmax:131072x2048"},
    {"m2-ultra-76", "stream-triad:1G"},
    {"m3-ultra-80", "gemm:4096x4096x512"},
    {"m3-ultra-80", "gemm:4096x4096x1024"},
    {"m3-ultra-80", "gemm:4096x4096x2048"},
    {"m3-ultra-80", "gemm:8192x4096x512"},
    {"m3-ultra-80", "gemm:256x256x256,batch=1024"},
    {"m3-ultra-80", "conv2d:n=32,c=128,h=56,w=56,k=128"},
    {"m3-ultra-80", "elementwise:268435456,op=gelu"},
    {"m3-ultra-80", "layernorm:131072x1024"},
    {"m1-ultra", "gemm:4096x4096x1024"},
    {"m1-ultra", "gemm:2048x8192x1024"},
    {"m1-ultra", "conv2d:n=32,c=128,h=56,w=56,k=128"},
    {"m1-ultra", "elementwise:134217728,op=gelu"},
    {"m1-ultra", "transpose:16384x8192"},
};

/* The table: kernels of every kind on four chips, cold; launches that are small for some of the chips, that end in a wave of few
 * threadgroups, that are as large as an SLC, skinny or of many small products. */
static const char *const table_chips[] = {"m1", "m1-max", "m2-ultra", "m3-max"};
static const char *const table_kernels[] = {
    "gemm:2048x2048x512",
    "gemm:1056x1056x1024",
    "gemm:16384x64x1024",
    "gemm:256x256x256,batch=64",
    "gemv:32768x2048",
    "conv2d:c=64,h=112,w=112,k=256",
    "conv2d:n=8,c=64,h=56,w=56,k=64,r=3,s=3,pad=1",
    "attention:b=2,h=8,s=1024,d=64",
    "attention:h=12,s=1024,d=128",
    "cache-attention:h=32,s=4096,d=128,kvh=8",
    "softmax:16384x1000",
    "layernorm:16384x768",
    "rmsnorm:8192x2048",
    "groupnorm:n=8,c=512,h=56,w=56",
    "reduce:16384x1024,op=sum",
    "reduce:16384x1024,op=sum,axis=0",
    "copy:24M",
    "stream-triad:96M",
    "elementwise:16000000,op=gelu",
    "transpose:4096x2048",
    "concat:4096x512x512",
    "gather:100000x128x64000",
    "scan:8192x1024",
    "sort:8192x1024",
    "pool:c=512,h=112,w=112,r=2,s=2,stride=2",
    "resize:c=256,h=112,w=112,oh=224,ow=224",
    "rope:b=4,h=32,s=1024,d=128",
    "lattice:128x128x128",
};

struct sums {
    double off, worst;
    unsigned count;
};

/* False when a run failed. */
static bool compare(const struct chip_db *db, const char *chip_name, const char *kernel, bool cold, struct sums *sums,
                    struct orch_error *error)
{
    struct chip *chip = chip_open(db, chip_name, NULL, error);
    bool whole = false, part = false;
    double whole_host = 0, part_host = 0;
    if (!chip)
        return false;
    const double b = busy(chip, kernel, "sampled", cold, &part, &part_host);
    const double a = isnan(b) || !part ? b : busy(chip, kernel, "instr", cold, &whole, &whole_host);
    chip_close(chip);
    if (isnan(a) || !part) /* there were too few threadgroups for a sample */
        return !isnan(a);
    const double off = b / a - 1;
    sums->off += fabs(off);
    sums->worst = fmax(sums->worst, fabs(off));
    sums->count++;
    printf("%-11s %-46s %9.1f us %9.1f us %+6.2f %% %6.2f s %6.2f s %6.1fx\n", chip_name, kernel, 1e6 * a, 1e6 * b, 100 * off,
           whole_host, part_host, whole_host / part_host);
    return true;
}

static bool compare_all(const struct chip_db *db, const char *const *chip, size_t chip_count, const char *const *kernel,
                        size_t kernel_count, const char *begin, bool cold, struct sums *sums, struct orch_error *error)
{
    for (size_t c = 0; c < chip_count; c++)
        for (size_t k = 0; k < kernel_count; k++)
            if (strncmp(kernel[k], begin, strlen(begin)) == 0 && !compare(db, chip[c], kernel[k], cold, sums, error))
                return false;
    return true;
}

/* Runs all kernels, or those whose names begin with the first argument ("" = all); with a second one, "table", those of the
 * table, "ultra", those on chips of two dies. */
int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct orch_error error = {0};
    struct chip_db *db = chip_db_open(NULL, &error);
    const char *begin = argc > 1 ? argv[1] : "";
    const bool two_dies = argc > 2 && strcmp(argv[2], "ultra") == 0;
    const bool table = argc > 2 && strcmp(argv[2], "table") == 0;
    struct sums sums = {0};
    bool ok = db != NULL;
    printf("%-11s %-46s %12s %12s %8s %8s %8s %7s\n", "chip", "kernel", "instr", "sampled", "off", "host", "host", "gain");
    if (ok && table)
        ok = compare_all(db, table_chips, ARRAY_COUNT(table_chips), table_kernels, ARRAY_COUNT(table_kernels), begin, true, &sums,
                         &error);
    else if (ok && !two_dies)
        ok = compare_all(db, chips, ARRAY_COUNT(chips), kernels, ARRAY_COUNT(kernels), begin, false, &sums, &error);
    for (size_t k = 0; ok && two_dies && k < ARRAY_COUNT(ultra); k++)
        if (strncmp(ultra[k].kernel, begin, strlen(begin)) == 0)
            ok = compare(db, ultra[k].chip, ultra[k].kernel, true, &sums, &error);
    if (sums.count)
        printf("%u kernels sampled: mean error %.2f %%, largest %.1f %%\n", sums.count, 100 * sums.off / sums.count,
               100 * sums.worst);
    chip_db_close(db);
    if (error.text[0])
        fprintf(stderr, "%s\n", error.text);
    return ok ? 0 : 1;
}
