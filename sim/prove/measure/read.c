#include "sim/prove/measure/measure.h"

#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/prove/validate/csv.h"
#include "sim/prove/validate/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES_LEAST = 3, MOST_ROWS = 1 << 20 };
#define LONGEST_S  3600.0 /* of a pass; beyond it the number is hardly in seconds */
#define SHORTEST_S 1e-8   /* below it no product of 16 x 16 x 16 is done */

/* ORDER: names. */
enum { MACHINE, P_CORES, E_CORES, GPU_CORES, OS, UNIT, WORKLOAD, PRECISION, SECONDS, RESULT, COLUMNS };
static const char *const names[COLUMNS] = {"machine", "p_cores",  "e_cores",   "gpu_cores", "os",
                                           "unit",    "workload", "precision", "seconds",   "result"};

struct reading {
    const char *path;
    struct csv_table *table;
    int column[COLUMNS];
};

static const char *cell(const struct reading *r, size_t row, int column)
{
    return csv_cell(r->table, row, r->column[column]);
}

/* ---- what may be wrong ---- */

static bool find_columns(struct reading *r, struct orch_error *error)
{
    for (int c = 0; c < COLUMNS; c++) {
        r->column[c] = csv_find(r->table, names[c]);
        if (r->column[c] < 0)
            return orch_fail(
                error, ORCH_USAGE,
                "%s:1:1: no column '%s': give the result.csv that run.sh wrote, whole (times are in a column seconds)", r->path,
                names[c]);
    }
    return true;
}

static bool check_row(const struct reading *r, size_t row)
{
    static const char *const same[] = {"machine", "p_cores", "e_cores", "gpu_cores", "os"};
    struct csv_table *const t = r->table;
    char *end;
    struct measure_case asked;
    struct orch_error unfit = {0};
    const char *const text = cell(r, row, SECONDS);
    const double seconds = strtod(text, &end);
    if (end == text || *end || !isfinite(seconds))
        return csv_reject(t, row, r->column[SECONDS], "measure again, or delete the line", "not a finite number");
    if (seconds < SHORTEST_S || seconds > LONGEST_S)
        return csv_reject(t, row, r->column[SECONDS], "write seconds, not another unit", "not the time of a kernel in seconds");
    if (strcmp(cell(r, row, RESULT), "right") != 0)
        return csv_reject(t, row, r->column[RESULT], "do not use it: the kernel computed something else on this machine",
                          "the result was not right");
    if (!measure_case_read(cell(r, row, WORKLOAD), cell(r, row, UNIT), cell(r, row, PRECISION), &asked, &unfit))
        return csv_reject(t, row, r->column[WORKLOAD], "keep unit, workload and precision as run.sh wrote them", "%.90s",
                          unfit.text);
    for (int c = 0; c < (int)ARRAY_COUNT(same); c++)
        if (strcmp(cell(r, row, c), cell(r, 0, c)) != 0)
            return csv_reject(t, row, r->column[c], "read results of each machine apart", "another machine than in line %u",
                              csv_line(t, 0));
    return true;
}

/* ---- the chip ---- */

/* "Apple M2 Pro" with 8, 4 and 19 cores is m2_pro_8p4e_19g. */
static bool find_chip(const struct reading *r, const struct chip_db *db, const char *chip_id, struct measure_row *to,
                      struct orch_error *error)
{
    const char *const machine = cell(r, 0, MACHINE), *const name = machine + (strncmp(machine, "Apple ", 6) == 0 ? 6 : 0);
    char guess[96];
    const char *id;
    struct orch_error unknown = {0};
    snprintf(to->chip, sizeof to->chip, "%s", name);
    snprintf(to->family, sizeof to->family, "%.2s", name);
    snprintf(to->gpu_cores, sizeof to->gpu_cores, "%s", cell(r, 0, GPU_CORES));
    snprintf(to->os, sizeof to->os, "%s", cell(r, 0, OS));
    snprintf(guess, sizeof guess, "%.30s_%.8sp%.8se_%.8sg", name, cell(r, 0, P_CORES), cell(r, 0, E_CORES),
             cell(r, 0, GPU_CORES));
    for (char *c = guess; *c; c++)
        *c = *c == ' ' ? '_' : *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
    if (chip_id && !chip_db_resolve(db, chip_id, &id, error))
        return false;
    if (!chip_id && !chip_db_resolve(db, guess, &id, &unknown))
        return orch_fail(error, ORCH_USAGE,
                         "%s:%u: no chip '%.80s' is known: name the one that was measured with " ORCH_OPTION("chip"), r->path,
                         csv_line(r->table, 0), guess);
    snprintf(to->chip_id, sizeof to->chip_id, "%s", id);
    return true;
}

