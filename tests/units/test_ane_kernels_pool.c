/* Pooling, transposed convolution, resizing and reductions of the Neural Engine library. */
#include "isa/array_count.h"
#include "tests/units/ane_library_example.h"

/* ---- pool ---- */

struct pool {
    int n, c, h, w, r, s, stride, pad;
    const char *op;
    bool inside; /* averages count what lies in the image */
    int more;    /* rows below and columns at the right beside pad */
};

static double window(const struct pool *v, const double *plane, int y, int x)
{
    double value = strcmp(v->op, "max") == 0 ? -INFINITY : strcmp(v->op, "min") == 0 ? INFINITY : 0;
    int count = 0;
    for (int r = 0; r < v->r; r++)
        for (int s = 0; s < v->s; s++) {
            const int row = y * v->stride - v->pad + r, column = x * v->stride - v->pad + s;
            if (row < 0 || column < 0 || row >= v->h || column >= v->w)
                continue;
            const double next = plane[row * v->w + column];
            count++;
            value = strcmp(v->op, "max") == 0   ? fmax(value, next)
                    : strcmp(v->op, "min") == 0 ? fmin(value, next)
                                                : value + next / (v->r * v->s);
        }
    return v->inside ? value * (v->r * v->s) / count : value;
}

static void check_pool(const struct pool *v, uint64_t seed)
{
    char text[140];
    struct ane_example x;
    snprintf(text, sizeof text, "pool:n=%d,c=%d,h=%d,w=%d,r=%d,s=%d,stride=%d,pad=%d,op=%s,include_pad=%d,more=%d", v->n, v->c,
             v->h, v->w, v->r, v->s, v->stride, v->pad, v->op, !v->inside, v->more);
    if (example_start(&x, text, NULL, seed)) {
        const int both = 2 * v->pad + v->more, oh = (v->h + both - v->r) / v->stride + 1,
                  ow = (v->w + both - v->s) / v->stride + 1;
        double *in = example_values(&x, "x"), *expected = malloc((size_t)(v->n * v->c * oh * ow) * sizeof *expected);
        for (int i = 0; expected && i < v->n * v->c * oh * ow; i++)
            expected[i] = window(v, in + i / ow / oh * v->h * v->w, i / ow % oh, i % ow);
        if (expected)
            example_compare(&x, text, "out", expected, NULL,
                            v->inside         ? 3
                            : v->op[0] == 'a' ? 0.51
                                              : 0); /* inside: the table's share */
        free(in), free(expected);
    }
    example_close(&x);
}

static void test_pool(void)
{
    static const struct pool pools[] = {
        {1, 3, 8, 8, 2, 2, 2, 0, "max", false, 0},   {2, 17, 13, 11, 3, 3, 2, 1, "max", false, 0},
        {1, 4, 9, 9, 3, 3, 1, 1, "avg", false, 0},   {1, 5, 14, 21, 7, 7, 1, 0, "avg", false, 0},
        {1, 2, 12, 10, 3, 2, 3, 1, "min", false, 0}, {3, 1, 31, 40, 31, 5, 2, 2, "max", false, 0},
        {2, 3, 9, 10, 3, 3, 2, 1, "avg", true, 0},   {1, 4, 8, 8, 3, 3, 2, 0, "max", false, 1},
        {1, 4, 10, 8, 3, 3, 2, 0, "avg", true, 1},   {1, 3, 9, 12, 4, 4, 1, 1, "max", false, 1},
    };
    for (size_t i = 0; i < ARRAY_COUNT(pools); i++)
        check_pool(&pools[i], i + 1);
}

static void check_global(size_t n, size_t c, size_t h, size_t w, bool largest, uint64_t seed)
{
    char text[100];
    struct ane_example x;
    snprintf(text, sizeof text, "globalpool:n=%zu,c=%zu,h=%zu,w=%zu,op=%s", n, c, h, w, largest ? "max" : "avg");
    if (example_start(&x, text, NULL, seed)) {
        double *in = example_values(&x, "x"), *expected = malloc(n * c * sizeof *expected),
               *bound = malloc(n * c * sizeof *bound);
        for (size_t i = 0; expected && bound && i < n * c; i++) {
            double most = -INFINITY, sum = 0, sizes = 0;
            for (size_t k = 0; k < h * w; k++) {
                const double value = in[i * h * w + k];
                most = fmax(most, value);
                sum += value;
                sizes += fabs(value);
            }
            expected[i] = largest ? most : sum / (double)(h * w);
            /* rows of planes are rounded to fp16 before they meet; sums of float32 in order */
            bound[i] = largest ? 0
                               : 1.01 * example_ulp(expected[i]) +
                                     sizes / (double)(h * w) * (0x1p-11 * (double)(h * w > 16384) + 0x1p-12);
        }
        if (expected && bound)
            example_compare(&x, text, "out", expected, bound, 0);
        free(in), free(expected), free(bound);
    }
    example_close(&x);
}

