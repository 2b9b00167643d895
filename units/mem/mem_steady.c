#include "units/mem/mem_steady.h"

#include "units/mem/mem_internal.h"

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

#define STREAMS_MAX      4
#define PAGE_PERIODS_MIN 2
#define EXPECT_PERIODS   8 /* how far ahead the host is told which sets come next */

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

/* ---- by pages ---- */

/* Loads that together touch every line of an array in turn. */
struct stream {
    uint64_t address;               /* of the first line of the next period */
    uint32_t lines;                 /* in a period */
    uint8_t load[MEM_STEADY_LOADS]; /* of each line: its place among the loads */
};

struct streams {
    uint32_t count;
    struct stream of[STREAMS_MAX];
};

/* Adds a load to its stream. Returns false when it does not fit. */
static bool join(struct streams *streams, const struct mem_steady_load *load)
{
    for (uint32_t k = 0; k < streams->count; k++) {
        struct stream *const stream = &streams->of[k];
        if (load->step == (uint64_t)stream->lines * MEM_LINE_BYTES && load->address >= stream->address &&
            load->address - stream->address < load->step)
            return true;
    }
    const uint64_t lines = load->step / MEM_LINE_BYTES;
    if (streams->count == STREAMS_MAX || load->step % MEM_LINE_BYTES != 0 || lines == 0 || lines > MEM_STEADY_LOADS)
        return false;
    streams->of[streams->count++] =
        (struct stream){.address = load->address & ~(uint64_t)(MEM_LINE_BYTES - 1), .lines = (uint32_t)lines};
    return true;
}

/* Fills the places of a stream's loads. Returns false unless there is one load for each line. */
static bool find_loads(const struct mem_steady *s, struct stream *stream)
{
    uint64_t there = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const uint64_t line = (s->load[i].address - stream->address) >> MEM_LINE_SHIFT;
        if (line >= stream->lines)
            continue;
        if (there >> line & 1)
            return false;
        there |= UINT64_C(1) << line;
        stream->load[line] = (uint8_t)i;
    }
    return there == UINT64_MAX >> (64 - stream->lines);
}
_Static_assert(MEM_STEADY_LOADS <= 64, "a bit for each line of a period");

/* False when the loads are not made of streams from L2, or L2 cannot keep notes. */
static bool find_streams(const struct mem_steady *s, struct streams *streams)
{
    struct mem_cluster *const cluster = s->port->cluster;
    streams->count = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->load[i].level != MEM_L2 || !join(streams, &s->load[i]))
            return false;
    for (uint32_t k = 0; k < streams->count; k++)
        if (!find_loads(s, &streams->of[k]))
            return false;
    return streams->count > 0 && mem_l2_notes(cluster);
}

static uint32_t line_in_page(const struct stream *stream)
{
    return stream->address >> MEM_LINE_SHIFT & (MEM_PAGE_LINES - 1);
}

/* True when some L1 may hold a line of a page. */
static bool page_is_held(const struct mem_system *system, uint64_t page)
{
    const uint16_t *const holders =
        system->holders + mem_holder_slot(page << MEM_LINES_PER_PAGE_SHIFT) / MEM_PAGE_LINES * MEM_PAGE_LINES;
    uint32_t any = 0;
    for (uint32_t i = 0; system->held > 0 && i < MEM_PAGE_LINES; i++)
        any |= holders[i];
    return any != 0;
}
_Static_assert(MEM_HOLDERS % MEM_PAGE_LINES == 0, "the lines of a page share a block of the table");

/* True when two streams leave the sets that they share in one order, whichever set it is: then *first says which goes first. */
static bool in_order(const struct stream *a, const struct stream *b, uint32_t periods, bool *first)
{
    const uint32_t from_a = line_in_page(a), from_b = line_in_page(b);
    *first = true;
    if (from_a + periods * a->lines <= from_b || from_b + periods * b->lines <= from_a)
        return true; /* they share none */
    if (a->lines != b->lines)
        return false;
    if (from_a != from_b) {
        *first = from_a > from_b;
        return (*first ? from_a - from_b : from_b - from_a) >= a->lines;
    }
    *first = a->load[0] < b->load[0];
    for (uint32_t i = 1; i < a->lines; i++)
        if ((a->load[i] < b->load[i]) != *first)
            return false;
    return true;
}

