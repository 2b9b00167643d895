#include "sim/api/common.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct cli_option cli_common_options[] = {
    {"chip", 'c', "ID[,ID...]", false, "chips, by id or alias (orchard chips); default m1"},
    {"set", 's', "KEY=VALUE", true, "suppose another value of a chip's key (orchard chips show ID)"},
    {"db", 0, "FILE", false, "performance database; default $ORCHARD_DB, else the XDG data folder"},
    {"json", 0, NULL, false, "one JSON document on standard output"},
    {"threads", 0, "N", false, "host threads; default all processors"},
    {"seed", 0, "N", false, "seed of everything random; default 1"},
    {"quiet", 'q', NULL, false, "no remarks on standard error"},
    {"no-color", 0, NULL, false, "no colour (also NO_COLOR)"},
    {"help", 'h', NULL, false, "this help"},
    {"version", 0, NULL, false, "print the version"},
    {0},
};

char *cli_default_db(void)
{
    const char *given = getenv("ORCHARD_DB"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    char path[4096];
    if (given && given[0])
        snprintf(path, sizeof path, "%s", given);
    else if (data && data[0] == '/') /* relative paths are to be ignored, says the XDG specification */
        snprintf(path, sizeof path, "%s/orchard/orchard.db", data);
    else if (home && home[0])
        snprintf(path, sizeof path, "%s/.local/share/orchard/orchard.db", home);
    else
        snprintf(path, sizeof path, "orchard.db");
    return strdup(path);
}

static bool want_color(const struct cli_args *args, bool out_is_terminal)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return out_is_terminal && !cli_has(args, "no-color") && !(no_color && no_color[0]) && !(term && strcmp(term, "dumb") == 0);
}

static bool read_sets(struct cli_common *common, const struct cli_args *args, struct orch_error *error)
{
    common->set_count = cli_count(args, "set");
    const char **sets = calloc(common->set_count + 1, sizeof *sets);
    if (!sets)
        return orch_no_memory(error);
    for (size_t i = 0; i < common->set_count; i++)
        sets[i] = cli_value_at(args, "set", i);
    common->sets = sets;
    return true;
}

bool cli_common_read(struct cli_common *common, const struct cli_args *args, bool out_is_terminal, struct orch_error *error)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t threads = processors > 1024 ? 1024 : processors > 0 ? (uint64_t)processors : 1;
    *common = (struct cli_common){.seed = 1};
    common->chips_given = cli_has(args, "chip");
    common->chips = common->chips_given ? cli_value(args, "chip") : "m1";
    common->json = cli_has(args, "json");
    common->quiet = cli_has(args, "quiet");
    common->help = cli_has(args, "help");
    common->version = cli_has(args, "version");
    common->color = want_color(args, out_is_terminal);
    common->seed_given = cli_has(args, "seed");
    if (!read_sets(common, args, error) || !cli_unsigned(args, "threads", 1, 1024, &threads, error) ||
        !cli_unsigned(args, "seed", 0, UINT64_MAX, &common->seed, error))
        return false;
    common->threads = (unsigned)threads;
    const char *db = cli_value(args, "db");
    common->db = db ? strdup(db) : cli_default_db();
    return common->db || orch_no_memory(error);
}

void cli_common_free(struct cli_common *common)
{
    free((void *)common->sets);
    free(common->db);
    *common = (struct cli_common){0};
}
