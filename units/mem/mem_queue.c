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

/* Takes interval i out. */
static void remove_at(struct mem_link *link, struct mem_interval *busy, uint32_t i)
{
    link->count--;
    memmove(busy + i, busy + i + 1, (link->count - i) * sizeof busy[0]);
}

/* Forgets the oldest interval when it ended long before `now_ns`. */
static bool forget_oldest(struct mem_link *link, double now_ns)
{
    const double end_ns = link->place[link->first].end_ns;
    if (end_ns >= now_ns - MEM_LINK_LATE_NS)
        return false;
    link->floor_ns = end_ns;
    link->first++;
    link->count--;
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
    if (link->count == MEM_LINK_INTERVALS && !forget_oldest(link, now_ns))
        join_closest(link);
    if (link->first + link->count == 2 * MEM_LINK_INTERVALS) {
        memmove(link->place, link->place + link->first, link->count * sizeof link->place[0]);
        link->first = 0;
    }
}

static void insert(struct mem_link *link, uint32_t i, double start, double end)
{
    struct mem_interval *busy = link->place + link->first;
    if (i > 0 && start <= busy[i - 1].end_ns + MEM_LINK_EPSILON_NS) {
        busy[i - 1].end_ns = end;
        if (i < link->count && busy[i].start_ns <= end + MEM_LINK_EPSILON_NS) {
            busy[i - 1].end_ns = busy[i].end_ns;
            remove_at(link, busy, i);
        }
        return;
    }
    if (i < link->count && end >= busy[i].start_ns - MEM_LINK_EPSILON_NS) {
        busy[i].start_ns = start;
        return;
    }
    memmove(busy + i + 1, busy + i, (link->count - i) * sizeof busy[0]);
    link->count++;
    busy[i] = (struct mem_interval){start, end};
}

double mem_link_place_ns(struct mem_link *link, double now_ns, double ns)
{
    make_room(link, now_ns);
    const struct mem_interval *busy = link->place + link->first;
    double at = now_ns > link->floor_ns ? now_ns : link->floor_ns;
    uint32_t i = link->count;
    while (i > 0 && busy[i - 1].end_ns > at)
        i--;
    for (; i < link->count; i++) {
        if (at + ns <= busy[i].start_ns + MEM_LINK_EPSILON_NS)
            break;
        at = busy[i].end_ns > at ? busy[i].end_ns : at;
    }
    insert(link, i, at, at + ns);
    return at;
}

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

void mem_slots_take(struct mem_slots *slots, double until_ns)
{
    if (slots->count == 0)
        return;
    double *free_ns = slots->free_ns;
    const uint32_t count = slots->count;
    /* The first place becomes the last one; earlier times move up behind it. */
    uint32_t to = slots->first;
    slots->first = to + 1 == count ? 0 : to + 1;
    for (uint32_t left = count - 1; left > 0; left--) {
        const uint32_t before = to == 0 ? count - 1 : to - 1;
        if (free_ns[before] <= until_ns)
            break;
        free_ns[to] = free_ns[before];
        to = before;
    }
    free_ns[to] = until_ns;
}
