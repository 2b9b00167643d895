#include "units/mem/mem_steady.h"

#include "units/mem/mem_internal.h"

bool mem_steady_rules(const struct mem_port *port, struct mem_steady_rules *rules)
{
    if (port->has_l1 || !port->cluster)
        return false;
    const struct mem_cluster *cluster = port->cluster;
    *rules = (struct mem_steady_rules){
        .line_ns = {port->l2_read.ns_per_byte * MEM_LINE_BYTES, cluster->l2_link.ns_per_byte * MEM_LINE_BYTES},
        .in_flight = port->misses.count,
        .tail = MEM_LINK_INTERVALS + 1 > port->misses.count ? MEM_LINK_INTERVALS + 1 : port->misses.count,
        .tail_ns = MEM_LINK_LATE_NS,
    };
    rules->latency_ns[MEM_L1] = port->shares ? port->shares->l1_latency_ns : 0.0;
    rules->latency_ns[MEM_L2] = cluster->l2_latency_ns;
    return true;
}

static double busy_until(const struct mem_link *link)
{
    return link->count == 0 ? link->floor_ns : link->end_ns[link->first + link->count - 1] + 10 * MEM_LINK_EPSILON_NS;
}

/* True when a line lies where a load will come by. */
static bool on_the_way(const struct mem_steady_load *load, uint64_t line, uint32_t periods)
{
    const uint64_t address = line << MEM_LINE_SHIFT;
    return address + MEM_LINE_BYTES > load->address && address <= load->address + load->step * periods;
}

static bool is_gathered(const struct mem_steady *s, uint32_t periods)
{
    const struct mem_gather *gather = &s->port->gather;
    for (uint32_t g = 0; g < gather->count; g++)
        for (uint32_t i = 0; gather->tag[g] && i < s->count; i++)
            if (on_the_way(&s->load[i], gather->tag[g] - 1, periods))
                return true;
    return false;
}

/* True when each load finds a free miss register: places are taken in the order in which they become free. */
static bool finds_places(const struct mem_slots *slots, const double *asked_ns, uint32_t count, double period_ns)
{
    double base_ns = 0.0;
    for (uint32_t i = 0, k = 0; count > 0 && i < slots->count; i++) {
        const uint32_t at = slots->first + i < slots->count ? slots->first + i : slots->first + i - slots->count;
        if (slots->free_ns[at] > asked_ns[k] + base_ns)
            return false;
        if (++k == count) {
            k = 0;
            base_ns += period_ns;
        }
    }
    return true;
}

bool mem_steady_idle(const struct mem_steady *s)
{
    return mem_steady_busy_until(s) < s->first_ns;
}

double mem_steady_busy_until(const struct mem_steady *s)
{
    const double own_ns = busy_until(&s->port->l2_read), all_ns = busy_until(&s->port->cluster->l2_link);
    return own_ns > all_ns ? own_ns : all_ns;
}

bool mem_steady_begin(const struct mem_steady *s, const double *asked_ns, uint32_t count, double period_ns, uint32_t periods)
{
    return finds_places(&s->port->misses, asked_ns, count, period_ns) && mem_steady_idle(s) && !is_gathered(s, periods);
}

/* True when the line is in the L1 that the port shares, with its data. */
static bool shared_l1_answers(const struct mem_steady *s, uint64_t line, struct mem_entry *found)
{
    const struct mem_cache *l1 = &s->port->shares->l1;
    *found = mem_cache_find(l1, line);
    return found->way && mem_cache_ready_ns(l1, found) <= s->first_ns;
}

/* True when no L1 can hold the line. The shared one would answer the load, and a dirty copy in another one would come down. */
static bool l1s_stay_out(const struct mem_steady *s, uint64_t line)
{
    const struct mem_port *port = s->port;
    for (uint32_t i = 0; i < port->system->port_count; i++) {
        const struct mem_port *other = port->system->port[i];
        if (!other->coherent_l1)
            continue;
        const struct mem_entry entry = mem_cache_find(&other->l1, line);
        if (entry.way && (other == port->shares || (*entry.flags & MEM_LINE_DIRTY)))
            return false;
    }
    return true;
}

#define EXPECT_PERIODS 8 /* how far ahead the host is told which sets come next */

/* What a run remembers of each load. */
struct walk {
    uint32_t way;  /* lines of an array that came in one after another lie in the same way of neighbouring sets of L2 */
    uint64_t page; /* known to the TLB; + 1 */
};

