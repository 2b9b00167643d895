/* Scan along every axis of its input into every axis of its result, both ways, against running sums that are written out here. */
#include "sim/network/network.h"
#include "sim/network/onnx/onnx.h"
#include "sim/network/operators/run.h"
#include "tests/sim/network/onnx_example.h"
#include "tests/support/suite.h"

#include <stdlib.h>

enum { DIMS = 3 };
static const int64_t size[DIMS] = {2, 3, 4};

/* sum = sum + slice, handed out each time. */
static struct message running_sum(int64_t from, int64_t to, bool back)
{
    struct message body = {NULL, 0}, graph = {NULL, 0}, n = node_proto("Add", "s e", "t");
    const int64_t in_axes[1] = {from}, out_axes[1] = {to}, back_too[1] = {back};
    int64_t slice[DIMS], dims = 0;
    for (int64_t d = 0; d < DIMS; d++)
        if (d != (from < 0 ? from + DIMS : from))
            slice[dims++] = size[d];
    put_message(&body, 1, &n);
    n = node_proto("Identity", "t", "u");
    put_message(&body, 1, &n);
    put_graph_input(&body, "s", 1, slice, 2);
    put_graph_input(&body, "e", 1, slice, 2);
    put_graph_output(&body, "t");
    put_graph_output(&body, "u");
    n = node_proto("Scan", "z x", "last y");
    struct message a = {NULL, 0};
    put_text(&a, 1, "body");
    put_message(&a, 6, &body);
    put_number(&a, 20, 5);
    put_message(&n, 5, &a);
    put_int_attribute(&n, "num_scan_inputs", 1);
    put_ints_attribute(&n, "scan_input_axes", in_axes, 1);
    put_ints_attribute(&n, "scan_output_axes", out_axes, 1);
    put_ints_attribute(&n, "scan_input_directions", back_too, 1);
    put_message(&graph, 1, &n);
    put_graph_input(&graph, "z", 1, slice, 2);
    put_graph_input(&graph, "x", 1, size, DIMS);
    put_graph_output(&graph, "y");
    put_graph_output(&graph, "last");
    return model_proto(13, &graph);
}

/* What an element of x contributes to. */
static double sum_up_to(int64_t axis, const int64_t *at, int64_t step, bool back)
{
    double sum = 0;
    for (int64_t k = 0; k <= step; k++) {
        int64_t place = 0, other = 0;
        for (int64_t d = 0; d < DIMS; d++)
            place = place * size[d] + (d == axis ? (back ? size[axis] - 1 - k : k) : at[other++]);
        sum += (double)(place * place % 17);
    }
    return sum;
}

static void check_result(const struct net_array *y, int64_t from, int64_t to, bool back)
{
    CHECK(y->dims == DIMS && y->shape[to] == size[from], "%lld steps", (long long)y->shape[to]);
    for (int64_t i = 0; i < y->count; i++) {
        int64_t at[DIMS - 1], left = i, step = 0, slot = DIMS - 2;
        for (int64_t d = DIMS - 1; d >= 0; left /= y->shape[d--]) {
            if (d == to)
                step = left % y->shape[d];
            else
                at[slot--] = left % y->shape[d];
        }
        CHECK(net_array_double(y, i) == sum_up_to(from, at, step, back), "from axis %lld to %lld: %lld is %g", (long long)from,
              (long long)to, (long long)i, net_array_double(y, i));
    }
}

static void try_axes(int64_t from, int64_t to, bool negative, bool back)
{
    struct orch_error error = {0};
    struct message m = running_sum(negative ? from - DIMS : from, negative ? to - DIMS : to, back);
    struct net_model *const model = onnx_import("m.onnx", m.byte, m.size, &error);
    free(m.byte);
    CHECK(model != NULL && net_prepare(model, &(struct net_open_options){.level = 0}, NULL, &error), "%s", error.text);
    if (!model)
        return;
    struct net_array *input[2] = {NULL}, *output[2] = {NULL};
    for (size_t k = 0; k < 2; k++) {
        const struct net_shape *const s = &model->value[model->graph->input[k]].shape;
        input[k] = net_array_new(NET_F32, s->dim, s->dims, &error);
    }
    for (int64_t i = 0; i < input[0]->count; i++)
        ((float *)input[0]->data)[i] = 0;
    for (int64_t i = 0; i < input[1]->count; i++)
        ((float *)input[1]->data)[i] = (float)(i * i % 17);
    const struct net_shape *const known = &model->value[model->graph->output[0]].shape;
    CHECK(known->known && known->dims == DIMS && known->dim[to] == size[from], "the shape is not known before");
    const struct net_run run = {.model = model, .input = input};
    CHECK(net_run(&run, output, &error), "%s", error.text);
    if (output[0])
        check_result(output[0], from, to, back);
    for (size_t k = 0; k < 2; k++) {
        net_array_release(input[k]);
        net_array_release(output[k]);
    }
    net_model_free(model);
}

static void test_axes(void)
{
    for (int64_t from = 0; from < DIMS; from++)
        for (int64_t to = 0; to < DIMS; to++)
            for (unsigned form = 0; form < 4; form++)
                try_axes(from, to, form & 1, form & 2);
}

static void test_wrong_axes(void)
{
    for (int64_t axis = 3; axis < 5; axis++)
        for (unsigned which = 0; which < 2; which++) {
            struct orch_error error = {0};
            struct message m = running_sum(which ? 0 : axis, which ? axis : 0, false);
            struct net_model *const model = onnx_import("m.onnx", m.byte, m.size, &error);
            const bool ok = model && net_prepare(model, &(struct net_open_options){.level = 0}, NULL, &error);
            CHECK(!ok && error.exit_code == ORCH_USAGE && strstr(error.text, "without that axis"), "%s", error.text);
            net_model_free(model);
            free(m.byte);
        }
}

static const struct suite_test tests[] = {{"axes and directions", test_axes}, {"axes that are not there", test_wrong_axes}};
SUITE_MAIN("onnx_scan", tests)
