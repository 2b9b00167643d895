/* Samples of a run from the database: one kind of sample over time, with a column per place. */
#ifndef ORCHARD_SIM_REPORT_SERIES_H
#define ORCHARD_SIM_REPORT_SERIES_H

#include "sim/db/db.h"

enum { SERIES_PLACES = 24, SERIES_KINDS = 32 };

struct series_kind {
    int64_t metric;
    char name[48], unit[24];
};
/* The kinds of samples that a run has, by name. */
bool series_kinds(struct orch_db *db, int64_t run_id, struct series_kind kind[SERIES_KINDS], size_t *count,
                  struct orch_error *error);

struct series {
    char name[48], unit[24], place[SERIES_PLACES][48];
    size_t places, rows, room;
    double *time, *value; /* time in seconds; value at row * SERIES_PLACES + place, NAN = none */
};
/* Fills a zeroed series; free it whatever the result. */
bool series_read(struct orch_db *db, int64_t run_id, int64_t metric, const char *name, const char *unit, struct series *s,
                 struct orch_error *error);
void series_free(struct series *s);
/* Replaces neighbours by their means until at most `most` rows are left; returns how many were joined into one. */
size_t series_thin_out(struct series *s, size_t most);
/* Makes the sum over all parts the first column of a series of power; does nothing to other kinds. */
void series_add_sum(struct series *s);
/* Exchanges two places with their names and columns. */
void series_swap_places(struct series *s, size_t a, size_t b);

#endif
