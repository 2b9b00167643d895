/* The array's time as seen by several cores. Work is booked into buckets of AMX_SHARE_SPAN: a core that runs late may still use
 * what is left of an earlier bucket, and no order of calls can book more work than the array does. Inside a bucket the order of
 * cores is not resolved. A single core never gets here.
 */
#include "units/amx/amx_timing_state.h"

#include <string.h>

/* Returns NULL for a bucket so old that its record has been reused. */
static int64_t *bucket_of(struct amx_block *block, uint64_t number)
{
    const unsigned slot = number % AMX_SHARE_BUCKETS;
    if (block->share_number[slot] > number)
        return NULL;
    if (block->share_number[slot] < number) {
        block->share_number[slot] = number;
        block->share_used[slot] = 0;
    }
    return &block->share_used[slot];
}

int64_t amx_share_take(struct amx_block *block, int64_t start, int64_t work)
{
    const uint64_t wanted = start > 0 ? (uint64_t)(start / AMX_SHARE_SPAN) : 0;
    for (uint64_t number = wanted;; number++) {
        int64_t *used = bucket_of(block, number);
        if (used && *used + work > AMX_SHARE_SPAN && *used > 0)
            continue;
        if (used)
            *used += work;
        return number == wanted ? start : amx_later(start, (int64_t)number * AMX_SHARE_SPAN);
    }
}

void amx_share_forget(struct amx_block *block)
{
    memset(block->share_used, 0, sizeof block->share_used);
    memset(block->share_number, 0, sizeof block->share_number);
}
