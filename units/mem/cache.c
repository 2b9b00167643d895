#include "units/mem/cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HOST_LINE 64
#define HUGE_PAGE (2u << 20)

static size_t room_bytes(const struct mem_cache *cache)
{
    return (size_t)cache->sets * cache->set_bytes;
}

/* The order of a set in which no way was ever used: way 0 comes last and is filled first. */
static uint64_t first_order(uint32_t ways)
{
    uint64_t order = 0;
    for (uint32_t w = 0; w < ways; w++)
        order = order << 4 | w;
    return order;
}

static void first_lists(struct mem_cache *cache)
{
    for (size_t i = 0; cache->list && i < (size_t)cache->sets * cache->ways; i++)
        cache->list[i] = (uint8_t)(cache->ways - 1 - i % cache->ways);
}

static void shape(struct mem_cache *cache, uint64_t lines, uint32_t ways, bool scatter)
{
    cache->sets = (uint32_t)(lines / ways);
    cache->ways = ways;
    /* A single set has mask 0. The division by the number of sets, which is one, gives the same. */
    cache->set_mask = (cache->sets & (cache->sets - 1)) == 0 ? cache->sets - 1 : 0;
    cache->headers = (ways + MEM_SET_WAYS - 1) / MEM_SET_WAYS;
    const size_t bytes = cache->headers * sizeof(struct mem_set_header) + ways * sizeof(struct mem_way);
    cache->set_bytes = (uint32_t)((bytes + HOST_LINE - 1) / HOST_LINE * HOST_LINE);
    cache->way_bits = (1u << (ways < MEM_SET_WAYS ? ways : MEM_SET_WAYS)) - 1;
    cache->scatter = scatter;
    cache->first_order = cache->headers == 1 ? first_order(ways) : 0;
    cache->last_shift = cache->headers == 1 ? 4 * (ways - 1) : 0;
    cache->order_mask = UINT64_MAX >> (ways < MEM_SET_WAYS ? 64 - 4 * ways : 0);
}

