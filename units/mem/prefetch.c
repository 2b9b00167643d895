#include "units/mem/prefetch.h"

#include <stdlib.h>
#include <string.h>

/* Without a program counter, demands this close together (in lines) belong to one stream. */
#define NEAR_LINES 16

bool mem_prefetch_init(struct mem_prefetcher *prefetcher, const struct mem_prefetch_params *params)
{
    memset(prefetcher, 0, sizeof *prefetcher);
    prefetcher->params = *params;
    if (params->streams == 0)
        return true;
    prefetcher->stream = calloc(params->streams, sizeof prefetcher->stream[0]);
    return prefetcher->stream != NULL;
}

void mem_prefetch_release(struct mem_prefetcher *prefetcher)
{
    free(prefetcher->stream);
    prefetcher->stream = NULL;
    prefetcher->params.streams = 0;
}

void mem_prefetch_clear(struct mem_prefetcher *prefetcher)
{
    if (prefetcher->params.streams)
        memset(prefetcher->stream, 0, prefetcher->params.streams * sizeof prefetcher->stream[0]);
}

/* Rates how well a stream fits a demand: 3 it was expected, 2 the same instruction, 1 close by, 0 not at all. */
static int fit(const struct mem_stream *s, uint64_t line, uint64_t pc)
{
    const int64_t delta = (int64_t)(line - s->last);
    if (s->used == 0)
        return 0;
    if (s->matches > 0 && delta == s->stride)
        return 3;
    if (pc != 0 && s->pc == pc)
        return 2;
    return delta >= -NEAR_LINES && delta <= NEAR_LINES ? 1 : 0;
}

static struct mem_stream *match(struct mem_prefetcher *prefetcher, uint64_t line, uint64_t pc, bool *fresh)
{
    struct mem_stream *best = NULL, *oldest = prefetcher->stream;
    int best_fit = 0;
    for (uint32_t i = 0; i < prefetcher->params.streams && best_fit < 3; i++) {
        struct mem_stream *s = &prefetcher->stream[i];
        const int f = fit(s, line, pc);
        if (f > best_fit) {
            best_fit = f;
            best = s;
        }
        if (s->used < oldest->used)
            oldest = s;
    }
    *fresh = best == NULL;
    return best ? best : oldest;
}

/* Advances the stream to `line`. Returns true once its stride has proved itself. */
static bool advance(struct mem_stream *s, uint64_t line, uint32_t train)
{
    const int64_t delta = (int64_t)(line - s->last);
    if (delta == 0)
        return false;
    s->last = line;
    if (delta == s->stride) {
        s->matches++;
        s->far = s->far > 0 ? s->far - 1 : 0;
        s->near = s->near > 0 ? s->near - 1 : 0;
    } else {
        s->stride = delta;
        s->matches = 0;
        s->far = s->near = 0;
    }
    return s->matches >= train && s->matches > 0;
}

bool mem_prefetch_observe(struct mem_prefetcher *prefetcher, uint64_t line, uint64_t pc, struct mem_prefetch_orders *orders,
                          uint32_t *stream)
{
    const struct mem_prefetch_params *p = &prefetcher->params;
    if (p->streams == 0)
        return false;
    bool fresh;
    struct mem_stream *s = match(prefetcher, line, pc, &fresh);
    s->used = ++prefetcher->clock;
    if (fresh) {
        *s = (struct mem_stream){.pc = pc, .last = line, .used = s->used};
        return false;
    }
    if (!advance(s, line, p->train))
        return false;
    const int64_t far = p->distance, near = p->l1_distance < p->distance ? p->l1_distance : p->distance;
    orders->base = line;
    orders->stride = s->stride;
    orders->far_first = s->far + 1;
    orders->far_count = (uint32_t)(far - s->far < (int64_t)p->degree ? far - s->far : (int64_t)p->degree);
    s->far += orders->far_count;
    orders->near_first = s->near + 1;
    /* Only lines already on their way to L2 can go on into L1. */
    const int64_t reach = near < s->far ? near : s->far;
    orders->near_count = reach > s->near ? (uint32_t)(reach - s->near) : 0;
    s->near += orders->near_count;
    *stream = (uint32_t)(s - prefetcher->stream);
    return orders->far_count + orders->near_count > 0;
}

void mem_prefetch_refuse(struct mem_prefetcher *prefetcher, uint32_t stream, uint32_t far_left)
{
    struct mem_stream *s = &prefetcher->stream[stream];
    s->far -= far_left;
    if (s->near > s->far)
        s->near = s->far;
}
