/* Kernels of frameworks against sums in double precision: every rule, on shapes with edges, in each range of versions. */
#include "tests/sim/workload/framework_example.h"

static const char *const versions[] = {"mlx@0.0.7", "mlx@0.5", "mlx@0.12.2", "mlx@0.20", "mlx@0.25.2", "mlx@0.30.1"};
static const char *const chips[] = {"M1", "M1 Max", "M1 Ultra"};

/* ---- reductions ---- */

static void check_reduction(unsigned rows, unsigned columns, const char *op, unsigned axis, unsigned batch, const char *kernels)
{
    struct example x;
    char text[96];
    snprintf(text, sizeof text, "reduce:%ux%u,op=%s,axis=%u,batch=%u", rows, columns, op, axis, batch);
    const unsigned lines = axis ? rows : columns, results = lines * batch, length = axis ? columns : rows;
    double *const expected = calloc(results, sizeof *expected), *const bound = calloc(results, sizeof *bound);
    if (run(&x, kernels, "M1", text, "f32") && expected && bound) {
        for (unsigned r = 0; r < results; r++) {
            const double *const matrix = x.before[0] + (size_t)(r / lines) * rows * columns;
            double sum = 0, size = 0, most = 0;
            unsigned place = 0;
            for (unsigned i = 0; i < length; i++) {
                const double value = matrix[axis ? (size_t)(r % lines) * columns + i : (size_t)i * columns + r % lines];
                const double key = strstr(op, "min") ? -value : value;
                sum += value;
                size += fabs(value);
                if (i == 0 || key > most)
                    most = key, place = i;
            }
            const bool adds = strcmp(op, "sum") == 0;
            expected[r] = adds ? sum : strncmp(op, "arg", 3) == 0 ? place : strstr(op, "min") ? -most : most;
            bound[r] = adds ? 64 * 0x1p-24 * size : 0;
        }
        close_to(&x, 1, expected, bound);
    }
    free(expected);
    free(bound);
    end(&x);
}

static void test_reductions(void)
{
    static const char *const ops[] = {"sum", "max", "min", "argmax", "argmin"};
    static const unsigned shapes[][4] = {{1, 1000, 1, 1}, {1, 70001, 1, 1}, {5, 700, 1, 1}, {7, 1500, 1, 1},
                                         {70, 100, 1, 1}, {77, 20, 1, 1},   {9, 300, 1, 1}, {100, 333, 0, 1},
                                         {64, 40, 0, 1},  {7, 130, 0, 1},   {11, 90, 1, 3}, {70, 33, 0, 5}};
    for (size_t v = 0; v < ARRAY_COUNT(versions); v++)
        for (size_t s = 0; s < ARRAY_COUNT(shapes); s++)
            for (size_t o = 0; o < ARRAY_COUNT(ops); o++)
                check_reduction(shapes[s][0], shapes[s][1], ops[o], shapes[s][2], shapes[s][3], versions[v]);
    for (size_t s = 0; s < ARRAY_COUNT(shapes); s++)
        for (size_t o = 3; o < ARRAY_COUNT(ops); o++)
            check_reduction(shapes[s][0], shapes[s][1], ops[o], shapes[s][2], shapes[s][3], "mps");
}

static void check_softmax(unsigned rows, unsigned columns, const char *precision, const char *kernels)
{
    struct example x;
    char text[64];
    const double unit = strcmp(precision, "f16") == 0 ? 0x1p-11 : 0x1p-24;
    snprintf(text, sizeof text, "softmax:%ux%u", rows, columns);
    const size_t count = (size_t)rows * columns;
    double *const expected = malloc(count * sizeof *expected), *const bound = malloc(count * sizeof *bound);
    if (run(&x, kernels, "M1", text, precision) && expected && bound) {
        for (unsigned r = 0; r < rows; r++) {
            const double *const row = x.before[0] + (size_t)r * columns;
            double most = row[0], sum = 0;
            for (unsigned i = 0; i < columns; i++)
                most = fmax(most, row[i]);
            for (unsigned i = 0; i < columns; i++)
                sum += exp(row[i] - most);
            for (unsigned i = 0; i < columns; i++) {
                expected[(size_t)r * columns + i] = exp(row[i] - most) / sum;
                bound[(size_t)r * columns + i] = (64 * 0x1p-24 + unit) * expected[(size_t)r * columns + i] + unit * 0x1p-14;
            }
        }
        close_to(&x, 1, expected, bound);
    }
    free(expected);
    free(bound);
    end(&x);
}

