/* Plans that consist of kernels of the libraries, for all recognisers. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_PLAN_LAUNCH_H
#define ORCHARD_SIM_PROVE_VALIDATE_PLAN_LAUNCH_H

#include "sim/prove/validate/row.h"

#include <stdarg.h>

/* Products from so many multiply-adds on are taken to be shared by several threads of Accelerate, as far as published rates tell:
 * on M1 Pro and larger chips 1000 products of 1024 x 64 by 64 x 256 run faster than one block allows, those of 64 x 1024 by 1024
 * x 32 do not. Ultras take as long for them as Pros and Maxes, so that each thread seems to have half of that at least.
 *
 * There is one thread for each AMX block of P cores: linear layers gain 1.8 TFLOPS with the depth of the sum on M3, by MLX and by
 * PyTorch alike, which is the array's rate at the clock of a single busy core (3.5 GHz; 3.05 with all four); Accelerate's dgemm
 * on M4 takes as long with one thread as with four (JuliaLinearAlgebra/AppleAccelerate.jl, pull request 177); and threads of its
 * vDSP_mmul are an exception from how macOS fills one cluster after the other (eclecticlight.co). Matrices times a vector are
 * bound by memory, not by a block, and are left to all P cores: so tokens of GPT-2 (mechramc/Orion) are within 12 %. */
#define VALIDATE_ACCELERATE_SHARES (UINT64_C(1) << 24)
#define VALIDATE_ACCELERATE_EACH   (VALIDATE_ACCELERATE_SHARES / 2)
static inline unsigned validate_accelerate_blocks(uint64_t m, uint64_t n, uint64_t k)
{
    const uint64_t blocks = m * n * k / VALIDATE_ACCELERATE_EACH;
    return blocks < 1 ? 1 : blocks > UINT8_MAX ? UINT8_MAX : (unsigned)blocks;
}

/* With just so many, results of 2^16 elements stay with one thread: 256 x 256 x 256 runs at 957 to 1218 GFLOPS on M1 Pro and
 * Max by three sources, which is one block's rate, 512 x 512 x 512 at two's. */
#define VALIDATE_ACCELERATE_RESULT (UINT64_C(1) << 18)
static inline bool validate_accelerate_shares(uint64_t m, uint64_t n, uint64_t k)
{
    const uint64_t least = VALIDATE_ACCELERATE_SHARES + (m * n < VALIDATE_ACCELERATE_RESULT);
    return m * n * k >= least;
}

/* Tall results of no more columns than this stay with one thread, however many multiply-adds they take: 64000 x 256 by 256 x 32
 * reads 43 to 46 GB/s on M1 Pro, M1 Max and M2 Max, as one core does; eight would read twice as much. */
#define VALIDATE_ACCELERATE_THIN 32

/* Appends a launch whose workload is the formatted text. False when there are too many. */
bool validate_launch_add(struct validate_program *program, double times, const char *precision, const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));

/* Text of a column of the row's table, "" when it has none. */
const char *validate_cell(const struct validate_row *row, const char *column);

/* Notes whose kernels the launches are, and which part stands for a chip that the row leaves open. */
void validate_launch_note(const struct validate_row *row, struct validate_program *program);

#endif
