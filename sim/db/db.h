/* The performance database: one SQLite file that holds every run, characteristic, measurement and comparison.
 *
 *     struct orch_error error = {0};
 *     struct orch_db *db = db_open(path, DB_WRITE, &error);
 *     ...
 *     db_close(db);
 *
 * Each thread needs a struct orch_db of its own. Any number of processes may use one file: writers take turns (immediate
 * transactions that wait up to DB_BUSY_SECONDS), readers never wait. Functions that fail return false, 0 or NULL and fill *error.
 * When the file or its disk is the reason, that is ORCH_USAGE, and one line names the file, the table and what to do; a bug of
 * ours is ORCH_INTERNAL. Runs are recorded by sim/listen/db_writer.h.
 */
#ifndef ORCHARD_SIM_DB_DB_H
#define ORCHARD_SIM_DB_DB_H

#include "power/activity.h"
#include "sim/base/error.h"
#include "sim/base/event.h"
#include "sim/base/run_result.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { DB_BUSY_SECONDS = 60 };
enum { DB_TEXT_MAX = 4096 };

enum db_mode {
    DB_READ,     /* the file must exist and be of the present version; nothing is written */
    DB_EXISTING, /* the file must exist; an older one is migrated, and what dead writers left is cleaned up */
    DB_WRITE,    /* the same, but the file and its folders are created when they are absent */
    DB_RESTORE,  /* the same, and views and indexes that are missing or were changed are made anew */
    DB_INSPECT,  /* for db_check: like DB_EXISTING when that is possible, else like DB_READ, whatever the schema is */
};

struct orch_db;

/* orchard/orchard.db in the XDG data folder; NULL when memory is out. Caller frees. */
char *db_default_path(void);
/* The command line takes the path from --db, else from $ORCHARD_DB, else it is db_default_path(). Only the folders of that one
 * are made when they are missing. */
struct orch_db *db_open(const char *path, enum db_mode mode, struct orch_error *error);
void db_close(struct orch_db *db);
const char *db_path(const struct orch_db *db);
/* For queries of the caller's own. Do not change pragmas, and write only between db_begin and db_commit. */
sqlite3 *db_handle(struct orch_db *db);
/* The version of the schema that this library writes, and that of the open file. */
int db_schema_version(void);
int db_file_version(struct orch_db *db);

/* --- transactions and statements ------------------------------------------------------------------------------- */

/* Transactions do not nest. db_rollback is safe at any time; a failed commit rolls back. */
bool db_begin(struct orch_db *db, struct orch_error *error);
bool db_commit(struct orch_db *db, struct orch_error *error);
void db_rollback(struct orch_db *db);
bool db_run_sql(struct orch_db *db, const char *sql, struct orch_error *error);

/* Prepares a statement and binds one argument per letter of `types`: i int64_t, n int64_t id with 0 = NULL, d double with NAN =
 * NULL, t const char * with NULL = NULL (copied). NULL on failure. The caller ends it with sqlite3_finalize. */
sqlite3_stmt *db_query(struct orch_db *db, struct orch_error *error, const char *sql, const char *types, ...);
/* The same for a statement whose rows do not matter: runs it to its end. */
bool db_exec(struct orch_db *db, struct orch_error *error, const char *sql, const char *types, ...);
/* Reads one number from the first row of a query; `absent` when there is no row. */
bool db_number(struct orch_db *db, struct orch_error *error, int64_t absent, int64_t *number, const char *sql, const char *types,
               ...);
/* Steps a query: SQLITE_ROW, SQLITE_DONE, or another code with *error filled. */
int db_step(struct orch_db *db, sqlite3_stmt *statement, struct orch_error *error);
/* A column of the row that was stepped to: NAN and NULL stand for NULL. The text is kept until the next step. */
double db_column_number(sqlite3_stmt *row, int column);
const char *db_column_text(sqlite3_stmt *row, int column);
/* Fills *error from the last result code of SQLite; returns false. An error that comes of what is in the file is ORCH_USAGE and
 * names the damaged table. */
bool db_fail(struct orch_db *db, struct orch_error *error, const char *doing);
/* For callers that read a value which no orchard has written: turns *error, which says what is wrong with it, into ORCH_USAGE
 * with the file, the table and the remedy. Memory that ran out stays what it is. Returns false. */
bool db_content_fail(const struct orch_db *db, const char *table, struct orch_error *error);

