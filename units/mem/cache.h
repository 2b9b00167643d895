/* Tag arrays of one set-associative cache: which lines are present, when their data arrive, what state they are in.
 * True LRU. Also used for TLBs, whose "lines" are page numbers. No time passes here.
 */
#ifndef ORCHARD_UNITS_MEM_CACHE_H
#define ORCHARD_UNITS_MEM_CACHE_H

#include "units/mem/mem_space.h"

#include <stdbool.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define MEM_LINE_SHIFT 7
_Static_assert(MEM_LINE_BYTES == 1 << MEM_LINE_SHIFT, "one line size everywhere");
#define MEM_LINES_PER_PAGE_SHIFT (MEM_PAGE_SHIFT - MEM_LINE_SHIFT)

enum mem_line_flags {
    MEM_LINE_DIRTY = 1,
    MEM_LINE_PREFETCHED = 2, /* brought in by a prefetch and not used yet */
    MEM_LINE_NO_LOW = 4,     /* the half that begins the line is not there */
    MEM_LINE_NO_HIGH = 8,    /* nor is the other */
    MEM_LINE_FROM_SHIFT = 4  /* bits 5..4: enum mem_level the line came from, for hits on lines in flight */
};

/* Halves of a line: bit 0 the one that begins it, bit 1 the other. */
#define MEM_LINE_WHOLE      3u
#define MEM_LINE_HALF_SHIFT 2 /* from a half to the flag that says that it is not there */
#define MEM_HALF_BYTES      (MEM_LINE_BYTES / 2)

static inline uint8_t mem_line_without(unsigned halves)
{
    return (uint8_t)((~halves & MEM_LINE_WHOLE) << MEM_LINE_HALF_SHIFT);
}

/* Which of these halves a line with such flags lacks. */
static inline unsigned mem_line_lacks(uint8_t flags, unsigned halves)
{
    return flags >> MEM_LINE_HALF_SHIFT & halves;
}

/* How many halves a line with such flags takes in a cache whose ways hold halves. */
static inline unsigned mem_line_takes(uint8_t flags)
{
    return 2 - (mem_line_lacks(flags, 1) ^ mem_line_lacks(flags, 2) >> 1);
}

/* How many more it takes with other flags: less room is not given back, because what was written may lie in both halves. */
static inline unsigned mem_line_grows(uint8_t from, uint8_t to)
{
    return mem_line_takes(to) > mem_line_takes(from);
}

/* Quarters of a line in a cache that keeps them apart, which is one without dirty and without prefetched lines: bit q the one
 * that begins at q x 32 bytes. Its flags say which are not there in the bits of the halves and in two above. */
#define MEM_LINE_QUARTERS   15u
#define MEM_QUARTER_BYTES   (MEM_LINE_BYTES / 4)
#define MEM_LINE_HIGH_SHIFT 4 /* from quarters 2 and 3 to their flags */

static inline uint8_t mem_line_without_quarters(unsigned quarters)
{
    const unsigned lacks = ~quarters & MEM_LINE_QUARTERS;
    return (uint8_t)((lacks & 3) << MEM_LINE_HALF_SHIFT | (lacks & 12) << MEM_LINE_HIGH_SHIFT);
}

static inline unsigned mem_line_lacks_quarters(uint8_t flags, unsigned quarters)
{
    return ((flags >> MEM_LINE_HALF_SHIFT & 3) | (flags >> MEM_LINE_HIGH_SHIFT & 12)) & quarters;
}

/* The halves that these quarters lie in. */
static inline unsigned mem_halves_of(unsigned quarters)
{
    return ((quarters & 3) != 0) | (unsigned)((quarters & 12) != 0) << 1;
}

static inline uint32_t mem_quarters_bytes(unsigned quarters)
{
    /* A digit for each of 16 sets: hosts need not have an instruction that counts bits. */
    return (uint32_t)(UINT64_C(0x4332322132212110) >> 4 * quarters & 15) * MEM_QUARTER_BYTES;
}

static inline uint32_t mem_halves_bytes(unsigned halves)
{
    return halves == MEM_LINE_WHOLE ? MEM_LINE_BYTES : MEM_HALF_BYTES;
}