static void test_globalpool(void)
{
    check_global(1, 64, 7, 7, false, 10);
    check_global(2, 33, 14, 13, true, 11);
    check_global(1, 3, 256, 256, false, 12); /* four rows a plane */
    check_global(1, 3, 256, 256, true, 13);
    check_global(1, 9000, 2, 3, false, 14); /* more planes than a reduction has rows */
}

/* ---- conv_transpose2d ---- */

struct transposed {
    int n, c, h, w, k, r, s, stride, pad, out_pad, groups, bias;
};

static void scatter(const struct transposed *v, const double *x, const double *weight, double *sum, double *sizes, int oh, int ow)
{
    const int in = v->c / v->groups, out = v->k / v->groups;
    for (int i = 0; i < v->n * v->c * v->h * v->w; i++) {
        const int column = i % v->w, row = i / v->w % v->h, c = i / v->w / v->h % v->c, n = i / v->w / v->h / v->c;
        for (int j = 0; j < out * v->r * v->s; j++) {
            const int s = j % v->s, r = j / v->s % v->r, k = c / in * out + j / v->s / v->r;
            const int y = row * v->stride - v->pad + r, z = column * v->stride - v->pad + s;
            if (y < 0 || z < 0 || y >= oh || z >= ow)
                continue;
            const double product = example_mac(x[i]) * example_mac(weight[c * out * v->r * v->s + j]);
            sum[((n * v->k + k) * oh + y) * ow + z] += product;
            sizes[((n * v->k + k) * oh + y) * ow + z] += fabs(product);
        }
    }
}

static void check_transposed(const struct transposed *v, uint64_t seed)
{
    char text[160];
    struct ane_example x;
    snprintf(text, sizeof text,
             "conv_transpose2d:n=%d,c=%d,h=%d,w=%d,k=%d,r=%d,s=%d,stride=%d,pad=%d,outpad=%d,groups=%d,bias=%d", v->n, v->c, v->h,
             v->w, v->k, v->r, v->s, v->stride, v->pad, v->out_pad, v->groups, v->bias);
    if (example_start(&x, text, NULL, seed)) {
        const int oh = (v->h - 1) * v->stride + v->r + v->out_pad - 2 * v->pad,
                  ow = (v->w - 1) * v->stride + v->s + v->out_pad - 2 * v->pad;
        const size_t count = (size_t)(v->n * v->k * oh * ow);
        double *in = example_values(&x, "x"), *weight = example_values(&x, "weights"),
               *bias = v->bias ? example_values(&x, "bias") : NULL;
        double *expected = calloc(count, sizeof *expected), *bound = calloc(count, sizeof *bound);
        if (expected && bound) {
            scatter(v, in, weight, expected, bound, oh, ow);
            for (size_t i = 0; i < count; i++) {
                expected[i] += bias ? bias[i / (size_t)(oh * ow) % (size_t)v->k] : 0;
                bound[i] = example_sum_bound(bound[i], expected[i]);
            }
            example_compare(&x, text, "out", expected, bound, 0);
        }
        free(in), free(weight), free(bias), free(expected), free(bound);
    }
    example_close(&x);
}

