/* The scoreboard: places one instruction after another in program order, each at the earliest cycle that its operands, ports and
 * queues allow.
 *
 * Attribution: instructions retire in order, and the cycles between two retirements belong to whatever made the later one late:
 * its own cache level, the operand it waited for, its port, or the front end. The gaps add up to the run.
 */
#include "units/cpu/cpu_timing_ports.h"

#include <stdlib.h>
#include <string.h>

static uint32_t ring_mask(uint32_t entries)
{
    uint32_t size = 1;
    while (size < entries)
        size *= 2;
    return size - 1;
}

/* Records which other group's places the work of a group takes as well. */
static void init_groups(struct cpu_timing *t)
{
    memset(t->parent, CPU_GROUP_NONE, sizeof t->parent);
    for (unsigned g = 0; g < CPU_PORT_GROUP_COUNT; g++)
        t->capacity[g] = (uint8_t)(t->params.port_count[g] < 255 ? t->params.port_count[g] : 255);
    t->capacity[CPU_GROUP_MEMORY] = (uint8_t)(t->params.memory_ports < 255 ? t->params.memory_ports : 255);
    t->capacity[CPU_GROUP_AMX] = (uint8_t)(t->params.amx_issue_per_cycle < 255 ? t->params.amx_issue_per_cycle : 255);
    const double l1_parts = t->port ? mem_port_l1_width(t->port) / CPU_L1_PART : 0.0;
    t->capacity[CPU_GROUP_L1] = (uint8_t)(l1_parts < 255.0 ? l1_parts : 255.0);
    for (unsigned parts = 0; parts <= CPU_L1_PARTS_MAX; parts++)
        t->l1_row[parts][CPU_GROUP_L1] = (uint8_t)parts;
    if (t->params.port_count[CPU_PORTS_INT]) {
        t->parent[CPU_PORTS_MUL] = CPU_PORTS_INT;
        t->parent[CPU_PORTS_DIV] = CPU_PORTS_INT;
        t->parent[CPU_PORTS_BRANCH] = CPU_PORTS_INT;
    }
    if (t->params.port_count[CPU_PORTS_SIMD])
        t->parent[CPU_PORTS_SIMD_DIV] = CPU_PORTS_SIMD;
    if (t->params.memory_ports) {
        t->parent[CPU_PORTS_LOAD] = CPU_GROUP_MEMORY;
        t->parent[CPU_PORTS_STORE] = CPU_GROUP_MEMORY;
    }
    if (t->params.port_count[CPU_PORTS_STORE])
        t->parent[CPU_GROUP_AMX] = CPU_PORTS_STORE;
    for (unsigned g = 0; g < CPU_GROUP_COUNT; g++)
        for (unsigned p = g; p != CPU_GROUP_NONE; p = t->parent[p])
            t->chain[g][p] = 1;
}

bool cpu_board_init(struct cpu_timing *t)
{
    struct cpu_board *b = &t->board;
    init_groups(t);
    b->retired_mask = ring_mask(t->params.reorder_window);
    b->load_mask = ring_mask(t->params.load_queue);
    b->store_mask = ring_mask(t->params.store_queue);
    b->retired = calloc(b->retired_mask + 1, sizeof b->retired[0]);
    b->load_done = calloc(b->load_mask + 1, sizeof b->load_done[0]);
    b->store_done = calloc(b->store_mask + 1, sizeof b->store_done[0]);
    b->store_cause = calloc(b->store_mask + 1, sizeof b->store_cause[0]);
    b->calendar = calloc(CPU_CALENDAR, sizeof b->calendar[0]);
    t->forward = calloc(CPU_FORWARDS, sizeof t->forward[0]);
    return b->retired && b->load_done && b->store_done && b->store_cause && b->calendar && t->forward;
}

void cpu_board_release(struct cpu_timing *t)
{
    free(t->board.retired);
    free(t->board.load_done);
    free(t->board.store_done);
    free(t->board.store_cause);
    free(t->board.calendar);
    free(t->forward);
}

