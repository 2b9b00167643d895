#include "units/mem/mem_queue.h"

#include <stdlib.h>
#include <string.h>

void mem_link_set_rate(struct mem_link *link, double gbps)
{
    link->ns_per_byte = gbps > 0.0 ? 1.0 / gbps : 0.0;
}

void mem_link_init(struct mem_link *link, double gbps)
{
    memset(link, 0, sizeof *link);
    mem_link_set_rate(link, gbps);
}

void mem_link_restart(struct mem_link *link, double now_ns)
{
    link->count = link->first = 0;
    link->floor_ns = now_ns;
}

/* Eight times at once, on whatever vectors the host has. */
typedef double times __attribute__((vector_size(64)));
typedef int64_t marks __attribute__((vector_size(64)));
enum { TIMES = sizeof(times) / sizeof(double) };
_Static_assert(MEM_LINK_INTERVALS % TIMES == 0, "a full link is whole vectors");

static inline __attribute__((always_inline)) times load_times(const double *from)
{
    times t;
    memcpy(&t, from, sizeof t);
    return t;
}

static inline __attribute__((always_inline)) marks choose(marks from, marks if_set, marks if_not)
{
    return (if_set & from) | (if_not & ~from);
}

/* Returns the first of the shortest gaps between so many intervals. Each lane examines every eighth gap. */
static inline __attribute__((always_inline)) uint32_t closest(const double *start, const double *end, uint32_t count)
{
    times least = load_times(start + 1) - load_times(end);
    marks where = {0};
    uint32_t i = TIMES;
    for (; i + TIMES < count; i += TIMES) {
        const times gap = load_times(start + i + 1) - load_times(end + i);
        const marks shorter = gap < least;
        least = (times)choose(shorter, (marks)gap, (marks)least);
        where = choose(shorter, where * 0 + i, where);
    }
    uint32_t best = (uint32_t)where[0];
    double gap = least[0];
    for (uint32_t k = 1; k < TIMES; k++) {
        const uint32_t at = (uint32_t)where[k] + k;
        if (least[k] < gap || (least[k] == gap && at < best))
            gap = least[k], best = at;
    }
    for (; i + 1 < count; i++)
        if (start[i + 1] - end[i] < gap)
            gap = start[i + 1] - end[i], best = i;
    return best;
}

/* Counts those of these ascending times that are not later than `at`. Most requests are late ones, so the search begins at the
 * end. */
static inline __attribute__((always_inline)) uint32_t count_past(const double *end, uint32_t count, double at)
{
    uint32_t past = count;
    while (past >= TIMES && end[past - TIMES] > at)
        past -= TIMES;
    if (past < TIMES) {
        while (past > 0 && end[past - 1] > at)
            past--;
        return past;
    }
    past -= TIMES;
    const marks not_later = load_times(end + past) <= (times){0} + at; /* a true comparison is -1 */
    for (uint32_t k = 0; k < TIMES; k++)
        past -= (uint32_t)not_later[k];
    return past;
}

/* Removes interval i. */
static void remove_at(struct mem_link *link, uint32_t i)
{
    double *start = link->start_ns + link->first + i, *end = link->end_ns + link->first + i;
    const size_t bytes = (--link->count - i) * sizeof *start;
    memmove(start, start + 1, bytes);
    memmove(end, end + 1, bytes);
}

/* Forgets the oldest interval when it ended long before `now_ns`. */
static bool forget_oldest(struct mem_link *link, double now_ns)
{
    const double end_ns = link->end_ns[link->first];
    if (end_ns >= now_ns - MEM_LINK_LATE_NS)
        return false;
    link->floor_ns = end_ns;
    link->first++;
    link->count--;
    return true;
}

/* Closes the shortest gap of a full link. */
static inline __attribute__((always_inline)) void join_closest(struct mem_link *link)
{
    double *end = link->end_ns + link->first;
    const uint32_t best = closest(link->start_ns + link->first, end, MEM_LINK_INTERVALS);
    end[best] = end[best + 1];
    remove_at(link, best + 1);
}

/* Makes room for one more interval. */
static inline __attribute__((always_inline)) void make_room(struct mem_link *link, double now_ns)
{
    if (link->count == MEM_LINK_INTERVALS && !forget_oldest(link, now_ns))
        join_closest(link);
    if (link->first + link->count == 2 * MEM_LINK_INTERVALS) {
        memmove(link->start_ns, link->start_ns + link->first, link->count * sizeof link->start_ns[0]);
        memmove(link->end_ns, link->end_ns + link->first, link->count * sizeof link->end_ns[0]);
        link->first = 0;
    }
}

