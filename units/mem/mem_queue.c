#define PLACE_NS mem_link_place_portable
#define MOVE_UP  mem_slots_move_portable
#include "units/mem/mem_queue_place.h"

#include <stdlib.h>

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
    link->count = link->first = link->near = 0;
    link->floor_ns = now_ns;
}

#if defined(__x86_64__)
static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}

double mem_link_place_ns(struct mem_link *link, double now_ns, double ns)
{
    return has_avx512() ? mem_link_place_avx512(link, now_ns, ns) : mem_link_place_portable(link, now_ns, ns);
}

static uint32_t move_up(double *free_ns, uint32_t low, uint32_t high, double until_ns)
{
    return has_avx512() ? mem_slots_move_avx512(free_ns, low, high, until_ns)
                        : mem_slots_move_portable(free_ns, low, high, until_ns);
}
#else
double mem_link_place_ns(struct mem_link *link, double now_ns, double ns)
{
    return mem_link_place_portable(link, now_ns, ns);
}

static uint32_t move_up(double *free_ns, uint32_t low, uint32_t high, double until_ns)
{
    return mem_slots_move_portable(free_ns, low, high, until_ns);
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
