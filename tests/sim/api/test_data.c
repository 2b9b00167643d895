/* Verbs and chips as data: what can be asked, and what is known. */
#include "sim/orchard.h"
#include "tests/sim/api/ask_session.h"

#include <math.h>
#include <string.h>

static void test_verbs_as_data(void)
{
    struct orchard_error error;
    const struct orchard_verb *const run = orchard_verb_find("run", &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(run);
    bool has_unit = false;
    for (const struct orchard_option *o = run->options; o->name; o++)
        has_unit |= strcmp(o->name, "unit") == 0 && o->argument && !o->repeat;
    CU_ASSERT_TRUE(has_unit);
    CU_ASSERT_STRING_EQUAL(orchard_common_options()[0].name, "chip");
    CU_ASSERT_STRING_EQUAL(orchard_nearest("unti", LIST("cores", "unit")), "unit");
    CU_ASSERT_PTR_NULL(orchard_nearest("unti", LIST("cores", "memory")));
    CU_ASSERT_PTR_NULL(orchard_nearest("unti", NULL));
}

static void test_values_of_a_chip(void)
{
    struct orchard_error error;
    struct orchard_chips *chips = orchard_chips_open(&error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(chips);
    CU_ASSERT(orchard_chips_count(chips) > 20 && orchard_chips_id(chips, 0) && !orchard_chips_id(chips, 10000));
    struct orchard_chip *chip = orchard_chip_open(chips, "m1-max", LIST("gpu_cores=30"), &error);
    CHECK(chip != NULL, "%s", error.text);
    struct orchard_value v;
    CU_ASSERT(orchard_chip_value(chip, "gpu_cores", &v) && v.known && v.number == 30 && strcmp(v.kind, "guess") == 0);
    CU_ASSERT(orchard_chip_value(chip, "memory_peak_GBps", &v) && v.number > 300 && strcmp(v.unit, "GB/s") == 0);
    CU_ASSERT(v.source[0] && v.kind[0] && v.uncertainty >= 0 && v.description[0]);
    CU_ASSERT(orchard_chip_value(chip, "memory_options_GB", &v) && isnan(v.number) && v.list_count >= 1 && v.list[0] >= 8);
    CU_ASSERT_FALSE(orchard_chip_value(chip, "nosuch", &v));
    CU_ASSERT(orchard_chip_value_at(chip, 0, &v) && v.key);
    CU_ASSERT_FALSE(orchard_chip_value_at(chip, orchard_chip_value_count(chip), &v));
    CU_ASSERT(orchard_chip_id(chip) && orchard_chip_name(chip));
    orchard_chip_close(chip);
    CU_ASSERT_PTR_NULL(orchard_chip_open(chips, "m1-mxa", NULL, &error));
    CHECK(error.code == 2 && strstr(error.text, "did you mean"), "%s", error.text);
    CU_ASSERT_PTR_NULL(orchard_chip_open(chips, "m1", LIST("gpu_cores"), &error));
    CHECK(strncmp(error.text, "set gpu_cores", 13) == 0, "%s", error.text);
    orchard_chips_close(chips);
}

static const struct suite_test tests[] = {
    {"verbs as data", test_verbs_as_data},
    {"values of a chip", test_values_of_a_chip},
};
SUITE_MAIN("verbs and chips as data", tests)