/* Look up the id of a repeated text. A new text is added, inside the caller's transaction; ids are remembered per connection. A
 * NULL text has id 0, which letter n of db_query binds as NULL. */
bool db_name_id(struct orch_db *db, const char *text, int64_t *id, struct orch_error *error);
bool db_source_id(struct orch_db *db, const char *citation, int64_t *id, struct orch_error *error);
/* A metric that is not in the dictionary (metric_table.h) is added without a definition, which `db check` reports. */
bool db_metric_id(struct orch_db *db, const char *kind, const char *name, const char *unit, int64_t *id,
                  struct orch_error *error);
/* Adds a definition to the dictionary of this file, for metrics that exist only at run time; inside the caller's transaction. */
bool db_define_metric(struct orch_db *db, const char *kind, const char *name, const char *unit, const char *definition,
                      int higher_is_better, struct orch_error *error);
/* Writes the present moment as "2026-01-31T12:00:00.000Z"; `size` is at least 32 bytes. */
void db_timestamp(char *text, size_t size);

/* --- chips and programs ---------------------------------------------------------------------------------------- */

struct chip;
struct check_report;

/* Finds the row of a chip by its hash, or inserts it with all effective values, in a transaction of its own. */
bool db_put_chip(struct orch_db *db, const struct chip *chip, int64_t *id, struct orch_error *error);
/* Writes a chip_hash as the text that events and rows carry; `size` is at least 17 bytes. */
void db_chip_hash_text(uint64_t hash, char *text, size_t size);

/* --- runs ------------------------------------------------------------------------------------------------------ */

enum { DB_HASH_SIZE = 33 }; /* CONTENT_HASH_SIZE of sim/base/content_hash.h */
/* Hashes everything that determines the answer of a run, but neither the host nor the time. */
void db_config_hash(const struct event_run_begin *begin, char hash[DB_HASH_SIZE]);
/* Finds the newest finished run of this configuration; *run_id becomes 0 when there is none. */
bool db_find_run(struct orch_db *db, const char *config_hash, int64_t *run_id, struct orch_error *error);
/* Fills an initialised result from a run. ORCH_USAGE when there is no such run, or when it did not finish. */
bool db_read_run(struct orch_db *db, int64_t run_id, struct run_result *result, struct orch_error *error);
/* Resolves "12", "last" or the beginning of a uid to the id of a run. */
bool db_resolve_run(struct orch_db *db, const char *text, int64_t *run_id, struct orch_error *error);
/* Marks all runs whose writer is dead as 'interrupted' and removes their rows, in one transaction. Writes nothing when there are
 * none. */
bool db_clean_up(struct orch_db *db, unsigned *cleaned, struct orch_error *error);
enum { DB_END_SIZE = 512 };
/* Whether the process that wrote a run ended before the run did, even when nobody has marked it yet; says then where it stood, as
 * far as that process told. */
bool db_run_was_left(struct orch_db *db, int64_t run_id, char why[DB_END_SIZE]);

/* --- what is going on ------------------------------------------------------------------------------------------ */

/* What a process is doing now, for other processes to see. NULL and NAN: not known, or not applicable. */
struct db_progress {
    const char *kind; /* "run" or "sweep" */
    const char *workload, *chip, *unit, *precision;
    const char *doing;             /* a few words */
    double fraction;               /* 0..1, of what is being done now */
    double seconds, host_seconds;  /* simulated so far; of the host, since it began */
    double ops, op_seconds;        /* that ended, and the simulated time of these on their units */
    double points, points_done;    /* of a sweep */
    double watts, celsius;         /* of the simulated machine, now; hottest block of the die */
    double dram_gbps, utilisation; /* of its memory, and of the unit that works */
    const char *started, *renewed; /* dates; filled when it is read */
    int64_t id;                    /* filled when it is read */
};

/* Writes row *id anew; 0 = a new row, whose id is set. It never waits: while another process writes, and inside a transaction,
 * nothing happens. Work does not fail because nobody can watch it, so there is no error. */
void db_put_progress(struct orch_db *db, int64_t *id, const struct db_progress *progress);
/* Removes the row *id, which becomes 0; nothing when there is none. */
void db_end_progress(struct orch_db *db, int64_t *id);
/* Calls `visit` with what each living process is doing, the oldest first. */
typedef void db_progress_visit(void *context, const struct db_progress *progress);
bool db_visit_progress(struct orch_db *db, db_progress_visit *visit, void *context, struct orch_error *error);

