/* y = a x, a row-major, sums in f32; compiled for each type of elements. Four rows share what is loaded of x; each row runs in
 * sixteen lanes. */
#include "units/cpu/kernels/native/neon.h"
#include "units/cpu/kernels/native/neon_math.h"

enum { ROWS = 4, LANES = 16 };

/* ORDER: cpu_kernel_gemv.c. */
struct gemv {
    const element *a, *x;
    element *y;
    int64_t m, n;
};
void NAME(neon_gemv)(const struct gemv *g, uint64_t first, uint64_t end, uint64_t thread);
#ifndef ELEMENT_F32
void NAME(neon_gemv_wide)(const struct gemv *g, uint64_t first, uint64_t end, uint64_t thread);
#endif

/* Items are groups of four rows; a group at the end repeats its last row. */
void NAME(neon_gemv)(const struct gemv *g, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
    for (uint64_t group = first; group < end; group++) {
        const int64_t row = (int64_t)group * ROWS;
        const element *a[ROWS];
        float32x4_t sum[ROWS][4];
        for (int i = 0; i < ROWS; i++) {
            a[i] = g->a + least(row + i, g->m - 1) * g->n;
            for (int k = 0; k < 4; k++)
                sum[i][k] = four(0);
        }
        int64_t j = 0;
        for (; j + LANES <= g->n; j += LANES)
            for (int k = 0; k < 4; k++) {
                const float32x4_t x = load4(g->x + j + 4 * k);
                for (int i = 0; i < ROWS; i++)
                    sum[i][k] = vfmaq_f32(sum[i][k], load4(a[i] + j + 4 * k), x);
            }
        if (j < g->n) { /* the rest as sixteen, so that no sum is chosen by a variable: they stay in registers */
            element rest[ROWS + 1][LANES];
            for (int i = 0; i <= ROWS; i++)
                for (int k = 0; k < LANES; k++)
                    rest[i][k] = 0;
            for (int64_t k = 0; k < g->n - j; k++) {
                rest[ROWS][k] = g->x[j + k];
                for (int i = 0; i < ROWS; i++)
                    rest[i][k] = a[i][j + k];
            }
            for (int k = 0; k < 4; k++)
                for (int i = 0; i < ROWS; i++)
                    sum[i][k] = vfmaq_f32(sum[i][k], load4(rest[i] + 4 * k), load4(rest[ROWS] + 4 * k));
        }
        float total[ROWS];
        for (int i = 0; i < ROWS; i++)
            total[i] = vaddvq_f32(vaddq_f32(vaddq_f32(sum[i][0], sum[i][1]), vaddq_f32(sum[i][2], sum[i][3])));
        for (int i = 0; i < ROWS && row + i < g->m; i++)
            store1(g->y + row + i, total[i]);
    }
}

#ifndef ELEMENT_F32
/* The same with x and y in float32. */
void NAME(neon_gemv_wide)(const struct gemv *g, uint64_t first, uint64_t end, uint64_t thread)
{
    const float *const vector = (const float *)(const void *)g->x;
    (void)thread;
    for (uint64_t group = first; group < end; group++) {
        const int64_t row = (int64_t)group * ROWS;
        const element *a[ROWS];
        float32x4_t sum[ROWS][4];
        for (int i = 0; i < ROWS; i++) {
            a[i] = g->a + least(row + i, g->m - 1) * g->n;
            for (int k = 0; k < 4; k++)
                sum[i][k] = four(0);
        }
        int64_t j = 0;
        for (; j + LANES <= g->n; j += LANES)
            for (int k = 0; k < 4; k++) {
                const float32x4_t x = vld1q_f32(vector + j + 4 * k);
                for (int i = 0; i < ROWS; i++)
                    sum[i][k] = vfmaq_f32(sum[i][k], load4(a[i] + j + 4 * k), x);
            }
        for (; j < g->n; j++)
            for (int i = 0; i < ROWS; i++)
                sum[i][0] = vfmaq_f32(sum[i][0], load_part(a[i] + j, 1), four(vector[j]));
        float total[ROWS];
        for (int i = 0; i < ROWS; i++)
            total[i] = vaddvq_f32(vaddq_f32(vaddq_f32(sum[i][0], sum[i][1]), vaddq_f32(sum[i][2], sum[i][3])));
        for (int i = 0; i < ROWS && row + i < g->m; i++)
            ((float *)(void *)g->y)[row + i] = total[i];
    }
}
#endif
