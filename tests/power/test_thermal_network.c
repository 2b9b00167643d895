/* Thermal networks against closed forms; floorplans and packages that are refused. */
#include "isa/array_count.h"
#include "power/thermal_hotspot.h"
#include "power/thermal_solver.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    for (int i = 1; i <= 50; i++) {
        thermal_step(solver, &watts, 2.5);
        thermal_read(solver, 0, 1, &kelvin);
        CU_ASSERT_DOUBLE_EQUAL(kelvin, 300 + 3 / 0.4 * -expm1(-2.5 * i * 0.4 / 12.5), 1e-9);
    }
    thermal_solver_free(solver);
    thermal_network_free(&network);
}

/* One long step gives the same as many short ones. */
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
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct floorplan plan;
        struct power_error error;
        CU_ASSERT_FALSE(floorplan_parse(cases[i].text, strlen(cases[i].text), &plan, &error));
        CHECK(strstr(error.text, cases[i].expected) != NULL, "case %zu: %s", i, error.text);
    }
}

static const struct suite_test tests[] = {
    {"a single node follows the exponential", test_single_node_follows_the_exponential},
    {"the length of a step does not matter", test_step_length_does_not_matter},
    {"bad floorplans are named", test_bad_floorplans_are_named},
};
SUITE_MAIN("thermal network", tests)