/* Writes the streams in the order of their touches. False when it differs from set to set. */
static bool order_streams(const struct mem_steady *s, const struct streams *streams, uint32_t periods, uint8_t *order)
{
    const struct mem_cache *const l2 = &s->port->cluster->l2;
    bool first;
    for (uint32_t k = 0; k < streams->count; k++) {
        const uint32_t part = mem_cache_set(l2, streams->of[k].address >> MEM_LINE_SHIFT) / MEM_PAGE_LINES;
        uint32_t at = k;
        for (uint32_t i = 0; i < k; i++) {
            const struct stream *const other = &streams->of[order[i]];
            if (mem_cache_set(l2, other->address >> MEM_LINE_SHIFT) / MEM_PAGE_LINES != part)
                continue;
            if (!in_order(&streams->of[k], other, periods, &first))
                return false;
            at = first && at > i ? i : at;
        }
        memmove(order + at + 1, order + at, k - at);
        order[at] = (uint8_t)k;
    }
    return true;
}

/* Accounts for periods in which every stream stays in its page, of which all lines are known. Returns how many; 0 when they must
 * be looked at line by line, and then *apart is how many. */
static uint32_t pages(struct mem_steady *s, struct streams *streams, uint32_t most, uint32_t *apart)
{
    struct mem_cluster *const cluster = s->port->cluster;
    uint8_t order[STREAMS_MAX];
    uint32_t periods = most;
    for (uint32_t k = 0; k < streams->count; k++) {
        const uint32_t room = (MEM_PAGE_LINES - line_in_page(&streams->of[k])) / streams->of[k].lines;
        periods = room < periods ? room : periods;
    }
    *apart = periods > 0 ? periods : 1;
    if (periods < PAGE_PERIODS_MIN || !order_streams(s, streams, periods, order))
        return 0;
    for (uint32_t k = 0; k < streams->count; k++) {
        const struct stream *const stream = &streams->of[k];
        const uint64_t page = stream->address >> MEM_PAGE_SHIFT;
        const uint32_t from = line_in_page(stream);
        if (page_is_held(s->port->system, page) || !enter_page(s, page) ||
            !mem_later_knows(cluster->later, &cluster->l2, page, from, from + periods * stream->lines, s->first_ns))
            return 0;
    }
    for (uint32_t k = 0; k < streams->count; k++) {
        struct stream *const stream = &streams->of[order[k]];
        const uint32_t from = line_in_page(stream);
        mem_later_touch(cluster->later, &cluster->l2, stream->address >> MEM_PAGE_SHIFT, from, from + periods * stream->lines);
    }
    return periods;
}

void mem_steady_learn(const struct mem_steady *s, uint32_t periods)
{
    struct streams streams;
    if (!find_streams(s, &streams))
        return;
    struct mem_cluster *const cluster = s->port->cluster;
    for (uint32_t k = 0; k < streams.count; k++) {
        uint64_t line = streams.of[k].address >> MEM_LINE_SHIFT;
        for (uint64_t left = (uint64_t)periods * streams.of[k].lines; left > 0;) {
            const uint32_t from = line % MEM_PAGE_LINES, room = MEM_PAGE_LINES - from, lines = left < room ? (uint32_t)left : room;
            mem_later_knows(cluster->later, &cluster->l2, line >> MEM_LINES_PER_PAGE_SHIFT, from, from + lines, s->first_ns);
            line += lines;
            left -= lines;
        }
    }
}

static void advance(struct streams *streams, uint32_t periods)
{
    for (uint32_t k = 0; k < streams->count; k++)
        streams->of[k].address += (uint64_t)periods * streams->of[k].lines * MEM_LINE_BYTES;
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
    struct streams streams;
    if (!find_streams(s, &streams))
        return lines_one_by_one(s, periods);
    uint32_t done = 0;
    while (done < periods) {
        uint32_t apart;
        uint32_t n = pages(s, &streams, periods - done, &apart);
        for (uint32_t i = 0; n > 0 && i < s->count; i++)
            s->load[i].address += s->load[i].step * n;
        const bool whole = n > 0;
        if (!whole)
            n = lines_one_by_one(s, apart);
        advance(&streams, n);
        done += n;
        if (!whole && n < apart)
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
