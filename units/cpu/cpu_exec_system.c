/* The system registers that user programs may read and write. */
#include "units/cpu/cpu_exec.h"
#include "units/cpu/cpu_exec_float.h"

/* Apple does not document what the cores report to EL0 beyond the counter's 24 MHz. These are guesses, chosen so that programs
 * that follow them work whatever the core has: 64-byte lines in ctr_el0 (loops over lines with a smaller step than the real 128
 * bytes still reach every line), IDC and DIC zero (code needs cache maintenance), and 64 bytes for dc zva, which this core then
 * does clear. */
#define CTR_VALUE   UINT64_C(0x84448004)
#define DCZID_VALUE UINT64_C(4) /* 4 << 4 bytes */

static bool read_register(struct cpu_core *core, const struct a64_insn *insn)
{
    uint64_t value;
    switch (insn->imm) {
    case CPU_REG_NZCV: value = cpu_flags_pack(&core->flags); break;
    case CPU_REG_FPCR: value = core->fpcr; break;
    case CPU_REG_FPSR: value = cpu_float_status(core); break;
    case CPU_REG_TPIDR: value = core->tls; break;
    case CPU_REG_TPIDRRO: value = core->tls_ro; break;
    case CPU_REG_CTR: value = CTR_VALUE; break;
    case CPU_REG_DCZID: value = DCZID_VALUE; break;
    case CPU_REG_CNTFRQ: value = CPU_COUNTER_HZ; break;
    default: cpu_fault_set(core, UNIT_FAULT_UNDEFINED, 0, "system register that a user program cannot read"); return false;
    }
    cpu_set_reg(core, insn->rd, value);
    return true;
}

static bool write_register(struct cpu_core *core, const struct a64_insn *insn)
{
    const uint64_t value = cpu_reg(core, insn->rd);
    switch (insn->imm) {
    case CPU_REG_NZCV: cpu_flags_unpack(&core->flags, (uint32_t)value); return true;
    case CPU_REG_FPCR: cpu_float_set_control(core, (uint32_t)value); return true;
    case CPU_REG_FPSR: cpu_float_set_status(core, (uint32_t)value); return true;
    case CPU_REG_TPIDR: core->tls = value; return true;
    default: cpu_fault_set(core, UNIT_FAULT_UNDEFINED, 0, "system register that a user program cannot write"); return false;
    }
}

cpu_memory_handler *cpu_system_handler_of(const struct a64_insn *insn)
{
    return insn->form == A64_MRS ? read_register : insn->form == A64_MSR ? write_register : NULL;
}
