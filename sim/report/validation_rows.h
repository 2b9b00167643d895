/* Predictions beside measurements, as the page about the validation needs them. */
#ifndef ORCHARD_SIM_REPORT_VALIDATION_ROWS_H
#define ORCHARD_SIM_REPORT_VALIDATION_ROWS_H

#include "sim/db/db.h"
#include "sim/prove/validate/score.h"

struct validation_row {
    char *label, *chip, *unit, *workload, *shape, *condition, *value_unit, *source, *unmodelled, *version; /* NULL = none */
    double measured, predicted, low, high; /* low = high = 0: no interval */
    double ape;                            /* NAN = not modelled */
    bool fitted;
};

struct validation_rows {
    struct validation_row *row;
    size_t count, room;
    bool by_label; /* the file was told by labels without a file's name */
};

/* The newest prediction of every measurement; of a version, or of a file, when `which` names one (NULL = all). ORCH_USAGE when
 * there is none. Free with validation_rows_free, also after an error. */
bool validation_rows_read(struct orch_db *db, const char *which, struct validation_rows *rows, struct orch_error *error);
void validation_rows_free(struct validation_rows *rows);

/* Rows of one value of a column. */
struct validation_part {
    const char *name;
    size_t rows;        /* with a value, fitted ones left out */
    struct score score; /* of those that are modelled */
};
typedef const char *validation_column(const struct validation_row *row);
/* Parts by a column, most rows first; *parts is the caller's to free. */
bool validation_parts_by(const struct validation_rows *rows, validation_column *column, struct validation_part **parts,
                         size_t *count, struct orch_error *error);
/* Of all rows that are modelled, fitted or not. */
bool validation_score_of(const struct validation_rows *rows, bool fitted, struct score *score, size_t *all,
                         struct orch_error *error);

#endif
