/* The demonstration program: a real AArch64 executable with AMX words. It multiplies two matrices of small whole numbers,
 * so that every sum is exact, checks each element against a scalar loop and says so. Exit code 0 = all equal. */
#include "units/amx/kernels/gemm.h"
#include "units/amx/kernels/native/freestanding.h"

enum { M = 96, N = 80, K = 112 };

static float a[M * K], b[K * N], c[M * N];
static uint8_t workspace[1 << 18] __attribute__((aligned(128)));

/* Whole numbers -8 .. 7. */
static float next_value(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float)((int)(*seed >> 28) - 8);
}

int main(void)
{
    uint32_t seed = 1;
    for (int i = 0; i < M * K; i++)
        a[i] = next_value(&seed);
    for (int i = 0; i < K * N; i++)
        b[i] = next_value(&seed);

    if (gemm_workspace_bytes(GEMM_F32, M, N, K) > sizeof workspace)
        return 2;
    const struct gemm_args args = {
        .a = (uint64_t)(uintptr_t)a, .b = (uint64_t)(uintptr_t)b, .c = (uint64_t)(uintptr_t)c,
        .workspace = (uint64_t)(uintptr_t)workspace,
        .lda = K, .ldb = N, .ldc = N, .m = M, .n = N, .k = K, .batch = 1, .kind = GEMM_F32,
        .alpha_bits = 0x3f800000,
    };
    gemm_run(NULL, &args);

    uint64_t wrong = 0;
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++)
                sum += a[i * K + k] * b[k * N + j];
            wrong += sum != c[i * N + j];
        }
    }
    print_text("sgemm 96 x 80 x 112 on AMX: ");
    print_number(M * N - wrong);
    print_text(" of ");
    print_number(M * N);
    print_text(" elements equal the scalar loop\n");
    return wrong != 0;
}
