/* Memory accesses off the fast path, faults, and the memory instructions that are calls: exclusives, atomics, structures. */
#include "units/cpu/cpu_exec.h"

#include <stdio.h>
#include <string.h>

void cpu_fault_set(struct cpu_core *core, enum unit_fault_kind kind, uint64_t address, const char *what)
{
    core->fault = (struct unit_fault){.kind = kind, .address = address};
    snprintf(core->fault.text, sizeof core->fault.text, "%s", what);
}

/* Completes a fault with the instruction that caused it. */
void cpu_fault_at(struct cpu_core *core, const struct a64_insn *insn, uint64_t pc)
{
    char text[96], what[sizeof core->fault.text];
    a64_disasm(insn, pc, text, sizeof text);
    for (char *t = text; *t; t++)
        if (*t == '\t')
            *t = ' ';
    memcpy(what, core->fault.text, sizeof what);
    what[sizeof what - 1] = 0;
    core->fault.pc = pc;
    snprintf(core->fault.text, sizeof core->fault.text, "%s: %.*s", text, (int)(sizeof what - strlen(text) - 3), what);
}

void cpu_coprocessor_settle(struct cpu_core *core)
{
    if (core->fast_limit == 0 && core->coprocessor.finish)
        core->coprocessor.finish(core->coprocessor.context);
    core->fast_limit = core->space->bytes;
}

static void memory_fault(struct cpu_core *core, uint64_t addr, uint64_t bytes, unsigned prot)
{
    bool unmapped = true;
    uint64_t bad = addr;
    (void)mem_space_explain(core->space, addr, bytes, prot, &unmapped, &bad);
    char what[120];
    snprintf(what, sizeof what, "%s of %llu bytes at 0x%llx, %s", prot & MEM_WRITE ? "store" : "load", (unsigned long long)bytes,
             (unsigned long long)addr,
             unmapped           ? "which is not mapped"
             : prot & MEM_WRITE ? "which is not writable"
                                : "which is not readable");
    cpu_fault_set(core, unmapped ? UNIT_FAULT_UNMAPPED : UNIT_FAULT_PERMISSION, addr, what);
}

/* Systems on Apple silicon and Linux set TCR_EL1.TBI0: data accesses of user programs ignore the top byte of an address (Arm
 * architecture reference manual, "address tagging"), and programs leave AMX operand bits there. */
static uint64_t without_tag(uint64_t addr)
{
    return (uint64_t)((int64_t)(addr << 8) >> 8);
}

uint8_t *cpu_memory(struct cpu_core *core, uint64_t tagged, uint64_t bytes, unsigned prot)
{
    const uint64_t addr = without_tag(tagged);
    if (core->fast_limit == 0)
        cpu_coprocessor_settle(core);
    uint8_t *p = mem_at(core->space, addr, bytes, prot);
    core->address = addr;
    if (!p)
        memory_fault(core, addr, bytes, prot);
    else if (prot & MEM_WRITE &&
             ((core->space->prot[addr >> MEM_PAGE_SHIFT] | core->space->prot[(addr + bytes - 1) >> MEM_PAGE_SHIFT]) & MEM_EXEC))
        cpu_code_written(core, addr, bytes);
    return p;
}

static uint64_t load(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
    memcpy(&value, p, bytes);
    return value;
}

static bool aligned(struct cpu_core *core, uint64_t addr, unsigned bytes)
{
    if (!(addr & (bytes - 1)))
        return true;
    cpu_fault_set(core, UNIT_FAULT_ALIGNMENT, addr, "atomic access to an address that is no multiple of its size");
    return false;
}

/* Ordered loads and stores are plain ones, because there is one core. */
static bool load_sized(struct cpu_core *core, const struct a64_insn *insn)
{
    const uint8_t *p = cpu_memory(core, core->x[insn->rn] + (uint64_t)insn->imm, 1u << insn->size, MEM_READ);
    if (p)
        cpu_set_reg(core, insn->rd, load(p, 1u << insn->size));
    return p;
}

