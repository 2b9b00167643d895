#include "units/cpu/cpu_exec_arith.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

static inline float value_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#define W                    32
#define UINT                 uint32_t
#define VALUE                float
#define EXP_BITS             8
#define FRAC_BITS            23
#define TO_VALUE(bits)       value_of(bits)
#define TO_BITS(core, value) bits_of(value)
#define FMA(n, m, d)         fmaf(n, m, d)
#define SQRT(n)              sqrtf(n)
#define FLUSH                CPU_FPCR_FZ
#include "units/cpu/cpu_exec_arith_body.h"
