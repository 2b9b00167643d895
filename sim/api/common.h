/* Options that every verb takes, before or after it, and what is made of them. */
#ifndef ORCHARD_SIM_API_COMMON_H
#define ORCHARD_SIM_API_COMMON_H

#include "sim/api/options.h"

extern const struct cli_option cli_common_options[];

struct cli_common {
    const char *chips; /* text of --chip, "m1" when not given */
    bool chips_given;
    const char *const *sets; /* texts of --set, in order */
    size_t set_count;
    char *db; /* path of the performance database */
    bool json, quiet, color, help, version;
    unsigned threads; /* 1 .. 1024; online processors when not given */
    uint64_t seed;    /* 1 when not given */
    bool seed_given;
};

/* Reads the common options out of what was given; free with cli_common_free. `out_is_terminal` decides on colour. */
bool cli_common_read(struct cli_common *common, const struct cli_args *args, bool out_is_terminal, struct orch_error *error);
void cli_common_free(struct cli_common *common);

/* $ORCHARD_DB, else orchard/orchard.db in the XDG data folder; NULL when memory is out. Caller frees. */
char *cli_default_db(void);

#endif
