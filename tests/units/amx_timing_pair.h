/* Two equal machines with an AMX block: one accounts for loops at once, the other takes every instruction by itself. Suites send
 * both the same work and compare times, stalls, counters and caches. */
#ifndef ORCHARD_TESTS_UNITS_AMX_TIMING_PAIR_H
#define ORCHARD_TESTS_UNITS_AMX_TIMING_PAIR_H

#include "isa/array_count.h"
#include "sim/soc/soc.h"
#include "tests/support/suite.h"
#include "units/mem/mem_internal.h"

#include <stdlib.h>
#include <string.h>

struct machine {
    struct soc *soc;
    struct soc_core *core;
    double now_ns, step_ns;
};

struct pair {
    struct chip_db *db;
    struct chip *chip;
    struct machine fast, plain;
    uint64_t instructions, differences;
};

static inline int open_machine(struct machine *m, const struct chip *chip, bool repeats)
{
    struct orch_error error = {0};
    m->soc = soc_create(chip, &error);
    if (!m->soc || !soc_place(m->soc, 1, SOC_P_CORE, &m->core, &error))
        return 0;
    soc_restart(m->soc, false);
    amx_block_set_repeats(m->core->amx, repeats);
    m->now_ns = 0;
    m->step_ns = soc_core_send_step_ns(m->core);
    return 1;
}

static inline int open_pair(struct pair *p, const char *chip)
{
    struct orch_error error = {0};
    memset(p, 0, sizeof *p);
    p->db = chip_db_open(ORCHARD_SOURCE_DIR "/sim/chips", &error);
    p->chip = p->db ? chip_open(p->db, chip, NULL, &error) : NULL;
    const int ok = p->chip && open_machine(&p->fast, p->chip, true) && open_machine(&p->plain, p->chip, false);
    CHECK(ok, "%s: %s", chip, error.text);
    return ok;
}

static inline void close_pair(struct pair *p)
{
    soc_free(p->fast.soc);
    soc_free(p->plain.soc);
    chip_close(p->chip);
    chip_db_close(p->db);
}

static inline void send(struct machine *m, const uint8_t *op, const uint64_t *operand, uint32_t count)
{
    m->now_ns = soc_core_send_amx_batch(m->core, m->now_ns, m->step_ns, op, operand, count);
}

static inline int same_stalls(const struct soc_core *a, const struct soc_core *b)
{
    double x[AMX_STALL_COUNT], y[AMX_STALL_COUNT], total_x, total_y;
    amx_block_stalls(a->amx, a->slot, x, &total_x);
    amx_block_stalls(b->amx, b->slot, y, &total_y);
    return memcmp(x, y, sizeof x) == 0 && total_x == total_y;
}

static inline void compare_times(struct pair *p)
{
    const struct soc_core *a = p->fast.core, *b = p->plain.core;
    const int same = p->fast.now_ns == p->plain.now_ns && soc_core_done_at(a) == soc_core_done_at(b) &&
                     amx_block_stores_done_at(a->amx, a->slot) == amx_block_stores_done_at(b->amx, b->slot) && same_stalls(a, b);
    if (!same && p->differences++ == 0)
        CHECK(0, "after %llu instructions: %.9f and %.9f ns", (unsigned long long)p->instructions, p->fast.now_ns,
              p->plain.now_ns);
}

static inline void send_both(struct pair *p, const uint8_t *op, const uint64_t *operand, uint32_t count)
{
    send(&p->fast, op, operand, count);
    send(&p->plain, op, operand, count);
    p->instructions += count;
    compare_times(p);
}

/* A loop, written down once for one machine and in full for the other. */
static inline void send_passes(struct pair *p, const struct amx_passes *passes)
{
    struct amx_passes next = *passes;
    p->fast.now_ns = soc_core_send_amx_passes(p->fast.core, p->fast.now_ns, p->fast.step_ns, passes);
    for (uint32_t pass = 0; pass < passes->passes; pass++, amx_passes_advance(&next, 1))
        send(&p->plain, next.op, next.operand, next.length);
    p->instructions += (uint64_t)passes->passes * passes->length;
    compare_times(p);
}

