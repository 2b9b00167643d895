/* Machines: every chip has one, names resolve with the chip, and wrong files are refused by name. */
#include "isa/array_count.h"
#include "sim/chip/chip_floorplan.h"
#include "sim/machine/device/device.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct device *first_with(const struct device_list *list, const char *chip_id)
{
    for (size_t i = 0; i < list->count; i++)
        for (unsigned c = 0; c < list->device[i].chips; c++)
            if (strcmp(list->device[i].chip[c], chip_id) == 0)
                return &list->device[i];
    return NULL;
}

/* The die fits under the spreader, the network can be built, and the resistance to the room is that of its parts. */
static void check_pair(const struct device *d, const struct chip *chip)
{
    struct chip_floorplan f;
    struct thermal_network network;
    struct orch_error error = {0};
    struct power_error why;

    CU_ASSERT_TRUE_FATAL(chip_floorplan(chip, &f, &error));
    const bool ok = thermal_device_network(&f.plan, &d->thermal, 0, &network, &why);
    CHECK(ok, "%s in %s: %s", chip_id(chip), d->id, why.text);
    if (ok)
        thermal_network_free(&network);
    chip_floorplan_free(&f);
}

static void test_every_chip_has_a_machine(void)
{
    struct orch_error error = {0};
    struct device_list list;
    struct chip_db *const db = chip_db_open(NULL, &error);

    CU_ASSERT_PTR_NOT_NULL_FATAL(db);
    CHECK(device_list_load(NULL, &list, &error), "%s", error.text);
    for (size_t i = 0; i < chip_db_count(db); i++) {
        if (chip_db_experimental(db, i))
            continue;
        const struct device *const d = first_with(&list, chip_db_id(db, i));
        CHECK(d != NULL, "no machine has %s", chip_db_id(db, i));
        struct chip *const chip = chip_open(db, chip_db_id(db, i), NULL, &error);
        if (d && chip)
            check_pair(d, chip);
        chip_close(chip);
    }
    for (size_t i = 0; i < list.count; i++)
        for (unsigned c = 0; c < list.device[i].chips; c++) {
            const char *id;
            CHECK(chip_db_resolve(db, list.device[i].chip[c], &id, &error) && strcmp(id, list.device[i].chip[c]) == 0,
                  "%s names the chip %s", list.device[i].id, list.device[i].chip[c]);
        }
    device_list_free(&list);
    chip_db_close(db);
}

static void test_names_resolve_with_the_chip(void)
{
    struct orch_error error = {0};
    struct device_list list;

    CU_ASSERT_TRUE_FATAL(device_list_load(NULL, &list, &error));
    const struct device *d = device_find(&list, "macbook-air", "m1_4p4e_8g", &error);
    CU_ASSERT_TRUE(d && strcmp(d->id, "macbook-air-m1") == 0);
    d = device_find(&list, "MacBook-Air", "m3_4p4e_10g", &error);
    CU_ASSERT_TRUE(d && strcmp(d->id, "macbook-air-m3") == 0);
    CU_ASSERT_PTR_NULL(device_find(&list, "macbook-air", "m1_max_8p2e_32g", &error));
    CHECK(error.exit_code == ORCH_USAGE && strstr(error.text, "mac-studio-m1"), "%s", error.text);
    CU_ASSERT_PTR_NULL(device_find(&list, "macbok-air", "m1_4p4e_8g", &error));
    CHECK(error.exit_code == ORCH_USAGE && strstr(error.text, "did you mean macbook-air"), "%s", error.text);
    device_list_free(&list);
}

static void test_wrong_files_are_named(void)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"{", "x.json:1"},
        {"{\"device\": \"x\", \"nmae\": 1}", "unknown member"},
        {"{\"device\": \"x\"}", "x.json: name: is missing; expected a string"},
        {"{\"device\": \"x\", \"name\": \"X\", \"aliases\": [], \"chips\": [], \"ambient_c\": 500}", "from -50 to 80"},
        {"{\"device\": \"x\", \"name\": \"X\", \"aliases\": [], \"chips\": [1], \"ambient_c\": 20}",
         "x.json: chips[0]: expected a string, got 1"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct orch_error error = {0};
        struct device device;
        CU_ASSERT_FALSE(device_parse("x", cases[i].text, strlen(cases[i].text), &device, &error));
        CHECK(error.exit_code == ORCH_USAGE && strstr(error.text, cases[i].expected), "case %zu: %s", i, error.text);
    }
}

static const struct suite_test tests[] = {
    {"every chip has a machine whose cooling fits it", test_every_chip_has_a_machine},
    {"names of machines resolve with the chip", test_names_resolve_with_the_chip},
    {"wrong files are refused by name", test_wrong_files_are_named},
};
SUITE_MAIN("device", tests)
