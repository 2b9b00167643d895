#include "sim/workload/cpu/core_phases.h"

#include <stdlib.h>
#include <string.h>

#define WHOLE 4096
/* Of 2 * WHOLE at most. Neighbouring pieces of a loop with branches differ by a tenth or so. */
#define ALIKE (WHOLE / 2)

/* By their place, which is the same on every core that runs the program; blocks are numbered by each core as it meets them. */
static unsigned bucket_of(uint64_t pc)
{
    return (unsigned)((pc >> 2) * UINT64_C(0x9E3779B97F4A7C15) >> 58);
}

void core_phases_note(struct core_phases *p, const struct cpu_trace *trace)
{
    for (uint32_t i = 0; i < trace->blocks; i++) {
        const struct cpu_block *const block = trace->block[i];
        p->piece[bucket_of(block->pc)] += block->count;
    }
}

static unsigned distance(const uint16_t *a, const uint16_t *b)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < CORE_PHASE_BUCKETS; i++)
        sum += (unsigned)abs((int)a[i] - (int)b[i]);
    return sum;
}

unsigned core_phases_of(struct core_phases *p)
{
    uint16_t mix[CORE_PHASE_BUCKETS];
    uint64_t sum = 1;
    unsigned best = 0, least = 2 * WHOLE + 1;
    for (unsigned i = 0; i < CORE_PHASE_BUCKETS; i++)
        sum += p->piece[i];
    for (unsigned i = 0; i < CORE_PHASE_BUCKETS; i++)
        mix[i] = (uint16_t)((uint64_t)p->piece[i] * WHOLE / sum);
    memset(p->piece, 0, sizeof p->piece);
    for (unsigned n = 0; n < p->count && least > 0; n++) {
        const unsigned d = distance(p->mix[n], mix);
        if (d < least) {
            best = n;
            least = d;
        }
    }
    if (least <= ALIKE || p->count == CORE_PHASES)
        return best;
    memcpy(p->mix[p->count], mix, sizeof mix);
    return p->count++;
}
