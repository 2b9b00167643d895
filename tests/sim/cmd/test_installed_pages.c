/* What is installed beside the program: manual pages, completion and their agreement with the tables of options. */
#include "isa/array_count.h"
#include "sim/orchard.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cli_outcome outcome;

static bool ask(const char *format, const char *word)
{
    char line[200];
    snprintf(line, sizeof line, "%s%s", format, word);
    return cli_run_or_skip(line, &outcome);
}

/* In a manual page a dash is written as "\-". */
static bool page_has_option(const char *page, const char *name)
{
    char spelled[200] = "\\-\\-";
    for (size_t used = 4; *name; name++)
        used += (size_t)snprintf(spelled + used, sizeof spelled - used, *name == '-' ? "\\-" : "%c", *name);
    return strstr(page, spelled) != NULL;
}

static void test_manual_pages(void)
{
    for (size_t v = 0; v < orchard_verb_count(); v++) {
        const struct orchard_verb *const verb = orchard_verb_at(v);
        if (!ask("help man ", verb->name))
            return;
        CHECK(outcome.code == 0 && strncmp(outcome.out, ".TH ORCHARD-", 12) == 0, "%s: %d", verb->name, outcome.code);
        for (const struct orchard_option *o = verb->options; o && o->name; o++)
            CHECK(page_has_option(outcome.out, o->name), "%s: --%s", verb->name, o->name);
        for (const char *line = outcome.out; *line; line += strcspn(line, "\n") + 1)
            CHECK(*line != '\'', "%s: '%.40s' is a request", verb->name, line);
    }
    if (ask("help man", ""))
        CHECK(strstr(outcome.out, "orchard\\-run") && page_has_option(outcome.out, "no-color"), "%.300s", outcome.out);
    CHECK(ask("help man rnu", "") && outcome.code == 2 && strstr(outcome.err, "did you mean run?"), "%s", outcome.err);
}

/* The completion in the shell of its name: what it offers behind some words. */
static void test_bash_completes(void)
{
    static const struct {
        const char *words, *offered;
    } rows[] = {
        {"orchard rep", "report"},          {"orchard run --powe", "--power-cap --power-mode"},
        {"orchard run --chip m9", ""},      {"orchard capabilities --chip m1_max", "m1_max_8p2e_24g m1_max_8p2e_32g"},
        {"orchard chips --seed", "--seed"},
    };
    char line[1000], said[1000];
    if (!cli_binary() || system("command -v bash > /dev/null") != 0) {
        suite_skip("no bash, or no binary");
        return;
    }
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        snprintf(line, sizeof line,
                 "bash -c 'source <(%s help bash); COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _orchard; printf "
                 "\"%%s\\n\" "
                 "\"${COMPREPLY[@]}\" | LC_ALL=C sort | paste -sd\" \"'",
                 cli_binary(), rows[i].words);
        FILE *const f = popen(line, "r");
        said[f ? fread(said, 1, sizeof said - 1, f) : 0] = 0;
        said[strcspn(said, "\n")] = 0;
        CHECK(f && pclose(f) == 0 && strcmp(said, rows[i].offered) == 0, "%s: '%s', not '%s'", rows[i].words, said,
              rows[i].offered);
    }
}

/* Every option of every verb, once for the verb. */
static void test_zsh_and_fish_have_all_options(void)
{
    static const char *const shells[] = {"zsh", "fish"};
    for (size_t s = 0; s < ARRAY_COUNT(shells); s++) {
        if (!ask("help ", shells[s]))
            return;
        for (size_t v = 0; v < orchard_verb_count(); v++)
            for (const struct orchard_option *o = orchard_verb_at(v)->options; o && o->name; o++) {
                char wanted[200];
                if (s)
                    snprintf(wanted, sizeof wanted, "from %s'%s%.*s -l %s ", orchard_verb_at(v)->name, o->letter ? " -s " : "",
                             o->letter ? 1 : 0, &o->letter, o->name);
                else
                    snprintf(wanted, sizeof wanted, "--%s%s[", o->name, o->argument ? "=" : "");
                CHECK(strstr(outcome.out, wanted) != NULL, "%s: no %s", shells[s], wanted);
            }
    }
}

/* Where the shells are installed, they read what is for them without a complaint. */
static void test_shells_parse(void)
{
    static const struct {
        const char *name, *check;
    } rows[] = {{"bash", "bash -n"}, {"zsh", "zsh -n"}, {"fish", "fish --no-execute"}};
    char line[600];
    for (size_t i = 0; cli_binary() && i < ARRAY_COUNT(rows); i++) {
        snprintf(line, sizeof line,
                 "command -v %s > /dev/null || exit 0; t=$(mktemp) && %s help %s > $t && %s $t; r=$?; rm -f $t; exit $r",
                 rows[i].name, cli_binary(), rows[i].name, rows[i].check);
        CHECK(system(line) == 0, "%s", rows[i].name);
    }
}

static const struct suite_test tests[] = {
    {"manual pages have all options", test_manual_pages},
    {"bash completes", test_bash_completes},
    {"zsh and fish have all options", test_zsh_and_fish_have_all_options},
    {"shells read their completion", test_shells_parse},
};
SUITE_MAIN("installed pages", tests)
