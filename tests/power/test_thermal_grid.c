/* The grid model against HotSpot 7.0's output on a shared case, and its time steps against its own steady state. */
#include "power/thermal_grid.h"
#include "tests/power/thermal_case.h"
#include "tests/support/suite.h"

#include <math.h>

static void test_m1_like_grid(void)
{
    struct thermal_case c;
    struct power_error error;
    double worst = 0;

    if (!thermal_case_load("s03_m1like_grid32", &c)) {
        suite_skip("no shared thermal cases");
        return;
    }
    struct thermal_grid *const grid = thermal_grid_create(&c.plan, &c.package, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(grid);
    const size_t cells = thermal_grid_cells(grid);
    double *const kelvin = calloc(cells, sizeof *kelvin), *const mean = calloc(c.plan.count, sizeof *mean);
    for (size_t r = 0; r < c.rows; r++)
        for (size_t b = 0; b < c.plan.count; b++)
            mean[b] += c.power_w[r * c.plan.count + b] / (double)c.rows;
    CU_ASSERT_TRUE(thermal_grid_steady(grid, mean));
    for (unsigned layer = 0; layer < THERMAL_LAYERS; layer++) {
        thermal_grid_layer(grid, layer, kelvin);
        for (size_t i = 0; i < cells; i++)
            worst = fmax(worst, fabs(kelvin[i] - c.grid_k[layer * cells + i]));
    }
    CHECK(worst < 0.1, "steady cells differ by %.3f K", worst);
    for (size_t i = 0; i < c.steady_count; i++) {
        const long block = floorplan_find(&c.plan, c.steady_name[i]);
        if (block >= 0)
            CHECK(fabs(thermal_grid_block(grid, (size_t)block) - c.steady_k[i]) < 0.1, "%s: %.4f K, HotSpot %.4f K",
                  c.steady_name[i], thermal_grid_block(grid, (size_t)block), c.steady_k[i]);
    }
    worst = 0;
    thermal_grid_set_uniform(grid, c.package.initial_k);
    for (size_t r = 0; r < c.rows; r++) {
        CU_ASSERT_TRUE(thermal_grid_step(grid, c.power_w + r * c.plan.count, c.package.sampling_s));
        for (size_t b = 0; b < c.plan.count; b++)
            worst = fmax(worst, fabs(thermal_grid_block(grid, b) - c.trace_k[r * c.plan.count + b]));
    }
    CHECK(worst < 0.1, "trace of block means differs by %.3f K", worst);
    free(mean);
    free(kelvin);
    thermal_grid_free(grid);
    thermal_case_free(&c);
}

static struct thermal_grid *two_block_grid(struct floorplan *plan, struct thermal_package *package)
{
    static const char text[] = "hot 0.002 0.004 0 0\ncool 0.004 0.004 0.002 0\n";
    struct power_error error;

    CU_ASSERT_TRUE_FATAL(floorplan_parse(text, sizeof text - 1, plan, &error));
    thermal_package_init(package);
    package->grid_rows = 6;
    package->grid_cols = 9;
    struct thermal_grid *const grid = thermal_grid_create(plan, package, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(grid);
    return grid;
}

static void test_transient_ends_in_the_steady_state(void)
{
    static const double power_w[2] = {5, 1};
    struct floorplan plan;
    struct thermal_package package;
    struct thermal_grid *const grid = two_block_grid(&plan, &package);

    CU_ASSERT_TRUE(thermal_grid_steady(grid, power_w));
    const double hot = thermal_grid_block(grid, 0), cool = thermal_grid_block(grid, 1);
    CU_ASSERT_TRUE(hot > cool && cool > package.ambient_k);
    thermal_grid_set_uniform(grid, package.ambient_k);
    for (int i = 0; i < 60; i++)
        CU_ASSERT_TRUE(thermal_grid_step(grid, power_w, 60));
    CU_ASSERT_DOUBLE_EQUAL(thermal_grid_block(grid, 0), hot, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(thermal_grid_block(grid, 1), cool, 1e-6);
    thermal_grid_free(grid);
    floorplan_free(&plan);
}

/* The stated error of a 5 ms interval, against 64 steps in its place. */
static void test_interval_error_is_below_the_stated_bound(void)
{
    static const double on_w[2] = {5, 1}, off_w[2] = {0, 0};
    struct floorplan plan;
    struct thermal_package package;
    struct thermal_grid *const coarse = two_block_grid(&plan, &package), *const fine = two_block_grid(&plan, &package);
    double worst = 0;

    thermal_grid_set_uniform(coarse, package.ambient_k);
    thermal_grid_set_uniform(fine, package.ambient_k);
    for (int i = 0; i < 12; i++) {
        const double *const power_w = i % 4 < 2 ? on_w : off_w;
        CU_ASSERT_TRUE(thermal_grid_step(coarse, power_w, 5e-3));
        for (int k = 0; k < 64; k++)
            CU_ASSERT_TRUE(thermal_grid_step(fine, power_w, 5e-3 / 64));
        for (size_t b = 0; b < 2; b++)
            worst = fmax(worst, fabs(thermal_grid_block(coarse, b) - thermal_grid_block(fine, b)));
    }
    CHECK(worst < 0.02, "interval error %.4f K", worst);
    thermal_grid_free(coarse);
    thermal_grid_free(fine);
    floorplan_free(&plan);
}

static const struct suite_test tests[] = {
    {"M1-like die of 32 x 32 cells: within 0.1 K of HotSpot", test_m1_like_grid},
    {"a transient ends in the steady state", test_transient_ends_in_the_steady_state},
    {"the error of an interval is below the stated bound", test_interval_error_is_below_the_stated_bound},
};
SUITE_MAIN("thermal grid", tests)
