/* Reductions and normalisations on the GPU, executed: against double precision, at sizes around every change of method (one
 * simdgroup, threadgroups, rows read again, rows in parts).
 *
 * Bounds, u = 2^-24: a sum has at most A = max(8, C / 1024) + 66 additions behind any of its terms (per thread, over the lanes of
 * a simdgroup, over simdgroups), so its error is at most A u sum |x|; results in 16 bits take one more rounding.
 */
#include "isa/array_count.h"
#include "tests/units/gpu_library_example.h"

#define U 0x1p-24

static double additions(double count)
{
    return fmax(8, count / 1024) + 66;
}

static double rounding(const struct gpu_example *x, double want)
{
    return x->request.type == GPU_F32 ? 0 : 1.01 * example_epsilon(x->request.type) * fabs(want) + 0x1p-25;
}

/* ---- reduce ---- */

struct summary {
    double sum, magnitude, squares, most, least, product;
    unsigned most_at, least_at;
};

static struct summary summarise(const double *x, unsigned count, unsigned stride)
{
    struct summary s = {.most = -INFINITY, .least = INFINITY, .product = 1};
    for (unsigned i = 0; i < count; i++) {
        const double v = x[(size_t)i * stride];
        s.sum += v;
        s.magnitude += fabs(v);
        s.squares += v * v;
        s.product *= v;
        s.most_at = v > s.most ? i : s.most_at;
        s.least_at = v < s.least ? i : s.least_at;
        s.most = fmax(s.most, v);
        s.least = fmin(s.least, v);
    }
    return s;
}

static double expected(const char *op, const struct summary *s, unsigned count, double *bound)
{
    const double a = additions(count);
    *bound = 0;
    if (strcmp(op, "sum") == 0 || strcmp(op, "mean") == 0) {
        const double share = op[0] == 's' ? 1 : 1.0 / count;
        *bound = (a + 2) * U * s->magnitude * share;
        return s->sum * share;
    }
    if (strcmp(op, "norm2") == 0) {
        *bound = (a / 2 + 4) * U * sqrt(s->squares);
        return sqrt(s->squares);
    }
    if (strcmp(op, "prod") == 0) {
        *bound = 1.01 * count * U * fabs(s->product) + 0x1p-126;
        return s->product;
    }
    return strcmp(op, "max") == 0      ? s->most
           : strcmp(op, "min") == 0    ? s->least
           : strcmp(op, "argmax") == 0 ? s->most_at
                                       : s->least_at;
}

static void check_matrices(unsigned rows, unsigned columns, const char *op, unsigned axis, unsigned batch, const char *precision)
{
    struct gpu_example x;
    char workload[96];
    snprintf(workload, sizeof workload, "reduce:%ux%u,op=%s,axis=%u,batch=%u", rows, columns, op, axis, batch);
    if (example_start(&x, workload, precision, rows * 77 + columns)) {
        double *in = example_values(&x, "x"), *out = example_values(&x, "out"), worst = 0;
        const unsigned results = axis ? rows : columns, count = axis ? columns : rows;
        for (unsigned i = 0; i < results * batch; i++) {
            const double *const matrix = in + (size_t)(i / results) * rows * columns;
            const struct summary s =
                summarise(matrix + (axis ? (size_t)(i % results) * columns : i % results), count, axis ? 1 : columns);
            double bound;
            const double want = expected(op, &s, count, &bound);
            const double allowed = bound + (op[0] == 'a' ? 0 : rounding(&x, want));
            const double ratio = out[i] == want ? 0 : fabs(out[i] - want) / (allowed + 1e-300);
            worst = !(ratio <= worst) ? ratio : worst;
        }
        CHECK(worst <= 1, "%s %s: %g times the bound", workload, precision, worst);
        free(in);
        free(out);
    }
    example_close(&x);
}

static void check_reduce(unsigned rows, unsigned columns, const char *op, unsigned axis, const char *precision)
{
    check_matrices(rows, columns, op, axis, 1, precision);
}

static const char *const operations[] = {"sum", "mean", "max", "min", "prod", "norm2", "argmax", "argmin"};