static void insert(struct mem_link *link, uint32_t i, double start_ns, double end_ns)
{
    double *start = link->start_ns + link->first, *end = link->end_ns + link->first;
    if (i > 0 && start_ns <= end[i - 1] + MEM_LINK_EPSILON_NS) {
        end[i - 1] = end_ns;
        if (i < link->count && start[i] <= end_ns + MEM_LINK_EPSILON_NS) {
            end[i - 1] = end[i];
            remove_at(link, i);
        }
        return;
    }
    if (i < link->count && end_ns >= start[i] - MEM_LINK_EPSILON_NS) {
        start[i] = start_ns;
        return;
    }
    const size_t bytes = (link->count - i) * sizeof *start;
    memmove(start + i + 1, start + i, bytes);
    memmove(end + i + 1, end + i, bytes);
    link->count++;
    start[i] = start_ns;
    end[i] = end_ns;
}

static inline __attribute__((always_inline)) double place(struct mem_link *link, double now_ns, double ns)
{
    make_room(link, now_ns);
    const double *start = link->start_ns + link->first, *end = link->end_ns + link->first;
    double at = now_ns > link->floor_ns ? now_ns : link->floor_ns;
    uint32_t i = count_past(end, link->count, at);
    for (; i < link->count; i++) {
        if (at + ns <= start[i] + MEM_LINK_EPSILON_NS)
            break;
        at = end[i] > at ? end[i] : at;
    }
    insert(link, i, at, at + ns);
    return at;
}

#if defined(__x86_64__)
static __attribute__((target("avx512f,avx512dq"))) double place_avx512(struct mem_link *link, double now_ns, double ns)
{
    return place(link, now_ns, ns);
}

double mem_link_place_ns(struct mem_link *link, double now_ns, double ns)
{
    return __builtin_cpu_supports("avx512dq") ? place_avx512(link, now_ns, ns) : place(link, now_ns, ns);
}
#else
double mem_link_place_ns(struct mem_link *link, double now_ns, double ns)
{
    return place(link, now_ns, ns);
}
#endif

bool mem_slots_init(struct mem_slots *slots, uint32_t count)
{
    slots->count = count;
    slots->first = 0;
    slots->free_ns = count ? calloc(count, sizeof slots->free_ns[0]) : NULL;
    return count == 0 || slots->free_ns;
}

void mem_slots_release(struct mem_slots *slots)
{
    free(slots->free_ns);
    slots->free_ns = NULL;
    slots->count = 0;
}

void mem_slots_restart(struct mem_slots *slots, double now_ns)
{
    for (uint32_t i = 0; i < slots->count; i++)
        slots->free_ns[i] = now_ns;
    slots->first = 0;
}

/* Moves the times from `low` on that are later than until_ns up by one, into the place `high`. Returns the place that is left. */
static uint32_t move_up(double *free_ns, uint32_t low, uint32_t high, double until_ns)
{
    uint32_t from = low, to = high;
    if (low == high || free_ns[high - 1] <= until_ns)
        return high;
    while (from < to) {
        const uint32_t middle = (from + to) / 2;
        if (free_ns[middle] <= until_ns)
            from = middle + 1;
        else
            to = middle;
    }
    memmove(free_ns + from + 1, free_ns + from, (high - from) * sizeof *free_ns);
    return from;
}

void mem_slots_take(struct mem_slots *slots, double until_ns)
{
    if (slots->count == 0)
        return;
    double *free_ns = slots->free_ns;
    const uint32_t count = slots->count, freed = slots->first;
    slots->first = freed + 1 == count ? 0 : freed + 1;
    /* The first place becomes the last one, and later times move up into it. They are contiguous up to it; those that wrap around
     * lie at the end of the array. */
    const uint32_t to = move_up(free_ns, 0, freed, until_ns);
    if (to > 0 || slots->first == 0 || free_ns[count - 1] <= until_ns) {
        free_ns[to] = until_ns;
        return;
    }
    free_ns[0] = free_ns[count - 1];
    free_ns[move_up(free_ns, slots->first, count - 1, until_ns)] = until_ns;
}
