/* Running sums and rows in order of the NEON library, executed: against sums in double precision within i + 1 roundings, and
 * against another way to sort; all types, odd sizes, special values; the same bytes on three threads. */
#include "isa/array_count.h"
#include "tests/sim/cpu_library_example.h"

#include <math.h>

static const char *const types[] = {"f32", "f16", "bf16", "i32", "u32"};

static void test_scan(void)
{
    static const char *const workloads[] = {"scan:1x1",
                                            "scan:3x2",
                                            "scan:5x7",
                                            "scan:4x64",
                                            "scan:2x1001",
                                            "scan:1x4096",
                                            "scan:3x4097",
                                            "scan:2x9000,exclusive=1",
                                            "scan:1x1,exclusive=1",
                                            "scan:7x13,exclusive=1"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, 1); /* sums of halves are too large for long rows */
    neon_all(workloads, ARRAY_COUNT(workloads), types + 3, 2);
    neon_all(workloads, 5, types + 1, 2);
}

static void test_sort(void)
{
    static const char *const workloads[] = {"sort:1x1",
                                            "sort:3x2",
                                            "sort:5x7",
                                            "sort:4x32",
                                            "sort:2x33",
                                            "sort:1x1000",
                                            "sort:3x4097",
                                            "sort:5x7,descending=1",
                                            "sort:2x300,descending=1"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

static double special(const struct neon_example *x, unsigned operand, uint64_t index)
{
    static const double values[] = {1, -INFINITY, 0, NAN, INFINITY, -1, 1e-40, -1e30};
    (void)x;
    (void)operand;
    return values[index % ARRAY_COUNT(values)];
}

/* 48 numbers, six of each; NaN behind infinity. */
static void test_special_values(void)
{
    static const double want[] = {-INFINITY, -1e30, -1, 0, 1e-40, 1, INFINITY, NAN};
    for (int descending = 0; descending < 2; descending++) {
        struct neon_example x = {.value = special};
        const bool ok = neon_run(&x, descending ? "sort:1x48,descending=1" : "sort:1x48", "f32", 1);
        CHECK(ok, "%s", x.error.text);
        const float *const out = ok ? (const float *)(const void *)neon_bytes(&x, routine_result(&x.library.work)) : NULL;
        for (int i = 0; out && i < 48; i++) {
            const double value = (double)(float)want[descending ? 7 - i / 6 : i / 6];
            CHECK(isnan(value) ? isnan(out[i]) : (double)out[i] == value, "%d: %g, not %g", i, (double)out[i], value);
        }
        neon_close(&x);
    }
}

static void test_comparison_can_fail(void)
{
    struct neon_example x = {.seed = 5};
    struct routine_difference d = {.wrong = 0};
    const bool ran = neon_run(&x, "sort:2x100", "i32", 1);
    CHECK(ran, "%s", x.error.text);
    uint8_t *const at = ran ? neon_bytes(&x, routine_result(&x.library.work)) : NULL;
    if (at) {
        int32_t pair[2];
        memcpy(pair, at + 4 * 120, sizeof pair);
        CHECK(pair[0] < pair[1], "%d and %d", pair[0], pair[1]);
        memcpy(at + 4 * 120, &pair[1], 4);
        memcpy(at + 4 * 121, &pair[0], 4);
        CHECK(routine_compare(&x.library.request, &x.library.work, (const double *const *)x.before, at, &d) && d.wrong == 2,
              "%llu wrong", (unsigned long long)d.wrong);
    }
    neon_close(&x);
}

static void test_refusals(void)
{
    neon_refused("scan:8", NULL, "columns is missing");
    neon_refused("sort:8x8,exclusive=1", NULL, "no option 'exclusive'");
    neon_refused("sort:8x8", "i8", "f32 f16 bf16 i32 u32");
}

static const struct suite_test tests[] = {
    {"running sums", test_scan},
    {"rows in order", test_sort},
    {"special values", test_special_values},
    {"the comparison can fail", test_comparison_can_fail},
    {"refusals", test_refusals},
};
SUITE_MAIN("neon order", tests)
