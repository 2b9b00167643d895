/* Options that every verb takes, and what is made of them. */
#ifndef ORCHARD_SIM_API_COMMON_H
#define ORCHARD_SIM_API_COMMON_H

#include "sim/api/args.h"

extern const struct orchard_option api_common_options[];

struct api_common {
    const char *chips; /* text of "chip", "m1" when not given */
    char *all_chips;   /* what "all" stands for; else NULL */
    bool chips_given;
    const char *const *sets; /* texts of "set", in order, and the memory that was asked for */
    char memory_set[32];
    size_t set_count;
    char *db; /* path of the performance database */
    bool json, quiet, color;
    bool csv;         /* of verbs that have the option */
    unsigned threads; /* 1 .. 1024; online processors when not given */
    uint64_t seed;    /* 1 when not given */
    bool seed_given;
};

/* Reads the common options out of what was given; free with api_common_free. */
bool api_common_read(struct api_common *common, const struct api_args *args, struct orch_error *error);
void api_common_free(struct api_common *common);

/* $ORCHARD_DB, else orchard/orchard.db in the XDG data folder; NULL when memory is out. Caller frees. */
char *api_default_db(void);

#endif
