/* Verbs of the command line as data: help, usage and suggestions. What they do is in sim/api. */
#ifndef ORCHARD_SIM_API_VERB_H
#define ORCHARD_SIM_API_VERB_H

#include "sim/api/options.h"

struct cli_verb {
    const char *name;                 /* NULL ends a table */
    const char *synopsis;             /* what follows the name, one line per form, separated by newlines */
    const char *summary;              /* one line */
    const char *text;                 /* more, or NULL; lines as they shall be printed */
    const char *examples;             /* complete command lines, separated by newlines */
    const struct cli_option *options; /* the verb's own, or NULL */
};

/* `stride` is the distance of table entries in bytes: callers keep verbs inside larger rows. */
const struct cli_verb *cli_verb_find(const struct cli_verb *table, size_t stride, const char *name, struct orch_error *error);
/* All verbs, common options and two examples. */
void cli_print_overview(FILE *out, const struct cli_verb *table, size_t stride);
/* The page of one verb, laid out as a manual page. */
void cli_print_verb(FILE *out, const struct cli_verb *verb);

#endif
