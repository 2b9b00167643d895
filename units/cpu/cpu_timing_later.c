/* Accesses of skipped blocks that are written down and made later: of a long gap between two timed parts only the latest ones
 * decide what caches hold, so that the others need not be made.
 *
 * What an access leaves behind when it need not be made one by one is thought through by Haskins and Skadron, "Memory reference
 * reuse latency" (ISPASS 2003), and Bryan, Rosier and Conte, "Reverse state reconstruction for sampled microarchitectural
 * simulation" (ISPASS 2007). Here, the lines that came last are counted backwards until they fill every cache on the way, and
 * everything from there on is made in its order.
 */
#include "units/cpu/cpu_timing_internal.h"
#include "units/mem/mem_tally.h"

#include <stdlib.h>
#include <string.h>

#define KIND_BITS  2
#define BYTES_BITS 14
_Static_assert(MEM_ACCESS_BYTES_MAX < 1 << BYTES_BITS && MEM_ACCESS_STORE_STREAM < 1 << KIND_BITS, "an access is two words");

struct later_access {
    uint64_t addr, rest; /* rest: program counter, bytes and kind */
};

struct cpu_later {
    uint64_t count, mask;        /* accesses so far; the ring holds the latest mask + 1 */
    uint64_t lines;              /* that caches hold */
    uint64_t seen_mask, *seen;   /* one bit for each line, by hash; lines that share a bit count as one */
    struct later_access *access; /* ring */
};

static uint64_t power_of_two(uint64_t least)
{
    uint64_t p = 1;
    while (p < least)
        p *= 2;
    return p;
}

static struct cpu_later *later_create(const struct mem_port *port)
{
    struct cpu_later *const l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->lines = mem_port_lines(port);
    l->mask = power_of_two(2 * l->lines) - 1;
    l->seen_mask = power_of_two(8 * l->lines + 64) - 1;
    l->access = calloc(l->mask + 1, sizeof l->access[0]);
    l->seen = calloc((l->seen_mask + 1) / 64, sizeof l->seen[0]);
    if (l->access && l->seen)
        return l;
    cpu_later_free(l);
    return NULL;
}

void cpu_later_free(struct cpu_later *l)
{
    if (!l)
        return;
    free(l->access);
    free(l->seen);
    free(l);
}

void cpu_timing_defer(struct cpu_timing *t, bool on)
{
    cpu_timing_catch_up(t);
    if (on && !t->later && t->port)
        t->later = later_create(t->port); /* without memory, accesses are made at once */
    t->defers = on && t->later;
}

void cpu_later_note(struct cpu_later *l, uint64_t addr, uint32_t bytes, enum mem_access_kind kind, uint64_t pc)
{
    const uint64_t rest = (pc << BYTES_BITS | bytes) << KIND_BITS | (uint64_t)kind;
    l->access[l->count++ & l->mask] = (struct later_access){addr, rest};
}

/* True when the line's bit was not set. */
static bool see(struct cpu_later *l, uint64_t line)
{
    const uint64_t bit = line * UINT64_C(0x9E3779B97F4A7C15) >> 20 & l->seen_mask, in = UINT64_C(1) << bit % 64;
    const bool fresh = !(l->seen[bit / 64] & in);
    l->seen[bit / 64] |= in;
    return fresh;
}

/* The first access that still matters: the lines from there on fill the caches. */
static uint64_t first_of(struct cpu_later *l)
{
    const uint64_t oldest = l->count > l->mask ? l->count - l->mask - 1 : 0;
    uint64_t at = l->count, lines = 0;
    if (l->count <= l->lines)
        return 0;
    memset(l->seen, 0, (l->seen_mask + 1) / 8);
    while (at > oldest && lines < l->lines)
        lines += see(l, l->access[--at & l->mask].addr >> MEM_LINE_SHIFT);
    return at;
}

static void expect(const struct cpu_timing *t, const struct cpu_later *l, uint64_t at)
{
    if (at + CPU_EXPECT < l->count)
        mem_port_expect(t->port, l->access[(at + CPU_EXPECT) & l->mask].addr);
    if (at + CPU_EXPECT_SOON < l->count)
        mem_port_expect_soon(t->port, l->access[(at + CPU_EXPECT_SOON) & l->mask].addr);
    if (at + CPU_EXPECT_VICTIM < l->count)
        mem_port_expect_victims(t->port, l->access[(at + CPU_EXPECT_VICTIM) & l->mask].addr);
}

static void make(struct cpu_timing *t, const struct later_access *a, double now_ns)
{
    const enum mem_access_kind kind = (enum mem_access_kind)(a->rest & ((1 << KIND_BITS) - 1));
    const uint32_t bytes = a->rest >> KIND_BITS & ((1 << BYTES_BITS) - 1);
    if (!mem_port_l1_hit(t->port, now_ns, a->addr, bytes, kind != MEM_ACCESS_LOAD))
        mem_port_access_beyond(t->port, now_ns, a->addr, bytes, kind, a->rest >> (KIND_BITS + BYTES_BITS));
}

void cpu_timing_catch_up(struct cpu_timing *t)
{
    struct cpu_later *const l = t->later;
    if (!l || l->count == 0)
        return;
    struct mem_tally before;
    const double now_ns = cpu_timing_now(t);
    const uint64_t first = first_of(l);
    mem_tally_take(t->port, &before);
    const bool stopped = mem_port_stop(t->port, true);
    for (uint64_t at = first; at < l->count; at++) {
        if (mem_port_misses_l2(t->port))
            expect(t, l, at);
        make(t, &l->access[at & l->mask], now_ns);
    }
    mem_port_stop(t->port, stopped);
    if (first > 0)
        mem_tally_stretch(t->port, &before, (double)l->count / (double)(l->count - first));
    l->count = 0;
}
