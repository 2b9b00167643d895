#include "sim/machine/thermal/thermal_case.h"

#include "sim/base/file_read.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

/* A text file of the case, and where reading it has come to. */
struct text_file {
    char path[PATH_BYTES];
    char *text; /* NULL when there is no such file */
    size_t size;
    char *next;
    unsigned long line;
};

static bool open_text(const char *folder, const char *name, bool required, struct text_file *t, struct orch_error *error)
{
    memset(t, 0, sizeof *t);
    snprintf(t->path, sizeof t->path, "%s/%s", folder, name);
    FILE *const file = fopen(t->path, "rb");
    if (!file)
        return !required || orch_fail(error, ORCH_USAGE, "%.400s: %s", t->path, strerror(errno));
    uint8_t *bytes = NULL;
    const bool ok = file_read_all(file, SIZE_MAX, &bytes, &t->size) && !memchr(bytes, '\0', t->size);
    fclose(file);
    t->text = t->next = (char *)bytes;
    if (!ok) {
        free(t->text);
        t->text = NULL;
        return orch_fail(error, ORCH_USAGE, "%.400s: cannot be read as text", t->path);
    }
    return true;
}

static bool malformed(const struct text_file *t, struct orch_error *error, const char *expected)
{
    return orch_fail(error, ORCH_USAGE, "%.400s:%lu: expected %s", t->path, t->line, expected);
}

static char *next_line(struct text_file *t)
{
    while (t->next && *t->next) {
        char *const line = t->next, *const newline = strchr(line, '\n');
        t->line++;
        t->next = newline ? newline + 1 : NULL;
        if (newline)
            *newline = '\0';
        if (line[strspn(line, " \t\r")])
            return line;
    }
    return NULL;
}

static bool number(const char *word, double *value)
{
    char *end;
    errno = 0;
    *value = strtod(word, &end);
    return end != word && end[strspn(end, " \t\r")] == '\0' && isfinite(*value);
}

/* Reads a header of names and finds the column of each block of the plan; the first `skip` columns are no blocks. */
static bool read_header(struct text_file *t, const struct floorplan *plan, const char *separators, size_t skip, size_t *column,
                        struct orch_error *error)
{
    char *save, *const line = next_line(t);
    size_t n = 0;
    if (!line)
        return malformed(t, error, "a line of block names");
    for (char *word = strtok_r(line, separators, &save); word; word = strtok_r(NULL, separators, &save), n++) {
        if (n < skip)
            continue;
        const long block = floorplan_find(plan, word);
        if (block < 0 || n - skip >= plan->count)
            return orch_fail(error, ORCH_USAGE, "%.400s:%lu: %.40s is no block of the floorplan, or there twice", t->path,
                             t->line, word);
        column[n - skip] = (size_t)block;
    }
    return n - skip == plan->count || malformed(t, error, "every block of the floorplan once");
}

static bool read_row(struct text_file *t, char *line, const char *separators, size_t skip, size_t count, const size_t *column,
                     double *row, struct orch_error *error)
{
    char *save;
    size_t n = 0;
    for (char *word = strtok_r(line, separators, &save); word; word = strtok_r(NULL, separators, &save), n++) {
        double value;
        if (!number(word, &value) || n >= skip + count)
            return malformed(t, error, "one number a block");
        if (n >= skip)
            row[column[n - skip]] = value;
    }
    return n == skip + count || malformed(t, error, "one number a block");
}

/* Reads a table of values per block. */
static bool read_table(struct text_file *t, const struct floorplan *plan, const char *separators, size_t skip, double **values,
                       size_t *rows, struct orch_error *error)
{
    size_t *const column = calloc(plan->count, sizeof *column);
    size_t room = 0;
    bool ok = column != NULL || orch_no_memory(error);
    *rows = 0;
    ok = ok && read_header(t, plan, separators, skip, column, error);
    for (char *line; ok && (line = next_line(t)) != NULL;) {
        if (*rows == room) {
            room = room ? room * 2 : 256;
            double *const grown = realloc(*values, room * plan->count * sizeof **values);
            ok = grown != NULL || orch_no_memory(error);
            if (!ok)
                break;
            *values = grown;
        }
        ok = read_row(t, line, separators, skip, plan->count, column, *values + *rows * plan->count, error);
        ++*rows;
    }
    free(column);
    return ok && (*rows > 0 || malformed(t, error, "at least one row of numbers"));
}