/* The parts of a set lie in few cache lines of the host, because waiting for those takes most of its time. A header tells whether
 * a line may be present, in which order the ways were used and what state they are in; the lines themselves follow it. */
#define MEM_SET_WAYS 16 /* per header; caches with more ways have several headers per set */

struct mem_set_header {
    uint16_t key[MEM_SET_WAYS]; /* of the line in each way: where no key is equal, the line is absent */
    uint64_t order; /* the ways from the most recently used one on, 4 bits each, xored with the order of a new cache */
    uint8_t flags[MEM_SET_WAYS];
    uint32_t settled; /* value of mem_cache.settled when the arrival times were last brought up to date */
    uint32_t present; /* bit w: way w holds a line */
};
_Static_assert(sizeof(struct mem_set_header) == 64, "a header is a host cache line");

struct mem_way {
    uint64_t tag;    /* line number + 1, 0 = empty */
    double ready_ns; /* when its data arrive; in the same host line as the tag, because whoever needs one needs both */
};

/* All zero is a cache without lines. */
struct mem_cache {
    uint32_t sets, ways;
    uint32_t set_mask;  /* sets - 1 when that is a power of two, else 0 */
    uint32_t headers;   /* per set */
    uint32_t set_bytes; /* distance between sets: headers and ways */
    uint32_t way_bits;  /* of a header: the ways that exist */
    bool clean_unnamed; /* whoever inserts asks only for lines that are dirty: nobody waits for the name of a clean victim */
    bool scatter;       /* pages are spread over the sets by a hash (physically indexed, several interleaved parts) */
    uint32_t half_room; /* halves of lines that a set has data for: a line takes places for those it has; 0 = each way has both */
    unsigned char *set; /* aligned to host cache lines, in `room` */
    void *room;
    uint8_t *list; /* replaces the orders where there are several headers: each set's ways from the most recently used one on */
    uint64_t first_order;
    uint64_t order_mask;
    uint32_t last_shift; /* of the order's last way */
    uint32_t settled;    /* counts the moments at which all data had arrived: older arrival times of a set count as settled_ns */
    double settled_ns;
    uint32_t used; /* lines present */
};

/* False when memory is out or the lines do not fill a single set. */
bool mem_cache_init(struct mem_cache *cache, uint64_t lines, uint32_t ways, bool scatter);
/* A cache of so many whole lines whose ways hold half a line each. The halves of a line lie in one set, as one entry that takes
 * the room of those halves that are there; of a line without either, parts were written, which may lie in both. Whoever inserts,
 * or adds halves, makes room first. */
bool mem_cache_init_in_halves(struct mem_cache *cache, uint64_t lines, uint32_t ways, bool scatter);
void mem_cache_release(struct mem_cache *cache);
void mem_cache_clear(struct mem_cache *cache);
/* Declares that all data have arrived by now_ns. */
void mem_cache_settle(struct mem_cache *cache, double now_ns);

/* Hashes a page number; the hash decides where the page goes. */
static inline uint64_t mem_page_hash(uint64_t page)
{
    uint64_t h = page * UINT64_C(0x9E3779B97F4A7C15);
    h ^= h >> 32;
    h *= UINT64_C(0xD6E8FEB86659FD93);
    return h ^ h >> 29;
}

static inline uint32_t mem_cache_set_at(const struct mem_cache *cache, uint64_t at)
{
    return (uint32_t)(cache->set_mask ? at & cache->set_mask : at % cache->sets);
}

static inline uint32_t mem_cache_set(const struct mem_cache *cache, uint64_t line)
{
    return mem_cache_set_at(cache, cache->scatter ? line + mem_page_hash(line >> MEM_LINES_PER_PAGE_SHIFT) : line);
}

static inline struct mem_set_header *mem_cache_header(const struct mem_cache *cache, uint32_t set)
{
    return (struct mem_set_header *)(void *)(cache->set + (size_t)set * cache->set_bytes);
}

static inline struct mem_way *mem_cache_ways(const struct mem_cache *cache, uint32_t set)
{
    return (struct mem_way *)(void *)(mem_cache_header(cache, set) + cache->headers);
}

