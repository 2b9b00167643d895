/* Tuning: which of a kernel's variants, on which unit, is the best on a chip. Every variant is timed (GPU: sampled) by a study;
 * those that beat the library's own rule are executed, too, and must give its results within the element type's tolerance.
 */
#ifndef ORCHARD_SIM_ASK_TUNE_TUNE_H
#define ORCHARD_SIM_ASK_TUNE_TUNE_H

#include "sim/chip/chip.h"
#include "sim/ask/tune/choice.h"

enum tune_goal { TUNE_SECONDS, TUNE_JOULES };

struct tune_request {
    const struct chip_db *chips;
    struct chip_overrides sets;
    const char *chip; /* id */
    const char *workload;
    const char *unit;      /* NULL = every unit whose library has the kernel: placement is a choice, too */
    const char *precision; /* NULL = the unit's usual one */
    enum tune_goal goal;
    size_t most; /* variants of a unit; more are refused */
    uint64_t seed;
    void (*tried)(void *context, size_t number, size_t count); /* may be NULL */
    void *context;
};

enum tune_state {
    TUNE_TIMED,   /* not better than the library's own rule: its results were not looked at */
    TUNE_CHECKED, /* better, and its results are right */
    TUNE_WRONG,   /* better, but its results are not */
    TUNE_REFUSED, /* the library or the chip refuses it; why */
};

struct tune_trial {
    struct tune_variant variant;
    const char *unit;
    enum tune_state state;
    bool own_rule; /* the library's own choice on this unit */
    double seconds, joules;
    double error; /* checked: largest difference of an output, of the largest magnitude in it; 0 = the same bits */
    char why[160];
};

struct tune_result {
    struct tune_trial *trial; /* in the order they were tried */
    size_t count;
    size_t usual, best; /* the library's own rule where the request would run without tuning; the best of the right ones */
    double tolerance;
};
/* ORCH_USAGE when no unit has the kernel, or the request is wrong. */
bool tune_run(const struct tune_request *request, struct tune_result *result, struct orch_error *error);
void tune_free(struct tune_result *result);

/* Largest difference between the outputs of two variants on a unit, relative to the largest magnitude; 0 = bits are equal.
 * What differs though it is no number gives INFINITY. */
bool tune_difference(const struct tune_request *request, const char *unit, const struct tune_variant *a,
                     const struct tune_variant *b, double *difference, struct orch_error *error);
/* What `orchard model check` grants the element type. */
double tune_tolerance(const char *unit, const char *precision);

/* The entry of a fitted set (study/fitted.h) that this result means, as an object the caller puts, and its place in the set's
 * body: an entry for the same request is replaced. body may be NULL. */
struct json_object *tune_entry(const struct tune_request *request, const struct tune_result *result);
struct json_object *tune_body_with(const char *body, struct json_object *entry);

#endif
