#include "units/mem/mem_steady.h"

#include "units/mem/mem_internal.h"
#include "units/mem/mem_streams.h"

#include <string.h>

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

bool mem_steady_gathered(const struct mem_steady *s, uint32_t periods)
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
    return finds_places(&s->port->misses, asked_ns, count, period_ns) && mem_steady_idle(s) && !mem_steady_gathered(s, periods);
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

static inline bool probe(const struct mem_steady *s, const struct mem_steady_load *load, struct walk *walk,
                         struct mem_entry *found)
{
    const struct mem_port *port = s->port;
    const struct mem_cache *l2 = &port->cluster->l2;
    const uint64_t line = load->address >> MEM_LINE_SHIFT, page = load->address >> MEM_PAGE_SHIFT;
    if (__builtin_expect(walk->page != page + 1, 0)) {
        if (!mem_steady_enter(s, page))
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
    struct mem_cluster *const cluster = s->port->cluster;
    struct mem_entry found[MEM_STEADY_LOADS];
    for (uint32_t i = 0; i < s->count; i++)
        if (!probe(s, &s->load[i], &walk[i], &found[i]))
            return false;
    for (uint32_t i = 0; i < s->count; i++) {
        struct mem_steady_load *load = &s->load[i];
        const uint32_t set = mem_cache_set(&cluster->l2, load->address >> MEM_LINE_SHIFT);
        load->address += load->step;
        if (__builtin_expect(load->level == MEM_L1, 0)) {
            mem_cache_touch(&s->port->shares->l1, &found[i]);
            continue;
        }
        mem_l2_touch(cluster, set, &found[i]);
    }
    return true;
}

static uint32_t lines_one_by_one(struct mem_steady *s, uint32_t periods)
{
    struct walk walk[MEM_STEADY_LOADS];
    uint32_t done = 0;
    memset(walk, 0, s->count * sizeof walk[0]);
    while (done < periods && one_period(s, walk))
        done++;
    return done;
}

static uint32_t walk_all(struct mem_steady *s, uint32_t periods)
{
    if (!mem_streams_find(s))
        return lines_one_by_one(s, periods);
    uint32_t done = 0;
    while (done < periods) {
        uint32_t apart, n = mem_streams_known(s, periods - done, &apart);
        const bool known = n > 0;
        if (known) {
            mem_streams_touch(s, n);
        } else {
            n = lines_one_by_one(s, apart);
            mem_streams_advance(s, n);
        }
        done += n;
        if (!known && n < apart)
            break;
    }
    return done;
}

uint32_t mem_steady_run(struct mem_steady *s, uint32_t periods)
{
    uint64_t l1_loads = 0, l1_bytes = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        l1_loads += s->load[i].level == MEM_L1;
        l1_bytes += s->load[i].level == MEM_L1 ? s->load[i].bytes : 0;
    }
    const uint32_t done = walk_all(s, periods);
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

/* ---- periods that begin while the links are in use ---- */

uint32_t mem_steady_known(struct mem_steady *s, uint32_t most, uint32_t *apart)
{
    *apart = most;
    return most > 0 && !mem_steady_gathered(s, most) && mem_streams_find(s) ? mem_streams_known(s, most, apart) : 0;
}

bool mem_steady_try(const struct mem_steady *s, struct mem_steady_try *p)
{
    const struct mem_port *const port = s->port;
    const struct mem_link *const link = &port->cluster->l2_link;
    const struct mem_slots *const slots = &port->misses;
    const uint32_t count = s->count;
    double *const to = p->link_ns[0], *const at = p->link_ns[1];
    if (port->l2_read.ns_per_byte > 0 || port->system->stopped || (slots->count && count > slots->count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const double free_ns = slots->count ? mem_slots_free_ns(slots, i) : 0;
        to[i] = free_ns > p->asked_ns[i] ? free_ns : p->asked_ns[i];
        if (i > 0 && to[i] < to[i - 1])
            return false;
    }
    if (link->ns_per_byte <= 0)
        memcpy(at, to, count * sizeof at[0]);
    else if (!mem_link_try(link, to, count, link->ns_per_byte * MEM_LINE_BYTES, at))
        return false;
    for (uint32_t i = 0; i < count; i++)
        p->done_ns[i] = at[i] + port->cluster->l2_latency_ns;
    return slots->count == 0 || p->done_ns[0] >= mem_slots_free_ns(slots, slots->count - 1);
}

void mem_steady_take(const struct mem_steady *s, const struct mem_steady_try *p, uint32_t lines)
{
    struct mem_link *const link = &s->port->cluster->l2_link;
    if (link->ns_per_byte > 0)
        mem_link_take_tried(link, p->link_ns[0], lines, link->ns_per_byte * MEM_LINE_BYTES, p->link_ns[1]);
    for (uint32_t i = 0; i < lines; i++)
        mem_slots_take_last(&s->port->misses, p->done_ns[i]);
}

void mem_steady_pass(struct mem_steady *s, uint32_t periods, uint32_t lines)
{
    struct mem_cluster *const cluster = s->port->cluster;
    const uint64_t all = (uint64_t)periods * s->count + lines;
    mem_streams_touch(s, periods);
    for (uint32_t i = 0; i < lines; i++) {
        const uint64_t line = s->load[i].address >> MEM_LINE_SHIFT;
        mem_later_touch_line(cluster->later, &cluster->l2, mem_cache_set(&cluster->l2, line), line);
    }
    s->port->counters.hits[MEM_L2] += all;
    cluster->l2_read_bytes += all * MEM_LINE_BYTES;
}
