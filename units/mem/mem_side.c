/* The memory side of the fabric: the SLC and DRAM of each die. The SLC is cut into slices, one in front of each channel. */
#include "units/mem/mem_internal.h"

#include <stdlib.h>

static bool init_die(struct mem_die *die, const struct mem_params *params)
{
    die->has_slc = params->slc.kib > 0;
    if (die->has_slc && !mem_cache_init(&die->slc, (uint64_t)params->slc.kib * 1024 / MEM_LINE_BYTES, params->slc.ways, true))
        return false;
    die->slc.clean_unnamed = true;
    if (!mem_dram_init(&die->dram, params))
        return false;
    die->slc_slice = calloc(params->dram_channels, sizeof die->slc_slice[0]);
    for (uint32_t i = 0; die->slc_slice && i < params->dram_channels; i++)
        mem_link_init(&die->slc_slice[i], params->slc_gbps / params->dram_channels);
    return die->slc_slice != NULL;
}

bool mem_side_init(struct mem_system *system)
{
    if (!mem_fabric_init(&system->fabric, &system->params))
        return false;
    for (uint32_t i = 0; i < system->params.dies; i++)
        if (!init_die(&system->die[i], &system->params))
            return false;
    return true;
}

void mem_side_release(struct mem_system *system)
{
    for (uint32_t i = 0; i < MEM_DIES_MAX; i++) {
        mem_cache_release(&system->die[i].slc);
        mem_dram_release(&system->die[i].dram);
        free(system->die[i].slc_slice);
    }
    mem_fabric_release(&system->fabric);
}

/* The home of a line in each part of a die. */
struct place {
    uint64_t line;
    uint32_t set, channel;
};

static struct place place_of(const struct mem_die *die, uint64_t line)
{
    const uint64_t hash = mem_page_hash(line >> MEM_LINES_PER_PAGE_SHIFT);
    return (struct place){line, die->has_slc ? mem_cache_set_at(&die->slc, line + hash) : 0,
                          mem_dram_channel(&die->dram, line, hash)};
}

static double slc_pass(const struct mem_system *system, struct mem_die *die, double now_ns, const struct place *place,
                       uint32_t bytes)
{
    return mem_pass(system, &die->slc_slice[place->channel], now_ns, bytes);
}

/* Bytes that DRAM moves for so many bytes. */
static uint32_t moved(const struct mem_system *system, uint32_t bytes)
{
    return system->moved_share == 1 ? bytes : (uint32_t)(bytes * system->moved_share + 0.5);
}

static double dram_write(struct mem_system *system, struct mem_die *die, uint32_t requester, double now_ns,
                         const struct place *place, uint32_t line_bytes)
{
    const uint32_t bytes = moved(system, line_bytes);
    system->activity.count[ACT_DRAM_WRITE_BYTES] += bytes;
    system->traffic.requester[requester][MEM_FLOW_DRAM_WRITE] += bytes;
    system->traffic.die[die - system->die][MEM_DIE_DRAM_WRITE] += bytes;
    if (!system->stopped)
        return mem_dram_write(&die->dram, now_ns, place->channel, place->line, bytes);
    die->dram.untimed_bytes += bytes;
    return now_ns;
}

/* Inserts a line into the SLC. Returns when its victim, if dirty, could leave. */
static double slc_fill(struct mem_system *system, struct mem_die *die, uint32_t requester, double now_ns,
                       const struct place *place, double ready_ns, uint8_t flags)
{
    struct mem_victim victim;
    mem_cache_insert_in(&die->slc, place->set, place->line, ready_ns, flags, &victim);
    system->activity.count[ACT_SLC_WRITE_BYTES] += MEM_LINE_BYTES;
    if (!victim.valid || !(victim.flags & MEM_LINE_DIRTY))
        return now_ns;
    die->writebacks++;
    system->activity.count[ACT_SLC_READ_BYTES] += MEM_LINE_BYTES;
    const struct place to = place_of(die, victim.line);
    return dram_write(system, die, requester, now_ns, &to, MEM_LINE_BYTES);
}

static struct mem_reply slc_hit(const struct mem_system *system, struct mem_die *die, const struct mem_entry *entry,
                                double now_ns)
{
    mem_cache_touch(&die->slc, entry);
    const double ready = now_ns + mem_wait(system, system->params.slc_latency_ns);
    /* The line may still be on its way from DRAM for another requester's read. */
    const double arrival = mem_cache_ready_ns(&die->slc, entry);
    if (arrival > ready)
        return (struct mem_reply){arrival, MEM_DRAM};
    return (struct mem_reply){ready, MEM_SLC};
}

void mem_side_expect(const struct mem_system *system, uint64_t line)
{
    const struct mem_die *die = &system->die[mem_fabric_likely_home(&system->fabric, line)];
    if (die->has_slc)
        mem_cache_expect(&die->slc, mem_cache_set(&die->slc, line));
}

