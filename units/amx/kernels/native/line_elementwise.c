/* Chains of functions over arrays on the AMX block, in f32; compiled for each type of elements. Elements of sixteen bits and ends
 * of arrays go through a block of float32 in memory, which the core converts. */
#include "units/amx/kernels/native/line_elements.h"
#include "units/amx/kernels/native/line_function.h"
#include "units/kernel_function.h"

enum { BLOCK = 512, CHAIN = 20, ARRAYS = 8 };

/* ORDER: amx_kernel_elementwise.c. */
struct elementwise {
    element *out;
    const element *in[ARRAYS];
    int64_t count;
    double alpha;
    uint64_t length, function[CHAIN];
};
void NAME(amx_elementwise)(const struct elementwise *e, uint64_t first, uint64_t end, uint64_t thread);

/* Items are blocks. */
void NAME(amx_elementwise)(const struct elementwise *e, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t last = least(e->count, (int64_t)end * BLOCK);
    float room[VARIABLE] __attribute__((aligned(64)));
    const line alpha = EVERYWHERE((float)e->alpha);
    (void)thread;
    line_enter();
    for (int64_t at = (int64_t)first * BLOCK; at < last; at += VARIABLE) {
        const int64_t count = least(VARIABLE, last - at);
        line_take(0, e->in[0] + at, count, 0, room);
        for (uint64_t f = 0, next = 1; f < e->length; f++) {
            if (e->function[f] >= KERNEL_FIRST_BINARY)
                line_take(1, e->in[next++] + at, count, 0, room);
            line_function(e->function[f], alpha);
        }
        line_give(e->out + at, count, room);
    }
    line_leave();
}
