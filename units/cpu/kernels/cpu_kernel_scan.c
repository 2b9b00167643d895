/* Running sums and rows in order: native/scan.c, native/order.c. */
#include "units/cpu/kernels/cpu_kernel_family.h"

enum { PART = 4096 }; /* ORDER: native/scan.c */

static const struct kernel_parameter scan_parameters[] = {ROUTINE_SCAN_PARAMETERS("exclusive"), {.name = NULL}};
static const struct kernel_parameter topk_parameters[] = {ROUTINE_TOPK_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter sort_parameters[] = {ROUTINE_SCAN_PARAMETERS("descending"), {.name = NULL}};

static bool build_scan(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t columns = (uint64_t)r->value[SCAN_COLUMNS];
    const uint64_t parts = (uint64_t)r->value[SCAN_ROWS] * ((columns + PART - 1) / PART);
    const unsigned sums = routine_add_scratch(w, "sums", 4 * parts, 0);
    (void)error;
    for (int i = columns > PART ? 0 : 1; i < 2; i++) {
        struct routine_call *const c = routine_add_call(w, i ? "neon_scan" : "neon_scan_sums", r->type, "parts of rows", parts);
        routine_pass_operand(c, 0, 0);
        routine_pass_operand(c, 1, 0);
        routine_pass_operand(c, sums, 0);
        routine_pass(c, r->value[SCAN_COLUMNS]);
        routine_pass(c, r->value[SCAN_EXCLUSIVE]);
    }
    arguments_name_variant(&cpu_kernel_neon, r, w);
    return true;
}

static bool build_sort(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const unsigned own = routine_add_scratch(w, "own", 8 * (uint64_t)r->value[SCAN_COLUMNS], r->threads ? r->threads : 1);
    struct routine_call *const c = routine_add_call(w, "neon_sort", r->type, "rows", (uint64_t)r->value[SCAN_ROWS]);
    (void)error;
    routine_pass_operand(c, 0, 0);
    routine_pass_operand(c, 1, 0);
    routine_pass_operand(c, own, 0);
    routine_pass(c, (int64_t)w->operand[own].thread_stride_bytes);
    routine_pass(c, r->value[SCAN_COLUMNS]);
    routine_pass(c, r->value[SORT_DESCENDING]);
    arguments_name_variant(&cpu_kernel_neon, r, w);
    return true;
}

static bool build_topk(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    struct routine_call *const c = routine_add_call(w, "neon_topk", r->type, "rows", (uint64_t)r->value[TOPK_ROWS]);
    (void)error;
    routine_pass_operand(c, 0, 0);
    routine_pass_operand(c, 1, 0);
    routine_pass(c, r->value[TOPK_COLUMNS]);
    routine_pass(c, r->value[TOPK_COUNT]);
    routine_pass(c, r->value[TOPK_SMALLEST]);
    arguments_name_variant(&cpu_kernel_neon, r, w);
    return true;
}

const struct routine cpu_kernel_topk = {
    &operation_topk, "RxC,k=K[,smallest=0|1]",
    "f32 f16 bf16",  "places of the K largest (smallest) elements of each row as u32, the best first; of equal ones the first",
    topk_parameters, build_topk};
const struct routine cpu_kernel_scan = {
    &operation_scan,
    "RxC[,exclusive=0|1]",
    "f32 f16 bf16 i32 u32",
    "running sums along each row of C elements, in f32 or 32-bit integers; exclusive=1: without the element itself",
    scan_parameters,
    build_scan};
const struct routine cpu_kernel_sort = {&operation_sort,        "RxC[,descending=0|1]",
                                        "f32 f16 bf16 i32 u32", "each row of C elements in order; NaN at the ends",
                                        sort_parameters,        build_sort};