/* ---- medians ---- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool is_case(const struct reading *r, size_t row, const struct measure_row *m)
{
    return strcmp(cell(r, row, UNIT), m->unit) == 0 && strcmp(cell(r, row, WORKLOAD), m->workload) == 0 &&
           strcmp(cell(r, row, PRECISION), m->precision) == 0;
}

static bool is_known(const struct measure_rows *rows, const struct reading *r, size_t row)
{
    for (size_t i = 0; i < rows->count; i++)
        if (is_case(r, row, &rows->row[i]))
            return true;
    return false;
}

static void summarise(const struct reading *r, size_t first, double *seconds, struct measure_row *m)
{
    snprintf(m->unit, sizeof m->unit, "%s", cell(r, first, UNIT));
    snprintf(m->workload, sizeof m->workload, "%s", cell(r, first, WORKLOAD));
    snprintf(m->precision, sizeof m->precision, "%s", cell(r, first, PRECISION));
    m->line = csv_line(r->table, first);
    m->passes = 0;
    for (size_t row = first; row < csv_rows(r->table); row++)
        if (is_case(r, row, m))
            seconds[m->passes++] = strtod(cell(r, row, SECONDS), NULL);
    qsort(seconds, m->passes, sizeof *seconds, by_size);
    m->least = seconds[0];
    m->most = seconds[m->passes - 1];
    m->seconds = 0.5 * (seconds[(m->passes - 1) / 2] + seconds[m->passes / 2]);
}

static bool add_fault(struct measure_rows *rows, const char *text)
{
    void *const more = realloc(rows->fault, (rows->faults + 1) * sizeof *rows->fault);
    if (!more)
        return false;
    rows->fault = more;
    snprintf(rows->fault[rows->faults++], sizeof *rows->fault, "%s", text);
    return true;
}

static bool take_cases(const struct reading *r, const struct measure_row *machine, struct measure_rows *rows,
                       struct orch_error *error)
{
    const size_t count = csv_rows(r->table);
    double *const seconds = malloc((count + 1) * sizeof *seconds);
    rows->row = calloc(count + 1, sizeof *rows->row);
    bool ok = seconds && rows->row;
    for (size_t row = 0; ok && row < count; row++) {
        if (is_known(rows, r, row))
            continue;
        struct measure_row *const m = &rows->row[rows->count++];
        *m = *machine;
        summarise(r, row, seconds, m);
        if (m->passes < PASSES_LEAST) {
            char text[300];
            snprintf(text, sizeof text, "%.120s:%u: %s %s on %s has %u passes; measure at least %d", r->path, m->line,
                     m->workload, m->precision, m->unit, m->passes, PASSES_LEAST);
            ok = add_fault(rows, text);
        }
    }
    free(seconds);
    return ok || orch_no_memory(error);
}

static bool tell_faults(const struct reading *r, struct measure_rows *rows)
{
    char text[512];
    for (size_t i = 0; i < csv_faults(r->table); i++) {
        csv_fault_say(r->path, csv_fault_at(r->table, i), text, sizeof text);
        if (!add_fault(rows, text))
            return false;
    }
    return true;
}

static bool read_rows(struct reading *r, const struct chip_db *db, const char *chip_id, struct measure_rows *rows,
                      struct orch_error *error)
{
    struct measure_row machine = {.line = 0};
    if (!find_columns(r, error))
        return false;
    if (csv_rows(r->table) > MOST_ROWS)
        return orch_fail(error, ORCH_USAGE, "%s: more than %d lines are no result of measure", r->path, MOST_ROWS);
    for (size_t row = csv_rows(r->table); row-- > 0;) /* the first keeps its line as long as others are compared with it */
        if (!check_row(r, row))
            return orch_no_memory(error);
    csv_remove_rejected(r->table);
    if (!tell_faults(r, rows))
        return orch_no_memory(error);
    if (csv_rows(r->table) == 0)
        return rows->faults ||
               orch_fail(error, ORCH_USAGE, "%s: no line of a pass: run.sh was stopped before the first", r->path);
    return find_chip(r, db, chip_id, &machine, error) && take_cases(r, &machine, rows, error);
}