static bool store_sized(struct cpu_core *core, const struct a64_insn *insn)
{
    const uint64_t value = cpu_reg(core, insn->rd);
    uint8_t *p = cpu_memory(core, core->x[insn->rn] + (uint64_t)insn->imm, 1u << insn->size, MEM_WRITE);
    if (p)
        memcpy(p, &value, 1u << insn->size);
    return p;
}

static bool load_signed(struct cpu_core *core, const struct a64_insn *insn)
{
    const unsigned width = 8u << insn->size;
    const bool is_w = insn->form == A64_LDAPURSB_W || insn->form == A64_LDAPURSH_W;
    const uint8_t *p = cpu_memory(core, core->x[insn->rn] + (uint64_t)insn->imm, 1u << insn->size, MEM_READ);
    if (!p)
        return false;
    const uint64_t value = (uint64_t)((int64_t)(load(p, 1u << insn->size) << (64 - width)) >> (64 - width));
    cpu_set_reg(core, insn->rd, is_w ? (uint32_t)value : value);
    return true;
}

static bool load_exclusive(struct cpu_core *core, const struct a64_insn *insn)
{
    const unsigned one = 1u << insn->size, bytes = insn->mem_bytes;
    const uint64_t addr = core->x[insn->rn];
    if (!aligned(core, addr, bytes))
        return false;
    const uint8_t *p = cpu_memory(core, addr, bytes, MEM_READ);
    if (!p)
        return false;
    core->exclusive_address = core->address;
    core->exclusive_bytes = bytes;
    cpu_set_reg(core, insn->rd, load(p, one));
    if (bytes > one)
        cpu_set_reg(core, insn->ra, load(p + one, one));
    return true;
}

static bool store_exclusive(struct cpu_core *core, const struct a64_insn *insn)
{
    const unsigned one = 1u << insn->size, bytes = insn->mem_bytes;
    const uint64_t addr = core->x[insn->rn], value[2] = {cpu_reg(core, insn->rd), cpu_reg(core, insn->ra)};
    if (!aligned(core, addr, bytes))
        return false;
    uint8_t *p = cpu_memory(core, addr, bytes, MEM_WRITE);
    if (!p)
        return false;
    const bool held = core->exclusive_bytes == bytes && core->exclusive_address == core->address;
    core->exclusive_bytes = 0;
    if (held) {
        memcpy(p, &value[0], one);
        if (bytes > one)
            memcpy(p + one, &value[1], one);
    }
    cpu_set_reg(core, insn->rm, !held);
    return true;
}

static bool clear_exclusive(struct cpu_core *core, const struct a64_insn *insn)
{
    (void)insn;
    core->exclusive_bytes = 0;
    return true;
}

static uint64_t combine(unsigned form, uint64_t old, uint64_t value, unsigned width)
{
    const int64_t a = (int64_t)(old << (64 - width)),
                  b = (int64_t)(value << (64 - width)); /* at the top of the word they compare alike */
    switch (form) {
    case A64_LDADD: return old + value;
    case A64_LDCLR: return old & ~value;
    case A64_LDEOR: return old ^ value;
    case A64_LDSET: return old | value;
    case A64_LDSMAX: return a > b ? old : value;
    case A64_LDSMIN: return a < b ? old : value;
    case A64_LDUMAX: return (uint64_t)a > (uint64_t)b ? old : value;
    case A64_LDUMIN: return (uint64_t)a < (uint64_t)b ? old : value;
    default: return value; /* SWP */
    }
}

static bool atomic(struct cpu_core *core, const struct a64_insn *insn)
{
    const unsigned bytes = 1u << insn->size;
    const uint64_t addr = core->x[insn->rn];
    if (!aligned(core, addr, bytes))
        return false;
    uint8_t *p = cpu_memory(core, addr, bytes, MEM_READ | MEM_WRITE);
    if (!p)
        return false;
    const uint64_t old = load(p, bytes), value = combine(insn->form, old, cpu_reg(core, insn->rm), 8 * bytes);
    memcpy(p, &value, bytes);
    cpu_set_reg(core, insn->rd, old);
    return true;
}