static void test_transposed(void)
{
    static const struct transposed shapes[] = {
        {1, 3, 5, 6, 4, 3, 3, 1, 1, 0, 1, 0}, {1, 8, 7, 7, 5, 2, 2, 2, 0, 0, 1, 1}, {2, 4, 5, 9, 6, 4, 4, 2, 1, 0, 2, 0},
        {1, 6, 4, 4, 6, 3, 5, 3, 1, 2, 1, 1}, {1, 5, 6, 6, 5, 3, 3, 2, 1, 1, 5, 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++)
        check_transposed(&shapes[i], i + 20);
}

/* ---- resize ---- */

static double sample(const double *plane, int h, int w, double y, double x)
{
    y = fmin(fmax(y, 0), h - 1);
    x = fmin(fmax(x, 0), w - 1);
    const int top = (int)y, left = (int)x, below = top + 1 < h ? top + 1 : top, right = left + 1 < w ? left + 1 : left;
    const double fy = y - top, fx = x - left;
    return (1 - fy) * ((1 - fx) * plane[top * w + left] + fx * plane[top * w + right]) +
           fy * ((1 - fx) * plane[below * w + left] + fx * plane[below * w + right]);
}

static void check_resize(int n, int c, int h, int w, int factor, bool bilinear, uint64_t seed)
{
    char text[100];
    struct ane_example x;
    snprintf(text, sizeof text, "resize:n=%d,c=%d,h=%d,w=%d,factor=%d,mode=%s", n, c, h, w, factor,
             bilinear ? "bilinear" : "nearest");
    if (example_start(&x, text, NULL, seed)) {
        const int oh = h * factor, ow = w * factor, count = n * c * oh * ow;
        double *in = example_values(&x, "x"), *expected = malloc((size_t)count * sizeof *expected),
               *bound = malloc((size_t)count * sizeof *bound);
        for (int i = 0; expected && bound && i < count; i++) {
            const double *plane = in + i / ow / oh * h * w;
            const int y = i / ow % oh, z = i % ow;
            expected[i] = bilinear ? sample(plane, h, w, (y + 0.5) / factor - 0.5, (z + 0.5) / factor - 0.5)
                                   : plane[y / factor * w + z / factor];
            bound[i] = bilinear ? 3 * 0x1p-11 + 0x1p-10 + 1e-3 : 0; /* inputs below 1; the border's factor from a table */
        }
        if (expected && bound)
            example_compare(&x, text, "out", expected, bound, 0);
        free(in), free(expected), free(bound);
    }
    example_close(&x);
}

static void test_resize(void)
{
    check_resize(1, 3, 5, 7, 2, false, 30);
    check_resize(2, 17, 4, 9, 3, false, 31);
    check_resize(1, 2, 3, 5, 12, false, 32);
    check_resize(1, 2, 3, 5, 1, false, 33);
    check_resize(2, 3, 6, 11, 2, true, 34);
}

/* ---- reduce ---- */

static void check_reduce(size_t rows, size_t columns, const char *op, int axis, uint64_t seed)
{
    char text[80];
    struct ane_example x;
    const size_t lines = axis ? rows : columns, length = axis ? columns : rows;
    snprintf(text, sizeof text, "reduce:%zux%zu,op=%s,axis=%d", rows, columns, op, axis);
    if (example_start(&x, text, NULL, seed)) {
        double *in = example_values(&x, "x"), *expected = malloc(lines * sizeof *expected),
               *bound = malloc(lines * sizeof *bound);
        for (size_t i = 0; expected && bound && i < lines; i++) {
            double sum = 0, most = -INFINITY, least = INFINITY, squares = 0, sizes = 0;
            for (size_t k = 0; k < length; k++) {
                const double value = axis ? in[i * columns + k] : in[k * columns + i];
                sum += value;
                squares += value * value;
                most = fmax(most, value);
                least = fmin(least, value);
                sizes += fabs(value);
            }
            const bool exact = strcmp(op, "max") == 0 || strcmp(op, "min") == 0;
            expected[i] = strcmp(op, "sum") == 0    ? sum
                          : strcmp(op, "mean") == 0 ? sum / (double)length
                          : strcmp(op, "max") == 0  ? most
                          : exact                   ? least
                                                    : squares;
            /* float32 in order, one rounding to fp16; squares are rounded before they are added */
            bound[i] = exact ? 0
                             : 0.51 * example_ulp(expected[i]) + sizes * (double)length * 0x1p-24 +
                                   0x1p-11 * (op[1] == 'q' ? squares : 0);
        }
        if (expected && bound)
            example_compare(&x, text, "out", expected, bound, 0);
        free(in), free(expected), free(bound);
    }
    example_close(&x);
}

static void test_reduce(void)
{
    static const char *const ops[] = {"sum", "mean", "max", "min", "squares"};
    for (size_t i = 0; i < ARRAY_COUNT(ops); i++) {
        check_reduce(33, 500, ops[i], 1, 40 + i);
        check_reduce(77, 19, ops[i], 0, 50 + i);
        check_reduce(17000, 5, ops[i], 1, 60 + i);
    }
}

static void test_refusals(void)
{
    example_refused("pool:c=1,h=64,w=64,r=33", NULL, ANE_H13, "pools at most 31x31");
    example_refused("pool:c=1,h=64,w=64,r=5,stride=4", NULL, ANE_H13, "at most 3");
    example_refused("conv_transpose2d:c=1,h=4,w=4,k=1,stride=4", NULL, ANE_H13, "at most 3");
    example_refused("resize:c=1,h=4,w=4,factor=5", NULL, ANE_H13, "spread by 2 and 3");
    example_refused("reduce:4x20000", NULL, ANE_H13, "H13 has at most 16384");
}

static const struct suite_test tests[] = {
    {"windows", test_pool},    {"whole planes", test_globalpool}, {"transposed convolution", test_transposed},
    {"resizing", test_resize}, {"reductions", test_reduce},       {"refusals name the limit", test_refusals},
};
SUITE_MAIN("ane_kernels_pool", tests)