/* Accesses to a large cache scatter over all of it. Huge pages spare the host the lookup of its own pages. */
static void use_huge_pages(void *room, size_t bytes)
{
    const uintptr_t begin = ((uintptr_t)room + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    const uintptr_t end = ((uintptr_t)room + bytes) / HUGE_PAGE * HUGE_PAGE;
    if (room && begin < end)
        madvise((void *)begin, end - begin, MADV_HUGEPAGE); /* only a hint: the answer does not matter */
}

bool mem_cache_init(struct mem_cache *cache, uint64_t lines, uint32_t ways, bool scatter)
{
    memset(cache, 0, sizeof *cache);
    if (ways == 0 || ways > 64 || lines / ways == 0 || lines > UINT32_MAX / 4)
        return false;
    shape(cache, lines, ways, scatter);
    /* Zero is the state of an empty set, and the host supplies zeroed pages when they are first touched. */
    cache->room = calloc(room_bytes(cache) + HOST_LINE, 1);
    use_huge_pages(cache->room, room_bytes(cache));
    if (cache->headers > 1)
        cache->list = malloc((size_t)cache->sets * ways);
    if (!cache->room || (cache->headers > 1 && !cache->list)) {
        mem_cache_release(cache);
        return false;
    }
    cache->set = (unsigned char *)cache->room + (HOST_LINE - (uintptr_t)cache->room % HOST_LINE);
    first_lists(cache);
    return true;
}

bool mem_cache_init_in_halves(struct mem_cache *cache, uint64_t lines, uint32_t ways, bool scatter)
{
    if (ways < 2) /* no set would have room for a whole line */
        return mem_cache_init(cache, lines, ways, scatter);
    if (!mem_cache_init(cache, 2 * lines, ways, scatter))
        return false;
    cache->half_room = ways;
    return true;
}

void mem_cache_release(struct mem_cache *cache)
{
    free(cache->room);
    free(cache->list);
    memset(cache, 0, sizeof *cache);
}

void mem_cache_clear(struct mem_cache *cache)
{
    if (cache->used == 0)
        return;
    memset(cache->set, 0, room_bytes(cache));
    first_lists(cache);
    /* The sets record that nothing has settled since the start. */
    cache->used = 0;
}

void mem_cache_settle(struct mem_cache *cache, double now_ns)
{
    cache->settled++;
    cache->settled_ns = now_ns;
}

struct mem_entry mem_cache_find_wide(const struct mem_cache *cache, uint32_t set, uint64_t line)
{
    struct mem_set_header *header = mem_cache_header(cache, set);
    struct mem_way *way = mem_cache_ways(cache, set);
    for (uint32_t w = 0; w < cache->ways; w++)
        if (way[w].tag == line + 1)
            return (struct mem_entry){way + w, &header[w / MEM_SET_WAYS].flags[w % MEM_SET_WAYS], header, w};
    return (struct mem_entry){0};
}

static uint32_t set_of(const struct mem_cache *cache, const struct mem_set_header *header)
{
    return (uint32_t)((size_t)((const unsigned char *)header - cache->set) / cache->set_bytes);
}

/* Moves a way to the front of a list. */
static void move_to_front(uint8_t *list, uint32_t way)
{
    uint32_t at = 0;
    while (list[at] != way)
        at++;
    memmove(list + 1, list, at);
    list[0] = (uint8_t)way;
}

void mem_cache_touch_wide(struct mem_cache *cache, const struct mem_set_header *header, uint32_t number)
{
    move_to_front(cache->list + (size_t)set_of(cache, header) * cache->ways, number);
}

/* Makes the arrival times of a set explicit. */
static void update_arrivals(struct mem_cache *cache, uint32_t set)
{
    struct mem_way *way = mem_cache_ways(cache, set);
    for (uint32_t w = 0; w < cache->ways; w++)
        way[w].ready_ns = cache->settled_ns;
    mem_cache_header(cache, set)->settled = cache->settled;
}

void mem_cache_arrives(struct mem_cache *cache, const struct mem_entry *entry, double ready_ns)
{
    if (entry->header->settled != cache->settled)
        update_arrivals(cache, set_of(cache, entry->header));
    entry->way->ready_ns = ready_ns;
}

/* Takes the way at the end of the order and moves it to the front: the first empty way, otherwise the least recently used one. */
static uint32_t take_last(struct mem_cache *cache, uint32_t set)
{
    if (cache->headers > 1) {
        uint8_t *list = cache->list + (size_t)set * cache->ways;
        const uint32_t way = list[cache->ways - 1];
        move_to_front(list, way);
        return way;
    }
    struct mem_set_header *header = mem_cache_header(cache, set);
    const uint64_t order = header->order ^ cache->first_order;
    const uint32_t way = (uint32_t)(order >> cache->last_shift) & 15;
    header->order = ((order << 4 | way) & cache->order_mask) ^ cache->first_order;
    return way;
}

void mem_cache_insert_in(struct mem_cache *cache, uint32_t set, uint64_t line, double ready_ns, uint8_t flags,
                         struct mem_victim *victim)
{
    if (mem_cache_header(cache, set)->settled != cache->settled)
        update_arrivals(cache, set);
    const uint32_t w = take_last(cache, set);
    struct mem_way *way = mem_cache_ways(cache, set) + w;
    struct mem_set_header *header = mem_cache_header(cache, set) + w / MEM_SET_WAYS;
    /* The header says what there is, so that nobody waits for the way itself unless its line is written back. */
    victim->valid = header->present >> w % MEM_SET_WAYS & 1;
    header->present |= 1u << w % MEM_SET_WAYS;
    cache->used += !victim->valid;
    victim->flags = header->flags[w % MEM_SET_WAYS];
    victim->line = cache->clean_unnamed && !(victim->flags & MEM_LINE_DIRTY) ? UINT64_MAX : way->tag - 1;
    way->tag = line + 1;
    way->ready_ns = ready_ns;
    header->key[w % MEM_SET_WAYS] = mem_cache_key(line);
    header->flags[w % MEM_SET_WAYS] = flags;
}

static uint32_t present_in(const struct mem_cache *cache, uint32_t set)
{
    const struct mem_set_header *header = mem_cache_header(cache, set);
    uint32_t present = 0;
    for (uint32_t h = 0; h < cache->headers; h++)
        present += (uint32_t)__builtin_popcount(header[h].present);
    return present;
}

/* The ways of a header whose line lacks the half that this bit of its flags stands for. */
static uint32_t without(const struct mem_set_header *header, int bit)
{
#ifdef __SSE2__
    /* the bit becomes the sign of its byte, whatever comes in from the byte below */
    const __m128i flags = _mm_loadu_si128((const __m128i *)(const void *)header->flags);
    return (uint32_t)_mm_movemask_epi8(_mm_slli_epi16(flags, 7 - bit)) & header->present;
#else
    uint32_t ways = 0;
    for (uint32_t w = 0; w < MEM_SET_WAYS; w++)
        ways |= (uint32_t)(header->flags[w] >> bit & 1) << w;
    return ways & header->present;
#endif
}

static uint32_t halves_in(const struct mem_cache *cache, uint32_t set)
{
    const struct mem_set_header *header = mem_cache_header(cache, set);
    uint32_t halves = 0;
    for (uint32_t h = 0; h < cache->headers; h++) {
        const uint32_t low = without(header + h, MEM_LINE_HALF_SHIFT), high = without(header + h, MEM_LINE_HALF_SHIFT + 1);
        halves += (uint32_t)(2 * __builtin_popcount(header[h].present) - __builtin_popcount(low ^ high));
    }
    return halves;
}

/* Empty ways are at the end of the order, so that the line before them is the least recently used one. Its way stays where it is,
 * the first of the empty ones. */
bool mem_cache_make_room(struct mem_cache *cache, uint32_t set, unsigned halves, struct mem_victim *victim)
{
    if (cache->half_room == 0 || halves_in(cache, set) + halves <= cache->half_room)
        return false;
    const uint32_t last = present_in(cache, set) - 1;
    const uint64_t order = mem_cache_header(cache, set)->order ^ cache->first_order;
    const uint32_t w = cache->list ? cache->list[(size_t)set * cache->ways + last] : (uint32_t)(order >> 4 * last & 15);
    struct mem_set_header *header = mem_cache_header(cache, set) + w / MEM_SET_WAYS;
    struct mem_way *way = mem_cache_ways(cache, set) + w;
    victim->valid = true;
    victim->flags = header->flags[w % MEM_SET_WAYS];
    victim->line = cache->clean_unnamed && !(victim->flags & MEM_LINE_DIRTY) ? UINT64_MAX : way->tag - 1;
    header->present &= ~(1u << w % MEM_SET_WAYS);
    header->flags[w % MEM_SET_WAYS] = 0;
    way->tag = 0;
    cache->used--;
    return true;
}

/* Lists the ways of a set from the most recently used one on, whatever the representation. */
static void read_order(const struct mem_cache *cache, uint32_t set, uint8_t *list)
{
    const uint64_t order = mem_cache_header(cache, set)->order ^ cache->first_order;
    for (uint32_t i = 0; i < cache->ways; i++)
        list[i] = cache->list ? cache->list[(size_t)set * cache->ways + i] : (uint8_t)(order >> 4 * i & 15);
}

static void write_order(struct mem_cache *cache, uint32_t set, const uint8_t *list)
{
    uint64_t order = 0;
    for (uint32_t i = 0; i < cache->ways; i++) {
        if (cache->list)
            cache->list[(size_t)set * cache->ways + i] = list[i];
        else
            order |= (uint64_t)list[i] << 4 * i;
    }
    if (!cache->list)
        mem_cache_header(cache, set)->order = order ^ cache->first_order;
}

/* Moves an emptied way to the empty ones at the end of the order, where the lowest-numbered way comes last. */
static void put_last(struct mem_cache *cache, uint32_t set, uint32_t way)
{
    const struct mem_way *ways = mem_cache_ways(cache, set);
    uint8_t list[64] = {0};
    uint32_t at = 0;
    read_order(cache, set, list);
    while (list[at] != way)
        at++;
    for (; at + 1 < cache->ways && (ways[list[at + 1]].tag != 0 || list[at + 1] > way); at++)
        list[at] = list[at + 1];
    list[at] = (uint8_t)way;
    write_order(cache, set, list);
}

uint8_t mem_cache_remove(struct mem_cache *cache, uint64_t line, bool *present)
{
    const struct mem_entry entry = mem_cache_find(cache, line);
    if (present)
        *present = entry.way != NULL;
    if (!entry.way)
        return 0;
    const uint8_t flags = *entry.flags;
    cache->used--;
    entry.way->tag = 0;
    *entry.flags = 0;
    entry.header[entry.number / MEM_SET_WAYS].present &= ~(1u << entry.number % MEM_SET_WAYS);
    put_last(cache, set_of(cache, entry.header), entry.number);
    return flags;
}
