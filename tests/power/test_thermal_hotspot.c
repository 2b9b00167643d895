/* The block model against HotSpot 7.0's own output on shared cases, and the solver against closed forms. */
#include "power/thermal_hotspot.h"
#include "power/thermal_solver.h"
#include "tests/support/suite.h"
#include "tests/power/thermal_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_case(const char *name)
{
    struct thermal_case c;
    struct power_error error;
    struct thermal_network network;

    if (!thermal_case_load(name, &c)) {
        suite_skip("no shared thermal cases");
        return;
    }
    CU_ASSERT_TRUE_FATAL(thermal_hotspot_network(&c.plan, &c.package, &network, &error));
    struct thermal_solver *const solver = thermal_solver_create(&network, c.package.ambient_k, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(solver);
    CU_ASSERT_EQUAL(c.steady_count, network.nodes);

    double *const kelvin = calloc(network.nodes, sizeof *kelvin), *const mean = calloc(c.plan.count, sizeof *mean);
    for (size_t r = 0; r < c.rows; r++)
        for (size_t b = 0; b < c.plan.count; b++)
            mean[b] += c.power_w[r * c.plan.count + b] / (double)c.rows;
    thermal_steady(solver, mean, kelvin);
    for (size_t i = 0; i < c.steady_count; i++) {
        CU_ASSERT_STRING_EQUAL(network.node[i].name, c.steady_name[i]);
        CHECK(fabs(kelvin[i] - c.steady_k[i]) < 1e-4, "%s %s: %.6f K, HotSpot %.6f K", name, c.steady_name[i], kelvin[i],
              c.steady_k[i]);
    }
    double worst = 0;
    thermal_set_uniform(solver, c.package.initial_k);
    for (size_t r = 0; r < c.rows; r++) {
        thermal_step(solver, c.power_w + r * c.plan.count, c.package.sampling_s);
        thermal_read(solver, 0, c.plan.count, kelvin);
        for (size_t b = 0; b < c.plan.count; b++)
            worst = fmax(worst, fabs(kelvin[b] - c.trace_k[r * c.plan.count + b]));
    }
    CHECK(worst < 1e-3, "%s: trace differs by %.2e K", name, worst);
    const struct thermal_balance e = thermal_energy(solver);
    CHECK(fabs(e.in_j - e.out_j - e.stored_j) <= 1e-9 * (fabs(e.in_j) + fabs(e.stored_j)), "%s: %.12g J in, %.12g out, %.12g stored",
          name, e.in_j, e.out_j, e.stored_j);
    free(mean);
    free(kelvin);
    thermal_solver_free(solver);
    thermal_network_free(&network);
    thermal_case_free(&c);
}

static void test_four_blocks(void)
{
    check_case("s01_quad4_block");
}

static void test_m1_like_die(void)
{
    check_case("s02_m1like_fan_block");
}

/* One node: T = ambient + P R (1 - exp(-t / RC)). */
static void test_single_node_follows_the_exponential(void)
{
    struct thermal_network network;
    struct power_error error;
    double kelvin, watts = 3;

    thermal_network_init(&network);
    thermal_add_node(&network, "plate", 12.5, 0.4);
    network.powered = 1;
    struct thermal_solver *const solver = thermal_solver_create(&network, 300, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(solver);
    CU_ASSERT_DOUBLE_EQUAL(thermal_slowest_s(solver), 12.5 / 0.4, 1e-9);
    for (int i = 1; i <= 50; i++) {
        thermal_step(solver, &watts, 2.5);
        thermal_read(solver, 0, 1, &kelvin);
        CU_ASSERT_DOUBLE_EQUAL(kelvin, 300 + 3 / 0.4 * -expm1(-2.5 * i * 0.4 / 12.5), 1e-9);
    }
    thermal_solver_free(solver);
    thermal_network_free(&network);
}

/* One long step gives what many short ones give. */
static void test_step_length_does_not_matter(void)
{
    struct thermal_network network;
    struct power_error error;
    double many[3], one[3], watts = 7;

    thermal_network_init(&network);
    const uint32_t die = thermal_add_node(&network, "die", 0.3, 0), plate = thermal_add_node(&network, "plate", 40, 0),
                   case_node = thermal_add_node(&network, "case", 700, 0.5);
    thermal_add_link(&network, die, plate, 0.4);
    thermal_add_link(&network, plate, case_node, 0.5);
    network.powered = 1;
    struct thermal_solver *const solver = thermal_solver_create(&network, 296, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(solver);
    for (int i = 0; i < 1000; i++)
        thermal_step(solver, &watts, 0.9);
    thermal_read(solver, 0, 3, many);
    thermal_set_uniform(solver, 296);
    thermal_step(solver, &watts, 900);
    thermal_read(solver, 0, 3, one);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_DOUBLE_EQUAL(many[i], one[i], 1e-9);
    thermal_solver_free(solver);
    thermal_network_free(&network);
}

static void test_bad_floorplans_are_named(void)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"a 0.001 0.001 0 0\nb 0.001 0.001 0.0005 0\n", "overlap"},
        {"a 0.001 0.001 0 0\nb 0.001 0.001 0.002 0\n", "gaps"},
        {"a 0.001 -1 0 0\n", "positive"},
        {"a 0.001 0.001 0\n", "expected"},
        {"a 0.001 0.001 0 0\na 0.001 0.001 0.001 0\n", "twice"},
        {"a 0.001 0.001 0 nan\n", "expected"},
        {"# nothing\n", "at least one"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct floorplan plan;
        struct power_error error;
        CU_ASSERT_FALSE(floorplan_parse(cases[i].text, strlen(cases[i].text), &plan, &error));
        CHECK(strstr(error.text, cases[i].expected) != NULL, "case %zu: %s", i, error.text);
    }
}

static const struct suite_test tests[] = {
    {"four blocks: steady within 1e-4 K, trace within 1e-3 K of HotSpot", test_four_blocks},
    {"M1-like die: steady within 1e-4 K, trace within 1e-3 K of HotSpot", test_m1_like_die},
    {"a single node follows the exponential", test_single_node_follows_the_exponential},
    {"the length of a step does not matter", test_step_length_does_not_matter},
    {"bad floorplans are named", test_bad_floorplans_are_named},
};
SUITE_MAIN("thermal hotspot", tests)
