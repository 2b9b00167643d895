/* Turns a table of measurements into the rows to fit: chosen rows, each with a chip of the database and a fold. */
#include "isa/array_count.h"
#include "sim/prove/calibrate/calibrate.h"
#include "sim/base/format.h"
#include "sim/base/content_hash.h"
#include "sim/prove/validate/measurements.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    const struct calibrate_request *q;
    struct calibrate_rows *rows;
    const struct csv_table *table;
    struct orch_error *error;
};

void calibrate_rows_free(struct calibrate_rows *r)
{
    for (size_t i = 0; i < r->count; i++) {
        free(r->row[i].source);
        free(r->row[i].line);
    }
    free(r->head);
    free(r->row);
    *r = (struct calibrate_rows){0};
}

static const char *cell(const struct csv_table *t, size_t row, const char *column)
{
    return csv_cell(t, row, csv_find(t, column));
}

/* The id that validation gives the row: the column, or else file and line. */
static void row_id(const struct reading *r, size_t row, char id[CALIBRATE_ID])
{
    const char *const given = cell(r->table, row, "id");
    const char *const base = strrchr(r->q->name, '/') ? strrchr(r->q->name, '/') + 1 : r->q->name;
    const char *const dot = strrchr(base, '.');
    const int stem = dot && dot != base ? (int)(dot - base) : (int)strlen(base);
    if (*given)
        snprintf(id, CALIBRATE_ID, "%s", given);
    else
        snprintf(id, CALIBRATE_ID, "%.*s:%u", stem > 80 ? 80 : stem, base, csv_line(r->table, row));
}

static bool is_listed(const char *list, const char *id)
{
    const size_t length = strlen(id);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, id, length) == 0 && (at[length] == ',' || !at[length]))
            return true;
    return list == NULL;
}

/* The chip of the database that the row is about; NULL when the row does not say. */
static const char *chip_of(const struct reading *r, size_t row)
{
    static const char *const columns[] = {"chip_id", "chip", "scope"};
    const char *id = NULL;
    for (unsigned i = 0; i < ARRAY_COUNT(columns); i++) {
        const char *const text = cell(r->table, row, columns[i]);
        if (*text && chip_db_resolve(r->q->chips, text, &id, NULL))
            return id;
    }
    return NULL;
}

static bool is_wanted(const struct reading *r, size_t row)
{
    char id[CALIBRATE_ID];
    row_id(r, row, id);
    if (!is_listed(r->q->rows, id))
        return false;
    const char *const chip = r->q->chip_count ? chip_of(r, row) : NULL;
    for (size_t i = 0; i < r->q->chip_count; i++)
        if (chip && strcmp(chip, r->q->chip[i]) == 0)
            return true;
    return r->q->chip_count == 0;
}

/* Writes a row: first id and chip_id, which are written anew, then all other columns. */
static char *write_line(const struct reading *r, const size_t *row, const char *id, const char *chip)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    format_csv(out, id);
    fputc(',', out);
    format_csv(out, chip);
    for (size_t c = 0; c < csv_columns(r->table); c++) {
        const char *const name = csv_name(r->table, c);
        if (strcmp(name, "id") == 0 || strcmp(name, "chip_id") == 0)
            continue;
        fputc(',', out);
        format_csv(out, row ? csv_cell(r->table, *row, (int)c) : name);
    }
    fputc('\n', out);
    return fclose(out) == 0 ? text : NULL;
}

static bool note_chip(struct reading *r, const char *chip)
{
    struct calibrate_rows *const rows = r->rows;
    for (unsigned i = 0; i < rows->chips; i++)
        if (strcmp(rows->chip[i], chip) == 0)
            return true;
    if (rows->chips == CALIBRATE_CHIPS)
        return orch_fail(r->error, ORCH_USAGE, "%.200s: more than %d chips; choose rows", r->q->name, CALIBRATE_CHIPS);
    rows->chip[rows->chips++] = chip;
    return true;
}

