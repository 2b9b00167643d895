/* Inside of struct validation, for its reports. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_VALIDATION_H
#define ORCHARD_SIM_PROVE_VALIDATE_VALIDATION_H

#include "sim/base/content_hash.h"
#include "sim/prove/validate/row.h"
#include "sim/prove/validate/score.h"

/* A table of measurements: they have versions, too. */
struct validation_file {
    char name[VALIDATE_ID_SIZE];  /* without folders */
    char hash[CONTENT_HASH_SIZE]; /* of all its cells */
};

struct validation {
    struct csv_table **table;
    struct validation_file *file; /* of each table */
    size_t tables;
    struct validate_row *row;
    size_t rows;
};

/* One line of a report: the rows of one group. */
struct validation_group {
    char *key; /* values of the grouping columns, joined by "\x1f"; NULL = all rows */
    size_t rows, modelled, fitted;
    struct score score; /* modelled rows no parameter was taken from */
    struct score fit;   /* modelled rows that one was taken from */
    struct score bare;  /* the same without what frameworks add */
    size_t framed;      /* rows of `score` that something was added to */
};

struct validation_groups {
    char **column; /* names */
    size_t columns;
    struct validation_group *group;
    size_t count;
    struct validation_group all, taken; /* every row; only rows that parameters were taken from */
    struct validation_group engine;     /* rows with engine_level */
};

/* Rows of all tables, or of one. */
bool validation_group_file(const struct validation *v, const struct csv_table *table, const char *group_by,
                           struct validation_groups *groups, struct orch_error *error);
/* Logarithm of measured over predicted time, of a predicted row; and its 90 % interval by a spread of such ratios. */
double validation_log_ratio(const struct validate_row *row);
struct residual;
void validation_set_interval(struct validate_row *row, const struct residual *residual);

bool validation_group_rows(const struct validation *v, const char *group_by, struct validation_groups *groups,
                           struct orch_error *error);
void validation_groups_free(struct validation_groups *groups);

#endif
