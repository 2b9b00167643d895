/* Interpolation, effects and Pareto fronts against formulas and brute force. */
#include "sim/ask/sweep/effects.h"
#include "sim/ask/sweep/kriging.h"
#include "sim/ask/sweep/pareto.h"
#include "tests/sim/sweep_example.h"

static double random_unit(uint64_t *state)
{
    return (double)(suite_random(state) >> 11) / 9007199254740992.0;
}

/* Smooth with a rounded corner, like a time between two limits. */
static double smooth(const double *x)
{
    return log(pow(pow(1 / (1 + x[0]), 8) + pow(0.7 / (1 + 0.8 * x[1]), 8), 0.125) + 0.1 * x[2]);
}

static void test_interpolates(void)
{
    enum { N = 120, D = 3 };
    double x[N][D], y[N][1], worst = 0, beyond = 0;
    uint64_t state = 1;
    struct orch_error error = {0};
    struct kriging *const k = kriging_create(D, 1);

    for (int i = 0; i < N; i++) {
        for (int d = 0; d < D; d++)
            x[i][d] = random_unit(&state);
        y[i][0] = smooth(x[i]);
    }
    CHECK(kriging_fit(k, x[0], y[0], N, 1, true, &error), "%s", error.text);
    for (int i = 0; i < 300; i++) {
        double place[D], value, deviation;
        for (int d = 0; d < D; d++)
            place[d] = random_unit(&state);
        kriging_predict(k, place, &value, &deviation);
        worst = fmax(worst, fabs(value - smooth(place)));
        beyond += fabs(value - smooth(place)) > 3 * deviation;
    }
    CHECK(worst < 0.03, "largest error %g", worst);
    CHECK(beyond <= 15, "%g of 300 beyond three deviations", beyond);
    /* The interpolation passes through the given points, where it is certain. */
    double value, deviation;
    kriging_predict(k, x[5], &value, &deviation);
    CU_ASSERT_DOUBLE_EQUAL(value, y[5][0], 1e-3);
    kriging_free(k);
}

enum { KINDS = 12, OF_A_KIND = 4 };

/* Root mean square error at new places of a function that each kind shifts by up to 20 %. */
static double error_with_kinds(struct kriging *k, size_t columns, double *unsure_of_new)
{
    enum { N = KINDS * OF_A_KIND };
    double x[N][4], y[N], shift[KINDS], squares = 0;
    uint64_t state = 5;
    struct orch_error error = {0};
    for (int i = 0; i < KINDS; i++)
        shift[i] = 0.4 * (random_unit(&state) - 0.5);
    double *const flat = &x[0][0];
    for (size_t i = 0; i < N; i++) {
        double at[4] = {random_unit(&state), random_unit(&state), random_unit(&state), (double)(i % KINDS)};
        memcpy(flat + i * columns, at, columns * sizeof *at);
        y[i] = smooth(at) + shift[i % KINDS];
    }
    CHECK(kriging_fit(k, flat, y, N, 1, true, &error), "%s", error.text);
    for (size_t i = 0; i < 200; i++) {
        const double at[4] = {random_unit(&state), random_unit(&state), random_unit(&state), (double)(i % KINDS)};
        double value;
        kriging_predict(k, at, &value, NULL);
        squares += pow(value - smooth(at) - shift[i % KINDS], 2) / 200;
    }
    kriging_predict(k, (double[4]){0.5, 0.5, 0.5, KINDS}, NULL, unsure_of_new);
    return sqrt(squares);
}

/* What places of a kind have in common is found, and a kind that was never seen is known to be unknown. */
static void test_kinds(void)
{
    struct kriging *const with = kriging_create_with_kinds(3, 1), *const without = kriging_create(3, 1);
    double unsure, unused;
    const double off = error_with_kinds(with, 4, &unsure), off_without = error_with_kinds(without, 3, &unused);
    CHECK(off < 0.04 && off < 0.4 * off_without, "error %g, without kinds %g", off, off_without);
    CHECK(unsure > 0.06, "%g", unsure); /* the shifts deviate by 0.12 */
    kriging_free(with);
    kriging_free(without);
}

/* The closed form gives what fitting anew without the point gives. */
static void test_leaving_out(void)
{
    enum { N = 30, D = 2 };
    double x[N][D], y[N][2], place[D];
    uint64_t state = 2;
    struct orch_error error = {0};
    struct kriging *const all = kriging_create(D, 2);

    for (int i = 0; i < N; i++) {
        for (int d = 0; d < D; d++)
            x[i][d] = random_unit(&state);
        y[i][0] = sin(4 * x[i][0]) + x[i][1];
        y[i][1] = exp(x[i][0] * x[i][1]);
    }
    CHECK(kriging_fit(all, x[0], y[0], N, 2, true, &error), "%s", error.text);
    double first[2];
    for (int r = 0; r < 2; r++)
        first[r] = kriging_left_out(all, 0, (size_t)r, NULL);
    memcpy(place, x[0], sizeof place);
    /* The same covariance, with all points but the first. */
    CHECK(kriging_fit(all, x[1], y[1], N - 1, 2, false, &error), "%s", error.text);
    double value[2];
    kriging_predict(all, place, value, NULL);
    for (int r = 0; r < 2; r++)
        CU_ASSERT_DOUBLE_EQUAL(value[r] - y[0][r], first[r], 1e-9);
    kriging_free(all);
}

