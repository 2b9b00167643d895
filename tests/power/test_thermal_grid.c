/* The time steps of the grid model, against its own steady state and against shorter steps. */
#include "power/thermal_grid.h"
#include "tests/support/suite.h"

#include <math.h>

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

/* The stated error of a 5 ms interval, against 64 steps instead of it. */
static void test_interval_error_is_below_the_stated_bound(void)
{
    static const double on_w[2] = {5, 1}, off_w[2] = {0, 0};
    struct floorplan plan, same;
    struct thermal_package package;
    struct thermal_grid *const coarse = two_block_grid(&plan, &package), *const fine = two_block_grid(&same, &package);
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
    floorplan_free(&same);
}

static const struct suite_test tests[] = {
    {"a transient ends in the steady state", test_transient_ends_in_the_steady_state},
    {"the error of an interval is below the stated bound", test_interval_error_is_below_the_stated_bound},
};
SUITE_MAIN("thermal grid", tests)