static void test_reduce_rows(void)
{
    static const unsigned shapes[][2] = {{1, 1},   {5, 3},    {7, 32},   {4, 100},  {3, 256},
                                         {9, 257}, {2, 1000}, {3, 4097}, {1, 9001}, {2, 8200}};
    for (unsigned o = 0; o < 8; o++)
        for (unsigned i = 0; i < ARRAY_COUNT(shapes); i++)
            if (strcmp(operations[o], "prod") != 0 || shapes[i][1] < 600)
                check_reduce(shapes[i][0], shapes[i][1], operations[o], 1, i % 3 == 0 ? "f16" : i % 3 == 1 ? "bf16" : "f32");
}

static void test_reduce_parts(void)
{
    static const char *const some[] = {"sum", "mean", "max", "norm2", "argmin"};
    for (unsigned o = 0; o < 5; o++) {
        check_reduce(1, 300001, some[o], 1, "f32");
        check_reduce(3, 40000, some[o], 1, "f16");
    }
}

static void test_reduce_columns(void)
{
    static const unsigned shapes[][2] = {{1, 1}, {3, 5}, {16, 33}, {17, 32}, {70, 65}, {300, 31}, {999, 3}};
    for (unsigned o = 0; o < 8; o++)
        for (unsigned i = 0; i < ARRAY_COUNT(shapes); i++)
            check_reduce(shapes[i][0], shapes[i][1], operations[o], 0, i % 3 == 0 ? "f32" : i % 3 == 1 ? "f16" : "bf16");
}

static void test_reduce_matrices(void)
{
    static const unsigned shapes[][3] = {{3, 5, 4}, {17, 32, 2}, {70, 65, 3}, {300, 31, 7}};
    for (unsigned o = 0; o < 8; o++)
        for (unsigned i = 0; i < ARRAY_COUNT(shapes); i++)
            for (unsigned axis = 0; axis < 2; axis++)
                check_matrices(shapes[i][0], shapes[i][1], operations[o], axis, shapes[i][2], i % 2 ? "f32" : "f16");
}

/* Equal extremes: the first one; NaN never; nothing but NaN: place 0. */
static void test_places(void)
{
    static const unsigned widths[] = {40, 900};
    for (unsigned w = 0; w < 2; w++)
        for (unsigned axis = 0; axis < 2; axis++) {
            struct gpu_example x;
            char workload[64];
            const unsigned n = widths[w];
            snprintf(workload, sizeof workload, axis ? "reduce:3x%u,op=argmax,axis=1" : "reduce:%ux3,op=argmax,axis=0", n);
            bool ok = example_open(&x, workload, "f32", 8);
            uint8_t *in = ok ? example_bytes(&x, 0) : NULL;
            for (unsigned i = 0; in && i < n; i++) {
                const double of_row[3] = {i == 7 || i == 33 ? 5 : -1, i == 3 ? 2 : NAN, NAN};
                for (unsigned r = 0; r < 3; r++)
                    example_put(in, GPU_F32, axis ? r * n + i : i * 3 + r, of_row[r]);
            }
            ok = ok && example_run(&x, false);
            double *out = ok ? example_values(&x, "out") : NULL;
            CHECK(out && out[0] == 7 && out[1] == 3 && out[2] == 0, "%s: %s", workload, x.text);
            free(out);
            example_close(&x);
        }
}

/* ---- softmax ---- */

static double softmax_ratio(const struct gpu_example *x, const double *in, const double *out, unsigned count, bool log_of)
{
    double most = -INFINITY, sum = 0, worst = 0;
    for (unsigned i = 0; i < count; i++)
        most = fmax(most, in[i]);
    for (unsigned i = 0; i < count; i++)
        sum += exp(in[i] - most);
    for (unsigned i = 0; i < count; i++) {
        const double d = in[i] - most, want = log_of ? d - log(sum) : exp(d) / sum;
        /* e^d: two roundings of the exponent, so 2 |d| u + 2 u of it; the largest of those also bounds the sum's terms */
        const double relative = (additions(count) + 4 + 2 * fabs(d) + 4) * U;
        const double bound = log_of ? (additions(count) + 8) * U + 4 * U * fabs(want) : relative * want + 0x1p-126;
        worst = fmax(worst, fabs(out[i] - want) / (bound + rounding(x, want)));
    }
    return worst;
}

