/* Mixed precision: which nodes stay in f32, against networks of which it is known where f16 loses what counts. */
#include "sim/network/network.h"
#include "sim/network/operators/run.h"
#include "sim/network/quantise/mixed.h"
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

static const struct suite_test tests[] = {{"what cancels stays in f32", test_keeps_what_cancels},
                                          {"what overflows stays in f32", test_keeps_what_overflows},
                                          {"nothing stays without need", test_keeps_nothing_without_need},
                                          {"everything stays where no error is allowed", test_keeps_all_for_none}};
SUITE_MAIN("network / mixed precision", tests)
