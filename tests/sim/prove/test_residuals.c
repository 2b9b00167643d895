/* Spreads of residuals and how well they cover sources that they have not seen: against draws from known distributions and
 * another implementation of the same statistics.
 */
#include "isa/array_count.h"
#include "sim/prove/validate/residual_fit.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Drawn by Python's random (seed 20251121): six sources whose offsets have a deviation of 0.1 and their rows 0.2, and four
 * sources without offsets, whose rows have a deviation of 0.05 about 0.1. */
static const double first_unit[6][10] = {
    {-0.025, -0.328, -0.305, -0.036, -0.068, -0.052, -0.086, 0.003, 0.003, -0.212},
    {-0.264, -0.256, -0.437, -0.081, -0.173, -0.186, -0.174, 0.059, -0.348, -0.147},
    {0.028, 0.200, -0.213, 0.244, 0.052, -0.174, -0.035, 0.058, -0.215, 0.064},
    {-0.232, -0.144, -0.364, -0.096, -0.016, -0.389, -0.120, 0.019, 0.015, -0.199},
    {-0.079, -0.057, 0.117, 0.321, 0.239, 0.225, 0.003, 0.145, 0.094, 0.079},
    {-0.105, -0.125, -0.017, 0.181, -0.304, -0.076, 0.088, -0.003, -0.233, -0.117},
};
static const double second_unit[4][5] = {{0.159, 0.028, 0.079, 0.017, 0.043},
                                         {0.095, 0.040, 0.039, 0.121, 0.066},
                                         {0.107, 0.117, 0.207, 0.197, 0.185},
                                         {0.107, 0.043, 0.041, 0.076, 0.222}};
enum { DRAWN = 80 };

static void fill_drawn(struct residual_sample samples[DRAWN])
{
    static const char *const sources[] = {"s0", "s1", "s2", "s3", "s4", "s5", "t0", "t1", "t2", "t3"};
    for (size_t i = 0; i < 60; i++)
        samples[i] = (struct residual_sample){"gpu", "gemm", sources[i / 10], first_unit[i / 10][i % 10], 0};
    for (size_t i = 0; i < 20; i++)
        samples[60 + i] = (struct residual_sample){"cpu", "stream", sources[6 + i / 5], second_unit[i / 5][i % 5], 0};
}

/* Sets inside[i] by a table without any row of sample i's source. */
static bool leave_out_each(const struct residual_sample *samples, size_t count, bool *inside)
{
    struct residual_table table;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        if (i == 0 || strcmp(samples[i].source, samples[i - 1].source) != 0)
            ok = residual_fit(samples, count, samples[i].source, &table);
        inside[i] = ok && residual_inside(&table, &samples[i]);
    }
    return ok;
}

/* The expected numbers come from the Python script that drew the rows, which shares nothing with this code. */
static void test_drawn_table(void)
{
    static const struct {
        const char *part, *work;
        double low, high;
        unsigned rows, sources;
    } expected[] = {{"", "", -0.34400930, 0.23598199, 80, 10},
                    {"gpu", "gemm", -0.37588296, 0.25814950, 60, 6},
                    {"gpu", "", -0.37588296, 0.25814950, 60, 6},
                    {"cpu", "stream", 0.03130495, 0.24820355, 20, 4}};
    struct residual_sample samples[DRAWN];
    struct residual_table table;
    bool inside[DRAWN];
    unsigned known = 0, crossed = 0;
    fill_drawn(samples);
    CU_ASSERT_FATAL(residual_fit(samples, DRAWN, NULL, &table));
    CHECK(table.count == 5, "%zu groups", table.count);
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++) {
        const struct residual *r = residual_in(table.group, table.count, expected[i].part, expected[i].work);
        CHECK(r && fabs(r->low - expected[i].low) < 1e-7 && fabs(r->high - expected[i].high) < 1e-7 &&
                  r->rows == expected[i].rows && r->sources == expected[i].sources,
              "%s %s: %.8f .. %.8f", expected[i].part, expected[i].work, r ? r->low : NAN, r ? r->high : NAN);
    }
    CHECK(leave_out_each(samples, DRAWN, inside), "memory");
    for (size_t i = 0; i < DRAWN; i++) {
        known += residual_inside(&table, &samples[i]);
        crossed += inside[i];
    }
    CHECK(known == 77 && crossed == 74, "%u rows inside by all sources, %u by the others", known, crossed);
}

static double normal(uint64_t *state)
{
    const double u = ((double)(suite_random(state) >> 11) + 1) / 9007199254740993.0,
                 v = (double)(suite_random(state) >> 11) / 9007199254740992.0;
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* Many sources of one known distribution: nine tenths of the rows of a source that is left out lie inside. */
static void test_coverage(void)
{
    enum { SOURCES = 40, ROWS = 50 };
    static char names[SOURCES][8];
    struct residual_sample *samples = calloc(SOURCES * ROWS, sizeof *samples);
    bool *inside = calloc(SOURCES * ROWS, sizeof *inside);
    uint64_t state = 7;
    unsigned count = 0;
    for (size_t i = 0; i < SOURCES * ROWS; i++) {
        snprintf(names[i / ROWS], sizeof names[0], "%zu", i / ROWS);
        samples[i] = (struct residual_sample){"amx", "gemm", names[i / ROWS], 0.1 + 0.3 * normal(&state), 0};
    }
    CHECK(leave_out_each(samples, SOURCES * ROWS, inside), "memory");
    for (size_t i = 0; i < SOURCES * ROWS; i++)
        count += inside[i];
    /* The interval is sqrt(1 + 1/39) times wider than 1.645 deviations about 0.1: 90.4 %. Three standard errors are 2 %. */
    CHECK(fabs((double)count / (SOURCES * ROWS) - 0.904) < 0.02, "%u of %d inside", count, SOURCES * ROWS);
    free(samples);
    free(inside);
}

/* Few rows, or rows of a single source, have no group of their own. */
static void test_fallback(void)
{
    struct residual_sample samples[DRAWN];
    struct residual_table table;
    fill_drawn(samples);
    for (size_t i = 0; i < 11; i++)
        samples[i].work = "attention";
    for (size_t i = 60; i < DRAWN; i++)
        samples[i].source = "one";
    CU_ASSERT_FATAL(residual_fit(samples, DRAWN, NULL, &table));
    const struct residual *few = residual_in(table.group, table.count, "gpu", "attention"),
                          *one = residual_in(table.group, table.count, "cpu", "stream");
    CHECK(few && strcmp(few->part, "gpu") == 0 && !*few->work, "eleven rows stand for themselves");
    CHECK(one && !*one->part && one->rows == DRAWN, "one source stands for itself");
}

static const struct suite_test tests[] = {
    {"spreads of drawn residuals match those of another implementation", test_drawn_table},
    {"intervals cover nine of ten rows of unseen sources", test_coverage},
    {"groups with too few rows or sources fall back to larger ones", test_fallback},
};
SUITE_MAIN("residuals", tests)
