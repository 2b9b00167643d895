/* Neural networks of Core ML: layers made by hand, against numbers computed here from the definitions in the public schema. */
#include "tests/sim/network/coreml_run.h"

/* Imports, prepares and runs with the input 0, 1, 2, ... (times `step`); the first output or NULL. */
static struct net_array *run(struct message *file, float step, int level)
{
    struct orch_error error;
    struct net_model *const model = import(file, &error);
    const struct net_open_options options = {.level = level};
    struct net_array *output[4] = {NULL};
    CHECK(model != NULL, "%s", error.text);
    if (!model)
        return NULL;
    const bool ready = net_prepare(model, &options, NULL, &error);
    CHECK(ready, "%s", error.text);
    const struct net_value *const v = &model->value[model->graph->input[0]];
    struct net_array *const x = ready ? net_array_new(v->type, v->shape.dim, v->shape.dims, &error) : NULL;
    for (int64_t k = 0; x && k < x->count; k++) {
        const double number = (double)step * (double)k;
        net_write_doubles(v->type, x->data, k, 1, &number);
    }
    const struct net_run r = {.model = model, .input = &x};
    CHECK(x && net_run(&r, output, &error), "%s", error.text);
    net_array_release(x);
    net_model_free(model);
    return output[0];
}

static void expect_scaled(struct message *file, float step, const char *what, const int64_t *shape, unsigned dims,
                          const double *expected)
{
    for (int level = 0; level <= 2; level += 2) {
        struct message copy = {malloc(file->size), file->size};
        memcpy(copy.byte, file->byte, file->size);
        struct net_array *const y = run(&copy, step, level);
        CHECK(y && y->dims == dims && memcmp(y->shape, shape, dims * sizeof *shape) == 0, "%s: the shape", what);
        for (int64_t k = 0; y && k < y->count; k++)
            CHECK(fabs(net_array_double(y, k) - expected[k]) <= 1e-5 * (1 + fabs(expected[k])), "%s: %lld is %g, not %g", what,
                  (long long)k, net_array_double(y, k), expected[k]);
        net_array_release(y);
    }
    free(file->byte);
}

static void expect(struct message *file, const char *what, const int64_t *shape, unsigned dims, const double *expected)
{
    expect_scaled(file, 1, what, shape, dims, expected);
}

static void put_pair(struct message *m, unsigned field, int64_t a, int64_t b)
{
    const int64_t both[2] = {a, b};
    put_packed(m, field, both, 2);
}

/* ---- convolution ---- */

/* Same padding with stride 2 on 4x4: three rows of padding in all would be 1, which goes to the end. */
static void test_same_padding(void)
{
    static const int64_t image[3] = {1, 4, 4}, out[3] = {1, 2, 2};
    float weights[9];
    double expected[4];
    struct message body = {NULL, 0}, same = {NULL, 0};
    for (int k = 0; k < 9; k++)
        weights[k] = (float)(k + 1);
    put_number(&body, 1, 1);
    put_number(&body, 2, 1);
    put_pair(&body, 20, 3, 3);
    put_pair(&body, 30, 2, 2);
    put_message(&body, 51, &same);
    put_weights(&body, 90, weights, 9);
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 2; x++) {
            double sum = 0;
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++) /* total padding max(0, (2-1)2 + 3 - 4) = 1: none before, one behind */
                    if (2 * y + r < 4 && 2 * x + s < 4)
                        sum += (double)weights[3 * r + s] * (4 * (2 * y + r) + 2 * x + s);
            expected[2 * y + x] = sum;
        }
    struct message file = one_layer(100, &body, image, 3, false);
    expect(&file, "same padding", out, 3, expected);
}

/* Weights [Cin, Cout, 2, 2], stride 2: every input element makes a block of its own. */
static void test_transposed(void)
{
    static const int64_t image[3] = {2, 1, 2}, out[3] = {1, 2, 4};
    static const float weights[8] = {1, 2, 3, 4, 10, 20, 30, 40}, bias = 0.5F;
    double expected[8];
    struct message body = {NULL, 0}, valid = {NULL, 0};
    put_number(&body, 1, 1);
    put_number(&body, 2, 2);
    put_pair(&body, 20, 2, 2);
    put_pair(&body, 30, 2, 2);
    put_message(&body, 50, &valid);
    put_number(&body, 60, 1);
    put_number(&body, 70, 1);
    put_weights(&body, 90, weights, 8);
    put_weights(&body, 91, &bias, 1);
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 4; x++) /* channel 0 holds 0 1, channel 1 holds 2 3 */
            expected[4 * y + x] = 0.5 + (double)(x / 2 * weights[2 * y + x % 2] + (2 + x / 2) * weights[4 + 2 * y + x % 2]);
    struct message file = one_layer(100, &body, image, 3, false);
    expect(&file, "transposed convolution", out, 3, expected);
}

