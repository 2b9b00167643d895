#include "isa/float_bits.h"
#include "units/cpu/cpu_exec_arith.h"

#include <fenv.h>
#include <math.h>

#define W                    64
#define UINT                 uint64_t
#define VALUE                double
#define EXP_BITS             11
#define FRAC_BITS            52
#define TO_VALUE(bits)       f64_of_bits(bits)
#define TO_BITS(core, value) f64_bits(value)
#define FMA(n, m, d)         fma(n, m, d)
#define SQRT(n)              sqrt(n)
#define FLUSH                CPU_FPCR_FZ
#include "units/cpu/cpu_exec_arith_body.h"
