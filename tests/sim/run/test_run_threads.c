/* Timing that runs on a thread of its own, beside the execution, gives the answer that one thread gives: times, counters and
 * energy to the last digit, and the same results.
 */
#include "isa/array_count.h"
#include "tests/sim/run_example.h"

struct workload {
    const char *chip, *workload, *precision;
    enum run_mode mode;
    bool cold;
    unsigned repeat;
};

/* Packed and unpacked panels, borders that are copied to the side, an old C, scalar code between tiles. */
static const struct workload workloads[] = {
    {"m1", "gemm:256x192x320", "f32", RUN_FULL, false, 1},
    {"m1-max", "gemm:100x70x130,beta=1", "f64", RUN_FULL, true, 1},
    {"m2", "gemm:129x127x65,alpha=2,beta=3", "f32", RUN_FULL, false, 3},
    {"m3-max", "gemm:96x200x64", "i8", RUN_TIMING, false, 1},
    {"m4", "gemm:64x64x256", "bf16", RUN_FULL, false, 1},
    {"m1-ultra", "gemm:128x64x64,batch=3", "f16", RUN_FULL, true, 2},
    {"m1", "gemv:300x500", "f32", RUN_FULL, false, 1},
};

static struct outcome run_with(const struct chip_db *db, const struct workload *w, unsigned threads)
{
    const struct run_request request = {.precision = w->precision,
                                        .unit = "amx",
                                        .mode = w->mode,
                                        .cold = w->cold,
                                        .repeat = w->repeat,
                                        .seed = 7,
                                        .threads = threads};
    struct outcome o = run_on(db, w->chip, w->workload, request);
    CHECK(o.ok, "%s on %s: %s", w->workload, w->chip, o.error.text);
    return o;
}

static void check_same_values(const struct run_values *a, const struct run_values *b, const char *what, const char *workload)
{
    CHECK(a->count == b->count, "%s: %zu and %zu %s", workload, a->count, b->count, what);
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        const double x = a->item[i].value, y = run_values_get(b, a->item[i].name);
        CHECK(memcmp(&x, &y, sizeof x) == 0, "%s: %s %.17g and %.17g", workload, a->item[i].name, x, y);
    }
}

static void check_same(const struct run_result *a, const struct run_result *b, const char *workload)
{
    for (size_t i = 0; i < run_number_field_count(); i++) {
        const struct run_number_field *field = run_number_field(i);
        const double x = run_number_of(a, field), y = run_number_of(b, field);
        CHECK(strncmp(field->name, "host_", 5) == 0 || memcmp(&x, &y, sizeof x) == 0, "%s: %s %.17g and %.17g", workload,
              field->name, x, y);
    }
    check_same_values(&a->counters, &b->counters, "counters", workload);
    check_same_values(&a->stalls, &b->stalls, "stalls", workload);
    check_same_values(&a->joules_by, &b->joules_by, "parts with joules", workload);
    CHECK(a->checksum.count == b->checksum.count, "%s: outputs", workload);
    for (size_t i = 0; i < a->checksum.count && i < b->checksum.count; i++)
        CHECK(a->checksum.item[i].fnv1a64 == b->checksum.item[i].fnv1a64, "%s: %s", workload, a->checksum.item[i].output);
}

static void test_threads_change_nothing(void)
{
    struct orch_error error = {0};
    struct chip_db *db = chip_db_open(NULL, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(db);
    for (size_t i = 0; i < ARRAY_COUNT(workloads); i++) {
        struct outcome one = run_with(db, &workloads[i], 1);
        for (unsigned times = 0; times < 3; times++) {
            struct outcome two = run_with(db, &workloads[i], 2);
            CHECK(one.result.seconds > 0, "%s takes no time", workloads[i].workload);
            check_same(&one.result, &two.result, workloads[i].workload);
            run_result_free(&two.result);
        }
        run_result_free(&one.result);
    }
    chip_db_close(db);
}

static const struct suite_test tests[] = {
    {"a second thread changes no answer", test_threads_change_nothing},
};
SUITE_MAIN("threads of a run", tests)