/* ---- packed weights ---- */

static struct message inner_product(struct message *weights, const int64_t in, const int64_t out)
{
    struct message body = {NULL, 0};
    put_number(&body, 1, (uint64_t)in);
    put_number(&body, 2, (uint64_t)out);
    put_message(&body, 20, weights);
    return one_layer(140, &body, &in, 1, false);
}

/* A table of four numbers, [0,3,2,1,3] at two bits is 0x39 0xC0: the first value in the top bits. */
static void test_table_of_weights(void)
{
    static const float table[4] = {5, 7, 11, 13};
    static const uint8_t bytes[2] = {0x39, 0xC0};
    static const int64_t out = 1;
    const double expected = 0 * 5 + 1 * 13 + 2 * 11 + 3 * 7 + 4 * 13;
    struct message weights = {NULL, 0}, quantisation = {NULL, 0}, lookup = {NULL, 0};
    put_bytes(&weights, 30, bytes, 2);
    put_floats(&lookup, 1, table, 4);
    put_number(&quantisation, 1, 2);
    put_message(&quantisation, 102, &lookup);
    put_message(&weights, 40, &quantisation);
    struct message file = inner_product(&weights, 5, 1);
    expect(&file, "table of weights", &out, 1, &expected);
}

/* q scale + bias of each output, at four bits. */
static void test_linear_weights(void)
{
    static const float scale[2] = {0.5F, 2}, bias[2] = {-1, 3};
    static const uint8_t bytes[3] = {0x12, 0x3F, 0x0A};
    static const int64_t out = 2;
    static const int q[6] = {1, 2, 3, 15, 0, 10};
    double expected[2];
    for (int o = 0; o < 2; o++) {
        expected[o] = 0;
        for (int k = 0; k < 3; k++)
            expected[o] += k * (q[3 * o + k] * (double)scale[o] + (double)bias[o]);
    }
    struct message weights = {NULL, 0}, quantisation = {NULL, 0}, linear = {NULL, 0};
    put_bytes(&weights, 30, bytes, 3);
    put_floats(&linear, 1, scale, 2);
    put_floats(&linear, 2, bias, 2);
    put_number(&quantisation, 1, 4);
    put_message(&quantisation, 101, &linear);
    put_message(&weights, 40, &quantisation);
    struct message file = inner_product(&weights, 3, 2);
    expect(&file, "linear weights", &out, 1, expected);
}

static void test_half_weights(void)
{
    static const uint16_t bits[3] = {0x3C00, 0xC000, 0x3800}; /* 1, -2, 0.5 */
    static const int64_t out = 1;
    const double expected = -2 + 2 * 0.5;
    struct message weights = {NULL, 0};
    put_bytes(&weights, 2, bits, sizeof bits);
    struct message file = inner_product(&weights, 3, 1);
    expect(&file, "weights in half precision", &out, 1, &expected);
}

/* ---- pooling, resampling ---- */

/* includeLastPixel on 5 with kernel 2 and stride 2: ceil((5 - 2) / 2) + 1 = 3 windows, the last with one element. */
static void test_last_pixel(void)
{
    static const int64_t image[3] = {1, 1, 5}, out[3] = {1, 1, 3};
    static const double expected[3] = {1, 3, 4};
    struct message body = {NULL, 0}, last = {NULL, 0};
    put_pair(&body, 10, 1, 2);
    put_pair(&body, 20, 1, 2);
    put_pair(&last, 10, 0, 0);
    put_message(&body, 32, &last);
    struct message file = one_layer(120, &body, image, 3, false);
    expect(&file, "the last pixel", out, 3, expected);
}

/* The default of bilinear upsampling: sampled at i in / out, clamped. */
static void test_upsample(void)
{
    static const int64_t image[3] = {1, 1, 3}, out[3] = {1, 2, 6};
    double expected[12];
    struct message body = {NULL, 0};
    put_pair(&body, 1, 2, 2);
    put_number(&body, 5, 1);
    for (int k = 0; k < 12; k++)
        expected[k] = fmin(2, k % 6 * 0.5);
    struct message file = one_layer(210, &body, image, 3, false);
    expect(&file, "upsampling", out, 3, expected);
}

/* ---- order of elements ---- */

