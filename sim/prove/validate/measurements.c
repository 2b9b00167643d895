#include "sim/prove/validate/measurements.h"

#include "isa/array_count.h"
#include "sim/prove/validate/row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

#define LARGEST 1e30 /* beyond any quantity in any unit that tables use */

/* Whether values of a row may be below 0: changes and temperatures may. */
static bool is_signed(const struct csv_table *t, size_t row)
{
    static const char *const columns[] = {"value_unit", "unit_of_value", "unit"}, *const units[] = {"%", "C", "percent"};
    int column = -1;
    for (size_t c = 0; column < 0 && c < ARRAY_COUNT(columns); c++)
        column = csv_find(t, columns[c]);
    for (size_t u = 0; u < ARRAY_COUNT(units); u++)
        if (strcmp(csv_cell(t, row, column), units[u]) == 0)
            return true;
    return false;
}

/* Why a cell is no number that can be used; NULL when it is one, or empty. */
static const char *wrong_number(const char *text, bool may_be_negative, const char **fix)
{
    char *end;
    if (!*text)
        return NULL;
    const double value = strtod(text, &end);
    const bool plain = strspn(text, "0123456789+-.eE") == strlen(text);
    *fix = "write a number alone, such as 12.5, or leave the cell empty; remarks belong in condition or note";
    if (end == text || *end)
        return "not a number";
    if (!plain && !isfinite(value))
        return "not a finite number";
    if (!plain)
        return "not a decimal number";
    *fix = "write the number in the unit of its row";
    if (fabs(value) > LARGEST)
        return "too large for any unit";
    *fix = "write the quantity itself, above 0; only changes in % and temperatures in C may be below";
    return value < 0 && !may_be_negative ? "negative" : NULL;
}

static bool check_numbers(struct csv_table *t)
{
    static const char *const columns[] = {"value", "power_W", "flop", "min_bytes"};
    bool ok = true;
    for (size_t row = 0; ok && row < csv_rows(t); row++)
        for (size_t c = 0; ok && csv_line(t, row) && c < ARRAY_COUNT(columns); c++) {
            const int column = csv_find(t, columns[c]);
            const bool may_be_negative = c == 0 && is_signed(t, row);
            const char *fix = "", *const why = wrong_number(csv_cell(t, row, column), may_be_negative, &fix);
            ok = !why || csv_reject(t, row, column, fix, "%s", why);
        }
    return ok;
}

/* ---- ids ---- */

struct named {
    const char *id;
    size_t row;
};

static int by_id(const void *a, const void *b)
{
    const struct named *const x = a, *const y = b;
    const int order = strcmp(x->id, y->id);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* Sets first[row] to the first row with the same id. */
static bool find_first(const struct csv_table *t, int column, size_t *first)
{
    const size_t rows = csv_rows(t);
    struct named *const named = malloc((rows + 1) * sizeof *named);
    if (!named)
        return false;
    for (size_t i = 0; i < rows; i++)
        named[i] = (struct named){csv_cell(t, i, column), i};
    qsort(named, rows, sizeof *named, by_id);
    for (size_t i = 0, same = 0; i < rows; i++) {
        same = i && strcmp(named[i].id, named[same].id) == 0 ? same : i;
        first[named[i].row] = named[same].row;
    }
    free(named);
    return true;
}

static bool check_ids(struct csv_table *t)
{
    static const char fix[] = "give the row an id of its own";
    const int column = csv_find(t, "id");
    bool named = false;
    for (size_t row = 0; !named && row < csv_rows(t); row++)
        named = *csv_cell(t, row, column);
    if (!named) /* a column that nobody filled in */
        return true;
    size_t *const first = malloc((csv_rows(t) + 1) * sizeof *first);
    bool ok = first && find_first(t, column, first);
    for (size_t row = csv_rows(t);
         ok && row-- > 0;) { /* the first of a name is the last to be looked at: it still has its line */
        const char *const id = csv_cell(t, row, column);
        if (!*id)
            ok = csv_reject(t, row, column, fix, "empty");
        else if (strlen(id) >= VALIDATE_ID_SIZE)
            ok = csv_reject(t, row, column, fix, "longer than %d characters", VALIDATE_ID_SIZE - 1);
        else if (first[row] != row)
            ok = csv_reject(t, row, column, fix, "line %u has the same id", csv_line(t, first[row]));
    }
    free(first);
    return ok;
}

/* ---- tables ---- */

static struct csv_table *check(const char *name, struct csv_table *t, struct orch_error *error)
{
    if (!t)
        return NULL;
    if (csv_find(t, "value") < 0)
        orch_fail(error, ORCH_USAGE, "%s:1:1: no column 'value': not a table of measurements", name);
    else if (!check_ids(t) || !check_numbers(t))
        orch_no_memory(error);
    else
        return csv_remove_rejected(t), t;
    csv_free(t);
    return NULL;
}

struct csv_table *measurements_parse(const char *name, const char *text, size_t bytes, struct orch_error *error)
{
    return check(name, csv_parse(name, text, bytes, error), error);
}

struct csv_table *measurements_read(const char *path, struct orch_error *error)
{
    return check(path, csv_read(path, error), error);
}
