/* What stands between products, in f32: an offset for each column and a function of every sum, on the AMX block; rows of heads
 * side by side, which the core copies. */
#define ELEMENT_F32
#include "units/amx/kernels/native/line_elements.h"
#include "units/amx/kernels/native/line_function.h"

/* ORDER: amx_kernel_gemm.c. */
struct bias {
    float *x;
    const float *bias;
    int64_t columns, function; /* function: -1 = none */
};
void amx_bias(const struct bias *b, uint64_t first, uint64_t end, uint64_t thread);

/* ORDER: amx_kernel_attention.c. */
struct merge {
    const float *heads; /* [heads][rows][depth] */
    float *out;         /* [rows][heads][depth] */
    int64_t rows, count, depth;
};
void amx_merge_heads(const struct merge *m, uint64_t first, uint64_t end, uint64_t thread);

/* Items are rows. */
void amx_bias(const struct bias *b, uint64_t first, uint64_t end, uint64_t thread)
{
    static const line nothing = EVERYWHERE(0);
    float room[VARIABLE] __attribute__((aligned(64)));
    (void)thread;
    line_enter();
    for (int64_t row = (int64_t)first; row < (int64_t)end; row++)
        for (int64_t i = 0; i < b->columns; i += VARIABLE) {
            const int64_t count = least(VARIABLE, b->columns - i);
            float *const x = b->x + row * b->columns + i;
            line_take(0, x, count, 0, room);
            line_take(1, b->bias + i, count, 0, room);
            line_add(0, 1);
            if (b->function >= 0)
                line_function((uint64_t)b->function, nothing);
            line_give(x, count, room);
        }
    line_leave();
}

/* Items are rows. */
void amx_merge_heads(const struct merge *m, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
    for (int64_t row = (int64_t)first; row < (int64_t)end; row++)
        for (int64_t head = 0; head < m->count; head++) {
            const float *const from = m->heads + (head * m->rows + row) * m->depth;
            float *const to = m->out + (row * m->count + head) * m->depth;
            int64_t i = 0;
            for (; i + 4 <= m->depth; i += 4)
                vst1q_f32(to + i, vld1q_f32(from + i));
            for (; i < m->depth; i++)
                to[i] = from[i];
        }
}
