/* Real networks: the golden outputs of an independent runtime, by the reference operators, as imported and after all passes. */
#include "sim/network/case.h"
#include "sim/network/network.h"
#include "sim/network/operators/run.h"
#include "sim/network/passes/pass.h"
#include "tests/support/suite.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What `orchard model check` asks of f32: of the largest expected number. */
#define LIMIT 2e-4

static const char *const models[] = {"mnist_8",
                                     "ppocr_cls",
                                     "ppocr_det",
                                     "bert_tiny_random",
                                     "llama_tiny_random",
                                     "silero_vad_v5",
                                     "ultraface_rfb320",
                                     "ultraface_slim320",
                                     "ultraface_rfb320_simplified",
                                     "super_resolution_10",
                                     "coreml/linear_s4tf",
                                     "coreml/mnist_cnn_keras",
                                     "coreml/pose_hourglass",
                                     "coreml/dtln_aec_128_part1"};

static bool check_outputs(const struct net_model *model, const struct net_case *c, const char *what, struct orch_error *error)
{
    const struct net_run run = {.model = model, .input = c->input};
    struct net_array **const output = calloc(c->outputs + 1, sizeof(*output));
    bool ok = output && net_run(&run, output, error);
    for (size_t k = 0; ok && k < c->outputs; k++) {
        const struct net_difference d = net_case_compare(c, k, output[k], 0, 1);
        printf("  %s, %s: largest difference %.2g of %.3g\n", what, model->output_name[k], d.largest, d.magnitude);
        CHECK(d.fits && d.largest <= LIMIT * d.magnitude, "%s: %s differs by %g of %g", what, model->output_name[k], d.largest,
              d.magnitude);
    }
    for (size_t k = 0; output && k < c->outputs; k++)
        net_array_release(output[k]);
    free(output);
    return ok;
}

static void check_call(const char *path, size_t set, size_t call, const struct net_open_options *options, const char *what,
                       size_t *calls)
{
    char file[PATH_MAX + 300];
    struct orch_error error = {0};
    struct net_case c = {.input = NULL};
    CHECK(net_case_model(path, file, sizeof file), "%s has no model", path);
    struct net_model *const model = net_import(file, &error);
    const bool ok = model && net_case_load(path, set, call, model, &c, &error) && net_bind_inputs(model, c.input, &error) &&
                    net_prepare(model, options, NULL, &error) && check_outputs(model, &c, what, &error);
    CHECK(ok, "%s: %s", what, error.text);
    *calls = c.calls;
    net_case_free(&c);
    net_model_free(model);
}

static void check_model(const char *folder, const char *name, int level, const char *without)
{
    char path[PATH_MAX + 32], what[128];
    size_t sets = 0, calls = 1;
    bool golden;
    const struct net_open_options options = {.level = level, .without = &without, .without_count = without != NULL};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(what, sizeof what, "%s --opt %d%s%s", name, level, without ? " --no-pass " : "", without ? without : "");
    net_case_sets(path, &sets, &golden);
    CHECK(sets > 0, "%s has no data", name);
    for (size_t set = 0; set < sets; set++)
        for (size_t call = 0; call < calls; call++)
            check_call(path, set, call, &options, what, &calls);
}

static void at_level(int level)
{
    const char *const found = suite_shared("models");
    char folder[PATH_MAX];
    if (!found) {
        suite_skip("no folder of models");
        return;
    }
    snprintf(folder, sizeof folder, "%s", found);
    for (size_t k = 0; k < ARRAY_COUNT(models); k++)
        check_model(folder, models[k], level, NULL);
}

static void test_as_imported(void)
{
    at_level(0);
}

static void test_after_simple_passes(void)
{
    at_level(1);
}

static void test_after_all_passes(void)
{
    at_level(2);
}

/* Each pass meets graphs that another has not changed before it. */
static void test_without_each_pass(void)
{
    static const char *const small[] = {"mnist_8", "ppocr_cls", "bert_tiny_random", "llama_tiny_random"};
    const char *const found = suite_shared("models");
    char folder[PATH_MAX];
    if (!found) {
        suite_skip("no folder of models");
        return;
    }
    snprintf(folder, sizeof folder, "%s", found);
    for (size_t pass = 0; net_pass_at(pass); pass++)
        for (size_t k = 0; k < ARRAY_COUNT(small); k++)
            check_model(folder, small[k], 2, net_pass_at(pass)->name);
}

/* What the passes must find in them. */
static void test_what_passes_find(void)
{
    static const struct {
        const char *model, *op;
        size_t times;
    } rows[] = {{"bert_tiny_random", "Attention", 2},
                {"bert_tiny_random", "LayerNormalization", 5},
                {"llama_tiny_random", "Attention", 2},
                {"llama_tiny_random", "RMSNormalization", 5},
                {"llama_tiny_random", "RotaryEmbedding", 4},
                {"llama_tiny_random", "SwiGLU", 2},
                {"mnist_8", "FusedConv", 2},
                {"mnist_8", "FusedMatMul", 1},
                {"ppocr_cls", "BatchNormalization", 0},
                {"ultraface_rfb320", "BatchNormalization", 0}};
    const char *const found = suite_shared("models");
    char folder[PATH_MAX];
    if (!found) {
        suite_skip("no folder of models");
        return;
    }
    snprintf(folder, sizeof folder, "%s", found);
    for (size_t k = 0; k < ARRAY_COUNT(rows); k++) {
        char file[PATH_MAX + 64];
        struct orch_error error = {0};
        const struct net_open_options options = {.level = 2};
        size_t times = 0;
        snprintf(file, sizeof file, "%s/%s/model.onnx", folder, rows[k].model);
        struct net_model *const m = net_import(file, &error);
        CHECK(m && net_prepare(m, &options, NULL, &error), "%s", error.text);
        for (size_t i = 0; m && i < m->graph->nodes; i++)
            times += strcmp(m->graph->node[i]->op, rows[k].op) == 0;
        CHECK(times == rows[k].times, "%s: %zu %s", rows[k].model, times, rows[k].op);
        net_model_free(m);
    }
}

static const struct suite_test tests[] = {{"golden outputs as imported", test_as_imported},
                                          {"golden outputs with --opt 1", test_after_simple_passes},
                                          {"golden outputs with --opt 2", test_after_all_passes},
                                          {"golden outputs without each pass", test_without_each_pass},
                                          {"what passes find", test_what_passes_find}};
SUITE_MAIN("network_models", tests)
