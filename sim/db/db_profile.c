/* Profiles of runs, read back. */
#include "isa/array_count.h"
#include "sim/db/db_internal.h"

#include <string.h>

/* Puts one row into the profile; false when memory has run out. */
typedef bool take_row(sqlite3_stmt *row, struct line_profile *profile);

static uint32_t number(sqlite3_stmt *row, int column)
{
    return (uint32_t)sqlite3_column_int64(row, column);
}

/* The kernel that column 0 names; NULL for a row that belongs to none. */
static struct profile_kernel *kernel_of(sqlite3_stmt *row, const struct line_profile *p)
{
    const int64_t kernel = sqlite3_column_int64(row, 0);
    return kernel >= 0 && (size_t)kernel < p->kernels ? &p->kernel[kernel] : NULL;
}

static bool take_reason(sqlite3_stmt *row, struct line_profile *p)
{
    const char *const name = db_column_text(row, 0);
    return p->reasons == PROFILE_REASONS_MAX || line_profile_add_reason(p, name + (strncmp(name, "gpu.", 4) == 0 ? 4 : 0));
}

static bool take_kernel(sqlite3_stmt *row, struct line_profile *p)
{
    struct profile_kernel *const k = line_profile_add_kernel(p, db_column_text(row, 1));
    if (!k)
        return false;
    k->timed_share = db_column_number(row, 2);
    k->idle_cycles = db_column_number(row, 3);
    return true;
}

static bool take_file(sqlite3_stmt *row, struct line_profile *p)
{
    struct profile_kernel *const k = kernel_of(row, p);
    return !k || profile_kernel_add_file(k, db_column_text(row, 1));
}

static bool take_text(sqlite3_stmt *row, struct line_profile *p)
{
    struct profile_kernel *const k = kernel_of(row, p);
    return !k || number(row, 1) >= k->files || profile_kernel_add_text(k, number(row, 1), number(row, 2), db_column_text(row, 3));
}

static bool take_instruction(sqlite3_stmt *row, struct line_profile *p)
{
    struct profile_kernel *const k = kernel_of(row, p);
    struct profile_instruction x = {.offset = number(row, 1),
                                    .file = number(row, 2),
                                    .line = number(row, 3),
                                    .issued = (uint64_t)sqlite3_column_int64(row, 5),
                                    .lanes = db_column_number(row, 6),
                                    .units = db_column_number(row, 7),
                                    .least_units = db_column_number(row, 8)};
    char text[512];
    snprintf(text, sizeof text, "%s", db_column_text(row, 4) ? db_column_text(row, 4) : "");
    x.text = text;
    if (k && x.file >= k->files)
        x.file = x.line = 0;
    return !k || profile_kernel_add_instruction(k, &x);
}

/* Rows come in the order of the instructions. */
static bool take_stall(sqlite3_stmt *row, struct line_profile *p)
{
    struct profile_kernel *const k = kernel_of(row, p);
    const char *const name = db_column_text(row, 2);
    size_t low = 0, high = k ? k->instructions : 0;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (k->instruction[middle].offset < number(row, 1))
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = 0; k && low < k->instructions && i < p->reasons; i++)
        if (strncmp(name, "gpu.", 4) == 0 && strcmp(name + 4, p->reason[i]) == 0)
            k->instruction[low].cycles[i] = db_column_number(row, 3);
    return true;
}

static bool take_warning(sqlite3_stmt *row, struct line_profile *p)
{
    char kind[64], place[512], evidence[1024], fix[1024];
    snprintf(kind, sizeof kind, "%s", db_column_text(row, 1));
    snprintf(place, sizeof place, "%s", db_column_text(row, 2));
    snprintf(evidence, sizeof evidence, "%s", db_column_text(row, 6));
    snprintf(fix, sizeof fix, "%s", db_column_text(row, 7));
    return line_profile_add_warning(p, &(struct profile_warning){.kernel = number(row, 0),
                                                                 .kind = kind,
                                                                 .place = place,
                                                                 .file = number(row, 3),
                                                                 .line = number(row, 4),
                                                                 .offset = number(row, 5),
                                                                 .evidence = evidence,
                                                                 .fix = fix});
}

static const struct {
    const char *sql;
    take_row *take;
} lists[] = {
    {"SELECT m.name FROM metric m WHERE m.id IN (SELECT metric_id FROM profile_stall WHERE run_id = ?) "
     "ORDER BY m.name <> 'gpu.issue', m.name",
     take_reason},
    {"SELECT kernel, name, timed_share, idle_cycles FROM profile_kernel WHERE run_id = ? ORDER BY kernel", take_kernel},
    {"SELECT p.kernel, n.text FROM profile_file p LEFT JOIN name n ON n.id = p.name_id WHERE p.run_id = ? "
     "ORDER BY p.kernel, p.file",
     take_file},
    {"SELECT p.kernel, p.file, p.line, n.text FROM profile_text p LEFT JOIN name n ON n.id = p.text_id WHERE p.run_id = ? "
     "ORDER BY p.kernel, p.file, p.line",
     take_text},
    {"SELECT p.kernel, p.position, p.file, p.line, n.text, p.issued, p.lanes, p.units, p.least_units FROM profile_instruction p "
     "LEFT JOIN name n ON n.id = p.text_id WHERE p.run_id = ? ORDER BY p.kernel, p.position",
     take_instruction},
    {"SELECT s.kernel, s.position, m.name, s.cycles FROM profile_stall s JOIN metric m ON m.id = s.metric_id WHERE s.run_id = ?",
     take_stall},
    {"SELECT kernel, kind, place, file, line, position, evidence, fix FROM profile_warning WHERE run_id = ? ORDER BY seq",
     take_warning},
};

bool db_read_profile(struct orch_db *db, int64_t run_id, struct line_profile **profile, struct orch_error *error)
{
    int64_t kernels;
    *profile = NULL;
    if (!db_number(db, error, 0, &kernels, "SELECT count(*) FROM profile_kernel WHERE run_id = ?", "i", run_id))
        return false;
    if (!kernels)
        return true;
    struct line_profile *const p = *profile = line_profile_create();
    if (!p)
        return orch_no_memory(error);
    for (size_t i = 0; i < ARRAY_COUNT(lists); i++) {
        sqlite3_stmt *const rows = db_query(db, error, lists[i].sql, "i", run_id);
        bool stored = true;
        int code = SQLITE_ERROR;
        while (rows && stored && (code = db_step(db, rows, error)) == SQLITE_ROW)
            stored = lists[i].take(rows, p);
        sqlite3_finalize(rows);
        if (!stored)
            return orch_no_memory(error);
        if (code != SQLITE_DONE)
            return false;
    }
    return true;
}
