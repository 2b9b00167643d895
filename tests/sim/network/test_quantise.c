/* Quantised networks: integers and scales against numbers computed here, the file that is written and read again, and real
 * networks before and after. */
#include "sim/network/arrays.h"
#include "sim/network/case.h"
#include "sim/network/network.h"
#include "sim/network/onnx/onnx.h"
#include "sim/network/operators/operator.h"
#include "sim/network/operators/run.h"
#include "sim/network/quantise/prune.h"
#include "sim/network/quantise/quantise.h"
#include "tests/support/suite.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct net_open_options tidy = {.level = 1}, everything = {.level = 2};

/* ---- one product, y = x W ---- */

static struct net_model *product(const float *weights, int64_t inputs, int64_t outputs)
{
    struct orch_error error = {0};
    const int64_t shape[2] = {inputs, outputs}, row[2] = {1, inputs};
    struct net_model *const model = net_model_new("product");
    struct net_array *const w = net_array_new(NET_F32, shape, 2, &error);
    struct net_node *const node = net_node_new("product", "MatMul", "", 2, 1);
    memcpy(w->data, weights, net_array_bytes(w));
    const net_id x = net_value_add(model, "x"), y = net_value_add(model, "y");
    model->value[x].type = NET_F32;
    model->value[x].shape = net_shape_of(row, 2);
    node->version = 21;
    node->row = net_operator_find("MatMul", "");
    node->input[0] = x;
    node->input[1] = net_constant_add(model, "w", w);
    node->output[0] = y;
    CHECK(net_graph_add_input(model->graph, x) && net_graph_insert(model->graph, 0, node) && net_model_add_output(model, y),
          "made");
    CHECK(net_prepare(model, &tidy, NULL, &error), "%s", error.text);
    return model;
}

static struct net_array *run(const struct net_model *model, const float *x, int64_t count)
{
    struct orch_error error = {0};
    const int64_t row[2] = {1, count};
    struct net_array *const in = net_array_new(NET_F32, row, 2, &error), *out[1] = {NULL};
    memcpy(in->data, x, (size_t)count * sizeof *x);
    const struct net_run r = {.model = model, .input = &in};
    CHECK(net_run(&r, out, &error), "%s", error.text);
    net_array_release(in);
    return out[0];
}

static struct net_node *node_of(const struct net_model *model, const char *op)
{
    for (size_t k = 0; k < model->graph->nodes; k++)
        if (strcmp(model->graph->node[k]->op, op) == 0)
            return model->graph->node[k];
    return NULL;
}

/* Each column has a scale of its own, largest / 127; what goes in has one. */
static void test_int8(void)
{
    static const float weights[6] = {1, -0.01F, 0.5F, 0.02F, -0.3F, 0.03F}, x[3] = {2, -1, 3};
    struct orch_error error = {0};
    struct net_quantised_count count;
    struct net_model *const model = product(weights, 3, 2);
    struct net_ranges ranges = {calloc(model->values, sizeof(double)), model->values};
    ranges.most[model->graph->input[0]] = 2; /* 3 is beyond and stays at the end of the range */
    CHECK(net_quantise(model, NET_TO_INT8, &ranges, &count, &error), "%s", error.text);
    CHECK(count.products == 1 && count.bytes_before == 24 && count.bytes_after == 6 + 8, "counts");
    CHECK(net_prepare(model, &(struct net_open_options){.level = 0}, NULL, &error), "%s", error.text);
    struct net_array *const y = run(model, x, 3);
    static const float largest[2] = {1, 0.03F};
    for (int c = 0; c < 2; c++) {
        const double scale = (double)(largest[c] / 127), input = 2. / 127;
        double sum = 0;
        for (int k = 0; k < 3; k++) {
            const double q = fmin(127, nearbyint((double)x[k] / input));
            sum += q * nearbyint((double)weights[2 * k + c] / scale);
        }
        CHECK(y && fabs(net_array_double(y, c) - sum * scale * input) < 1e-5 * fabs(sum * scale * input), "column %d: %g", c,
              y ? net_array_double(y, c) : 0);
    }
    net_array_release(y);
    net_ranges_free(&ranges);
    net_model_free(model);
}

