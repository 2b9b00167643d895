/* The published networks: parameters and multiplications as their authors count them, graphs that can be computed, and mistakes
 * in the notation or in dimensions that are said. */
#include "sim/network/cost.h"
#include "sim/network/network.h"
#include "sim/network/operators/operator.h"
#include "sim/network/operators/run.h"
#include "sim/network/zoo/zoo.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct net_model *build(const struct net_zoo_model *zoo, const char *dim, bool contents, uint64_t *parameters,
                               struct orch_error *error)
{
    const struct net_zoo_options options = {.dims = &dim, .dim_count = dim != NULL, .contents = contents, .seed = 1};
    return net_zoo_build(zoo, &options, parameters, error);
}

static void test_parameters(void)
{
    const struct net_zoo_model *zoo;
    const struct net_open_options options = {.level = 2};
    for (size_t i = 0; (zoo = net_zoo_at(i)); i++) {
        struct orch_error error = {0};
        uint64_t parameters = 0;
        struct net_model *const model = build(zoo, NULL, false, &parameters, &error);
        CHECK(model && parameters == zoo->parameters, "%s: %llu parameters, published are %llu%s%s", zoo->name,
              (unsigned long long)parameters, (unsigned long long)zoo->parameters, error.text[0] ? ": " : "", error.text);
        CHECK(model && net_prepare(model, &options, NULL, &error), "%s: %s", zoo->name, error.text);
        for (size_t k = 0; model && k < model->graph->outputs; k++)
            CHECK(net_shape_complete(&model->value[model->graph->output[k]].shape), "%s: the shape of output %zu is open",
                  zoo->name, k);
        CHECK(net_zoo_find(zoo->name) == zoo, "%s is found under its name", zoo->name);
        net_model_free(model);
    }
}

/* "GFLOPS" of the documentation of torchvision 0.15 (weights of each model), which are 10^9 multiplications with additions; of
 * yolov5n half of "FLOPs @640 (B)" in the README of ultralytics/yolov5 v6.0. */
static const struct {
    const char *name;
    double gmacs, within;
} work[] = {{"resnet18", 1.81, 0.006},
            {"resnet50", 4.09, 0.006},
            {"mobilenet-v2", 0.30, 0.006},
            {"mobilenet-v3-large", 0.22, 0.006},
            {"mobilenet-v3-small", 0.06, 0.006},
            {"squeezenet-1.0", 0.82, 0.006},
            {"squeezenet", 0.35, 0.006},
            {"densenet121", 2.83, 0.006},
            {"vgg16", 15.47, 0.006},
            {"vgg19", 19.63, 0.006},
            {"inception-v3", 5.71, 0.006},
            {"shufflenet-v2", 0.14, 0.006},
            {"efficientnet-b0", 0.39, 0.006},
            {"vit-b-16", 17.56, 0.006},
            {"yolov5n", 2.25, 0.05}};

static void test_work(void)
{
    for (size_t i = 0; i < sizeof work / sizeof work[0]; i++) {
        struct orch_error error = {0};
        const struct net_zoo_model *const zoo = net_zoo_find(work[i].name);
        struct net_model *const model = zoo ? build(zoo, NULL, false, NULL, &error) : NULL;
        const double gmacs = model ? 1e-9 * (double)net_total_cost(model).macs : NAN;
        CHECK(fabs(gmacs - work[i].gmacs) < work[i].within, "%s: %.3f G multiplications, published are %.2f: %s", work[i].name,
              gmacs, work[i].gmacs, error.text);
        net_model_free(model);
    }
}

static void test_names(void)
{
    CHECK(net_zoo_find("model:ResNet-50") == net_zoo_find("resnet50") && net_zoo_find("resnet50"), "spelling does not matter");
    CHECK(net_zoo_find("BERT_base") && !net_zoo_find("bert") && !net_zoo_find("resnet500") && !net_zoo_find(""),
          "a part of a name is none");
}

