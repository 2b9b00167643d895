#define PLACE_NS mem_link_place_portable
#define MOVE_UP  mem_slots_move_portable
#include "units/mem/mem_queue_place.h"

#include <math.h>
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
    if (has_avx512())
        return mem_link_place_avx512(link, now_ns, ns);
    return __builtin_cpu_supports("avx2") ? mem_link_place_avx2(link, now_ns, ns) : mem_link_place_portable(link, now_ns, ns);
}

static uint32_t move_up(double *free_ns, uint32_t low, uint32_t high, double until_ns)
{
    if (has_avx512())
        return mem_slots_move_avx512(free_ns, low, high, until_ns);
    return __builtin_cpu_supports("avx2") ? mem_slots_move_avx2(free_ns, low, high, until_ns)
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

/* ---- several requests at once ---- */

/* The first interval that ends after `now_ns`: the search begins where the last request was placed. */
static uint32_t first_after(const struct mem_link *link, double now_ns)
{
    const uint32_t end = link->first + link->count;
    uint32_t k = link->near > link->first ? link->near : link->first;
    k = k < end ? k : end;
    while (k > link->first && link->end_ns[k - 1] > now_ns)
        k--;
    while (k < end && link->end_ns[k] <= now_ns)
        k++;
    return k;
}

bool mem_link_try(const struct mem_link *link, const double *now_ns, uint32_t count, double ns, double *at_ns)
{
    const uint32_t end = link->first + link->count, all = link->count + count;
    if (all > MEM_LINK_INTERVALS &&
        (count > link->count || link->end_ns[link->first + all - MEM_LINK_INTERVALS - 1] >= now_ns[0] - MEM_LINK_LATE_NS))
        return false;
    uint32_t k = first_after(link, now_ns[0] > link->floor_ns ? now_ns[0] : link->floor_ns);
    double busy_ns = link->floor_ns; /* until then, by what comes before interval k */
    for (uint32_t i = 0; i < count; i++) {
        double at = now_ns[i] > busy_ns ? now_ns[i] : busy_ns;
        for (; k < end && at + ns > link->start_ns[k] + MEM_LINK_EPSILON_NS; k++)
            at = link->end_ns[k] > at ? link->end_ns[k] : at;
        at_ns[i] = at;
        busy_ns = at + ns;
        if (k < end && link->start_ns[k] <= busy_ns + MEM_LINK_EPSILON_NS)
            busy_ns = link->end_ns[k++];
    }
    return true;
}

/* The intervals that requests in one gap of a link make. */
struct chain {
    uint32_t forgotten, count;
    bool joins;       /* the first one goes on with the interval before */
    double joined_ns; /* when that ends now */
    double floor_ns, start_ns[MEM_LINK_TRIES], end_ns[MEM_LINK_TRIES];
};

/* Fills the chain of requests behind interval k - 1. False when single requests would do more than add to the link and forget. */
static bool make_chain(const struct mem_link *link, uint32_t k, const double *now_ns, uint32_t count, double ns,
                       const double *at_ns, struct chain *c)
{
    uint32_t room = MEM_LINK_INTERVALS - link->count;
    double busy_ns = k > link->first ? link->end_ns[k - 1] : -HUGE_VAL;
    *c = (struct chain){.floor_ns = link->floor_ns, .joins = at_ns[0] <= busy_ns + MEM_LINK_EPSILON_NS};
    for (uint32_t i = 0; i < count; i++) {
        if (room == 0) {
            c->floor_ns = link->end_ns[link->first + c->forgotten++];
            if (link->first + c->forgotten >= k || c->floor_ns >= now_ns[i] - MEM_LINK_LATE_NS)
                return false;
            room++;
        }
        const bool joins = at_ns[i] <= busy_ns + MEM_LINK_EPSILON_NS;
        busy_ns = at_ns[i] + ns;
        if (!joins) {
            room--;
            c->start_ns[c->count++] = at_ns[i];
        }
        *(c->count > 0 ? &c->end_ns[c->count - 1] : &c->joined_ns) = busy_ns;
    }
    return true;
}

/* Puts a chain behind interval k - 1. */
static void put_chain(struct mem_link *link, uint32_t k, const struct chain *c)
{
    const uint32_t behind = link->first + link->count - k;
    memmove(link->start_ns + k + c->count, link->start_ns + k, behind * sizeof link->start_ns[0]);
    memmove(link->end_ns + k + c->count, link->end_ns + k, behind * sizeof link->end_ns[0]);
    if (c->joins)
        link->end_ns[k - 1] = c->joined_ns;
    memcpy(link->start_ns + k, c->start_ns, c->count * sizeof c->start_ns[0]);
    memcpy(link->end_ns + k, c->end_ns, c->count * sizeof c->end_ns[0]);
    link->floor_ns = c->floor_ns;
    link->first += c->forgotten;
    link->count += c->count - c->forgotten;
    link->near = k + c->count;
}

void mem_link_take_tried(struct mem_link *link, const double *now_ns, uint32_t count, double ns, const double *at_ns)
{
    struct chain c;
    for (uint32_t i = 0; i < count;) {
        const uint32_t end = link->first + link->count, k = first_after(link, at_ns[i]);
        uint32_t n = 0; /* requests in the gap before interval k, neither touching it */
        while (i + n < count && n < MEM_LINK_TRIES && (k == end || at_ns[i + n] + ns < link->start_ns[k] - MEM_LINK_EPSILON_NS))
            n++;
        if (n > 0 && end + n <= 2 * MEM_LINK_INTERVALS && make_chain(link, k, now_ns + i, n, ns, at_ns + i, &c)) {
            put_chain(link, k, &c);
            i += n;
        } else {
            mem_link_take_ns(link, now_ns[i], ns);
            i++;
        }
    }
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

/* Gives the earliest place of a heap another time. That is later than most others, so the place goes down to the end first and
 * comes back up a little. */
static void replace_earliest(double *free_ns, uint32_t count, double until_ns)
{
    uint32_t at = 0;
    for (uint32_t child = 1; child + 1 < count; child = 2 * at + 1) {
        child += free_ns[child + 1] < free_ns[child];
        free_ns[at] = free_ns[child];
        at = child;
    }
    if (2 * at + 1 < count) { /* an only child */
        free_ns[at] = free_ns[2 * at + 1];
        at = 2 * at + 1;
    }
    for (uint32_t above; at > 0 && free_ns[above = (at - 1) / 2] > until_ns; at = above)
        free_ns[at] = free_ns[above];
    free_ns[at] = until_ns;
}

void mem_slots_take(struct mem_slots *slots, double until_ns)
{
    if (slots->count == 0)
        return;
    if (slots->count > MEM_SLOTS_SORTED) {
        replace_earliest(slots->free_ns, slots->count, until_ns);
        return;
    }
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
