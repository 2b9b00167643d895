/* Serving models under load: requests arrive, wait, are batched, and run on the instances of a chip's units. Nothing here knows
 * how long a batch takes: that is asked for (service.h has the answers of the units).
 *
 * An instance submits its batch, which leaves the unit free for others, and then has the unit for itself; of instances that want
 * the same unit the one that has waited longest is next. Language models have sequences: a prompt is one piece of work and each
 * token of all sequences of an instance another, between which sequences may join (continuous batching).
 */
#ifndef ORCHARD_SIM_LOAD_LOAD_H
#define ORCHARD_SIM_LOAD_LOAD_H

#include "sim/base/run_result.h"
#include "sim/load/arrivals.h"
#include "sim/load/batcher.h"
#include "sim/machine/power/profile.h"

enum { LOAD_MODELS = 8, LOAD_GROUPS = 16, LOAD_INSTANCES = 64, LOAD_WINDOWS = 240 };

struct load_work {
    enum { LOAD_BATCH, LOAD_PROMPT, LOAD_STEP } kind;
    unsigned samples; /* of a batch; sequences of a step; prompts that are read together */
    double tokens;    /* of a prompt, or in the cache of a sequence, in the mean */
};
struct load_cost {
    double overhead_s;            /* submission and completion */
    double device_s;              /* at work, at the clocks of the profile */
    double joules;                /* beyond those of a chip without work; NAN = not known */
    struct power_profile profile; /* of overhead and work together; seconds 0 = there is none */
};
typedef void load_cost_of(const void *context, const struct load_work *work, struct load_cost *cost);

struct load_model {
    const char *name;
    bool language, continuous;
    struct batch_rule rule; /* of a language model, `most` sequences */
    unsigned prompt, generate;
    double share; /* of the requests that name no model */
};
struct load_group {
    unsigned model, count;
    enum orch_part part;
    load_cost_of *cost;
    const void *context;
};

/* MLPerf's scenarios (mlcommons/inference, loadgen/test_settings.h): one sample after another; queries of eight samples one after
 * another; random arrivals; everything at once. */
enum load_scenario { LOAD_OPEN, LOAD_SINGLE_STREAM, LOAD_MULTI_STREAM, LOAD_OFFLINE };
enum { LOAD_MULTI_SAMPLES = 8 };

struct load_heat;

struct load_setup {
    struct load_model model[LOAD_MODELS];
    unsigned models;
    struct load_group group[LOAD_GROUPS]; /* of a model, those that come first are used first */
    unsigned groups;
    unsigned unit[PART_COUNT]; /* pieces of work that a unit does at a time: engines, blocks, cores */
    enum load_scenario scenario;
    const struct arrivals *arrivals; /* of open load */
    uint64_t requests;               /* offline: samples; else 0 */
    double duration_s;               /* requests come until then, and what is not done then stays undone; offline: ignored */
    uint64_t seed;
    double idle_w;          /* of the chip without work; NAN = not known */
    struct load_heat *heat; /* clocks and heat of a machine; NULL = clocks stay as they are */
};

/* Latencies of a model's requests, in no order until load_percentile has been asked. */
struct load_times {
    float *item;
    size_t count, room;
    bool sorted;
};
struct load_model_result {
    uint64_t arrived, done, rejected, waiting; /* requests; waiting = neither done nor rejected at the end */
    uint64_t samples, batches, tokens;         /* done: samples or sequences; batches or steps; tokens generated */
    double queued_s;                           /* sum over requests that began */
    uint64_t began;
    struct load_times latency, first_token, each_token; /* the last two of language models */
    uint64_t *by_size;                                  /* [samples of a batch]; the last is rule.most */
    unsigned most;
};

/* A part of the time: means over it, or counts in it. */
struct load_window {
    double begin_s, seconds;
    uint64_t arrived, done, batches, samples;
    double waiting; /* requests in queues, mean over the time */
    double latency_sum_s, latency_most_s;
    double busy[PART_COUNT];            /* share of the unit's time */
    double watts, celsius, clock_share; /* NAN without heat */
};

struct load_result {
    double seconds;
    struct load_model_result model[LOAD_MODELS];
    unsigned models;
    double busy_s[PART_COUNT];
    double joules;  /* NAN = not known */
    double waiting; /* requests in queues, mean over the time */
    uint64_t waiting_most;
    struct load_window window[LOAD_WINDOWS];
    unsigned windows;
};

/* Free the result in any case. */
bool load_run(const struct load_setup *setup, struct load_result *result, struct orch_error *error);
void load_result_free(struct load_result *result);

/* As MLPerf's loadgen has it: the element at the place floor(count * share) of the sorted times. NAN when there is none. */
double load_percentile(struct load_times *times, double share);
double load_mean(const struct load_times *times);
bool load_times_add(struct load_times *times, double seconds);

#endif
