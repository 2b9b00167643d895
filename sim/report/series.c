#include "sim/report/series.h"

#include "sim/base/place_name.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool new_row(struct series *s, double time)
{
    if (s->rows == s->room) {
        const size_t room = s->room ? 2 * s->room : 256;
        double *const times = realloc(s->time, room * sizeof *times);
        s->time = times ? times : s->time;
        double *const values = times ? realloc(s->value, room * SERIES_PLACES * sizeof *values) : NULL;
        s->value = values ? values : s->value;
        if (!times || !values)
            return false;
        s->room = room;
    }
    s->time[s->rows] = time;
    for (size_t i = 0; i < SERIES_PLACES; i++)
        s->value[s->rows * SERIES_PLACES + i] = NAN;
    s->rows++;
    return true;
}

static size_t place_index(struct series *s, const char *part, uint32_t instance)
{
    char name[48];
    place_name(s->name, part, instance, name, sizeof name);
    size_t i = 0;
    while (i < s->places && strcmp(s->place[i], name) != 0)
        i++;
    if (i == s->places && i < SERIES_PLACES)
        memcpy(s->place[s->places++], name, sizeof name);
    return i;
}

static bool take(struct series *s, sqlite3_stmt *row)
{
    const double time = sqlite3_column_double(row, 0) * 1e-9;
    const size_t place = place_index(s, db_column_text(row, 1), (uint32_t)sqlite3_column_int64(row, 2));
    if ((s->rows == 0 || s->time[s->rows - 1] != time) && !new_row(s, time))
        return false;
    if (place < SERIES_PLACES && sqlite3_column_type(row, 3) != SQLITE_NULL)
        s->value[(s->rows - 1) * SERIES_PLACES + place] = sqlite3_column_double(row, 3);
    return true;
}

bool series_read(struct orch_db *db, int64_t run_id, int64_t metric, const char *name, const char *unit, struct series *s,
                 struct orch_error *error)
{
    snprintf(s->name, sizeof s->name, "%s", name);
    snprintf(s->unit, sizeof s->unit, "%s", unit);
    sqlite3_stmt *const rows = db_query(db, error,
                                        "SELECT time_ns, part, instance, value FROM sample WHERE run_id = ? AND metric_id = ? "
                                        "ORDER BY time_ns, part, instance",
                                        "ii", run_id, metric);
    int code = SQLITE_ERROR;
    bool stored = true;
    while (rows && stored && (code = db_step(db, rows, error)) == SQLITE_ROW)
        stored = take(s, rows) || orch_no_memory(error);
    sqlite3_finalize(rows);
    return rows && stored && code == SQLITE_DONE;
}

size_t series_thin_out(struct series *s, size_t most)
{
    const size_t each = (s->rows + most - 1) / most;
    if (each <= 1)
        return 1;
    size_t to = 0;
    for (size_t from = 0; from < s->rows; from += each, to++) {
        const size_t end = from + each < s->rows ? from + each : s->rows;
        for (size_t p = 0; p < s->places; p++) {
            double sum = 0;
            size_t count = 0;
            for (size_t i = from; i < end; i++)
                if (!isnan(s->value[i * SERIES_PLACES + p])) {
                    sum += s->value[i * SERIES_PLACES + p];
                    count++;
                }
            s->value[to * SERIES_PLACES + p] = count ? sum / (double)count : (double)NAN;
        }
        s->time[to] = s->time[end - 1];
    }
    s->rows = to;
    return each;
}

void series_swap_places(struct series *s, size_t a, size_t b)
{
    char name[sizeof s->place[0]];
    memcpy(name, s->place[a], sizeof name);
    memcpy(s->place[a], s->place[b], sizeof name);
    memcpy(s->place[b], name, sizeof name);
    for (size_t r = 0; r < s->rows; r++) {
        double *const v = &s->value[r * SERIES_PLACES], other = v[a];
        v[a] = v[b];
        v[b] = other;
    }
}

void series_add_sum(struct series *s)
{
    if (strcmp(s->name, "power") != 0 || s->places < 2 || s->places == SERIES_PLACES)
        return;
    for (size_t p = s->places; p > 0; p--)
        memcpy(s->place[p], s->place[p - 1], sizeof s->place[0]);
    snprintf(s->place[0], sizeof s->place[0], "all parts");
    s->places++;
    for (size_t r = 0; r < s->rows; r++) {
        double *const v = &s->value[r * SERIES_PLACES], sum = 0;
        for (size_t p = s->places - 1; p > 0; p--) {
            v[p] = v[p - 1];
            sum += isnan(v[p]) ? 0 : v[p];
        }
        v[0] = sum;
    }
}

bool series_kinds(struct orch_db *db, int64_t run_id, struct series_kind kind[SERIES_KINDS], size_t *count,
                  struct orch_error *error)
{
    sqlite3_stmt *const rows = db_query(db, error,
                                        "SELECT m.id, m.name, m.unit FROM metric m WHERE m.kind = 'sample' AND EXISTS "
                                        "(SELECT 1 FROM sample s WHERE s.run_id = ? AND s.metric_id = m.id) ORDER BY m.name",
                                        "i", run_id);
    int code = SQLITE_ERROR;
    *count = 0;
    while (rows && (code = db_step(db, rows, error)) == SQLITE_ROW && *count < SERIES_KINDS) {
        struct series_kind *const k = &kind[(*count)++];
        k->metric = sqlite3_column_int64(rows, 0);
        snprintf(k->name, sizeof k->name, "%s", db_column_text(rows, 1));
        snprintf(k->unit, sizeof k->unit, "%s", db_column_text(rows, 2));
    }
    sqlite3_finalize(rows);
    return rows && (code == SQLITE_DONE || code == SQLITE_ROW);
}

void series_free(struct series *s)
{
    free(s->time);
    free(s->value);
    *s = (struct series){0};
}
