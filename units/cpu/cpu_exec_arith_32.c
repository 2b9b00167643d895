#include "isa/float_bits.h"
#include "units/cpu/cpu_exec_arith.h"

#include <fenv.h>
#include <math.h>

#define W                    32
#define UINT                 uint32_t
#define VALUE                float
#define EXP_BITS             8
#define FRAC_BITS            23
#define TO_VALUE(bits)       f32_of_bits(bits)
#define TO_BITS(core, value) f32_bits(value)
#define FMA(n, m, d)         fmaf(n, m, d)
#define SQRT(n)              sqrtf(n)
#define FLUSH                CPU_FPCR_FZ
#include "units/cpu/cpu_exec_arith_body.h"
