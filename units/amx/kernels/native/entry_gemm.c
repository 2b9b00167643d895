/* Entry points through which orchard calls the kernels inside an AArch64 program: x0 = address of the arguments. */
#include "units/amx/kernels/gemm.h"
#include "units/amx/kernels/native/freestanding.h"

void gemm_entry(const struct gemm_args *args);
void gemm_entry(const struct gemm_args *args)
{
    gemm_run(NULL, args);
}

void gemv_entry(const struct gemv_args *args);
void gemv_entry(const struct gemv_args *args)
{
    gemv_run(NULL, args);
}

/* The program's own start does nothing: the kernels are called by entry point. */
int main(void)
{
    return 0;
}
