/* Mixed precision: which nodes stay in f32, against networks of which it is known where f16 loses what counts. */
#include "sim/network/network.h"
#include "sim/network/operators/run.h"
#include "sim/network/quantise/mixed.h"
#include "sim/network/quantise/quantise.h"
#include "tests/sim/network/network_text.h"

#include <math.h>

enum { ELEMENTS = 64 };

static const struct net_open_options tidy = {.level = 0};

static struct net_array *numbers(void)
{
    struct orch_error error = {0};
    const int64_t shape[1] = {ELEMENTS};
    struct net_array *const x = net_array_new(NET_F32, shape, 1, &error);
    for (int64_t i = 0; x && i < ELEMENTS; i++)
        ((float *)x->data)[i] = (float)(i + 1) / ELEMENTS;
    return x;
}

static bool choose(const char *text, double tolerance, struct net_mixed *mixed, struct net_model **model)
{
    struct orch_error error = {0};
    *model = network_of(text);
    struct net_array *const x = numbers();
    const bool ok = x && net_prepare(*model, &tidy, NULL, &error) && net_mixed_choose(*model, &x, tolerance, mixed, &error);
    CHECK(ok, "%s", error.text);
    net_array_release(x);
    return ok;
}

/* Near 1000 numbers of f16 are a half apart: of x nothing but its half is left, and the nodes around it are innocent. */
static void test_keeps_what_cancels(void)
{
    struct net_mixed m;
    struct net_model *model;
    if (choose("in x f32[64]\n"
               "const far f32[1] 1000\n"
               "const two f32[1] 2\n"
               "a = Mul(x, two)\n"
               "b = Add(a, far)\n"
               "c = Sub(b, far)\n"
               "d = Mul(c, two)\n"
               "out d\n",
               NET_F16_TOLERANCE, &m, &model)) {
        CHECK(m.nodes == 4 && m.error_half > 0.05 && m.error <= NET_F16_TOLERANCE, "%zu nodes, %g, then %g", m.nodes,
              m.error_half, m.error);
        CHECK(!m.whole[0] && m.whole[1] && m.whole[2] && !m.whole[3] && m.whole_nodes == 2, "%d %d %d %d", m.whole[0], m.whole[1],
              m.whole[2], m.whole[3]);
        CHECK(net_mixed_keeps(&m, model, model->graph->node[1]) && !net_mixed_keeps(&m, model, model->graph->node[0]), "by node");
    }
    net_mixed_free(&m);
    net_model_free(model);
}

/* Beyond 65504 f16 is infinite. */
static void test_keeps_what_overflows(void)
{
    struct net_mixed m;
    struct net_model *model;
    if (choose("in x f32[64]\n"
               "const many f32[1] 300000\n"
               "a = Mul(x, many)\n"
               "b = Sqrt(a)\n"
               "c = Relu(b)\n"
               "out c\n",
               NET_F16_TOLERANCE, &m, &model))
        CHECK(isinf(m.error_half) && m.error <= NET_F16_TOLERANCE && m.whole[0] && m.whole[1] && !m.whole[2], "%g, then %g",
              m.error_half, m.error);
    net_mixed_free(&m);
    net_model_free(model);
}

/* What f16 can do stays there, and one run beside the exact one was enough to know. */
static void test_keeps_nothing_without_need(void)
{
    struct net_mixed m;
    struct net_model *model;
    if (choose("in x f32[64]\n"
               "a = Relu(x)\n"
               "b = Sqrt(a)\n"
               "out b\n",
               NET_F16_TOLERANCE, &m, &model))
        CHECK(m.whole_nodes == 0 && m.runs == 2 && m.error_half > 0 && m.error_half < 1e-3, "%zu nodes, %u runs, %g",
              m.whole_nodes, m.runs, m.error_half);
    net_mixed_free(&m);
    net_model_free(model);
}

/* No error at all is met by f32 alone. */
static void test_keeps_all_for_none(void)
{
    struct net_mixed m;
    struct net_model *model;
    if (choose("in x f32[64]\n"
               "a = Exp(x)\n"
               "b = Sqrt(a)\n"
               "out b\n",
               0, &m, &model))
        CHECK(m.whole_nodes == 2 && m.error == 0, "%zu nodes, %g", m.whole_nodes, m.error);
    net_mixed_free(&m);
    net_model_free(model);
}

/* A number of 3000 beside others leaves those of about 20 hardly a step of 8 bits: the product that reads it stays in f32, the
 * one before it does not have to. */
static void test_integers(void)
{
    enum { WIDTH = 64 };
    const int64_t shape[2] = {1, WIDTH};
    struct orch_error error = {0};
    struct net_mixed m = {.whole = NULL};
    struct net_ranges ranges = {.most = NULL};
    struct net_quantised_count count;
    struct net_likenesses report = {.output = NULL};
    struct net_model *model[2];
    struct net_array *x = net_array_new(NET_F32, shape, 2, &error), **set = &x;
    for (int64_t i = 0; x && i < WIDTH; i++)
        ((float *)x->data)[i] = (float)(i + 1) / WIDTH;
    const struct net_samples samples = {.set = &set, .count = 1, .inputs = 1};
    for (unsigned k = 0; k < 2; k++) {
        model[k] = network_of("in x f32[1,64]\n"
                              "const w f32[64,8] random\n"
                              "const far f32[1,1] 3000\n"
                              "const v f32[9,4] 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 0 0 0 0\n"
                              "a = MatMul(x, w)\n"
                              "b = Concat(a, far) axis=1\n"
                              "c = MatMul(b, v)\n"
                              "out c\n");
        CHECK(net_prepare(model[k], &tidy, NULL, &error), "%s", error.text);
    }
    const struct net_array *const w = model[0]->value[text_value(model[0], "w")].constant;
    memcpy(model[1]->value[text_value(model[1], "w")].constant->data, w->data, net_array_bytes(w)); /* random is new each time */
    CHECK(net_calibrate(model[1], &samples, NET_BY_MINMAX, 0, &ranges, &error) &&
              net_mixed_choose_bytes(model[1], &x, &ranges, 5e-2, &m, &error),
          "%s", error.text);
    CHECK(m.nodes == 3 && m.error_half > 5e-2 && m.error <= 5e-2 && !m.whole[0] && m.whole[2], "%g, then %g", m.error_half,
          m.error);
    CHECK(net_quantise_but(model[1], NET_TO_INT8, &ranges, m.whole, &count, &error) && count.products == 1, "%s", error.text);
    CHECK(net_prepare(model[1], &tidy, NULL, &error) && net_compare_networks(model[0], model[1], &samples, &report, &error), "%s",
          error.text);
    if (report.output) {
        const double off = report.output[0].largest_error / report.output[0].largest;
        CHECK(off <= 5e-2 && fabs(off - m.error) < 1e-6, "%g, %g foreseen", off, m.error);
    }
    net_likenesses_free(&report);
    net_ranges_free(&ranges);
    net_mixed_free(&m);
    net_model_free(model[0]);
    net_model_free(model[1]);
    net_array_release(x);
}

static const struct suite_test tests[] = {{"what cancels stays in f32", test_keeps_what_cancels},
                                          {"what overflows stays in f32", test_keeps_what_overflows},
                                          {"nothing stays without need", test_keeps_nothing_without_need},
                                          {"everything stays where no error is allowed", test_keeps_all_for_none},
                                          {"products that integers of 8 bits spoil", test_integers}};
SUITE_MAIN("network / mixed precision", tests)