/* Groups of 32 rows; the file packs two numbers in a byte. */
static void test_int4(void)
{
    enum { ROWS = 40 };
    float weights[ROWS], x[ROWS];
    char path[] = "/tmp/orchard-int4-XXXXXX";
    struct orch_error error = {0};
    struct net_quantised_count count;
    double expected = 0;
    for (int k = 0; k < ROWS; k++) {
        weights[k] = (float)(k < 32 ? k - 10 : 100 * (k - 35));
        x[k] = 1 + 0.1F * (float)k;
        const double scale = (double)((k < 32 ? 21.F : 400.F) / 7);
        expected += (double)x[k] * scale * nearbyint((double)weights[k] / scale);
    }
    struct net_model *const model = product(weights, ROWS, 1);
    CHECK(net_quantise(model, NET_TO_INT4, NULL, &count, &error), "%s", error.text);
    CHECK(count.bytes_after == ROWS / 2 + 2 * 4, "%llu bytes", (unsigned long long)count.bytes_after);
    const struct net_node *const back = node_of(model, "DequantizeLinear");
    CHECK(back && model->value[back->input[0]].type == NET_I4 && net_attr_int(back, "block_size", 0) == 32, "blocks of 32");
    const int file = mkstemp(path);
    CHECK(file >= 0 && onnx_export(model, path, &error), "%s", error.text);
    net_model_free(model);
    struct net_model *const again = net_import(path, &error);
    CHECK(again && net_prepare(again, &everything, NULL, &error), "%s", error.text);
    struct net_array *const y = again ? run(again, x, ROWS) : NULL;
    CHECK(y && fabs(net_array_double(y, 0) - expected) < 1e-5 * fabs(expected), "%g, not %g", y ? net_array_double(y, 0) : 0,
          expected);
    net_array_release(y);
    net_model_free(again);
    close(file);
    unlink(path);
}

/* ---- ranges ---- */

/* Magnitudes that fall off exponentially: 99 of 100 are below ln 100; of the tail the entropy keeps some. */
/* Of each output's weights the smallest go, of equal ones the first, and shared ones stay what they were for others. */
static void test_pruned(void)
{
    static const float weights[8] = {1, -5, -4, 5, 2, 0, -3, 7}, x[4] = {1, 10, 100, 1000};
    struct orch_error error = {0};
    struct net_pruned_count count;
    struct net_model *const model = product(weights, 4, 2); /* columns 1, -4, 2, -3 and -5, 5, 0, 7 */
    const net_id old = model->graph->node[0]->input[1];
    CHECK(net_prune(model, 0.5, &count, &error), "%s", error.text);
    CHECK(count.products == 1 && count.weights == 8 && count.zeros == 4 && count.bytes_before == 32 && count.bytes_after == 17,
          "%llu zeros, %llu bytes", (unsigned long long)count.zeros, (unsigned long long)count.bytes_after);
    struct net_array *const y = run(model, x, 4);
    CHECK(y && net_array_double(y, 0) == -40 - 3000 && net_array_double(y, 1) == 50 + 7000, "%g %g", net_array_double(y, 0),
          net_array_double(y, 1));
    CHECK(((const float *)model->value[old].constant->data)[0] == 1, "the old weights");
    net_array_release(y);
    net_model_free(model);
}

static void test_ranges(void)
{
    enum { COUNT = 10000 };
    float *const weights = calloc(COUNT, sizeof *weights);
    struct orch_error error = {0};
    const int64_t row[2] = {1, COUNT};
    weights[0] = 1;
    struct net_model *const model = product(weights, COUNT, 1);
    struct net_array *x = net_array_new(NET_F32, row, 2, &error), **set[1] = {&x};
    uint64_t state = 3;
    for (int k = 0; k < COUNT; k++)
        ((float *)x->data)[k] = (float)((k & 1 ? 1 : -1) * log((double)(suite_random(&state) % 1000000 + 1) / 1e6));
    const struct net_samples samples = {.set = set, .count = 1, .inputs = 1};
    double most[3];
    for (unsigned method = 0; method < 3; method++) {
        struct net_ranges ranges;
        CHECK(net_calibrate(model, &samples, (enum net_range_method)method, 99, &ranges, &error), "%s", error.text);
        most[method] = ranges.most[model->graph->input[0]];
        net_ranges_free(&ranges);
    }
    double largest = 0;
    for (int64_t k = 0; k < x->count; k++)
        largest = fmax(largest, fabs(net_array_double(x, k)));
    CHECK(most[NET_BY_MINMAX] == largest, "the largest is %g, not %g", most[NET_BY_MINMAX], largest);
    CHECK(fabs(most[NET_BY_PERCENTILE] - log(100)) < 0.2, "99 of 100 are below %g", most[NET_BY_PERCENTILE]);
    CHECK(most[NET_BY_ENTROPY] < 0.95 * largest && most[NET_BY_ENTROPY] > log(100), "entropy keeps %g of %g",
          most[NET_BY_ENTROPY], largest);
    net_array_release(x);
    net_model_free(model);
    free(weights);
}

