/* Several networks that are planned together: their values are those of each alone, and they are done sooner than one after the
 * other. */
#include "sim/network/arrays.h"
#include "sim/network/network.h"
#include "sim/network/onnx/onnx.h"
#include "sim/network/operators/operator.h"
#include "sim/run/network/run_network.h"
#include "sim/run/network/run_network_join.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct chip_db *db;

enum { SIDE = 576 };

/* y = relu(x w) v */
static void write_network(const char *path, int64_t rows)
{
    const int64_t shape[3][2] = {{rows, SIDE}, {SIDE, SIDE}, {SIDE, SIDE}};
    static const char *const name[] = {"x", "w", "v"}, *const op[] = {"MatMul", "Relu", "MatMul"};
    struct orch_error error = {0};
    struct net_model *const model = net_model_new("chain");
    net_id in[3], last;
    for (unsigned k = 0; k < 3; k++) {
        in[k] = net_value_add(model, name[k]);
        model->value[in[k]].type = NET_F32;
        model->value[in[k]].shape = net_shape_of(shape[k], 2);
        CHECK(net_graph_add_input(model->graph, in[k]), "an input");
    }
    last = in[0];
    for (unsigned k = 0; k < 3; k++) {
        struct net_node *const node = net_node_new(op[k], op[k], "", k == 1 ? 1 : 2, 1);
        node->input[0] = last;
        if (k != 1)
            node->input[1] = in[k ? 2 : 1];
        last = node->output[0] = net_value_add(model, k == 0 ? "h" : k == 1 ? "r" : "y");
        node->row = net_operator_find(op[k], "");
        node->version = 14;
        CHECK(net_graph_insert(model->graph, k, node), "a node");
    }
    CHECK(net_model_add_output(model, last), "an output");
    CHECK(onnx_export(model, path, &error), "%s", error.text);
    net_model_free(model);
}

static double end_of(const struct outcome *o, unsigned number)
{
    char name[60];
    snprintf(name, sizeof name, RUN_NETWORK_PART_END, number);
    return counter(o, name);
}

/* The networks' inputs are the numbers that are generated, whose seed counts on from one to the next. */
static void check_values(const char *folder, const char *model, unsigned number)
{
    char path[2][96];
    struct orch_error error = {0};
    struct outcome alone =
        run_on(db, "m1", model, (struct run_request){.unit = "cpu", .output_folder = folder, .seed = 1 + 3 * (number - 1)});
    CHECK(alone.ok, "%s", alone.error.text);
    snprintf(path[0], sizeof path[0], "%s/y.npy", folder);
    snprintf(path[1], sizeof path[1], "%s/%u:y.npy", folder, number);
    struct net_array *const a = net_array_load(path[0], "y", &error), *const b = net_array_load(path[1], "y", &error);
    CHECK(a && b && a->count == b->count, "%s", error.text);
    double largest = 0, difference = 0;
    for (int64_t i = 0; a && b && i < a->count; i++) {
        largest = fmax(largest, fabs(net_array_double(a, i)));
        difference = fmax(difference, fabs(net_array_double(a, i) - net_array_double(b, i)));
    }
    CHECK(largest > 0 && difference <= 1e-5 * largest, "network %u: %g off of %g", number, difference, largest);
    net_array_release(a);
    net_array_release(b);
    run_result_free(&alone.result);
}

static void test_together(void)
{
    char folder[] = "/tmp/orchard-joint-XXXXXX", model[2][64], both[160];
    CHECK(mkdtemp(folder) != NULL, "a folder");
    for (unsigned k = 0; k < 2; k++) {
        snprintf(model[k], sizeof model[k], "%s/m%u.onnx", folder, k);
        write_network(model[k], k ? SIDE : SIDE / 2);
    }
    snprintf(both, sizeof both, "%s + %s", model[0], model[1]);
    struct outcome joint = run_on(db, "m1", both, (struct run_request){.unit = "hybrid", .output_folder = folder, .seed = 1});
    CHECK(joint.ok, "%s", joint.error.text);
    const double whole = joint.result.seconds, first = end_of(&joint, 1), second = end_of(&joint, 2);
    CHECK(first > 0 && second > 0 && fmax(first, second) <= whole * (1 + 1e-9), "%g and %g of %g s", first, second, whole);
    double apart = 0;
    for (unsigned k = 0; k < 2; k++) {
        struct outcome alone = run_on(db, "m1", model[k], (struct run_request){.unit = "hybrid", .seed = 1});
        CHECK(alone.ok, "%s", alone.error.text);
        apart += alone.result.seconds;
        run_result_free(&alone.result);
        check_values(folder, model[k], k + 1);
    }
    CHECK(whole < 0.9 * apart, "%g s together, %g s one after the other", whole, apart);
    run_result_free(&joint.result);
    CHECK(suite_remove(folder), "%s stays", folder);
}

/* In f16 one takes the Neural Engine and leaves the GPU to the other, where both would be faster on the engine alone. */
static void test_engine(void)
{
    static const char *const dims[] = {"1:size=32", "2:size=32"};
    static const char both[] = "model:squeezenet + model:squeezenet";
    struct outcome o =
        run_on(db, "m1", both,
               (struct run_request){.unit = "hybrid", .precision = "f16", .mode = RUN_TIMING, .dims = dims, .dim_count = 2});
    CHECK(o.ok && o.result.seconds < counter(&o, "network.one_after_another_seconds"), "%s", o.error.text);
    CHECK(o.result.seconds <= 1.01 * counter(&o, "network.predicted.ane.seconds"), "%g s, %g s all on the engine",
          o.result.seconds, counter(&o, "network.predicted.ane.seconds"));
    run_result_free(&o.result);
}

static void test_refusals(void)
{
    static const char *const open[] = {"size=64"}, *const third[] = {"3:size=64"};
    static const char both[] = "model:squeezenet + model:squeezenet";
    struct run_request q = {.unit = "hybrid", .mode = RUN_TIMING, .dims = open, .dim_count = 1};
    struct outcome plain = run_on(db, "m1", both, q);
    q.dims = third;
    struct outcome past = run_on(db, "m1", both, q);
    CHECK(!plain.ok && strstr(plain.error.text, "2:NAME=N"), "%s", plain.error.text);
    CHECK(!past.ok && strstr(past.error.text, "2:NAME=N"), "%s", past.error.text);
    q.dim_count = 0;
    struct outcome many = run_on(db, "m1",
                                 "model:squeezenet + model:squeezenet + model:squeezenet + model:squeezenet + "
                                 "model:squeezenet + model:squeezenet",
                                 q);
    CHECK(!many.ok && strstr(many.error.text, "at most 5"), "%s", many.error.text);
    run_result_free(&plain.result);
    run_result_free(&past.result);
    run_result_free(&many.result);
}

static const struct suite_test tests[] = {{"values and times of two", test_together},
                                          {"one leaves the GPU to another", test_engine},
                                          {"what is refused", test_refusals}};

int main(void)
{
    return example_chips_run("network_joint", tests, ARRAY_COUNT(tests), &db);
}
