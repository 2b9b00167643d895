#include "units/mem/mem_bulk.h"

#include "units/mem/mem_internal.h"

#include <stdlib.h>
#include <string.h>

struct block {
    uint64_t number;  /* address / MEM_BULK_BLOCK, plus one; 0 = none */
    uint64_t touched; /* value of came_in when the block was last used */
    uint32_t held;    /* bytes of the block that are present, at most */
    bool dirty;
};

/* A direct-mapped table with more places than the SLC holds blocks, so that few drop out early. */
#define PLACES_PER_BLOCK 8u

struct mem_bulk {
    struct mem_system *system;
    uint64_t capacity; /* bytes of SLC */
    uint64_t came_in;  /* bytes that missed: a block that stays unused while `capacity` bytes come in is gone */
    double slc_gbps, dram_read_gbps, dram_write_gbps;
    struct block *place;
    uint64_t mask;
};

struct mem_bulk *mem_bulk_create(struct mem_system *system)
{
    const struct mem_params *p = &system->params;
    struct mem_bulk *bulk = calloc(1, sizeof *bulk);
    if (!bulk)
        return NULL;
    bulk->system = system;
    bulk->capacity = (uint64_t)p->slc.kib * 1024 * p->dies;
    bulk->slc_gbps = p->slc_gbps * p->dies;
    bulk->dram_read_gbps = mem_dram_stream_gbps(p, 0) * p->dies;
    bulk->dram_write_gbps = mem_dram_stream_gbps(p, 0.5) * p->dies;
    uint64_t places = 1;
    while (places < PLACES_PER_BLOCK * (bulk->capacity / MEM_BULK_BLOCK))
        places *= 2;
    bulk->mask = places - 1;
    bulk->place = calloc(places, sizeof bulk->place[0]);
    if (!bulk->place) {
        free(bulk);
        return NULL;
    }
    return bulk;
}

void mem_bulk_free(struct mem_bulk *bulk)
{
    if (!bulk)
        return;
    free(bulk->place);
    free(bulk);
}

void mem_bulk_flush(struct mem_bulk *bulk)
{
    memset(bulk->place, 0, (bulk->mask + 1) * sizeof bulk->place[0]);
}

struct moved {
    uint64_t slc_read, slc_write, dram_read, dram_write;
};

/* Neighbours never share a place. Where a region of 16 MiB begins is scattered. */
static uint64_t place_of(const struct mem_bulk *bulk, uint64_t number)
{
    return (number + mem_page_hash(number >> 8)) & bulk->mask;
}

static void touch(struct mem_bulk *bulk, uint64_t number, uint32_t bytes, bool write, struct moved *moved)
{
    struct block *b = &bulk->place[place_of(bulk, number)];
    const bool there = b->number == number + 1 && bulk->came_in - b->touched < bulk->capacity;
    const uint32_t held = there ? b->held : 0;
    const uint32_t hit = bytes < held ? bytes : held, miss = bytes - hit;
    if (b->number && b->dirty && !there)
        moved->dram_write += b->held;
    if (write) {
        moved->slc_write += bytes;
    } else {
        moved->slc_read += hit;
        moved->slc_write += miss;
        moved->dram_read += miss;
    }
    bulk->came_in += miss;
    *b = (struct block){number + 1, bulk->came_in, bytes > held ? bytes : held, write || (there && b->dirty)};
}

static double longest(double a, double b)
{
    return a > b ? a : b;
}

/* Streams are spread over the dies evenly, or all on one die (first touch: the die of the requesting Neural Engine, taken to be
 * the first).
 */
static void count_dies(struct mem_system *system, uint64_t slc, const struct moved *moved)
{
    const bool spread = system->params.dies > 1 && system->params.die_policy == MEM_DIE_INTERLEAVE;
    const uint64_t half = spread ? 2 : 1;
    for (uint32_t d = 0; d < system->params.dies; d++) {
        uint64_t *const die = system->traffic.die[d];
        if (!spread && d != system->fabric.home_die)
            continue;
        die[MEM_DIE_SLC] += slc / half;
        die[MEM_DIE_DRAM_READ] += moved->dram_read / half;
        die[MEM_DIE_DRAM_WRITE] += moved->dram_write / half;
    }
}

