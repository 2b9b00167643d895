/* A core like Firestorm and small programs for it, for tests and benchmarks of cpu_timing.h. The latencies and rates are
 * those of dougallj/applecpu (firestorm.html, firestorm-simd.html); what matters here is that they are known.
 */
#ifndef ORCHARD_TESTS_UNITS_CPU_EXAMPLE_H
#define ORCHARD_TESTS_UNITS_CPU_EXAMPLE_H

#include "tests/units/mem_example.h"
#include "units/cpu/cpu_timing.h"

#include <stdlib.h>
#include <string.h>

static inline void example_class(struct cpu_params *p, enum a64_class c, double latency, double issue, uint8_t uops,
                                 enum cpu_port_group ports)
{
    p->cls[c] = (struct cpu_class_params){latency, issue, uops, (uint8_t)ports};
}

static inline struct cpu_params example_cpu(void)
{
    struct cpu_params p = {
        .clock_ghz = EXAMPLE_P_GHZ,
        .dispatch_width = 8,
        .reorder_window = 623,
        .load_queue = 130,
        .store_queue = 60,
        .port_count = {6, 2, 1, 2, 3, 2, 4, 1},
        .memory_ports = 4,
        .taken_branches_per_cycle = 1,
        .mispredict_cycles = 17,
        .predictor_bits = 12,
        .load_to_load_cycles = 3,
        .store_forward_cycles = 4,
        .amx_issue_per_cycle = 2,
    };
    for (int c = 0; c < A64_CLASS_COUNT; c++)
        example_class(&p, (enum a64_class)c, 1, 1, 1, CPU_PORTS_INT);
    example_class(&p, A64_C_NOP, 0, 1, 1, CPU_PORTS_NONE);
    example_class(&p, A64_C_MUL, 3, 1, 1, CPU_PORTS_MUL);
    example_class(&p, A64_C_DIV, 8, 2, 1, CPU_PORTS_DIV);
    example_class(&p, A64_C_BRANCH, 1, 1, 1, CPU_PORTS_BRANCH);
    example_class(&p, A64_C_BRANCH_COND, 1, 1, 1, CPU_PORTS_BRANCH);
    example_class(&p, A64_C_BRANCH_INDIRECT, 1, 1, 1, CPU_PORTS_BRANCH);
    example_class(&p, A64_C_LOAD, 4, 1, 1, CPU_PORTS_LOAD);
    example_class(&p, A64_C_LOAD_V, 9, 1, 1, CPU_PORTS_LOAD);
    example_class(&p, A64_C_LOAD_V_PAIR, 9, 1, 2, CPU_PORTS_LOAD);
    example_class(&p, A64_C_STORE, 1, 1, 1, CPU_PORTS_STORE);
    example_class(&p, A64_C_STORE_V, 1, 1, 1, CPU_PORTS_STORE);
    example_class(&p, A64_C_FP_FMA, 4, 1, 1, CPU_PORTS_SIMD);
    example_class(&p, A64_C_FP_SQRT, 10, 2, 1, CPU_PORTS_SIMD_DIV);
    example_class(&p, A64_C_AMX, 0, 1, 1, CPU_PORTS_STORE);
    return p;
}

/* Icestorm: the same classes, fewer of everything (dougallj/applecpu, icestorm.html). */
static inline struct cpu_params example_e_cpu(void)
{
    struct cpu_params p = example_cpu();
    const uint32_t ports[CPU_PORT_GROUP_COUNT] = {3, 1, 1, 2, 2, 1, 2, 1};
    memcpy(p.port_count, ports, sizeof ports);
    p.clock_ghz = EXAMPLE_E_GHZ;
    p.dispatch_width = 4;
    p.reorder_window = 180;
    p.load_queue = 30;
    p.store_queue = 18;
    p.memory_ports = 2;
    return p;
}

#define EXAMPLE_INSNS 64

/* A block under construction; its registers are numbers of a64_isa.h, A64_DEP_NONE for none. */
struct example_block {
    struct cpu_block block;
    struct a64_insn insn[EXAMPLE_INSNS];
};

static inline void example_block_init(struct example_block *b, uint32_t id, uint64_t pc)
{
    memset(b, 0, sizeof *b);
    b->block = (struct cpu_block){.pc = pc, .id = id, .insn = b->insn};
}

static inline struct a64_insn *example_add(struct example_block *b, enum a64_class cls, unsigned dst, unsigned src0,
                                           unsigned src1)
{
    struct a64_insn *i = &b->insn[b->block.count++];
    memset(i->dst, A64_DEP_NONE, sizeof i->dst);
    memset(i->src, A64_DEP_NONE, sizeof i->src);
    i->cls = (uint8_t)cls;
    i->dst[0] = (uint8_t)dst;
    i->src[0] = (uint8_t)src0;
    i->src[1] = (uint8_t)src1;
    i->rn = (uint8_t)A64_DEP_NONE;
    if (cls == A64_C_BRANCH_COND || cls == A64_C_BRANCH || cls == A64_C_BRANCH_INDIRECT)
        i->flags = A64_INSN_BRANCH | A64_INSN_ENDS_BLOCK;
    return i;
}

static inline void example_load(struct example_block *b, enum a64_class cls, unsigned dst, unsigned base, unsigned bytes)
{
    struct a64_insn *i = example_add(b, cls, dst, base, A64_DEP_NONE);
    i->rn = (uint8_t)base;
    i->mem_bytes = (uint8_t)bytes;
    i->flags = A64_INSN_LOAD;
    b->block.mem_count++;
}

static inline void example_store(struct example_block *b, unsigned data, unsigned base, unsigned bytes)
{
    struct a64_insn *i = example_add(b, A64_C_STORE, A64_DEP_NONE, data, base);
    i->rn = (uint8_t)base;
    i->mem_bytes = (uint8_t)bytes;
    i->flags = A64_INSN_STORE;
    b->block.mem_count++;
}

static inline void example_amx(struct example_block *b, unsigned op, unsigned reg)
{
    struct a64_insn *i = example_add(b, A64_C_AMX, A64_DEP_NONE, reg, A64_DEP_NONE);
    i->imm = op;
    b->block.mem_count++;
}

/* A trace under construction. */
static inline bool example_trace_add(struct cpu_trace *t, const struct cpu_block *block, const uint64_t *address)
{
    if (t->blocks == t->block_capacity) {
        t->block_capacity = t->block_capacity ? 2 * t->block_capacity : 1024;
        t->block = realloc(t->block, t->block_capacity * sizeof t->block[0]);
    }
    while (t->addresses + block->mem_count > t->address_capacity) {
        t->address_capacity = t->address_capacity ? 2 * t->address_capacity : 1024;
        t->address = realloc(t->address, t->address_capacity * sizeof t->address[0]);
    }
    if (!t->block || (block->mem_count && !t->address))
        return false;
    t->block[t->blocks++] = block;
    for (uint32_t i = 0; i < block->mem_count; i++)
        t->address[t->addresses++] = address[i];
    t->last_count = block->count;
    return true;
}

static inline void example_trace_free(struct cpu_trace *t)
{
    free(t->block);
    free(t->address);
    memset(t, 0, sizeof *t);
}

#endif
