#include "sim/prove/validate/csv.h"

#include "isa/list_grow.h"
#include "sim/base/file_read.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cell {
    size_t text; /* offset into the text of all cells */
    unsigned line, place;
};

struct csv_table {
    char *text; /* all cells, each with a NUL after it */
    size_t text_size;
    struct cell *cell; /* row by row, names first */
    size_t cells, cell_room;
    unsigned *line; /* line of each record */
    size_t records, record_room;
    size_t columns;
    struct csv_fault *fault;
    size_t faults, fault_room;
};

struct reader {
    struct csv_table *table;
    const char *name, *at, *end, *line_start;
    unsigned line;
    struct csv_fault fault; /* what is wrong with the record that is being read; line 0 = nothing, or memory is out */
    struct orch_error *error;
};

static bool fault_at(struct reader *r, const char *at, const char *why, const char *fix)
{
    r->fault = (struct csv_fault){.line = r->line, .place = (unsigned)(at - r->line_start) + 1};
    snprintf(r->fault.why, sizeof r->fault.why, "%s", why);
    snprintf(r->fault.fix, sizeof r->fault.fix, "%s", fix);
    return false;
}

static bool out_of_memory(struct reader *r)
{
    r->fault.line = 0;
    return orch_fail(r->error, ORCH_INTERNAL, "%s: out of memory", r->name);
}

static bool keep_fault(struct csv_table *t, const struct csv_fault *fault)
{
    struct csv_fault *const grown = list_grow(t->fault, t->faults, &t->fault_room, sizeof *grown);
    if (!grown)
        return false;
    t->fault = grown;
    t->fault[t->faults++] = *fault;
    return true;
}

static int by_line(const void *a, const void *b)
{
    const struct csv_fault *const x = a, *const y = b;
    return (x->line > y->line) - (x->line < y->line);
}

static void sort_faults(struct csv_table *t)
{
    if (t->faults)
        qsort(t->fault, t->faults, sizeof *t->fault, by_line);
}

static bool add_cell(struct reader *r)
{
    struct csv_table *const t = r->table;
    struct cell *const grown = list_grow(t->cell, t->cells, &t->cell_room, sizeof *grown);
    if (!grown)
        return out_of_memory(r);
    t->cell = grown;
    t->cell[t->cells++] = (struct cell){t->text_size, r->line, (unsigned)(r->at - r->line_start) + 1};
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

#define SAVE_AS_TEXT "save the table as plain text"

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
                    return fault_at(r, r->at, "text after a closing quote", "double each quote that belongs to the text");
                return true;
            }
        }
        if (*r->at == '\0')
            return fault_at(r, r->at, "a NUL byte", SAVE_AS_TEXT);
        put(r, *r->at);
        if (*r->at == '\n') {
            r->line++;
            r->line_start = r->at + 1;
        }
    }
    r->line = open_line;
    r->line_start = open_start;
    return fault_at(r, open, "a quoted cell that never ends", "write a closing quote");
}

static bool read_plain(struct reader *r)
{
    for (; !at_line_end(r) && *r->at != ','; r->at++) {
        if (*r->at == '"')
            return fault_at(r, r->at, "a quote inside an unquoted cell", "put the cell in quotes and double those in it");
        if (*r->at == '\0')
            return fault_at(r, r->at, "a NUL byte", SAVE_AS_TEXT);
        put(r, *r->at);
    }
    return true;
}

/* The record has more or fewer cells than the first line has names. */
static bool count_fault(struct reader *r, unsigned line, size_t cells)
{
    const struct csv_table *const t = r->table;
    r->fault = (struct csv_fault){.line = line, .place = 1};
    snprintf(r->fault.why, sizeof r->fault.why, "%zu cells, the first line has %zu", cells, t->columns);
    if (cells > t->columns) {
        snprintf(r->fault.fix, sizeof r->fault.fix, "put a cell that contains a comma in quotes");
        return false;
    }
    snprintf(r->fault.column, sizeof r->fault.column, "%.*s", CSV_SHOWN, csv_name(t, cells));
    snprintf(r->fault.fix, sizeof r->fault.fix, "write a comma for each empty cell");
    return false;
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
        return count_fault(r, line, cells);
    skip_line_end(r);
    return true;
}

