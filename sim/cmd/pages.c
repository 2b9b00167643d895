#include "sim/cmd/pages.h"

#include "sim/cmd/options.h"

#include <string.h>

/* ---- manual pages ---- */

/* Text for roff: dashes are dashes, nothing begins a request. */
static void roff(FILE *out, const char *text, size_t length)
{
    if (length && (*text == '.' || *text == '\''))
        fputs("\\&", out);
    for (; length; length--, text++)
        switch (*text) {
        case '\\': fputs("\\e", out); break;
        case '-': fputs("\\-", out); break;
        default: fputc(*text, out);
        }
}

static void roff_text(FILE *out, const char *text)
{
    roff(out, text, strlen(text));
}

/* Lines as they are, after a prefix. */
static void roff_lines(FILE *out, const char *prefix, const char *text)
{
    fputs(".nf\n", out);
    while (*text) {
        const size_t length = strcspn(text, "\n");
        roff_text(out, prefix);
        if (length || !*prefix)
            roff(out, text, length);
        fputc('\n', out);
        text += length + (text[length] == '\n');
    }
    fputs(".fi\n", out);
}

static void roff_options(FILE *out, const struct orchard_option *table)
{
    for (const struct orchard_option *o = table; o && o->name; o++) {
        const bool may_lack = o->argument && o->argument[0] == '[';
        fputs(".TP\n.B ", out);
        if (o->letter)
            fprintf(out, "\\-%c, ", o->letter);
        fputs("\\-\\-", out);
        roff_text(out, o->name);
        if (o->argument) {
            fputs(may_lack ? "[=" : " ", out);
            roff_text(out, o->argument + may_lack);
        }
        fputc('\n', out);
        roff_text(out, o->text);
        fputs(o->repeat ? " (repeatable)\n" : "\n", out);
    }
}

static void manual_head(FILE *out, const char *name, const char *summary)
{
    fprintf(out, ".TH ORCHARD%s%s 1 \"\" \"orchard %s\" \"User Commands\"\n.SH NAME\norchard", *name ? "-" : "", name,
            orchard_version());
    if (*name) {
        fputs("\\-", out);
        roff_text(out, name);
    }
    fputs(" \\- ", out);
    roff_text(out, summary);
    fputc('\n', out);
}

static void manual_foot(FILE *out)
{
    fputs(
        ".SH EXIT STATUS\n0 done, 1 a check does not hold, 2 wrong use or input, 3 not modelled, 4 the simulated program "
        "faulted, 70 "
        "internal error, 130 interrupted\n"
        ".SH ENVIRONMENT\n.TP\n.B ORCHARD_DB\nthe performance database, unless \\-\\-db names one\n.TP\n.B NO_COLOR\nno colour\n",
        out);
}

static void manual_program(FILE *out)
{
    manual_head(out, "", "simulates the compute units of Apple Silicon");
    fputs(".SH SYNOPSIS\n.B orchard\nCOMMAND [options]\n.SH COMMANDS\n", out);
    for (size_t i = 0; i < orchard_verb_count(); i++) {
        fputs(".TP\n.BR orchard\\-", out);
        roff_text(out, orchard_verb_at(i)->name);
        fputs(" (1)\n", out);
        roff_text(out, orchard_verb_at(i)->summary);
        fputc('\n', out);
    }
    fputs(".SH OPTIONS\n", out);
    roff_options(out, orchard_common_options());
    roff_options(out, cli_own_options);
    manual_foot(out);
}

void pages_manual(FILE *out, const struct orchard_verb *verb)
{
    char prefix[64];
    if (!verb) {
        manual_program(out);
        return;
    }
    snprintf(prefix, sizeof prefix, "orchard %s ", verb->name);
    manual_head(out, verb->name, verb->summary);
    fputs(".SH SYNOPSIS\n", out);
    roff_lines(out, prefix, verb->synopsis && *verb->synopsis ? verb->synopsis : "\n");
    if (verb->text) {
        fputs(".SH DESCRIPTION\n", out);
        roff_lines(out, "", verb->text);
    }
    fputs(".SH OPTIONS\n", out);
    roff_options(out, verb->options);
    roff_options(out, orchard_common_options());
    roff_options(out, cli_own_options);
    if (verb->more_title) {
        fputs(".SH ", out);
        roff_text(out, verb->more_title);
        fputc('\n', out);
        roff_lines(out, "", verb->more);
    }
    if (verb->examples) {
        fputs(".SH EXAMPLES\n", out);
        roff_lines(out, "", verb->examples);
        fputs("\nFiles below examples/ come from \"orchard examples copy examples\".\n", out);
    }
    manual_foot(out);
    fputs(".SH SEE ALSO\n.BR orchard (1)\n", out);
}

/* ---- completion ---- */

static bool names_files(const struct orchard_option *o)
{
    return o->argument && (strstr(o->argument, "FILE") || strstr(o->argument, "DIR") || strstr(o->argument, "HOST"));
}

static bool is_chip(const struct orchard_option *o)
{
    return strcmp(o->name, "chip") == 0;
}

static void bash_options(FILE *out, const struct orchard_option *table)
{
    for (const struct orchard_option *o = table; o && o->name; o++)
        fprintf(out, " --%s", o->name);
}

/* Chips by the names that people use. */
static void chip_names(FILE *out)
{
    struct orchard_chips *const chips = orchard_chips_open(NULL);
    for (size_t i = 0; chips && i < orchard_chips_count(chips); i++)
        fprintf(out, "%s%s", i ? " " : "", orchard_chips_id(chips, i));
    orchard_chips_close(chips);
}

