/* What a model costs on a unit: asked of `run` at some batch sizes (or, of language models, some lengths), at detail op, so that
 * every number comes from kernels that were simulated. Between two sizes that were asked for, costs lie on the line between them.
 */
#ifndef ORCHARD_SIM_LOAD_SERVICE_H
#define ORCHARD_SIM_LOAD_SERVICE_H

#include "sim/load/load.h"
#include "sim/run/run.h"

enum { SERVICE_POINTS = 24, SERVICE_SEQUENCES = SERVICE_POINTS, SERVICE_LENGTHS = 4 };

struct service_setup {
    struct run_request run;     /* chip, unit, precision, source of known timings ...; workload and detail are set here */
    const char *workload;       /* a network, a kernel or a language model */
    const unsigned *preferred;  /* sizes that matter, besides powers of two */
    unsigned preferences, most; /* of a batch, or sequences */
    unsigned shortest, longest; /* language models: tokens in the cache of a sequence, over all requests */
    unsigned longest_prompt;    /* of these, tokens of a prompt */
    bool together;              /* language models: all sequences begin at a time (static batches) */
    const struct chip_db *db;   /* with the overrides that the chip was opened with, to simulate at another clock; NULL = no */
    struct chip_overrides overrides; /* profiles are wanted */
    double idle_w;                   /* of the chip without work; NAN = not known */
};

/* A size that was simulated. */
struct service_point {
    unsigned size; /* samples, or tokens in the cache */
    double seconds, seconds_low, seconds_high, joules;
    struct load_cost cost; /* of a batch; of a step */
};
struct service {
    struct service_point point[SERVICE_POINTS];
    unsigned points;
    /* Language models: numbers of sequences that were simulated; their steps, and their prompts of so many tokens, by points.
     * Of sequences that begin one by one the first row of prompts is that of all. */
    unsigned sequences[SERVICE_SEQUENCES], sizes;
    struct load_cost step[SERVICE_SEQUENCES][SERVICE_LENGTHS], prompt[SERVICE_SEQUENCES][SERVICE_LENGTHS];
    bool language;
    char unit[8];
    char precision[16];
};

/* Whether the text names a language model. */
bool service_is_language(const char *workload);
/* The batch sizes that a network takes: false, with what to do, when its first dimension is fixed and `most` is another. */
bool service_open(const struct service_setup *setup, struct service *service, struct orch_error *error);
/* A load_cost_of: `context` is the service. */
void service_cost(const void *context, const struct load_work *work, struct load_cost *cost);

/* Watts of a chip on which nothing runs; NAN when its energy is not known. */
double service_idle_watts(const struct chip *chip);
/* Pieces of work that a unit of a chip does at a time: the Neural Engine and the GPU one, AMX one a block, CPU one a core. */
bool service_units(const struct chip *chip, unsigned unit[PART_COUNT], struct orch_error *error);

#endif