/* Handles a load that comes to another page. Returns true when the first level of the TLB knows the page. Pages that share a hint
 * displace each other, which only mem_port_access models. */
static bool enter_page(const struct mem_steady *s, uint64_t page)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const uint64_t other = s->load[i].address >> MEM_PAGE_SHIFT;
        if (other != page && mem_tlb_hint_slot(other) == mem_tlb_hint_slot(page))
            return false;
    }
    return mem_tlb_hint(&s->port->tlb, page) || mem_tlb_first_level(&s->port->tlb, page);
}

static inline bool probe(const struct mem_steady *s, const struct mem_steady_load *load, struct walk *walk,
                         struct mem_entry *found)
{
    const struct mem_port *port = s->port;
    const struct mem_cache *l2 = &port->cluster->l2;
    const uint64_t line = load->address >> MEM_LINE_SHIFT, page = load->address >> MEM_PAGE_SHIFT;
    if (__builtin_expect(walk->page != page + 1, 0)) {
        if (!enter_page(s, page))
            return false;
        walk->page = page + 1;
    }
    const bool held = mem_held_by_more(port->system, line, 0);
    if (load->level == MEM_L1)
        return held && shared_l1_answers(s, line, found);
    if (__builtin_expect(held, 0) && !l1s_stay_out(s, line))
        return false;
    const uint64_t ahead = (load->address + load->step * EXPECT_PERIODS) >> MEM_LINE_SHIFT;
    mem_cache_expect_near(l2, mem_cache_set(l2, ahead), walk->way);
    /* Field by field: the host is slow to read in one piece what it has just written in parts. */
    const struct mem_entry entry = mem_cache_find_near(l2, mem_cache_set(l2, line), line, walk->way);
    found->way = entry.way;
    found->flags = entry.flags;
    found->header = entry.header;
    found->number = entry.number;
    walk->way = found->number;
    return found->way && !(*found->flags & MEM_LINE_PREFETCHED) && mem_cache_ready_ns(l2, found) <= s->first_ns;
}

static inline bool one_period(struct mem_steady *s, struct walk *walk)
{
    struct mem_cache *l2 = &s->port->cluster->l2;
    struct mem_entry found[MEM_STEADY_LOADS];
    for (uint32_t i = 0; i < s->count; i++)
        if (!probe(s, &s->load[i], &walk[i], &found[i]))
            return false;
    for (uint32_t i = 0; i < s->count; i++) {
        struct mem_steady_load *load = &s->load[i];
        load->address += load->step;
        if (__builtin_expect(load->level == MEM_L1, 0)) {
            mem_cache_touch(&s->port->shares->l1, &found[i]);
            continue;
        }
        mem_cache_touch(l2, &found[i]);
    }
    return true;
}

uint32_t mem_steady_run(struct mem_steady *s, uint32_t periods)
{
    struct walk walk[MEM_STEADY_LOADS];
    uint64_t l1_loads = 0, l1_bytes = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        walk[i] = (struct walk){0, 0};
        l1_loads += s->load[i].level == MEM_L1;
        l1_bytes += s->load[i].level == MEM_L1 ? s->load[i].bytes : 0;
    }
    uint32_t done = 0;
    while (done < periods && one_period(s, walk))
        done++;
    struct mem_port *port = s->port;
    port->counters.hits[MEM_L1] += l1_loads * done;
    port->counters.hits[MEM_L2] += (s->count - l1_loads) * done;
    port->cluster->l2_read_bytes += (s->count - l1_loads) * done * MEM_LINE_BYTES;
    if (port->shares)
        port->shares->l1_read_bytes += l1_bytes * done;
    return done;
}

void mem_steady_book(const struct mem_steady *s, const double *asked_ns, uint32_t count, uint64_t to_come)
{
    struct mem_port *port = s->port;
    struct mem_cluster *cluster = port->cluster;
    for (uint32_t i = 0; i < count; i++) {
        double t = mem_link_take(&port->l2_read, asked_ns[i], MEM_LINE_BYTES);
        t = mem_link_take(&cluster->l2_link, t, MEM_LINE_BYTES) + cluster->l2_latency_ns;
        if (to_come + count - i <= port->misses.count)
            mem_slots_take(&port->misses, t);
    }
}