/* The table is taken over; NULL = *error says why there is none. */
static struct measure_rows *read_table(const char *path, struct csv_table *table, const struct chip_db *db, const char *chip_id,
                                       struct orch_error *error)
{
    struct reading r = {.path = path, .table = table};
    struct measure_rows *rows = r.table ? calloc(1, sizeof *rows) : NULL;
    if (r.table && !rows)
        orch_no_memory(error);
    if (rows && !read_rows(&r, db, chip_id, rows, error)) {
        measure_rows_free(rows);
        rows = NULL;
    }
    csv_free(r.table);
    return rows;
}

struct measure_rows *measure_parse(const char *name, const char *text, size_t bytes, const struct chip_db *db,
                                   const char *chip_id, struct orch_error *error)
{
    return read_table(name, csv_parse(name, text, bytes, error), db, chip_id, error);
}

struct measure_rows *measure_read(const char *path, const struct chip_db *db, const char *chip_id, struct orch_error *error)
{
    return read_table(path, csv_read(path, error), db, chip_id, error);
}

void measure_rows_free(struct measure_rows *rows)
{
    if (!rows)
        return;
    free(rows->row);
    free(rows->fault);
    free(rows);
}

/* ---- the table ---- */

static void write_cell(const struct measure_row *m, const char *column, FILE *out)
{
    const struct {
        const char *column, *text;
    } texts[] = {{"family", m->family},     {"chip", m->chip},           {"gpu_cores", m->gpu_cores}, {"unit", m->unit},
                 {"workload", m->workload}, {"precision", m->precision}, {"metric", "time"},          {"value_unit", "ms"},
                 {"kind", "measured"},      {"chip_id", m->chip_id}};
    char text[200];
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        if (strcmp(column, texts[i].column) == 0)
            format_csv_text(out, texts[i].text);
    if (strcmp(column, "value") == 0)
        fprintf(out, "%.9g", 1e3 * m->seconds);
    if (strcmp(column, "condition") == 0) {
        snprintf(text, sizeof text, "%s, median of %u passes, %.4g to %.4g ms",
                 strcmp(m->unit, "gpu") == 0 ? "time of the GPU" : "1 thread(s)", m->passes, 1e3 * m->least, 1e3 * m->most);
        format_csv_text(out, text);
    }
    if (strcmp(column, "source") == 0) {
        snprintf(text, sizeof text, "orchard measure on %s", m->os);
        format_csv_text(out, text);
    }
}

void measure_rows_write(const struct measure_rows *rows, FILE *out)
{
    const struct validation_column *c;
    validation_write_template(out);
    for (size_t i = 0; i < rows->count; i++) {
        for (size_t k = 0; (c = validation_column_at(k)); k++) {
            fputs(k ? "," : "", out);
            write_cell(&rows->row[i], c->name, out);
        }
        fputc('\n', out);
    }
}
