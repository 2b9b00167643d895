#include "sim/cmd/help.h"

#include "sim/cmd/options.h"

#include <string.h>

/* Lines of a table: "  -o, --output FILE   text". */
static void help_options(FILE *out, const struct orchard_option *table)
{
    enum { COLUMN = 30 };
    for (const struct orchard_option *o = table; o->name; o++) {
        char left[128], letter[8] = "    ";
        if (o->letter)
            snprintf(letter, sizeof letter, "-%c, ", o->letter);
        const int length = o->argument && o->argument[0] == '['
                               ? snprintf(left, sizeof left, "  %s--%s[=%s", letter, o->name, o->argument + 1)
                               : snprintf(left, sizeof left, "  %s--%s%s%s", letter, o->name, o->argument ? " " : "",
                                          o->argument ? o->argument : "");
        if (length >= COLUMN)
            fprintf(out, "%s\n%*s%s%s\n", left, COLUMN, "", o->text, o->repeat ? " (repeatable)" : "");
        else
            fprintf(out, "%-*s%s%s\n", COLUMN, left, o->text, o->repeat ? " (repeatable)" : "");
    }
}

static void common_options(FILE *out)
{
    help_options(out, orchard_common_options());
    help_options(out, cli_own_options);
}

/* Every line of `text`, after the prefix. */
static void print_lines(FILE *out, const char *prefix, const char *text)
{
    while (*text) {
        const int length = (int)strcspn(text, "\n");
        fprintf(out, "%s%.*s\n", length ? prefix : "", length, text);
        text += length + (text[length] == '\n');
    }
}

void help_overview(FILE *out)
{
    fprintf(out, "orchard simulates the compute units of Apple Silicon: time, energy and heat of real programs.\n\n"
                 "usage: orchard COMMAND [options]\n\nfirst steps, each of which runs as it stands:\n"
                 "  orchard run gemm:512x512x512 --unit all             the same product on NEON, AMX, GPU and Neural Engine\n"
                 "  orchard run gemm:1024x1024x1024 --unit amx --chip m1,m2,m3\n"
                 "  orchard explain                                     what the newest run was limited by\n"
                 "  orchard report -o run.html                          the same as a page\n"
                 "  orchard examples copy examples                      programs, kernels, networks to run, as\n"
                 "  orchard run examples/cpu/words.elf --stdin examples/cpu/words.txt\n"
                 "  orchard chips diff m1-max m2-max                    what is known of chips, and from where\n"
                 "\ncommands:\n");
    for (size_t i = 0; i < orchard_verb_count(); i++)
        fprintf(out, "  %-14s%s\n", orchard_verb_at(i)->name, orchard_verb_at(i)->summary);
    fprintf(out, "\noptions of every command:\n");
    common_options(out);
    fprintf(out, "\nMore about a command, with examples: orchard COMMAND --help\n"
                 "Manual pages and completion: orchard help man [COMMAND], orchard help bash, zsh or fish\n");
}

void help_verb(FILE *out, const struct orchard_verb *verb)
{
    char prefix[64];
    snprintf(prefix, sizeof prefix, "  orchard %s ", verb->name);
    fprintf(out, "NAME\n  orchard %s - %s\n\nSYNOPSIS\n", verb->name, verb->summary);
    if (verb->synopsis && verb->synopsis[0])
        print_lines(out, prefix, verb->synopsis);
    else
        fprintf(out, "  orchard %s\n", verb->name);
    if (verb->text) {
        fprintf(out, "\nDESCRIPTION\n");
        print_lines(out, "  ", verb->text);
    }
    if (verb->options) {
        fprintf(out, "\nOPTIONS\n");
        help_options(out, verb->options);
    }
    fprintf(out, "\nCOMMON OPTIONS\n");
    common_options(out);
    if (verb->examples) {
        fprintf(out, "\nEXAMPLES\n");
        print_lines(out, "  ", verb->examples);
        if (strstr(verb->examples, "examples/"))
            fprintf(out, "  (files below examples/ come from: orchard examples copy examples)\n");
    }
    fprintf(out, "\nEXIT CODES\n  0 done, 1 a check does not hold, 2 wrong use or input, 3 not modelled,\n"
                 "  4 the simulated program faulted, 70 internal error, 130 interrupted\n");
    if (verb->more_title)
        fprintf(out, "\n%s\n%s", verb->more_title, verb->more);
}