static void check_softmax(unsigned rows, unsigned columns, bool log_of, const char *precision)
{
    struct gpu_example x;
    char workload[64];
    snprintf(workload, sizeof workload, "softmax:%ux%u,log=%d", rows, columns, log_of);
    if (example_start(&x, workload, precision, rows + columns)) {
        double *in = example_values(&x, "x"), *out = example_values(&x, "out"), worst = 0;
        for (unsigned i = 0; i < rows; i++)
            worst = fmax(worst, softmax_ratio(&x, in + (size_t)i * columns, out + (size_t)i * columns, columns, log_of));
        CHECK(worst <= 1, "%s %s: %g times the bound", workload, precision, worst);
        free(in);
        free(out);
    }
    example_close(&x);
}

static const unsigned row_shapes[][2] = {{1, 1},   {3, 2},    {5, 31},   {4, 32},   {6, 64},   {7, 255},
                                         {3, 260}, {9, 1000}, {2, 1023}, {1, 8192}, {2, 8195}, {1, 20000}};
enum { ROW_SHAPES = ARRAY_COUNT(row_shapes) };

static void test_softmax(void)
{
    static const char *const precisions[] = {"f32", "f16", "bf16"};
    for (unsigned i = 0; i < ROW_SHAPES; i++) {
        check_softmax(row_shapes[i][0], row_shapes[i][1], false, precisions[i % 3]);
        check_softmax(row_shapes[i][0], row_shapes[i][1], false, "f32");
        check_softmax(row_shapes[i][0], row_shapes[i][1], true, precisions[(i + 1) % 3]);
    }
}

/* Far apart values neither overflow nor turn into NaN. */
static void test_softmax_extremes(void)
{
    struct gpu_example x;
    bool ok = example_open(&x, "softmax:1x4", "f32", 8);
    uint8_t *in = ok ? example_bytes(&x, 0) : NULL;
    const double values[4] = {1000, -INFINITY, 1000, -1e30};
    for (unsigned i = 0; in && i < 4; i++)
        example_put(in, GPU_F32, i, values[i]);
    ok = ok && example_run(&x, false);
    double *out = ok ? example_values(&x, "out") : NULL;
    CHECK(out && out[0] == 0.5 && out[1] == 0 && out[2] == 0.5 && out[3] == 0, "%s", x.text);
    free(out);
    example_close(&x);
}

/* ---- normalisation ---- */

struct moments {
    double mean, scale, magnitude;
};

static struct moments moments_of(const double *x, unsigned count, bool centred, double eps)
{
    struct moments m = {0, 0, 0};
    double squares = 0;
    for (unsigned i = 0; i < count; i++) {
        m.mean += centred ? x[i] / count : 0;
        m.magnitude += fabs(x[i]) / count;
    }
    for (unsigned i = 0; i < count; i++)
        squares += (x[i] - m.mean) * (x[i] - m.mean) / count;
    m.scale = 1 / sqrt(squares + eps);
    return m;
}

/* Errors: of the mean (A u mean |x|), of the scale (relative A u), of the last operations (4 u). */
static double norm_bound(const struct moments *m, double x, double gamma, double want, unsigned count)
{
    const double a = additions(count) + 4;
    return U * ((2 * a * m->magnitude + 2 * fabs(x)) * m->scale * fabs(gamma) + a * fabs((x - m->mean) * m->scale * gamma) +
                4 * fabs(want));
}

static void check_norm(const char *workload, const char *precision, unsigned rows, unsigned columns, bool centred,
                       unsigned spatial, unsigned groups, double eps)
{
    struct gpu_example x;
    if (example_start(&x, workload, precision, columns)) {
        double *in = example_values(&x, "x"), *out = example_values(&x, "out"), worst = 0;
        double *gamma = example_values(&x, "gamma"), *beta = centred ? example_values(&x, "beta") : NULL;
        for (unsigned r = 0; r < rows; r++) {
            const struct moments m = moments_of(in + (size_t)r * columns, columns, centred, eps);
            for (unsigned i = 0; i < columns; i++) {
                const size_t at = (size_t)r * columns + i, channel = (r % groups) * (columns / spatial) + i / spatial;
                const double want = (in[at] - m.mean) * m.scale * gamma[channel] + (beta ? beta[channel] : 0);
                const double bound =
                    norm_bound(&m, in[at], gamma[channel], want, columns) + (beta ? 2 * U * fabs(beta[channel]) : 0);
                const double ratio = fabs(out[at] - want) / (bound + rounding(&x, want));
                worst = !(ratio <= worst) ? ratio : worst;
            }
        }
        CHECK(worst <= 1, "%s %s: %g times the bound", workload, precision, worst);
        free(in);
        free(out);
        free(gamma);
        free(beta);
    }
    example_close(&x);
}

