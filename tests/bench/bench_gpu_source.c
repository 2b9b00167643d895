/* Device time of kernels written in Metal and OpenCL C (tests/examples/gpu) against the library's own, emitted, for the same
 * operators. Results are compared first. The library is the peer here; clang 16 is needed.
 */
#include "isa/array_count.h"
#include "sim/chip/chip.h"
#include "sim/compile/compile.h"
#include "sim/compile/kernel_launch.h"
#include "sim/run/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FOLDER ORCHARD_SOURCE_DIR "/tests/examples/gpu/"

static const char *const chips[] = {"m1", "m1-max", "m3-max"};

static const struct {
    const char *operator, * shape, *file, *entry;
    uint32_t grid[3], group[3];
} rows[] = {
    {"stream-triad", "16M", "triad.cl", NULL, {1 << 20, 1, 1}, {256, 1, 1}},
    {"reduce", "4096x4096", "reduce.cl", NULL, {4096 * 256, 1, 1}, {0}},
    {"softmax", "4096x1024", "softmax.metal", NULL, {4096 * 256, 1, 1}, {256, 1, 1}},
    {"transpose", "2048x2048", "transpose.metal", NULL, {2048, 512, 1}, {32, 8, 1}},
    {"gemm", "512x512x512", "matmul.metal", NULL, {512, 512, 1}, {16, 16, 1}},
    {"gemm", "512x512x512", "matmul.cl", NULL, {512, 512, 1}, {0}},
    {"gemm", "512x512x512", "gemm.metal", NULL, {1024, 8, 1}, {128, 1, 1}}, /* takes n and k: right where m = n = k */
};

/* Device seconds of one way; NAN after an error, which is told. `right` is whether outputs are as expected. */
static double seconds(const struct chip *chip, size_t row, bool own, enum run_mode mode, bool *right)
{
    char workload[100], file[400];
    const char *const list[] = {file};
    const struct kernel_launch launch = {.grid = {rows[row].grid[0], rows[row].grid[1], rows[row].grid[2]},
                                         .group = {rows[row].group[0], rows[row].group[1], rows[row].group[2]}};
    struct run_request q = {.chip = chip, .workload = workload, .unit = "gpu", .mode = mode, .threads = 2};
    struct orch_error error = {0};
    struct run_result result;
    snprintf(workload, sizeof workload, "%s:%s", rows[row].operator, rows[row].shape);
    snprintf(file, sizeof file, "%s=" FOLDER "%s", rows[row].operator, rows[row].file);
    if (own) {
        q.own = list;
        q.own_count = 1;
        q.entry = rows[row].entry;
        q.launch = &launch;
    }
    run_result_init(&result);
    struct run *const run = run_prepare(&q, &error);
    const bool ok = run && run_execute(run, NULL, 1, &result, &error);
    const double device = ok ? result.device_seconds : NAN;
    if (!ok)
        fprintf(stderr, "%s, %s: %s\n", workload, rows[row].file, error.text);
    *right = ok && !(run_values_get(&result.counters, RUN_COUNTER_AS_EXPECTED) <
                     run_values_get(&result.counters, RUN_COUNTER_EXPECTED));
    run_free(run);
    run_result_free(&result);
    return mode == RUN_FUNCTIONAL && ok ? 0 : device;
}

static bool is_there(const char *file)
{
    char path[400];
    snprintf(path, sizeof path, FOLDER "%s", file);
    if (access(path, R_OK) == 0)
        return true;
    printf("%s is not there\n", path);
    return false;
}

static bool one_row(const struct chip *chip, size_t row, double *ratio)
{
    bool right = false, unused;
    const double checked = seconds(chip, row, true, RUN_FUNCTIONAL, &right);
    const double library = isnan(checked) ? NAN : seconds(chip, row, false, RUN_TIMING, &unused);
    const double own = isnan(library) ? NAN : seconds(chip, row, true, RUN_TIMING, &unused);
    *ratio = own / library;
    if (!isnan(checked) && !right)
        fprintf(stderr, "%s: its results are not those of the library\n", rows[row].file);
    if (isnan(*ratio) || !right)
        return false;
    printf("%-8s %-13s %-12s %-16s %10.1f us %10.1f us %8.2f\n", chip_name(chip), rows[row].operator, rows[row].shape,
           rows[row].file, 1e6 * library, 1e6 * own, *ratio);
    return true;
}

/* Runs all, or the operators whose names begin with the argument. */
int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct orch_error error = {0};
    if (!compile_is_possible(COMPILE_METAL, &error)) {
        printf("left out: %s\n", error.text);
        return 0;
    }
    struct chip_db *const db = chip_db_open(NULL, &error);
    double logs = 0;
    unsigned count = 0;
    bool ok = db != NULL;
    printf("%-8s %-13s %-12s %-16s %13s %13s %8s\n", "chip", "operator", "shape", "source", "library", "source", "ratio");
    for (size_t c = 0; ok && c < ARRAY_COUNT(chips); c++) {
        struct chip *const chip = chip_open(db, chips[c], NULL, &error);
        ok = chip != NULL;
        for (size_t r = 0; ok && r < ARRAY_COUNT(rows); r++) {
            double ratio;
            if ((argc > 1 && strncmp(rows[r].operator, argv[1], strlen(argv[1])) != 0) || !is_there(rows[r].file))
                continue;
            ok = one_row(chip, r, &ratio);
            logs += ok ? log(ratio) : 0;
            count += ok;
        }
        chip_close(chip);
    }
    if (count)
        printf("source over library, geometric mean of %u: %.2f\n", count, exp(logs / count));
    chip_db_close(db);
    if (error.text[0])
        fprintf(stderr, "%s\n", error.text);
    return ok ? 0 : 1;
}