static void verb_names(FILE *out)
{
    for (size_t i = 0; i < orchard_verb_count(); i++)
        fprintf(out, "%s%s", i ? " " : "", orchard_verb_at(i)->name);
}

static void bash(FILE *out)
{
    fputs("# completion of orchard for bash\n_orchard()\n{\n    local cur=${COMP_WORDS[COMP_CWORD]} "
          "prev=${COMP_WORDS[COMP_CWORD-1]} verb= "
          "i\n    for ((i = 1; i < COMP_CWORD; i++)); do\n        case ${COMP_WORDS[i]} in -*) ;; *) verb=${COMP_WORDS[i]}; "
          "break ;; "
          "esac\n    done\n    case $prev in\n    -c|--chip) COMPREPLY=($(compgen -W '",
          out);
    chip_names(out);
    fputs("' -- \"$cur\")); return ;;\n    esac\n    if [[ -z $verb ]]; then\n        COMPREPLY=($(compgen -W '", out);
    verb_names(out);
    fputs("' -- \"$cur\"))\n        return\n    fi\n    local common='", out);
    bash_options(out, orchard_common_options());
    bash_options(out, cli_own_options);
    fputs("'\n    local own=\n    case $verb in\n", out);
    for (size_t i = 0; i < orchard_verb_count(); i++) {
        fprintf(out, "    %s) own='", orchard_verb_at(i)->name);
        bash_options(out, orchard_verb_at(i)->options);
        fputs("' ;;\n", out);
    }
    fputs("    esac\n    if [[ $cur == -* ]]; then\n        COMPREPLY=($(compgen -W \"$common $own\" -- \"$cur\"))\n    else\n   "
          "     "
          "COMPREPLY=($(compgen -f -- \"$cur\"))\n    fi\n}\ncomplete -o filenames -F _orchard orchard\n",
          out);
}

/* Text inside single quotes of zsh's _arguments, or of fish. */
static void quoted(FILE *out, const char *text, const char *escaped)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fprintf(out, "%s%c", strchr(escaped, *text) ? "\\" : "", *text);
    }
}

static void zsh_options(FILE *out, const struct orchard_option *table)
{
    for (const struct orchard_option *o = table; o && o->name; o++) {
        fprintf(out, "        '%s--%s%s[", o->repeat ? "*" : "", o->name, o->argument ? "=" : "");
        quoted(out, o->text, "[]:\\");
        fputc(']', out);
        if (o->argument) {
            fputc(':', out);
            quoted(out, o->argument, "[]:\\");
            fputs(names_files(o) ? ":_files" : is_chip(o) ? ":($chips)" : ": ", out);
        }
        fputs("' \\\n", out);
    }
}

static void zsh(FILE *out)
{
    fputs("#compdef orchard\n_orchard() {\n    local -a verbs chips common\n    chips=(", out);
    chip_names(out);
    fputs(")\n    verbs=(\n", out);
    for (size_t i = 0; i < orchard_verb_count(); i++) {
        fprintf(out, "        '%s:", orchard_verb_at(i)->name);
        quoted(out, orchard_verb_at(i)->summary, ":\\");
        fputs("'\n", out);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe command verbs\n        return\n    fi\n    case $words[2] "
          "in\n",
          out);
    for (size_t i = 0; i < orchard_verb_count(); i++) {
        fprintf(out, "    %s)\n        _arguments \\\n", orchard_verb_at(i)->name);
        zsh_options(out, orchard_verb_at(i)->options);
        zsh_options(out, orchard_common_options());
        zsh_options(out, cli_own_options);
        fputs("        '*: :_files'\n        ;;\n", out);
    }
    fputs("    esac\n}\n_orchard \"$@\"\n", out);
}

static void fish_options(FILE *out, const char *verb, const struct orchard_option *table)
{
    for (const struct orchard_option *o = table; o && o->name; o++) {
        fputs("complete -c orchard", out);
        if (verb)
            fprintf(out, " -n '__fish_seen_subcommand_from %s'", verb);
        if (o->letter)
            fprintf(out, " -s %c", o->letter);
        fprintf(out, " -l %s", o->name);
        if (o->argument)
            fputs(names_files(o) ? " -r" : " -x", out);
        if (is_chip(o)) {
            fputs(" -a '", out);
            chip_names(out);
            fputc('\'', out);
        }
        fputs(" -d '", out);
        for (const char *c = o->text; *c; c++)
            fprintf(out, "%s%c", *c == '\'' || *c == '\\' ? "\\" : "", *c);
        fputs("'\n", out);
    }
}

static void fish(FILE *out)
{
    fputs("# completion of orchard for fish\n", out);
    for (size_t i = 0; i < orchard_verb_count(); i++) {
        fprintf(out, "complete -c orchard -n __fish_use_subcommand -f -a %s -d '", orchard_verb_at(i)->name);
        for (const char *c = orchard_verb_at(i)->summary; *c; c++)
            fprintf(out, "%s%c", *c == '\'' || *c == '\\' ? "\\" : "", *c);
        fputs("'\n", out);
        fish_options(out, orchard_verb_at(i)->name, orchard_verb_at(i)->options);
    }
    fish_options(out, NULL, orchard_common_options());
    fish_options(out, NULL, cli_own_options);
}

bool pages_completion(FILE *out, const char *shell)
{
    static const struct {
        const char *name;
        void (*write)(FILE *out);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].write(out);
            return true;
        }
    return false;
}
