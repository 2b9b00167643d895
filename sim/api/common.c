#include "sim/api/common.h"

#include "sim/db/db.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct orchard_option api_common_options[] = {
    {"chip", 'c', "ID[,ID...]", false, "chips, by id or alias (orchard chips), or all; default m1"},
    {"set", 's', "KEY=VALUE", true, "suppose another value of a chip's key (orchard chips show ID)"},
    {"db", 0, "FILE", false, "performance database; default $ORCHARD_DB, else the XDG data folder"},
    {"json", 0, NULL, false, "one JSON document on standard output"},
    {"threads", 0, "N", false, "host threads; default all processors"},
    {"seed", 0, "N", false, "seed of everything random; default 1"},
    {"quiet", 'q', NULL, false, "no remarks on standard error"},
    {0},
};

char *api_default_db(void)
{
    const char *const given = getenv("ORCHARD_DB");
    return given && given[0] ? strdup(given) : db_default_path();
}

static bool read_sets(struct api_common *common, const struct api_args *args, struct orch_error *error)
{
    common->set_count = api_count(args, "set");
    const char **sets = calloc(common->set_count + 2, sizeof *sets);
    const char *const memory = api_value(args, "memory");
    if (!sets)
        return orch_no_memory(error);
    for (size_t i = 0; i < common->set_count; i++)
        sets[i] = api_value_at(args, "set", i);
    common->sets = sets;
    /* The size decides the density of the DRAM as well; what is no number is refused by who reads the option. */
    if (memory && *memory && strlen(memory) < 6 && strspn(memory, "0123456789") == strlen(memory)) {
        snprintf(common->memory_set, sizeof common->memory_set, "memory_GB=%s", memory);
        sets[common->set_count++] = common->memory_set;
    }
    return true;
}

bool api_common_read(struct api_common *common, const struct api_args *args, struct orch_error *error)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t threads = processors > 1024 ? 1024 : processors > 0 ? (uint64_t)processors : 1;
    *common = (struct api_common){.seed = 1};
    common->chips_given = api_has(args, "chip");
    common->chips = common->chips_given ? api_value(args, "chip") : "m1";
    common->json = api_has(args, "json");
    common->csv = api_has(args, "csv");
    if (common->csv && common->json)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("csv") " and " ORCH_OPTION("json") ": one of them");
    common->quiet = api_has(args, "quiet");
    common->seed_given = api_has(args, "seed");
    if (!read_sets(common, args, error) || !api_unsigned(args, "threads", 1, 1024, &threads, error) ||
        !api_unsigned(args, "seed", 0, UINT64_MAX, &common->seed, error))
        return false;
    common->threads = (unsigned)threads;
    const char *db = api_value(args, "db");
    common->db = db ? strdup(db) : api_default_db();
    return common->db || orch_no_memory(error);
}

void api_common_free(struct api_common *common)
{
    free((void *)common->sets);
    free(common->db);
    free(common->all_chips);
    *common = (struct api_common){0};
}
