/* The kernel library as users name it: "gemm:1024x1024x1024,batch=8" plus an element type.
 *
 * A kernel_call is the parsed, checked request; a kernel_job is one call with its data in simulated memory, ready to run
 * on a core's AMX block. Kernels are real AMX programs (units/amx/kernels); nothing here computes results itself.
 */
#ifndef ORCHARD_SIM_WORKLOAD_AMX_KERNEL_H
#define ORCHARD_SIM_WORKLOAD_AMX_KERNEL_H

#include "isa/amx/amx_isa.h"
#include "sim/base/error.h"
#include "sim/workload/kernel_info.h"
#include "units/amx/kernels/gemm.h"
#include "units/mem/mem_space.h"

#include <stdbool.h>
#include <stdint.h>

size_t kernel_count(void);
const struct kernel_info *kernel_at(size_t index);

struct kernel_call {
    const struct kernel_info *info;
    enum gemm_kind kind;
    uint32_t m, n, k, batch;
    uint32_t transpose_a, transpose_b;
    uint64_t lda, ldb, ldc; /* elements; 0 in the text = dense */
    double alpha, beta;
    struct gemm_blocks blocks; /* bm, bn, bk; 0 = the library's own choice */
    char precision[8];         /* of the inputs */
    char accumulate[8];        /* of the sums and results */
};

/* Parses WORKLOAD ("gemm:...") with the asked precision (NULL = f32). False with a suggestion when the kernel, an option or
 * the precision is none. */
bool kernel_parse(const char *workload, const char *precision, struct kernel_call *call, struct orch_error *error);
/* Does the AMX library have a kernel of that name ("gemm:...")? */
bool kernel_has(const char *workload);

double kernel_flops(const struct kernel_call *call);     /* 2mnk and the like; integer operations count the same */
double kernel_min_bytes(const struct kernel_call *call); /* every operand touched once */

/* Canonical text of shape and options: equal calls have equal texts. Returns the length. */
int kernel_describe(const struct kernel_call *call, char *text, size_t size);

/* Which chip generations can run it: bf16 needs M2. */
bool kernel_check_generation(const struct kernel_call *call, enum amx_gen gen, struct orch_error *error);
const char *kernel_variant(const struct kernel_call *call, enum amx_gen gen); /* "sgemm_32x32_quad" ... */

/* Whether the in-process time of a call stands for the AArch64 program's: within 3 %, as measured on whole tiles with 512 and
 * more in every direction, every element type but f16 sums (3 % short there). Smaller and odd calls spend a larger part in scalar
 * code between the tiles (address arithmetic, loop ends, edges), which only the program has. */
bool kernel_in_process_is_close(const struct kernel_call *call);

/* Data of a call in simulated memory. */
struct kernel_data {
    uint64_t a, b, c, workspace; /* simulated addresses */
    uint64_t a_bytes, b_bytes, c_bytes;
    union {
        struct gemm_args gemm; /* pointers are simulated addresses */
        struct gemv_args gemv;
    } args;
};
/* Operands: given[0..2] are addresses of A, B, C (gemv: A, x, y) that the caller owns and has filled; a 0, or given == NULL,
 * has one allocated and filled with reproducible values (small enough that sums stay finite in the element type). */
uint64_t kernel_data_bytes(const struct kernel_call *call); /* of the operands, without the workspace */
bool kernel_data_create(const struct kernel_call *call, enum amx_gen gen, struct mem_space *space, const uint64_t *given,
                        uint64_t seed, struct kernel_data *data, struct orch_error *error);
/* FNV-1a64 of the result's valid elements. */
uint64_t kernel_data_checksum(const struct kernel_call *call, const struct kernel_data *data, const struct mem_space *space);

#endif