/* The choice takes the emptiest places, and no two neighbours. */
static void test_choice(void)
{
    double x[20][1], y[20][1], candidate[101][1];
    size_t chosen[2];
    struct orch_error error = {0};
    struct kriging *const k = kriging_create(1, 1);

    for (int i = 0; i < 20; i++) { /* two gaps: 0.2 .. 0.4 and 0.6 .. 0.9 */
        x[i][0] = i < 10 ? 0.02 * i : i < 16 ? 0.42 + 0.03 * (i - 10) : 0.91 + 0.03 * (i - 16);
        y[i][0] = sin(9 * x[i][0]);
    }
    for (int i = 0; i <= 100; i++)
        candidate[i][0] = 0.01 * i;
    CHECK(kriging_fit(k, x[0], y[0], 20, 1, true, &error), "%s", error.text);
    CU_ASSERT_EQUAL_FATAL(kriging_choose(k, candidate[0], 101, 2, chosen), 2);
    CHECK(chosen[0] > 65 && chosen[0] < 85, "%zu", chosen[0]);
    CHECK((chosen[1] > 22 && chosen[1] < 39) || fabs((double)chosen[1] - (double)chosen[0]) > 5, "%zu", chosen[1]);
    kriging_free(k);
}

/* ---- effects ---- */

static double power_law(const double *value, uint64_t point)
{
    const double clock = isnan(value[0]) ? 1398 : value[0], bandwidth = isnan(value[1]) ? 100 : value[1];

    (void)point;
    return pow(clock, -2) * pow(bandwidth, -0.5) * (value[2] > 0 ? 3 : 1);
}

static void test_effects(void)
{
    static const char *const vary[] = {"gpu_max_mhz=1000:1600:7", "memory_peak_GBps=50:200:6log", "precision=f32,f16", NULL};
    char folder[64];
    example_folder(folder);
    const char *const path = example_file(folder, "a.db");
    struct sweep_spec *const spec = example_spec("gemm:8x8x8", 0, vary);
    struct formula formula = {.seconds = power_law};
    struct sweep_done done;
    struct orch_error error = {0};
    struct sweep_effects e;

    spec->tolerance = 0;
    CHECK(example_sweep(spec, path, &formula, 0, 0, &done, &error), "%s", error.text);
    struct sweep_data *const data = example_read(path, "last");
    CHECK(sweep_effects_of(data, 0, SWEEP_seconds, &e, &error), "%s", error.text);
    CU_ASSERT_EQUAL(e.points, 84);
    double order = 0;
    for (size_t i = 0; i < e.count; i++) {
        const struct sweep_effect *const f = &e.effect[i];
        order += f->first_order;
        if (f->key == 0) {
            CU_ASSERT_DOUBLE_EQUAL(f->elasticity, -2, 1e-9);
            CU_ASSERT_DOUBLE_EQUAL(f->low_value, 1600, 0);
            CU_ASSERT_DOUBLE_EQUAL(f->low_response, pow(1600, -2) / 10, 1e-15);
            CU_ASSERT_EQUAL(f->level_count, 7);
        } else if (f->key == 1) {
            CU_ASSERT_DOUBLE_EQUAL(f->elasticity, -0.5, 1e-9);
            CU_ASSERT_DOUBLE_EQUAL(f->high_response, pow(1398, -2) * pow(50, -0.5), 1e-15);
        } else {
            CU_ASSERT_TRUE(isnan(f->elasticity));
            CU_ASSERT_DOUBLE_EQUAL(f->level[1].mean / f->level[0].mean, 3, 1e-9);
            CU_ASSERT_DOUBLE_EQUAL(f->high_response / f->low_response, 3, 1e-9);
        }
    }
    /* The precision has the widest swing, then the clock (2.56), then the bandwidth (2). */
    CU_ASSERT_EQUAL(e.effect[0].key, 2);
    CU_ASSERT_EQUAL(e.effect[1].key, 0);
    /* In a product of three factors, part of the variance belongs to pairs. */
    CHECK(order > 0.7 && order <= 1.0001, "first-order shares add to %g", order);
    CU_ASSERT_DOUBLE_EQUAL(e.base, pow(1398, -2) / 10, 1e-15);
    sweep_effects_free(&e);
    sweep_close(data);
    sweep_spec_free(spec);
    example_remove(folder);
}

static double additive(const double *value, uint64_t point)
{
    const double clock = isnan(value[0]) ? 1398 : value[0], bandwidth = isnan(value[1]) ? 100 : value[1];

    (void)point;
    return 2 - 5e-4 * clock - 4e-3 * bandwidth;
}