/* --- characteristics ------------------------------------------------------------------------------------------- */

struct db_parameter {
    const char *key;
    double value;
};

/* What a characteristic is about. `version` changes whenever the model that computed it might answer differently. */
struct db_characteristic_key {
    const char *program_hash, *kernel, *shape, *precision, *detail, *version;
    enum orch_part part;
};

struct db_characteristic {
    double cycles;
    struct activity activity;
    struct run_values traffic; /* bytes: "l2_read" ... */
    struct run_values stalls;  /* cycles by reason */
    struct run_values other;   /* flops, macs ... */
    char *timing;              /* JSON from which a whole result can be made, owned; NULL = none */
};
void db_characteristic_init(struct db_characteristic *c);
void db_characteristic_free(struct db_characteristic *c);

/* Looks up the present value of a parameter; false when there is no such parameter, or no longer. */
typedef bool db_parameter_lookup(void *context, const char *key, double *value);

/* Looks for a characteristic whose recorded parameters all equal their present values; *found says whether there is one. */
bool db_get_characteristic(struct orch_db *db, const struct db_characteristic_key *key, db_parameter_lookup *lookup,
                           void *context, struct db_characteristic *out, bool *found, struct orch_error *error);
/* Calls `take` for each set of parameters that a characteristic of this key has read: their names in order, separated by commas.
 * `take` returns false to stop. */
typedef bool db_take_reads(void *context, const char *reads);
bool db_characteristic_reads(struct orch_db *db, const struct db_characteristic_key *key, db_take_reads *take, void *context,
                             struct orch_error *error);
/* Finds the timing of the characteristic that read exactly these parameters, in any order, with these values. *timing becomes
 * NULL when there is none; the caller frees it. */
bool db_find_timing(struct orch_db *db, const struct db_characteristic_key *key, const struct db_parameter *parameters,
                    size_t parameter_count, char **timing, struct orch_error *error);
/* Stores a characteristic with the parameters that its timing run read, in any order but no key twice; in a transaction of its
 * own unless one is open. When the same key and parameters are stored with other results, `version` is wrong: that is
 * ORCH_INTERNAL, and what is stored stays. */
bool db_put_characteristic(struct orch_db *db, const struct db_characteristic_key *key, const struct db_parameter *parameters,
                           size_t parameter_count, const struct db_characteristic *value, struct orch_error *error);

/* What is remembered of a kernel. The texts are valid until the visit returns. */
struct db_learned {
    enum orch_part part;
    bool e_core; /* of a CPU kernel */
    const char *kernel, *shape, *precision;
    double flops, seconds; /* of the kernel alone, without what a command buffer costs; NAN = not known */
};
/* Present values of a list of parameters, as `db_take_reads` gives their names, sorted by name; they belong to whoever answers.
 * NULL = there is no such list any more. */
typedef const struct db_parameter *db_present_parameters(void *context, const char *reads, size_t *count);
typedef bool db_learned_visit(void *context, const struct db_learned *learned, struct orch_error *error);
/* Calls `visit` with each characteristic of cores, AMX and GPU of this version and detail that was timed with the present values
 * of all that it read. False when `visit` returned false, or the file cannot be read. */
bool db_visit_learned(struct orch_db *db, const char *version, const char *detail, db_present_parameters *present,
                      db_learned_visit *visit, void *context, struct orch_error *error);

/* --- measurements, comparisons ---------------------------------------------------------------------------------- */

struct db_measurement {
    const char *label, *chip, *unit, *workload, *precision, *shape, *metric, *value_unit, *condition, *kind, *source, *note;
    double value, watts, flops, min_bytes; /* NAN = not given */
};
/* Adds a measurement when its content is new, inside the caller's transaction. */
bool db_put_measurement(struct orch_db *db, const struct db_measurement *m, int64_t *id, struct orch_error *error);

struct db_validation {
    int64_t measurement_id, run_id; /* run 0 = none */
    const char *chip_hash, *version;
    double predicted, low, high; /* NAN = not modelled, with the reason */
    bool fitted;
    const char *unmodelled;
};
/* Adds the prediction of this chip and version, or replaces it, inside the caller's transaction. */
bool db_put_validation(struct orch_db *db, const struct db_validation *v, struct orch_error *error);

/* --- tuned and calibrated sets -------------------------------------------------------------------------------------- */

/* Stores a set under its name, in place of an older one, in a transaction of its own. `kind` is "tuned" or "calibrated", `body`
 * is JSON. */