void cpu_board_reset(struct cpu_timing *t, uint64_t now)
{
    struct cpu_board *b = &t->board;
    memset(b->retired, 0, (b->retired_mask + 1) * sizeof b->retired[0]);
    memset(b->load_done, 0, (b->load_mask + 1) * sizeof b->load_done[0]);
    memset(b->store_done, 0, (b->store_mask + 1) * sizeof b->store_done[0]);
    memset(b->calendar, 0, CPU_CALENDAR * sizeof b->calendar[0]);
    memset(b->ready, 0, sizeof b->ready);
    memset(b->cause, 0, sizeof b->cause);
    memset(b->early, 0, sizeof b->early);
    memset(b->stall, 0, sizeof b->stall);
    memset(b->open, 0, sizeof b->open);
    memset(t->forward, 0, CPU_FORWARDS * sizeof t->forward[0]);
    t->youngest = (struct cpu_youngest){0};
    memset(t->amx_line, 0, sizeof t->amx_line);
    t->amx_pending = false;
    b->now = b->last_retire = b->calendar_far = now;
    b->slots = b->taken = 0;
    b->taken_cycle = b->redirect = b->branch_issue = b->last_commit = b->amx_next = 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- one instruction ---- */

/* The functions that take it by address are inlined, so that the host keeps it in registers: what one step of an instruction
 * finds is what the next step waits for. */
struct placing {
    const struct cpu_op *op;
    uint64_t dispatched, operands, issued, complete;
    uint8_t why; /* enum cpu_stall: what made it late */
};

/* Finds the cycle in which an instruction enters the window. */
static inline __attribute__((always_inline)) void dispatch(struct cpu_timing *t, struct placing *p)
{
    struct cpu_board *b = &t->board;
    uint64_t at = b->retired[(b->instructions - t->params.reorder_window) & b->retired_mask];
    p->why = CPU_STALL_DISPATCH;
    if (p->op->kind & CPU_OP_LOAD)
        at = later(at, b->load_done[(b->loads - t->params.load_queue) & b->load_mask]);
    if (p->op->kind & CPU_OP_STORE) {
        const uint32_t slot = (uint32_t)((b->stores - t->params.store_queue) & b->store_mask);
        if (b->store_done[slot] > later(at, b->now)) {
            at = b->store_done[slot];
            p->why = b->store_cause[slot];
        }
    }
    if (b->redirect > later(at, b->now)) {
        at = b->redirect;
        p->why = CPU_STALL_BRANCH;
    }
    if (at > b->now)
        cpu_board_advance(b, at);
    const uint32_t uops = p->op->uops ? p->op->uops : 1;
    if (b->slots > 0 && b->slots + uops > t->params.dispatch_width)
        cpu_board_advance(b, b->now + 1);
    b->slots += uops;
    p->dispatched = b->now;
}

/* Finds when the operands and the ports are ready. */
static inline __attribute__((always_inline)) void issue(struct cpu_timing *t, struct placing *p, uint64_t not_before,
                                                        uint8_t not_before_why)
{
    struct cpu_board *b = &t->board;
    const struct cpu_op *op = p->op;
    uint64_t ready = not_before;
    uint8_t cause = not_before_why;
    const unsigned early_base = op->kind & CPU_OP_LOAD ? op->base : CPU_REG_COUNT;
    for (unsigned i = 0, sources = op->operands & 15; i < sources; i++) {
        const unsigned s = op->src[i];
        const uint64_t r = b->ready[s] - (s == early_base ? b->early[s] : 0);
        cause = r > ready ? b->cause[s] : cause;
        ready = later(ready, r);
    }
    if (ready > p->dispatched)
        p->why = cause;
    p->operands = later(p->dispatched, ready);
    p->issued = p->operands;
    for (unsigned u = 0; u < op->uops && op->group != CPU_GROUP_NONE; u++)
        p->issued = later(p->issued, cpu_port_take(t, b, op->group, op->hold, op->l1_parts, p->operands));
    if (p->issued > p->operands)
        p->why = CPU_STALL_PORTS;
}

static inline __attribute__((always_inline)) void write_registers(struct cpu_board *b, const struct placing *p, uint8_t cause,
                                                                  uint8_t early)
{
    for (unsigned i = 0, results = p->op->operands >> 4; i < results; i++) {
        const unsigned d = p->op->dst[i];
        const bool base = (p->op->kind & CPU_OP_WRITEBACK) && d == p->op->base;
        b->ready[d] = base ? p->issued + 1 : p->complete;
        b->cause[d] = base ? (uint8_t)CPU_STALL_DEPENDENCY : cause;
        b->early[d] = base ? 0 : early;
    }
    b->ready[CPU_REG_NONE] = 0;
    b->early[CPU_REG_NONE] = 0;
}

static inline __attribute__((always_inline)) void retire(struct cpu_timing *t, const struct placing *p)
{
    struct cpu_board *b = &t->board;
    /* Without a branch, which the host would guess wrongly. */
    const uint64_t late = later(p->complete, b->last_retire) - b->last_retire;
    b->stall[p->why] += late;
    b->last_retire += late;
    b->retired[b->instructions++ & b->retired_mask] = b->last_retire;
}

/* `at` is the time of the request; `data` that of a store's data. */
static void log_access(struct cpu_timing *t, const struct cpu_op *op, uint8_t kind, uint64_t at, uint64_t data,
                       const struct cpu_answer *answer)
{
    const uint64_t cycles = answer->cycle - at, start = t->block_start;
    if (t->log_count == CPU_LOG_MAX || cycles > CPU_MEMO_CYCLES_MAX) {
        t->clean = false;
        return;
    }
    t->log[t->log_count++] = (struct cpu_memo_access){.when = (uint32_t)(at - start),
                                                      .data = (uint32_t)(data - start),
                                                      .cycles = (uint32_t)cycles,
                                                      .pc_offset = op->pc_offset,
                                                      .bytes = kind == CPU_ACCESS_AMX ? op->amx_op : op->bytes,
                                                      .kind = kind,
                                                      .level = (uint8_t)answer->level};
}

static struct cpu_answer ask(struct cpu_timing *t, uint64_t at, uint64_t addr, const struct cpu_op *op, enum mem_access_kind kind,
                             uint64_t pc)
{
    if (t->answers_used < t->answers)
        return t->answer[t->answers_used++];
    return cpu_ask(t, at, addr, op->bytes, kind, pc + op->pc_offset);
}

/* ---- loads ---- */

/* Returns when AMX stores that may still be writing these bytes are done. */
static uint64_t wait_for_amx(struct cpu_timing *t, const struct cpu_op *op, uint64_t at, uint64_t addr)
{
    if (!cpu_amx_line_waits(t, addr, op->bytes))
        return at;
    t->clean = false;
    const uint64_t done = cpu_cycle_of(t, t->amx.stores_done_at(t->amx.context));
    if (done > at)
        return done;
    memset(t->amx_line, 0, sizeof t->amx_line);
    t->amx_pending = false;
    return at;
}

/* A barrier is complete when AMX stores are visible, and what follows it enters the window then. */
static inline __attribute__((always_inline)) void place_sync(struct cpu_timing *t, struct placing *p)
{
    if (!t->amx_pending)
        return;
    const uint64_t done = cpu_cycle_of(t, t->amx.stores_done_at(t->amx.context));
    t->clean = false;
    memset(t->amx_line, 0, sizeof t->amx_line);
    t->amx_pending = false;
    if (done <= p->complete)
        return;
    p->complete = done;
    t->board.redirect = later(t->board.redirect, done);
    p->why = CPU_STALL_AMX;
}

/* Whether a load of a general register only renames the one that a store has put there. M1 does so in a loop over one place, not
 * when two places take turns (krrishnarraj/clpeak src/cpu/microarch.cpp): so the place must have been stored to twice. */
static bool is_renamed(const struct cpu_timing *t, const struct cpu_op *op, uint64_t addr)
{
    const struct cpu_youngest *const y = &t->youngest;
    return t->params.store_rename && (op->kind & (CPU_OP_POINTER | CPU_OP_WRITEBACK)) == CPU_OP_POINTER && y->again &&
           y->addr == addr && y->bytes == op->bytes;
}

static inline __attribute__((always_inline)) void place_load(struct cpu_timing *t, struct placing *p, uint64_t addr, uint64_t pc)
{
    const struct cpu_op *op = p->op;
    struct cpu_board *b = &t->board;
    uint64_t at = p->issued;
    uint8_t cause = CPU_STALL_L1;
    if (t->amx_pending && (at = wait_for_amx(t, op, at, addr)) > p->issued)
        cause = p->why = CPU_STALL_AMX;
    const struct cpu_forward *f = cpu_forward_find(t, addr, op->bytes, at);
    if (f && addr >= f->addr && addr + op->bytes <= f->addr + f->bytes) {
        t->clean = false;
        /* Atomic operations are done in L1, where the bytes must be first. */
        const uint32_t way = op->kind & CPU_OP_STORE && t->l1_cycles > t->forward_cycles ? t->l1_cycles : t->forward_cycles;
        p->complete = later(at + t->l1_cycles, f->data_cycle + way);
        if (f->data_cycle > at)
            cause = p->why = CPU_STALL_DEPENDENCY;
    } else {
        /* A store under way covers a part of it: wait until the store is in L1. */
        t->clean &= !f;
        const uint64_t from = f ? f->commit_cycle : at;
        const struct cpu_answer answer = ask(t, from, addr, op, MEM_ACCESS_LOAD, pc);
        p->complete = answer.cycle;
        log_access(t, op, MEM_ACCESS_LOAD, from, from, &answer);
        if (answer.level > MEM_L1)
            cause = p->why = (uint8_t)(CPU_STALL_L1 + answer.level);
        else if (f)
            p->why = CPU_STALL_L1;
    }
    p->complete += op->latency;
    write_registers(b, p, cause, op->kind & CPU_OP_POINTER ? (uint8_t)t->pointer_gain : 0);
    if (f && op->dst[0] != CPU_REG_NONE && is_renamed(t, op, addr)) {
        b->ready[op->dst[0]] = later(p->dispatched, f->data_cycle - t->store_cycles);
        b->early[op->dst[0]] = 0;
    }
}

/* ---- stores ---- */

static void remember_store(struct cpu_timing *t, uint64_t addr, uint32_t bytes, uint64_t data, uint64_t commit)
{
    cpu_store_next(t, addr, bytes);
    for (uint64_t g = addr >> 4; g <= (addr + bytes - 1) >> 4; g++)
        t->forward[g % CPU_FORWARDS] = (struct cpu_forward){g + 1, addr, data, commit, bytes};
}

/* After retirement, in order, the bytes go to L1; the place in the queue is free once they were accepted. */
static void commit_store(struct cpu_timing *t, const struct cpu_op *op, uint64_t data, uint64_t addr, uint64_t pc)
{
    struct cpu_board *b = &t->board;
    const uint64_t at = later(b->last_retire, b->last_commit);
    const enum mem_access_kind kind = op->kind & CPU_OP_STREAM ? MEM_ACCESS_STORE_STREAM : MEM_ACCESS_STORE;
    const struct cpu_answer answer = ask(t, at, addr, op, kind, pc);
    b->last_commit = at;
    const uint32_t slot = (uint32_t)(b->stores++ & b->store_mask);
    b->store_done[slot] = answer.cycle;
    b->store_cause[slot] = (uint8_t)(CPU_STALL_L1 + answer.level);
    /* Up to and including the cycle of the write, loads find the bytes in the store queue. */
    remember_store(t, addr, op->bytes, data, answer.cycle + 1);
    log_access(t, op, (uint8_t)kind, at, data, &answer);
}

/* ---- AMX ---- */

static void remember_amx_store(struct cpu_timing *t, uint64_t operand)
{
    uint64_t last, line = cpu_amx_lines(t, operand, &last);
    for (; line <= last; line++)
        t->amx_line[line % CPU_AMX_LINES] = line + 1;
    t->amx_pending = true;
}

static inline __attribute__((always_inline)) void place_amx(struct cpu_timing *t, struct placing *p, uint64_t operand)
{
    struct cpu_board *b = &t->board;
    p->complete = p->issued;
    const struct cpu_answer answer =
        t->answers_used < t->answers ? t->answer[t->answers_used++] : cpu_ask_amx(t, p->issued, p->op->amx_op, operand);
    b->amx_next = answer.cycle;
    if (t->has_amx && (p->op->kind & CPU_OP_AMX_STORE))
        remember_amx_store(t, operand);
    log_access(t, p->op, CPU_ACCESS_AMX, p->issued, p->issued, &answer);
}

/* *p tells when it was issued and when it is complete. */
static inline __attribute__((always_inline)) void place(struct cpu_timing *t, const struct cpu_op *op, const uint64_t **address,
                                                        uint64_t pc, struct placing *p)
{
    *p = (struct placing){.op = op};
    struct cpu_board *b = &t->board;
    dispatch(t, p);
    issue(t, p, op->kind & CPU_OP_AMX ? b->amx_next : 0, CPU_STALL_AMX);
    if (op->kind & CPU_OP_AMX) {
        place_amx(t, p, *(*address)++);
        retire(t, p);
        return;
    }
    if (!(op->kind & (CPU_OP_LOAD | CPU_OP_STORE))) {
        p->complete = p->issued + op->latency;
        if (op->kind & CPU_OP_SYNC)
            place_sync(t, p);
        write_registers(b, p, CPU_STALL_DEPENDENCY, 0);
        b->branch_issue = p->issued;
        retire(t, p);
        return;
    }
    const uint64_t addr = *(*address)++ + t->address_tag;
    if (op->kind & CPU_OP_LOAD) {
        place_load(t, p, addr, pc);
    } else {
        p->complete = p->issued + op->latency;
        write_registers(b, p, CPU_STALL_DEPENDENCY, 0);
    }
    retire(t, p);
    if (op->kind & CPU_OP_LOAD)
        b->load_done[b->loads++ & b->load_mask] = b->last_retire;
    if (op->kind & CPU_OP_STORE)
        commit_store(t, op, p->complete, addr, pc);
    t->clean &= (op->kind & (CPU_OP_LOAD | CPU_OP_STORE)) != (CPU_OP_LOAD | CPU_OP_STORE);
}

void cpu_board_run(struct cpu_timing *t, const struct cpu_plan *plan, uint32_t count, const uint64_t *address)
{
    struct placing p;
    for (uint32_t i = 0; i < count; i++)
        place(t, &plan->op[i], &address, plan->pc, &p);
}

void cpu_board_run_watched(struct cpu_timing *t, const struct cpu_plan *plan, const struct cpu_block *block, uint32_t count,
                           const uint64_t *address)
{
    struct placing p;
    for (uint32_t i = 0; i < count; i++) {
        const struct a64_insn *insn = &block->insn[i];
        const uint64_t operand = cpu_traces_address(insn) ? *address : 0;
        place(t, &plan->op[i], &address, plan->pc, &p);
        const struct unit_instruction told = {.pc = block->pc + 4 * (uint64_t)i,
                                              .word = insn->word,
                                              .operand = operand,
                                              .issued_ns = cpu_ns_of(t, p.issued),
                                              .done_ns = cpu_ns_of(t, p.complete)};
        t->watch->cpu(t->watch->context, t->number, &told);
    }
}

void cpu_board_resolve(struct cpu_timing *t, bool taken, bool mispredicted)
{
    struct cpu_board *b = &t->board;
    if (mispredicted)
        b->redirect = later(b->redirect, b->branch_issue + t->mispredict_cycles);
    if (!taken)
        return;
    uint64_t at = later(b->now, b->redirect);
    if (b->taken_cycle == at && b->taken >= t->params.taken_branches_per_cycle) {
        cpu_board_advance(b, at + 1);
        at++;
    }
    b->taken = b->taken_cycle == at ? b->taken + 1 : 1;
    b->taken_cycle = at;
}

void cpu_board_work(struct cpu_timing *t, uint64_t count)
{
    struct cpu_board *b = &t->board;
    const uint64_t width = t->params.dispatch_width;
    if (count == 0)
        return;
    if (b->redirect > b->now)
        cpu_board_advance(b, b->redirect);
    /* So many instructions that they fill the window wait for all that came before. */
    if (count >= t->params.reorder_window && b->last_retire > b->now)
        cpu_board_advance(b, b->last_retire);
    const uint64_t slots = b->slots + count, cycles = (slots - 1) / width;
    if (cycles)
        cpu_board_advance(b, b->now + cycles);
    b->slots = (uint32_t)(slots - cycles * width);
    if (b->now + 1 > b->last_retire) {
        b->stall[CPU_STALL_DISPATCH] += b->now + 1 - b->last_retire;
        b->last_retire = b->now + 1;
    }
    const uint64_t entries = count < b->retired_mask + UINT64_C(1) ? count : b->retired_mask + UINT64_C(1);
    for (uint64_t i = 0; i < entries; i++)
        b->retired[(b->instructions + i) & b->retired_mask] = b->last_retire;
    b->instructions += count;
}
