#include "sim/api/args.h"

#include "sim/base/quantity.h"
#include "sim/base/suggest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct orchard_option *find(const struct orchard_option *table, const char *name, size_t length)
{
    for (const struct orchard_option *o = table; o && o->name; o++)
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0)
            return o;
    return NULL;
}

static void offer(struct suggest *s, const struct orchard_option *table)
{
    for (const struct orchard_option *o = table; o && o->name; o++)
        suggest_offer(s, o->name);
}

static bool unknown(const struct orchard_option *common, const struct orchard_option *own, const char *text, size_t length,
                    struct orch_error *error)
{
    char name[64], hint[96] = "";
    struct suggest s;
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
    suggest_start(&s, name);
    offer(&s, common);
    offer(&s, own);
    if (suggest_best(&s))
        snprintf(hint, sizeof hint, "; did you mean " ORCH_OPTION("%s") "?", suggest_best(&s));
    return orch_fail(error, ORCH_USAGE, "unknown option '" ORCH_OPTION("%s") "'%s", name, hint);
}

static bool is_of_parts(const struct api_args *args, const struct orchard_option *option)
{
    for (const char *const *name = args->of_parts; name && *name; name++)
        if (strcmp(*name, option->name) == 0)
            return true;
    return false;
}

static bool is_twice(const struct api_args *args, size_t from, const struct orchard_option *option, unsigned part)
{
    for (size_t i = from; i < args->count; i++)
        if (args->given[i].option == option && !option->repeat && option->argument &&
            (args->given[i].part == part || !is_of_parts(args, option)))
            return true;
    return false;
}

static bool check(const struct orchard_option *option, bool has_value, struct orch_error *error)
{
    if (!option->argument && has_value)
        return orch_fail(error, ORCH_USAGE, "option " ORCH_OPTION("%s") " takes no value", option->name);
    if (option->argument && option->argument[0] != '[' && !has_value)
        return orch_fail(error, ORCH_USAGE, "option " ORCH_OPTION("%s") " needs a value: %s", option->name, option->argument);
    return true;
}

bool api_args_add(struct api_args *args, const struct orchard_option *common, const struct orchard_option *own,
                  const char *const *options, struct orch_error *error)
{
    const size_t before = args->count;
    unsigned part = 0;
    for (; options && *options; options++) {
        if (strcmp(*options, "+") == 0) {
            args->parts = ++part;
            continue;
        }
        const size_t length = strcspn(*options, "=");
        const bool has_value = (*options)[length] == '=';
        const struct orchard_option *option = find(common, *options, length);
        option = option ? option : find(own, *options, length);
        if (!option)
            return unknown(common, own, *options, length, error);
        if (!check(option, has_value, error))
            return false;
        if (is_twice(args, before, option, part))
            return orch_fail(error, ORCH_USAGE, "option " ORCH_OPTION("%s") " is given twice", option->name);
        struct api_given *const grown = realloc(args->given, (args->count + 1) * sizeof *grown);
        if (!grown)
            return orch_no_memory(error);
        args->given = grown;
        grown[args->count++] = (struct api_given){option, has_value ? *options + length + 1 : "", part};
    }
    return true;
}

void api_args_free(struct api_args *args)
{
    free(args->given);
    *args = (struct api_args){0};
}

bool api_args_have_parts(const struct api_args *args)
{
    for (size_t i = 0; i < args->count; i++)
        if (args->given[i].part && args->given[i].part < args->parts && is_of_parts(args, args->given[i].option))
            return true;
    return false;
}

bool api_args_part(const struct api_args *args, unsigned part, struct api_args *of, struct orch_error *error)
{
    const bool have_parts = api_args_have_parts(args);
    *of = (struct api_args){.given = calloc(args->count + 1, sizeof *of->given), .of_parts = args->of_parts};
    if (!of->given)
        return orch_no_memory(error);
    for (size_t i = 0; i < args->count; i++) {
        const struct api_given *const g = &args->given[i];
        if (!g->part || g->part == part || !have_parts || !is_of_parts(args, g->option))
            of->given[of->count++] = *g;
    }
    return true;
}

size_t api_count(const struct api_args *args, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < args->count; i++)
        count += strcmp(args->given[i].option->name, name) == 0;
    return count;
}

const char *api_value_at(const struct api_args *args, const char *name, size_t index)
{
    for (size_t i = 0; i < args->count; i++)
        if (strcmp(args->given[i].option->name, name) == 0 && index-- == 0)
            return args->given[i].value;
    return NULL;
}

const char *api_value(const struct api_args *args, const char *name)
{
    const size_t count = api_count(args, name);
    return count ? api_value_at(args, name, count - 1) : NULL;
}

bool api_has(const struct api_args *args, const char *name)
{
    return api_count(args, name) > 0;
}

bool api_number(const struct api_args *args, const char *name, double lowest, double highest, double *value,
                struct orch_error *error)
{
    const char *text = api_value(args, name);
    if (!text)
        return true;
    char *end;
    const double number = strtod(text, &end);
    if (end == text || *end || !isfinite(number) || number < lowest || number > highest)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " %.60s: expected a number from %g to %g", name, text, lowest,
                         highest);
    *value = number;
    return true;
}

bool api_quantity(const struct api_args *args, const char *name, const char *unit, double lowest, double highest, double *value,
                  struct orch_error *error)
{
    const char *const text = api_value(args, name);
    char units[160];
    double number;
    if (!text)
        return true;
    if (quantity_read(text, unit, &number) && number >= lowest && number <= highest) {
        *value = number;
        return true;
    }
    quantity_units(unit, units, sizeof units);
    return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " %.60s: expected a number from %g to %g in %s%s%s", name, text, lowest,
                     highest, unit, units[0] ? ", or with one of the units " : "", units);
}

bool api_unsigned(const struct api_args *args, const char *name, uint64_t lowest, uint64_t highest, uint64_t *value,
                  struct orch_error *error)
{
    const char *text = api_value(args, name);
    if (!text)
        return true;
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 0);
    if (text[0] < '0' || text[0] > '9' || *end || errno || number < lowest || number > highest)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " %.60s: expected a whole number from %llu to %llu", name, text,
                         (unsigned long long)lowest, (unsigned long long)highest);
    *value = number;
    return true;
}

bool api_jobs(const struct api_args *args, uint64_t most, uint64_t *jobs, struct orch_error *error)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *jobs = processors > 0 ? (uint64_t)processors : 1;
    return api_unsigned(args, "jobs", 1, most, jobs, error);
}

bool api_chosen(const struct api_args *args, const char *name, const char *choices, unsigned *index, struct orch_error *error)
{
    const char *const word = api_value(args, name);
    char what[64];
    snprintf(what, sizeof what, ORCH_OPTION("%s"), name);
    return !word || api_choice(what, word, choices, index, error);
}

bool api_unit_is_known(const struct api_args *args, struct orch_error *error)
{
    unsigned ignored;
    return api_chosen(args, "unit", "cpu|amx|gpu|ane|auto|hybrid", &ignored, error);
}

bool api_choice(const char *what, const char *word, const char *choices, unsigned *index, struct orch_error *error)
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
