/* Pooling and resizing on the GPU, executed: against plain loops in double precision. Largest elements and nearest neighbours are
 * exact; means of q elements are within (q + 4) u mean |x| (global ones as in the suite of reductions), bilinear
 * values within 16 u max |x|; u = 2^-24; results in 16 bits take one more rounding. */
#include "isa/array_count.h"
#include "tests/units/gpu_library_example.h"

#define U 0x1p-24

static const char *const precisions[] = {"f32", "f16", "bf16"};

static double rounding(const struct gpu_example *x, double want)
{
    return x->request.type == GPU_F32 ? 0 : 1.01 * example_epsilon(x->request.type) * fabs(want) + 0x1p-25;
}

struct window {
    int planes, h, w, r, s, stride, pad, average, include_pad;
};

static double pool_one(const struct window *p, const double *plane, int y0, int x0, double *bound)
{
    double most = -INFINITY, sum = 0, magnitude = 0;
    int count = 0;
    for (int y = y0; y < y0 + p->r; y++)
        for (int x = x0; x < x0 + p->s; x++) {
            if (y < 0 || x < 0 || y >= p->h || x >= p->w)
                continue;
            const double value = plane[y * p->w + x];
            most = fmax(most, value);
            sum += value;
            magnitude += fabs(value);
            count++;
        }
    const int divisor = p->include_pad ? p->r * p->s : count;
    *bound = p->average ? (count + 4) * U * magnitude / divisor : 0;
    return p->average ? sum / divisor : most;
}

static void check_pool(struct window p, const char *precision)
{
    struct gpu_example x;
    char workload[160];
    snprintf(workload, sizeof workload, "pool:n=1,c=%d,h=%d,w=%d,r=%d,s=%d,stride=%d,pad=%d,op=%s,include_pad=%d", p.planes, p.h,
             p.w, p.r, p.s, p.stride, p.pad, p.average ? "avg" : "max", p.include_pad);
    if (example_start(&x, workload, precision, 3)) {
        double *in = example_values(&x, "x"), *out = example_values(&x, "out"), worst = 0;
        const int out_h = (p.h + 2 * p.pad - p.r) / p.stride + 1, out_w = (p.w + 2 * p.pad - p.s) / p.stride + 1;
        CHECK(x.kernel.buffer[1].count == (uint64_t)p.planes * (uint64_t)(out_h * out_w), "%s: size", workload);
        for (int i = 0; i < p.planes * out_h * out_w; i++) {
            const int plane = i / (out_h * out_w), pixel = i % (out_h * out_w);
            double bound;
            const double want =
                pool_one(&p, in + plane * p.h * p.w, pixel / out_w * p.stride - p.pad, pixel % out_w * p.stride - p.pad, &bound);
            const double ratio =
                out[i] == want ? 0 : fabs(out[i] - want) / (bound + (p.average ? rounding(&x, want) : 0) + 1e-300);
            worst = !(ratio <= worst) ? ratio : worst;
        }
        CHECK(worst <= 1, "%s %s: %g times the bound", workload, precision, worst);
        free(in);
        free(out);
    }
    example_close(&x);
}

static void test_pool(void)
{
    static const int shapes[][7] = {
        {3, 8, 8, 2, 2, 2, 0}, {2, 13, 11, 3, 3, 2, 1}, {4, 7, 9, 3, 2, 1, 1}, {1, 33, 65, 5, 5, 3, 2}, {2, 1, 1, 1, 1, 1, 0}};
    for (unsigned i = 0; i < ARRAY_COUNT(shapes); i++)
        for (int kind = 0; kind < 3; kind++) {
            const int *s = shapes[i];
            check_pool((struct window){s[0], s[1], s[2], s[3], s[4], s[5], s[6], kind > 0, kind > 1},
                       precisions[(i + (unsigned)kind) % 3]);
        }
}

