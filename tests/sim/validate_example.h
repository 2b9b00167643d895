/* Compares measurements given as text with what the chips of the source tree do. */
#ifndef ORCHARD_TESTS_SIM_VALIDATE_EXAMPLE_H
#define ORCHARD_TESTS_SIM_VALIDATE_EXAMPLE_H

#include "sim/prove/validate/soc_runner.h"
#include "sim/prove/validate/validation.h"
#include "tests/sim/chip_example.h"

#include <string.h>

/* `name` is the name of the table ("gpu.csv"). "KEY=VALUE" is set in every chip unless it is NULL. Free with validation_free. */
static inline struct validation *example_validation(const char *name, const char *text, const char *set)
{
    struct orch_error error = {0};
    const struct chip_overrides overrides = {&set, set != NULL};
    struct chip_db *db = example_chips();
    struct soc_runner *runner = soc_runner_create(db, &overrides, NULL);
    struct validation *v = validation_create();
    CU_ASSERT_FATAL(db && runner && v);
    const struct validate_runner hook = soc_runner_hook(runner);
    CHECK(validation_add_text(v, name, text, strlen(text), &error), "%s", error.text);
    CHECK(validation_find_fitted(v, db, &error), "%s", error.text);
    CHECK(validation_run(v, &hook, &error), "%s", error.text);
    soc_runner_free(runner);
    chip_db_close(db);
    return v;
}

/* The row with that id; the test ends when there is none. */
static inline const struct validate_row *example_row(const struct validation *v, const char *id)
{
    size_t i = 0;
    while (i < v->rows && strcmp(v->row[i].id, id) != 0)
        i++;
    CU_ASSERT_FATAL(i < v->rows);
    return &v->row[i];
}

#endif