/* ---- real networks ---- */

/* A digit of 5 x 7 points in other sizes, at other places, slanted, with noise. */
static void draw(float *pixel, unsigned digit, uint64_t *state)
{
    static const char *const font[10] = {"01110100011001110101110011000101110", "00100011000010000100001000010001110",
                                         "01110100010000100110010001000011111", "01110100010000100110000011000101110",
                                         "00010001100101010010111110001000010", "11111100001111000001000011000101110",
                                         "00110010001000011110100011000101110", "11111000010001000100010000100001000",
                                         "01110100011000101110100011000101110", "01110100011000101111000010001001100"};
    double random[6];
    for (unsigned k = 0; k < 6; k++)
        random[k] = (double)(suite_random(state) >> 11) * 0x1p-53;
    const double width = 2.4 + random[0], height = 2.2 + 0.8 * random[1], left = 5 + 4 * random[2], top = 3 + 3 * random[3];
    const double slant = 0.4 * random[4] - 0.2;
    for (unsigned p = 0; p < 28 * 28; p++) {
        double ink = 0;
        for (unsigned s = 0; s < 4; s++) {
            const double y = p / 28 + 0.25 + 0.5 * (s / 2), x = p % 28 + 0.25 + 0.5 * (s % 2);
            const double row = (y - top) / height, column = (x - left - slant * (14 - y)) / width;
            if (row >= 0 && row < 7 && column >= 0 && column < 5)
                ink += font[digit][5 * (unsigned)row + (unsigned)column] == '1' ? 0.25 : 0;
        }
        const double noise = 16 * ((double)(suite_random(state) >> 11) * 0x1p-53 - 0.5);
        pixel[p] = (float)fmin(255, fmax(0, 255 * ink + noise));
    }
}

static void make_digits(struct net_samples *samples, size_t count, struct orch_error *error)
{
    static const int64_t shape[4] = {1, 1, 28, 28};
    uint64_t state = 11;
    *samples = (struct net_samples){.set = calloc(count, sizeof(*samples->set)), .count = count, .inputs = 1};
    for (size_t k = 0; k < count; k++) {
        samples->set[k] = calloc(1, sizeof(**samples->set));
        samples->set[k][0] = net_array_new(NET_F32, shape, 4, error);
        draw(samples->set[k][0]->data, k % 10, &state);
    }
}

/* 100 digits for the ranges, 500 others for the comparison, which is made with the file that was written. */
static void test_digits(void)
{
    const char *const found = suite_shared("models");
    char file[PATH_MAX], path[] = "/tmp/orchard-digits-XXXXXX";
    struct orch_error error = {0};
    struct net_samples samples;
    struct net_quantised_count count;
    struct net_likenesses report = {.output = NULL};
    if (!found) {
        suite_skip("no folder of models");
        return;
    }
    snprintf(file, sizeof file, "%s/mnist_8/model.onnx", found);
    make_digits(&samples, 600, &error);
    const struct net_samples first = {samples.set, 100, 1, 0}, others = {samples.set + 100, 500, 1, 0};
    const int made = mkstemp(path);
    for (unsigned method = 0; method < 3; method++) {
        struct net_ranges ranges = {.most = NULL};
        struct net_model *const before = net_import(file, &error), *const after = net_import(file, &error);
        bool ok = before && after && net_prepare(before, &tidy, NULL, &error) && net_prepare(after, &tidy, NULL, &error) &&
                  net_calibrate(after, &first, (enum net_range_method)method, 99.99, &ranges, &error) &&
                  net_quantise(after, NET_TO_INT8, &ranges, &count, &error) && onnx_export(after, path, &error);
        struct net_model *const read = ok ? net_import(path, &error) : NULL;
        ok = read && net_prepare(read, &everything, NULL, &error) && net_compare_networks(before, read, &others, &report, &error);
        CHECK(ok, "%s", error.text);
        if (ok)
            printf("  int8, method %u: cosine %.6f, same first %.2f %%\n", method, report.output[0].cosine,
                   100 * report.output[0].top1);
        CHECK(ok && report.output[0].top1 >= 0.99 && report.output[0].cosine > 0.999, "method %u", method);
        net_likenesses_free(&report);
        net_ranges_free(&ranges);
        net_model_free(read);
        net_model_free(before);
        net_model_free(after);
    }
    close(made);
    unlink(path);
    net_samples_free(&samples);
}