static bool compare_swap(struct cpu_core *core, const struct a64_insn *insn)
{
    const unsigned bytes = 1u << insn->size;
    const uint64_t addr = core->x[insn->rn], wanted = cpu_reg(core, insn->rm), value = cpu_reg(core, insn->rd);
    if (!aligned(core, addr, bytes))
        return false;
    uint8_t *p = cpu_memory(core, addr, bytes, MEM_READ | MEM_WRITE);
    if (!p)
        return false;
    const uint64_t old = load(p, bytes);
    if (memcmp(p, &wanted, bytes) == 0)
        memcpy(p, &value, bytes);
    cpu_set_reg(core, insn->rm, old);
    return true;
}

static bool compare_swap_pair(struct cpu_core *core, const struct a64_insn *insn)
{
    const unsigned one = 1u << insn->size, second_m = insn->rm | 1u, second_d = insn->rd | 1u;
    const uint64_t addr = core->x[insn->rn];
    if (!aligned(core, addr, 2 * one))
        return false;
    uint8_t *p = cpu_memory(core, addr, 2 * one, MEM_READ | MEM_WRITE);
    if (!p)
        return false;
    const uint64_t wanted[2] = {cpu_reg(core, insn->rm), cpu_reg(core, second_m)};
    const uint64_t value[2] = {cpu_reg(core, insn->rd), cpu_reg(core, second_d)};
    const uint64_t old[2] = {load(p, one), load(p + one, one)};
    if (memcmp(p, &wanted[0], one) == 0 && memcmp(p + one, &wanted[1], one) == 0) {
        memcpy(p, &value[0], one);
        memcpy(p + one, &value[1], one);
    }
    cpu_set_reg(core, insn->rm, old[0]);
    cpu_set_reg(core, second_m, old[1]);
    return true;
}

static bool zero_block(struct cpu_core *core, const struct a64_insn *insn)
{
    uint8_t *p = cpu_memory(core, cpu_reg(core, insn->rd) & ~UINT64_C(63), 64, MEM_WRITE);
    if (p)
        memset(p, 0, 64);
    return p;
}

static bool forget_line(struct cpu_core *core, const struct a64_insn *insn)
{
    cpu_code_written(core, cpu_reg(core, insn->rd) & ~UINT64_C(63), 64);
    return true;
}

/* Structures -------------------------------------------------------------------------------------------------- */

static void structure_writeback(struct cpu_core *core, const struct a64_insn *insn)
{
    if (insn->flags & A64_INSN_WRITEBACK)
        core->x[insn->rn] += insn->rm == 31 ? insn->mem_bytes : core->x[insn->rm];
}

static uint8_t *structure_memory(struct cpu_core *core, const struct a64_insn *insn)
{
    return cpu_memory(core, core->x[insn->rn], insn->mem_bytes, insn->flags & A64_INSN_STORE ? MEM_WRITE : MEM_READ);
}

/* LD1/ST1 of several registers: one after another. */
static bool structure_plain(struct cpu_core *core, const struct a64_insn *insn)
{
    const unsigned bytes = 8u << insn->q;
    uint8_t *p = structure_memory(core, insn);
    if (!p)
        return false;
    for (unsigned r = 0; r < insn->shift; r++) {
        union cpu_vec *v = &core->v[(insn->rd + r) & 31];
        if (insn->flags & A64_INSN_STORE) {
            memcpy(p + r * bytes, v, bytes);
        } else {
            v->u64[1] = 0;
            memcpy(v, p + r * bytes, bytes);
        }
    }
    structure_writeback(core, insn);
    return true;
}

/* LD2..4/ST2..4: element e of register r is at e * registers + r. */
static bool structure_interleaved(struct cpu_core *core, const struct a64_insn *insn)
{
    const unsigned one = 1u << insn->size, elements = (8u << insn->q) >> insn->size, regs = insn->shift;
    uint8_t *p = structure_memory(core, insn);
    if (!p)
        return false;
    for (unsigned r = 0; r < regs; r++) {
        union cpu_vec *v = &core->v[(insn->rd + r) & 31];
        if (insn->flags & A64_INSN_LOAD)
            v->u64[0] = v->u64[1] = 0;
        for (unsigned e = 0; e < elements; e++) {
            uint8_t *at = p + (size_t)(e * regs + r) * one;
            if (insn->flags & A64_INSN_STORE)
                memcpy(at, v->u8 + e * one, one);
            else
                memcpy(v->u8 + e * one, at, one);
        }
    }
    structure_writeback(core, insn);
    return true;
}