bool db_put_fitted_set(struct orch_db *db, const char *name, const char *kind, const char *body, struct orch_error *error);
/* Reads a set: *body, which the caller frees, and the hash of its content, which belongs to the configuration of every run that
 * uses the set. When there is no such set, ORCH_USAGE suggests the nearest name. */
bool db_get_fitted_set(struct orch_db *db, const char *name, char **body, char hash[DB_HASH_SIZE], struct orch_error *error);

/* --- sweeps ---------------------------------------------------------------------------------------------------- */

/* The answers of a point, which are columns of sweep_point. */
/* clang-format off */
#define DB_SWEEP_VALUE_TABLE(X) \
    X(seconds) X(seconds_low) X(seconds_high) X(device_seconds) X(gflops) X(dram_bytes) X(dram_gbps) \
    X(joules) X(watts_avg) X(celsius_max) X(throttled_seconds)
/* clang-format on */
enum db_sweep_value {
#define X(name) DB_SWEEP_##name,
    DB_SWEEP_VALUE_TABLE(X)
#undef X
        DB_SWEEP_VALUE_COUNT
};

struct db_sweep {
    const char *hash, *name, *workload, *specification, *version; /* name may be NULL */
};
/* Finds the row of a sweep by its hash, or inserts it, in a transaction of its own. A row without a name gets the given one. */
bool db_put_sweep(struct orch_db *db, const struct db_sweep *sweep, int64_t *id, struct orch_error *error);
/* Resolves "12", "last", a name (its newest sweep) or the beginning of a hash to the id of a sweep; ORCH_USAGE when there is
 * none. */
bool db_resolve_sweep(struct orch_db *db, const char *text, int64_t *id, struct orch_error *error);

struct db_sweep_point {
    int64_t point;
    const char *settings, *status, *error, *method, *bound_by; /* status "done" or "failed"; open points have no row */
    double expected_error, value[DB_SWEEP_VALUE_COUNT];        /* NAN = NULL */
};
/* Adds points in one transaction. A point that is there already stays as it is. */
bool db_put_sweep_points(struct orch_db *db, int64_t sweep_id, const struct db_sweep_point *point, size_t count,
                         struct orch_error *error);
/* Calls `sink` for each point of a sweep that is done or failed, in the order of their numbers. The texts live only during the
 * call. To stop, `sink` returns false and fills *error. */
typedef bool db_sweep_point_sink(void *context, const struct db_sweep_point *point, struct orch_error *error);
bool db_each_sweep_point(struct orch_db *db, int64_t sweep_id, db_sweep_point_sink *sink, void *context,
                         struct orch_error *error);

/* --- upkeep ---------------------------------------------------------------------------------------------------- */

/* Checks the schema, the integrity of the file, foreign keys, unfinished runs, rows without their op, the dictionary and more.
 * Each check passes or fails once, and each difference of the schema is a failure of its own. False only when nothing could be
 * examined. */
bool db_check(struct orch_db *db, struct check_report *report, struct orch_error *error);

enum db_format { DB_FORMAT_CSV, DB_FORMAT_JSONL, DB_FORMAT_JSON, DB_FORMAT_TABLE };
/* Writes the rows of one reading statement. A statement that would change anything is refused with ORCH_USAGE. */
bool db_print_query(struct orch_db *db, const char *sql, enum db_format format, FILE *out, struct orch_error *error);
/* Writes all rows of a table or view. */
bool db_export(struct orch_db *db, const char *table, enum db_format format, FILE *out, struct orch_error *error);

struct db_prune {
    const char *before;       /* runs started before this date, ISO 8601; NULL = any date */
    bool failed;              /* only runs that failed or were interrupted */
    const char *keep_version; /* also characteristics of other versions than this; NULL = keep all */
    bool dry_run;             /* only count */
};
struct db_pruned {
    int64_t runs, characteristics;
};
bool db_prune(struct orch_db *db, const struct db_prune *what, struct db_pruned *pruned, struct orch_error *error);

struct db_merged {
    int64_t runs, characteristics, measurements, sweep_points; /* that were new */
};
/* Adds everything from the file `shard` that is not in this database yet. Merging again, or in another order, gives the same
 * content. A characteristic that disagrees with ours is an error (ORCH_FAILED), and so is a damaged shard (ORCH_USAGE); nothing
 * is merged then. */
bool db_merge(struct orch_db *db, const char *shard, struct db_merged *merged, struct orch_error *error);

#endif
