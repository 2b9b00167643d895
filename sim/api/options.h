/* Command-line options from tables: the same rows drive parsing, help, usage and suggestions.
 *
 * "--name value", "--name=value", "-n value", "-nvalue"; "--" ends options; "-" is an ordinary word. Names are never
 * abbreviated. Words that are not options are kept in order.
 */
#ifndef ORCHARD_SIM_API_OPTIONS_H
#define ORCHARD_SIM_API_OPTIONS_H

#include "sim/base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct cli_option {
    const char *name;     /* without dashes; NULL ends a table */
    char letter;          /* short form, 0 = none */
    const char *argument; /* what it takes, for help ("FILE"); NULL = a switch */
    bool repeat;          /* may be given more than once: all values count */
    const char *text;     /* one line of help */
};

/* What was given. Values point into argv; free with cli_args_free. */
struct cli_args {
    struct cli_given {
        const struct cli_option *option;
        const char *value; /* "" for a switch */
    } * given;
    size_t given_count;
    char **word; /* the words, in order */
    int words;
};

/* Reads argv[0..argc-1] with up to four tables (NULL ends the list). With stop_at_word it stops before the first word
 * and *used says how much was read. May be called again for the rest: what is given adds up. */
bool cli_parse(struct cli_args *args, const struct cli_option *const *tables, int argc, char **argv, bool stop_at_word, int *used,
               struct orch_error *error);
void cli_args_free(struct cli_args *args);

/* The last value given, NULL when there is none; the count, and each value of a repeated option. */
const char *cli_value(const struct cli_args *args, const char *name);
size_t cli_count(const struct cli_args *args, const char *name);
const char *cli_value_at(const struct cli_args *args, const char *name, size_t index);
bool cli_has(const struct cli_args *args, const char *name);

/* Numbers in range; *value is left alone when the option was not given. */
bool cli_number(const struct cli_args *args, const char *name, double lowest, double highest, double *value,
                struct orch_error *error);
bool cli_unsigned(const struct cli_args *args, const char *name, uint64_t lowest, uint64_t highest, uint64_t *value,
                  struct orch_error *error);
/* One of the words of `choices` ("a|b|c"); *index is its place. False with a suggestion for any other word. */
bool cli_choice(const char *what, const char *word, const char *choices, unsigned *index, struct orch_error *error);

/* Help lines of a table: "  -o, --output FILE   text". */
void cli_print_options(FILE *out, const struct cli_option *table);

#endif