static bool take_row(struct reading *r, size_t number)
{
    struct calibrate_rows *const rows = r->rows;
    struct calibrate_row *const row = &rows->row[rows->count];
    char *end;
    const char *const value = cell(r->table, number, "value");
    *row = (struct calibrate_row){.chip = chip_of(r, number), .measured = strtod(value, &end)};
    row_id(r, number, row->id);
    rows->given++;
    if (!row->chip) {
        rows->no_chip++;
        return true;
    }
    if (end == value || *end || !(row->measured > 0)) {
        rows->unmodelled++;
        return true;
    }
    row->source = strdup(cell(r->table, number, "source"));
    row->line = write_line(r, &number, row->id, row->chip);
    rows->count++;
    return row->source && row->line ? note_chip(r, row->chip) : orch_no_memory(r->error);
}

static bool take_rows(struct reading *r)
{
    const size_t all = csv_rows(r->table);
    size_t wanted = 0, seen = 0, taken = 0;
    for (size_t i = 0; i < all; i++)
        wanted += is_wanted(r, i);
    const size_t most = r->q->most && r->q->most < wanted ? r->q->most : wanted;
    r->rows->row = calloc(all + 1, sizeof *r->rows->row);
    r->rows->head = write_line(r, NULL, "id", "chip_id");
    if (!r->rows->row || !r->rows->head)
        return orch_no_memory(r->error);
    for (size_t i = 0; i < all; i++) {
        if (!is_wanted(r, i))
            continue;
        if (seen++ * most / wanted < taken) /* spreads them evenly: the n-th is taken at n * wanted / most */
            continue;
        taken++;
        if (!take_row(r, i))
            return false;
    }
    return r->rows->count ||
           orch_fail(r->error, ORCH_USAGE, "%.200s: no row to fit: %zu chosen, %zu of them name no chip of the database",
                     r->q->name, r->rows->given, r->rows->no_chip);
}

static size_t source_number(const struct calibrate_rows *rows, size_t i)
{
    size_t number = 0;
    for (size_t j = 0; j < i; j++) {
        size_t k = 0;
        while (k < j && strcmp(rows->row[k].source, rows->row[j].source) != 0)
            k++;
        if (strcmp(rows->row[j].source, rows->row[i].source) == 0)
            return number;
        number += k == j;
    }
    return number;
}

static void make_folds(const struct calibrate_request *q, struct calibrate_rows *rows)
{
    size_t sources = 0;
    for (size_t i = 0; i < rows->count; i++)
        sources = source_number(rows, i) + 1 > sources ? source_number(rows, i) + 1 : sources;
    rows->by_source = !q->folds_by_row && sources >= q->folds;
    for (size_t i = 0; i < rows->count && q->folds; i++)
        rows->row[i].fold = (unsigned)((rows->by_source ? source_number(rows, i) : i) % q->folds);
}

/* A fit over rows of which some are missing would be another fit than the one that was asked for. */
static bool is_sound(const struct calibrate_request *q, const struct csv_table *table, struct orch_error *error)
{
    char text[400];
    if (!csv_faults(table))
        return true;
    csv_fault_say(q->name, csv_fault_at(table, 0), text, sizeof text);
    return orch_fail(error, ORCH_USAGE, "%s", text);
}

bool calibrate_rows_read(const struct calibrate_request *q, struct calibrate_rows *rows, struct orch_error *error)
{
    struct content_hash h;
    *rows = (struct calibrate_rows){0};
    struct csv_table *const table = measurements_parse(q->name, q->text, q->size, error);
    struct reading r = {.q = q, .rows = rows, .table = table, .error = error};
    bool ok = table && is_sound(q, table, error);
    ok = ok && take_rows(&r);
    if (table)
        csv_free(table);
    content_hash_begin(&h);
    content_hash_add_bytes(&h, q->text, q->size);
    content_hash_end(&h, rows->hash);
    if (ok)
        make_folds(q, rows);
    else
        calibrate_rows_free(rows);
    return ok;
}
