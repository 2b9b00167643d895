/* What exporters and onnxruntime's optimizer write, against what onnxruntime computes of it: tests/golden/exporters. Each file is
 * run as it stands and with all passes; a folder may not be missing. Operators that no network here has are refused by name. */
#include "sim/network/case.h"
#include "sim/network/network.h"
#include "sim/network/onnx/onnx.h"
#include "sim/network/operators/run.h"
#include "tests/sim/network/onnx_example.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER ORCHARD_SOURCE_DIR "/tests/golden/exporters/"

enum { CASES_LEAST = 125 };

/* Single precision, or the half that a file names. */
static void compare(const char *name, const struct net_case *c, struct net_array *const *output)
{
    const double bound = strncmp(name, "f16", 3) == 0 ? 0x1p-10 : 2e-5;
    for (size_t k = 0; k < c->outputs; k++) {
        const struct net_difference d = net_compare(output[k], c->expected[k], 0, 0);
        CHECK(d.fits, "%s: output %zu has another type or shape", name, k);
        CHECK(!d.fits || !(d.largest > bound * d.magnitude), "%s: output %zu differs by %g; the largest is %g", name, k,
              d.largest, d.magnitude);
    }
}

static void run_case(const char *name, int level)
{
    char folder[PATH_MAX], path[PATH_MAX + 16];
    struct orch_error error = {0};
    struct net_case c = {.input = NULL};
    snprintf(folder, sizeof folder, FOLDER "%s", name);
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    struct net_model *const model = onnx_load(path, &error);
    bool ok = model && net_case_load(folder, 0, 0, model, &c, &error) && net_bind_inputs(model, c.input, &error) &&
              net_prepare(model, &(struct net_open_options){.level = level}, NULL, &error);
    struct net_array **const output = calloc(c.outputs + 1, sizeof(*output));
    const struct net_run run = {.model = model, .input = c.input};
    ok = ok && output && net_run(&run, output, &error);
    CHECK(ok, "%s", error.text);
    if (ok)
        compare(name, &c, output);
    for (size_t k = 0; output && k < c.outputs; k++)
        net_array_release(output[k]);
    free(output);
    net_case_free(&c);
    net_model_free(model);
}

static void run_all(int level)
{
    struct dirent **entry;
    const int count = scandir(FOLDER, &entry, NULL, alphasort);
    int cases = 0;
    for (int k = 0; k < count; k++) {
        if (!strchr(entry[k]->d_name, '.')) {
            run_case(entry[k]->d_name, level);
            cases++;
        }
        free(entry[k]);
    }
    if (count >= 0)
        free(entry);
    CHECK(cases >= CASES_LEAST, "%d cases", cases);
}

static void test_as_they_stand(void)
{
    run_all(0);
}

static void test_with_passes(void)
{
    run_all(2);
}

/* ---- refusals ---- */

static void expect_refusal(const char *op, const char *domain, int exit_code, const char *text)
{
    struct orch_error error = {0};
    struct message graph = {NULL, 0}, node = node_proto(op, "x", "y");
    put_text(&node, 7, domain);
    put_graph_input(&graph, "x", 1, (const int64_t[]){2, 3}, 2);
    put_message(&graph, 1, &node);
    put_graph_output(&graph, "y");
    struct message m = model_proto(17, &graph), set = {NULL, 0};
    put_text(&set, 1, domain);
    put_number(&set, 2, 1);
    put_message(&m, 8, &set);
    struct net_model *const model = onnx_import("m.onnx", m.byte, m.size, &error);
    struct net_array *output = NULL, *const x = net_array_new(NET_F32, (const int64_t[]){2, 3}, 2, &error);
    const struct net_run run = {.model = model, .input = &x};
    if (model && net_prepare(model, &(struct net_open_options){.level = 2}, NULL, &error))
        CHECK(!net_run(&run, &output, &error), "%s", op);
    net_array_release(x);
    net_array_release(output);
    CHECK(error.exit_code == exit_code && strstr(error.text, text), "%s: %d %s", op, error.exit_code, error.text);
    net_model_free(model);
    free(m.byte);
}

static void test_refusals(void)
{
    expect_refusal("TreeEnsembleClassifier", "ai.onnx.ml", ORCH_UNMODELLED, "(ai.onnx.ml.TreeEnsembleClassifier): trees");
    expect_refusal("Tokenizer", "com.microsoft", ORCH_UNMODELLED,
                   "(com.microsoft.Tokenizer): not among the operators of com.microsoft");
    expect_refusal("Attention", "com.microsoft", ORCH_USAGE, "(com.microsoft.Attention): 1 inputs; expected 2 at least");
    expect_refusal("MultiHeadAttention", "com.microsoft", ORCH_USAGE, "num_heads is 0");
    expect_refusal("MatMulNBits", "com.microsoft", ORCH_USAGE, "1 inputs; expected 3 at least");
    expect_refusal("QLinearConcat", "com.microsoft", ORCH_USAGE, "1 inputs");
    expect_refusal("FusedConv", "com.microsoft", ORCH_USAGE, "1 inputs; expected 2 at least");
}

static const struct suite_test tests[] = {
    {"files of exporters as they stand", test_as_they_stand},
    {"files of exporters with all passes", test_with_passes},
    {"operators of other domains", test_refusals},
};

int main(void)
{
    return suite_run("onnx_exporters", tests, ARRAY_COUNT(tests));
}
