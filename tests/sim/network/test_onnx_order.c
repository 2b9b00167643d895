/* Nodes of an ONNX file in any order: each is computed behind what it needs. */
#include "sim/network/onnx/onnx.h"
#include "sim/network/operators/run.h"
#include "tests/sim/network/onnx_example.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>

/* y = exp(-relu(x)), the last node first. */
static struct message three_nodes(void)
{
    static const char *const nodes[][3] = {{"Exp", "b", "y"}, {"Neg", "a", "b"}, {"Relu", "x", "a"}};
    static const int64_t dim = 4;
    struct message graph = {NULL, 0};
    put_graph_input(&graph, "x", 1, &dim, 1);
    for (size_t k = 0; k < 3; k++) {
        struct message n = node_proto(nodes[k][0], nodes[k][1], nodes[k][2]);
        put_message(&graph, 1, &n);
    }
    put_graph_output(&graph, "y");
    return model_proto(13, &graph);
}

/* Nodes that stand before what they need, among them a long chain the wrong way round. */
static void test_order(void)
{
    enum { CHAIN = 500 };
    struct orch_error error;
    struct message chain = {NULL, 0}, m = three_nodes();
    struct net_model *model = onnx_import("m.onnx", m.byte, m.size, &error);
    free(m.byte);
    struct net_array *const x = net_array_new(NET_F32, (const int64_t[]){4}, 1, &error), *y[1] = {NULL};
    const struct net_run run = {.model = model, .input = &x};
    for (int k = 0; k < 4; k++)
        ((float *)x->data)[k] = (float)(k - 1);
    CHECK(model && net_run(&run, y, &error), "%s", error.text);
    for (int k = 0; y[0] && k < 4; k++)
        CHECK(fabs(net_array_double(y[0], k) - exp(-fmax(k - 1, 0))) < 1e-6, "%d: %g", k, net_array_double(y[0], k));
    net_array_release(y[0]);
    net_model_free(model);
    put_graph_input(&chain, "v0", 1, (const int64_t[]){4}, 1);
    for (int k = CHAIN; k-- > 0;) {
        char in[16], out[16];
        snprintf(in, sizeof in, "v%d", k);
        snprintf(out, sizeof out, "v%d", k + 1);
        struct message n = node_proto("Relu", in, out);
        put_message(&chain, 1, &n);
    }
    put_graph_output(&chain, "v500");
    m = model_proto(13, &chain);
    model = onnx_import("m.onnx", m.byte, m.size, &error);
    free(m.byte);
    CHECK(model && model->graph->nodes == CHAIN, "%s", error.text);
    net_model_free(model);
    net_array_release(x);
}

static const struct suite_test tests[] = {{"nodes in any order", test_order}};
SUITE_MAIN("onnx_order", tests)
