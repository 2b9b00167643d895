/* Rows of a table of plain numbers as float32; compiled for each type of elements. */
#include "units/cpu/kernels/native/neon.h"

/* ORDER: cpu_kernel_move.c. */
struct embedding {
    const element *table;
    const uint32_t *index;
    float *out;
    int64_t rows, columns;
};
void NAME(neon_embedding)(const struct embedding *e, uint64_t first, uint64_t end, uint64_t thread);

/* Items are rows of the result. */
void NAME(neon_embedding)(const struct embedding *e, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
    for (int64_t row = (int64_t)first; row < (int64_t)end; row++) {
        float *const out = e->out + row * e->columns;
        const bool known = e->index[row] < e->rows;
        const element *const from = e->table + (known ? e->index[row] : 0) * e->columns;
        for (int64_t i = 0; i < e->columns; i += 4) {
            const int64_t used = least(4, e->columns - i);
            const float32x4_t x = !known ? vdupq_n_f32(0) : used == 4 ? load4(from + i) : load_part(from + i, used);
            for (int64_t j = 0; j < used && used < 4; j++)
                out[i + j] = x[j];
            if (used == 4)
                vst1q_f32(out + i, x);
        }
    }
}
