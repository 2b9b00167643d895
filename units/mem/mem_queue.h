/* The two scoreboards that every timed path of the memory system is made of: links and slots.
 *
 * A link carries bytes at a rate and remembers when it is busy. Requests may come slightly out of time order (an out-of-order
 * core issues a late load before an early one; a queue further up lets requests through in the future), so a link keeps its busy
 * intervals and puts a request into the first gap that is long enough. When there are too many intervals, the oldest is forgotten
 * if it lies well in the past; otherwise the two with the shortest gap between them become one. A slot pool is a number of
 * identical places (miss registers, buffers), each taken until a known time.
 */
#ifndef ORCHARD_UNITS_MEM_MEM_QUEUE_H
#define ORCHARD_UNITS_MEM_MEM_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#define MEM_LINK_INTERVALS 256
#define MEM_LINK_TRIES     64 /* requests in one go */
#define MEM_LINK_SPARE     8  /* room for reading whole vectors */
/* No request comes later than this after one for a later time. */
#define MEM_LINK_LATE_NS 100.0
/* The rounding of sums of transfer times must neither open nor close gaps. */
#define MEM_LINK_EPSILON_NS 1e-7

struct mem_link {
    double ns_per_byte; /* 0 = no limit */
    double floor_ns;    /* history before this time is forgotten: nothing can be placed there */
    uint32_t count;     /* busy intervals, ascending, disjoint, not touching */
    uint32_t first;     /* start of the intervals in the arrays, which have room for the window to slide */
    uint32_t near;      /* where in the arrays the last request was placed between others; the next search begins there */
    double start_ns[2 * MEM_LINK_INTERVALS + MEM_LINK_SPARE], end_ns[2 * MEM_LINK_INTERVALS + MEM_LINK_SPARE];
};

void mem_link_init(struct mem_link *link, double gbps);
void mem_link_set_rate(struct mem_link *link, double gbps);
void mem_link_restart(struct mem_link *link, double now_ns);
/* Places a request between others; the slow half of mem_link_take_ns. */
double mem_link_place_ns(struct mem_link *link, double now_ns, double ns);
/* mem_queue_place.h, for hosts with and without wide vectors: the same, and how slots make room: the times from `low` on that are
 * later than until_ns move up by one, into the place `high`. Returns the place that is left. */
double mem_link_place_portable(struct mem_link *link, double now_ns, double ns);
double mem_link_place_avx2(struct mem_link *link, double now_ns, double ns);
double mem_link_place_avx512(struct mem_link *link, double now_ns, double ns);
uint32_t mem_slots_move_portable(double *free_ns, uint32_t low, uint32_t high, double until_ns);
uint32_t mem_slots_move_avx2(double *free_ns, uint32_t low, uint32_t high, double until_ns);
uint32_t mem_slots_move_avx512(double *free_ns, uint32_t low, uint32_t high, double until_ns);

/* Occupies the link for `ns` at the earliest time from now_ns on. Returns the start. Most requests come after all others. */
static inline double mem_link_take_ns(struct mem_link *link, double now_ns, double ns)
{
    const uint32_t end = link->first + link->count;
    if (__builtin_expect(link->count == 0 || end == 2 * MEM_LINK_INTERVALS, 0))
        return mem_link_place_ns(link, now_ns, ns);
    double *last_ns = &link->end_ns[end - 1];
    const double last_start_ns = link->start_ns[end - 1];
    if (now_ns < last_start_ns || now_ns + ns <= last_start_ns + MEM_LINK_EPSILON_NS)
        return mem_link_place_ns(link, now_ns, ns);
    if (link->count == MEM_LINK_INTERVALS) {
        const double oldest_ns = link->end_ns[link->first];
        if (oldest_ns >= now_ns - MEM_LINK_LATE_NS)
            return mem_link_place_ns(link, now_ns, ns);
        link->floor_ns = oldest_ns;
        link->first++;
        link->count--;
    }
    if (now_ns <= *last_ns + MEM_LINK_EPSILON_NS) {
        const double at = now_ns > *last_ns ? now_ns : *last_ns;
        *last_ns = at + ns;
        return at;
    }
    link->start_ns[end] = now_ns;
    link->end_ns[end] = now_ns + ns;
    link->count++;
    return now_ns;
}

static inline double mem_link_take(struct mem_link *link, double now_ns, uint32_t bytes)
{
    return link->ns_per_byte > 0.0 ? mem_link_take_ns(link, now_ns, link->ns_per_byte * bytes) : now_ns;
}

/* When requests of `ns` each, no later one for an earlier time, will start (at_ns). Changes nothing. False when so many would
 * close gaps of the link. */
bool mem_link_try(const struct mem_link *link, const double *now_ns, uint32_t count, double ns, double *at_ns);
/* Occupies the link for the first `count` of them, exactly as mem_link_take_ns would. */
void mem_link_take_tried(struct mem_link *link, const double *now_ns, uint32_t count, double ns, const double *at_ns);

/* Most places that are kept in order. */
#define MEM_SLOTS_SORTED 512

/* The times at which the places become free, ascending in a ring: most new ones are later than all others. Those of a large pool,
 * whose requests overtake one another, are a heap instead: the children of place k, at 2 k + 1 and 2 k + 2, are no earlier. */
struct mem_slots {
    uint32_t count; /* 0 = no limit */
    uint32_t first; /* the earliest; 0 in a heap */
    double *free_ns;
};

bool mem_slots_init(struct mem_slots *slots, uint32_t count);
void mem_slots_release(struct mem_slots *slots);
void mem_slots_restart(struct mem_slots *slots, double now_ns);
/* Takes the place that becomes free first, until `until_ns`. */
void mem_slots_take(struct mem_slots *slots, double until_ns);

/* When the k-th place from now on becomes free, provided that the ones before it are taken until later than all others. Not of a
 * heap. */
static inline double mem_slots_free_ns(const struct mem_slots *slots, uint32_t k)
{
    return slots->free_ns[slots->first + k < slots->count ? slots->first + k : slots->first + k - slots->count];
}

/* Takes the place that becomes free first until a time that is not earlier than all others. Not of a heap. */
static inline void mem_slots_take_last(struct mem_slots *slots, double until_ns)
{
    if (slots->count == 0)
        return;
    slots->free_ns[slots->first] = until_ns;
    slots->first = slots->first + 1 == slots->count ? 0 : slots->first + 1;
}

/* Earliest time from now_ns on at which a place is free. */
static inline double mem_slots_ready(const struct mem_slots *slots, double now_ns)
{
    return slots->count && slots->free_ns[slots->first] > now_ns ? slots->free_ns[slots->first] : now_ns;
}

#endif