/* The result of looking a line up. */
struct mem_entry {
    struct mem_way *way; /* NULL: absent */
    uint8_t *flags;
    struct mem_set_header *header; /* of the set */
    uint32_t number;               /* of the way in its set */
};

/* The data of a line that is present arrive at another time, or more data do. */
void mem_cache_arrives(struct mem_cache *cache, const struct mem_entry *entry, double ready_ns);

static inline double mem_cache_ready_ns(const struct mem_cache *cache, const struct mem_entry *entry)
{
    return entry->header->settled == cache->settled ? entry->way->ready_ns : cache->settled_ns;
}

/* Tells the host that a set will be looked into. */
static inline void mem_cache_expect(const struct mem_cache *cache, uint32_t set)
{
    __builtin_prefetch(mem_cache_header(cache, set), 1);
}

static inline uint16_t mem_cache_key(uint64_t line)
{
    return (uint16_t)(line * UINT64_C(0x9E3779B97F4A7C15) >> 48);
}

/* Bit w is set when way w of the header has this key. Ways that do not exist are included. */
static inline uint32_t mem_cache_same_keys(const struct mem_set_header *header, uint16_t key)
{
#ifdef __SSE2__
    const __m128i k = _mm_set1_epi16((short)key);
    const __m128i low = _mm_cmpeq_epi16(_mm_load_si128((const __m128i *)(const void *)&header->key[0]), k);
    const __m128i high = _mm_cmpeq_epi16(_mm_load_si128((const __m128i *)(const void *)&header->key[8]), k);
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
#else
    uint32_t same = 0;
    for (uint32_t w = 0; w < MEM_SET_WAYS; w++)
        same |= (uint32_t)(header->key[w] == key) << w;
    return same;
#endif
}

struct mem_entry mem_cache_find_wide(const struct mem_cache *cache, uint32_t set, uint64_t line);

/* Finds a line in its set, without marking it as used. */
static inline struct mem_entry mem_cache_find_in(const struct mem_cache *cache, uint32_t set, uint64_t line)
{
    if (__builtin_expect(cache->headers > 1, 0))
        return mem_cache_find_wide(cache, set, line);
    struct mem_set_header *header = mem_cache_header(cache, set);
    struct mem_way *ways = (struct mem_way *)(void *)(header + 1);
    uint32_t same = mem_cache_same_keys(header, mem_cache_key(line)) & cache->way_bits;
    for (; __builtin_expect(same != 0, 1); same &= same - 1) {
        const uint32_t way = (uint32_t)__builtin_ctz(same);
        if (__builtin_expect(ways[way].tag == line + 1, 1))
            return (struct mem_entry){ways + way, header->flags + way, header, way};
    }
    return (struct mem_entry){0};
}

/* The same for a line that is present: when only one way has its key, nobody has to look at the way itself. */
static inline struct mem_entry mem_cache_find_sure(const struct mem_cache *cache, uint32_t set, uint64_t line)
{
    struct mem_set_header *header = mem_cache_header(cache, set);
    const uint32_t same =
        cache->headers == 1 ? mem_cache_same_keys(header, mem_cache_key(line)) & cache->way_bits & header->present : 0;
    const uint32_t way = same ? (uint32_t)__builtin_ctz(same) : 0;
    if (same == 0 || (same & (same - 1)))
        return mem_cache_find_in(cache, set, line);
    return (struct mem_entry){(struct mem_way *)(void *)(header + 1) + way, header->flags + way, header, way};
}

static inline struct mem_entry mem_cache_find(const struct mem_cache *cache, uint64_t line)
{
    return mem_cache_find_in(cache, mem_cache_set(cache, line), line);
}

/* The same for a line that is probably in a known way. */
static inline struct mem_entry mem_cache_find_near(const struct mem_cache *cache, uint32_t set, uint64_t line, uint32_t way)
{
    struct mem_set_header *header = mem_cache_header(cache, set);
    struct mem_way *ways = (struct mem_way *)(void *)(header + cache->headers);
    if (__builtin_expect(ways[way].tag == line + 1, 1))
        return (struct mem_entry){ways + way, &header[way / MEM_SET_WAYS].flags[way % MEM_SET_WAYS], header, way};
    return mem_cache_find_in(cache, set, line);
}

