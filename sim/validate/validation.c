#include "sim/validate/validation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct validation *validation_create(void)
{
    return calloc(1, sizeof(struct validation));
}

void validation_free(struct validation *v)
{
    if (!v)
        return;
    for (size_t i = 0; i < v->tables; i++)
        csv_free(v->table[i]);
    free(v->table);
    free(v->row);
    free(v);
}

size_t validation_rows(const struct validation *v)
{
    return v->rows;
}

/* "a/b/amx-timing.csv" -> "amx-timing" */
static void stem_of(const char *path, char *stem, size_t size)
{
    const char *base = strrchr(path, '/');
    snprintf(stem, size, "%s", base ? base + 1 : path);
    char *dot = strrchr(stem, '.');
    if (dot && dot != stem)
        *dot = '\0';
}

static bool add_table(struct validation *v, const char *path, struct csv_table *table,
                      struct orch_error *error)
{
    char stem[VALIDATE_ID_SIZE];
    stem_of(path, stem, sizeof stem);
    const size_t rows = csv_rows(table);
    if (csv_find(table, "value") < 0) {
        csv_free(table);
        return orch_fail(error, ORCH_USAGE, "%s:1:1: no column 'value': not a table of measurements", path);
    }
    struct csv_table **tables = realloc(v->table, (v->tables + 1) * sizeof *tables);
    if (tables)
        v->table = tables;
    struct validate_row *grown = tables ? realloc(v->row, (v->rows + rows + 1) * sizeof *grown) : NULL;
    if (!grown) {
        csv_free(table);
        return orch_fail(error, ORCH_INTERNAL, "%s: out of memory", path);
    }
    v->row = grown;
    v->table[v->tables++] = table;
    for (size_t i = 0; i < rows; i++)
        validate_row_read(&v->row[v->rows++], table, stem, i);
    return true;
}

bool validation_add_file(struct validation *v, const char *path, struct orch_error *error)
{
    struct csv_table *table = csv_read(path, error);
    return table && add_table(v, path, table, error);
}

bool validation_add_text(struct validation *v, const char *name, const char *text, size_t bytes,
                         struct orch_error *error)
{
    struct csv_table *table = csv_parse(name, text, bytes, error);
    return table && add_table(v, name, table, error);
}

static void predict(struct validate_row *row, const struct validate_program *program,
                    const struct validate_timing *timing)
{
    row->predicted = validate_value(program, timing);
    if (!isfinite(row->predicted) || row->predicted <= 0) {
        validate_refuse(row, "the run took no time");
        return;
    }
    row->state = VALIDATE_PREDICTED;
    if (timing->low_factor <= 0 || timing->high_factor <= 0)
        return;
    const double a = row->predicted * timing->low_factor, b = row->predicted * timing->high_factor;
    const bool time =
        program->measure == VALIDATE_NS_PER_WORK || program->measure == VALIDATE_CYCLES_PER_WORK;
    row->low = time ? a : row->predicted / timing->high_factor;
    row->high = time ? b : row->predicted / timing->low_factor;
}

static bool run_row(struct validate_row *row, const struct validate_runner *runner, struct orch_error *error)
{
    struct validate_program program;
    row->state = VALIDATE_UNMODELLED;
    row->parameter = validate_fitted(row);
    if (!validate_plan(row, &program))
        return true;
    struct validate_timing timing = {0};
    struct orch_error why = {0};
    const bool ran = runner->run(runner->context, &program, &timing, &why);
    if (ran)
        predict(row, &program, &timing);
    else
        validate_refuse(row, "%.150s", why.text);
    validate_program_free(&program);
    if (!ran && why.exit_code == ORCH_INTERRUPTED) {
        if (error)
            *error = why;
        return false;
    }
    return true;
}

bool validation_run(struct validation *v, const struct validate_runner *runner, struct orch_error *error)
{
    for (size_t i = 0; i < v->rows; i++)
        if (!run_row(&v->row[i], runner, error))
            return false;
    return true;
}

static struct validate_row *find_row(const struct validation *v, const char *id)
{
    for (size_t i = 0; i < v->rows; i++)
        if (strcmp(v->row[i].id, id) == 0)
            return &v->row[i];
    return NULL;
}

/* GPU programs are given as assembler text. */
static uint8_t *dump_text(const char *text, size_t *bytes, struct orch_error *error)
{
    char *copy = strdup(text);
    *bytes = strlen(text);
    if (!copy)
        orch_fail(error, ORCH_INTERNAL, "out of memory");
    return (uint8_t *)copy;
}

uint8_t *validation_dump(const struct validation *v, const char *id, size_t *bytes, struct orch_error *error)
{
    const struct validate_row *found = find_row(v, id);
    if (!found) {
        orch_fail(error, ORCH_USAGE, "no row is called '%.100s'", id);
        return NULL;
    }
    struct validate_row row = *found;
    struct validate_program program;
    if (!validate_plan(&row, &program)) {
        orch_fail(error, ORCH_UNMODELLED, "%.100s: %s", id, row.why);
        return NULL;
    }
    uint8_t *file = NULL;
    if (program.workload[0])
        orch_fail(error, ORCH_USAGE, "%.100s is run as '%s', which has no program of its own", id,
                  program.workload);
    else if (program.gpu.text)
        file = dump_text(program.gpu.text, bytes, error);
    else
        file = validate_program_elf(&program, true, bytes, error);
    validate_program_free(&program);
    return file;
}
