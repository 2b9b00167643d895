#include "units/mem/mem_queue.h"

#include <stdlib.h>
#include <string.h>

/* Rounding of sums of transfer times must neither open nor close gaps. */
#define TIME_EPSILON_NS 1e-7

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

/* Takes interval i out. */
static void remove_at(struct mem_link *link, struct mem_interval *busy, uint32_t i)
{
    link->count--;
    memmove(busy + i, busy + i + 1, (link->count - i) * sizeof busy[0]);
}

/* No request comes so long after one for a later time. */
#define LATE_NS 100.0

/* Forgets the intervals that ended long before `now_ns`. False when there were none. */
static bool forget_past(struct mem_link *link, double now_ns)
{
    const struct mem_interval *busy = link->place + link->first;
    uint32_t old = 0;
    while (old < link->count && busy[old].end_ns < now_ns - LATE_NS)
        old++;
    if (old == 0)
        return false;
    link->floor_ns = busy[old - 1].end_ns;
    link->first += old;
    link->count -= old;
    return true;
}

/* Gives up the shortest gap. */
static void join_closest(struct mem_link *link)
{
    struct mem_interval *busy = link->place + link->first;
    uint32_t best = 0;
    double gap = busy[1].start_ns - busy[0].end_ns;
    for (uint32_t i = 1; i + 1 < link->count; i++) {
        const double g = busy[i + 1].start_ns - busy[i].end_ns;
        if (g < gap) {
            gap = g;
            best = i;
        }
    }
    busy[best].end_ns = busy[best + 1].end_ns;
    remove_at(link, busy, best + 1);
}

/* Makes room for one more interval. */
static void make_room(struct mem_link *link, double now_ns)
{
    if (link->count == MEM_LINK_INTERVALS && !forget_past(link, now_ns))
        join_closest(link);
    if (link->first + link->count == 2 * MEM_LINK_INTERVALS) {
        memmove(link->place, link->place + link->first, link->count * sizeof link->place[0]);
        link->first = 0;
    }
}

static void insert(struct mem_link *link, uint32_t i, double start, double end)
{
    struct mem_interval *busy = link->place + link->first;
    if (i > 0 && start <= busy[i - 1].end_ns + TIME_EPSILON_NS) {
        busy[i - 1].end_ns = end;
        if (i < link->count && busy[i].start_ns <= end + TIME_EPSILON_NS) {
            busy[i - 1].end_ns = busy[i].end_ns;
            remove_at(link, busy, i);
        }
        return;
    }
    if (i < link->count && end >= busy[i].start_ns - TIME_EPSILON_NS) {
        busy[i].start_ns = start;
        return;
    }
    memmove(busy + i + 1, busy + i, (link->count - i) * sizeof busy[0]);
    link->count++;
    busy[i] = (struct mem_interval){start, end};
}

double mem_link_take_ns(struct mem_link *link, double now_ns, double ns)
{
    make_room(link, now_ns);
    const struct mem_interval *busy = link->place + link->first;
    double at = now_ns > link->floor_ns ? now_ns : link->floor_ns;
    uint32_t i = link->count;
    while (i > 0 && busy[i - 1].end_ns > at)
        i--;
    for (; i < link->count; i++) {
        if (at + ns <= busy[i].start_ns + TIME_EPSILON_NS)
            break;
        at = busy[i].end_ns > at ? busy[i].end_ns : at;
    }
    insert(link, i, at, at + ns);
    return at;
}

bool mem_slots_init(struct mem_slots *slots, uint32_t count)
{
    slots->count = count;
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
}

void mem_slots_take(struct mem_slots *slots, double until_ns)
{
    if (slots->count == 0)
        return;
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= slots->count)
            break;
        if (child + 1 < slots->count && slots->free_ns[child + 1] < slots->free_ns[child])
            child++;
        if (slots->free_ns[child] >= until_ns)
            break;
        slots->free_ns[i] = slots->free_ns[child];
        i = child;
    }
    slots->free_ns[i] = until_ns;
}
