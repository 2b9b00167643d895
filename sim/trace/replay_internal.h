/* Shared by the files of the replay only. */
#ifndef ORCHARD_SIM_TRACE_REPLAY_INTERNAL_H
#define ORCHARD_SIM_TRACE_REPLAY_INTERNAL_H

#include "sim/trace/trace_replay.h"
#include "sim/trace/trace_survey.h"
#include "traces/trace_read.h"

/* ---- replay_again.c: as it was ---- */

/* Whether the trace can be replayed by running its workloads again. */
bool replay_again_fits(const struct trace_survey *survey);
bool replay_again(const struct trace_replay_request *request, struct event_bus *bus, uint64_t number, struct run_result *result,
                  struct orch_error *error);

/* ---- replay_cost.c: what a launch costs on the target ---- */

enum replay_work { REPLAY_KERNEL, REPLAY_ESTIMATE, REPLAY_NONE };

struct replay_cost {
    enum replay_work work;
    enum orch_part part;
    double busy_ns, overhead_ns;
    double low, high; /* 90 % interval, relative to busy_ns */
    double dram_bytes, macs, flops, joules;
};

struct replay_costs;
struct replay_costs *replay_costs_create(const struct trace_replay_request *request, struct orch_error *error);
void replay_costs_free(struct replay_costs *costs);
bool replay_cost_of(struct replay_costs *costs, const struct trace_launch *launch, struct replay_cost *cost,
                    struct orch_error *error);
uint64_t replay_costs_distinct(const struct replay_costs *costs);
const char *replay_costs_missing(const struct replay_costs *costs);
/* Appends the assumptions behind the answers so far, each once. */
bool replay_costs_assumptions(const struct replay_costs *costs, struct run_assumptions *to);

/* ---- replay_queue.c: who runs when ---- */

struct replay_launch {
    uint64_t op;
    struct replay_cost cost;
    unsigned stream;
    double submit_ns;
    const uint64_t *after;
    size_t after_count;
    char *name; /* for the event; NULL = none. The queue owns it once the launch is added */
};

/* Reports a launch that is done. */
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
/* Launches have to be added in rising order of operators. False when memory is out or there are too many streams. */
bool replay_queue_add(struct replay_queue *queue, const struct replay_launch *launch, struct orch_error *error);
/* Advances time until another launch fits in (or, at the end, until all are done). */
bool replay_queue_make_room(struct replay_queue *queue, uint64_t next_op, bool all, struct orch_error *error);
double replay_queue_now(const struct replay_queue *queue);
/* Time during which the unit was busy, summed over its streams. */
double replay_queue_busy_ns(const struct replay_queue *queue, enum orch_part part);
double replay_queue_lost_ns(
    const struct replay_queue *queue); /* Time that launches lost to each other while sharing DRAM bandwidth. */

#endif