static void test_channel_last(void)
{
    static const int64_t image[3] = {2, 1, 3}, flat = 6;
    static const double flattened[6] = {0, 3, 1, 4, 2, 5};
    struct message body = {NULL, 0};
    put_number(&body, 1, 1);
    struct message file = one_layer(301, &body, image, 3, false);
    expect(&file, "flattened by channels", &flat, 1, flattened);
    /* To [C 3, H 2, W 1]: elements in the order H, W, C of the input go to the order H, W, C of the output. */
    static const int64_t target[3] = {3, 2, 1};
    static const double reshaped[6] = {0, 4, 3, 2, 1, 5};
    put_packed(&body, 1, target, 3);
    put_number(&body, 2, 1);
    file = one_layer(300, &body, image, 3, false);
    expect(&file, "reshaped by channels", target, 3, reshaped);
}

static void test_permute(void)
{
    static const int64_t image[3] = {2, 1, 3}, out[3] = {3, 2, 1}, order[4] = {0, 3, 1, 2};
    static const double expected[6] = {0, 3, 1, 4, 2, 5};
    struct message body = {NULL, 0};
    put_packed(&body, 1, order, 4);
    struct message file = one_layer(310, &body, image, 3, false);
    expect(&file, "permuted", out, 3, expected);
}

/* ---- numbers ---- */

static void test_unary(void)
{
    static const int64_t four = 4;
    double expected[4];
    for (unsigned type = 0; type < 8; type++) {
        struct message body = {NULL, 0};
        put_number(&body, 1, type);
        put_float(&body, 2, 3);
        put_float(&body, 4, 1);
        put_float(&body, 5, 2);
        for (int k = 0; k < 4; k++) { /* scale and shift come first: 2 k + 1 */
            const double x = 2 * k + 1,
                         of[8] = {sqrt(x), 1 / sqrt(x + 1e-6), 1 / (x + 1e-6), x * x * x, exp(x), log(x), fabs(x), fmax(3, x)};
            expected[k] = of[type];
        }
        struct message file = one_layer(220, &body, &four, 1, false);
        expect(&file, "a function", &four, 1, expected);
    }
}

