#include "units/cpu/cpu_exec_arith.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

static inline double value_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#define W                    64
#define UINT                 uint64_t
#define VALUE                double
#define EXP_BITS             11
#define FRAC_BITS            52
#define TO_VALUE(bits)       value_of(bits)
#define TO_BITS(core, value) bits_of(value)
#define FMA(n, m, d)         fma(n, m, d)
#define SQRT(n)              sqrt(n)
#define FLUSH                CPU_FPCR_FZ
#include "units/cpu/cpu_exec_arith_body.h"
