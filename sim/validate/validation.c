#include "sim/validate/validation.h"

#include "sim/validate/ane_runner.h"
#include "sim/validate/overhead.h"

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

/* Adds what the framework is known to take; the time without it stays the row's `bare` prediction. */
static void add_overhead(struct validate_row *row, const struct validate_program *program, struct validate_timing *timing)
{
    row->bare = row->predicted = validate_value(program, timing);
    row->overhead = *program->framework ? validate_overhead_of(program->framework) : NULL;
    if (!row->overhead || program->power) /* joules have it in them: the unit waits meanwhile */
        return;
    timing->seconds += validate_overhead_seconds(row->overhead, program);
    timing->thread_seconds[0] = timing->seconds;
    row->predicted = validate_value(program, timing);
}

static void predict(struct validate_row *row, const struct validate_program *program, struct validate_timing *timing)
{
    add_overhead(row, program, timing);
    if (!isfinite(row->predicted) || row->predicted <= 0) {
        validate_refuse(row, "the run took no time");
        return;
    }
    snprintf(row->framework, sizeof row->framework, "%s", program->framework);
    row->framework_bytes = program->framework_bytes;
    row->framework_out_bytes = program->framework_out_bytes;
    row->framework_rows = program->framework_rows;
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

/* ---- fitting what frameworks add ---- */

/* What a framework's time is told for. */
enum terms { PER_OPERATION_AND_KIB, PER_KIB_IN_AND_OUT, PER_KIB_AND_ROW };

static bool is_of(const struct validate_row *r, const char *framework)
{
    return r->state == VALIDATE_PREDICTED && strcmp(r->framework, framework) == 0 && strcmp(r->unit, "ms") == 0;
}

static enum terms terms_of(const struct validation *v, const char *framework)
{
    enum terms terms = PER_OPERATION_AND_KIB;
    for (size_t i = 0; i < v->rows; i++)
        if (is_of(&v->row[i], framework))
            terms = v->row[i].framework_rows > 0 ? PER_KIB_AND_ROW : v->row[i].framework_out_bytes > 0 ? PER_KIB_IN_AND_OUT : terms;
    return terms;
}

/* Rows in ms, as frameworks give them. */
static size_t gather(const struct validation *v, const char *framework, enum terms terms, struct overhead_sample *samples)
{
    size_t count = 0;
    for (size_t i = 0; i < v->rows; i++) {
        const struct validate_row *r = &v->row[i];
        if (!is_of(r, framework))
            continue;
        const double kib = r->framework_bytes / 1024, out = r->framework_out_bytes / 1024;
        samples[count++] = (struct overhead_sample){
            .missing_us = 1e3 * (r->measured - r->bare), .measured_us = 1e3 * r->measured,
            .times = {terms == PER_OPERATION_AND_KIB ? 1 : kib, terms == PER_OPERATION_AND_KIB ? kib : terms == PER_KIB_IN_AND_OUT ? out : r->framework_rows},
        };
    }
    return count;
}

static void print_fit(FILE *out, const char *framework, enum terms terms, const struct overhead_fit *fit, size_t rows)
{
    const double first = fit->us[0], second = 1e3 * fit->us[1];
    if (terms == PER_OPERATION_AND_KIB)
        fprintf(out, "{\"%s\", %.1f, %.3f, 0, 0, %zu},\n", framework, first, second, rows);
    else if (terms == PER_KIB_IN_AND_OUT)
        fprintf(out, "{\"%s\", 0, %.1f, %.1f, 0, %zu},\n", framework, 1e3 * first, second, rows);
    else
        fprintf(out, "{\"%s\", 0, %.1f, 0, %.2f, %zu},\n", framework, 1e3 * first, second, rows);
}

static bool is_first(const struct validation *v, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (v->row[i].state == VALIDATE_PREDICTED && strcmp(v->row[i].framework, v->row[row].framework) == 0)
            return false;
    return true;
}

bool validation_fit_overheads(const struct validation *v, FILE *out, struct orch_error *error)
{
    enum { LEAST_ROWS = 8, ROUND_TRIP_US = 187 /* clpeak, M1 Pro: what a framework can at most be quicker by */ };
    struct overhead_sample *samples = malloc((v->rows + 1) * sizeof *samples);
    if (!samples)
        return orch_fail(error, ORCH_INTERNAL, "out of memory");
    for (size_t i = 0; i < v->rows; i++) {
        const struct validate_row *r = &v->row[i];
        if (r->state != VALIDATE_PREDICTED || !*r->framework || !is_first(v, i))
            continue;
        const enum terms terms = terms_of(v, r->framework);
        const size_t count = gather(v, r->framework, terms, samples);
        if (count < LEAST_ROWS)
            continue;
        const struct overhead_fit fit = overhead_fit(samples, count, terms == PER_OPERATION_AND_KIB ? -ROUND_TRIP_US : 0);
        print_fit(out, r->framework, terms, &fit, count);
    }
    free(samples);
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
    if (program.ane)
        file = ane_runner_dump(&program, bytes, error);
    else if (program.launches)
        orch_fail(error, ORCH_USAGE, "%.100s is run as '%s'%s; orchard kernel has its code", id, program.launch[0].workload,
                  program.launches > 1 ? " and others" : "");
    else if (program.workload[0])
        orch_fail(error, ORCH_USAGE, "%.100s is run as '%s', which has no program of its own", id,
                  program.workload);
    else if (program.gpu.text)
        file = dump_text(program.gpu.text, bytes, error);
    else
        file = validate_program_elf(&program, true, bytes, error);
    validate_program_free(&program);
    return file;
}
