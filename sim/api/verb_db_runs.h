/* db runs: the newest runs of a database, a line each. */
#ifndef ORCHARD_SIM_API_VERB_DB_RUNS_H
#define ORCHARD_SIM_API_VERB_DB_RUNS_H

#include "sim/api/api.h"
#include "sim/db/db.h"

/* How many runs are listed when nobody says. */
#define VERB_DB_RUNS      20
#define VERB_DB_RUNS_MOST 1000000

/* Reads how many from the words after "runs". */
bool verb_db_runs_read(int words, const char *const *word, unsigned *most, struct orch_error *error);
/* A query whose rows they are, newest first, for documents. */
void verb_db_runs_query(unsigned most, char *sql, size_t size);
/* Prints them, newest last. */
bool verb_db_runs_print(struct api_context *context, struct orch_db *db, unsigned most, struct orch_error *error);

#endif
