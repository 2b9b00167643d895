/* How many rows of a kind of work lie inside the 90 % interval that the rows of all other sources give them. */
#include "sim/base/json_out.h"
#include "sim/prove/validate/validation.h"

#include <stdlib.h>
#include <string.h>

enum { COVERAGE_LEAST_ROWS = 40 };

struct kind {
    const char *part, *work;
    size_t rows, inside, sources;
};

static bool is_of(const struct validate_row *r, const struct kind *kind)
{
    return r->crossed && strcmp(r->part, kind->part) == 0 && strcmp(r->work, kind->work) == 0;
}

static bool is_first_of_source(const struct validation *v, size_t row, const struct kind *kind)
{
    for (size_t i = 0; i < row; i++)
        if (is_of(&v->row[i], kind) && strcmp(v->row[i].source, v->row[row].source) == 0)
            return false;
    return true;
}

static struct kind count_kind(const struct validation *v, size_t first)
{
    struct kind kind = {v->row[first].part, v->row[first].work, 0, 0, 0};
    for (size_t i = first; i < v->rows; i++) {
        if (!is_of(&v->row[i], &kind))
            continue;
        kind.rows++;
        kind.inside += v->row[i].inside_crossed;
        kind.sources += is_first_of_source(v, i, &kind);
    }
    return kind;
}

static int more_rows_first(const void *a, const void *b)
{
    const struct kind *const x = a, *const y = b;
    const int part = strcmp(x->part, y->part);
    return x->rows != y->rows ? (x->rows < y->rows) - (x->rows > y->rows) : part ? part : strcmp(x->work, y->work);
}

/* Kinds with enough rows; NULL when memory is out. */
static struct kind *kinds_of(const struct validation *v, size_t *count)
{
    struct kind *const kind = calloc(v->rows + 1, sizeof *kind);
    *count = 0;
    for (size_t i = 0; kind && i < v->rows; i++) {
        bool seen = !v->row[i].crossed;
        for (size_t k = 0; !seen && k < i; k++)
            seen =
                v->row[k].crossed && strcmp(v->row[k].part, v->row[i].part) == 0 && strcmp(v->row[k].work, v->row[i].work) == 0;
        if (seen)
            continue;
        kind[*count] = count_kind(v, i);
        *count += kind[*count].rows >= COVERAGE_LEAST_ROWS;
    }
    if (kind)
        qsort(kind, *count, sizeof *kind, more_rows_first);
    return kind;
}

static double share(const struct kind *kind)
{
    return (double)kind->inside / (double)kind->rows;
}

bool validation_write_coverage(const struct validation *v, bool markdown, FILE *out, struct orch_error *error)
{
    size_t count;
    struct kind *const kind = kinds_of(v, &count);
    if (!kind)
        return orch_no_memory(error);
    if (count)
        fprintf(
            out,
            markdown
                ? "\nRows inside the 90 %% interval that all other sources give them, kinds of work with %d rows and more.\n\n"
                  "| unit | work | rows | sources | inside |\n| --- | --- | --- | --- | --- |\n"
                : "\nrows inside the 90 %% interval that all other sources give them, kinds with %d rows and more:\n",
            COVERAGE_LEAST_ROWS);
    for (size_t i = 0; i < count; i++)
        fprintf(out, markdown ? "| %s | %s | %zu | %zu | %.0f %% |\n" : "  %-6s %-12s %5zu rows %3zu sources %4.0f %%\n",
                kind[i].part, kind[i].work, kind[i].rows, kind[i].sources, 100 * share(&kind[i]));
    free(kind);
    return true;
}

struct json_object *validation_coverage_json(const struct validation *v, struct orch_error *error)
{
    size_t count;
    struct kind *const kind = kinds_of(v, &count);
    struct json_object *const list = kind ? json_object_new_array() : NULL;
    if (!kind)
        orch_no_memory(error);
    for (size_t i = 0; list && i < count; i++) {
        struct json_object *const o = json_object_new_object();
        json_add_text(o, "part", kind[i].part);
        json_add_text(o, "work", kind[i].work);
        json_add_count(o, "rows", kind[i].rows);
        json_add_count(o, "sources", kind[i].sources);
        json_add_all_digits(o, "inside", share(&kind[i]));
        json_object_array_add(list, o);
    }
    free(kind);
    return list;
}
