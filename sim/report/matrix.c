#include "sim/report/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t column_of(const struct matrix *m, const char *name)
{
    size_t i = 0;
    while (i < m->columns && strcmp(m->column[i], name) != 0)
        i++;
    return i;
}

/* Collects the names in the order of their first appearance. */
static bool collect(struct matrix *m, const struct run_values *const *rows, size_t count)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        most += rows[i]->count;
    m->column = calloc(most + 1, sizeof *m->column);
    m->value = calloc(count * most + 1, sizeof *m->value);
    if (!m->column || !m->value)
        return false;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < rows[i]->count; k++)
            if (column_of(m, rows[i]->item[k].name) == m->columns) {
                m->column[m->columns] = strdup(rows[i]->item[k].name);
                if (!m->column[m->columns])
                    return false;
                m->columns++;
            }
    return true;
}

static double column_sum(const struct matrix *m, size_t column)
{
    double sum = 0;
    for (size_t r = 0; r < m->rows; r++)
        sum += m->value[r * m->columns + column];
    return sum;
}

static void swap(struct matrix *m, size_t a, size_t b)
{
    char *const name = m->column[a];
    m->column[a] = m->column[b];
    m->column[b] = name;
    for (size_t r = 0; r < m->rows; r++) {
        double *const x = &m->value[r * m->columns + a], *const y = &m->value[r * m->columns + b], other = *x;
        *x = *y;
        *y = other;
    }
}

bool matrix_build(struct matrix *m, const struct run_values *const *rows, size_t count)
{
    *m = (struct matrix){.rows = count};
    if (!collect(m, rows, count)) {
        matrix_free(m);
        return false;
    }
    for (size_t r = 0; r < count; r++)
        for (size_t k = 0; k < rows[r]->count; k++) {
            const double value = rows[r]->item[k].value;
            m->value[r * m->columns + column_of(m, rows[r]->item[k].name)] += isfinite(value) ? value : 0;
        }
    for (size_t a = 0; a < m->columns;
         a++) /* there are few columns, so a selection sort will do; its strict comparison keeps equal ones in order */
        for (size_t b = a + 1; b < m->columns; b++)
            if (column_sum(m, b) > column_sum(m, a))
                swap(m, a, b);
    return true;
}

bool matrix_fold(struct matrix *m, size_t columns)
{
    if (m->columns <= columns)
        return true;
    char *const other = strdup("other");
    double *const value = calloc(m->rows * columns + 1, sizeof *value);
    if (!other || !value) {
        free(other);
        free(value);
        return false;
    }
    for (size_t r = 0; r < m->rows; r++)
        for (size_t k = 0; k < m->columns; k++)
            value[r * columns + (k < columns ? k : columns - 1)] += m->value[r * m->columns + k];
    for (size_t k = columns - 1; k < m->columns; k++)
        free(m->column[k]);
    m->column[columns - 1] = other;
    free(m->value);
    m->value = value;
    m->columns = columns;
    return true;
}

void matrix_free(struct matrix *m)
{
    for (size_t i = 0; i < m->columns; i++)
        free(m->column[i]);
    free(m->column);
    free(m->value);
    *m = (struct matrix){0};
}
