/* Arbitrary bytes: csv_parse either refuses them with a place, or gives a table that is written and read back unchanged, and
 * names the records that it left out. What measurements_parse leaves are rows whose value is a number or empty. */
#include "sim/prove/validate/measurements.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t write_cell(char *out, const char *cell)
{
    size_t n = 0;
    out[n++] = '"';
    for (; *cell; cell++) {
        if (*cell == '"')
            out[n++] = '"';
        out[n++] = *cell;
    }
    out[n++] = '"';
    return n;
}

static char *write_table(const struct csv_table *table, size_t room, size_t *size)
{
    char *out = malloc(room);
    size_t n = 0;
    for (size_t row = 0; out && row <= csv_rows(table); row++)
        for (size_t column = 0; column < csv_columns(table); column++) {
            n += write_cell(out + n, row ? csv_cell(table, row - 1, (int)column) : csv_name(table, column));
            out[n++] = column + 1 < csv_columns(table) ? ',' : '\n';
        }
    *size = n;
    return out;
}

static void compare(const struct csv_table *a, const struct csv_table *b)
{
    if (!b || csv_rows(a) != csv_rows(b) || csv_columns(a) != csv_columns(b))
        abort();
    for (size_t row = 0; row < csv_rows(a); row++)
        for (size_t column = 0; column < csv_columns(a); column++)
            if (strcmp(csv_cell(a, row, (int)column), csv_cell(b, row, (int)column)) != 0)
                abort();
}

static void check_faults(const struct csv_table *table)
{
    char text[400];
    for (size_t i = 0; i < csv_faults(table); i++) {
        const struct csv_fault *const f = csv_fault_at(table, i);
        csv_fault_say("fuzz", f, text, sizeof text);
        if (strncmp(text, "fuzz:", 5) != 0 || !f->line || !f->place || !*f->why || !*f->fix ||
            (i && f->line < csv_fault_at(table, i - 1)->line))
            abort();
    }
}

static void check_measurements(const uint8_t *data, size_t size)
{
    struct orch_error error = {0};
    struct csv_table *table = measurements_parse("fuzz", (const char *)data, size, &error);
    if (!table && error.exit_code == 0)
        abort();
    if (!table)
        return;
    check_faults(table);
    for (size_t row = 0; row < csv_rows(table); row++) {
        const char *const value = csv_cell(table, row, csv_find(table, "value"));
        if (*value && (strspn(value, "0123456789+-.eE") != strlen(value) || !isfinite(strtod(value, NULL))))
            abort();
    }
    csv_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_measurements(data, size);
    struct orch_error error = {0};
    struct csv_table *table = csv_parse("fuzz", (const char *)data, size, &error);
    if (!table) {
        if (error.exit_code == 0 || strncmp(error.text, "fuzz:", 5) != 0)
            abort();
        return 0;
    }
    check_faults(table);
    size_t written = 0;
    /* Each byte may double, and each cell adds two quotes and a separator. A cell needs at least one byte of input. */
    char *text = write_table(table, size * 5 + 16, &written);
    if (text) {
        struct csv_table *again = csv_parse("again", text, written, &error);
        compare(table, again);
        csv_free(again);
    }
    free(text);
    csv_free(table);
    return 0;
}
