/* Places of the largest or smallest elements of rows, the best one first; compiled for each type of numbers. */
#include "units/cpu/kernels/native/neon.h"

/* ORDER: cpu_kernel_scan.c. */
struct topk {
    const element *x;
    uint32_t *out;
    int64_t columns, count, smallest;
};
void NAME(neon_topk)(const struct topk *t, uint64_t first, uint64_t end, uint64_t thread);

static inline bool is_better(const struct topk *t, float a, float b)
{
    return t->smallest ? a < b : a > b;
}

/* Elements are put among the best so far; of equal ones the first stays in front, and what is no number is left out. */
static void take_row(const struct topk *t, const element *x, uint32_t *place)
{
    int64_t have = 0;
    for (int64_t i = 0; i < t->columns; i++) {
        const float value = load1(x + i);
        if (value != value || (have == t->count && !is_better(t, value, load1(x + place[have - 1]))))
            continue;
        int64_t at = have < t->count ? have++ : have - 1;
        for (; at > 0 && is_better(t, value, load1(x + place[at - 1])); at--)
            place[at] = place[at - 1];
        place[at] = (uint32_t)i;
    }
    for (; have < t->count; have++)
        place[have] = UINT32_MAX;
}

void NAME(neon_topk)(const struct topk *t, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
    for (uint64_t row = first; row < end; row++)
        take_row(t, t->x + (int64_t)row * t->columns, t->out + (int64_t)row * t->count);
}
