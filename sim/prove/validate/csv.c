#include "sim/prove/validate/csv.h"

#include "isa/list_grow.h"
#include "sim/base/file_read.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct csv_table {
    char *text; /* all cells, each with a NUL after it */
    size_t text_size;
    size_t *cell; /* offsets into text, row by row, names first */
    size_t cells, cell_room;
    unsigned *line; /* line of each record */
    size_t records, record_room;
    size_t columns;
};

struct reader {
    struct csv_table *table;
    const char *name, *at, *end, *line_start;
    unsigned line;
    struct orch_error *error;
};

static bool fail_at(struct reader *r, const char *at, const char *what)
{
    return orch_fail(r->error, ORCH_USAGE, "%s:%u:%zu: %s", r->name, r->line, (size_t)(at - r->line_start) + 1, what);
}

static bool out_of_memory(struct reader *r)
{
    return orch_fail(r->error, ORCH_INTERNAL, "%s: out of memory", r->name);
}

static bool add_cell(struct reader *r)
{
    struct csv_table *const t = r->table;
    size_t *const grown = list_grow(t->cell, t->cells, &t->cell_room, sizeof *grown);
    if (!grown)
        return out_of_memory(r);
    t->cell = grown;
    t->cell[t->cells++] = t->text_size;
    return true;
}

static bool add_record(struct reader *r)
{
    struct csv_table *const t = r->table;
    unsigned *const grown = list_grow(t->line, t->records, &t->record_room, sizeof *grown);
    if (!grown)
        return out_of_memory(r);
    t->line = grown;
    t->line[t->records++] = r->line;
    return true;
}

static bool at_line_end(const struct reader *r)
{
    return r->at == r->end || *r->at == '\n' || (*r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n');
}

static void skip_line_end(struct reader *r)
{
    if (r->at < r->end && *r->at == '\r')
        r->at++;
    if (r->at < r->end) {
        r->at++;
        r->line++;
        r->line_start = r->at;
    }
}

/* Needs no check of room: the text without quotes is never longer than the file. */
static void put(struct reader *r, char c)
{
    r->table->text[r->table->text_size++] = c;
}

static bool read_quoted(struct reader *r)
{
    const char *const open = r->at++;
    const unsigned open_line = r->line;
    const char *const open_start = r->line_start;
    for (; r->at < r->end; r->at++) {
        if (*r->at == '"') {
            if (r->at + 1 < r->end && r->at[1] == '"') {
                r->at++;
            } else {
                r->at++;
                if (!at_line_end(r) && *r->at != ',')
                    return fail_at(r, r->at, "text after a closing quote");
                return true;
            }
        }
        if (*r->at == '\0')
            return fail_at(r, r->at, "a NUL byte");
        put(r, *r->at);
        if (*r->at == '\n') {
            r->line++;
            r->line_start = r->at + 1;
        }
    }
    r->line = open_line;
    r->line_start = open_start;
    return fail_at(r, open, "a quoted cell that never ends");
}

static bool read_plain(struct reader *r)
{
    for (; !at_line_end(r) && *r->at != ','; r->at++) {
        if (*r->at == '"')
            return fail_at(r, r->at, "a quote inside an unquoted cell");
        if (*r->at == '\0')
            return fail_at(r, r->at, "a NUL byte");
        put(r, *r->at);
    }
    return true;
}

static bool read_record(struct reader *r)
{
    struct csv_table *const t = r->table;
    const size_t first = t->cells;
    const unsigned line = r->line;
    if (!add_record(r))
        return false;
    for (;;) {
        if (!add_cell(r))
            return false;
        if (!(r->at < r->end && *r->at == '"' ? read_quoted(r) : read_plain(r)))
            return false;
        put(r, '\0');
        if (at_line_end(r))
            break;
        r->at++; /* skips the comma */
    }
    const size_t cells = t->cells - first;
    if (t->records == 1)
        t->columns = cells;
    else if (cells != t->columns)
        return orch_fail(r->error, ORCH_USAGE, "%s:%u:1: %zu cells, the first line has %zu", r->name, line, cells, t->columns);
    skip_line_end(r);
    return true;
}

static bool check_names(struct reader *r)
{
    const struct csv_table *const t = r->table;
    for (size_t i = 0; i < t->columns; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(csv_name(t, i), csv_name(t, j)) == 0)
                return orch_fail(r->error, ORCH_USAGE, "%s:1:1: two columns are called '%.80s'", r->name, csv_name(t, i));
    return true;
}

static bool read_all(struct reader *r)
{
    if (r->end - r->at >= 3 && memcmp(r->at, "\xef\xbb\xbf", 3) == 0)
        r->at = r->line_start = r->at + 3;
    if (r->at == r->end)
        return fail_at(r, r->at, "an empty table");
    while (r->at < r->end) {
        if (!read_record(r))
            return false;
        if (r->table->records == 1 && !check_names(r))
            return false;
    }
    return true;
}

struct csv_table *csv_parse(const char *name, const char *text, size_t bytes, struct orch_error *error)
{
    struct csv_table *const table = calloc(1, sizeof *table);
    /* A NUL per cell fits: each cell takes at least a comma, a line end or the end of the file. */
    char *const cells = malloc(bytes + 2);
    if (!table || !cells) {
        free(table);
        free(cells);
        orch_fail(error, ORCH_INTERNAL, "%s: out of memory", name);
        return NULL;
    }
    table->text = cells;
    struct reader r = {table, name, text, text + bytes, text, 1, error};
    if (!read_all(&r)) {
        csv_free(table);
        return NULL;
    }
    return table;
}

static char *read_file(const char *path, size_t *bytes, struct orch_error *error)
{
    uint8_t *text = NULL;
    FILE *const file = fopen(path, "rb");
    if (!file) {
        orch_fail(error, ORCH_USAGE, "%s: %s", path, strerror(errno));
        return NULL;
    }
    if (!file_read_all(file, SIZE_MAX, &text, bytes)) {
        if (errno == ENOMEM)
            orch_fail(error, ORCH_INTERNAL, "%s: out of memory", path);
        else
            orch_fail(error, ORCH_USAGE, "%s: cannot be read", path);
    }
    fclose(file);
    return (char *)text;
}

struct csv_table *csv_read(const char *path, struct orch_error *error)
{
    size_t bytes = 0;
    char *const text = read_file(path, &bytes, error);
    if (!text)
        return NULL;
    struct csv_table *const table = csv_parse(path, text, bytes, error);
    free(text);
    return table;
}

void csv_free(struct csv_table *table)
{
    if (!table)
        return;
    free(table->text);
    free(table->cell);
    free(table->line);
    free(table);
}

size_t csv_rows(const struct csv_table *table)
{
    return table->records ? table->records - 1 : 0;
}

size_t csv_columns(const struct csv_table *table)
{
    return table->columns;
}

const char *csv_name(const struct csv_table *table, size_t column)
{
    return table->text + table->cell[column];
}

int csv_find(const struct csv_table *table, const char *name)
{
    for (size_t i = 0; i < table->columns; i++)
        if (strcmp(csv_name(table, i), name) == 0)
            return (int)i;
    return -1;
}

const char *csv_cell(const struct csv_table *table, size_t row, int column)
{
    return column < 0 ? "" : table->text + table->cell[(row + 1) * table->columns + (size_t)column];
}

unsigned csv_line(const struct csv_table *table, size_t row)
{
    return table->line[row + 1];
}
