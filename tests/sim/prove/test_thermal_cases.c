/* The thermal models against HotSpot 7.0's own output, conservation of energy, and impossible cases. */
#include "isa/array_count.h"
#include "power/thermal_solver.h"
#include "sim/prove/check/thermal_cases.h"
#include "sim/machine/thermal/thermal_case.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_shared_cases_match_hotspot(void)
{
    struct check_report report = {0};
    struct orch_error error = {0};
    const char *const folder = suite_shared("vectors/thermal");

    if (!folder) {
        suite_skip("no thermal cases beside the checkout");
        return;
    }
    CU_ASSERT_TRUE(check_thermal_cases(folder, NULL, 0, &report, &error));
    CHECK(report.failed == 0 && report.passed >= 3, "%lu passed, %lu failed: %s", report.passed, report.failed,
          report.failures.count ? report.failures.text[0] : "");
    check_report_free(&report);
}

/* Over a whole trace, the energy that goes in comes out or is stored. */
static void test_energy_is_kept(void)
{
    const char *const folder = suite_shared("vectors/thermal/s02_m1like_fan_block");
    struct thermal_case c;
    struct thermal_network network;
    struct orch_error error = {0};
    struct power_error why;

    if (!folder) {
        suite_skip("no thermal cases beside the checkout");
        return;
    }
    CU_ASSERT_TRUE_FATAL(thermal_case_load(folder, &c, &error));
    CU_ASSERT_TRUE_FATAL(thermal_hotspot_network(&c.plan, &c.package, &network, &why));
    struct thermal_solver *const solver = thermal_solver_create(&network, c.package.ambient_k, &why);
    CU_ASSERT_PTR_NOT_NULL_FATAL(solver);
    thermal_set_uniform(solver, c.package.initial_k);
    for (size_t r = 0; r < c.rows; r++)
        thermal_step(solver, c.power_w + r * c.plan.count, c.package.sampling_s);
    const struct thermal_balance e = thermal_energy(solver);
    CHECK(fabs(e.in_j - e.out_j - e.stored_j) <= 1e-9 * (e.in_j + fabs(e.out_j) + fabs(e.stored_j)),
          "%.12g J in, %.12g out, %.12g stored", e.in_j, e.out_j, e.stored_j);
    thermal_solver_free(solver);
    thermal_network_free(&network);
    thermal_case_free(&c);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
}

static void test_bad_cases_name_file_and_line(void)
{
    static const struct {
        const char *plan, *params, *power, *expected;
    } cases[] = {
        {"a 0.004 0.004 0 0\nb 0.004 0.004 0.002 0\n", "", "a b\n1 1\n", "overlap"},
        {"a 0.004 0.004 0 0\n", "t_chip x\n", "a\n1\n", "params.txt:1: t_chip needs a number"},
        {"a 0.004 0.004 0 0\n", "t_chop 1\n", "a\n1\n", "unknown key t_chop"},
        {"a 0.004 0.004 0 0\n", "s_spreader 0.001\n", "a\n1\n", "smaller than the die"},
        {"a 0.004 0.004 0 0\n", "", "a\n-1\n", "negative power"},
        {"a 0.004 0.004 0 0\n", "", "a\n1\n1 2\n", "power.ptrace:3: expected one number a block"},
        {"a 0.004 0.004 0 0\n", "", "b\n1\n", "b is no block"},
        {"a 0.004 0.004 0 0\n", "", "a\n", "at least one row"},
        {"a 0.004 0.004 0 0\n", "sampling_intvl 0\n", "a\n1\n", "above 0"},
    };
    char folder[] = "/tmp/orchard-thermal-XXXXXX", path[300];

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct thermal_case c;
        struct orch_error error = {0};
        write_file(folder, "floorplan.flp", cases[i].plan);
        write_file(folder, "params.txt", cases[i].params);
        write_file(folder, "power.ptrace", cases[i].power);
        CU_ASSERT_FALSE(thermal_case_load(folder, &c, &error));
        CU_ASSERT_EQUAL(error.exit_code, ORCH_USAGE);
        CHECK(strstr(error.text, cases[i].expected) != NULL, "case %zu: %s", i, error.text);
    }
    for (const char *const *name = (const char *const[]){"floorplan.flp", "params.txt", "power.ptrace", NULL}; *name; name++) {
        snprintf(path, sizeof path, "%s/%s", folder, *name);
        unlink(path);
    }
    rmdir(folder);
}

static const struct suite_test tests[] = {
    {"steady states, traces and maps match HotSpot", test_shared_cases_match_hotspot},
    {"energy is conserved", test_energy_is_kept},
    {"bad cases are refused with file and line", test_bad_cases_name_file_and_line},
};
SUITE_MAIN("thermal cases", tests)
