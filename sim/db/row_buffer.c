#include "sim/db/row_buffer.h"

#include "sim/db/text_map.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct row_shape {
    const char *sql;
    const char *cells; /* one letter per column after run_id */
};

static const struct row_shape shapes[ROW_TABLE_COUNT] = {
    [ROW_OP] = {"INSERT INTO op (run_id, op, name_id, kernel_id, shape_id, precision_id, part, instance, submitted_ns, "
                "started_ns, seconds, cycles, macs, flops, repeats) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                "innnntiddddddi"},
    [ROW_ACTIVITY] = {"INSERT INTO activity (run_id, op, metric_id, value) VALUES (?,?,?,?)", "imi"},
    /* The values of two stall reasons or counters with one name are added. */
    [ROW_STALL] = {"INSERT INTO stall (run_id, op, metric_id, value) VALUES (?,?,?,?) "
                   "ON CONFLICT DO UPDATE SET value = value + excluded.value",
                   "imd"},
    [ROW_COUNTER] = {"INSERT INTO counter (run_id, op, metric_id, value) VALUES (?,?,?,?) "
                     "ON CONFLICT DO UPDATE SET value = value + excluded.value",
                     "imd"},
    [ROW_SAMPLE] = {"INSERT OR REPLACE INTO sample (run_id, metric_id, part, instance, time_ns, value) "
                    "VALUES (?,?,?,?,?,?)",
                    "mtidd"},
    [ROW_TRANSFER] = {"INSERT INTO transfer (run_id, seq, time_ns, what_id, from_part, from_instance, to_part, "
                      "to_instance, bytes, seconds) VALUES (?,?,?,?,?,?,?,?,?,?)",
                      "idntitiid"},
    [ROW_DVFS_CHANGE] = {"INSERT INTO dvfs_change (run_id, seq, time_ns, part, instance, from_mhz, to_mhz, volts, "
                         "reason_id) VALUES (?,?,?,?,?,?,?,?,?)",
                         "idtidddn"},
    [ROW_FAULT] = {"INSERT INTO fault (run_id, seq, time_ns, part, instance, fault, pc, address, text) "
                   "VALUES (?,?,?,?,?,?,?,?,?)",
                   "idtitttt"},
    [ROW_PART] = {"INSERT INTO run_part (run_id, part, utilisation, joules) VALUES (?,?,?,?)", "tdd"},
    [ROW_PLACEMENT] = {"INSERT INTO placement (run_id, seq, op_id, unit_id, kernel_id, why_id) VALUES (?,?,?,?,?,?)", "innnn"},
    [ROW_ASSUMPTION] = {"INSERT INTO assumption (run_id, seq, key, kind, effect) VALUES (?,?,?,?,?)", "ittt"},
    [ROW_PROFILE_KERNEL] = {"INSERT INTO profile_kernel (run_id, kernel, name, timed_share, idle_cycles) VALUES (?,?,?,?,?)",
                            "itdd"},
    [ROW_PROFILE_FILE] = {"INSERT INTO profile_file (run_id, kernel, file, name_id) VALUES (?,?,?,?)", "iin"},
    [ROW_PROFILE_TEXT] = {"INSERT OR IGNORE INTO profile_text (run_id, kernel, file, line, text_id) VALUES (?,?,?,?,?)", "iiin"},
    [ROW_PROFILE_INSTRUCTION] = {"INSERT INTO profile_instruction (run_id, kernel, position, file, line, text_id, issued, lanes, "
                                 "units, least_units, cycles) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                                 "iiiinidddd"},
    [ROW_PROFILE_STALL] = {"INSERT INTO profile_stall (run_id, kernel, position, metric_id, cycles) VALUES (?,?,?,?,?)", "iimd"},
    [ROW_PROFILE_WARNING] =
        {"INSERT INTO profile_warning (run_id, seq, kernel, kind, place, file, line, position, evidence, fix) "
         "VALUES (?,?,?,?,?,?,?,?,?,?)",
         "iittiiitt"},
    [ROW_CHECKSUM] = {"INSERT INTO checksum (run_id, seq, output, fnv1a64) VALUES (?,?,?,?)", "itt"},
};

union cell {
    int64_t integer; /* of i; for t, n and m the number of the text or metric in the buffer, -1 = NULL */
    double real;
};

struct metric_key {
    const char *kind, *name, *unit; /* texts of the buffer */
    int64_t id;                     /* in the file, 0 = not asked yet */
};

struct kept_text {
    const char *text; /* owned by the map of texts */
    int64_t id;       /* in table name, 0 = not asked yet */
    int64_t metric;   /* number of the last metric of this name, -1 = none: saves most look-ups */
};

struct row_buffer {
    union cell *cell;
    size_t cell_count, cell_capacity;
    uint8_t *table; /* of each row */
    size_t row_count, row_capacity;

    struct text_map text_numbers, metric_numbers;
    struct kept_text *text; /* by number */
    size_t text_count, text_capacity;
    struct metric_key *metric;
    size_t metric_count, metric_capacity;
};

struct row_buffer *row_buffer_create(void)
{
    return calloc(1, sizeof(struct row_buffer));
}

void row_buffer_free(struct row_buffer *buffer)
{
    if (!buffer)
        return;
    text_map_clear(&buffer->text_numbers);
    text_map_clear(&buffer->metric_numbers);
    free(buffer->cell);
    free(buffer->table);
    free(buffer->text);
    free(buffer->metric);
    free(buffer);
}

size_t row_buffer_count(const struct row_buffer *buffer)
{
    return buffer->row_count;
}

void row_buffer_clear(struct row_buffer *buffer)
{
    buffer->row_count = 0;
    buffer->cell_count = 0;
}

/* Returns the array with room for `more` items after `count`; NULL, with nothing changed, when memory has run out. */
static void *roomy(void *items, size_t count, size_t more, size_t *capacity, size_t item_size)
{
    if (count + more <= *capacity)
        return items;
    const size_t wanted = (*capacity ? *capacity * 2 : 256) + more;
    void *bigger = reallocarray(items, wanted, item_size);
    if (bigger)
        *capacity = wanted;
    return bigger;
}

static bool grow_texts(struct row_buffer *b)
{
    struct kept_text *texts = roomy(b->text, b->text_count, 1, &b->text_capacity, sizeof *texts);
    if (texts)
        b->text = texts;
    return texts != NULL;
}

static bool grow_metrics(struct row_buffer *b)
{
    struct metric_key *metrics = roomy(b->metric, b->metric_count, 1, &b->metric_capacity, sizeof *metrics);
    if (metrics)
        b->metric = metrics;
    return metrics != NULL;
}

static bool grow_rows(struct row_buffer *b, size_t cells)
{
    union cell *cell = roomy(b->cell, b->cell_count, cells, &b->cell_capacity, sizeof *cell);
    if (cell)
        b->cell = cell;
    uint8_t *table = roomy(b->table, b->row_count, 1, &b->row_capacity, sizeof *table);
    if (table)
        b->table = table;
    return cell && table;
}

/* The number of a text in the buffer; -1 for NULL, -2 when memory has run out. */
static int64_t number_of_text(struct row_buffer *b, const char *text)
{
    if (!text)
        return -1;
    const int64_t known = text_map_get(&b->text_numbers, text, -1);
    if (known >= 0)
        return known;
    if (!grow_texts(b))
        return -2;
    const char *kept = text_map_add(&b->text_numbers, text, (int64_t)b->text_count);
    if (!kept)
        return -2;
    b->text[b->text_count] = (struct kept_text){kept, 0, -1};
    return (int64_t)b->text_count++;
}

/* Looks for a metric that is not the last one with its name. */
static int64_t other_metric(struct row_buffer *b, const char *kind, int64_t name, const char *unit)
{
    char key[320];
    snprintf(key, sizeof key, "%s/%s", kind, b->text[name].text);
    const int64_t known = text_map_get(&b->metric_numbers, key, -1);
    if (known >= 0)
        return known;
    const int64_t k = number_of_text(b, kind), u = number_of_text(b, unit ? unit : "");
    if (k < 0 || u < 0 || !grow_metrics(b) || !text_map_add(&b->metric_numbers, key, (int64_t)b->metric_count))
        return -2;
    b->metric[b->metric_count] = (struct metric_key){b->text[k].text, b->text[name].text, b->text[u].text, 0};
    return (int64_t)b->metric_count++;
}

static int64_t number_of_metric(struct row_buffer *b, const char *kind, const char *name, const char *unit)
{
    const int64_t n = number_of_text(b, name);
    if (n < 0)
        return -2;
    const int64_t last = b->text[n].metric;
    if (last >= 0 && strcmp(b->metric[last].kind, kind) == 0)
        return last;
    const int64_t number = other_metric(b, kind, n, unit);
    if (number >= 0)
        b->text[n].metric = number;
    return number;
}

static bool take_cell(struct row_buffer *b, char letter, union cell *cell, va_list *arguments)
{
    if (letter == 'd') {
        cell->real = va_arg(*arguments, double);
        return true;
    }
    if (letter == 'i') {
        cell->integer = va_arg(*arguments, int64_t);
        return true;
    }
    const char *text = va_arg(*arguments, const char *);
    if (letter == 'm') {
        const char *name = va_arg(*arguments, const char *), *unit = va_arg(*arguments, const char *);
        cell->integer = number_of_metric(b, text, name, unit);
    } else {
        cell->integer = number_of_text(b, text);
    }
    return cell->integer != -2;
}

bool row_buffer_add(struct row_buffer *buffer, enum row_table table, ...)
{
    const char *letters = shapes[table].cells;
    const size_t count = strlen(letters);
    if (!grow_rows(buffer, count))
        return false;
    va_list arguments;
    va_start(arguments, table);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = take_cell(buffer, letters[i], &buffer->cell[buffer->cell_count + i], &arguments);
    va_end(arguments);
    if (!ok)
        return false;
    buffer->cell_count += count;
    buffer->table[buffer->row_count++] = (uint8_t)table;
    return true;
}

/* The id of a text or metric in the file, which is looked up once per buffer and file. */
static bool file_id(struct row_buffer *b, struct orch_db *db, char letter, int64_t number, int64_t *id, struct orch_error *error)
{
    *id = 0;
    if (number < 0)
        return true;
    int64_t *known = letter == 'n' ? &b->text[number].id : &b->metric[number].id;
    const struct metric_key *m = letter == 'n' ? NULL : &b->metric[number];
    if (*known == 0 &&
        !(m ? db_metric_id(db, m->kind, m->name, m->unit, known, error) : db_name_id(db, b->text[number].text, known, error)))
        return false;
    *id = *known;
    return true;
}

static int bind_cell(struct row_buffer *b, sqlite3_stmt *statement, int index, char letter, union cell cell)
{
    if (letter == 'i')
        return sqlite3_bind_int64(statement, index, cell.integer);
    if (letter == 'd')
        return isnan(cell.real) ? sqlite3_bind_null(statement, index) : sqlite3_bind_double(statement, index, cell.real);
    /* SQLITE_STATIC: the text belongs to the buffer, which outlives the statement. */
    return cell.integer < 0 ? sqlite3_bind_null(statement, index)
                            : sqlite3_bind_text(statement, index, b->text[cell.integer].text, -1, SQLITE_STATIC);
}

static bool write_row(struct row_buffer *b, struct orch_db *db, sqlite3_stmt *statement, const char *letters,
                      const union cell *cells, struct orch_error *error)
{
    for (int i = 0; letters[i]; i++) {
        union cell cell = cells[i];
        char letter = letters[i];
        if (letter == 'n' || letter == 'm') {
            if (!file_id(b, db, letter, cell.integer, &cell.integer, error))
                return false;
            if (cell.integer == 0) {
                cell.integer = -1;
                letter = 't';
            } else {
                letter = 'i';
            }
        }
        if (bind_cell(b, statement, i + 2, letter, cell) != SQLITE_OK)
            return db_fail(db, error, "writing");
    }
    const int code = db_step(db, statement, error);
    sqlite3_reset(statement);
    return code == SQLITE_DONE;
}

/* Ids that were looked up before may have been rolled back since. */
static void forget_ids(struct row_buffer *b)
{
    for (size_t i = 0; i < b->text_count; i++)
        b->text[i].id = 0;
    for (size_t i = 0; i < b->metric_count; i++)
        b->metric[i].id = 0;
}

static bool write_rows(struct row_buffer *b, struct orch_db *db, int64_t run_id, sqlite3_stmt *statements[ROW_TABLE_COUNT],
                       struct orch_error *error)
{
    const union cell *cells = b->cell;
    for (size_t i = 0; i < b->row_count; i++) {
        const int table = b->table[i];
        if (!statements[table]) {
            statements[table] = db_query(db, error, shapes[table].sql, "i", run_id);
            if (!statements[table])
                return false;
        }
        if (!write_row(b, db, statements[table], shapes[table].cells, cells, error))
            return false;
        cells += strlen(shapes[table].cells);
    }
    return true;
}

bool row_buffer_write(struct row_buffer *buffer, struct orch_db *db, int64_t run_id, struct orch_error *error)
{
    sqlite3_stmt *statements[ROW_TABLE_COUNT] = {NULL};
    forget_ids(buffer);
    const bool ok = write_rows(buffer, db, run_id, statements, error);
    for (int i = 0; i < ROW_TABLE_COUNT; i++)
        sqlite3_finalize(statements[i]);
    return ok;
}
