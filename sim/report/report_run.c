#include "sim/report/report_run.h"
#include "isa/array_count.h"

#include <stdlib.h>
#include <string.h>

enum { OVERRIDES_MAX = 64 };

/* Reads what --set gave, from the values that are kept with the chip. */
static bool read_overrides(struct orch_db *db, int64_t run_id, char *text[OVERRIDES_MAX], size_t *count, struct orch_error *error)
{
    sqlite3_stmt *const rows = db_query(
        db, error,
        "SELECT n.text || '=' || v.value FROM run r JOIN chip_value v ON v.chip_id = r.chip_id JOIN name n ON n.id = v.key_id "
        "WHERE r.id = ? AND v.origin = '--set' ORDER BY n.text",
        "i", run_id);
    int code = SQLITE_ERROR;
    bool ok = rows != NULL;
    while (ok && (code = db_step(db, rows, error)) == SQLITE_ROW && *count < OVERRIDES_MAX) {
        text[*count] = strdup(db_column_text(rows, 0));
        ok = text[(*count)++] || orch_no_memory(error);
    }
    sqlite3_finalize(rows);
    return ok && code != SQLITE_ERROR;
}

/* A chip that no longer exists or has other values now leaves parts of the page out; that is no error. */
static bool open_chip(struct orch_db *db, const struct chip_db *chips, struct report_run *run, struct orch_error *error)
{
    char *text[OVERRIDES_MAX] = {0}, hash[24];
    size_t count = 0;
    struct orch_error ignored = {0};
    const bool ok = read_overrides(db, run->r.run_id, text, &count, error);
    if (ok && run->r.chip) {
        const struct chip_overrides overrides = {(const char *const *)text, count};
        run->chip = chip_open(chips, run->r.chip, &overrides, &ignored);
    }
    for (size_t i = 0; i < count; i++)
        free(text[i]);
    if (run->chip) {
        db_chip_hash_text(chip_hash(run->chip), hash, sizeof hash);
        run->chip_same = run->chip_hash && strcmp(hash, run->chip_hash) == 0;
    }
    return ok;
}

static bool read_rest(struct orch_db *db, struct report_run *run, struct orch_error *error)
{
    sqlite3_stmt *const row = db_query(
        db, error,
        "SELECT r.uid, r.options, r.version, r.started, c.hash, p.name, r.seed FROM run r LEFT JOIN chip c ON c.id = r.chip_id "
        "LEFT JOIN program p ON p.id = r.program_id WHERE r.id = ?",
        "i", run->r.run_id);
    char **const texts[] = {&run->uid, &run->options, &run->version, &run->started, &run->chip_hash, &run->program};
    bool ok = row && db_step(db, row, error) == SQLITE_ROW;
    for (int i = 0; ok && i < 6; i++)
        ok = run_result_set_text(texts[i], db_column_text(row, i)) || orch_no_memory(error);
    if (ok)
        run->seed = sqlite3_column_int64(row, 6);
    sqlite3_finalize(row);
    return ok;
}

bool report_run_read(struct orch_db *db, const struct chip_db *chips, int64_t run_id, struct report_run *run,
                     struct orch_error *error)
{
    run_result_init(&run->r);
    return db_read_run(db, run_id, &run->r, error) && read_rest(db, run, error) && open_chip(db, chips, run, error);
}

void report_run_free(struct report_run *run)
{
    char *const texts[] = {run->uid, run->options, run->version, run->started, run->chip_hash, run->program};
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        free(texts[i]);
    if (run->chip)
        chip_close(run->chip);
    run_result_free(&run->r);
}

void report_run_labels(struct report_run *runs, size_t count)
{
    bool same = true;
    for (size_t i = 1; i < count; i++)
        same = same && strcmp(runs[i].r.workload, runs[0].r.workload) == 0;
    for (size_t i = 0; i < count; i++) {
        const struct run_result *const r = &runs[i].r;
        snprintf(runs[i].label, sizeof runs[i].label, "%lld: %.50s%s%.40s %.12s%s%.30s", (long long)r->run_id,
                 same ? "" : r->workload, same ? "" : ", ", r->chip ? r->chip : "", r->unit ? r->unit : "", r->device ? ", " : "",
                 r->device ? r->device : "");
    }
}

void report_runs_free(struct report_run *runs, size_t count)
{
    for (size_t i = 0; runs && i < count; i++)
        report_run_free(&runs[i]);
    free(runs);
}

struct report_run *report_runs_read(struct orch_db *db, const struct chip_db *chips, const int64_t *run_ids, size_t count,
                                    struct orch_error *error)
{
    struct report_run *const runs = calloc(count, sizeof *runs);
    bool ok = runs || orch_no_memory(error);
    for (size_t i = 0; ok && i < count; i++)
        ok = report_run_read(db, chips, run_ids[i], &runs[i], error);
    if (ok) {
        report_run_labels(runs, count);
        return runs;
    }
    report_runs_free(runs, count);
    return NULL;
}
