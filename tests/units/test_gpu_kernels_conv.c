/* Convolutions on the GPU, executed: against plain loops in double precision.
 *
 * Bounds, u = 2^-24, Q = sum |x w| of an element: direct and matrix (taps * channels + 4) u Q. Winograd: the transforms let
 * errors grow; (channels + 16) u times 0.5, 4, 8 (m = 2, 4, 6; observed, with a margin of two) times the largest Q of the whole
 * result.
 */
#include "isa/array_count.h"
#include "tests/units/gpu_library_example.h"

struct shape {
    int n, c, h, w, k, r, s, stride, pad, groups, dilation;
};

struct answer {
    double *value, *magnitude, most;
    size_t count;
};

static double one_output(const struct shape *p, const double *x, const double *weights, int k, int y0, int x0, double *magnitude)
{
    const int group_c = p->c / p->groups, first = k / (p->k / p->groups) * group_c;
    double sum = 0;
    *magnitude = 0;
    for (int c = 0; c < group_c; c++)
        for (int r = 0; r < p->r; r++)
            for (int s = 0; s < p->s; s++) {
                const int iy = y0 + r * p->dilation, ix = x0 + s * p->dilation;
                if (iy < 0 || ix < 0 || iy >= p->h || ix >= p->w)
                    continue;
                const double product =
                    x[((size_t)(first + c) * p->h + iy) * p->w + ix] * weights[((k * group_c + c) * p->r + r) * p->s + s];
                sum += product;
                *magnitude += fabs(product);
            }
    return sum;
}

static struct answer convolve(const struct shape *p, const double *x, const double *weights)
{
    const int out_h = (p->h + 2 * p->pad - (p->r - 1) * p->dilation - 1) / p->stride + 1;
    const int out_w = (p->w + 2 * p->pad - (p->s - 1) * p->dilation - 1) / p->stride + 1;
    struct answer a = {.count = (size_t)p->n * p->k * out_h * out_w};
    a.value = malloc(sizeof(double) * a.count);
    a.magnitude = malloc(sizeof(double) * a.count);
    size_t at = 0;
    for (int n = 0; n < p->n && a.value && a.magnitude; n++)
        for (int k = 0; k < p->k; k++)
            for (int y = 0; y < out_h; y++)
                for (int o = 0; o < out_w; o++, at++) {
                    const double *image = x + (size_t)n * p->c * p->h * p->w;
                    a.value[at] =
                        one_output(p, image, weights, k, y * p->stride - p->pad, o * p->stride - p->pad, &a.magnitude[at]);
                    a.most = fmax(a.most, a.magnitude[at]);
                }
    return a;
}

/* winograd: growth of errors, 0 for sums in order. */
static void check_conv(struct shape p, const char *more, const char *precision, double winograd, bool bias, bool relu)
{
    struct gpu_example x;
    char workload[192];
    snprintf(workload, sizeof workload, "conv2d:n=%d,c=%d,h=%d,w=%d,k=%d,r=%d,s=%d,stride=%d,pad=%d,groups=%d,dilation=%d%s%s%s",
             p.n, p.c, p.h, p.w, p.k, p.r, p.s, p.stride, p.pad, p.groups, p.dilation, bias ? ",bias=1" : "",
             relu ? ",act=relu" : "", more);
    if (example_start(&x, workload, precision, (uint64_t)(p.c * 7 + p.k))) {
        double *in = example_values(&x, "x"), *weights = example_values(&x, "weights"), *out = example_values(&x, "out"),
               worst = 0;
        double *b = bias ? example_values(&x, "bias") : NULL;
        struct answer a = convolve(&p, in, weights);
        CHECK(a.count == x.kernel.buffer[example_buffer(&x, "out")].count, "%s: size", workload);
        for (size_t i = 0; i < a.count; i++) {
            const double added = b ? b[i / (a.count / (size_t)(p.n * p.k)) % (size_t)p.k] : 0;
            const double sum = a.value[i] + added, want = relu ? fmax(sum, 0) : sum;
            const double terms = (double)p.c / p.groups * (winograd > 0 ? 1 : p.r * p.s);
            const double bound = winograd > 0 ? winograd * (terms + 16) * 0x1p-24 * a.most
                                              : (terms + 4) * 0x1p-24 * (a.magnitude[i] + fabs(added));
            const double rounding = x.request.type == GPU_F32 ? 0 : 1.01 * example_epsilon(x.request.type) * fabs(want);
            const double ratio = fabs(out[i] - want) / (bound + rounding + 0x1p-25);
            worst = !(ratio <= worst) ? ratio : worst;
        }
        CHECK(worst <= 1, "%s %s: %g times the bound", workload, precision, worst);
        free(in);
        free(weights);
        free(out);
        free(b);
        free(a.value);
        free(a.magnitude);
    }
    example_close(&x);
}

static const char *const precisions[] = {"f32", "f16", "bf16"};

