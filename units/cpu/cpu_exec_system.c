/* System registers that user programs may read and write. */
#include "units/cpu/cpu_exec.h"
#include "units/cpu/cpu_exec_float.h"

/* Cache type of Apple silicon seen from EL0: 64-byte lines in both caches, as macOS and Linux report it (ctr_el0 of an
 * M1 under Linux: dougallj/applecpu, AsahiLinux/docs); IDC and DIC say whether code needs cache maintenance: it does. */
#define CTR_VALUE UINT64_C(0x84448004)
#define CNTFRQ_VALUE UINT64_C(24000000)
#define DCZID_VALUE UINT64_C(4) /* dc zva clears 4 << 4 = 64 bytes */

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
    case CPU_REG_CNTFRQ: value = CNTFRQ_VALUE; break;
    default:
        cpu_fault_set(core, UNIT_FAULT_UNDEFINED, 0, "system register that a user program cannot read");
        return false;
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
    default:
        cpu_fault_set(core, UNIT_FAULT_UNDEFINED, 0, "system register that a user program cannot write");
        return false;
    }
}

cpu_memory_handler *cpu_system_handler_of(const struct a64_insn *insn)
{
    return insn->form == A64_MRS ? read_register : insn->form == A64_MSR ? write_register : NULL;
}
