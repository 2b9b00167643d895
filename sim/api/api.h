/* Commands: each is `int cmd_NAME(struct cmd_context *, int argc, char **argv)`, returning an exit code.
 *
 * argv holds the words after the verb; all options, common ones and the verb's own, are parsed already. To add a verb:
 * declare it here and add one line to the table in sim/cmd/main.c.
 */
#ifndef ORCHARD_SIM_API_API_H
#define ORCHARD_SIM_API_API_H

#include "sim/chip/chip.h"
#include "sim/api/common.h"
#include "sim/api/verb.h"
#include "sim/base/error.h"

#include <stdio.h>

struct cmd_context {
    struct cli_common common; /* --chip, --set, --db, --json, ... */
    struct cli_args args;     /* for cli_value(&context->args, "name") */
    const struct cmd_verb *verb;
    FILE *out;               /* results and nothing else */
    FILE *err;               /* remarks and errors */
    struct chip_db *chip_db; /* opened by cmd_chip_db */
};

struct cmd_verb {
    struct cli_verb help; /* must come first: tables of verbs are read through it */
    int (*run)(struct cmd_context *context, int argc, char **argv);
};

/* cmd.c: what commands share. */

/* Prints the error as one line and returns its exit code. */
int cmd_fail(struct cmd_context *context, const struct orch_error *error);
/* "orchard VERB: text" plus where help is; returns ORCH_USAGE. */
int cmd_usage(struct cmd_context *context, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A remark on standard error unless --quiet. */
void cmd_note(struct cmd_context *context, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The chip database, opened at the first call; NULL = *error. */
struct chip_db *cmd_chip_db(struct cmd_context *context, struct orch_error *error);

/* The chips of --chip (or of `list` when it is not NULL), opened with the overrides of --set. */
struct cmd_chips {
    struct chip **chip;
    size_t count;
};
bool cmd_chips_open(struct cmd_context *context, const char *list, struct cmd_chips *chips, struct orch_error *error);
void cmd_chips_close(struct cmd_chips *chips);

/* A whole file in memory ("-" = standard input); a NUL follows the last byte. Free with free. */
bool cmd_read_file(const char *path, uint8_t **bytes, size_t *size, struct orch_error *error);
/* Writes a whole file, or removes what it began and fails. */
bool cmd_write_file(const char *path, const void *bytes, size_t size, struct orch_error *error);

/* Findings and closing line of a check, or its JSON document; returns the exit code. */
struct check_report;
int cmd_print_report(struct cmd_context *context, const struct check_report *report);

extern const struct cli_option cmd_build_options[];
extern const struct cli_option cmd_calibrate_options[];
extern const struct cli_option cmd_db_options[];
extern const struct cli_option cmd_isa_options[];
extern const struct cli_option cmd_kernel_options[];
extern const struct cli_option cmd_report_options[];
extern const struct cli_option cmd_regress_options[];
extern const struct cli_option cmd_run_options[];
extern const struct cli_option cmd_trace_options[];
extern const struct cli_option cmd_tune_options[];
extern const struct cli_option cmd_sweep_options[];
extern const struct cli_option cmd_validate_options[];
extern const struct cli_option cmd_whatif_options[];

int cmd_calibrate(struct cmd_context *context, int argc, char **argv);
int cmd_build(struct cmd_context *context, int argc, char **argv);
int cmd_run(struct cmd_context *context, int argc, char **argv);
int cmd_tune(struct cmd_context *context, int argc, char **argv);
int cmd_regress(struct cmd_context *context, int argc, char **argv);
int cmd_validate(struct cmd_context *context, int argc, char **argv);
int cmd_explain(struct cmd_context *context, int argc, char **argv);
int cmd_kernel(struct cmd_context *context, int argc, char **argv);
int cmd_kernels(struct cmd_context *context, int argc, char **argv);
int cmd_chips(struct cmd_context *context, int argc, char **argv);
int cmd_capabilities(struct cmd_context *context, int argc, char **argv);
int cmd_db(struct cmd_context *context, int argc, char **argv);
int cmd_compare(struct cmd_context *context, int argc, char **argv);
int cmd_report(struct cmd_context *context, int argc, char **argv);
int cmd_doctor(struct cmd_context *context, int argc, char **argv);
int cmd_sweep(struct cmd_context *context, int argc, char **argv);
int cmd_thermal(struct cmd_context *context, int argc, char **argv);
int cmd_whatif(struct cmd_context *context, int argc, char **argv);
int cmd_trace(struct cmd_context *context, int argc, char **argv);
int cmd_isa(struct cmd_context *context, int argc, char **argv);

#endif