static double only_clock(const double *value, uint64_t point)
{
    (void)point;
    return 1 / (isnan(value[0]) ? 1398 : value[0]);
}

/* Shares of both keys and their sum, of a grid (no samples) or of samples of the Latin hypercube. */
static double shares_of(double (*seconds)(const double *value, uint64_t point), unsigned samples, double share[2])
{
    static const char *const levels[] = {"gpu_max_mhz=1000:1600:7", "memory_peak_GBps=50:200:6", NULL},
                             *const ranges[] = {"gpu_max_mhz=1000:1600", "memory_peak_GBps=50:200", NULL};
    char folder[64];
    example_folder(folder);
    const char *const path = example_file(folder, "shares.db");
    struct sweep_spec *const spec = example_spec("gemm:8x8x8", samples, samples ? ranges : levels);
    struct formula formula = {.seconds = seconds};
    struct sweep_done done;
    struct orch_error error = {0};
    struct sweep_effects e;

    spec->tolerance = 0;
    CHECK(example_sweep(spec, path, &formula, 0, 0, &done, &error), "%s", error.text);
    struct sweep_data *const data = example_read(path, "last");
    CHECK(sweep_effects_of(data, 0, SWEEP_seconds, &e, &error), "%s", error.text);
    for (size_t i = 0; i < e.count; i++)
        share[e.effect[i].key] = e.effect[i].first_order;
    sweep_effects_free(&e);
    sweep_close(data);
    sweep_spec_free(spec);
    example_remove(folder);
    return share[0] + share[1];
}

/* A sum of functions of one key each has no pairs: the whole variance is that of the keys. 7 even levels 100 apart have the
 * variance 40000 and 6 levels 30 apart 2625, whose parts here are 0.01 and 0.042. */
static void test_shares_of_a_grid(void)
{
    double share[2] = {0, 0};
    CU_ASSERT_DOUBLE_EQUAL(shares_of(additive, 0, share), 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(share[0], 0.01 / 0.052, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(share[1], 0.042 / 0.052, 1e-9);
}

/* Points at random: shares are near those of the whole range (even distributions), whatever the number of points, never
 * beyond all there is, and a key that does nothing has none or little. */
static void test_shares_of_random_points(void)
{
    static const unsigned samples[] = {4, 10, 15, 20, 25, 30, 40, 50, 60, 100, 200};
    const double clock = pow(600 * 5e-4, 2), bandwidth = pow(150 * 4e-3, 2);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        double share[2] = {0, 0};
        const double sum = shares_of(additive, samples[i], share);
        CHECK(sum <= 1 + 1e-12 && share[0] >= 0 && share[1] >= 0, "%u points: %g + %g", samples[i], share[0], share[1]);
        if (samples[i] >= 100) {
            CHECK(fabs(share[0] - clock / (clock + bandwidth)) < 0.1, "%u points: %g", samples[i], share[0]);
            CHECK(sum > 0.85, "%u points: %g", samples[i], sum); /* keys of 100 points go together, or apart, by a tenth */
        }
        CHECK(shares_of(only_clock, samples[i], share) <= 1 + 1e-12, "%u points: %g + %g", samples[i], share[0], share[1]);
        CHECK(samples[i] < 100 || (share[1] < 0.1 && share[0] > 0.9), "%u points: %g and %g", samples[i], share[0], share[1]);
    }
}

static void test_pareto(void)
{
    enum { N = 400 };
    double value[N * 3];
    bool keep[N];
    uint64_t state = 3;

    for (size_t dimensions = 1; dimensions <= 3; dimensions++) {
        for (size_t i = 0; i < N * dimensions; i++)
            value[i] = floor(random_unit(&state) * 12); /* many equal values */
        CU_ASSERT_TRUE(pareto_front(value, N, dimensions, keep));
        for (size_t i = 0; i < N; i++) {
            bool beaten = false;
            for (size_t j = 0; j < N && !beaten; j++) {
                bool no_worse = true, better = false;
                for (size_t d = 0; d < dimensions; d++) {
                    no_worse = no_worse && value[j * dimensions + d] <= value[i * dimensions + d];
                    better = better || value[j * dimensions + d] < value[i * dimensions + d];
                }
                beaten = no_worse && (better || j < i);
            }
            CHECK(keep[i] == !beaten, "point %zu in %zu dimensions", i, dimensions);
        }
    }
}

static const struct suite_test tests[] = {
    {"a smooth function is interpolated between 120 points, with its error", test_interpolates},
    {"leaving a point out has the error of fitting without it", test_leaving_out},
    {"what places of a kind have in common is found", test_kinds},
    {"points are chosen where nothing is known", test_choice},
    {"effects of a power law are those of its exponents", test_effects},
    {"shares of the variance of a whole grid sum to it", test_shares_of_a_grid},
    {"shares of the variance of random points are never more than it", test_shares_of_random_points},
    {"the Pareto front is what brute force finds", test_pareto},
};
SUITE_MAIN("sweep math", tests)
