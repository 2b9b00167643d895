/* Predictions and measurements as the page about the validation needs them. */
#ifndef ORCHARD_SIM_REPORT_VALIDATION_ROWS_H
#define ORCHARD_SIM_REPORT_VALIDATION_ROWS_H

#include "sim/db/db.h"
#include "sim/prove/validate/score.h"

struct validation_row {
    char *label, *chip, *unit, *workload, *shape, *condition, *value_unit, *source, *unmodelled, *version; /* NULL = none */
    double measured, predicted, low, high; /* low = high = 0 when there is no interval */
    double ape;                            /* NAN = not modelled */
    bool fitted;
};

struct validation_rows {
    struct validation_row *row;
    size_t count, room;
    bool by_label; /* the rows were found by their labels, which do not name the file */
};

/* Reads the newest prediction of every measurement, or that of a version or a file when `which` names one. ORCH_USAGE when there
 * is none. Free with validation_rows_free, also after an error. */
bool validation_rows_read(struct orch_db *db, const char *which, struct validation_rows *rows, struct orch_error *error);
void validation_rows_free(struct validation_rows *rows);

/* The rows with one value of a column. */
struct validation_part {
    const char *name;
    size_t rows;        /* rows that have the value, without fitted ones */
    struct score score; /* of the modelled rows among them */
};
typedef const char *validation_column(const struct validation_row *row);
/* Groups rows by a column, largest group first; the caller frees *parts. */
bool validation_parts_by(const struct validation_rows *rows, validation_column *column, struct validation_part **parts,
                         size_t *count, struct orch_error *error);
/* Scores all modelled rows, either the fitted ones or the others. */
bool validation_score_of(const struct validation_rows *rows, bool fitted, struct score *score, size_t *all,
                         struct orch_error *error);

/* Adds the figure of one quantity, predicted over measured, with its table; a series for each of the first `chips`. Nothing when
 * there are too few rows; false when memory has run out. */
struct page;
bool validation_scatter(struct page *page, const struct validation_rows *rows, const char *quantity,
                        const struct validation_part *chips, size_t chip_count);

#endif
