/* The probes that a Mac is to answer: every two rules differ in one of them, and the engine follows the first rule. */
#include "tests/units/ane_library_example.h"
#include "units/ane/native/ane_probes.h"

static void test_probes_tell_rules_apart(void)
{
    char a[64], b[64];
    for (unsigned m = 0; m < PROBE_RULES; m++)
        for (unsigned n = 0; n < m; n++) {
            const struct probe_rule one = probe_rule(m), other = probe_rule(n);
            bool differ = false;
            for (size_t i = 0; i < probe_count(); i++) {
                struct probe probe;
                probe_make(i, &probe);
                differ |= probe_sum(&probe, &one) != probe_sum(&probe, &other);
            }
            CHECK(differ, "no probe tells %s from %s", probe_rule_name(m, a), probe_rule_name(n, b));
        }
}

static void test_engine_follows_its_rule(void)
{
    const struct probe_rule rule = probe_rule(0);
    for (size_t i = 0; i < probe_count(); i++) {
        float ones[PROBE_CHANNELS];
        struct probe probe;
        struct ane_example x = {.request.limits = example_limits(ANE_H13)};
        probe_make(i, &probe);
        for (unsigned c = 0; c < PROBE_CHANNELS; c++)
            ones[c] = 1;
        x.request.constant[0] = ones;
        bool ok = ane_kernel_parse("conv2d:c=64,h=1,w=1,k=1,r=1,s=1", NULL, &x.request, &x.error) &&
                  ane_kernel_build(&x.request, &x.kernel, &x.error) && example_round_trip(&x) && example_place_buffers(&x);
        for (unsigned c = 0; ok && c < PROBE_CHANNELS; c++)
            example_put(&x, "x", c, (double)probe.value[c]);
        ok = ok && example_run(&x);
        CHECK(ok, "%s: %s", probe.what, x.error.text);
        const double expected = probe_sum(&probe, &rule);
        if (ok)
            example_compare(&x, probe.what, "out", &expected, NULL, 0);
        example_close(&x);
    }
}

/* The tags that open the messages of the model: version 4, its description, the network, a convolution in it. */
static void test_model_is_a_message(void)
{
    unsigned char bytes[8192];
    const size_t size = probe_model(bytes, sizeof bytes);
    CHECK(size > 4 * PROBE_CHANNELS && size < 1024, "%zu bytes", size);
    CU_ASSERT_EQUAL(probe_model(bytes, size - 1), 0);
    CHECK(bytes[0] == 0x08 && bytes[1] == 4 && bytes[2] == 0x12, "version and description");
    const size_t network = 4 + bytes[3];
    CHECK(bytes[3] < 0x80 && bytes[network] == 0xa2 && bytes[network + 1] == 0x1f, "field 500 is the network");
}

static const struct suite_test tests[] = {
    {"every two rules differ in a probe", test_probes_tell_rules_apart},
    {"the engine follows its rule", test_engine_follows_its_rule},
    {"the model is a message of Core ML's format", test_model_is_a_message},
};
SUITE_MAIN("ane probes", tests)
