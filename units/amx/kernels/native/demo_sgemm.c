/* The demonstration program: a real AArch64 executable with AMX words. It multiplies two matrices of small whole numbers, so that
 * every sum is exact, and checks that every row of the product satisfies (A B) w = A (B w). Exit code 0 means that all are equal.
 */
#include "units/amx/kernels/gemm.h"
#include "units/amx/kernels/native/freestanding.h"

enum { M = 256, N = 256, K = 256 };

static float a[M * K], b[K * N], c[M * N];
static uint8_t workspace[1 << 20] __attribute__((aligned(128)));

/* Whole numbers -8 .. 7, scattered over the index. */
static float value_at(uint32_t index)
{
    return (float)((int)(index * 2654435761u >> 28) - 8);
}

/* Sum of values times weights, all of them whole numbers. */
static int32_t weighted_sum(const float *values, const int32_t *weights, int count)
{
    int32_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += (int32_t)values[i] * weights[i];
    return sum;
}

int main(void)
{
    for (uint32_t i = 0; i < M * K; i++)
        a[i] = value_at(i);
    for (uint32_t i = 0; i < K * N; i++)
        b[i] = value_at(i + M * K);

    if (gemm_workspace_bytes(GEMM_F32, M, N, K) > sizeof workspace)
        return 2;
    const struct gemm_args args = {
        .a = (uint64_t)(uintptr_t)a,
        .b = (uint64_t)(uintptr_t)b,
        .c = (uint64_t)(uintptr_t)c,
        .workspace = (uint64_t)(uintptr_t)workspace,
        .lda = K,
        .ldb = N,
        .ldc = N,
        .m = M,
        .n = N,
        .k = K,
        .batch = 1,
        .kind = GEMM_F32,
        .alpha_bits = 0x3f800000,
    };
    gemm_run(NULL, &args);

    /* Weights 1, 2, 3 over the columns: a wrong element changes the sum of its row. Every number stays below 2^24, where f32 is
     * exact, too. */
    static int32_t weight[N], weighted[K];
    for (int j = 0; j < N; j++)
        weight[j] = j % 3 + 1;
    for (int k = 0; k < K; k++)
        weighted[k] = weighted_sum(b + k * N, weight, N);
    uint64_t right = 0;
    for (int i = 0; i < M; i++)
        right += weighted_sum(c + i * N, weight, N) == weighted_sum(a + i * K, weighted, K);
    print_text("sgemm 256 x 256 x 256 on AMX: ");
    print_number(right);
    print_text(" of ");
    print_number(M);
    print_text(" rows have the exact sum\n");
    return right != M;
}
