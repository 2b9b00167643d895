/* Microbenchmarks of the AMX unit for a real Mac (`make native` there), printed in the columns that `orchard validate`
 * reads. The same program, compiled for AArch64 Linux, runs under orchard.
 *
 *     bench_native [CHIP_NAME [CHIP_ID]] > amx.csv
 */
#include "units/amx/kernels/amx_intrinsics.h"
#include "units/amx/kernels/gemm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct place {
    const char *chip, *chip_id;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void row(const struct place *p, const char *what, const char *condition, double value, const char *unit)
{
    printf("%s,%s,\"%s\",%.6g,%s,measured,bench_native,%s\n", p->chip, what, condition, value, unit, p->chip_id);
}

/* One timed loop per instruction over `accumulators` operands that differ in the Z row. */
#define LOOP_OF(name, op)                                                                                                        \
    static void loop_##name(const uint64_t *operand, unsigned accumulators, uint32_t rounds)                                     \
    {                                                                                                                            \
        for (uint32_t i = 0; i < rounds; i++)                                                                                    \
            for (unsigned a = 0; a < accumulators; a++)                                                                          \
                AMX_ISSUE(NULL, op, operand[a]);                                                                                 \
    }
LOOP_OF(fma16, AMXI_FMA16)
LOOP_OF(fma32, AMXI_FMA32)
LOOP_OF(fma64, AMXI_FMA64)
LOOP_OF(mac16, AMXI_MAC16)

struct instruction {
    const char *name;
    void (*loop)(const uint64_t *operand, unsigned accumulators, uint32_t rounds);
    uint64_t mode;
    unsigned accumulators, operations; /* Z accumulators that exist; operations of one instruction */
    const char *unit;
};
static const struct instruction instructions[] = {
    {"fma16 in matrix mode Z=f16[32][32]", loop_fma16, 0, 2, 2048, "GFLOPS"},
    {"fma16 in matrix mode Z=f32[32][32]", loop_fma16, AMX_FMA_WIDE_Z, 1, 2048, "GFLOPS"},
    {"fma32 in matrix mode Z=f32[16][16]", loop_fma32, 0, 4, 512, "GFLOPS"},
    {"fma64 in matrix mode Z=f64[8][8]", loop_fma64, 0, 8, 128, "GFLOPS"},
    {"fma16 in vector mode Z=f16[32]", loop_fma16, AMX_FMA_VECTOR, 16, 64, "GFLOPS"},
    {"fma32 in vector mode Z=f32[16]", loop_fma32, AMX_FMA_VECTOR, 16, 32, "GFLOPS"},
    {"fma64 in vector mode Z=f64[8]", loop_fma64, AMX_FMA_VECTOR, 16, 16, "GFLOPS"},
    {"\"mac16 in matrix mode, with X or Y or both being i16, and each Z accumulator being i16[32][32]\"", loop_mac16, 0, 2, 2048,
     "GOPS"},
};

static void measure_instruction(const struct place *p, const struct instruction *in, unsigned accumulators)
{
    uint64_t operand[16];
    char condition[96];
    double best = 1e9;
    uint32_t rounds = 200000 / accumulators;
    for (unsigned a = 0; a < accumulators; a++)
        operand[a] = in->mode | AMX_ZROW(a);
    AMX_SET(NULL);
    for (int pass = 0; pass < 3; pass++) {
        const double begin = now_s();
        in->loop(operand, accumulators, rounds);
        const double took = now_s() - begin;
        best = took < best ? took : best;
    }
    AMX_CLR(NULL);
    snprintf(condition, sizeof condition, "1 thread(s), %u Z accumulators per thread, no loads or stores", accumulators);
    row(p, in->name, condition, 1e-9 * in->operations * accumulators * rounds / best, in->unit);
}

static void measure_gemm(const struct place *p, uint32_t size)
{
    char what[64];
    const uint64_t bytes = (uint64_t)size * size * sizeof(float), work = gemm_workspace_bytes(GEMM_F32, size, size, size);
    void *memory[4] = {NULL};
    for (int i = 0; i < 4; i++)
        memory[i] = aligned_alloc(16384, ((i == 3 ? work : bytes) + 16383) / 16384 * 16384);
    if (memory[0] && memory[1] && memory[2] && memory[3]) {
        memset(memory[0], 0, bytes);
        memset(memory[1], 0, bytes);
        const struct gemm_args args = {.a = (uint64_t)(uintptr_t)memory[0],
                                       .b = (uint64_t)(uintptr_t)memory[1],
                                       .c = (uint64_t)(uintptr_t)memory[2],
                                       .workspace = (uint64_t)(uintptr_t)memory[3],
                                       .lda = size,
                                       .ldb = size,
                                       .ldc = size,
                                       .m = size,
                                       .n = size,
                                       .k = size,
                                       .batch = 1,
                                       .kind = GEMM_F32,
                                       .alpha_bits = 0x3f800000};
        gemm_run(NULL, &args);
        const double begin = now_s();
        gemm_run(NULL, &args);
        const double took = now_s() - begin;
        snprintf(what, sizeof what, "gemm:%ux%ux%u", size, size, size);
        row(p, what, "1 thread, this kernel library", 2e-9 * size * size * size / took, "GFLOPS");
    }
    for (int i = 0; i < 4; i++)
        free(memory[i]);
}

int main(int argc, char **argv)
{
    const struct place p = {argc > 1 ? argv[1] : "this machine", argc > 2 ? argv[2] : ""};
    printf("chip,instruction_or_kernel,condition,value,unit,kind,source,chip_id\n");
    for (size_t i = 0; i < sizeof instructions / sizeof instructions[0]; i++)
        for (unsigned n = 1; n <= instructions[i].accumulators; n++)
            measure_instruction(&p, &instructions[i], n);
    for (uint32_t size = 64; size <= 256; size *= 2)
        measure_gemm(&p, size);
    return 0;
}
