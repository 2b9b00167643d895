/* Half precision: arithmetic is done in double, where sums and products of halves are exact; quotients, roots and fused sums keep
 * enough bits for the single rounding to half to be correct. */
#include "units/cpu/cpu_exec_arith.h"

#include <fenv.h>
#include <math.h>

#define W                    16
#define UINT                 uint16_t
#define VALUE                double
#define EXP_BITS             5
#define FRAC_BITS            10
#define TO_VALUE(bits)       cpu_half_value(bits, false)
#define TO_BITS(core, value) cpu_half_round(core, value, false, true)
#define FMA(n, m, d)         fma(n, m, d)
#define SQRT(n)              sqrt(n)
#define FLUSH                CPU_FPCR_FZ16
#include "units/cpu/cpu_exec_arith_body.h"
