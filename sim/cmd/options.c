#include "sim/cmd/options.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TABLES = 4, USAGE = 2, INTERNAL = 70 };

const struct orchard_option cli_own_options[] = {
    {"no-color", 0, NULL, false, "no colour (also NO_COLOR)"},
    {"help", 'h', NULL, false, "this help"},
    {"version", 0, NULL, false, "print the version"},
    {0},
};

bool cli_fail(struct orchard_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *error = (struct orchard_error){.code = USAGE};
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return false;
}

static bool no_memory(struct orchard_error *error)
{
    cli_fail(error, "out of memory");
    error->code = INTERNAL;
    return false;
}

static const struct orchard_option *find_name(const struct orchard_option *const *tables, const char *name, size_t length)
{
    for (int t = 0; t < MAX_TABLES && tables[t]; t++)
        for (const struct orchard_option *o = tables[t]; o->name; o++)
            if (strlen(o->name) == length && strncmp(o->name, name, length) == 0)
                return o;
    return NULL;
}

static const struct orchard_option *find_letter(const struct orchard_option *const *tables, char letter)
{
    for (int t = 0; t < MAX_TABLES && tables[t]; t++)
        for (const struct orchard_option *o = tables[t]; o->name; o++)
            if (o->letter && o->letter == letter)
                return o;
    return NULL;
}

/* The option that may have been meant; NULL when none is near. */
static const char *nearest(const struct orchard_option *const *tables, const char *name)
{
    size_t count = 0, used = 0;
    for (int t = 0; t < MAX_TABLES && tables[t]; t++)
        for (const struct orchard_option *o = tables[t]; o->name; o++)
            count++;
    const char **const names = calloc(count + 1, sizeof *names);
    for (int t = 0; names && t < MAX_TABLES && tables[t]; t++)
        for (const struct orchard_option *o = tables[t]; o->name; o++)
            names[used++] = o->name;
    const char *const best = names ? orchard_nearest(name, names) : NULL;
    free(names);
    return best;
}

static bool unknown(const struct orchard_option *const *tables, const char *word, struct orchard_error *error)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    const char *const best = nearest(tables, name + strspn(name, "-"));
    return best ? cli_fail(error, "unknown option '%s'; did you mean --%s?", name, best)
                : cli_fail(error, "unknown option '%s' (--help lists them)", name);
}

/* "name=value", or "name" without a value. */
static char *given_text(const struct orchard_option *option, const char *value)
{
    const size_t size = strlen(option->name) + (value ? strlen(value) : 0) + 2;
    char *const text = malloc(size);
    if (text)
        snprintf(text, size, "%s%s%s", option->name, value ? "=" : "", value ? value : "");
    return text;
}

static bool add_text(struct cli_args *args, size_t at, char *text, struct orchard_error *error)
{
    char **const grown = text ? realloc(args->option, (args->options + 2) * sizeof *grown) : NULL;
    if (!grown) {
        free(text);
        return no_memory(error);
    }
    args->option = grown;
    memmove(grown + at + 1, grown + at, (args->options - at) * sizeof *grown);
    grown[at] = text;
    grown[++args->options] = NULL;
    return true;
}

/* The value when `option` is the option of that name: "" for a switch. */
static const char *value_of(const char *option, const char *name)
{
    const size_t length = strlen(name);
    if (strncmp(option, name, length) != 0 || (option[length] && option[length] != '='))
        return NULL;
    return option[length] ? option + length + 1 : "";
}

static bool add_given(struct cli_args *args, const struct orchard_option *option, const char *value, struct orchard_error *error)
{
    for (size_t i = args->group; i < args->options; i++)
        if (!option->repeat && option->argument && value_of(args->option[i], option->name))
            return cli_fail(error, "option --%s is given twice", option->name);
    return add_text(args, args->options, given_text(option, value), error);
}

static bool add_word(struct cli_args *args, const char *word, struct orchard_error *error)
{
    const char **const grown = realloc(args->word, (args->words + 2) * sizeof *grown);
    if (!grown)
        return no_memory(error);
    args->word = grown;
    if (args->words == 0)
        args->first_word = args->options;
    grown[args->words++] = word;
    grown[args->words] = NULL;
    if (strcmp(word, "+") != 0)
        return true;
    args->several = true;
    args->group = args->options + 1;
    return add_text(args, args->options, strdup("+"), error);
}

/* One option at argv[*at]; moves *at past it and its value. */
static bool parse_option(struct cli_args *args, const struct orchard_option *const *tables, int argc, char **argv, int *at,
                         struct orchard_error *error)
{
    const char *word = argv[*at], *value = NULL;
    const struct orchard_option *option;
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
        return cli_fail(error, "option --%s takes no value", option->name);
    const bool may_lack = option->argument && option->argument[0] == '[';
    if (option->argument && !value && !may_lack) {
        if (*at + 1 >= argc)
            return cli_fail(error, "option --%s needs a value: %s", option->name, option->argument);
        value = argv[++*at];
    }
    ++*at;
    return add_given(args, option, value, error);
}

/* The option that words behind "--" are values of: a program's arguments follow its name so, as they do in a shell. NULL = none.
 */
static const struct orchard_option *option_of_rest(const struct cli_args *args, const struct orchard_option *const *tables)
{
    const struct orchard_option *const option = args->words ? find_name(tables, "args", strlen("args")) : NULL;
    return option && option->repeat ? option : NULL;
}

bool cli_parse(struct cli_args *args, const struct orchard_option *const *tables, int argc, char **argv, bool stop_at_word,
               int *used, struct orchard_error *error)
{
    int at = 0;
    bool options = true;
    const struct orchard_option *rest = NULL;
    while (at < argc) {
        if (options && strcmp(argv[at], "--") == 0) {
            options = false;
            rest = option_of_rest(args, tables);
            at++;
        } else if (rest) {
            if (!add_given(args, rest, argv[at++], error))
                return false;
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
    return !args->several || add_text(args, args->first_word, strdup("+"), error);
}

void cli_args_free(struct cli_args *args)
{
    for (size_t i = 0; i < args->options; i++)
        free(args->option[i]);
    free(args->option);
    free(args->word);
    *args = (struct cli_args){0};
}

const char *cli_value(const struct cli_args *args, const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; i < args->options; i++)
        value = value_of(args->option[i], name) ? value_of(args->option[i], name) : value;
    return value;
}

bool cli_has(const struct cli_args *args, const char *name)
{
    return cli_value(args, name) != NULL;
}

bool cli_wants_color(const struct cli_args *args, bool out_is_terminal)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return out_is_terminal && !cli_has(args, "no-color") && !(no_color && no_color[0]) && !(term && strcmp(term, "dumb") == 0);
}

void cli_drop_own(struct cli_args *args)
{
    size_t kept = 0;
    for (size_t i = 0; i < args->options; i++) {
        bool own = false;
        for (const struct orchard_option *o = cli_own_options; o->name; o++)
            own = own || value_of(args->option[i], o->name);
        if (own)
            free(args->option[i]);
        else
            args->option[kept++] = args->option[i];
    }
    args->options = kept;
    if (args->option)
        args->option[kept] = NULL;
}
