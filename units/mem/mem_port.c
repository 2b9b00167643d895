/* A requester's way into the memory system: translation, L1, miss registers, store gathering. */
#include "units/mem/mem_fast.h"
#include "units/mem/mem_internal.h"

static void mem_port_count(struct mem_port *port, enum mem_level level)
{
    const enum mem_level nearest = port->has_l1 ? MEM_L1 : port->cluster ? MEM_L2 : MEM_SLC;
    port->counters.hits[level]++;
    for (enum mem_level l = nearest; l < level; l++)
        port->counters.misses[l]++;
}

void mem_port_count_evicted(struct mem_port *port, const struct mem_victim *victim, bool by_prefetch)
{
    if (!victim->valid)
        return;
    if (victim->flags & MEM_LINE_PREFETCHED)
        port->counters.prefetch_evicted_unused++;
    else if (by_prefetch)
        port->counters.demand_evicted_by_prefetch++;
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* Reads from the level below the port's own cache. */
static struct mem_reply read_below(struct mem_port *port, double now_ns, uint64_t line, unsigned quarters, bool *was_prefetched)
{
    *was_prefetched = false;
    if (port->cluster)
        return mem_cluster_read(port, now_ns, line, quarters, was_prefetched);
    mem_coherence_read(port, now_ns, line);
    if (port->system->params.cluster_count > 0)
        mem_coherence_clean_l2s(port, now_ns, line);
    return mem_side_read(port->system, &port->fabric, now_ns, line, MEM_LINE_BYTES);
}

static double write_below(struct mem_port *port, double now_ns, uint64_t line, uint32_t bytes)
{
    return port->cluster ? mem_cluster_write(port, now_ns, line, bytes == MEM_LINE_BYTES)
                         : mem_side_write(port->system, &port->fabric, now_ns, line, bytes);
}

double mem_port_l1_fill(struct mem_port *port, double now_ns, uint64_t line, double ready_ns, uint8_t flags)
{
    struct mem_victim victim;
    mem_cache_insert(&port->l1, line, ready_ns, flags, &victim);
    if (!port->coherent_l1)
        return now_ns;
    port->system->holders[mem_holder_slot(line)]++;
    port->system->held += !victim.valid;
    if (!victim.valid)
        return now_ns;
    port->system->holders[mem_holder_slot(victim.line)]--;
    mem_port_count_evicted(port, &victim, (flags & MEM_LINE_PREFETCHED) != 0);
    if (!(victim.flags & MEM_LINE_DIRTY))
        return now_ns;
    port->counters.writebacks[MEM_L1]++;
    return write_below(port, now_ns, victim.line, MEM_LINE_BYTES);
}

uint8_t mem_port_l1_drop(struct mem_port *port, uint64_t line, bool *present)
{
    bool was;
    const uint8_t flags = mem_cache_remove(&port->l1, line, &was);
    if (was && port->coherent_l1) {
        port->system->holders[mem_holder_slot(line)]--;
        port->system->held--;
    }
    if (present)
        *present = was;
    return flags;
}

/* A miss that brings in the whole line: a read, or the read that a partial store needs. */
struct missed {
    struct mem_reply reply;
    double issued_ns; /* a miss register was free */
};

/* A line of which some quarters are in L1 has the others as well now. */
static bool joins_part(struct mem_port *port, uint64_t line, unsigned quarters)
{
    const struct mem_entry entry = quarters == MEM_LINE_QUARTERS ? (struct mem_entry){0} : mem_cache_find(&port->l1, line);
    if (!entry.way)
        return false;
    *entry.flags &= (uint8_t)~mem_line_without_quarters(~quarters);
    mem_cache_touch(&port->l1, &entry);
    return true;
}

/* A place in L1 for what was read of a line: at once, or when its data arrive. Returns when what it displaces is gone. */
static double keep_line(struct mem_port *port, const struct missed *m, uint64_t line, unsigned quarters, uint8_t flags)
{
    const uint8_t from = (uint8_t)((uint8_t)m->reply.level << MEM_LINE_FROM_SHIFT);
    if (port->flight.sets && !port->system->stopped)
        mem_flight_add(&port->flight, &port->l1, line, quarters, m->reply.ready_ns, m->reply.level);
    else if (!joins_part(port, line, quarters))
        return mem_port_l1_fill(port, m->issued_ns, line, m->reply.ready_ns,
                                (uint8_t)(flags | from | mem_line_without_quarters(quarters)));
    return m->issued_ns;
}

static struct missed fetch(struct mem_port *port, double now_ns, uint64_t line, unsigned quarters, uint64_t pc, bool keep,
                           uint8_t flags)
{
    mem_port_expect_miss(port, line, keep);
    struct missed m;
    bool was_prefetched;
    m.issued_ns = mem_place(port->system, &port->misses, now_ns);
    m.reply = read_below(port, m.issued_ns, line, quarters, &was_prefetched);
    mem_hold(port->system, &port->misses, m.reply.ready_ns);
    if (was_prefetched && port->cluster)
        mem_port_count_used(port, m.reply.ready_ns, m.issued_ns + port->cluster->l2_latency_ns);
    if (keep)
        m.reply.ready_ns = later(m.reply.ready_ns, keep_line(port, &m, line, quarters, flags));
    if (port->prefetcher.params.streams && (keep || m.reply.level != MEM_L2 || was_prefetched))
        mem_port_prefetch(port, m.issued_ns, line, pc);
    return m;
}

/* A line that was being gathered may have come into L1 meanwhile through a prefetch; it then only becomes dirty. */
static bool dirty_in_l1(struct mem_port *port, uint64_t line)
{
    const struct mem_entry entry = port->coherent_l1 ? mem_cache_find(&port->l1, line) : (struct mem_entry){0};
    if (!entry.way)
        return false;
    mem_coherence_write(port, line, true);
    *entry.flags |= MEM_LINE_DIRTY;
    return true;
}

static bool whole_in_l2(const struct mem_port *port, uint64_t line)
{
    const struct mem_entry entry = mem_cache_find(&port->cluster->l2, line);
    return entry.way && !mem_line_lacks(*entry.flags, MEM_LINE_WHOLE);
}

/* What there is of a gathered line that will not be completed goes on: the L2 of a GPU takes parts, others take lines, of which
 * what is missing is read. Returns when the miss was issued. */
static double fill_gathered(struct mem_port *port, double now_ns, uint64_t line)
{
    if (dirty_in_l1(port, line))
        return now_ns;
    port->counters.gathered++;
    mem_coherence_write(port, line, false);
    if (port->params.write_through && port->cluster)
        return mem_cluster_write(port, now_ns, line, false);
    const struct missed m = fetch(port, now_ns, line, MEM_LINE_QUARTERS, 0, port->coherent_l1, MEM_LINE_DIRTY);
    if (!port->coherent_l1)
        write_below(port, m.issued_ns, line, MEM_LINE_BYTES);
    return m.issued_ns;
}

/* Writes a line of which every byte is new. Returns when the write was accepted. */
static double write_whole(struct mem_port *port, double now_ns, uint64_t line)
{
    if (dirty_in_l1(port, line))
        return now_ns;
    mem_coherence_write(port, line, false);
    if (!port->coherent_l1)
        return write_below(port, now_ns, line, MEM_LINE_BYTES);
    return mem_port_l1_fill(port, now_ns, line, now_ns, MEM_LINE_DIRTY);
}

static bool gathers(const struct mem_port *port, enum mem_access_kind kind)
{
    return port->gather.count > 0 && (kind == MEM_ACCESS_STORE_STREAM || port->params.gather_plain);
}

struct piece {
    uint64_t line, pc;
    uint32_t offset, bytes;
    enum mem_access_kind kind;
};

/* Absent as well when the line is there without a quarter that is wanted. */
static inline __attribute__((always_inline)) struct mem_entry find_l1(const struct mem_port *port, const struct piece *p)
{
    struct mem_entry entry = mem_cache_find(&port->l1, p->line);
    if (entry.way && mem_line_lacks_quarters(*entry.flags, mem_port_quarters(port, p->offset, p->bytes)))
        entry.way = NULL;
    return entry;
}

static double gather(struct mem_port *port, double now_ns, const struct piece *p)
{
    uint64_t displaced;
    double taken = now_ns;
    if (mem_gather_store(&port->gather, p->line, p->offset, p->bytes, &displaced) == MEM_GATHER_FULL)
        taken = write_whole(port, now_ns, p->line);
    if (displaced != UINT64_MAX)
        taken = later(taken, fill_gathered(port, now_ns, displaced));
    return taken;
}

/* Inlined, because an entry that is handed on in memory is written in parts and read as a whole, which the host waits for. */
static inline __attribute__((always_inline)) struct mem_reply l1_hit(struct mem_port *port, double now_ns,
                                                                     const struct mem_entry *entry, const struct piece *p)
{
    struct mem_cache *l1 = &port->l1;
    const bool store = p->kind != MEM_ACCESS_LOAD;
    uint8_t *state = entry->flags;
    const uint8_t flags = *state;
    const double arrival = mem_cache_ready_ns(l1, entry), ready = later(now_ns + port->l1_latency_ns, arrival);
    const bool in_flight = arrival > now_ns + port->l1_latency_ns;
    const enum mem_level level = in_flight ? (enum mem_level)(flags >> MEM_LINE_FROM_SHIFT & 3) : MEM_L1;
    mem_cache_touch(l1, entry);
    *state = (uint8_t)((flags & ~MEM_LINE_PREFETCHED) | (store ? MEM_LINE_DIRTY : 0));
    mem_port_count(port, level);
    if (store && !(flags & MEM_LINE_DIRTY))
        mem_coherence_write(port, p->line, true);
    if (flags & MEM_LINE_PREFETCHED) {
        mem_port_count_used(port, arrival, now_ns);
        mem_port_prefetch(port, now_ns, p->line, p->pc);
    }
    return (struct mem_reply){store ? now_ns : ready, store ? MEM_L1 : level};
}

/* Whether a line that was asked for finds itself asked for already. While all registers are taken, accesses wait for one in their
 * order, and look again when it is theirs: the line may have arrived meanwhile, and have left L1 for those that came after it. */
static bool may_join(const struct mem_port *port, double turn_ns, const struct mem_flight_line *coming)
{
    const uint32_t lines = port->l1.sets * port->l1.ways;
    return coming->ready_ns > turn_ns || mem_flight_between(&port->flight, coming->ready_ns, turn_ns) < lines;
}

/* A line that is on its way: the access takes its bytes as they arrive. */
static struct mem_reply join(struct mem_port *port, double turn_ns, const struct mem_flight_line *coming)
{
    const double hit = turn_ns + port->l1_latency_ns;
    const enum mem_level level = coming->ready_ns > hit ? (enum mem_level)(coming->key & 3) : MEM_L1;
    mem_port_count(port, level);
    return (struct mem_reply){later(hit, coming->ready_ns), level};
}

static struct mem_reply l1_miss(struct mem_port *port, double now_ns, const struct piece *p)
{
    const bool store = p->kind != MEM_ACCESS_LOAD;
    const struct mem_flight_line *const coming =
        store ? NULL : mem_flight_find(&port->flight, p->line, mem_port_quarters(port, p->offset, p->bytes), now_ns);
    const double turn_ns = coming ? mem_place(port->system, &port->misses, now_ns) : now_ns;
    if (coming && may_join(port, turn_ns, coming))
        return join(port, turn_ns, coming);
    if (store && gathers(port, p->kind)) {
        port->counters.hits[MEM_L1]++;
        return (struct mem_reply){gather(port, now_ns, p), MEM_L1};
    }
    if (store)
        mem_coherence_write(port, p->line, false);
    const struct missed m =
        fetch(port, now_ns, p->line, mem_port_quarters(port, p->offset, p->bytes), p->pc, true, store ? MEM_LINE_DIRTY : 0);
    mem_port_count(port, m.reply.level);
    return (struct mem_reply){store ? m.issued_ns : m.reply.ready_ns, m.reply.level};
}

static struct mem_reply access_l1(struct mem_port *port, double now_ns, const struct piece *p)
{
    if (p->kind == MEM_ACCESS_LOAD)
        port->l1_read_bytes += p->bytes;
    else
        port->l1_write_bytes += p->bytes;
    if (p->kind == MEM_ACCESS_LOAD && port->gather.held && mem_gather_take(&port->gather, p->line))
        fill_gathered(port, now_ns, p->line);
    const struct mem_entry entry = find_l1(port, p);
    return entry.way ? l1_hit(port, now_ns, &entry, p) : l1_miss(port, now_ns, p);
}

/* Loads of a port without an L1 of its own. */
static struct mem_reply load_below(struct mem_port *port, double now_ns, const struct piece *p)
{
    struct mem_port *shares = port->shares;
    if (p->kind == MEM_ACCESS_LOAD && shares) {
        const struct mem_entry entry = mem_cache_find(&shares->l1, p->line);
        if (entry.way) {
            mem_cache_touch(&shares->l1, &entry);
            shares->l1_read_bytes += p->bytes;
            port->counters.hits[MEM_L1]++;
            return (struct mem_reply){later(now_ns + shares->l1_latency_ns, mem_cache_ready_ns(&shares->l1, &entry)), MEM_L1};
        }
    }
    if (port->gather.held && mem_gather_take(&port->gather, p->line))
        fill_gathered(port, now_ns, p->line);
    const struct missed m = fetch(port, now_ns, p->line, mem_port_quarters(port, p->offset, p->bytes), p->pc, false, 0);
    mem_port_count(port, m.reply.level);
    return m.reply;
}

/* True when a store goes on at once. A write-through L1 gathers parts of lines without looking at what L2 holds. */
static bool goes_straight_below(const struct mem_port *port, const struct piece *p)
{
    if (p->bytes == MEM_LINE_BYTES || !port->cluster)
        return true;
    return !(port->params.write_through && gathers(port, p->kind)) && whole_in_l2(port, p->line);
}

static struct mem_reply store_below(struct mem_port *port, double now_ns, const struct piece *p)
{
    const enum mem_level level = port->cluster ? MEM_L2 : MEM_SLC;
    const double start = mem_place(port->system, &port->writes, now_ns);
    double taken;
    if (goes_straight_below(port, p)) {
        if (p->bytes == MEM_LINE_BYTES)
            mem_gather_take(&port->gather, p->line);
        mem_coherence_write(port, p->line, false);
        taken = write_below(port, start, p->line, p->bytes);
    } else if (gathers(port, p->kind)) {
        taken = gather(port, start, p);
    } else {
        taken = fill_gathered(port, start, p->line);
    }
    mem_hold(port->system, &port->writes, taken);
    port->counters.hits[level]++;
    return (struct mem_reply){taken, level};
}

/* Returns when the page's translation is known. */
static double translate(struct mem_port *port, double now_ns, uint64_t page)
{
    const double refill_ns = port->params.tlb_refill_ns;
    if (refill_ns == 0.0)
        return now_ns + mem_wait(port->system, mem_tlb_access(&port->tlb, page));
    if (mem_tlb_hint(&port->tlb, page) || mem_tlb_first_level(&port->tlb, page))
        return now_ns;
    mem_tlb_access(&port->tlb, page);
    if (port->system->stopped)
        return now_ns;
    port->tlb_free_ns = later(now_ns, port->tlb_free_ns) + refill_ns;
    return port->tlb_free_ns;
}

static struct mem_reply access_piece(struct mem_port *port, double now_ns, const struct piece *p)
{
    struct mem_reply reply;
    if (p->kind == MEM_ACCESS_LOAD && mem_port_l2_hit(port, now_ns, p->line, &reply))
        return reply;
    const double t = translate(port, now_ns, p->line >> MEM_LINES_PER_PAGE_SHIFT);
    if (p->kind == MEM_ACCESS_FETCH || (!port->has_l1 && p->kind == MEM_ACCESS_LOAD))
        return load_below(port, t, p);
    const bool store = p->kind != MEM_ACCESS_LOAD;
    return port->has_l1 && (port->coherent_l1 || !store) ? access_l1(port, t, p) : store_below(port, t, p);
}

/* A load of one line through an L1 that is not coherent, in one pass: the same as mem_port_l1_hit, and after it what lies beyond.
 */
static struct mem_reply load_through(struct mem_port *port, double now_ns, uint64_t addr, uint32_t bytes, uint64_t pc)
{
    const struct piece p = {addr >> MEM_LINE_SHIFT, pc, (uint32_t)(addr % MEM_LINE_BYTES), bytes, MEM_ACCESS_LOAD};
    const uint64_t page = addr >> MEM_PAGE_SHIFT;
    const bool known = mem_tlb_hint(&port->tlb, page) || mem_tlb_first_level(&port->tlb, page);
    struct mem_cache *l1 = &port->l1;
    mem_flight_land(&port->flight, l1, now_ns);
    const struct mem_entry entry = find_l1(port, &p);
    port->l1_read_bytes += bytes;
    if (known && entry.way && mem_cache_ready_ns(l1, &entry) <= now_ns && !(*entry.flags & MEM_LINE_PREFETCHED)) {
        mem_cache_touch(l1, &entry);
        port->counters.hits[MEM_L1]++;
        return (struct mem_reply){now_ns + port->l1_latency_ns, MEM_L1};
    }
    const double t = known ? now_ns : translate(port, now_ns, page);
    if (port->gather.held && mem_gather_take(&port->gather, p.line))
        fill_gathered(port, t, p.line);
    const struct mem_reply reply = entry.way ? l1_hit(port, t, &entry, &p) : l1_miss(port, t, &p);
    return (struct mem_reply){later(now_ns, reply.ready_ns), reply.level};
}

struct mem_reply mem_port_access(struct mem_port *port, double now_ns, uint64_t addr, uint32_t bytes, enum mem_access_kind kind,
                                 uint64_t pc)
{
    const bool one_line = addr % MEM_LINE_BYTES + bytes <= MEM_LINE_BYTES;
    if (kind == MEM_ACCESS_LOAD && port->has_l1 && !port->coherent_l1 && one_line)
        return load_through(port, now_ns, addr, bytes, pc);
    if (kind != MEM_ACCESS_FETCH && mem_port_l1_hit(port, now_ns, addr, bytes, kind != MEM_ACCESS_LOAD))
        return (struct mem_reply){kind == MEM_ACCESS_LOAD ? now_ns + port->l1_latency_ns : now_ns, MEM_L1};
    return mem_port_access_beyond(port, now_ns, addr, bytes, kind, pc);
}

struct mem_reply mem_port_access_beyond(struct mem_port *port, double now_ns, uint64_t addr, uint32_t bytes,
                                        enum mem_access_kind kind, uint64_t pc)
{
    struct mem_reply total = {now_ns, MEM_L1};
    const uint64_t end = addr + bytes;
    for (uint64_t at = addr; at < end;) {
        const uint32_t offset = (uint32_t)(at % MEM_LINE_BYTES);
        const uint32_t room = MEM_LINE_BYTES - offset;
        const uint32_t take = end - at < room ? (uint32_t)(end - at) : room;
        const struct piece p = {at >> MEM_LINE_SHIFT, pc, offset, take, kind};
        const struct mem_reply reply = access_piece(port, now_ns, &p);
        total.ready_ns = later(total.ready_ns, reply.ready_ns);
        total.level = reply.level > total.level ? reply.level : total.level;
        at += take;
    }
    return total;
}

bool mem_port_stop(struct mem_port *port, bool stopped)
{
    const bool before = port->system->stopped;
    port->system->stopped = stopped;
    return before;
}

double mem_port_l1_latency_ns(const struct mem_port *port)
{
    return port->has_l1 ? port->l1_latency_ns : 0.0;
}

double mem_port_l1_width(const struct mem_port *port)
{
    return port->has_l1 ? port->params.l1.bytes_per_cycle : 0.0;
}

void mem_port_forget(struct mem_port *port)
{
    if (port->has_l1 && !port->coherent_l1) {
        mem_cache_clear(&port->l1);
        mem_flight_clear(&port->flight);
    }
}

void mem_port_counters(const struct mem_port *port, struct mem_counters *out)
{
    *out = port->counters;
    out->tlb_misses = port->tlb.misses;
}