static void test_softmax(void)
{
    static const char *const kernels[] = {"mlx", "mps", "mps@2.2.1"};
    for (size_t k = 0; k < ARRAY_COUNT(kernels); k++) {
        check_softmax(5, 8, "f32", kernels[k]);
        check_softmax(9, 13, "f16", kernels[k]);
        check_softmax(7, 130, "f32", kernels[k]);
        check_softmax(3, 4095, "f16", kernels[k]);
        check_softmax(2, 9001, "f32", kernels[k]);
    }
}

/* ---- convolutions: images N H W C, weights O R S C ---- */

struct convolution {
    unsigned n, c, h, w, k, r, s, stride, pad;
};

static double window(const struct convolution *q, const struct example *x, unsigned n, unsigned oy, unsigned ox, unsigned k,
                     double *size)
{
    double sum = 0;
    for (unsigned y = 0; y < q->r; y++)
        for (unsigned z = 0; z < q->s; z++)
            for (unsigned c = 0; c < q->c; c++) {
                const unsigned iy = oy * q->stride + y - q->pad, ix = ox * q->stride + z - q->pad;
                if (iy >= q->h || ix >= q->w)
                    continue;
                const double p =
                    x->before[0][((n * q->h + iy) * q->w + ix) * q->c + c] * x->before[1][((k * q->r + y) * q->s + z) * q->c + c];
                sum += p;
                *size += fabs(p);
            }
    return sum;
}

/* PyTorch of early 2024 gives results N O H W. */
static void check_convolution_within(const struct convolution *q, const char *kernels, const char *chip, const char *precision,
                                     double unit)
{
    struct example x;
    char text[128];
    const unsigned oh = (q->h + 2 * q->pad - q->r) / q->stride + 1, ow = (q->w + 2 * q->pad - q->s) / q->stride + 1;
    const size_t count = (size_t)q->n * oh * ow * q->k;
    double *const expected = malloc(count * sizeof *expected), *const bound = malloc(count * sizeof *bound);
    snprintf(text, sizeof text, "conv2d:n=%u,c=%u,h=%u,w=%u,k=%u,r=%u,s=%u,stride=%u,pad=%u", q->n, q->c, q->h, q->w, q->k, q->r,
             q->s, q->stride, q->pad);
    if (run(&x, kernels, chip, text, precision) && expected && bound) {
        const bool filters_first = strcmp(kernels, "mps@2.2.1") == 0;
        for (size_t at = 0; at < count; at++) {
            const size_t pixel = at / q->k, each = (size_t)oh * ow;
            const size_t i = filters_first ? (pixel / each * q->k + at % q->k) * each + pixel % each : at;
            double size = 0;
            expected[i] = window(q, &x, (unsigned)(pixel / ow / oh), (unsigned)(pixel / ow % oh), (unsigned)(pixel % ow),
                                 (unsigned)(at % q->k), &size);
            bound[i] = (q->r * q->s * q->c + 8) * unit * size;
        }
        close_to(&x, 2, expected, bound);
    }
    free(expected);
    free(bound);
    end(&x);
}

static void check_convolution(const struct convolution *q, const char *kernels, const char *chip)
{
    check_convolution_within(q, kernels, chip, "f32", 0x1p-24);
}

/* Transforms of Winograd's F(6, 3) add numbers of up to 32 times the size that cancel later. In float16 these sums are halves,
 * too, so a few per cent of the size of a sum are what is asked for. Tiles that end outside; channels and images in which each
 * version decides for it. */
static void test_winograd(void)
{
    static const struct {
        const char *kernels;
        struct convolution q;
    } cases[] = {{"mlx@0.0.7", {2, 64, 13, 17, 64, 3, 3, 1, 1}},
                 {"mlx@0.2", {1, 96, 8, 8, 64, 3, 3, 1, 0}},
                 {"mlx@0.12.2", {1, 480, 7, 9, 32, 3, 3, 1, 1}},
                 {"mlx", {16, 192, 16, 16, 64, 3, 3, 1, 2}}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        check_convolution_within(&cases[i].q, cases[i].kernels, chips[i % 3], "f32", 0x1p-24);
        if (cases[i].q.c < 100)
            check_convolution_within(&cases[i].q, cases[i].kernels, chips[i % 3], "f16", 0x1p-14);
    }
}