/* The most recently used way; an arbitrary one in caches with several headers. */
static inline uint32_t mem_cache_latest(const struct mem_cache *cache, uint32_t set)
{
    return (uint32_t)(mem_cache_header(cache, set)->order ^ cache->first_order) & 15;
}

/* The way that the next insertion takes; an arbitrary one in caches with several headers. */
static inline uint32_t mem_cache_last(const struct mem_cache *cache, uint32_t set)
{
    return (uint32_t)((mem_cache_header(cache, set)->order ^ cache->first_order) >> cache->last_shift) & 15;
}

/* Tells the host that a line will be inserted into a set that was just looked into. */
static inline void mem_cache_expect_insert(const struct mem_cache *cache, uint32_t set)
{
    __builtin_prefetch(mem_cache_ways(cache, set) + mem_cache_last(cache, set), 1);
}

/* Tells the host that a line will be looked for, and inserted when absent, in a set announced before. */
static inline void mem_cache_expect_line(const struct mem_cache *cache, uint32_t set, uint64_t line)
{
    const uint32_t same = mem_cache_same_keys(mem_cache_header(cache, set), mem_cache_key(line)) & cache->way_bits;
    const uint32_t way = same ? (uint32_t)__builtin_ctz(same) : mem_cache_last(cache, set);
    __builtin_prefetch(mem_cache_ways(cache, set) + way, 1);
}

/* Tells the host that a line will be looked for that is probably in a known way. */
static inline void mem_cache_expect_near(const struct mem_cache *cache, uint32_t set, uint32_t way)
{
    __builtin_prefetch(mem_cache_header(cache, set), 1);
    __builtin_prefetch(mem_cache_ways(cache, set) + way);
}

#define MEM_ORDER_ONES UINT64_C(0x1111111111111111)

void mem_cache_touch_wide(struct mem_cache *cache, const struct mem_set_header *header, uint32_t number);

/* Makes a line the most recently used of its set. */
static inline void mem_cache_touch(struct mem_cache *cache, const struct mem_entry *entry)
{
    if (__builtin_expect(cache->headers > 1, 0)) {
        mem_cache_touch_wide(cache, entry->header, entry->number); /* by parts: so the host keeps entries in registers */
        return;
    }
    struct mem_set_header *header = entry->header;
    const uint64_t way = entry->number, order = header->order ^ cache->first_order;
    if ((order & 15) == way)
        return;
    /* The lowest zero digit of `other` marks the position of the way; the digits before it move up by one. */
    const uint64_t other = order ^ way * MEM_ORDER_ONES;
    const uint64_t zero = (other - MEM_ORDER_ONES) & ~other & MEM_ORDER_ONES << 3;
    const uint64_t before = ((zero & -zero) >> 3) - 1;
    header->order = ((order & ~(before << 4 | 15)) | (order & before) << 4 | way) ^ cache->first_order;
}

struct mem_victim {
    bool valid;
    uint8_t flags;
    uint64_t line; /* unknown in a clean victim of a cache with clean_unnamed */
};

/* Puts an absent line into its set, in the place of an empty way or of the least recently used line, which is returned. */
void mem_cache_insert_in(struct mem_cache *cache, uint32_t set, uint64_t line, double ready_ns, uint8_t flags,
                         struct mem_victim *victim);
static inline void mem_cache_insert(struct mem_cache *cache, uint64_t line, double ready_ns, uint8_t flags,
                                    struct mem_victim *victim)
{
    mem_cache_insert_in(cache, mem_cache_set(cache, line), line, ready_ns, flags, victim);
}

/* Whether a set of such a cache lacks room for so many more halves. If so, the least recently used line leaves it. */
bool mem_cache_make_room(struct mem_cache *cache, uint32_t set, unsigned halves, struct mem_victim *victim);

/* Removes a line. Returns its flags, or 0 when it was absent; *present may be NULL. */
uint8_t mem_cache_remove(struct mem_cache *cache, uint64_t line, bool *present);

#endif
