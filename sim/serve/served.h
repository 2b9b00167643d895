/* What is served: models on units of one chip, in a machine whose clock is that of the host. Values are computed by the kernels
 * of the unit; times and joules are those of `run` at detail op for the same shapes. One piece of work is computed at a time. */
#ifndef ORCHARD_SIM_SERVE_SERVED_H
#define ORCHARD_SIM_SERVE_SERVED_H

#include "sim/language/tokenizer.h"
#include "sim/language/vocabulary_beside.h"
#include "sim/load/load_heat.h"
#include "sim/load/model_entry.h"
#include "sim/network/graph/graph.h"
#include "sim/run/language/language_model.h"
#include "sim/run/language/language_options.h"
#include "sim/run/run.h"

#include <stdio.h>

enum { SERVED_MODELS = 16 };

/* Simulated costs of one answer. */
struct served_cost {
    double seconds, joules;                /* of the request's own work; joules NAN = not known */
    double prompt_seconds, tokens_seconds; /* language models */
    double celsius;                        /* of the die, mean; NAN = there is no machine */
};

/* Cumulative, as Triton's statistics and Prometheus' counters want them. */
struct served_counts {
    uint64_t requests, failures, samples, executions;
    uint64_t prompt_tokens, tokens;
    double seconds, joules, prompt_seconds, tokens_seconds; /* simulated */
    double failed_host_s, host_s;
    int64_t last_ms; /* since 1970; 0 = never */
};

struct served_model {
    struct model_entry entry;
    char unit[8], precision[16];
    enum orch_part part;
    bool language;
    struct net_model *network;            /* as imported, for names, types and shapes; NULL = a language model */
    struct net_model *shown;              /* the same with the shapes of outputs, as far as they are known; NULL = they are not */
    struct language_model tokens;         /* of language models: tokenizer and shape */
    struct vocabulary_beside *vocabulary; /* of encoders of texts; NULL = something else */
    unsigned most;                        /* samples of a request; 0 = shapes are literal */
    struct served_counts counts;          /* under the lock of `served` */
    struct served_shape *shape;           /* shapes that were asked for lately */
    unsigned shapes;
};

struct served;

struct served_setup {
    struct run_request run; /* chip, precision, kernels, source of known timings, seed, threads */
    const char *unit;       /* cpu, amx, gpu, ane, auto */
    const char *const *model;
    size_t models;
    const struct chip_db *db;
    struct chip_overrides overrides;
    const struct device *machine; /* NULL = none */
    double ambient_c;             /* NAN = the machine's */
    bool low_power;
};

struct served *served_open(const struct served_setup *setup, struct orch_error *error);
void served_close(struct served *served);

const struct served_setup *served_setup(const struct served *served);
size_t served_count(const struct served *served);
struct served_model *served_at(struct served *served, size_t index);
/* NULL when there is none of that name. */
struct served_model *served_find(struct served *served, const char *name);
struct served_counts served_counts(struct served *served, const struct served_model *model);
void served_count_failure(struct served *served, struct served_model *model);

/* Computes a network: inputs by place of the graph, outputs to be released by the caller. `samples` are counted. */
bool served_infer(struct served *served, struct served_model *model, struct net_array *const *input, struct net_array **output,
                  unsigned samples, struct served_cost *cost, struct orch_error *error);

/* Goes on with a text. Pieces of what is generated go to `piece` as they come; *text (malloc) is the whole. */
struct served_generation {
    const char *prompt;
    bool special; /* what is written like a control token counts as that token */
    unsigned generate;
    struct sampler_params sampling;
    uint64_t seed;
    const char *stop[LANGUAGE_STOPS]; /* texts that end it */
    unsigned stops;
    void (*piece)(void *context, const char *bytes, size_t size); /* NULL = not wanted */
    void *context;

    /* Filled in. */
    char *text;
    size_t length;
    unsigned prompt_tokens, tokens;
    bool ended;            /* the model or a word ended it, rather than the count */
    const char *stop_word; /* of `stop`; NULL = none */
    struct served_cost cost;
};
bool served_generate(struct served *served, struct served_model *model, struct served_generation *generation,
                     struct orch_error *error);

/* The machine now: what happened since the last look becomes heat. */
struct served_machine {
    bool known;
    double watts, joules, celsius, hottest_c, clock_share, throttled_s;
    enum thermal_pressure pressure;
    double busy_s[PART_COUNT]; /* simulated, since the start */
    double dram_bytes;
    double up_s; /* of the host */
};
struct served_machine served_machine_now(struct served *served);

#endif
