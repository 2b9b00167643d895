/* Host float state for sets that let an x86 host flush denormals (MXCSR: flush to zero, denormals are zeros). */
#include <immintrin.h>

static unsigned enter(void)
{
    const unsigned state = _mm_getcsr();
    _mm_setcsr(state | 0x8040);
    return state;
}

static void leave(unsigned state)
{
    _mm_setcsr(state);
}
