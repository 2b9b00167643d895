/* The demonstration program: a real AArch64 executable with AMX words. It multiplies two matrices of small whole numbers,
 * so that every sum is exact, and checks every row of the product: (A B) w must equal A (B w). Exit code 0 = all equal. */
#include "units/amx/kernels/gemm.h"
#include "units/amx/kernels/native/freestanding.h"

enum { M = 256, N = 256, K = 256 };

static float a[M * K], b[K * N], c[M * N];
static uint8_t workspace[1 << 20] __attribute__((aligned(128)));

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

    /* Weights 1, 2, 3: a wrong element changes its row's sum. All numbers stay below 2^24, where f32 is exact. */
    static float weighted[K];
    for (int k = 0; k < K; k++) {
        weighted[k] = 0;
        for (int j = 0; j < N; j++)
            weighted[k] += b[k * N + j] * (float)(j % 3 + 1);
    }
    uint64_t right = 0;
    for (int i = 0; i < M; i++) {
        float expected = 0, sum = 0;
        for (int k = 0; k < K; k++)
            expected += a[i * K + k] * weighted[k];
        for (int j = 0; j < N; j++)
            sum += c[i * N + j] * (float)(j % 3 + 1);
        right += sum == expected;
    }
    print_text("sgemm 256 x 256 x 256 on AMX: ");
    print_number(right);
    print_text(" of ");
    print_number(M);
    print_text(" rows have the exact sum\n");
    return right != M;
}
