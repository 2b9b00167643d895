/* The inside of struct validation, for its reports. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_VALIDATION_H
#define ORCHARD_SIM_PROVE_VALIDATE_VALIDATION_H

#include "sim/base/content_hash.h"
#include "sim/prove/validate/row.h"
#include "sim/prove/validate/score.h"

#include <math.h>

/* A table of measurements; its hash tells versions apart. */
struct validation_file {
    char name[VALIDATE_ID_SIZE];  /* without folders */
    char *path;                   /* as it was given */
    char hash[CONTENT_HASH_SIZE]; /* hash of all its cells */
};

struct fitted_list;

struct validation {
    struct fitted_list *fitted; /* NULL: not known */
    struct csv_table **table;
    struct validation_file *file; /* one for each table */
    size_t tables;
    struct validate_row *row;
    size_t rows;
};

/* A line of a report: the rows of one group. */
struct validation_group {
    char *key;                              /* values of the grouping columns, joined by "\x1f"; NULL = all rows */
    size_t rows, modelled, fitted, guessed; /* guessed: not fitted, but with something that the source does not say */
    struct score score;         /* over modelled rows from which no parameter was taken and in which nothing is guessed */
    struct score guess;         /* over modelled rows in which something is guessed */
    struct score fit;           /* over modelled rows from which one was taken */
    struct score bare;          /* the same as `score`, without what frameworks add */
    size_t framed;              /* rows of `score` to which something was added */
    struct score sheet, beside; /* the rows of `score` for which a spreadsheet has a figure: its errors, and ours */
};

/* Our mean error over that of the spreadsheet, over the rows for which it has a figure; NAN when there are none. */
static inline double validation_ratio(const struct validation_group *group)
{
    return group->sheet.count ? group->beside.mape / group->sheet.mape : (double)NAN;
}

struct validation_groups {
    char **column; /* names */
    size_t columns;
    struct validation_group *group;
    size_t count;
    struct validation_group all, taken; /* every row; only fitted rows */
    struct validation_group guess;      /* only rows in which something is guessed */
    struct validation_group engine;     /* only rows with engine_level */
};

/* Coverage of 90 % intervals across sources, by unit and kind of work. */
bool validation_write_coverage(const struct validation *v, bool markdown, FILE *out, struct orch_error *error);
struct json_object *validation_coverage_json(const struct validation *v, struct orch_error *error);

/* The program of the row with this id; the caller frees it. ORCH_USAGE when there is no such row, ORCH_UNMODELLED with the reason
 * when it is not modelled. */
bool validation_plan_row(const struct validation *v, const char *id, struct validate_program *program, struct orch_error *error);
/* Scores the rows of all tables, or of one. */
bool validation_group_file(const struct validation *v, const struct csv_table *table, const char *group_by,
                           struct validation_groups *groups, struct orch_error *error);
/* Logarithm of measured over predicted time of a predicted row, for a prediction of it. */
double validation_log_ratio(const struct validate_row *row, double predicted);
/* The value of a predicted row of a framework if its program took so long; and the time that was measured. */
double validation_value_of(const struct validate_row *row, double seconds);
double validation_measured_s(const struct validate_row *row);
/* Predicts all rows with overheads that were measured without any row of that source; predicted[v->rows]. False when memory is
 * out. */
bool validation_predict_without(const struct validation *v, const char *source, double *predicted);

bool validation_group_rows(const struct validation *v, const char *group_by, struct validation_groups *groups,
                           struct orch_error *error);
void validation_groups_free(struct validation_groups *groups);

#endif
