#include "sim/api/verb.h"
#include "sim/api/common.h"
#include "sim/base/suggest.h"

#include <string.h>

static const struct cli_verb *next(const struct cli_verb *verb, size_t stride)
{
    return (const struct cli_verb *)(const void *)((const char *)verb + stride);
}

const struct cli_verb *cli_verb_find(const struct cli_verb *table, size_t stride, const char *name, struct orch_error *error)
{
    struct suggest s;
    suggest_start(&s, name);
    for (const struct cli_verb *v = table; v->name; v = next(v, stride)) {
        if (strcmp(v->name, name) == 0)
            return v;
        suggest_offer(&s, v->name);
    }
    char hint[96];
    orch_fail(error, ORCH_USAGE, "unknown command '%.60s'%s", name, suggest_phrase(&s, hint, sizeof hint));
    return NULL;
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

void cli_print_overview(FILE *out, const struct cli_verb *table, size_t stride)
{
    fprintf(out, "orchard simulates the compute units of Apple Silicon: time, energy and heat of real programs.\n\n"
                 "usage: orchard COMMAND [options]\n\ncommands:\n");
    for (const struct cli_verb *v = table; v->name; v = next(v, stride))
        fprintf(out, "  %-14s%s\n", v->name, v->summary);
    fprintf(out, "\noptions of every command:\n");
    cli_print_options(out, cli_common_options);
    fprintf(out, "\nexamples:\n"
                 "  orchard run gemm:1024x1024x1024 --unit amx --chip m1,m2,m3\n"
                 "  orchard chips diff m1-max m2-max\n"
                 "\nMore about a command: orchard COMMAND --help\n");
}

void cli_print_verb(FILE *out, const struct cli_verb *verb)
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
        cli_print_options(out, verb->options);
    }
    fprintf(out, "\nCOMMON OPTIONS\n");
    cli_print_options(out, cli_common_options);
    if (verb->examples) {
        fprintf(out, "\nEXAMPLES\n");
        print_lines(out, "  ", verb->examples);
    }
    fprintf(out, "\nEXIT CODES\n  0 done, 1 a check does not hold, 2 wrong use or input, 3 not modelled,\n"
                 "  4 the simulated program faulted, 70 internal error, 130 interrupted\n");
}