static void test_batch_norm(void)
{
    static const int64_t image[3] = {2, 1, 2};
    static const float gamma[2] = {2, 3}, beta[2] = {0.5F, -1}, mean[2] = {1, 2}, variance[2] = {4, 0.25F};
    double expected[4];
    struct message body = {NULL, 0};
    put_number(&body, 1, 2);
    put_float(&body, 10, 0.001F);
    put_weights(&body, 15, gamma, 2);
    put_weights(&body, 16, beta, 2);
    put_weights(&body, 17, mean, 2);
    put_weights(&body, 18, variance, 2);
    for (int k = 0; k < 4; k++)
        expected[k] =
            (double)gamma[k / 2] * (k - (double)mean[k / 2]) / sqrt((double)variance[k / 2] + 0.001) + (double)beta[k / 2];
    struct message file = one_layer(160, &body, image, 3, false);
    expect(&file, "batch normalisation", image, 3, expected);
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* Two units over one input and two steps; the gates have matrices of their own. */
static void test_lstm(void)
{
    enum { UNITS = 2, STEPS = 2 };
    static const int64_t sequence[4] = {STEPS, 1, 1, 1}, out[4] = {STEPS, UNITS, 1, 1};
    float w[4][UNITS], r[4][UNITS * UNITS], b[4][UNITS];
    double h[UNITS] = {0}, cell[UNITS] = {0}, expected[STEPS * UNITS];
    struct message body = {NULL, 0}, params = {NULL, 0}, weights = {NULL, 0}, layers = {NULL, 0};
    put_number(&body, 1, 1);
    put_number(&body, 2, UNITS);
    put_number(&params, 10, 1);
    put_number(&params, 20, 1);
    put_message(&body, 15, &params);
    for (unsigned g = 0; g < 4; g++) { /* i, f, z, o */
        for (unsigned k = 0; k < UNITS; k++) {
            w[g][k] = 0.3F * (float)g - 0.2F * (float)k + 0.1F;
            b[g][k] = 0.05F * (float)(g + k);
            for (unsigned j = 0; j < UNITS; j++)
                r[g][UNITS * k + j] = 0.1F * (float)(g + 1) - 0.3F * (float)k + 0.2F * (float)j;
        }
        put_weights(&weights, 1 + g, w[g], UNITS);
        put_weights(&weights, 20 + g, r[g], (size_t)UNITS * UNITS);
        put_weights(&weights, 40 + g, b[g], UNITS);
    }
    put_message(&body, 20, &weights);
    for (int t = 0; t < STEPS; t++) {
        double next[UNITS];
        for (unsigned k = 0; k < UNITS; k++) {
            double gate[4];
            for (unsigned g = 0; g < 4; g++) {
                gate[g] = (double)w[g][k] * t + (double)b[g][k];
                for (unsigned j = 0; j < UNITS; j++)
                    gate[g] += (double)r[g][UNITS * k + j] * h[j];
            }
            cell[k] = sigmoid(gate[1]) * cell[k] + sigmoid(gate[0]) * tanh(gate[2]);
            next[k] = sigmoid(gate[3]) * tanh(cell[k]);
        }
        for (unsigned k = 0; k < UNITS; k++)
            expected[UNITS * t + (int)k] = h[k] = next[k];
    }
    struct message layer = network_layer("cell", "x", "y", 420, &body);
    put_message(&layers, 1, &layer);
    struct message file = coreml_network_file(sequence, 4, false, &layers);
    expect(&file, "LSTM", out, 4, expected);
}

/* A Core ML classifier: an image, scaled, a softmax, labels. */
static void test_classifier(void)
{
    struct message description = {NULL, 0}, image = image_feature("photo", 2, 1, 20), network = {NULL, 0}, body = {NULL, 0};
    struct message out = {NULL, 0}, type = {NULL, 0}, dictionary = {NULL, 0}, pre = {NULL, 0}, scaler = {NULL, 0};
    struct message flat = {NULL, 0}, labels = {NULL, 0};
    struct orch_error error;
    put_message(&description, 1, &image);
    put_text(&out, 1, "classes");
    put_message(&type, 6, &dictionary);
    put_message(&out, 3, &type);
    put_message(&description, 10, &out);
    put_float(&scaler, 10, 0.5F);
    put_float(&scaler, 20, 3); /* blue */
    put_float(&scaler, 30, 99);
    put_text(&pre, 1, "photo");
    put_message(&pre, 10, &scaler);
    struct message first = network_layer("flat", "photo", "row", 301, &flat);
    struct message second = network_layer("soft", "row", "classes", 175, &body);
    put_message(&network, 1, &first);
    put_message(&network, 1, &second);
    put_message(&network, 2, &pre);
    const char *const names[6] = {"ant", "bee", "cat", "dog", "eel", "fly"};
    for (unsigned k = 0; k < 6; k++)
        put_text(&labels, 1, names[k]);
    put_message(&network, 100, &labels);
    struct message file = coreml_file(1, &description, 403, &network);
    struct message copy = {malloc(file.size), file.size};
    memcpy(copy.byte, file.byte, file.size);
    struct net_model *const model = import(&copy, &error);
    CHECK(model && model->labels == 6 && strcmp(model->label[3], "dog") == 0, "labels: %s", error.text);
    net_model_free(model);
    double expected[6], sum = 0;
    for (unsigned k = 0; k < 6; k++)
        sum += expected[k] = exp(0.5 * k + (k / 2 == 2 ? 3 : 0)); /* channels are red, green, blue */
    for (unsigned k = 0; k < 6; k++)
        expected[k] /= sum;
    static const int64_t six = 6;
    expect(&file, "a classifier", &six, 1, expected);
}

/* Exact mapping: weights of one input are stored column after column. */
static void test_batched_matmul(void)
{
    static const int64_t shape[2] = {2, 3}, out[2] = {2, 2};
    static const float stored[6] = {1, 2, 3, 10, 20, 30}, bias[2] = {0.5F, -0.5F};
    double expected[4];
    struct message body = {NULL, 0};
    put_number(&body, 5, 3);
    put_number(&body, 6, 2);
    put_number(&body, 7, 1);
    put_weights(&body, 8, stored, 6);
    put_weights(&body, 9, bias, 2);
    for (int m = 0; m < 2; m++)
        for (int n = 0; n < 2; n++) {
            expected[2 * m + n] = (double)bias[n];
            for (int k = 0; k < 3; k++)
                expected[2 * m + n] += (3 * m + k) * (double)stored[3 * n + k];
        }
    struct message file = one_layer(1045, &body, shape, 2, true);
    expect(&file, "a product", out, 2, expected);
}

static const struct suite_test tests[] = {
    {"pads as much as is needed, at the end", test_same_padding},
    {"convolves transposed", test_transposed},
    {"reads weights through a table", test_table_of_weights},
    {"reads scaled weights", test_linear_weights},
    {"reads weights in half precision", test_half_weights},
    {"includes the last pixel", test_last_pixel},
    {"upsamples from the corner", test_upsample},
    {"turns channels to the end", test_channel_last},
    {"permutes", test_permute},
    {"computes functions", test_unary},
    {"normalises", test_batch_norm},
    {"steps a cell", test_lstm},
    {"prepares images and keeps labels", test_classifier},
    {"multiplies by weights in columns", test_batched_matmul},
};
SUITE_MAIN("coreml_layers", tests)
