#include "tests/guest/host/unicorn_machine.h"

#include "isa/amx/amx_isa.h"

#include <stdlib.h>
#include <string.h>
#include <unicorn/unicorn.h>

/* Exception numbers of QEMU's ARM target. */
enum { EXCEPTION_UNDEFINED = 1, EXCEPTION_SVC = 2, EXCEPTION_BREAKPOINT = 7 };

struct run {
    const struct machine *m;
    uc_engine *uc;
    uint8_t *mapped; /* permissions that Unicorn has for each page */
    enum cpu_stop stop;
    int exit_code;
    struct unit_fault fault;
    bool refused; /* a load or store failed at fault.pc */
};

static const int x_register[32] = {
    UC_ARM64_REG_X0,  UC_ARM64_REG_X1,  UC_ARM64_REG_X2,  UC_ARM64_REG_X3,  UC_ARM64_REG_X4,  UC_ARM64_REG_X5,  UC_ARM64_REG_X6,
    UC_ARM64_REG_X7,  UC_ARM64_REG_X8,  UC_ARM64_REG_X9,  UC_ARM64_REG_X10, UC_ARM64_REG_X11, UC_ARM64_REG_X12, UC_ARM64_REG_X13,
    UC_ARM64_REG_X14, UC_ARM64_REG_X15, UC_ARM64_REG_X16, UC_ARM64_REG_X17, UC_ARM64_REG_X18, UC_ARM64_REG_X19, UC_ARM64_REG_X20,
    UC_ARM64_REG_X21, UC_ARM64_REG_X22, UC_ARM64_REG_X23, UC_ARM64_REG_X24, UC_ARM64_REG_X25, UC_ARM64_REG_X26, UC_ARM64_REG_X27,
    UC_ARM64_REG_X28, UC_ARM64_REG_X29, UC_ARM64_REG_X30, UC_ARM64_REG_SP};

static uint64_t get(uc_engine *uc, int reg)
{
    uint64_t value = 0;
    uc_reg_read(uc, reg, &value);
    return value;
}

static void set(uc_engine *uc, int reg, uint64_t value)
{
    uc_reg_write(uc, reg, &value);
}

static void to_unicorn(uc_engine *uc, const struct cpu_core *core)
{
    for (unsigned i = 0; i < 32; i++)
        set(uc, x_register[i], cpu_core_x(core, i));
    for (unsigned i = 0; i < 32; i++) {
        uint8_t v[16];
        cpu_core_v(core, i, v);
        uc_reg_write(uc, UC_ARM64_REG_V0 + (int)i, v);
    }
    set(uc, UC_ARM64_REG_NZCV, cpu_core_nzcv(core));
    set(uc, UC_ARM64_REG_TPIDR_EL0, cpu_core_tls(core));
    set(uc, UC_ARM64_REG_PC, cpu_core_pc(core));
}

static void to_core(uc_engine *uc, struct cpu_core *core)
{
    for (unsigned i = 0; i < 32; i++)
        cpu_core_set_x(core, i, get(uc, x_register[i]));
    for (unsigned i = 0; i < 32; i++) {
        uint8_t v[16];
        uc_reg_read(uc, UC_ARM64_REG_V0 + (int)i, v);
        cpu_core_set_v(core, i, v);
    }
    cpu_core_set_nzcv(core, (uint32_t)get(uc, UC_ARM64_REG_NZCV));
    cpu_core_set_tls(core, get(uc, UC_ARM64_REG_TPIDR_EL0));
    cpu_core_set_pc(core, get(uc, UC_ARM64_REG_PC));
}

static uint8_t page_prot(const struct mem_space *space, uint64_t page)
{
    uint8_t prot = 0;
    for (unsigned bit = MEM_READ; bit <= MEM_EXEC; bit <<= 1)
        if (mem_at(space, page << MEM_PAGE_SHIFT, 1, bit))
            prot |= (uint8_t)bit;
    return prot;
}

static uint32_t to_uc_prot(unsigned prot)
{
    return (prot & MEM_READ ? UC_PROT_READ : 0u) | (prot & MEM_WRITE ? UC_PROT_WRITE : 0u) |
           (prot & MEM_EXEC ? UC_PROT_EXEC : 0u);
}

/* Brings Unicorn's map up to date, with one call for each stretch of pages that change in the same way. */
static void sync_map(struct run *r)
{
    const struct mem_space *space = r->m->space;
    const uint64_t pages = space->bytes >> MEM_PAGE_SHIFT;
    for (uint64_t first = 0; first < pages;) {
        const uint8_t old = r->mapped[first], now = page_prot(space, first);
        uint64_t end = first + 1;
        if (old == now) {
            first = end;
            continue;
        }
        while (end < pages && r->mapped[end] == old && page_prot(space, end) == now)
            end++;
        const uint64_t addr = first << MEM_PAGE_SHIFT, bytes = (end - first) << MEM_PAGE_SHIFT;
        if (old)
            uc_mem_unmap(r->uc, addr, bytes);
        if (now)
            uc_mem_map_ptr(r->uc, addr, bytes, to_uc_prot(now), space->host + addr);
        memset(r->mapped + first, now, end - first);
        first = end;
    }
}

static void end_with(struct run *r, enum cpu_stop stop, enum unit_fault_kind kind, uint64_t pc)
{
    r->stop = stop;
    r->fault.kind = kind;
    r->fault.pc = pc;
    uc_emu_stop(r->uc);
}

