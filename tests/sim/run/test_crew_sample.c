/* A sample of a kernel whose threads have several cores stands for the whole: time and energy are near those of every instruction
 * timed, everything that does not hang on time is counted alike, and the answer is the same whatever the host's threads.
 */
#include "isa/array_count.h"
#include "tests/sim/run_example.h"

#include <math.h>

struct shared_case {
    const char *chip, *workload, *unit, *precision;
    unsigned cores;
    double bound; /* of the time, relative */
};

static const struct shared_case cases[] = {
    {"m1", "gemm:448x448x448", "cpu", "f32", 4, 0.01},
    {"m1", "gemm:384x384x448", "cpu", "f32", 8, 0.01}, /* P and E cores */
    {"m1-max", "gemm:512x640x512", "amx", "f64", 2, 0.01},
};

static struct outcome run_case(const struct chip_db *db, const struct shared_case *c, const char *detail, unsigned threads)
{
    const struct run_request request = {.unit = c->unit,
                                        .precision = c->precision,
                                        .cores = c->cores,
                                        .mode = RUN_TIMING,
                                        .detail = detail,
                                        .seed = 3,
                                        .threads = threads};
    struct outcome o = run_on(db, c->chip, c->workload, request);
    CHECK(o.ok, "%s on %s: %s", c->workload, c->chip, o.error.text);
    return o;
}

static void check_alike(const struct shared_case *c, const struct run_result *whole, const struct run_result *part)
{
    static const char *const counted[] = {"activity.cpu_instructions", "activity.amx_instructions", "activity.cpu_branches",
                                          "activity.amx_f32_macs", "program.cores"};
    CU_ASSERT_STRING_EQUAL(whole->detail, "instr");
    CU_ASSERT_STRING_EQUAL(part->detail, "sampled");
    CHECK(fabs(part->seconds / whole->seconds - 1) < c->bound, "%s: %g of %g us", c->workload, 1e6 * part->seconds,
          1e6 * whole->seconds);
    CHECK(fabs(part->joules / whole->joules - 1) < c->bound, "%s: %g of %g J", c->workload, part->joules, whole->joules);
    for (size_t i = 0; i < ARRAY_COUNT(counted); i++) {
        const double a = run_values_get(&whole->counters, counted[i]), b = run_values_get(&part->counters, counted[i]);
        /* Threads that wait for one another go round a few times more or less. */
        CHECK((isnan(a) && isnan(b)) || fabs(a - b) <= 1e-3 * a, "%s: %s is %.0f, not %.0f", c->workload, counted[i], b, a);
    }
}

static void test_several_cores(void)
{
    struct orch_error error = {0};
    struct chip_db *const db = chip_db_open(NULL, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(db);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct outcome whole = run_case(db, &cases[i], "instr", 1), part = run_case(db, &cases[i], "sampled", 1);
        if (whole.ok && part.ok)
            check_alike(&cases[i], &whole.result, &part.result);
        run_result_free(&whole.result);
        run_result_free(&part.result);
    }
    chip_db_close(db);
}

static void test_same_at_every_repeat(void)
{
    struct orch_error error = {0};
    struct chip_db *const db = chip_db_open(NULL, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(db);
    struct outcome one = run_case(db, &cases[1], "sampled", 1), two = run_case(db, &cases[1], "sampled", 2);
    CU_ASSERT_EQUAL(one.result.seconds, two.result.seconds);
    CU_ASSERT_EQUAL(one.result.joules, two.result.joules);
    for (size_t k = 0; k < one.result.counters.count && k < two.result.counters.count; k++)
        CHECK(one.result.counters.item[k].value == two.result.counters.item[k].value, "%s", one.result.counters.item[k].name);
    run_result_free(&one.result);
    run_result_free(&two.result);
    chip_db_close(db);
}

static const struct suite_test tests[] = {
    {"a sample stands for all cores", test_several_cores},
    {"the same at every repeat", test_same_at_every_repeat},
};
SUITE_MAIN("crew sample", tests)
