/* A row of published measurements in one form, whatever table it came from. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_ROW_H
#define ORCHARD_SIM_PROVE_VALIDATE_ROW_H

#include "sim/prove/validate/csv.h"
#include "sim/prove/validate/validate.h"

#define VALIDATE_ID_SIZE 96

enum validate_state { VALIDATE_UNMODELLED, VALIDATE_PLANNED, VALIDATE_PREDICTED };

struct validate_row {
    char id[VALIDATE_ID_SIZE];
    const struct csv_table *table;
    size_t number;
    const char *chip, *chip_id;   /* as in the table */
    const char *what, *condition; /* item or workload, and its condition or note */
    const char *shape, *device;   /* of the wide table: operand sizes; cpu, amx, gpu ... ("" elsewhere) */
    const char *unit, *kind, *source;
    double measured;
    bool has_value;

    const char *part, *work; /* which unit works, and at what: classify.c; "" = not planned */

    enum validate_state state;
    char why[160];         /* not modelled: the reason */
    const char *parameter; /* not NULL: this parameter was taken from this row or its source */
    const char *note;
    char remark[160];             /* a note written for this row */
    double predicted, low, high;  /* low = high = 0: no interval */
    double parameters;            /* relative standard deviation of the time that parameters give it */
    bool crossed, inside_crossed; /* validation_cross_validate was here; what it found */
    bool time;                    /* the value is a time (or watts, joules); false: a rate, which falls when the time grows */
    double bare;                  /* predicted without what a framework adds; as predicted where none is involved */
    char framework[32];           /* "" = none */
    double framework_bytes, framework_out_bytes, framework_rows; /* as in struct validate_program */
    bool engine_level;                        /* a single operation or stack that the Neural Engine's equations are judged by */
    const struct validate_overhead *overhead; /* what was added, NULL = nothing */
};

/* Table columns -> row; id from column "id", else "<file stem>:<line>". */
void validate_row_read(struct validate_row *row, const struct csv_table *table, const char *stem, size_t number);

/* Fills *program, or row->why. The caller frees the program. */
bool validate_plan(struct validate_row *row, struct validate_program *program);

/* Recognisers, each for one kind of table. They return false with row->why filled when the row is theirs but
 * cannot be modelled, and false with row->why empty when it is not theirs. */
bool validate_plan_amx_loop(struct validate_row *row, struct validate_program *program);
bool validate_plan_amx_memory(struct validate_row *row, struct validate_program *program);
bool validate_plan_gemm(struct validate_row *row, struct validate_program *program);
bool validate_plan_cpu(struct validate_row *row, struct validate_program *program);
bool validate_plan_memory(struct validate_row *row, struct validate_program *program);
bool validate_plan_gpu(struct validate_row *row, struct validate_program *program);
bool validate_plan_gpu_peak(struct validate_row *row, struct validate_program *program);
/* Multiply-adds (assembler text with @ for the chain's register) on so many independent chains, on all cores. */
bool validate_plan_gpu_rate(struct validate_row *row, struct validate_program *program, const char *text, unsigned chains);
bool validate_plan_operation(struct validate_row *row, struct validate_program *program);
bool validate_plan_figure(struct validate_row *row, struct validate_program *program);
/* Tables of the Neural Engine; its rows may have units that other tables do not predict. */
bool validate_is_ane(const struct validate_row *row);
bool validate_plan_ane(struct validate_row *row, struct validate_program *program);
/* Tables of power: a column "load" that says what ran. */
bool validate_is_power(const struct validate_row *row);
bool validate_plan_power(struct validate_row *row, struct validate_program *program);
bool validate_plan_gpu_memory(struct validate_row *row, struct validate_program *program); /* called by validate_plan_gpu */

/* Unit and kind of work of a planned row, for groups whose residuals are alike. */
void validate_classify(struct validate_row *row, const struct validate_program *program);

/* The parameter that was taken from the row, NULL when none was. */
const char *validate_fitted(const struct validate_row *row);

bool validate_refuse(struct validate_row *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