static void test_row_norms(void)
{
    static const char *const precisions[] = {"f32", "f16", "bf16"};
    for (unsigned i = 1; i < ROW_SHAPES; i++) {
        char workload[64];
        const unsigned rows = row_shapes[i][0], columns = row_shapes[i][1];
        snprintf(workload, sizeof workload, "layernorm:%ux%u,eps=0.001", rows, columns);
        check_norm(workload, precisions[i % 3], rows, columns, true, 1, 1, (double)0.001F);
        snprintf(workload, sizeof workload, "rmsnorm:%ux%u", rows, columns);
        check_norm(workload, precisions[(i + 1) % 3], rows, columns, false, 1, 1, (double)1e-5F);
    }
}

static void test_group_norms(void)
{
    static const unsigned shapes[][5] = {{2, 6, 5, 7, 3}, {1, 8, 4, 4, 2}, {3, 4, 9, 9, 4}, {1, 6, 40, 40, 1}, {2, 12, 3, 2, 2}};
    for (unsigned i = 0; i < ARRAY_COUNT(shapes); i++) {
        char workload[64];
        const unsigned *s = shapes[i], pixels = s[2] * s[3];
        snprintf(workload, sizeof workload, "groupnorm:n=%u,c=%u,h=%u,w=%u,groups=%u", s[0], s[1], s[2], s[3], s[4]);
        check_norm(workload, i % 2 ? "f16" : "f32", s[0] * s[4], s[1] / s[4] * pixels, true, pixels, s[4], (double)1e-5F);
    }
}

static void test_batch_norm(void)
{
    static const char *const precisions[] = {"f32", "f16", "bf16"};
    for (unsigned t = 0; t < 3; t++) {
        struct gpu_example x;
        if (example_start(&x, "batchnorm:n=2,c=5,h=7,w=9", precisions[t], t)) {
            double *in = example_values(&x, "x"), *out = example_values(&x, "out"), *mean = example_values(&x, "mean"), worst = 0;
            double *var = example_values(&x, "var"), *gamma = example_values(&x, "gamma"), *beta = example_values(&x, "beta");
            for (unsigned i = 0; i < 2 * 5 * 63; i++) {
                const unsigned c = i / 63 % 5;
                const double scaled = (in[i] - mean[c]) / sqrt(var[c] + (double)1e-5F) * gamma[c], want = scaled + beta[c];
                const double bound = U * (6 * fabs(scaled) + 2 * fabs(want)) + rounding(&x, want) + 0x1p-126;
                worst = fmax(worst, fabs(out[i] - want) / bound);
            }
            CHECK(worst <= 1, "%s: %g times the bound", precisions[t], worst);
            free(in);
            free(out);
            free(mean);
            free(var);
            free(gamma);
            free(beta);
        }
        example_close(&x);
    }
}

static void test_clean_under_checks(void)
{
    static const char *const workloads[] = {"softmax:3x700",
                                            "reduce:1x40000,op=norm2",
                                            "reduce:70x33,op=argmin,axis=0",
                                            "layernorm:5x77",
                                            "groupnorm:n=1,c=4,h=5,w=5,groups=2",
                                            "reduce:3x9000,op=argmax"};
    example_all_clean(workloads, ARRAY_COUNT(workloads), "f16");
}

static const struct suite_test tests[] = {
    {"reduce along rows", test_reduce_rows},
    {"reduce in two steps", test_reduce_parts},
    {"reduce down columns", test_reduce_columns},
    {"reduce several matrices", test_reduce_matrices},
    {"places of extremes: ties and NaN", test_places},
    {"softmax and its logarithm", test_softmax},
    {"softmax of far apart values", test_softmax_extremes},
    {"layernorm and rmsnorm", test_row_norms},
    {"groupnorm", test_group_norms},
    {"batchnorm", test_batch_norm},
    {"programs pass the device's checks", test_clean_under_checks},
};
SUITE_MAIN("gpu_kernels_reduce", tests)