static void test_global(void)
{
    static const char *const workloads[] = {"globalpool:n=2,c=5,h=7,w=7", "globalpool:c=3,h=40,w=41",
                                            "globalpool:c=3,h=19,w=3,op=max"};
    static const unsigned planes[][2] = {{10, 49}, {3, 1640}, {3, 57}};
    for (unsigned t = 0; t < 3; t++) {
        struct gpu_example x;
        if (example_start(&x, workloads[t], precisions[t], 4)) {
            double *in = example_values(&x, "x"), *out = example_values(&x, "out"), worst = 0;
            for (unsigned i = 0; i < planes[t][0]; i++) {
                double sum = 0, magnitude = 0, most = -INFINITY;
                for (unsigned k = 0; k < planes[t][1]; k++) {
                    sum += in[i * planes[t][1] + k];
                    magnitude += fabs(in[i * planes[t][1] + k]);
                    most = fmax(most, in[i * planes[t][1] + k]);
                }
                const double want = t == 2 ? most : sum / planes[t][1],
                             bound = 80 * U * magnitude / planes[t][1] + rounding(&x, want);
                worst = fmax(worst, fabs(out[i] - want) / bound);
            }
            CHECK(worst <= 1, "%s: %g times the bound", workloads[t], worst);
            free(in);
            free(out);
        }
        example_close(&x);
    }
}

/* ---- resize ---- */

static double place_of(int o, int in, int out, int align)
{
    return align ? (out > 1 ? (double)o * (in - 1) / (out - 1) : 0) : fmax((o + 0.5) * in / out - 0.5, 0);
}

static double bilinear(const double *plane, int h, int w, double y, double x)
{
    const int y0 = (int)y, x0 = (int)x, y1 = y0 + 1 < h ? y0 + 1 : h - 1, x1 = x0 + 1 < w ? x0 + 1 : w - 1;
    const double fy = y - y0, fx = x - x0;
    return (1 - fy) * ((1 - fx) * plane[y0 * w + x0] + fx * plane[y0 * w + x1]) +
           fy * ((1 - fx) * plane[y1 * w + x0] + fx * plane[y1 * w + x1]);
}

static void check_resize(const int *s, bool linear, int align, const char *precision)
{
    struct gpu_example x;
    char workload[128];
    const int h = s[0], w = s[1], oh = s[2], ow = s[3];
    snprintf(workload, sizeof workload, "resize:c=2,h=%d,w=%d,oh=%d,ow=%d,mode=%s,align=%d", h, w, oh, ow,
             linear ? "bilinear" : "nearest", align);
    if (example_start(&x, workload, precision, 3)) {
        double *in = example_values(&x, "x"), *out = example_values(&x, "out"), worst = 0;
        for (int i = 0; i < 2 * oh * ow; i++) {
            const double *plane = in + i / (oh * ow) * h * w;
            const int y = i / ow % oh, o = i % ow;
            const double want = linear ? bilinear(plane, h, w, place_of(y, h, oh, align), place_of(o, w, ow, align))
                                       : plane[y * h / oh * w + o * w / ow];
            const double bound = linear ? 16 * U + rounding(&x, want) : 1e-300;
            worst = fmax(worst, fabs(out[i] - want) / bound);
        }
        CHECK(worst <= 1, "%s %s: %g times the bound", workload, precision, worst);
        free(in);
        free(out);
    }
    example_close(&x);
}

static void test_resize(void)
{
    static const int shapes[][4] = {{4, 4, 8, 8}, {7, 5, 13, 20}, {20, 31, 9, 11}, {1, 1, 3, 5}, {6, 9, 6, 9}, {5, 8, 1, 1}};
    for (unsigned i = 0; i < ARRAY_COUNT(shapes); i++) {
        check_resize(shapes[i], false, 0, precisions[i % 3]);
        check_resize(shapes[i], true, 0, precisions[(i + 1) % 3]);
        check_resize(shapes[i], true, 1, precisions[(i + 2) % 3]);
    }
}

static void test_clean_under_checks(void)
{
    static const char *const workloads[] = {"pool:c=3,h=9,w=9,r=3,s=3,pad=1,op=avg",
                                            "resize:c=2,h=5,w=5,oh=11,ow=7,mode=bilinear", "globalpool:c=3,h=20,w=20"};
    example_all_clean(workloads, ARRAY_COUNT(workloads), "f16");
}

static const struct suite_test tests[] = {
    {"pool", test_pool},
    {"globalpool", test_global},
    {"resize", test_resize},
    {"programs pass the device's checks", test_clean_under_checks},
};
SUITE_MAIN("gpu_kernels_pool", tests)
