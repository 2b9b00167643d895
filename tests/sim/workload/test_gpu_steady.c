/* Whether few pieces of a pace tell it surely. */
#include "sim/workload/gpu/gpu_steady.h"
#include "tests/support/suite.h"

#include <math.h>

#define PIECE 1000.0
#define PACE  0.02

/* Pieces of the same length whose paces change by `amplitude` in turns of `period` and by `drift` from piece to piece. Returns
 * after how many the pace is sure; 0 = it never is. */
static unsigned sure_after(unsigned pieces, double amplitude, unsigned period, double drift)
{
    struct gpu_steady s;
    double ns = 5, issued = 77;
    gpu_steady_begin(&s, PIECE, ns, issued);
    for (unsigned i = 1; i <= pieces; i++) {
        gpu_steady_moment(&s, ns, issued); /* no piece is over */
        issued += PIECE;
        ns += PIECE * PACE * (1 + amplitude * cos(2 * M_PI * i / period) + drift * i);
        gpu_steady_moment(&s, ns, issued);
        if (gpu_steady_sure(&s))
            return i;
    }
    return 0;
}

static void test_even(void)
{
    CU_ASSERT_EQUAL(sure_after(16, 0, 1, 0), 4);
    CU_ASSERT_EQUAL(sure_after(16, 0.001, 3, 0), 4);
}

/* Up and down from piece to piece: two together are even. */
static void test_turns(void)
{
    CU_ASSERT_EQUAL(sure_after(16, 0.1, 2, 0), 8);
}

static void test_changing(void)
{
    CU_ASSERT_EQUAL(sure_after(16, 0, 1, 0.01), 0); /* still changes */
    CU_ASSERT_EQUAL(sure_after(16, 0.3, 5, 0), 0);  /* scatters */
}

static void test_change(void)
{
    static const double pace[] = {1, 1, 9, 3, 3};
    CU_ASSERT_DOUBLE_EQUAL(gpu_steady_change(pace, 5), 1, 1e-12); /* 3 beside 1, over their mean */
}

static const struct suite_test tests[] = {
    {"pieces that are alike are enough", test_even},
    {"pieces by turns are looked at in twos", test_turns},
    {"a pace that changes or scatters is not sure", test_changing},
    {"the second half beside the first one", test_change},
};

SUITE_MAIN("gpu_steady", tests)