/* Reads a record behind the names. One that is at fault is noted and left out, and reading goes on with the line after its first:
 * a quote that somebody forgot to close must not take the rest of the table with it. */
static bool read_row(struct reader *r)
{
    struct csv_table *const t = r->table;
    const struct csv_table before = *t;
    const struct reader start = *r;
    if (read_record(r))
        return true;
    if (!r->fault.line)
        return false;
    if (!keep_fault(t, &r->fault))
        return out_of_memory(r);
    t->text_size = before.text_size;
    t->cells = before.cells;
    t->records = before.records;
    const char *const end = memchr(start.at, '\n', (size_t)(start.end - start.at));
    r->at = r->line_start = end ? end + 1 : start.end;
    r->line = start.line + 1;
    r->fault.line = 0;
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

static bool fail_with_fault(struct reader *r)
{
    const struct csv_fault *const f = &r->fault;
    return f->line && orch_fail(r->error, ORCH_USAGE, "%s:%u:%u: %s", r->name, f->line, f->place, f->why);
}

static bool read_all(struct reader *r)
{
    if (r->end - r->at >= 3 && memcmp(r->at, "\xef\xbb\xbf", 3) == 0)
        r->at = r->line_start = r->at + 3;
    if (r->at == r->end) {
        fault_at(r, r->at, "an empty table", "");
        return fail_with_fault(r);
    }
    if (!read_record(r))
        return fail_with_fault(r);
    if (!check_names(r))
        return false;
    while (r->at < r->end)
        if (!read_row(r))
            return false;
    sort_faults(r->table); /* lines behind one that a quote had swallowed are read after it */
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
    struct reader r = {
        .table = table, .name = name, .at = text, .end = text + bytes, .line_start = text, .line = 1, .error = error};
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
    free(table->fault);
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
    return table->text + table->cell[column].text;
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
    return column < 0 ? "" : table->text + table->cell[(row + 1) * table->columns + (size_t)column].text;
}

unsigned csv_line(const struct csv_table *table, size_t row)
{
    return table->line[row + 1];
}

/* ---- rows at fault ---- */

size_t csv_faults(const struct csv_table *table)
{
    return table->faults;
}

const struct csv_fault *csv_fault_at(const struct csv_table *table, size_t index)
{
    return &table->fault[index];
}

bool csv_reject(struct csv_table *t, size_t row, int column, const char *fix, const char *why, ...)
{
    const struct cell *const at = &t->cell[(row + 1) * t->columns + (column < 0 ? 0 : (size_t)column)];
    struct csv_fault fault = {.line = at->line, .place = at->place};
    va_list args;
    va_start(args, why);
    vsnprintf(fault.why, sizeof fault.why, why, args);
    va_end(args);
    if (column >= 0) {
        snprintf(fault.column, sizeof fault.column, "%.*s", CSV_SHOWN, csv_name(t, (size_t)column));
        snprintf(fault.value, sizeof fault.value, "%.*s", CSV_SHOWN, csv_cell(t, row, column));
    }
    snprintf(fault.fix, sizeof fault.fix, "%s", fix);
    t->line[row + 1] = 0;
    return keep_fault(t, &fault);
}

void csv_remove_rejected(struct csv_table *t)
{
    size_t kept = 1;
    for (size_t record = 1; record < t->records; record++) {
        if (!t->line[record])
            continue;
        t->line[kept] = t->line[record];
        memmove(&t->cell[kept * t->columns], &t->cell[record * t->columns], t->columns * sizeof *t->cell);
        kept++;
    }
    t->records = kept;
    t->cells = kept * t->columns;
    sort_faults(t);
}

void csv_fault_say(const char *name, const struct csv_fault *f, char *text, size_t size)
{
    if (*f->column && *f->value)
        snprintf(text, size, "%s:%u:%u: column '%s' is '%s': %s; %s", name, f->line, f->place, f->column, f->value, f->why,
                 f->fix);
    else if (*f->column)
        snprintf(text, size, "%s:%u:%u: column '%s': %s; %s", name, f->line, f->place, f->column, f->why, f->fix);
    else
        snprintf(text, size, "%s:%u:%u: %s; %s", name, f->line, f->place, f->why, f->fix);
}
