/* What the host is told of the memory that coming accesses will need. Changes nothing in the model. */
#include "units/mem/mem_internal.h"

void mem_port_expect(const struct mem_port *port, uint64_t addr)
{
    const struct mem_cluster *cluster = port->cluster;
    const uint64_t line = addr >> MEM_LINE_SHIFT;
    if (cluster)
        mem_cache_expect(&cluster->l2, mem_cache_set(&cluster->l2, line));
    mem_side_expect(port->system, line);
}

void mem_port_expect_side(const struct mem_port *port, uint64_t addr)
{
    mem_side_expect(port->system, addr >> MEM_LINE_SHIFT);
}

void mem_port_expect_soon(const struct mem_port *port, uint64_t addr)
{
    const struct mem_cluster *cluster = port->cluster;
    const uint64_t line = addr >> MEM_LINE_SHIFT;
    if (cluster)
        mem_cache_expect_line(&cluster->l2, mem_cache_set(&cluster->l2, line), line);
    mem_side_expect_soon(port->system, line);
}

/* The dirty line that an insertion into this set will displace. */
static bool displaces(const struct mem_cache *cache, uint32_t set, uint64_t *line)
{
    const uint32_t last = mem_cache_last(cache, set);
    if (!(mem_cache_header(cache, set)->flags[last] & MEM_LINE_DIRTY))
        return false; /* the line itself is in another line of the host, which nobody needs then */
    *line = mem_cache_ways(cache, set)[last].tag - 1;
    return true;
}

void mem_port_expect_victims(const struct mem_port *port, uint64_t addr)
{
    const struct mem_cluster *cluster = port->cluster;
    const uint64_t line = addr >> MEM_LINE_SHIFT;
    uint64_t victim = 0;
    if (port->has_l1 && displaces(&port->l1, mem_cache_set(&port->l1, line), &victim) && cluster)
        mem_cache_expect(&cluster->l2, mem_cache_set(&cluster->l2, victim));
    if (cluster && displaces(&cluster->l2, mem_cache_set(&cluster->l2, line), &victim))
        mem_side_expect(port->system, victim);
    if (port->coherent_l1)
        __builtin_prefetch(&port->system->holders[mem_holder_slot(line)], 1);
}

/* The place of a line in L1, and what that line needs which has to leave for it. */
static void expect_room(const struct mem_port *port, uint64_t line)
{
    const uint32_t set = mem_cache_set(&port->l1, line);
    uint64_t leaves;
    if (displaces(&port->l1, set, &leaves) && port->cluster)
        mem_cache_expect_line(&port->cluster->l2, mem_cache_set(&port->cluster->l2, leaves), leaves);
    else
        mem_cache_expect_insert(&port->l1, set);
    __builtin_prefetch(&port->system->holders[mem_holder_slot(line)], 1);
}

void mem_port_expect_miss(const struct mem_port *port, uint64_t line, bool keep)
{
    const struct mem_cluster *const cluster = port->cluster;
    if (cluster)
        mem_cache_expect(&cluster->l2, mem_cache_set(&cluster->l2, line));
    if (!cluster || cluster->missed & MEM_MISSED_LATELY)
        mem_side_expect(port->system, line);
    if (keep && port->coherent_l1)
        expect_room(port, line);
}
