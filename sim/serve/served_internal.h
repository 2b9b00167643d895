/* Shared by the files of what is served. */
#ifndef ORCHARD_SIM_SERVE_SERVED_INTERNAL_H
#define ORCHARD_SIM_SERVE_SERVED_INTERNAL_H

#include "sim/load/load.h"
#include "sim/serve/served.h"

#include <pthread.h>

enum { SERVED_SHAPES = 8 };

/* A network with the shapes of a request: ready to run, and what it costs. */
struct served_shape {
    struct net_model *model;
    uint64_t key, used; /* used: the younger, the larger */
    double seconds, joules, dram_bytes;
    struct power_profile profile; /* seconds 0 = not known */
};

struct served {
    struct served_setup setup;
    struct served_model model[SERVED_MODELS];
    size_t models;
    pthread_mutex_t lock; /* of counts */
    pthread_mutex_t machine_lock;
    struct load_heat *heat;
    double began_s, stepped_s, last_w;
    double busy_s[PART_COUNT], dram_bytes;
    uint64_t uses;
};

void served_shapes_free(struct served_model *model);
void served_add_counts(struct served *served, struct served_model *model, const struct served_counts *more);
/* The unit did so much; returns the temperature of the die, NAN without a machine. */
double served_machine_add(struct served *served, enum orch_part part, const struct power_profile *profile, double seconds,
                          double bytes);

#endif