static bool structure_lane(struct cpu_core *core, const struct a64_insn *insn)
{
    const unsigned one = 1u << insn->size;
    uint8_t *p = structure_memory(core, insn);
    if (!p)
        return false;
    for (unsigned r = 0; r < insn->shift; r++) {
        uint8_t *lane = core->v[(insn->rd + r) & 31].u8 + insn->amount * one;
        if (insn->flags & A64_INSN_STORE)
            memcpy(p + r * one, lane, one);
        else
            memcpy(lane, p + r * one, one);
    }
    structure_writeback(core, insn);
    return true;
}

static bool structure_replicate(struct cpu_core *core, const struct a64_insn *insn)
{
    const unsigned one = 1u << insn->size;
    const uint8_t *p = structure_memory(core, insn);
    if (!p)
        return false;
    for (unsigned r = 0; r < insn->shift; r++) {
        union cpu_vec *v = &core->v[(insn->rd + r) & 31];
        v->u64[1] = 0;
        for (unsigned at = 0; at < 8u << insn->q; at += one)
            memcpy(v->u8 + at, p + r * one, one);
    }
    structure_writeback(core, insn);
    return true;
}

#define STRUCTURE(n, f)                                                                                                          \
    case A64_LD##n:                                                                                                              \
    case A64_LD##n##_POST:                                                                                                       \
    case A64_ST##n:                                                                                                              \
    case A64_ST##n##_POST: return f;

cpu_memory_handler *cpu_memory_handler_of(const struct a64_insn *insn)
{
    switch (insn->form) {
    case A64_LDAPR:
    case A64_LDAPUR:
    case A64_LDAR:
    case A64_LDLAR: return load_sized;
    case A64_STLUR:
    case A64_STLR:
    case A64_STLLR: return store_sized;
    case A64_LDAPURSB_W:
    case A64_LDAPURSB_X:
    case A64_LDAPURSH_W:
    case A64_LDAPURSH_X:
    case A64_LDAPURSW: return load_signed;
    case A64_LDXR:
    case A64_LDAXR:
    case A64_LDXP:
    case A64_LDAXP: return load_exclusive;
    case A64_STXR:
    case A64_STLXR:
    case A64_STXP:
    case A64_STLXP: return store_exclusive;
    case A64_CLREX: return clear_exclusive;
    case A64_LDADD:
    case A64_LDCLR:
    case A64_LDEOR:
    case A64_LDSET:
    case A64_LDSMAX:
    case A64_LDSMIN:
    case A64_LDUMAX:
    case A64_LDUMIN:
    case A64_SWP: return atomic;
    case A64_CAS: return compare_swap;
    case A64_CASP: return compare_swap_pair;
    case A64_DC_ZVA: return zero_block;
    case A64_IC_IVAU:
        return forget_line;
        STRUCTURE(1X1, structure_plain)
        STRUCTURE(1X2, structure_plain)
        STRUCTURE(1X3, structure_plain)
        STRUCTURE(1X4, structure_plain)
        STRUCTURE(2, structure_interleaved)
        STRUCTURE(3, structure_interleaved)
        STRUCTURE(4, structure_interleaved)
        STRUCTURE(1_LANE, structure_lane)
        STRUCTURE(2_LANE, structure_lane)
        STRUCTURE(3_LANE, structure_lane)
        STRUCTURE(4_LANE, structure_lane)
    case A64_LD1R:
    case A64_LD1R_POST:
    case A64_LD2R:
    case A64_LD2R_POST:
    case A64_LD3R:
    case A64_LD3R_POST:
    case A64_LD4R:
    case A64_LD4R_POST: return structure_replicate;
    default: return NULL;
    }
}
