/* Sequences as steps: LSTM and GRU over several steps, by the reference as one operator, and step by step on units. */
#include "sim/network/arrays.h"
#include "sim/network/network.h"
#include "sim/network/onnx/onnx.h"
#include "sim/network/operators/operator.h"
#include "sim/network/operators/run.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct chip_db *db;

enum { STEPS = 4, BATCH = 2, INPUTS = 3, HIDDEN = 5 };

static struct net_array *numbers(const int64_t *shape, unsigned dims, uint64_t seed)
{
    struct orch_error error = {0};
    struct net_array *const a = net_array_new(NET_F32, shape, dims, &error);
    for (int64_t k = 0; a && k < a->count; k++)
        ((float *)a->data)[k] = (float)(suite_random(&seed) % 2001) / 1000 - 1;
    return a;
}

/* One operator with biases and states to begin with; all its results are outputs. */
static void write_network(const char *path, const char *op, const char *direction, bool after)
{
    const bool lstm = strcmp(op, "LSTM") == 0;
    const int64_t gates = lstm ? 4 : 3, x_shape[3] = {STEPS, BATCH, INPUTS}, state[3] = {1, BATCH, HIDDEN};
    const int64_t w[3] = {1, gates * HIDDEN, INPUTS}, r[3] = {1, gates * HIDDEN, HIDDEN}, b[2] = {1, 2 * gates * HIDDEN};
    struct orch_error error = {0};
    struct net_model *const model = net_model_new("sequence");
    struct net_node *const node = net_node_new(op, op, "", lstm ? 7 : 6, lstm ? 3 : 2);
    const net_id x = node->input[0] = net_value_add(model, "x");
    model->value[x].type = NET_F32;
    model->value[x].shape = net_shape_of(x_shape, 3);
    node->input[1] = net_constant_add(model, "w", numbers(w, 3, 1));
    node->input[2] = net_constant_add(model, "r", numbers(r, 3, 2));
    node->input[3] = net_constant_add(model, "b", numbers(b, 2, 3));
    node->input[5] = net_constant_add(model, "h", numbers(state, 3, 4));
    if (lstm)
        node->input[6] = net_constant_add(model, "c", numbers(state, 3, 5));
    node->row = net_operator_find(op, "");
    node->version = 21;
    CHECK(net_set_int(node, "hidden_size", HIDDEN) && net_set_text(node, "direction", direction), "attributes");
    CHECK(lstm || net_set_int(node, "linear_before_reset", after), "attributes");
    static const char *const names[3] = {"all", "last", "cell"};
    for (size_t k = 0; k < node->outputs; k++)
        node->output[k] = net_value_add(model, names[k]);
    CHECK(net_graph_add_input(model->graph, x), "input");
    for (size_t k = 0; k < node->outputs; k++)
        CHECK(net_model_add_output(model, node->output[k]), "output");
    CHECK(net_graph_insert(model->graph, 0, node) && onnx_export(model, path, &error), "%s", error.text);
    net_model_free(model);
}

/* By the reference; *nodes are those of the operator that are left. */
static size_t reference(const char *path, const char *op, int level, struct net_array **out, unsigned *nodes)
{
    static const int64_t shape[3] = {STEPS, BATCH, INPUTS};
    struct orch_error error = {0};
    struct net_array *x = numbers(shape, 3, 9);
    struct net_model *const model = net_import(path, &error);
    const struct net_run run = {.model = model, .input = &x};
    CHECK(model && net_prepare(model, &(struct net_open_options){.level = level}, NULL, &error) && net_run(&run, out, &error),
          "%s", error.text);
    *nodes = 0;
    for (size_t k = 0; model && k < model->graph->nodes; k++)
        *nodes += strcmp(model->graph->node[k]->op, op) == 0;
    const size_t outputs = model ? model->graph->outputs : 0;
    net_model_free(model);
    net_array_release(x);
    return outputs;
}

static void check_near(const struct net_array *got, const struct net_array *expected, const char *what)
{
    CHECK(got && expected && got->dims == expected->dims && got->count == expected->count, "%s: the shape", what);
    for (int64_t k = 0; got && expected && k < got->count; k++)
        CHECK(fabs(net_array_double(got, k) - net_array_double(expected, k)) < 1e-5, "%s: %lld is %g, not %g", what, (long long)k,
              net_array_double(got, k), net_array_double(expected, k));
}

static void check_on_unit(const char *unit, const char *folder, const char *model, size_t outputs,
                          struct net_array *const *expected)
{
    static const char *const names[3] = {"all", "last", "cell"};
    static const int64_t shape[3] = {STEPS, BATCH, INPUTS};
    char input[80], option[90], to[90], file[120];
    struct orch_error error = {0};
    struct net_array *const x = numbers(shape, 3, 9);
    snprintf(input, sizeof input, "%s/x.npy", folder);
    snprintf(option, sizeof option, "x=%s", input);
    snprintf(to, sizeof to, "%s/out", folder);
    const char *const inputs = option;
    CHECK(net_array_save(input, x, &error), "%s", error.text);
    const struct run_request request = {
        .unit = unit, .mode = RUN_FUNCTIONAL, .inputs = &inputs, .input_count = 1, .output_folder = to};
    struct outcome o = run_on(db, "m1", model, request);
    CHECK(o.ok, "%s: %s", unit, o.error.text);
    for (size_t k = 0; k < o.result.placement.count; k++)
        CHECK(strcmp(o.result.placement.item[k].unit, "reference") != 0, "%s: %s by the reference", unit,
              o.result.placement.item[k].op);
    for (size_t k = 0; o.ok && k < outputs; k++) {
        snprintf(file, sizeof file, "%s/%s.npy", to, names[k]);
        struct net_array *const got = net_array_load(file, NULL, &error);
        check_near(got, expected[k], unit);
        net_array_release(got);
    }
    run_result_free(&o.result);
    net_array_release(x);
}

static void test_steps(void)
{
    static const struct {
        const char *op, *direction;
        bool after;
    } cases[] = {{"LSTM", "forward", false}, {"LSTM", "reverse", false}, {"GRU", "forward", false}, {"GRU", "reverse", true}};
    char folder[] = "/tmp/orchard-steps-XXXXXX", model[64];
    CHECK(mkdtemp(folder) != NULL, "a folder");
    snprintf(model, sizeof model, "%s/m.onnx", folder);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct net_array *whole[3] = {NULL}, *stepped[3] = {NULL};
        unsigned one, several;
        write_network(model, cases[i].op, cases[i].direction, cases[i].after);
        const size_t outputs = reference(model, cases[i].op, 1, whole, &one);
        reference(model, cases[i].op, 2, stepped, &several);
        CHECK(one == 1 && several == STEPS, "%u and %u", one, several);
        for (size_t k = 0; k < outputs; k++)
            check_near(stepped[k], whole[k], cases[i].op);
        check_on_unit("cpu", folder, model, outputs, whole);
        check_on_unit("gpu", folder, model, outputs, whole);
        for (size_t k = 0; k < outputs; k++) {
            net_array_release(whole[k]);
            net_array_release(stepped[k]);
        }
    }
    CHECK(suite_remove(folder), "%s stays", folder);
}

static const struct suite_test tests[] = {{"takes sequences step by step", test_steps}};

int main(void)
{
    return example_chips_run("network_steps", tests, ARRAY_COUNT(tests), &db);
}
