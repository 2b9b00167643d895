/* A sample of the shipped tables on the simulated chips: what `orchard validate` without arguments does with all rows. */
#include "isa/array_count.h"
#include "sim/prove/validate/jobs.h"
#include "sim/prove/validate/tables.h"
#include "tests/sim/validate_example.h"

#include <stdio.h>
#include <stdlib.h>

/* Every so manieth row of a table, so that the sample takes seconds. */
static const struct {
    const char *name;
    unsigned step;
    size_t least; /* so many of them are modelled */
} samples[] = {
    {"amx-timing.csv", 40, 38},  {"cpu-mem-timing.csv", 8, 16}, {"gpu-timing.csv", 25, 8},
    {"hw-measured.csv", 150, 5}, {"ane-measured.csv", 12, 12},  {"power.csv", 15, 1},
};

/* Rows of the shipped tables are one line each. */
static void add_sample(struct validation *v, const char *name, unsigned step)
{
    struct orch_error error = {0};
    char *const path = validation_shipped_path(name, &error);
    CHECK(path != NULL, "%s", error.text);
    FILE *const in = path ? fopen(path, "r") : NULL;
    char *line = NULL, *text = NULL;
    size_t room = 0, size = 0;
    FILE *const out = open_memstream(&text, &size);
    for (unsigned i = 0; in && getline(&line, &room, in) > 0; i++)
        if (i % step == 0)
            fputs(line, out);
    fclose(out);
    if (in)
        fclose(in);
    CHECK(validation_add_text(v, name, text, size, &error), "%s", error.text);
    free(line);
    free(text);
    free(path);
}

static void test_sample(void)
{
    struct orch_error error = {0};
    struct validation *v = validation_create();
    size_t modelled[ARRAY_COUNT(samples)] = {0};
    for (size_t i = 0; i < ARRAY_COUNT(samples); i++)
        add_sample(v, samples[i].name, samples[i].step);
    CHECK(v->tables == ARRAY_COUNT(samples) && validation_skipped(v) == 0, "%zu rows are at fault", validation_skipped(v));
    CHECK(validation_simulate(v, NULL, NULL, 2, NULL, &error), "%s", error.text);
    CHECK(validation_cross_validate(v, &error), "%s", error.text);
    for (size_t r = 0; r < v->rows; r++) {
        const struct validate_row *const row = &v->row[r];
        CHECK(row->state == VALIDATE_PREDICTED || *row->why, "%s has no reason", row->id);
        for (size_t i = 0; i < v->tables; i++)
            modelled[i] += row->table == v->table[i] && row->state == VALIDATE_PREDICTED;
    }
    for (size_t i = 0; i < ARRAY_COUNT(samples); i++)
        CHECK(modelled[i] >= samples[i].least, "%s: %zu rows are modelled", samples[i].name, modelled[i]);
    struct validation_groups groups;
    CU_ASSERT_FATAL(validation_group_rows(v, "part", &groups, &error));
    const struct validation_group *const all = &groups.all;
    printf("  %zu rows, %zu scored, mean error %.1f %%, median %.1f %%, %.2f of a spreadsheet's over %zu rows\n", all->rows,
           all->score.count, 100 * all->score.mape, 100 * all->score.median_ape, all->beside.mape / all->sheet.mape,
           all->sheet.count);
    CHECK(all->score.count > 40 && all->score.median_ape < 0.2, "median error %g", all->score.median_ape);
    CHECK(all->sheet.count > 10 && all->beside.mape < all->sheet.mape, "%g, a spreadsheet %g", all->beside.mape, all->sheet.mape);
    validation_groups_free(&groups);
    validation_free(v);
}

/* What people without a checkout get. */
static void test_tables_are_sound(void)
{
    static const size_t rows[] = {1654, 201, 377, 1603, 411, 920};
    struct orch_error error = {0};
    struct validation *v = validation_create();
    CHECK(validation_add_shipped(v, &error), "%s", error.text);
    CHECK(validation_skipped(v) == 0 && v->tables == ARRAY_COUNT(rows), "%zu rows at fault", validation_skipped(v));
    for (size_t i = 0; i < v->tables && i < ARRAY_COUNT(rows); i++)
        CHECK(csv_rows(v->table[i]) == rows[i] && csv_find(v->table[i], "source") >= 0, "%s: %zu rows", v->file[i].name,
              csv_rows(v->table[i]));
    for (size_t i = 0; i < v->rows; i++)
        CHECK(*v->row[i].source, "%s has no source", v->row[i].id);
    validation_free(v);
}

static const struct suite_test tests[] = {
    {"a sample of the shipped tables is predicted", test_sample},
    {"the shipped tables can be read, and every row has a source", test_tables_are_sound},
};
SUITE_MAIN("validate tables", tests)
