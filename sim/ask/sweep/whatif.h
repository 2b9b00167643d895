/* What would have to change to reach a goal: the smallest change of one key alone, and of all keys together.
 *
 * The size of a change is the sum over the keys of |log(new / present)|, or of |new - present| / range where a value is not
 * positive. Every answer that is returned was simulated. Deterministic.
 */
#ifndef ORCHARD_SIM_ASK_SWEEP_WHATIF_H
#define ORCHARD_SIM_ASK_SWEEP_WHATIF_H

#include "sim/ask/study/study.h"
#include "sim/ask/sweep/sweep_spec.h"

enum { WHATIF_GOALS_MAX = 8 };

enum whatif_relation { WHATIF_LESS, WHATIF_AT_MOST, WHATIF_MORE, WHATIF_AT_LEAST };

/* "seconds<0.01", "utilisation.dram>=0.5", "joules_by.gpu<2e-3", "counters.NAME>1", "stalls.NAME<0.1". */
struct whatif_goal {
    char field[64];
    enum whatif_relation relation;
    double bound;
};
bool whatif_goal_parse(const char *text, struct whatif_goal *goal, struct orch_error *error);

struct whatif_question {
    const struct sweep_spec *spec; /* one workload, base, keys that are ranges */
    const struct whatif_goal *goal;
    size_t goals;
    void (*tell)(void *context, size_t simulated); /* after each point; may be NULL */
    void *context;
};

struct whatif_point {
    bool done;                    /* simulated; otherwise `error` says why not */
    double value[SWEEP_KEYS_MAX]; /* by spec->key */
    double field[WHATIF_GOALS_MAX];
    double change;
    bool reached;
    char error[160];
};

struct whatif_answer {
    struct whatif_point present;
    /* By key: the least change that reaches the goals, or else the best point found. */
    struct whatif_point single[SWEEP_KEYS_MAX];
    struct whatif_point joint; /* the least change over all keys; equals `present` when that reaches the goals */
    size_t simulated;          /* number of points simulated */
};

/* False for wrong use (a key without a present value, a goal about a number that no run has) and when the machinery failed. */
bool whatif_search(struct study *study, const struct chip_db *chips, const struct whatif_question *question,
                   struct whatif_answer *answer, struct orch_error *error);

#endif
