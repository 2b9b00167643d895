/* What recorded kernels say of others: against a closed form, and of a network by rows of a database. */
#include "sim/ask/study/known.h"
#include "sim/ask/study/learned_rows.h"
#include "sim/run/learned.h"
#include "tests/sim/db_example.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <stdlib.h>

static struct chip_db *chips;

/* ---- a closed form ---- */

static double seconds_of(double flops)
{
    return 3e-9 * pow(flops, 0.8);
}

static struct learned_row product(enum orch_part part, unsigned n, char shape[64])
{
    const double flops = 2.0 * n * n * n;
    snprintf(shape, 64, "%ux%ux%u,ta=0", n, n, n);
    return (struct learned_row){part, false, "gemm", shape, "f32", flops, seconds_of(flops)};
}

/* Products of 64 to 362 by a power law, on the GPU; in either order. */
static struct learned_set *products(bool backwards)
{
    static const unsigned sizes[] = {64, 90, 128, 181, 256, 362};
    struct learned_set *const set = learned_create();
    struct orch_error error;
    char shape[64];
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        const struct learned_row row = product(PART_GPU, sizes[backwards ? ARRAY_COUNT(sizes) - 1 - i : i], shape);
        CHECK(learned_add(set, &row, &error), "%s", error.text);
    }
    learned_sort(set);
    return set;
}

/* On a power law a straight line of logarithms is right between the rows and beside them. */
static void test_power_law(void)
{
    static const unsigned asked[] = {70, 100, 200, 256, 300};
    struct learned_set *const set = products(false);
    char shape[64];
    for (size_t i = 0; i < ARRAY_COUNT(asked); i++) {
        const struct learned_row row = product(PART_GPU, asked[i], shape);
        const struct learned_estimate e = learned_ask(set, &row);
        CHECK(learned_is_sure(&e) && fabs(e.seconds / row.seconds - 1) < 1e-6, "%u: %g, not %g (%u rows)", asked[i], e.seconds,
              row.seconds, e.rows);
        CHECK(fabs(e.error - 0.35 * e.distance) < 1e-6 && (e.distance == 0) == (asked[i] == 256), "%u: %g at %g", asked[i],
              e.error, e.distance);
    }
    learned_free(set);
}

/* Another unit, precision, kernel or kind of core, another function, and what is far away. */
static void test_what_does_not_count(void)
{
    struct learned_set *const set = products(false);
    char shape[64];
    const struct learned_row row = product(PART_GPU, 200, shape), far = product(PART_GPU, 200, (char[64]){0});
    struct learned_row other[6] = {row, row, row, row, row, far};
    other[0].part = PART_AMX;
    other[1].precision = "f16";
    other[2].kernel = "gemv";
    other[3].e_core = true;
    other[4].shape = "200x200x200,ta=0,op=max";
    other[5].shape = "20000x200x200,ta=0";
    for (size_t i = 0; i < ARRAY_COUNT(other); i++) {
        const struct learned_estimate e = learned_ask(set, &other[i]);
        CHECK(e.rows == 0 && isnan(e.seconds) && !learned_is_sure(&e), "question %zu: %u rows", i, e.rows);
    }
    const struct learned_estimate none = learned_ask(NULL, &row);
    CHECK(none.rows == 0 && !learned_is_sure(&none), "no set");
    learned_free(set);
}

/* One row is too few but for its own shape; rows of one place that do not agree are no ground, either. */
static void test_thin_and_scattered(void)
{
    struct learned_set *set = learned_create();
    struct orch_error error;
    char shape[64], near_shape[64];
    struct learned_row row = product(PART_GPU, 200, shape), near = product(PART_GPU, 210, near_shape);
    CHECK(learned_add(set, &row, &error), "%s", error.text);
    learned_sort(set);
    struct learned_estimate own = learned_ask(set, &row), beside = learned_ask(set, &near);
    CHECK(learned_is_sure(&own) && own.seconds == row.seconds && own.error == 0, "%g +- %g", own.seconds, own.error);
    CHECK(beside.rows == 1 && !learned_is_sure(&beside), "%u rows", beside.rows);
    const struct learned_row again[] = {row, row, row}; /* many rows of one place do not tell how time goes with work */
    for (size_t i = 0; i < ARRAY_COUNT(again); i++)
        CHECK(learned_add(set, &again[i], &error), "%s", error.text);
    learned_sort(set);
    struct learned_row larger = product(PART_GPU, 300, near_shape);
    beside = learned_ask(set, &larger);
    CHECK(beside.rows == 4 && !learned_is_sure(&beside) && beside.error > 0.5 * 3 * log(1.49), "%u rows, %g", beside.rows,
          beside.error);
    learned_free(set);
    set = learned_create();
    CHECK(set && learned_add(set, &row, &error), "%s", error.text);
    row.seconds *= 4;
    CHECK(learned_add(set, &row, &error), "%s", error.text);
    learned_sort(set);
    own = learned_ask(set, &row);
    CHECK(own.rows == 2 && !learned_is_sure(&own) && fabs(own.error - log(4)) < 1e-9, "%u rows, %g", own.rows, own.error);
    row.seconds = NAN;
    CHECK(learned_add(set, &row, &error) && learned_count(set) == 2, "a row without a time");
    learned_free(set);
}