static inline void compare_caches(const char *what, const struct mem_cache *a, const struct mem_cache *b)
{
    if (a->sets == 0)
        return;
    CHECK(a->settled == b->settled && a->settled_ns == b->settled_ns && a->used == b->used, "%s: contents differ", what);
    unsigned lines = 0, ages = 0, states = 0;
    for (uint32_t set = 0; set < a->sets; set++) {
        const struct mem_set_header *x = mem_cache_header(a, set), *y = mem_cache_header(b, set);
        ages += x->order != y->order;
        states += memcmp(x->flags, y->flags, sizeof x->flags) != 0 || x->settled != y->settled;
        lines += memcmp(mem_cache_ways(a, set), mem_cache_ways(b, set), a->ways * sizeof(struct mem_way)) != 0;
    }
    CHECK(lines == 0, "%s: lines or arrivals differ in %u sets", what, lines);
    CHECK(ages == 0, "%s: ages differ in %u sets", what, ages);
    CHECK(states == 0, "%s: states differ in %u sets", what, states);
}

static inline void compare_links(const char *what, const struct mem_link *a, const struct mem_link *b)
{
    CHECK(a->count == b->count && a->floor_ns == b->floor_ns &&
              memcmp(a->start_ns + a->first, b->start_ns + b->first, a->count * sizeof a->start_ns[0]) == 0 &&
              memcmp(a->end_ns + a->first, b->end_ns + b->first, a->count * sizeof a->end_ns[0]) == 0,
          "%s: %u and %u intervals, %.9f and %.9f", what, a->count, b->count, a->floor_ns, b->floor_ns);
}

static inline void compare_slots(const struct mem_slots *a, const struct mem_slots *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        CHECK(a->free_ns[(a->first + i) % a->count] == b->free_ns[(b->first + i) % b->count], "miss register %u differs", i);
}

static inline void compare_memory(const struct machine *a, const struct machine *b)
{
    const struct mem_port *x = a->core->amx_port, *y = b->core->amx_port;
    struct mem_counters p, q;
    mem_system_counters(soc_memory(a->soc), &p);
    mem_system_counters(soc_memory(b->soc), &q);
    CHECK(memcmp(&p, &q, sizeof p) == 0, "counters: %llu and %llu L2 hits", (unsigned long long)p.hits[MEM_L2],
          (unsigned long long)q.hits[MEM_L2]);
    mem_later_finish(x->cluster->later, &x->cluster->l2);
    mem_later_finish(y->cluster->later, &y->cluster->l2);
    compare_caches("L2", &x->cluster->l2, &y->cluster->l2);
    compare_caches("L1", &a->core->port->l1, &b->core->port->l1);
    compare_caches("TLB", &x->tlb.level[0], &y->tlb.level[0]);
    compare_caches("TLB 2", &x->tlb.level[1], &y->tlb.level[1]);
    CHECK(memcmp(x->tlb.hint, y->tlb.hint, sizeof x->tlb.hint) == 0, "hints of the TLB differ");
    compare_links("L2 link", &x->cluster->l2_link, &y->cluster->l2_link);
    compare_links("port's link", &x->l2_read, &y->l2_read);
    compare_slots(&x->misses, &y->misses);
}

/* Returns which share of the instructions was accounted for at once. */
static inline double compare_machines(struct pair *p)
{
    compare_memory(&p->fast, &p->plain);
    struct activity a = {{0}}, b = {{0}};
    soc_take_activity(p->fast.soc, &a);
    soc_take_activity(p->plain.soc, &b);
    CHECK(memcmp(&a, &b, sizeof a) == 0, "activity differs");
    CHECK(a.count[ACT_AMX_INSTRUCTIONS] == p->instructions, "instructions lost");
    CHECK(amx_block_repeated(p->plain.core->amx) == 0, "the plain way took loops at once");
    return (double)amx_block_repeated(p->fast.core->amx) / (double)p->instructions;
}

/* The CPU's part of packing: it reads and writes these bytes. */
static inline void touch(struct machine *m, uint64_t address, uint64_t bytes, enum mem_access_kind kind)
{
    const uint64_t tag = (uint64_t)(m->core->number + 1) << 48;
    for (uint64_t at = address; at < address + bytes; at += 64) {
        mem_port_access(m->core->port, m->now_ns, at | tag, 32, kind, 0x40);
        m->now_ns += 2;
    }
}

#endif
