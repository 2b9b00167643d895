/* The AMX kernel library as users name it: "gemm:1024x1024x1024,batch=8" plus an element type.
 *
 * A kernel_call is a parsed and checked request, kernel_data its operands in simulated memory; an amx_job (amx_job.h) runs the
 * two on a core's AMX block. Kernels are real AMX programs (units/amx/kernels); nothing here computes results itself.
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
    uint64_t lda, ldb, ldc; /* elements; rows are dense when a request does not give them */
    double alpha, beta;
    struct gemm_blocks blocks; /* bm, bn, bk; 0 = the library's own choice */
    char precision[8];         /* of the inputs */
    char accumulate[8];        /* of the sums and results */
};

/* Parses WORKLOAD ("gemm:...") in the precision asked for (NULL = f32). False, with a suggestion, when there is no such kernel,
 * option or precision. */
bool kernel_parse(const char *workload, const char *precision, struct kernel_call *call, struct orch_error *error);
/* Does the AMX library have a kernel of that name ("gemm:...")? */
bool kernel_has(const char *workload);

double kernel_flops(const struct kernel_call *call);     /* 2mnk per product; integer operations count the same */
double kernel_min_bytes(const struct kernel_call *call); /* when every operand moves once */

/* Canonical text of shape and options: equal calls have equal texts. Returns the length. */
int kernel_describe(const struct kernel_call *call, char *text, size_t size);

/* False with exit code 3 when the generation cannot run the call: bf16 needs M2 or later. */
bool kernel_check_generation(const struct kernel_call *call, enum amx_gen gen, struct orch_error *error);
const char *kernel_variant(const struct kernel_call *call, enum amx_gen gen); /* "sgemm_32x32_quad" ... */

/* True when the in-process time of a call stands for that of the same kernel compiled for AArch64. The two agree within 3 %, as
 * measured on whole tiles with at least 512 elements in every direction, for all element types except f16 sums, which come out
 * 3 % short. Small calls and odd shapes spend a larger part of their time in scalar code between the tiles (address arithmetic,
 * loop ends, edges), which only the compiled program has. */
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
/* Places the operands. given[0..2] are addresses of A, B and C (gemv: A, x and y) that the caller owns and has filled. An operand
 * whose address is 0, or each of them when given is NULL, is allocated and filled with reproducible values, which are small
 * enough that sums stay finite in the element type. */
uint64_t kernel_data_bytes(const struct kernel_call *call); /* of the operands, without the workspace */
bool kernel_data_create(const struct kernel_call *call, enum amx_gen gen, struct mem_space *space, const uint64_t *given,
                        uint64_t seed, struct kernel_data *data, struct orch_error *error);
/* FNV-1a64 of the elements of the result, without the padding between rows. */
uint64_t kernel_data_checksum(const struct kernel_call *call, const struct kernel_data *data, const struct mem_space *space);

#endif
