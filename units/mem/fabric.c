#include "units/mem/fabric.h"

#include "units/mem/cache.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_PAGES 1024 /* initial capacity, a power of two */

bool mem_fabric_init(struct mem_fabric *fabric, const struct mem_params *params)
{
    memset(fabric, 0, sizeof *fabric);
    if (params->dies == 0 || params->dies > MEM_DIES_MAX)
        return false;
    fabric->dies = params->dies;
    fabric->policy = params->die_policy;
    fabric->home_die = params->home_die < params->dies ? params->home_die : 0;
    fabric->link_latency_ns = params->die_link_latency_ns;
    for (uint32_t i = 0; i < MEM_DIES_MAX; i++) {
        mem_link_init(&fabric->from_die[i], params->die_link_gbps);
        mem_link_init(&fabric->cpu_read[i], params->cpu_fabric_gbps);
        mem_link_init(&fabric->cpu_write[i], params->cpu_fabric_gbps);
    }
    return true;
}

void mem_fabric_release(struct mem_fabric *fabric)
{
    free(fabric->page_key);
    free(fabric->page_die);
    memset(fabric, 0, sizeof *fabric);
}

void mem_fabric_restart(struct mem_fabric *fabric, double now_ns)
{
    for (uint32_t i = 0; i < MEM_DIES_MAX; i++) {
        mem_link_restart(&fabric->from_die[i], now_ns);
        mem_link_restart(&fabric->cpu_read[i], now_ns);
        mem_link_restart(&fabric->cpu_write[i], now_ns);
    }
}

void mem_fabric_port_init(struct mem_fabric_port *port, double gbps, double both_gbps, uint32_t die, uint32_t requester)
{
    mem_link_init(&port->read, gbps);
    mem_link_init(&port->write, gbps);
    mem_link_init(&port->both, both_gbps);
    port->die = die;
    port->requester = requester;
}

void mem_fabric_port_restart(struct mem_fabric_port *port, double now_ns)
{
    mem_link_restart(&port->read, now_ns);
    mem_link_restart(&port->write, now_ns);
    mem_link_restart(&port->both, now_ns);
}

static uint32_t page_slot(const struct mem_fabric *fabric, uint64_t page)
{
    uint32_t i = (uint32_t)mem_page_hash(page) & (fabric->page_capacity - 1);
    while (fabric->page_key[i] != 0 && fabric->page_key[i] != page + 1)
        i = (i + 1) & (fabric->page_capacity - 1);
    return i;
}

static bool grow_pages(struct mem_fabric *fabric)
{
    struct mem_fabric larger = *fabric;
    larger.page_capacity = fabric->page_capacity ? 2 * fabric->page_capacity : FIRST_PAGES;
    larger.page_key = calloc(larger.page_capacity, sizeof larger.page_key[0]);
    larger.page_die = calloc(larger.page_capacity, sizeof larger.page_die[0]);
    if (!larger.page_key || !larger.page_die) {
        free(larger.page_key);
        free(larger.page_die);
        return false;
    }
    for (uint32_t i = 0; i < fabric->page_capacity; i++) {
        if (fabric->page_key[i] == 0)
            continue;
        const uint32_t to = page_slot(&larger, fabric->page_key[i] - 1);
        larger.page_key[to] = fabric->page_key[i];
        larger.page_die[to] = fabric->page_die[i];
    }
    free(fabric->page_key);
    free(fabric->page_die);
    *fabric = larger;
    return true;
}

static uint32_t first_touch_home(struct mem_fabric *fabric, uint64_t page, uint32_t toucher)
{
    /* Memory is out: the page gets no home of its own and counts as local. */
    if (2 * (fabric->page_count + 1) > fabric->page_capacity && !grow_pages(fabric))
        return toucher;
    const uint32_t slot = page_slot(fabric, page);
    if (fabric->page_key[slot] == 0) {
        fabric->page_key[slot] = page + 1;
        fabric->page_die[slot] = (uint8_t)toucher;
        fabric->page_count++;
    }
    return fabric->page_die[slot];
}

static uint32_t interleaved_home(const struct mem_fabric *fabric, uint64_t page)
{
    return (uint32_t)(mem_page_hash(page) >> 40) % fabric->dies;
}

uint32_t mem_fabric_home(struct mem_fabric *fabric, uint64_t line, uint32_t toucher)
{
    if (fabric->dies == 1)
        return 0;
    if (fabric->policy == MEM_DIE_ONE)
        return fabric->home_die;
    const uint64_t page = line >> MEM_LINES_PER_PAGE_SHIFT;
    if (fabric->policy == MEM_DIE_FIRST_TOUCH)
        return first_touch_home(fabric, page, toucher);
    return interleaved_home(fabric, page);
}

uint32_t mem_fabric_likely_home(const struct mem_fabric *fabric, uint64_t line)
{
    const bool spread = fabric->dies > 1 && fabric->policy == MEM_DIE_INTERLEAVE;
    return spread ? interleaved_home(fabric, line >> MEM_LINES_PER_PAGE_SHIFT) : fabric->home_die;
}

double mem_fabric_pass(struct mem_fabric *fabric, struct mem_fabric_port *port, double now_ns, uint32_t bytes, bool write,
                       uint32_t home, double *extra_ns)
{
    double t = mem_link_take(write ? &port->write : &port->read, now_ns, bytes);
    t = mem_link_take(&port->both, t, bytes);
    if (port->cpu)
        t = mem_link_take(write ? &fabric->cpu_write[port->die] : &fabric->cpu_read[port->die], t, bytes);
    *extra_ns = 0.0;
    if (home != port->die) {
        t = mem_link_take(&fabric->from_die[write ? port->die : home], t, bytes);
        *extra_ns = fabric->link_latency_ns;
    }
    return t;
}
