/* Every chip has plausible energies and operating points for every domain. */
#include "sim/chip/chip_floorplan.h"
#include "sim/chip/chip_power.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct chip *opened(const struct chip_db *db, const char *id)
{
    struct orch_error error = {0};
    struct chip *const chip = chip_open(db, id, NULL, &error);
    CHECK(chip != NULL, "%s: %s", id, error.text);
    return chip;
}

static void check_chip(const struct chip *chip)
{
    struct power_params params;
    unsigned slices[POWER_DOMAIN_COUNT];
    struct orch_error error = {0};

    CHECK(chip_power_params(chip, &params, &error), "%s: %s", chip_id(chip), error.text);
    CHECK(chip_power_slices(chip, slices, &error), "%s: %s", chip_id(chip), error.text);
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        struct opp_table table;
        CHECK(chip_opp_table(chip, d, &table, &error), "%s %s: %s", chip_id(chip), power_domain_name(d), error.text);
        CHECK(table.count >= 1 && table.point[table.count - 1].volts > 0.4 && table.point[table.count - 1].volts < 1.3,
              "%s %s: %.3f V", chip_id(chip), power_domain_name(d), table.point[table.count ? table.count - 1 : 0].volts);
        CHECK(slices[d] >= 1 && slices[d] <= 256, "%s %s: %u slices", chip_id(chip), power_domain_name(d), slices[d]);
    }
}

/* All the power that goes in is spread over the blocks. */
static void check_floorplan(const struct chip *chip)
{
    struct chip_floorplan f;
    struct orch_error error = {0};
    double domain_w[POWER_DOMAIN_COUNT], sum = 0, die = 0;
    const unsigned busy[POWER_DOMAIN_COUNT] = {[POWER_P_CPU] = 2, [POWER_GPU] = 4};

    const bool ok = chip_floorplan(chip, &f, &error);
    CHECK(ok, "%s: %s", chip_id(chip), error.text);
    if (!ok)
        return;
    for (int d = 0; d < POWER_DOMAIN_COUNT; d++)
        domain_w[d] = 1 + d;
    double *const watts = calloc(f.plan.count, sizeof *watts);
    chip_floorplan_spread(&f, domain_w, busy, watts);
    for (size_t i = 0; i < f.plan.count; i++)
        sum += watts[i] * f.dies;
    CHECK(fabs(sum - POWER_DOMAIN_COUNT * (POWER_DOMAIN_COUNT + 1) / 2) < 1e-9, "%s: %.12g W spread", chip_id(chip), sum);
    CU_ASSERT_TRUE(chip_number(chip, "area.die_mm2", &die, &error));
    CHECK(fabs(1e6 * f.plan.width_m * f.plan.height_m - die) < 1e-3 * die, "%s: die %.2f mm2", chip_id(chip), die);
    free(watts);
    chip_floorplan_free(&f);
}

static void test_all_chips(void)
{
    struct orch_error error = {0};
    struct chip_db *const db = chip_db_open(NULL, &error);

    CU_ASSERT_PTR_NOT_NULL_FATAL(db);
    for (size_t i = 0; i < chip_db_count(db); i++) {
        if (chip_db_experimental(db, i))
            continue;
        struct chip *const chip = opened(db, chip_db_id(db, i));
        if (chip) {
            check_chip(chip);
            check_floorplan(chip);
        }
        chip_close(chip);
    }
    chip_db_close(db);
}

static void test_published_points_of_m1(void)
{
    struct orch_error error = {0};
    struct chip_db *const db = chip_db_open(NULL, &error);
    struct chip *const m1 = opened(db, "m1");
    struct opp_table p, gpu;
    double mhz;

    CU_ASSERT_PTR_NOT_NULL_FATAL(m1);
    CU_ASSERT_TRUE(chip_opp_table(m1, POWER_P_CPU, &p, &error));
    CU_ASSERT_EQUAL(p.count, 15);
    CU_ASSERT_DOUBLE_EQUAL(p.point[8].mhz, 2388, 0);
    CU_ASSERT_DOUBLE_EQUAL(p.point[8].volts, 0.85, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(p.point[8].switch_us, 36, 1e-9);
    CU_ASSERT_FALSE(p.point[8].volts_supposed);
    CU_ASSERT_TRUE(chip_opp_table(m1, POWER_GPU, &gpu, &error));
    CU_ASSERT_EQUAL(gpu.count, 6);
    CU_ASSERT_TRUE(chip_p_limit_mhz(m1, 1, &mhz, &error));
    CU_ASSERT_DOUBLE_EQUAL(mhz, 3204, 0);
    CU_ASSERT_TRUE(chip_p_limit_mhz(m1, 4, &mhz, &error));
    CU_ASSERT_DOUBLE_EQUAL(mhz, 2988, 0);
    chip_close(m1);
    chip_db_close(db);
}

static void test_unpublished_voltages_follow_the_curve_and_say_so(void)
{
    struct orch_error error = {0};
    struct chip_db *const db = chip_db_open(NULL, &error);
    struct chip *const chip = opened(db, "m1-max");
    struct opp_table p;

    CU_ASSERT_PTR_NOT_NULL_FATAL(chip);
    CU_ASSERT_TRUE(chip_opp_table(chip, POWER_P_CPU, &p, &error));
    CU_ASSERT_EQUAL(p.count, 15);
    CU_ASSERT_TRUE(p.point[0].volts_supposed);
    CU_ASSERT_DOUBLE_EQUAL(p.point[14].volts, 1.0, 1e-9);
    chip_close(chip);
    chip_db_close(db);
}

static const struct suite_test tests[] = {
    {"all chips have energies, operating points and a floorplan", test_all_chips},
    {"M1 has the published operating points", test_published_points_of_m1},
    {"unpublished voltages follow the curve and say so", test_unpublished_voltages_follow_the_curve_and_say_so},
};
SUITE_MAIN("chip power", tests)