/* A merged database has its rows in another order. */
static void test_order(void)
{
    struct learned_set *const a = products(false), *const b = products(true);
    char shape[64], first[CONTENT_HASH_SIZE], second[CONTENT_HASH_SIZE];
    const struct learned_row row = product(PART_GPU, 150, shape);
    learned_hash(a, first);
    learned_hash(b, second);
    const struct learned_estimate x = learned_ask(a, &row), y = learned_ask(b, &row);
    CHECK(strcmp(first, second) == 0 && x.seconds == y.seconds && x.error == y.error, "%.17g, %.17g", x.seconds, y.seconds);
    learned_free(a);
    learned_free(b);
}

/* ---- a network ---- */

static bool says(const struct outcome *o, const char *text)
{
    for (size_t i = 0; i < o->result.placement.count; i++)
        if (strstr(o->result.placement.item[i].why, text))
            return true;
    return false;
}

static const char *const batch[] = {"batch=1"};

static struct outcome run_digits(struct orch_db *db, const struct learned_set *learned, const char *policy)
{
    struct orch_error error;
    struct known *const known = known_create(db, &error);
    const struct run_known ask = known_as_run(known);
    const struct outcome o = run_on(chips, "m1", "tests/examples/networks/digits/model.onnx",
                                    (struct run_request){.unit = "auto",
                                                         .mode = RUN_TIMING,
                                                         .policy = policy,
                                                         .learned = learned,
                                                         .dims = batch,
                                                         .dim_count = 1,
                                                         .known = known ? &ask : NULL,
                                                         .seed = 1});
    known_free(known);
    return o;
}

static struct learned_set *rows_of(struct orch_db *db, const char *set)
{
    struct orch_error error = {0};
    const struct chip_overrides overrides = {&set, set != NULL};
    struct chip *const chip = chip_open(chips, "m1", &overrides, &error);
    struct learned_set *const rows = learned_rows_read(db, chip, NULL, &error);
    CHECK(rows != NULL, "%s", error.text);
    chip_close(chip);
    return rows;
}

/* Nothing learned: every candidate is simulated. Later the same kernels are known; the answer is that of the estimator all the
 * while. Rows are those of the chip as it is, and unread keys change nothing. */
static void test_network(void)
{
    char folder[64];
    example_folder(folder);
    struct orch_db *const db = example_open(example_file(folder, "learned.db"), DB_WRITE);
    struct outcome first = run_digits(db, NULL, "predictive");
    CHECK(first.ok && says(&first, "simulated: no row near") && !says(&first, "known"), "%s", first.error.text);
    struct learned_set *const rows = rows_of(db, NULL), *const other = rows_of(db, "gpu.clock_ghz=1.1"),
                              *const same = rows_of(db, "power.leakage_per_k=0.016");
    CHECK(learned_count(rows) > 5 && learned_count(other) < learned_count(rows), "%zu rows, %zu with another clock",
          learned_count(rows), learned_count(other));
    CHECK(!same || learned_count(same) == learned_count(rows), "%zu rows, %zu", learned_count(rows), learned_count(same));
    struct outcome second = run_digits(db, rows, "predictive"), third = run_digits(NULL, rows, "predictive");
    CHECK(second.ok && says(&second, "(known)") && !says(&second, "simulated"), "%s", second.error.text);
    CHECK(third.ok && says(&third, "nearest 0.00") && second.result.seconds == first.result.seconds &&
              third.result.seconds == first.result.seconds,
          "%s: %g, %g, %g s", third.error.text, first.result.seconds, second.result.seconds, third.result.seconds);
    CHECK(run_assumption_find(&third.result.assumptions, "policy") != NULL, "what it rests on");
    run_result_free(&first.result);
    run_result_free(&second.result);
    run_result_free(&third.result);
    learned_free(rows);
    learned_free(other);
    learned_free(same);
    db_close(db);
    example_remove(folder);
}

static const struct suite_test tests[] = {{"on a power law", test_power_law},
                                          {"what does not count", test_what_does_not_count},
                                          {"thin and scattered sets", test_thin_and_scattered},
                                          {"order of rows", test_order},
                                          {"a network by its database", test_network}};

int main(void)
{
    return example_chips_run("learned", tests, ARRAY_COUNT(tests), &chips);
}