static void on_svc(struct run *r, uint64_t pc)
{
    int code = 0;
    struct unit_fault fault = {0};
    if (!r->m->system) {
        end_with(r, CPU_STOP_FAULT, UNIT_FAULT_TRAP, pc - 4);
        return;
    }
    to_core(r->uc, r->m->core);
    const bool go_on = r->m->system->call(r->m->system->context, r->m->core, &code, &fault);
    set(r->uc, UC_ARM64_REG_X0, cpu_core_x(r->m->core, 0));
    if (go_on) {
        sync_map(r);
        return;
    }
    r->exit_code = code;
    end_with(r, fault.kind ? CPU_STOP_FAULT : CPU_STOP_EXIT, fault.kind, pc - 4);
}

static void on_undefined(struct run *r, uint64_t pc)
{
    const struct cpu_coprocessor *amx = r->m->coprocessor;
    const uint8_t *host = mem_at(r->m->space, pc, 4, MEM_EXEC);
    uint32_t word = 0;
    if (host)
        memcpy(&word, host, sizeof word);
    if (!amx || !amx_is_word(word)) {
        end_with(r, CPU_STOP_FAULT, UNIT_FAULT_UNDEFINED, pc);
        return;
    }
    const unsigned op = amx_word_op(word), reg = amx_word_register(word);
    const uint64_t operand = op == AMX_SETCLR ? reg : reg == 31 ? 0 : get(r->uc, x_register[reg]);
    struct unit_fault fault = {0};
    if (!amx->execute(amx->context, op, operand, &fault)) {
        end_with(r, CPU_STOP_FAULT, fault.kind, pc);
        return;
    }
    if (amx->finish)
        amx->finish(amx->context);
    set(r->uc, UC_ARM64_REG_PC, pc + 4);
}

static void on_interrupt(uc_engine *uc, uint32_t number, void *context)
{
    struct run *r = context;
    const uint64_t pc = get(uc, UC_ARM64_REG_PC);
    if (number == EXCEPTION_SVC)
        on_svc(r, pc);
    else if (number == EXCEPTION_UNDEFINED)
        on_undefined(r, pc);
    else
        end_with(r, CPU_STOP_FAULT, number == EXCEPTION_BREAKPOINT ? UNIT_FAULT_TRAP : UNIT_FAULT_ALIGNMENT, pc);
}

/* Unicorn 2.0.1 does not bring the PC register up to date before a store that lacks permission. */
static bool on_refused_access(uc_engine *uc, uc_mem_type type, uint64_t address, int size, int64_t value, void *context)
{
    struct run *r = context;
    (void)size;
    (void)value;
    if (type != UC_MEM_FETCH_UNMAPPED && type != UC_MEM_FETCH_PROT) {
        r->refused = true;
        r->fault.pc = type == UC_MEM_WRITE_PROT ? 0 : get(uc, UC_ARM64_REG_PC);
        r->fault.address = address;
    }
    return false;
}

static void after_run(struct run *r, uc_err error)
{
    const uint64_t pc = get(r->uc, UC_ARM64_REG_PC);
    if (r->stop != CPU_STOP_BUDGET)
        return;
    if (pc == CPU_RETURN_ADDRESS) {
        r->stop = CPU_STOP_RETURN;
        return;
    }
    if (error == UC_ERR_OK) /* time ran out */
        return;
    r->stop = CPU_STOP_FAULT;
    r->fault.pc = r->refused ? r->fault.pc : pc;
    r->fault.kind = error == UC_ERR_READ_PROT || error == UC_ERR_WRITE_PROT || error == UC_ERR_FETCH_PROT ? UNIT_FAULT_PERMISSION
                    : error == UC_ERR_READ_UNMAPPED || error == UC_ERR_WRITE_UNMAPPED || error == UC_ERR_FETCH_UNMAPPED
                        ? UNIT_FAULT_UNMAPPED
                        : UNIT_FAULT_UNDEFINED;
}

enum cpu_stop machine_run(const struct machine *m, int *exit_code, struct unit_fault *fault)
{
    struct run r = {.m = m, .stop = CPU_STOP_BUDGET};
    uc_hook interrupts, accesses;
    r.mapped = calloc(m->space->bytes >> MEM_PAGE_SHIFT, 1);
    memset(fault, 0, sizeof *fault);
    if (!r.mapped || uc_open(UC_ARCH_ARM64, UC_MODE_ARM, &r.uc) != UC_ERR_OK) {
        free(r.mapped);
        return CPU_STOP_BUDGET;
    }
    uc_ctl_set_cpu_model(r.uc, UC_CPU_ARM64_MAX);
    set(r.uc, UC_ARM64_REG_CPACR_EL1, 3u << 20); /* floating point and SIMD on */
    sync_map(&r);
    to_unicorn(r.uc, m->core);
    uc_hook_add(r.uc, &interrupts, UC_HOOK_INTR, (void *)on_interrupt, &r, 1, 0);
    uc_hook_add(r.uc, &accesses, UC_HOOK_MEM_INVALID, (void *)on_refused_access, &r, 1, 0);
    after_run(&r, uc_emu_start(r.uc, cpu_core_pc(m->core), CPU_RETURN_ADDRESS, m->timeout_us, 0));
    to_core(r.uc, m->core);
    cpu_core_set_pc(m->core, r.stop == CPU_STOP_FAULT ? r.fault.pc : get(r.uc, UC_ARM64_REG_PC));
    uc_close(r.uc);
    free(r.mapped);
    *exit_code = r.exit_code;
    *fault = r.fault;
    return r.stop;
}