/* Values stay in bounds from layer to layer, and hang on the input. */
static void check_values(const char *name, const char *dim)
{
    struct orch_error error = {0};
    struct net_model *const model = build(net_zoo_find(name), dim, true, NULL, &error);
    const struct net_open_options options = {.level = 2};
    struct net_array *input[4] = {NULL}, *output[4] = {NULL};
    bool ok = model && net_prepare(model, &options, NULL, &error);
    for (size_t k = 0; ok && k < model->graph->inputs; k++) {
        const struct net_value *const v = &model->value[model->graph->input[k]];
        input[k] = net_array_new(v->type, v->shape.dim, v->shape.dims, &error);
        for (int64_t i = 0; input[k] && i < input[k]->count; i++) {
            const double number = net_type_is_float(v->type) ? sin(0.37 * (double)i) : (double)(i * 7 % 100);
            net_write_doubles(v->type, input[k]->data, i, 1, &number);
        }
    }
    const struct net_run run = {.model = model, .input = input};
    ok = ok && net_run(&run, output, &error);
    CHECK(ok, "%s: %s", name, error.text);
    for (size_t k = 0; ok && k < model->graph->outputs; k++) {
        double least = INFINITY, most = -INFINITY;
        for (int64_t i = 0; i < output[k]->count; i++) {
            least = fmin(least, net_array_double(output[k], i));
            most = fmax(most, net_array_double(output[k], i));
        }
        CHECK(isfinite(least) && isfinite(most) && (most > least || output[k]->count == 1) && fmax(-least, most) < 1e6,
              "%s: %s is from %g to %g", name, model->output_name[k], least, most);
    }
    for (size_t k = 0; k < 4; k++) {
        net_array_release(input[k]);
        net_array_release(output[k]);
    }
    net_model_free(model);
}

static void test_values(void)
{
    check_values("mobilenet-v3-small", "size=32");
    check_values("shufflenet-v2", "size=64");
    check_values("yolov5n", "size=64");
    check_values("distilbert", "seq=8");
}

static void test_dimensions(void)
{
    static const struct {
        const char *dim, *says;
    } wrong[] = {{"sise=32", "size"},  {"size", "NAME=N"},   {"size=", "NAME=N"},
                 {"size=x", "NAME=N"}, {"size=0", "NAME=N"}, {"size=99999999999999999999", "NAME=N"},
                 {"=3", "no such"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct orch_error error = {0};
        struct net_model *const model = build(net_zoo_find("resnet18"), wrong[i].dim, false, NULL, &error);
        CHECK(!model && error.exit_code == ORCH_USAGE && strstr(error.text, wrong[i].says), "%s: %s", wrong[i].dim, error.text);
        net_model_free(model);
    }
    struct orch_error error = {0};
    struct net_model *const model = build(net_zoo_find("resnet18"), "batch=4", false, NULL, &error);
    CHECK(model && model->value[model->graph->output[0]].shape.dim[0] == 4, "%s", error.text);
    net_model_free(model);
}

static void test_notation(void)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {{"input:x,1,3,8,8 konv:4,3", "konv"},
                 {"conv:4,3", "before there is an input"},
                 {"input:x,1,3,8,8 2{ relu", "close"},
                 {"input:x,1,3,8,8 def a { relu", "without end"},
                 {"def a { a } input:x,1,3,8,8 a", "too deep"},
                 {"input:x,1,3,8,8 conv:$n,3", "$n"},
                 {"def a { conv:$2,3 } input:x,1,3,8,8 a:4", "$2"},
                 {"input:x,1,3,8,8 conv:4/0,3", "number"},
                 {"input:x,1,3,8,8 <y", "'y'"},
                 {"input:x,1,3,8,8 pop", "pushed"},
                 {"input:x,1,3,8,8 conv:4,9", "Conv"},
                 {"ids:x,1,600 embed:10,8 places:512", "512 places"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const struct net_zoo_model zoo = {.name = "wrong", .notation = wrong[i].text};
        struct orch_error error = {0};
        struct net_model *const model = build(&zoo, NULL, false, NULL, &error);
        CHECK(!model && error.exit_code && strstr(error.text, wrong[i].says), "%s: %s", wrong[i].text, error.text);
        net_model_free(model);
    }
}

static const struct suite_test tests[] = {{"parameters are as published", test_parameters},
                                          {"multiplications are as published", test_work},
                                          {"names", test_names},
                                          {"values stay in bounds", test_values},
                                          {"dimensions", test_dimensions},
                                          {"mistakes in the notation", test_notation}};
SUITE_MAIN("zoo", tests)