static bool read_steady(struct text_file *t, struct thermal_case *c, struct orch_error *error)
{
    const size_t room = 4 * c->plan.count + 12;
    c->steady = calloc(room, sizeof *c->steady);
    if (!c->steady)
        return orch_no_memory(error);
    next_line(t);
    for (char *line; (line = next_line(t)) != NULL;) {
        char *const comma = strchr(line, ',');
        struct thermal_expected *const e = &c->steady[c->steady_count];
        if (!comma || (size_t)(comma - line) >= sizeof e->name || c->steady_count == room || !number(comma + 1, &e->kelvin))
            return malformed(t, error, "node,kelvin");
        memcpy(e->name, line, (size_t)(comma - line));
        c->steady_count++;
    }
    return true;
}

static bool read_grid(struct text_file *t, struct thermal_case *c, struct orch_error *error)
{
    const size_t cells = (size_t)c->package.grid_rows * c->package.grid_cols;
    c->grid_k = calloc(4 * cells, sizeof *c->grid_k);
    if (!c->grid_k)
        return orch_no_memory(error);
    next_line(t);
    for (char *line; (line = next_line(t)) != NULL;) {
        unsigned long layer, cell;
        double kelvin;
        if (sscanf(line, "%lu,%lu,%lf", &layer, &cell, &kelvin) != 3 || layer > 3 || cell >= cells)
            return malformed(t, error, "layer,cell,kelvin inside the grid");
        c->grid_k[layer * cells + cell] = kelvin;
    }
    return true;
}

static bool read_plan(const char *folder, struct thermal_case *c, struct orch_error *error)
{
    struct power_error why;
    struct text_file t;
    if (!open_text(folder, "floorplan.flp", true, &t, error))
        return false;
    bool ok = floorplan_parse(t.text, t.size, &c->plan, &why);
    if (!ok)
        orch_fail(error, ORCH_USAGE, "%.400s:%lu: %.200s", t.path, why.line, why.text);
    free(t.text);
    if (!ok || !open_text(folder, "params.txt", true, &t, error))
        return false;
    why.line = 0;
    ok = thermal_package_parse(t.text, t.size, &c->package, &why) && thermal_package_check(&c->package, &c->plan, &why);
    if (!ok)
        orch_fail(error, ORCH_USAGE, "%.400s:%lu: %.200s", t.path, why.line, why.text);
    free(t.text);
    return ok;
}

static bool read_power(const char *folder, struct thermal_case *c, struct orch_error *error)
{
    struct text_file t;
    if (!open_text(folder, "power.ptrace", true, &t, error))
        return false;
    bool ok = read_table(&t, &c->plan, " \t\r", 0, &c->power_w, &c->rows, error);
    for (size_t i = 0; ok && i < c->rows * c->plan.count; i++)
        if (c->power_w[i] < 0)
            ok = orch_fail(error, ORCH_USAGE, "%.400s: block %s has negative power in interval %zu", t.path,
                           c->plan.block[i % c->plan.count].name, i / c->plan.count + 1);
    free(t.text);
    c->mean_w = ok ? calloc(c->plan.count, sizeof *c->mean_w) : NULL;
    for (size_t i = 0; c->mean_w && i < c->rows * c->plan.count; i++)
        c->mean_w[i % c->plan.count] += c->power_w[i] / (double)c->rows;
    return ok && (c->mean_w != NULL || orch_no_memory(error));
}

static bool read_expected(const char *folder, struct thermal_case *c, struct orch_error *error)
{
    struct text_file t;
    size_t rows = 0;
    if (!open_text(folder, "expected_steady.csv", false, &t, error))
        return false;
    bool ok = !t.text || read_steady(&t, c, error);
    free(t.text);
    if (!ok || !open_text(folder, "expected_trace.csv", false, &t, error))
        return false;
    ok = !t.text || read_table(&t, &c->plan, ",\r", 1, &c->trace_k, &rows, error);
    if (ok && t.text && rows != c->rows)
        ok = orch_fail(error, ORCH_USAGE, "%.400s has %zu rows, the power trace %zu", t.path, rows, c->rows);
    free(t.text);
    if (!ok || !open_text(folder, "expected_grid_steady.csv", false, &t, error))
        return false;
    ok = !t.text || read_grid(&t, c, error);
    free(t.text);
    return ok;
}

bool thermal_case_load(const char *folder, struct thermal_case *c, struct orch_error *error)
{
    memset(c, 0, sizeof *c);
    if (read_plan(folder, c, error) && read_power(folder, c, error) && read_expected(folder, c, error))
        return true;
    thermal_case_free(c);
    return false;
}

void thermal_case_free(struct thermal_case *c)
{
    floorplan_free(&c->plan);
    free(c->power_w);
    free(c->mean_w);
    free(c->steady);
    free(c->trace_k);
    free(c->grid_k);
    memset(c, 0, sizeof *c);
}
