#include "units/cpu/cpu_exec_float.h"

#include <fenv.h>

#define FPCR_WRITABLE UINT32_C(0x07f80000) /* AHP DN FZ RMode Stride FZ16; trapped exceptions are not implemented */
#define FPSR_WRITABLE UINT32_C(0x0800009f)

static int host_rounding(uint32_t fpcr)
{
    static const int modes[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    return modes[fpcr >> CPU_FPCR_RMODE_SHIFT & 3];
}

void cpu_float_set_control(struct cpu_core *core, uint32_t fpcr)
{
    core->fpcr = fpcr & FPCR_WRITABLE;
    core->fp_special = core->fpcr != 0;
    if (core->running)
        fesetround(host_rounding(core->fpcr));
}

void cpu_float_enter(struct cpu_core *core)
{
    core->host_rounding = fegetround();
    core->running = true;
    if (host_rounding(core->fpcr) != core->host_rounding)
        fesetround(host_rounding(core->fpcr));
    feclearexcept(FE_ALL_EXCEPT);
}

static uint32_t host_exceptions(void)
{
    const int raised = fetestexcept(FE_ALL_EXCEPT);
    return (raised & FE_INVALID ? 1u : 0) | (raised & FE_DIVBYZERO ? 2u : 0) | (raised & FE_OVERFLOW ? 4u : 0) |
           (raised & FE_UNDERFLOW ? 8u : 0) | (raised & FE_INEXACT ? 16u : 0);
}

void cpu_float_leave(struct cpu_core *core)
{
    core->fpsr |= host_exceptions();
    core->running = false;
    if (fegetround() != core->host_rounding)
        fesetround(core->host_rounding);
}

uint32_t cpu_float_status(struct cpu_core *core)
{
    core->fpsr |= host_exceptions();
    return core->fpsr;
}

void cpu_float_set_status(struct cpu_core *core, uint32_t fpsr)
{
    core->fpsr = fpsr & FPSR_WRITABLE;
    feclearexcept(FE_ALL_EXCEPT);
}
