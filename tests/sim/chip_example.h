/* The chips of the source tree, whatever the environment says. */
#ifndef ORCHARD_TESTS_SIM_CHIP_EXAMPLE_H
#define ORCHARD_TESTS_SIM_CHIP_EXAMPLE_H

#include "sim/chip/chip.h"
#include "tests/support/suite.h"

#include <stdio.h>

/* All chips. NULL and a failed check when they cannot be read. */
static inline struct chip_db *example_chips(void)
{
    struct orch_error error = {0};
    struct chip_db *db = chip_db_open(ORCHARD_SOURCE_DIR "/sim/chips", &error);
    CHECK(db != NULL, "%s", error.text);
    return db;
}

/* One chip, with "KEY=VALUE" set unless it is NULL. */
static inline struct chip *example_chip(const struct chip_db *db, const char *id, const char *set)
{
    const struct chip_overrides overrides = {&set, set != NULL};
    struct orch_error error = {0};
    struct chip *chip = chip_open(db, id, &overrides, &error);
    CHECK(chip != NULL, "%s: %s", id, error.text);
    return chip;
}

/* The main function of a suite that keeps all chips in *db while it runs. */
static inline int example_chips_run(const char *name, const struct suite_test *tests, size_t count, struct chip_db **db)
{
    struct orch_error error = {0};
    *db = chip_db_open(ORCHARD_SOURCE_DIR "/sim/chips", &error);
    if (!*db)
        fprintf(stderr, "%s\n", error.text);
    const int code = *db ? suite_run(name, tests, count) : 1;
    chip_db_close(*db);
    return code;
}

#endif
