/* The time of the array and of the paths of loads and stores as seen by several cores. Work is booked into buckets of
 * AMX_SHARE_SPAN: a core that runs late may still use what is left of an earlier bucket, and no order of calls can book more work
 * than is done. Inside a bucket the order of cores is not resolved. A single core never gets here.
 */
#include "units/amx/amx_timing_state.h"

#include <math.h>
#include <string.h>

void amx_share_prepare(struct amx_block *block)
{
    const double power = block->params.array_turn_power;
    for (unsigned i = 0; i <= AMX_TURN_STEPS; i++)
        block->turn_wait[i] = power > 0 ? (int64_t)(pow((double)i / AMX_TURN_STEPS, power) * AMX_TURN_ONE + 0.5) : 0;
}

/* Returns NULL for a bucket so old that its record has been reused. */
static int64_t *bucket_of(struct amx_calendar *calendar, uint64_t number)
{
    const unsigned slot = number % AMX_SHARE_BUCKETS;
    if (calendar->number[slot] > number)
        return NULL;
    if (calendar->number[slot] < number) {
        calendar->number[slot] = number;
        calendar->used[slot] = 0;
    }
    return &calendar->used[slot];
}

/* What an instruction waits for the turns of the other cores. Their instructions meet more often the busier the array is: by how
 * busy it was in the bucket before, which does not depend on the order of calls in this one. A core without an instruction in the
 * pipeline goes first: four dependent chains of four cores fill the array of M1 Max without loss (amx-rs, 1.50 ns on each of
 * eight cores), while two cores with two chains each lose 9 to 20 % (corsix/amx). */
static int64_t wait_for_turn(const struct amx_block *block, const struct amx_timing_core *core, int64_t start, int64_t work)
{
    const struct amx_calendar *const calendar = &block->array_time;
    const uint64_t number = start > 0 ? (uint64_t)(start / AMX_SHARE_SPAN) : 0;
    const unsigned slot = (number + AMX_SHARE_BUCKETS - 1) % AMX_SHARE_BUCKETS;
    if (number == 0 || calendar->number[slot] + 1 != number || start - core->shared >= block->ticks.z_latency)
        return 0;
    const int64_t busy = calendar->used[slot] * AMX_TURN_STEPS / AMX_SHARE_SPAN;
    return work * (block->computing - 1) * block->turn_wait[busy < AMX_TURN_STEPS ? busy : AMX_TURN_STEPS] / AMX_TURN_ONE;
}

static int64_t book(struct amx_calendar *calendar, int64_t start, int64_t work)
{
    const uint64_t wanted = start > 0 ? (uint64_t)(start / AMX_SHARE_SPAN) : 0;
    for (uint64_t number = wanted;; number++) {
        int64_t *used = bucket_of(calendar, number);
        if (used && *used + work > AMX_SHARE_SPAN && *used > 0)
            continue;
        if (used)
            *used += work;
        return number == wanted ? start : amx_later(start, (int64_t)number * AMX_SHARE_SPAN);
    }
}

int64_t amx_share_take(struct amx_block *block, struct amx_timing_core *core, int64_t start, int64_t work)
{
    return core->shared = book(&block->array_time, start + wait_for_turn(block, core, start, work), work);
}

int64_t amx_share_take_store(struct amx_block *block, int64_t start, int64_t work)
{
    return book(&block->store_time, start, work);
}

int64_t amx_share_take_load(struct amx_block *block, int64_t start, int64_t work)
{
    return book(&block->load_time, start, work);
}

int64_t amx_share_take_request(struct amx_block *block, int64_t start, int64_t work)
{
    return book(&block->request_time, start, work);
}

void amx_share_forget(struct amx_block *block)
{
    memset(&block->array_time, 0, sizeof block->array_time);
    memset(&block->load_time, 0, sizeof block->load_time);
    memset(&block->request_time, 0, sizeof block->request_time);
    memset(&block->store_time, 0, sizeof block->store_time);
}
