/* Shared by the files of replay; not for others. */
#ifndef ORCHARD_SIM_TRACE_REPLAY_INTERNAL_H
#define ORCHARD_SIM_TRACE_REPLAY_INTERNAL_H

#include "sim/trace/trace_replay.h"
#include "sim/trace/trace_survey.h"
#include "traces/trace_read.h"

/* ---- replay_again.c: as it was ---- */

/* Can it be run again as it was? */
bool replay_again_fits(const struct trace_survey *survey);
bool replay_again(const struct trace_replay_request *request, struct event_bus *bus, uint64_t number, struct run_result *result,
                  struct orch_error *error);

/* ---- replay_cost.c: what a launch costs on the target ---- */

enum replay_work { REPLAY_KERNEL, REPLAY_ESTIMATE, REPLAY_NONE };

struct replay_cost {
    enum replay_work work;
    enum orch_part part;
    double busy_ns, overhead_ns;
    double low, high; /* 90 % interval, relative to the time */
    double dram_bytes, macs, flops, joules;
};

struct replay_costs;
struct replay_costs *replay_costs_create(const struct trace_replay_request *request, struct orch_error *error);
void replay_costs_free(struct replay_costs *costs);
bool replay_cost_of(struct replay_costs *costs, const struct trace_launch *launch, struct replay_cost *cost,
                    struct orch_error *error);
uint64_t replay_costs_distinct(const struct replay_costs *costs);
const char *replay_costs_missing(const struct replay_costs *costs);
/* Assumptions of the answers so far, each once. */
bool replay_costs_assumptions(const struct replay_costs *costs, struct run_assumptions *to);

/* ---- replay_queue.c: who runs when ---- */

struct replay_launch {
    uint64_t op;
    struct replay_cost cost;
    unsigned stream;
    double submit_ns;
    const uint64_t *after;
    size_t after_count;
    char *name; /* kept for the event; NULL = not told. Owned by the queue once added */
};

/* What became of one. */
struct replay_done {
    uint64_t op;
    const struct replay_cost *cost;
    const char *name;
    double submit_ns, start_ns, end_ns;
};
typedef void replay_on_done(void *context, const struct replay_done *done);

struct replay_queue;
struct replay_queue *replay_queue_create(double dram_gbps, replay_on_done *on_done, void *context);
void replay_queue_free(struct replay_queue *queue);
/* Launches come in rising order of operators. False without memory or with too many streams. */
bool replay_queue_add(struct replay_queue *queue, const struct replay_launch *launch, struct orch_error *error);
/* Runs until there is room for another launch (or, at the end, until all are done). */
bool replay_queue_make_room(struct replay_queue *queue, uint64_t next_op, bool all, struct orch_error *error);
double replay_queue_now(const struct replay_queue *queue);
double replay_queue_busy_ns(const struct replay_queue *queue, enum orch_part part); /* of the unit, any of its streams */
double replay_queue_lost_ns(const struct replay_queue *queue);                      /* that launches waited for DRAM together */

#endif