void mem_side_expect_soon(const struct mem_system *system, uint64_t line)
{
    const struct mem_die *die = &system->die[mem_fabric_likely_home(&system->fabric, line)];
    if (die->has_slc)
        mem_cache_expect_line(&die->slc, mem_cache_set(&die->slc, line), line);
}

/* Counts the bytes of a requester through its port, over the link and into the SLC. */
static void count_pass(struct mem_system *system, const struct mem_fabric_port *port, uint32_t home, uint32_t bytes, bool write)
{
    uint64_t *const mine = system->traffic.requester[port->requester];
    mine[write ? MEM_FLOW_FABRIC_WRITE : MEM_FLOW_FABRIC_READ] += bytes;
    system->traffic.die[home][MEM_DIE_SLC] += system->die[home].has_slc ? bytes : 0;
    if (home == port->die)
        return;
    mine[MEM_FLOW_REMOTE] += bytes;
    system->traffic.die[write ? port->die : home][MEM_DIE_LINK] += bytes;
}

static double fabric_pass(struct mem_system *system, struct mem_fabric_port *port, double now_ns, uint32_t bytes, bool write,
                          uint32_t home, double *extra)
{
    *extra = 0;
    return system->stopped ? now_ns : mem_fabric_pass(&system->fabric, port, now_ns, bytes, write, home, extra);
}

struct mem_reply mem_side_read(struct mem_system *system, struct mem_fabric_port *port, double now_ns, uint64_t line,
                               uint32_t bytes)
{
    const uint32_t home = mem_fabric_home(&system->fabric, line, port->die);
    struct mem_die *die = &system->die[home];
    const struct place place = place_of(die, line);
    double extra;
    count_pass(system, port, home, bytes, false);
    double t = fabric_pass(system, port, now_ns, bytes, false, home, &extra);
    if (die->has_slc) {
        const struct mem_entry entry = mem_cache_find_in(&die->slc, place.set, line);
        t = slc_pass(system, die, t, &place, bytes);
        if (entry.way) {
            system->activity.count[ACT_SLC_READ_BYTES] += bytes;
            struct mem_reply reply = slc_hit(system, die, &entry, t);
            reply.ready_ns += extra;
            return reply;
        }
        mem_cache_expect_insert(&die->slc, place.set);
    }
    bytes = moved(system, die->has_slc ? MEM_LINE_BYTES : bytes); /* the SLC keeps whole lines */
    system->activity.count[ACT_DRAM_READ_BYTES] += bytes;
    system->traffic.requester[port->requester][MEM_FLOW_DRAM_READ] += bytes;
    system->traffic.die[home][MEM_DIE_DRAM_READ] += bytes;
    double ready = t;
    if (system->stopped)
        die->dram.untimed_bytes += bytes;
    else
        ready = mem_dram_read(&die->dram, t, place.channel, line, bytes);
    if (die->has_slc)
        slc_fill(system, die, port->requester, t, &place, ready, 0);
    return (struct mem_reply){ready + extra, MEM_DRAM};
}

double mem_side_again(struct mem_system *system, struct mem_fabric_port *port, double now_ns, uint64_t line, enum mem_level level)
{
    const uint32_t home = mem_fabric_home(&system->fabric, line, port->die);
    struct mem_die *die = &system->die[home];
    const struct place place = place_of(die, line);
    double extra, t = fabric_pass(system, port, now_ns, MEM_LINE_BYTES, false, home, &extra) + extra;
    if (die->has_slc)
        t = slc_pass(system, die, t, &place, MEM_LINE_BYTES);
    if (level == MEM_SLC)
        return t + system->params.slc_latency_ns;
    return mem_dram_read(&die->dram, t, place.channel, line, moved(system, MEM_LINE_BYTES));
}

double mem_side_write(struct mem_system *system, struct mem_fabric_port *port, double now_ns, uint64_t line, uint32_t bytes)
{
    const uint32_t home = mem_fabric_home(&system->fabric, line, port->die);
    struct mem_die *die = &system->die[home];
    const struct place place = place_of(die, line);
    double extra;
    count_pass(system, port, home, bytes, true);
    double t = fabric_pass(system, port, now_ns, bytes, true, home, &extra) + extra;
    if (!die->has_slc)
        return dram_write(system, die, port->requester, t, &place, bytes);
    t = slc_pass(system, die, t, &place, bytes);
    const struct mem_entry entry = mem_cache_find_in(&die->slc, place.set, line);
    if (!entry.way)
        return slc_fill(system, die, port->requester, t, &place, t, MEM_LINE_DIRTY);
    mem_cache_touch(&die->slc, &entry);
    *entry.flags |= MEM_LINE_DIRTY;
    system->activity.count[ACT_SLC_WRITE_BYTES] += bytes;
    return t;
}
