/* The executing loop: computed goto from operation to operation, links from block to block. The operations themselves stand
 * in the tables cpu_exec_run_*.inc. An instruction that can fault is checked before it changes state, so the registers after
 * a fault are those before the instruction. */
#include "units/cpu/cpu_exec.h"
#include "units/cpu/cpu_exec_hot.h"
#include "units/cpu/cpu_exec_loop.h"
#include "units/cpu/cpu_exec_run_forms.h"
#include "isa/amx/amx_isa.h"

/* Where the run writes its trace. A run without a trace writes to scratch memory, which is reused when it is full. */
struct recorder {
    const struct cpu_block **block, **block_end;
    uint64_t *address, *address_end;
};

static void record_scratch(struct cpu_core *core, struct recorder *r)
{
    r->block = core->scratch_block;
    r->block_end = core->scratch_block + CPU_SCRATCH;
    r->address = core->scratch_address;
    r->address_end = core->scratch_address + CPU_SCRATCH;
}

static struct recorder record_start(struct cpu_core *core, struct cpu_trace *trace)
{
    struct recorder r;
    if (!trace) {
        record_scratch(core, &r);
        return r;
    }
    r.block = trace->block;
    r.block_end = trace->block + trace->block_capacity;
    r.address = trace->address;
    r.address_end = trace->address + trace->address_capacity;
    return r;
}

enum { NOT_CUT = UINT32_MAX };

/* `cut` instructions of the last recorded block ran, or all of them (NOT_CUT). A block cut at 0 never started. */
static void record_close(struct cpu_trace *trace, const struct recorder *r, uint32_t cut)
{
    trace->blocks = (uint32_t)(r->block - trace->block);
    trace->addresses = (uint32_t)(r->address - trace->address);
    if (cut == 0) {
        trace->blocks--;
        cut = NOT_CUT;
    }
    trace->last_count = cut != NOT_CUT ? cut : trace->blocks ? trace->block[trace->blocks - 1]->count : 0;
}

/* Executes an AMX word. The operand is the value of a register, except for op 17, which has the register field itself. */
static bool run_coprocessor(struct cpu_core *core, const struct a64_insn *insn, uint64_t *operand)
{
    const unsigned op = (unsigned)insn->imm;
    *operand = op == AMX_SETCLR ? insn->rd : cpu_reg(core, insn->rd);
    if (!core->coprocessor.execute) {
        cpu_fault_set(core, UNIT_FAULT_UNDEFINED, 0, "AMX instruction on a core without AMX");
        return false;
    }
    if (!core->coprocessor.execute(core->coprocessor.context, op, *operand, &core->fault))
        return false;
    const bool stores = op == AMX_STX || op == AMX_STY || op == AMX_STZ || op == AMX_STZI;
    if (stores && core->coprocessor.finish)
        core->fast_limit = 0; /* the next access of the core settles them first */
    return true;
}

/* True when the trace holds something before the instruction that reads the clock. */
static inline bool clock_must_wait(const struct cpu_core *core, const struct cpu_trace *trace, const struct recorder *r,
                                   bool first_of_block)
{
    return trace && core->clock.now_ns && !(first_of_block && r->block == trace->block + 1);
}

static uint64_t counter_at(uint64_t ns)
{
    return (uint64_t)((unsigned __int128)ns * CPU_COUNTER_HZ / 1000000000u);
}

/* Returns false when the program ended or the call failed; core->fault tells which. */
static bool run_system(struct cpu_core *core, uint64_t pc)
{
    cpu_coprocessor_settle(core);
    core->fault = (struct unit_fault){0};
    core->pc = pc + 4;
    if (!core->system.call) {
        core->pc = pc;
        cpu_fault_set(core, UNIT_FAULT_TRAP, 0, "svc without a system to call");
        return false;
    }
    const bool goes_on = core->system.call(core->system.context, core, &core->exit_code, &core->fault);
    if (!goes_on && core->fault.kind != UNIT_FAULT_NONE)
        core->pc = pc;
    return goes_on;
}

/* Finds or decodes the block at pc and keeps it in `jump`. Returns false when the run ends at pc: *stop says why. */
static bool jump_fill(struct cpu_core *core, struct cpu_jump *jump, uint64_t pc, bool may_decode, const void *const *labels,
                      enum cpu_stop *stop)
{
    struct cpu_code *code = cpu_code_find(core, pc);
    if (!code) {
        *stop = pc == CPU_RETURN_ADDRESS ? CPU_STOP_RETURN : !may_decode ? CPU_STOP_BUDGET : CPU_STOP_FAULT;
        if (*stop != CPU_STOP_FAULT || !(code = cpu_code_make(core, pc)))
            return false;
        for (uint32_t i = 0; i <= code->ops; i++)
            code->op[i].go = (uintptr_t)labels[code->op[i].go];
    }
    *jump = (struct cpu_jump){pc, code};
    return true;
}

static inline uint64_t block_end(const struct cpu_code *code)
{
    return code->block.pc + 4 * (uint64_t)code->block.count;
}

/* Adds to the core's counter what ran since the last time. */
#define COUNT_INSTRUCTIONS (core->instructions += (uint64_t)(counted - left), counted = left)
#define LABEL(name)        [HOT_##name] = &&op_##name,

LOOP_ONLY enum cpu_stop cpu_exec_run(struct cpu_core *core, uint64_t budget, struct cpu_trace *trace)
{
    static const void *const labels[CPU_HOT_COUNT] = {CPU_HOT_OPS(LABEL)};
    uint64_t *const x = core->x;
    struct cpu_flags *const f = &core->flags;
    const uint8_t *const prot = core->space->prot;
    uint8_t *const host = core->space->host;
    struct recorder r = record_start(core, trace);
    uint64_t *address = r.address;
    struct cpu_code *code = NULL;
    const struct cpu_op *op = NULL;
    uint64_t pc = core->pc;
    int64_t left = budget > INT64_MAX ? INT64_MAX : (int64_t)budget, counted = left;
    enum cpu_stop stop = CPU_STOP_FAULT;
    uint32_t cut = NOT_CUT;

#include "units/cpu/cpu_exec_run_blocks.inc"
#include "units/cpu/cpu_exec_run_system.inc"
#include "units/cpu/cpu_exec_run_integer.inc"
#include "units/cpu/cpu_exec_run_branch.inc"
#include "units/cpu/cpu_exec_run_memory.inc"

before_clock: /* at op, which begins the next trace */
    stop = CPU_STOP_BUDGET;
faulted: /* at op, which changed nothing */
    cut = cpu_op_number(code, op);
    left += code->block.count - cut;
    pc = code->block.pc + 4 * (uint64_t)cut;
    if (stop == CPU_STOP_FAULT)
        cpu_fault_at(core, &code->block.insn[cut], pc);
    goto out;
out_of_budget:
    stop = CPU_STOP_BUDGET;
    pc = code->block.pc;
out:
    core->pc = pc;
    COUNT_INSTRUCTIONS;
    r.address = address;
    if (trace)
        record_close(trace, &r, cut);
    cpu_coprocessor_settle(core);
    return stop;
}
