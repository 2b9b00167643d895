#include "sim/load/batcher.h"

#include <math.h>

bool batch_rule_is_sound(const struct batch_rule *rule, struct orch_error *error)
{
    if (rule->most < 1 || rule->most > BATCH_MOST)
        return orch_fail(error, ORCH_USAGE, "a batch of %u: batches hold 1 to %d samples", rule->most, BATCH_MOST);
    for (unsigned i = 0; i < rule->preferences; i++) {
        if (rule->preferred[i] < 1 || rule->preferred[i] > rule->most)
            return orch_fail(error, ORCH_USAGE, "preferred batch size %u: batches hold 1 to %u samples", rule->preferred[i],
                             rule->most);
        if (i && rule->preferred[i] <= rule->preferred[i - 1])
            return orch_fail(error, ORCH_USAGE, "preferred batch size %u stands behind %u: sizes rise", rule->preferred[i],
                             rule->preferred[i - 1]);
    }
    if (!(rule->delay_s >= 0) || !isfinite(rule->delay_s) || !(rule->timeout_s >= 0))
        return orch_fail(error, ORCH_USAGE, "a queue delay and a timeout are 0 or more");
    return true;
}

static bool is_preferred(const struct batch_rule *rule, unsigned samples)
{
    for (unsigned i = 0; i < rule->preferences; i++)
        if (rule->preferred[i] == samples)
            return true;
    return rule->preferences == 0 && samples == rule->most;
}

struct batch_decision batch_decide(const struct batch_rule *rule, const struct batch_queue *queue)
{
    const unsigned largest = rule->preferences ? rule->preferred[rule->preferences - 1] : rule->most;
    struct batch_decision marked = {0}, all = {0};
    bool stopped = false;
    if (queue->waiting == 0)
        return (struct batch_decision){.wait_s = INFINITY};
    for (size_t i = 0; i < queue->waiting && !stopped; i++) {
        const unsigned next = queue->samples(queue->context, i);
        if (i && all.samples + next > largest && !marked.requests)
            marked = all;
        if (i && all.samples + next > rule->most) {
            stopped = true;
            break;
        }
        all.requests++;
        all.samples += next;
        if (is_preferred(rule, all.samples))
            marked = all;
        stopped = all.samples >= rule->most;
    }
    const bool waited = rule->delay_s <= 0 || queue->oldest_s >= rule->delay_s * (1 - 1e-12);
    if (marked.requests && (rule->delay_s <= 0 || !waited))
        return marked;
    if (stopped || all.samples >= largest || waited)
        return all;
    return (struct batch_decision){.wait_s = rule->delay_s - queue->oldest_s};
}