/* The requesting engine is that of die 0: what the other die holds crosses the link. Returns the bytes that cross. */
static uint64_t count_link(struct mem_system *system, uint64_t bytes, bool write)
{
    const struct mem_params *const p = &system->params;
    const bool away = p->die_policy == MEM_DIE_ONE && system->fabric.home_die != 0;
    const uint64_t crossing = p->dies < 2 ? 0 : p->die_policy == MEM_DIE_INTERLEAVE ? bytes / 2 : away ? bytes : 0;
    system->traffic.die[write || p->dies < 2 ? 0 : 1][MEM_DIE_LINK] += crossing;
    system->traffic.requester[MEM_REQUESTERS - 1][MEM_FLOW_REMOTE] += crossing;
    return crossing;
}

/* A stream uses all of a row that it opens. */
static void count_commands(struct mem_system *system, const struct moved *moved, double ns)
{
    const struct mem_params *p = &system->params;
    const double refresh_ns = p->dram_timing.refresh_interval * p->dram_timing.clock_ns / 8;
    system->activity.count[ACT_DRAM_ACTIVATES] += (moved->dram_read + moved->dram_write) / DRAM_PAGE_BYTES;
    if (p->dram_policy.refresh != DRAM_REFRESH_NONE)
        system->activity.count[ACT_DRAM_REFRESHES] += (uint64_t)(ns / refresh_ns * p->dram_channels * p->dies);
}

double mem_bulk_ns(struct mem_bulk *bulk, uint64_t address, uint64_t bytes, bool write, uint64_t *held)
{
    struct moved moved = {0};
    if (bulk->capacity == 0) {
        *(write ? &moved.dram_write : &moved.dram_read) = bytes;
    } else {
        for (uint64_t done = 0; done < bytes;) {
            const uint64_t at = address + done, left = MEM_BULK_BLOCK - at % MEM_BULK_BLOCK;
            const uint64_t part = bytes - done < left ? bytes - done : left;
            touch(bulk, at / MEM_BULK_BLOCK, (uint32_t)part, write, &moved);
            done += part;
        }
    }
    *held = write || bulk->capacity == 0 ? 0 : moved.slc_read;
    moved.dram_read = (uint64_t)((double)moved.dram_read * bulk->system->moved_share);
    moved.dram_write = (uint64_t)((double)moved.dram_write * bulk->system->moved_share);
    uint64_t *const counts = bulk->system->activity.count;
    counts[ACT_SLC_READ_BYTES] += moved.slc_read;
    counts[ACT_SLC_WRITE_BYTES] += moved.slc_write;
    counts[ACT_DRAM_READ_BYTES] += moved.dram_read;
    counts[ACT_DRAM_WRITE_BYTES] += moved.dram_write;
    uint64_t *const flow = bulk->system->traffic.requester[MEM_REQUESTERS - 1];
    flow[write ? MEM_FLOW_FABRIC_WRITE : MEM_FLOW_FABRIC_READ] += bytes;
    flow[MEM_FLOW_DRAM_READ] += moved.dram_read;
    flow[MEM_FLOW_DRAM_WRITE] += moved.dram_write;
    count_dies(bulk->system, bulk->capacity ? bytes : 0, &moved);
    const uint64_t crossing = count_link(bulk->system, bytes, write);
    const double slc_ns = bulk->capacity ? (double)bytes / bulk->slc_gbps : 0;
    const double link_gbps = bulk->system->params.die_link_gbps, link_ns = link_gbps > 0 ? (double)crossing / link_gbps : 0;
    const double dram_ns = (double)moved.dram_read / bulk->dram_read_gbps + (double)moved.dram_write / bulk->dram_write_gbps;
    const double ns = longest(longest(slc_ns, link_ns), dram_ns);
    count_commands(bulk->system, &moved, ns);
    return ns;
}