/* What is written computes the same as what was read: real networks with their golden outputs. */
static void test_written_again(void)
{
    static const char *const names[] = {
        "mnist_8",       "ppocr_cls",        "bert_tiny_random",       "llama_tiny_random",
        "silero_vad_v5", "ultraface_rfb320", "coreml/mnist_cnn_keras", "coreml/dtln_aec_128_part1"};
    const char *const found = suite_shared("models");
    char base[PATH_MAX];
    if (!found) {
        suite_skip("no folder of models");
        return;
    }
    snprintf(base, sizeof base, "%s", found);
    for (size_t k = 0; k < ARRAY_COUNT(names); k++) {
        char folder[PATH_MAX + 64], file[PATH_MAX + 400], path[] = "/tmp/orchard-again-XXXXXX";
        struct orch_error error = {0};
        struct net_case c = {.input = NULL};
        snprintf(folder, sizeof folder, "%s/%s", base, names[k]);
        const int made = mkstemp(path);
        struct net_model *const first = net_case_model(folder, file, sizeof file) ? net_import(file, &error) : NULL;
        bool ok = first && net_case_load(folder, 0, 0, first, &c, &error) && net_bind_inputs(first, c.input, &error) &&
                  net_prepare(first, &tidy, NULL, &error) && onnx_export(first, path, &error);
        struct net_model *const again = ok ? net_import(path, &error) : NULL;
        struct net_array **const out = calloc(c.outputs + 1, sizeof(*out));
        const struct net_run r = {.model = again, .input = c.input};
        ok = again && net_prepare(again, &everything, NULL, &error) && net_run(&r, out, &error);
        CHECK(ok, "%s: %s", names[k], error.text);
        for (size_t o = 0; ok && o < c.outputs; o++) {
            const struct net_difference d = net_case_compare(&c, o, out[o], 0, 1);
            CHECK(d.fits && d.largest <= 2e-4 * d.magnitude, "%s: output %zu differs by %g of %g", names[k], o, d.largest,
                  d.magnitude);
            net_array_release(out[o]);
        }
        free(out);
        net_case_free(&c);
        net_model_free(first);
        net_model_free(again);
        close(made);
        unlink(path);
    }
}

/* ---- samples ---- */

static void test_samples(void)
{
    static const float weights[3] = {1, 2, 3};
    const int64_t many[2] = {4, 3}, wrong[1] = {5};
    char folder[] = "/tmp/orchard-samples-XXXXXX", path[64];
    struct orch_error error = {0};
    struct net_samples samples;
    const struct image_scale scale = {{0, 0, 0}, {1, 1, 1}};
    struct net_model *const model = product(weights, 3, 1);
    CHECK(mkdtemp(folder) != NULL, "a folder");
    CHECK(!net_samples_load(folder, model, &scale, &samples, &error) && error.exit_code == ORCH_USAGE, "an empty folder");
    net_samples_free(&samples);
    struct net_array *a = net_array_new(NET_F32, many, 2, &error);
    for (int k = 0; k < 12; k++)
        ((float *)a->data)[k] = (float)k;
    snprintf(path, sizeof path, "%s/a.npy", folder);
    CHECK(net_array_save(path, a, &error), "%s", error.text);
    net_array_release(a);
    CHECK(net_samples_load(path, model, &scale, &samples, &error) && samples.count == 4 && samples.set[2][0]->shape[0] == 1 &&
              net_array_double(samples.set[2][0], 1) == 7,
          "rows: %s", error.text);
    net_samples_free(&samples);
    a = net_array_new(NET_F32, wrong, 1, &error);
    CHECK(net_array_save(path, a, &error), "%s", error.text);
    net_array_release(a);
    CHECK(!net_samples_load(path, model, &scale, &samples, &error) && strstr(error.text, "does not hold samples"), "%s",
          error.text);
    net_samples_free(&samples);
    CHECK(!net_samples_load("/nowhere", model, &scale, &samples, &error) && error.exit_code == ORCH_USAGE, "%s", error.text);
    net_samples_free(&samples);
    net_model_free(model);
    CHECK(suite_remove(folder), "%s stays", folder);
}

static const struct suite_test tests[] = {
    {"scales columns to eight bits", test_int8},
    {"scales groups to four bits and packs them", test_int4},
    {"pruned weights", test_pruned},
    {"chooses ranges", test_ranges},
    {"keeps the digits", test_digits},
    {"writes what it read", test_written_again},
    {"cuts samples", test_samples},
};
SUITE_MAIN("quantise", tests)
