/* What the Neural Engine's timing asks of memory, and what it makes of the answer. Cycles are nanoseconds (example_params). */
#include "tests/support/suite.h"
#include "tests/units/ane_timing_example.h"

#include <math.h>

static bool near(double value, double expected, double share)
{
    return fabs(value - expected) <= share * expected;
}

struct seen {
    unsigned calls, bar[8];
    uint64_t offset[8], bytes[8];
    bool write[8];
};

static double slow_memory(void *context, unsigned bar, uint64_t offset, uint64_t bytes, bool write, uint64_t *held)
{
    struct seen *seen = context;
    *held = 0;
    const unsigned i = seen->calls++ & 7;
    seen->bar[i] = bar;
    seen->offset[i] = offset;
    seen->bytes[i] = bytes;
    seen->write[i] = write;
    return (double)bytes / 8;
}

/* The SLC has whatever is read, and is never the limit. */
static double near_memory(void *context, unsigned bar, uint64_t offset, uint64_t bytes, bool write, uint64_t *held)
{
    (void)context, (void)bar, (void)offset;
    *held = write ? 0 : bytes;
    return 0;
}

static void test_coefficients_in_the_slc_come_faster(void)
{
    struct ane_params params = example_params();
    const struct ane_memory memory = {NULL, near_memory};
    struct ane_task gemv = example_conv(4096, 1, 1, 1);
    gemv.small_source = true;
    const double bytes = 4096.0 * 4096 * 2 + 4096 * 64, result = 4096 * 64;
    params.dma_slc_rate = 2.5;
    const struct example_result r = example_run_tasks(&params, &memory, &gemv, 1);
    CHECK(near(r.ns, (bytes / 2.5 + result) / 64, 0.001), "%g ns for %g bytes of the SLC at 160 GB/s", r.ns, bytes);
}

static void test_memory_is_asked_for_every_stream(void)
{
    const struct ane_params params = example_params();
    struct seen seen = {0};
    const struct ane_memory memory = {&seen, slow_memory};
    struct ane_task conv = example_conv(64, 64, 64, 1);
    conv.source.base = 4096;
    conv.tile_height = 4;
    conv.bank[0].base = 64; /* lowest */
    for (unsigned i = 0; i < ANE_BANKS; i++)
        conv.bank[i].base = 64 + 512 * i;
    conv.coefficient_bar = 2;
    const struct example_result r = example_run_tasks(&params, &memory, &conv, 1);
    CU_ASSERT_EQUAL(seen.calls, 3);
    CHECK(seen.bar[0] == 5 && seen.offset[0] == 4096 && seen.bytes[0] == 64 * 64 * 128 && !seen.write[0], "source");
    CHECK(seen.bar[1] == 2 && seen.offset[1] == 64 && seen.bytes[1] == 64 * 64 * 2 && !seen.write[1], "coefficients");
    CHECK(seen.bar[2] == 4 && seen.bytes[2] == 64 * 64 * 128 && seen.write[2], "result");
    /* One memory for both directions, slower than the DMA. */
    const double all = (2 * 64.0 * 64 * 128 + 64 * 64 * 2) / 8;
    CHECK(near(r.ns, all, 0.01), "%g ns, all streams %g", r.ns, all);
}

static const struct suite_test tests[] = {
    {"coefficients that the SLC holds come faster", test_coefficients_in_the_slc_come_faster},
    {"memory is asked for every stream", test_memory_is_asked_for_every_stream},
};
SUITE_MAIN("ane timing memory", tests)