static void test_convolutions(void)
{
    static const struct convolution convolutions[] = {
        {2, 3, 11, 13, 8, 3, 3, 1, 0},  {1, 12, 9, 10, 8, 3, 3, 1, 1},    {1, 4, 9, 9, 40, 2, 3, 2, 1},
        {1, 32, 10, 9, 32, 3, 3, 2, 1}, {1, 16, 8, 8, 20, 1, 1, 1, 0},    {1, 1, 12, 8, 70, 5, 5, 1, 2},
        {2, 128, 9, 9, 8, 3, 3, 1, 0},  {1, 64, 94, 91, 8, 1, 2, 1, 0},   {1, 64, 94, 91, 80, 1, 1, 1, 0},
        {1, 20, 17, 18, 9, 3, 3, 1, 1}, {1, 100, 92, 91, 72, 1, 1, 1, 0}, {1, 70, 92, 92, 20, 1, 2, 1, 0}};
    static const char *const kernels[] = {"mlx@0.0.7", "mlx@0.2", "mlx@0.20", "mlx@0.30", "mps", "mps@2.2.1"};
    for (size_t i = 0; i < ARRAY_COUNT(convolutions); i++)
        for (unsigned k = 0; k < ARRAY_COUNT(kernels); k++)
            check_convolution(&convolutions[i], kernels[k], chips[i % 3]);
    static const struct convolution few[] = {{2, 12, 9, 7, 8, 3, 3, 1, 0}, {1, 8, 12, 20, 11, 3, 2, 2, 1}}; /* a pixel a thread */
    for (size_t i = 0; i < ARRAY_COUNT(few); i++)
        check_convolution(&few[i], i ? "mps@2.6" : "mps@2.9", chips[i]);
}

/* ---- element by element ---- */

static double function_of(const char *op, double a, double b)
{
    return strcmp(op, "relu") == 0      ? fmax(a, 0)
           : strcmp(op, "exp") == 0     ? exp(a)
           : strcmp(op, "log") == 0     ? log(a)
           : strcmp(op, "sigmoid") == 0 ? 1 / (1 + exp(-a))
           : strcmp(op, "tanh") == 0    ? tanh(a)
           : strcmp(op, "sqrt") == 0    ? sqrt(a)
           : strcmp(op, "rsqrt") == 0   ? 1 / sqrt(a)
           : strcmp(op, "square") == 0  ? a * a
           : strcmp(op, "abs") == 0     ? fabs(a)
           : strcmp(op, "neg") == 0     ? -a
           : strcmp(op, "add") == 0     ? a + b
           : strcmp(op, "sub") == 0     ? a - b
           : strcmp(op, "mul") == 0     ? a * b
           : strcmp(op, "div") == 0     ? a / b
           : strcmp(op, "max") == 0     ? fmax(a, b)
                                        : fmin(a, b);
}

static void check_function(const char *op, unsigned count, unsigned period, const char *kernels, const char *precision)
{
    struct example x;
    char text[96];
    snprintf(text, sizeof text, "elementwise:%u,op=%s,period=%u", count, op, period);
    double *const expected = malloc(count * sizeof *expected), *const bound = malloc(count * sizeof *bound);
    if (run(&x, kernels, "M1", text, precision) && expected && bound) {
        unsigned out = 1;
        while (x.library->kernel.buffer[out].role != GPU_BUFFER_OUTPUT)
            out++;
        for (unsigned i = 0; i < count; i++) {
            expected[i] = function_of(op, x.before[0][i], out > 1 ? x.before[1][period ? i % period : i] : 0);
            bound[i] = (strcmp(precision, "f16") == 0 ? 0x1p-10 : 0x1p-20) * fabs(expected[i]) + 0x1p-21;
        }
        close_to(&x, out, expected, bound);
    }
    free(expected);
    free(bound);
    end(&x);
}

static void test_elements(void)
{
    static const char *const ops[] = {"relu", "exp", "log", "sigmoid", "tanh", "sqrt", "rsqrt", "square",
                                      "abs",  "neg", "add", "sub",     "mul",  "div",  "max",   "min"};
    for (size_t o = 0; o < ARRAY_COUNT(ops); o++)
        for (size_t v = 0; v < 3; v++) {
            static const char *const kernels[] = {"mlx@0.0.7", "mlx@0.25.2", "mlx"};
            check_function(ops[o], 66001, 0, kernels[v], v == 1 ? "f16" : "f32");
            if (o < 10)
                continue;
            check_function(ops[o], 5001, 1, kernels[v], v == 1 ? "f16" : "f32");
            check_function(ops[o], 3300, 33, kernels[v], v == 2 ? "f16" : "f32");
        }
}

