/* A sweep as it is in the database, for those who show it.
 *
 *     struct sweep_data *data = sweep_open(db, "last", &error);       // id, name, beginning of the hash, or "last"
 *     for (size_t i = 0; i < data->point_count; i++) data->point[i].answer.response[SWEEP_seconds] ...
 *     struct sweep_effects effects;                                   // sim/ask/sweep/effects.h: main effects, tornado
 *     sweep_effects_of(data, workload, SWEEP_seconds, &effects, &error);
 *     size_t *front = ..., n = sweep_pareto(data, workload, ...);     // sim/ask/sweep/pareto.h
 *     sweep_close(data);
 *
 * Responses of different workloads say nothing about each other: everything goes workload by workload.
 */
#ifndef ORCHARD_SIM_ASK_SWEEP_SWEEP_READ_H
#define ORCHARD_SIM_ASK_SWEEP_SWEEP_READ_H

#include "sim/ask/sweep/sweep_answer.h"
#include "sim/ask/sweep/sweep_spec.h"

/* Besides the points of the design there are points for the tornado chart, which are always simulated: the base (chip keys as the
 * chip has them, other keys at their first value), and each key alone at its ends (numeric) or at each of its levels. */
enum sweep_role { SWEEP_POINT, SWEEP_BASE, SWEEP_ALONE };

struct sweep_point {
    uint64_t number;
    enum sweep_role role;
    size_t workload; /* index in spec->workload */
    size_t key;      /* SWEEP_ALONE: the key that differs from the base */
    double *value;   /* by spec->key: the number, or the index of the level for keys without numbers; NAN = as in the base */
    struct sweep_answer answer;
};

struct sweep_data {
    int64_t id;
    char hash[DB_HASH_SIZE], *version, *created;
    struct sweep_spec *spec;   /* name, workloads, keys with levels and ends, base, design */
    struct sweep_point *point; /* those done or failed, by number */
    size_t point_count;
    size_t done, failed, by_method[SWEEP_METHOD_COUNT]; /* points of the design only; spec->points were planned */
};

/* NULL with ORCH_USAGE when there is no such sweep. */
struct sweep_data *sweep_open(struct orch_db *db, const char *which, struct orch_error *error);
void sweep_close(struct sweep_data *data);
/* Writes "0.25" or the name of the level into `text`, which has at least 32 bytes; returns it. */
const char *sweep_value_text(const struct sweep_data *data, const struct sweep_point *point, size_t key, char *text, size_t size);
/* Whether a point belongs to the design and this workload, is done, and has this response. */
bool sweep_counts(const struct sweep_data *data, const struct sweep_point *point, size_t workload, enum sweep_response response);

#endif
