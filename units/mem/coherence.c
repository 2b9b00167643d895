/* Write-invalidate coherence between L1s and between the L2s of clusters. Only its effect on contents and the traffic of
 * forced write-backs are modelled: a read of a line that is dirty elsewhere finds it one level down, later.
 */
#include "units/mem/mem_internal.h"

void mem_coherence_clean_l1s(struct mem_port *port, double now_ns, uint64_t line)
{
    const struct mem_system *system = port->system;
    for (uint32_t i = 0; i < system->port_count; i++) {
        struct mem_port *other = system->port[i];
        if (other == port || !other->coherent_l1 || !other->cluster)
            continue;
        const struct mem_entry entry = mem_cache_find(&other->l1, line);
        if (!entry.way || !(*entry.flags & MEM_LINE_DIRTY))
            continue;
        *entry.flags &= (uint8_t)~MEM_LINE_DIRTY;
        other->counters.writebacks[MEM_L1]++;
        mem_cluster_write(other, now_ns, line, true);
    }
}

void mem_coherence_clean_l2s(struct mem_port *port, double now_ns, uint64_t line)
{
    struct mem_system *system = port->system;
    for (uint32_t i = 0; i < system->params.cluster_count; i++) {
        struct mem_cluster *other = &system->cluster[i];
        if (other == port->cluster || other->l2.used == 0)
            continue;
        const struct mem_entry entry = mem_cache_find(&other->l2, line);
        if (!entry.way || !(*entry.flags & MEM_LINE_DIRTY))
            continue;
        *entry.flags &= (uint8_t)~MEM_LINE_DIRTY;
        other->writebacks++;
        mem_side_write(system, &other->fabric, now_ns, line, MEM_LINE_BYTES);
    }
}

void mem_coherence_write(struct mem_port *port, uint64_t line, bool own)
{
    struct mem_system *system = port->system;
    if (mem_held_by_more(system, line, own))
        for (uint32_t i = 0; i < system->port_count; i++)
            if (system->port[i] != port && system->port[i]->coherent_l1)
                mem_port_l1_drop(system->port[i], line, NULL);
    for (uint32_t i = 0; i < system->params.cluster_count; i++)
        if (&system->cluster[i] != port->cluster && system->cluster[i].l2.used > 0)
            mem_l2_remove(&system->cluster[i], line);
}
