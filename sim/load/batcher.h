/* The decision of a dynamic batcher, by the rule of Triton's (triton-inference-server/core, src/dynamic_batch_scheduler.cc,
 * GetDynamicBatch): the largest preferred size that the queue reaches, or everything when the oldest request has waited long
 * enough. A request is never split. */
#ifndef ORCHARD_SIM_LOAD_BATCHER_H
#define ORCHARD_SIM_LOAD_BATCHER_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { BATCH_PREFERRED = 16, BATCH_MOST = 4096 };

struct batch_rule {
    unsigned most;                       /* samples in a batch, at least 1 */
    unsigned preferred[BATCH_PREFERRED]; /* rising; none = `most` alone */
    unsigned preferences;
    double delay_s;   /* that the oldest request may wait for others; 0 = never wait */
    unsigned queue;   /* requests that may wait; 0 = any number */
    double timeout_s; /* after which a waiting request is turned away; 0 = never */
};

/* Sizes that contradict one another are refused, with the sizes in the text. */
bool batch_rule_is_sound(const struct batch_rule *rule, struct orch_error *error);

/* What waits, from the oldest on: `samples(context, i)` of request i. */
struct batch_queue {
    size_t waiting;
    double oldest_s; /* how long the first has waited */
    unsigned (*samples)(const void *context, size_t index);
    const void *context;
};
struct batch_decision {
    size_t requests; /* to be taken from the front; 0 = wait */
    unsigned samples;
    double wait_s; /* when nothing changes before; only when requests is 0 */
};
struct batch_decision batch_decide(const struct batch_rule *rule, const struct batch_queue *queue);

#endif
