/* Loads a case folder of HotSpot's output for the thermal suites. */
#ifndef ORCHARD_TESTS_THERMAL_CASE_H
#define ORCHARD_TESTS_THERMAL_CASE_H

#include "power/thermal_hotspot.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct thermal_case {
    struct floorplan plan;
    struct thermal_package package;
    size_t rows;       /* of the power trace */
    double *power_w;   /* [rows][blocks], blocks in the order of the plan */
    size_t steady_count;
    char (*steady_name)[48];
    double *steady_k;
    double *trace_k;   /* [rows][blocks] */
    double *grid_k;    /* [layer][cell] of grid cases, else NULL */
    size_t grid_count;
};

static char *case_text(const char *folder, const char *name, size_t *size)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *const text = malloc(*size + 1);
    if (!text || fread(text, 1, *size, file) != *size)
        *size = 0;
    if (text)
        text[*size] = '\0';
    fclose(file);
    return text;
}

/* Table with a header line of names; `skip` leading columns are no values. Columns are put in the order of the plan. */
static double *case_table(const struct floorplan *plan, char *text, const char *separators, unsigned skip, size_t *rows)
{
    char *save_line, *save;
    char *line = strtok_r(text, "\n", &save_line);
    size_t *const column = calloc(plan->count, sizeof *column), room = strlen(save_line) / 2 + plan->count;
    double *const values = calloc(room, sizeof *values);
    size_t n = 0;

    *rows = 0;
    for (char *word = strtok_r(line, separators, &save); word; word = strtok_r(NULL, separators, &save), n++)
        if (n >= skip && floorplan_find(plan, word) >= 0 && n - skip < plan->count)
            column[n - skip] = (size_t)floorplan_find(plan, word);
    while ((line = strtok_r(NULL, "\n", &save_line))) {
        n = 0;
        for (char *word = strtok_r(line, separators, &save); word; word = strtok_r(NULL, separators, &save), n++)
            if (n >= skip && n - skip < plan->count)
                values[*rows * plan->count + column[n - skip]] = strtod(word, NULL);
        ++*rows;
    }
    free(column);
    return values;
}

static void case_steady(struct thermal_case *c, char *text)
{
    char *save_line;
    size_t room = 0;

    strtok_r(text, "\n", &save_line);
    for (const char *s = save_line; *s; s++)
        room += *s == '\n';
    c->steady_name = calloc(room + 1, sizeof *c->steady_name);
    c->steady_k = calloc(room + 1, sizeof *c->steady_k);
    for (char *line; (line = strtok_r(NULL, "\n", &save_line)); c->steady_count++) {
        char *const comma = strchr(line, ',');
        if (!comma)
            break;
        *comma = '\0';
        snprintf(c->steady_name[c->steady_count], sizeof c->steady_name[0], "%s", line);
        c->steady_k[c->steady_count] = strtod(comma + 1, NULL);
    }
}

static void case_grid(struct thermal_case *c, char *text)
{
    const size_t cells = (size_t)c->package.grid_rows * c->package.grid_cols;
    char *save_line;

    c->grid_count = 4 * cells;
    c->grid_k = calloc(c->grid_count, sizeof *c->grid_k);
    strtok_r(text, "\n", &save_line);
    for (char *line; (line = strtok_r(NULL, "\n", &save_line));) {
        unsigned long layer, cell;
        double kelvin;
        if (sscanf(line, "%lu,%lu,%lf", &layer, &cell, &kelvin) == 3 && layer < 4 && cell < cells)
            c->grid_k[layer * cells + cell] = kelvin;
    }
}

static bool thermal_case_load(const char *name, struct thermal_case *c)
{
    char below[200], folder[512];
    struct power_error error;
    size_t size, rows;
    char *text;

    memset(c, 0, sizeof *c);
    snprintf(below, sizeof below, "vectors/thermal/%s", name);
    const char *const found = suite_shared(below);
    if (!found)
        return false;
    snprintf(folder, sizeof folder, "%s", found);
    text = case_text(folder, "floorplan.flp", &size);
    CU_ASSERT_TRUE_FATAL(text && floorplan_parse(text, size, &c->plan, &error));
    free(text);
    text = case_text(folder, "params.txt", &size);
    CU_ASSERT_TRUE_FATAL(text && thermal_package_parse(text, size, &c->package, &error));
    free(text);
    text = case_text(folder, "power.ptrace", &size);
    c->power_w = case_table(&c->plan, text, " \t", 0, &c->rows);
    free(text);
    text = case_text(folder, "expected_trace.csv", &size);
    c->trace_k = case_table(&c->plan, text, ",", 1, &rows);
    CU_ASSERT_EQUAL(rows, c->rows);
    free(text);
    text = case_text(folder, "expected_steady.csv", &size);
    case_steady(c, text);
    free(text);
    text = case_text(folder, "expected_grid_steady.csv", &size);
    if (text)
        case_grid(c, text);
    free(text);
    return true;
}

static void thermal_case_free(struct thermal_case *c)
{
    floorplan_free(&c->plan);
    free(c->power_w);
    free(c->steady_name);
    free(c->steady_k);
    free(c->trace_k);
    free(c->grid_k);
}

#endif