static void check_concat(unsigned rows, unsigned a, unsigned b)
{
    struct example x;
    char text[64];
    snprintf(text, sizeof text, "concat:%ux%ux%u", rows, a, b);
    if (run(&x, "mlx", "M1", text, "f32")) {
        unsigned wrong = 0;
        for (unsigned i = 0; i < rows * (a + b); i++) {
            const unsigned row = i / (a + b), at = i % (a + b);
            const double is = at < a ? x.before[0][row * a + at] : x.before[1][row * b + at - a];
            wrong += x.after[2][i] < is || x.after[2][i] > is;
        }
        CHECK(wrong == 0, "%s: %u wrong", text, wrong);
    }
    end(&x);
}

static void test_concat(void)
{
    check_concat(100, 64, 32);
    check_concat(3, 1000, 7);
    check_concat(1, 5000, 3333);
}

/* ---- ggml, against the library's own kernels, which have tests of their own ---- */

static void check_same(const char *workload, const char *precision, const char *kernels)
{
    struct example own, theirs;
    const bool ran = run(&own, "orchard", "M1", workload, precision), same = run(&theirs, kernels, "M1", workload, precision);
    unsigned wrong = 0;
    for (unsigned i = 0; ran && same && i < GPU_KERNEL_BUFFERS; i++) {
        const struct gpu_kernel_buffer *const b = &own.library->kernel.buffer[i];
        double most = 0;
        if (!own.after[i] || b->role != GPU_BUFFER_OUTPUT)
            continue;
        for (uint64_t k = 0; k < b->count; k++)
            most = fmax(most, fabs(own.after[i][k]));
        for (uint64_t k = 0; k < b->count; k++)
            wrong += !(fabs(own.after[i][k] - theirs.after[i][k]) <= (strcmp(precision, "f16") == 0 ? 2e-3 : 2e-5) * most);
        CHECK(most > 0, "%s: nothing but zeros", workload);
    }
    CHECK(wrong == 0, "%s %s %s: %u elements differ", workload, precision, kernels, wrong);
    end(&own);
    end(&theirs);
}

static void test_ggml(void)
{
    static const char *const cases[][2] = {{"gemv:70x256", "q4_0"},
                                           {"gemv:71x512", "q8_0"},
                                           {"gemv:33x1024", "q4_k"},
                                           {"gemv:33x1280", "q6_k"},
                                           {"gemv:33x1000", "f16"},
                                           {"gemv:5x1001", "f32"},
                                           {"gemm:70x100x96,tb=1", "f16"},
                                           {"gemm:64x128x128,tb=1,batch=2", "f16"},
                                           {"gemm:1x100x96,tb=1", "f16"},
                                           {"rmsnorm:9x4096", "f32"},
                                           {"rmsnorm:3x100,affine=0", "f32"},
                                           {"softmax:9x100", "f32"},
                                           {"softmax:9x1001", "f32"},
                                           {"gemv:33x1000,vectors=f32", "f16"},
                                           {"gemv:3x4096,vectors=f32", "f16"},
                                           {"gemv:2x2173,vectors=f32", "f16"},
                                           {"elementwise:4096,op=add", "f32"},
                                           {"elementwise:40960,op=add", "f32"},
                                           {"elementwise:512,op=silu+mul", "f32"},
                                           {"copy:8192", "f16"},
                                           {"copy:1000", "f32"},
                                           {"rope:h=3,s=1,d=128,offset=77,style=interleaved", "f32"},
                                           {"rope:h=3,s=5,d=64,part=32,order=tokens", "f32"},
                                           {"cache-attention:h=8,s=65,d=64,kvh=2", "f32"},
                                           {"cache-attention:h=4,s=2048,d=64", "f32"},
                                           {"cache-attention:h=4,s=64,d=128", "f32"}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        check_same(cases[i][0], cases[i][1], "ggml@2023-11");
        check_same(cases[i][0], cases[i][1], "ggml");
    }
    check_same("gemv:70x256", "q4_0", "ggml@2023-06");
    check_same("gemv:3x4096", "q4_0", "ggml@2023-06");
}

