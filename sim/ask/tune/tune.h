/* Tuning finds the best variant of a kernel on a chip, and the best unit for it. A study times every variant (sampled on the
 * GPU); those that beat the library's own rule are executed as well and must give its results within the tolerance of the element
 * type. */
#ifndef ORCHARD_SIM_ASK_TUNE_TUNE_H
#define ORCHARD_SIM_ASK_TUNE_TUNE_H

#include "sim/chip/chip.h"
#include "sim/ask/tune/choice.h"

enum tune_goal { TUNE_SECONDS, TUNE_JOULES };

struct tune_request {
    const struct chip_db *chips;
    struct chip_overrides sets;
    const char *chip; /* id of the chip */
    const char *workload;
    const char *unit;      /* NULL = every unit whose library has the kernel: placement is a choice, too */
    const char *precision; /* NULL = the usual precision of the unit */
    enum tune_goal goal;
    size_t most; /* most variants of a unit; requests with more are refused */
    uint64_t seed;
    void (*tried)(void *context, size_t number, size_t count); /* may be NULL */
    void *context;
};

enum tune_state {
    TUNE_TIMED,   /* not better than the library's own rule: results were not compared */
    TUNE_CHECKED, /* better, and with right results */
    TUNE_WRONG,   /* better, but with wrong results */
    TUNE_REFUSED, /* refused by the library or the chip; `why` says why */
};

struct tune_trial {
    struct tune_variant variant;
    const char *unit;
    enum tune_state state;
    bool own_rule; /* it is the library's own choice on this unit */
    double seconds, joules;
    double error; /* checked: largest difference of an output, relative to its largest magnitude; 0 = the same bits */
    char why[160];
};

struct tune_result {
    struct tune_trial *trial; /* in the order they were tried */
    size_t count;
    size_t usual,
        best; /* usual: the library's own rule where the request would run without tuning; best: the best with right results */
    double tolerance;
};
/* ORCH_USAGE when no unit has the kernel or the request is wrong. */
bool tune_run(const struct tune_request *request, struct tune_result *result, struct orch_error *error);
void tune_free(struct tune_result *result);

/* Largest difference between the outputs of two variants on a unit, relative to the largest magnitude; 0 when bits are equal,
 * INFINITY when values differ that are no numbers. */
bool tune_difference(const struct tune_request *request, const char *unit, const struct tune_variant *a,
                     const struct tune_variant *b, double *difference, struct orch_error *error);
/* The tolerance that `orchard model check` grants the element type. */
double tune_tolerance(const char *unit, const char *precision);

/* The entry of a fitted set (study/fitted.h) that this result stands for, as an object that the caller puts; and a set's body
 * with it, in which it replaces an entry for the same request. body may be NULL. */
struct json_object *tune_entry(const struct tune_request *request, const struct tune_result *result);
struct json_object *tune_body_with(const char *body, struct json_object *entry);

#endif
