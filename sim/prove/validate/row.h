/* A row of published measurements in one form, whatever table it comes from. */
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
    bool own_kernels;             /* run the library's kernels, not those of the row's framework */
    bool language;                /* run whole language models */
    const char *chip, *chip_id;   /* as in the table */
    const char *what, *condition; /* item or workload; its condition or note */
    const char *shape, *device;   /* in the wide table: operand sizes; cpu, amx, gpu ... ("" elsewhere) */
    const char *unit, *kind, *source;
    double measured;
    bool has_value;

    const char *part, *work; /* the unit at work, and the kind of work (classify.c); "" = not planned */

    enum validate_state state;
    char why[160];         /* the reason when not modelled */
    const char *parameter; /* the parameter that was taken from this row or its source; NULL = none */
    const char *note;
    char remark[160];             /* a note written for this row */
    double predicted, low, high;  /* low = high = 0: no interval */
    double parameters;            /* relative standard deviation of the time, from its parameters */
    bool crossed, inside_crossed; /* whether validation_cross_validate judged the row, and its finding */
    double predicted_crossed;     /* the prediction that the row would have had without its source */
    const char *guessed;          /* what its source does not say and had to be guessed; NULL = nothing */
    bool time;                    /* the value is a time (or watts, joules); otherwise a rate, which falls when the time grows */
    double bare;                  /* prediction without what a framework adds; equals `predicted` without a framework */
    char framework[32];           /* "" = none */
    double framework_bytes, framework_out_bytes; /* as in struct validate_program */
    bool measures_overhead, power;
    enum validate_measure measure;
    double amount;          /* validate_program.work */
    double device_s, way_s; /* time without submission, launch and waiting; what the simulated way of these takes */
    double spreadsheet;     /* what a spreadsheet would have said (spreadsheet.h); 0 = nothing */
    double roofline_s;      /* of a row that measures an overhead: what a spreadsheet says of the device */
    bool engine_level;      /* a single operation or stack by which the equations of the Neural Engine are judged */
    const struct validate_overhead *overhead; /* what was added; NULL = nothing */
};

/* Reads the columns of the table; the id is in column "id", or else "<file stem>:<line>". */
void validate_row_read(struct validate_row *row, const struct csv_table *table, const char *stem, size_t number);

/* Fills in *program, or row->why. The caller frees the program. */
bool validate_plan(struct validate_row *row, struct validate_program *program);

/* Recognisers, each for one kind of table. They return false with row->why when the row is theirs but cannot be modelled, and
 * false with an empty row->why when it is not theirs. */
bool validate_plan_amx_loop(struct validate_row *row, struct validate_program *program);
bool validate_plan_amx_memory(struct validate_row *row, struct validate_program *program);
bool validate_plan_gemm(struct validate_row *row, struct validate_program *program);
bool validate_plan_cpu(struct validate_row *row, struct validate_program *program);
bool validate_plan_clpeak(struct validate_row *row, struct validate_program *program); /* called by validate_plan_cpu */
bool validate_plan_memory(struct validate_row *row, struct validate_program *program);
/* Rows of sizes, which the program looks for. */
bool validate_is_capacity(const struct validate_row *row);
bool validate_plan_capacity(struct validate_row *row, struct validate_program *program);
bool validate_plan_gpu(struct validate_row *row, struct validate_program *program);
bool validate_plan_gpu_peak(struct validate_row *row, struct validate_program *program);
/* Multiply-adds (assembler text with @ for the register of the chain) on so many independent chains, on all cores. */
bool validate_plan_gpu_rate(struct validate_row *row, struct validate_program *program, const char *text, unsigned chains);
/* KERNEL:SHAPE of orchard's own library. */
bool validate_plan_kernel(struct validate_row *row, struct validate_program *program);
bool validate_plan_operation(struct validate_row *row, struct validate_program *program);
bool validate_plan_core_operation(struct validate_row *row, struct validate_program *program);
bool validate_plan_language(struct validate_row *row, struct validate_program *program);
bool validate_plan_figure(struct validate_row *row, struct validate_program *program);
/* Whether the table is one of the Neural Engine; its rows may have units that other tables do not have. */
bool validate_is_ane(const struct validate_row *row);
bool validate_plan_ane(struct validate_row *row, struct validate_program *program);
/* Whether the table is one of power: it has a column "load" that says what ran. */
bool validate_is_power(const struct validate_row *row);
bool validate_plan_power(struct validate_row *row, struct validate_program *program);
bool validate_plan_gpu_memory(struct validate_row *row, struct validate_program *program); /* called by validate_plan_gpu */

/* Sets unit and kind of work of a planned row, by which residuals are grouped. */
void validate_classify(struct validate_row *row, const struct validate_program *program);

bool validate_refuse(struct validate_row *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