/* Threads that fit a core of M1 with 208 KiB of registers, as llama.cpp's log of 2024-04-19 has them ("th_max"). */
static void test_ggml_registers(void)
{
    static const struct {
        const char *workload, *precision;
        unsigned threads;
    } cases[] = {{"gemv:64x4096", "q4_0", 704},
                 {"gemv:64x4096", "q8_0", 640},
                 {"gemv:64x4096", "q4_k", 512},
                 {"gemv:64x4096", "q6_k", 768},
                 {"gemv:64x4096,vectors=f32", "f16", 768},
                 {"gemv:64x4096", "f16", 1024}};
    enum { FILE_BYTES = 208 * 1024, GRANULE = 64 };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct example x;
        if (run(&x, "ggml@2024-04", "M1", cases[i].workload, cases[i].precision)) {
            const unsigned halves = x.library->step[0].register_halves, fit = FILE_BYTES / (2 * halves) / GRANULE * GRANULE;
            CHECK((fit < 1024 ? fit : 1024) == cases[i].threads, "%s %s: %u half registers", cases[i].workload,
                  cases[i].precision, halves);
        }
        end(&x);
    }
}

/* Launches of a layer of one token: ggml's graph of 2023-11 has scores, scale, mask, softmax, values and a copy; since 2023-12-01
 * (llama.cpp #4256) scale and mask are parts of the softmax. */
static void test_ggml_launches(void)
{
    static const struct {
        const char *workload, *precision, *kernels;
        unsigned launches;
    } cases[] = {{"cache-attention:h=32,s=64,d=128", "f16", "ggml@2023-11", 6},
                 {"cache-attention:h=32,s=64,d=128", "f16", "ggml@2024-01", 4},
                 {"elementwise:11008,op=silu+mul", "f32", "ggml@2023-11", 2},
                 {"rmsnorm:1x4096", "f32", "ggml@2023-11", 2},
                 {"rmsnorm:1x4096", "f32", "ggml@2025-09", 1},
                 {"rope:h=32,s=1,d=128", "f32", "ggml@2023-11", 1}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct example x;
        if (run(&x, cases[i].kernels, "M1", cases[i].workload, cases[i].precision))
            CHECK(x.library->kernel.steps == cases[i].launches, "%s %s: %u launches", cases[i].workload, cases[i].kernels,
                  x.library->kernel.steps);
        end(&x);
    }
    /* values in f16 lie as [head][d][token]: against sums in double */
    enum { HEADS = 4, KV_HEADS = 2, KEYS = 66, DEPTH = 128, ROW = KV_HEADS * DEPTH };
    struct example x;
    static double expected[HEADS * DEPTH], bound[HEADS * DEPTH];
    if (run(&x, "ggml@2023-11", "M1", "cache-attention:h=4,s=66,d=128,kvh=2", "f16")) {
        for (unsigned h = 0; h < HEADS; h++) {
            double weight[KEYS], sum = 0;
            for (unsigned t = 0; t < KEYS; t++) {
                double score = 0;
                for (unsigned i = 0; i < DEPTH; i++)
                    score += x.before[0][h * DEPTH + i] * x.before[1][t * ROW + h / 2 * DEPTH + i];
                sum += weight[t] = exp(score / sqrt(DEPTH));
            }
            for (unsigned i = 0; i < DEPTH; i++) {
                double value = 0;
                for (unsigned t = 0; t < KEYS; t++)
                    value += weight[t] / sum * x.before[2][(h / 2 * DEPTH + i) * KEYS + t];
                expected[h * DEPTH + i] = value;
                bound[h * DEPTH + i] = 1e-3;
            }
        }
        close_to(&x, 3, expected, bound);
    }
    end(&x);
}

static const struct suite_test tests[] = {{"reductions", test_reductions},
                                          {"softmax", test_softmax},
                                          {"convolutions", test_convolutions},
                                          {"convolutions by Winograd's method", test_winograd},
                                          {"element by element", test_elements},
                                          {"concatenate", test_concat},
                                          {"ggml", test_ggml},
                                          {"launches of ggml's graph", test_ggml_launches},
                                          {"registers of ggml's kernels", test_ggml_registers}};
SUITE_MAIN("frameworks", tests)
