/* Inside the recorder: db_writer.c listens, db_writer_run.c writes the row of a run, db_writer_row.c makes rows of events. */
#ifndef ORCHARD_SIM_LISTEN_DB_WRITER_INTERNAL_H
#define ORCHARD_SIM_LISTEN_DB_WRITER_INTERNAL_H

#include "sim/base/content_hash.h"
#include "sim/db/row_buffer.h"
#include "sim/listen/db_writer.h"

/* The columns of table run that are known at run_begin. */
struct run_head {
    char config_hash[DB_HASH_SIZE], uid[CONTENT_HASH_SIZE], started[32];
    char *workload, *chip_id, *chip_hash, *program_name, *program_kind, *program_hash;
    char *device, *unit, *precision, *detail, *mode, *options, *version, *host;
    uint64_t seed;
    bool chip_modified;
};

struct open_run {
    uint64_t run; /* of struct event */
    struct run_head head;
    struct row_buffer *rows;
    int64_t seq;    /* number of the last transfer, change of clock or fault */
    int64_t run_id; /* 0 = not in the file yet */
    bool ended;
    struct orch_error error;
    struct open_run *next;
};

/* Fills the head from the event that begins the run; false when memory is out. Free with db_writer_head_free. */
bool db_writer_head_fill(struct run_head *h, const struct event_run_begin *begin);
void db_writer_head_free(struct run_head *h);
/* Inserts the run with status 'running', inside the caller's transaction. */
bool db_writer_insert_run(struct orch_db *db, const struct run_head *h, int64_t *run_id, struct orch_error *error);
/* Status, results and time of the end; fails when another process has removed the run. */
bool db_writer_finish_run(struct orch_db *db, int64_t run_id, const struct event_run_end *end, struct orch_error *error);

/* Rows of an event inside a run; false when memory is out. */
bool db_writer_add_row(struct open_run *r, const struct event *event);
/* db_writer_profile.c: rows of a profile, NULL = nothing. */
bool db_writer_add_profile(struct row_buffer *rows, const struct line_profile *profile);
/* Rows of what a run came to, NULL = nothing. */
bool db_writer_add_result(struct row_buffer *rows, const struct run_result *result);

#endif
