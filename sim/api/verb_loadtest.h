/* Parts of the verb loadtest: what was asked, and what it shows. */
#ifndef ORCHARD_SIM_API_VERB_LOADTEST_H
#define ORCHARD_SIM_API_VERB_LOADTEST_H

#include "sim/api/api.h"
#include "sim/ask/study/known.h"
#include "sim/load/load.h"
#include "sim/load/load_heat.h"
#include "sim/load/model_entry.h"
#include "sim/load/service.h"
#include "sim/machine/device/device.h"
#include "sim/report/load_page.h"
#include "sim/run/run_timing.h"

enum { LOADTEST_RATES = 12 };

struct loadtest {
    struct api_context *context;
    const char *words; /* the models as asked */
    struct model_entry entry[LOAD_MODELS];
    const char *name[LOAD_MODELS];
    struct run_request request;
    const char *dims[16];
    struct load_setup setup;
    struct service service[LOAD_GROUPS];
    char unit[LOAD_GROUPS][8]; /* asked for, of each group */
    const char *arrivals_text;
    struct arrivals arrivals;
    bool server; /* MLPerf's server: the highest rate that keeps the limit, or whether a given one does */
    double limit_s, found_rate;
    bool missed; /* the limit, on some chip */
    unsigned shortest, longest, longest_prompt;
    struct load_heat_setup heat;
    struct device_list devices;
    struct load_heat_summary heated;
    struct load_result result;
    struct orch_db *db;
    struct known *known;
    struct run_known ask;
    struct load_rate rate[LOADTEST_RATES];
    unsigned rates;
    double host_seconds;
    const char *page;
};

/* verb_loadtest_ask.c: reads the options; services are opened with loadtest_services once the chip is there. */
bool loadtest_read(struct loadtest *t, struct orch_error *error);
bool loadtest_services(struct loadtest *t, const struct chip *chip, struct orch_error *error);
/* Samples a second that all instances could do with batches of the best size. */
double loadtest_capacity(const struct loadtest *t);

/* verb_loadtest_show.c */
bool loadtest_fill(const struct loadtest *t, struct run_result *r);
json_object *loadtest_json(struct loadtest *t, const struct run_result *r);
void loadtest_text(struct loadtest *t, const struct run_result *r);

extern const struct orchard_option loadtest_options[];

#endif
