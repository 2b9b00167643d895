/* Command-line options from tables: the same rows drive parsing, help, usage and suggestions.
 *
 * "--name value", "--name=value", "-n value", "-nvalue"; "--" ends options; "-" is an ordinary word. Names are never
 * abbreviated. Behind a word, "--" begins the values of the option "args" where a verb has one. Words that are not options are
 * kept in order. A word "+" begins the options of the next workload: the list of options then has a "+" before those of each
 * (orchard_ask).
 */
#ifndef ORCHARD_SIM_CMD_OPTIONS_H
#define ORCHARD_SIM_CMD_OPTIONS_H

#include "sim/orchard.h"

/* What was given; free with cli_args_free. Both lists end with NULL and can be handed to orchard_ask. */
struct cli_args {
    char **option; /* "name=value", "name" for a switch; owned */
    size_t options;
    const char **word; /* the words, in order; they point into argv */
    size_t words;
    size_t first_word, group; /* how many options stood before the first word, and before those of the present workload */
    bool several;
};

/* Reads argv[0..argc-1] with up to four tables (NULL ends the list). With stop_at_word it stops before the first word
 * and *used says how much was read. May be called again for the rest: what is given adds up. */
bool cli_parse(struct cli_args *args, const struct orchard_option *const *tables, int argc, char **argv, bool stop_at_word,
               int *used, struct orchard_error *error);
void cli_args_free(struct cli_args *args);

/* The last value given, "" for a switch, NULL when there is none. */
const char *cli_value(const struct cli_args *args, const char *name);
bool cli_has(const struct cli_args *args, const char *name);

/* Options of the command line itself, after those of the library: how text looks, and help. */
extern const struct orchard_option cli_own_options[];
/* Whether text may be coloured: a terminal, and nobody against it. */
bool cli_wants_color(const struct cli_args *args, bool out_is_terminal);
/* Takes the options of cli_own_options out, so that what is left can be asked. */
void cli_drop_own(struct cli_args *args);

/* Fills *error with a wrong use (exit code 2); returns false. */
bool cli_fail(struct orchard_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
