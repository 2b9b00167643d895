#include "units/mem/mem_tally.h"

#include "units/mem/mem_internal.h"

#include <string.h>

_Static_assert(sizeof(struct mem_tally) % sizeof(uint64_t) == 0, "a row of 64-bit counts");
#define COUNTS (sizeof(struct mem_tally) / sizeof(uint64_t))

void mem_tally_take(const struct mem_port *port, struct mem_tally *tally)
{
    const struct mem_system *const system = port->system;
    const struct mem_cluster *const cluster = port->cluster;
    memset(tally, 0, sizeof *tally);
    tally->port = port->counters;
    tally->port.tlb_misses = port->tlb.misses;
    tally->l1_read_bytes = port->l1_read_bytes;
    tally->l1_write_bytes = port->l1_write_bytes;
    if (cluster) {
        tally->l2_read_bytes = cluster->l2_read_bytes;
        tally->l2_write_bytes = cluster->l2_write_bytes;
        tally->writebacks = cluster->writebacks;
    }
    for (uint32_t i = 0; i < system->params.dies; i++) {
        tally->untimed_bytes[i] = system->die[i].dram.untimed_bytes;
        tally->die_writebacks[i] = system->die[i].writebacks;
    }
    tally->activity = system->activity;
    tally->traffic = system->traffic;
}

static void give(struct mem_port *port, const struct mem_tally *tally)
{
    struct mem_system *const system = port->system;
    struct mem_cluster *const cluster = port->cluster;
    const uint64_t tlb_misses = port->counters.tlb_misses;
    port->counters = tally->port;
    port->counters.tlb_misses = tlb_misses;
    port->tlb.misses = tally->port.tlb_misses;
    port->l1_read_bytes = tally->l1_read_bytes;
    port->l1_write_bytes = tally->l1_write_bytes;
    if (cluster) {
        cluster->l2_read_bytes = tally->l2_read_bytes;
        cluster->l2_write_bytes = tally->l2_write_bytes;
        cluster->writebacks = tally->writebacks;
    }
    for (uint32_t i = 0; i < system->params.dies; i++) {
        system->die[i].dram.untimed_bytes = tally->untimed_bytes[i];
        system->die[i].writebacks = tally->die_writebacks[i];
    }
    system->activity = tally->activity;
    system->traffic = tally->traffic;
}

void mem_tally_stretch(struct mem_port *port, const struct mem_tally *since, double factor)
{
    struct mem_tally now;
    uint64_t before[COUNTS], after[COUNTS];
    mem_tally_take(port, &now);
    memcpy(before, since, sizeof before);
    memcpy(after, &now, sizeof after);
    for (size_t i = 0; i < COUNTS; i++)
        after[i] = before[i] + (uint64_t)((double)(after[i] - before[i]) * factor + 0.5);
    memcpy(&now, after, sizeof now);
    give(port, &now);
}

uint64_t mem_port_lines(const struct mem_port *port)
{
    const struct mem_system *const system = port->system;
    uint64_t lines = (uint64_t)port->l1.sets * port->l1.ways;
    if (port->cluster)
        lines += (uint64_t)port->cluster->l2.sets * port->cluster->l2.ways;
    for (uint32_t i = 0; i < system->params.dies; i++)
        lines += (uint64_t)system->die[i].slc.sets * system->die[i].slc.ways;
    return lines;
}
