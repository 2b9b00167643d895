#include "sim/api/options.h"
#include "sim/base/suggest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TABLES = 4 };

static const struct cli_option *find_name(const struct cli_option *const *tables, const char *name, size_t length)
{
    for (int t = 0; t < MAX_TABLES && tables[t]; t++)
        for (const struct cli_option *o = tables[t]; o->name; o++)
            if (strlen(o->name) == length && strncmp(o->name, name, length) == 0)
                return o;
    return NULL;
}

static const struct cli_option *find_letter(const struct cli_option *const *tables, char letter)
{
    for (int t = 0; t < MAX_TABLES && tables[t]; t++)
        for (const struct cli_option *o = tables[t]; o->name; o++)
            if (o->letter && o->letter == letter)
                return o;
    return NULL;
}

static bool unknown(const struct cli_option *const *tables, const char *word, struct orch_error *error)
{
    char name[64], hint[96];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    struct suggest s;
    suggest_start(&s, name + strspn(name, "-"));
    for (int t = 0; t < MAX_TABLES && tables[t]; t++)
        for (const struct cli_option *o = tables[t]; o->name; o++)
            suggest_offer(&s, o->name);
    const char *best = suggest_best(&s);
    snprintf(hint, sizeof hint, best ? "; did you mean --%s?" : "%s", best ? best : "");
    return orch_fail(error, ORCH_USAGE, "unknown option '%s'%s", name, hint);
}

static bool add_given(struct cli_args *args, const struct cli_option *option, const char *value, struct orch_error *error)
{
    if (!option->repeat && option->argument && cli_has(args, option->name))
        return orch_fail(error, ORCH_USAGE, "option --%s is given twice", option->name);
    struct cli_given *grown = realloc(args->given, (args->given_count + 1) * sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    args->given = grown;
    grown[args->given_count++] = (struct cli_given){option, value};
    return true;
}

static bool add_word(struct cli_args *args, char *word, struct orch_error *error)
{
    char **grown = realloc(args->word, ((size_t)args->words + 2) * sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    args->word = grown;
    grown[args->words++] = word;
    grown[args->words] = NULL;
    return true;
}

/* One option at argv[*at]; moves *at past it and its value. */
static bool parse_option(struct cli_args *args, const struct cli_option *const *tables, int argc, char **argv, int *at,
                         struct orch_error *error)
{
    const char *word = argv[*at], *value = NULL;
    const struct cli_option *option;
    if (word[1] == '-') {
        const size_t length = strcspn(word + 2, "=");
        option = find_name(tables, word + 2, length);
        value = word[2 + length] ? word + 3 + length : NULL;
    } else {
        option = find_letter(tables, word[1]);
        value = word[2] ? word + 2 : NULL;
    }
    if (!option)
        return unknown(tables, word, error);
    if (!option->argument && value)
        return orch_fail(error, ORCH_USAGE, "option --%s takes no value", option->name);
    if (option->argument && !value) {
        if (*at + 1 >= argc)
            return orch_fail(error, ORCH_USAGE, "option --%s needs a value: %s", option->name, option->argument);
        value = argv[++*at];
    }
    ++*at;
    return add_given(args, option, value ? value : "", error);
}

bool cli_parse(struct cli_args *args, const struct cli_option *const *tables, int argc, char **argv, bool stop_at_word, int *used,
               struct orch_error *error)
{
    int at = 0;
    bool options = true;
    while (at < argc) {
        if (options && strcmp(argv[at], "--") == 0) {
            options = false;
            at++;
        } else if (options && argv[at][0] == '-' && argv[at][1]) {
            if (!parse_option(args, tables, argc, argv, &at, error))
                return false;
        } else if (stop_at_word) {
            break;
        } else if (!add_word(args, argv[at++], error)) {
            return false;
        }
    }
    if (used)
        *used = at;
    return true;
}

void cli_args_free(struct cli_args *args)
{
    free(args->given);
    free(args->word);
    *args = (struct cli_args){0};
}

size_t cli_count(const struct cli_args *args, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < args->given_count; i++)
        count += strcmp(args->given[i].option->name, name) == 0;
    return count;
}

const char *cli_value_at(const struct cli_args *args, const char *name, size_t index)
{
    for (size_t i = 0; i < args->given_count; i++)
        if (strcmp(args->given[i].option->name, name) == 0 && index-- == 0)
            return args->given[i].value;
    return NULL;
}

const char *cli_value(const struct cli_args *args, const char *name)
{
    const size_t count = cli_count(args, name);
    return count ? cli_value_at(args, name, count - 1) : NULL;
}

bool cli_has(const struct cli_args *args, const char *name)
{
    return cli_count(args, name) > 0;
}

bool cli_number(const struct cli_args *args, const char *name, double lowest, double highest, double *value,
                struct orch_error *error)
{
    const char *text = cli_value(args, name);
    if (!text)
        return true;
    char *end;
    const double number = strtod(text, &end);
    if (end == text || *end || !isfinite(number) || number < lowest || number > highest)
        return orch_fail(error, ORCH_USAGE, "--%s %.60s: expected a number from %g to %g", name, text, lowest, highest);
    *value = number;
    return true;
}

bool cli_unsigned(const struct cli_args *args, const char *name, uint64_t lowest, uint64_t highest, uint64_t *value,
                  struct orch_error *error)
{
    const char *text = cli_value(args, name);
    if (!text)
        return true;
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 0);
    if (text[0] < '0' || text[0] > '9' || *end || errno || number < lowest || number > highest)
        return orch_fail(error, ORCH_USAGE, "--%s %.60s: expected a whole number from %llu to %llu", name, text,
                         (unsigned long long)lowest, (unsigned long long)highest);
    *value = number;
    return true;
}

bool cli_choice(const char *what, const char *word, const char *choices, unsigned *index, struct orch_error *error)
{
    char list[256], hint[300];
    snprintf(list, sizeof list, "%s", choices);
    struct suggest s;
    suggest_start(&s, word);
    unsigned place = 0;
    char *rest = NULL;
    for (char *choice = strtok_r(list, "|", &rest); choice; choice = strtok_r(NULL, "|", &rest), place++) {
        if (strcmp(choice, word) == 0) {
            *index = place;
            return true;
        }
        suggest_offer(&s, choice);
    }
    return orch_fail(error, ORCH_USAGE, "unknown %s '%.60s'%s (%s)", what, word, suggest_phrase(&s, hint, sizeof hint), choices);
}

void cli_print_options(FILE *out, const struct cli_option *table)
{
    enum { COLUMN = 30 };
    for (const struct cli_option *o = table; o->name; o++) {
        char left[128], letter[8] = "    ";
        if (o->letter)
            snprintf(letter, sizeof letter, "-%c, ", o->letter);
        const int length =
            snprintf(left, sizeof left, "  %s--%s%s%s", letter, o->name, o->argument ? " " : "", o->argument ? o->argument : "");
        if (length >= COLUMN)
            fprintf(out, "%s\n%*s%s%s\n", left, COLUMN, "", o->text, o->repeat ? " (repeatable)" : "");
        else
            fprintf(out, "%-*s%s%s\n", COLUMN, left, o->text, o->repeat ? " (repeatable)" : "");
    }
}