static const struct shape shapes[] = {
    {1, 8, 8, 8, 16, 3, 3, 1, 1, 1, 1},    {1, 16, 7, 9, 33, 3, 3, 1, 1, 1, 1}, {2, 3, 15, 13, 9, 7, 7, 2, 3, 1, 1},
    {1, 20, 6, 5, 40, 1, 1, 1, 0, 1, 1},   {2, 64, 7, 7, 70, 1, 1, 1, 0, 1, 1}, {1, 24, 9, 11, 17, 1, 1, 2, 0, 1, 1},
    {1, 12, 12, 10, 24, 3, 3, 2, 1, 3, 1}, {1, 9, 14, 12, 8, 3, 3, 1, 2, 1, 2}, {1, 11, 9, 8, 13, 5, 3, 1, 0, 1, 1},
    {3, 5, 4, 4, 10, 3, 1, 1, 1, 1, 1},    {1, 33, 3, 3, 8, 3, 3, 1, 1, 1, 1},  {1, 40, 1, 9, 12, 1, 1, 1, 0, 1, 1},
    {1, 16, 3, 3, 8, 3, 3, 1, 0, 1, 1},    {1, 17, 1, 1, 9, 1, 1, 1, 0, 1, 1},
};
enum { SHAPES = ARRAY_COUNT(shapes) };

static void test_matrix(void)
{
    for (unsigned i = 0; i < SHAPES; i++)
        for (unsigned t = 0; t < 3; t++)
            check_conv(shapes[i], ",algo=matrix", precisions[t], 0, i % 2, i % 3 == 1);
}

static void test_direct(void)
{
    for (unsigned i = 0; i < SHAPES; i++)
        check_conv(shapes[i], ",algo=direct", precisions[i % 3], 0, i % 2 == 0, i % 3 == 0);
}

static void test_thin_groups(void)
{
    check_conv((struct shape){2, 10, 9, 7, 10, 3, 3, 1, 1, 10, 1}, "", "f32", 0, true, true);
    check_conv((struct shape){1, 6, 12, 12, 12, 5, 5, 2, 2, 6, 1}, "", "f16", 0, false, false);
    check_conv((struct shape){1, 8, 9, 9, 12, 3, 3, 1, 3, 4, 3}, "", "bf16", 0, true, false);
    check_conv((struct shape){1, 7, 65, 70, 7, 3, 3, 1, 1, 7, 1}, "", "f32", 0, false, false);
}

static void test_winograd(void)
{
    static const struct shape some[] = {{1, 8, 5, 5, 16, 3, 3, 1, 1, 1, 1},
                                        {2, 19, 13, 11, 9, 3, 3, 1, 1, 1, 1},
                                        {1, 40, 14, 15, 33, 3, 3, 1, 0, 1, 1},
                                        {1, 3, 21, 30, 5, 3, 3, 1, 2, 1, 1}};
    for (unsigned i = 0; i < 4; i++)
        for (unsigned t = 0; t < 3; t++) {
            check_conv(some[i], ",algo=winograd2", precisions[t], 0.5, i % 2, t == 0);
            check_conv(some[i], ",algo=winograd4", precisions[t], 4, i % 2, t == 1);
            check_conv(some[i], ",algo=winograd6", precisions[t], 8, i % 2 == 0, t == 2);
        }
}

/* Packed beforehand or not: the same launches, of which the first one belongs to loading where there is one. */
static void test_packed(void)
{
    static const struct {
        const char *algo;
        unsigned steps, loading;
    } cases[] = {{"direct", 1, 0}, {"matrix", 2, 1}, {"winograd4", 4, 1}};
    for (unsigned i = 0; i < 2 * ARRAY_COUNT(cases); i++) {
        struct gpu_kernel_request request = {.generation = GPU_G13, .cores = 8};
        struct gpu_kernel kernel = {.steps = 0};
        struct isa_error error = {0};
        char text[80];
        const unsigned c = i / 2, packed = i % 2;
        snprintf(text, sizeof text, "conv2d:c=16,h=9,w=9,k=16,algo=%s,packed=%u", cases[c].algo, packed);
        CHECK(gpu_kernel_parse(text, NULL, &request, &error) && gpu_kernel_build(&request, &kernel, &error), "%s: %s", text,
              error.text);
        CHECK(kernel.steps == cases[c].steps && kernel.loading_steps == (packed ? cases[c].loading : 0),
              "%s: %u of %u steps before the run", text, kernel.loading_steps, kernel.steps);
        gpu_kernel_free(&kernel);
    }
}

static void test_texts(void)
{
    example_refused("conv2d:c=8,h=5,w=5", NULL, "k is missing");
    example_refused("conv2d:c=8,h=5,w=5,k=9,groups=4", NULL, "multiples of groups");
    example_refused("conv2d:c=8,h=5,w=5,k=8,r=7,s=7", NULL, "do not fit");
    example_refused("conv2d:c=8,h=5,w=5,k=8,act=add", NULL, "one operand");
    example_refused("conv2d:c=8,h=5,w=5,k=8,r=1,s=1,algo=winograd4", NULL, "wants r=3");
    example_refused("conv2d:c=65536,h=5,w=5000,k=65536", NULL, "2^31");
}

static void test_clean_under_checks(void)
{
    static const char *const workloads[] = {"conv2d:c=11,h=9,w=9,k=12,pad=1,bias=1", "conv2d:c=5,h=9,w=9,k=5,groups=5,pad=1",
                                            "conv2d:c=32,h=16,w=16,k=64,pad=1,algo=winograd2",
                                            "conv2d:c=16,h=7,w=7,k=33,r=1,s=1"};
    example_all_clean(workloads, ARRAY_COUNT(workloads), "f16");
}

static const struct suite_test tests[] = {
    {"conv2d by matrices", test_matrix},
    {"conv2d per element", test_direct},
    {"depthwise and thin groups", test_thin_groups},
    {"winograd", test_winograd},
    {"weights that are packed beforehand", test_packed},
    {"shapes that cannot be are explained", test_texts},
    {"programs pass the device's checks", test_clean_under_checks},
};
SUITE_MAIN("gpu_kernels_conv", tests)
