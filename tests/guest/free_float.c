/* Floating point without a C library: matrix product, softmax, layer norm, a dot product of bytes, f16. Compiled with -O3
 * (vector code, sums in order) and with -Ofast (vector reductions).
 */
#include "tests/guest/start.h"

enum { N = 40, ROWS = 7, COLS = 53 };

static float a[N][N], b[N][N], c[N][N];
static double da[N][N], dc[N][N];
static float table[ROWS][COLS], out[ROWS][COLS];
static int8_t left[777], right[777];

static float uniform(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(int32_t)*state * 0x1p-31f;
}

static void matmul(void)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++)
                c[i][j] += a[i][k] * b[k][j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            dc[i][j] = da[i][j] * 3.0 - (double)c[j][i] / (1.5 + (double)i);
}

/* exp by range reduction and a polynomial. It converts in both directions and builds a float from bits. */
static float exp_of(float x)
{
    const float scaled = x * 1.44269504f;
    const int n = (int)(scaled + (scaled < 0 ? -0.5f : 0.5f));
    const float r = x - (float)n * 0.693147181f;
    float p = 1.0f + r * (1.0f + r * (0.5f + r * (0.166666667f + r * (0.0416666667f + r * 0.00833333333f))));
    union {
        uint32_t u;
        float f;
    } power = {(uint32_t)(n + 127) << 23};
    return p * power.f;
}

static void softmax(void)
{
    for (int i = 0; i < ROWS; i++) {
        float top = table[i][0], sum = 0;
        for (int j = 1; j < COLS; j++)
            top = table[i][j] > top ? table[i][j] : top;
        for (int j = 0; j < COLS; j++)
            sum += out[i][j] = exp_of(table[i][j] - top);
        for (int j = 0; j < COLS; j++)
            out[i][j] /= sum;
    }
}

static void layer_norm(void)
{
    for (int i = 0; i < ROWS; i++) {
        float mean = 0, square = 0;
        for (int j = 0; j < COLS; j++)
            mean += table[i][j];
        mean /= COLS;
        for (int j = 0; j < COLS; j++)
            square += (table[i][j] - mean) * (table[i][j] - mean);
        const float scale = 1.0f / __builtin_sqrtf(square / COLS + 1e-5f);
        for (int j = 0; j < COLS; j++)
            table[i][j] = (table[i][j] - mean) * scale;
    }
}

static int32_t dot_bytes(void)
{
    int32_t sum = 0;
    for (size_t i = 0; i < sizeof left; i++)
        sum += left[i] * right[i];
    return sum;
}

#ifdef __ARM_FEATURE_FP16_VECTOR_ARITHMETIC
static __fp16 half_in[200], half_out[200];
static void halves(uint32_t *state)
{
    for (int i = 0; i < 200; i++)
        half_in[i] = (__fp16)uniform(state);
    for (int i = 0; i < 200; i++)
        half_out[i] = (__fp16)((float)half_in[i] * 1.25f + (float)half_in[199 - i]);
    _Float16 *h = (_Float16 *)half_out;
    for (int i = 0; i < 199; i++)
        h[i] = h[i] * h[i + 1] + (_Float16)0.5;
    guest_report("halves", guest_hash(half_out, sizeof half_out));
}
#endif

int guest_main(long argc, char **argv)
{
    (void)argc;
    (void)argv;
    uint32_t state = 7;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = uniform(&state);
            b[i][j] = uniform(&state);
            da[i][j] = (double)uniform(&state) / 3.0;
        }
    matmul();
    guest_report("matmul", guest_hash(c, sizeof c));
    guest_report("doubles", guest_hash(dc, sizeof dc));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            table[i][j] = 8.0f * uniform(&state);
    softmax();
    guest_report("softmax", guest_hash(out, sizeof out));
    layer_norm();
    guest_report("layernorm", guest_hash(table, sizeof table));
    for (size_t i = 0; i < sizeof left; i++) {
        left[i] = (int8_t)(127.0f * uniform(&state));
        right[i] = (int8_t)(100.0f * uniform(&state));
    }
    guest_report("dot", (uint64_t)(int64_t)dot_bytes());
#ifdef __ARM_FEATURE_FP16_VECTOR_ARITHMETIC
    halves(&state);
#endif
    return 0;
}
