#include "units/amx/kernels/amx_kernels.h"

#include "isa/array_count.h"

static const struct routine *const rows[] = {
#define X(kernel) &amx_kernel_##kernel,
    AMX_KERNELS(X)
#undef X
};
const struct arguments_unit amx_kernel_block = {"amx", 64};
const struct routine_library amx_kernels = {"amx", rows, ARRAY_COUNT(rows)};

static const struct routine *const products[] = {&amx_kernel_gemm};
const struct routine_library amx_products = {"amx", products, ARRAY_COUNT(products)};

/* make amx-kernels. Code as words in the order of the host: orchard's hosts are little-endian. */
static const uint64_t words[] = {
#include "units/amx/kernels/amx_kernels_code.inc"
};

const void *amx_kernels_code(size_t *bytes)
{
    *bytes = sizeof words;
    return words;
}
