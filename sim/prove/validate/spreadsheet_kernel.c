/* Flop and bytes of kernels by their shapes: a multiply-add is two, and each tensor is touched once. */
#include "isa/array_count.h"
#include "sim/prove/validate/spreadsheet.h"

#include <stdlib.h>
#include <string.h>

/* "gemm:64x32x16,batch=2,tb=1" */
struct shape {
    double size[4];
    unsigned sizes;
    const char *options; /* behind the sizes, or all of it where there are none */
};

static double element_bytes(const char *precision)
{
    static const struct {
        const char *name;
        double bytes;
    } types[] = {{"f64", 8},          {"f32", 4},          {"i32", 4}, {"f16", 2},  {"bf16", 2},
                 {"q8_0", 34.0 / 32}, {"q4_0", 18.0 / 32}, {"i8", 1},  {"i4", 0.5}, {"p6", 0.75}};
    for (size_t i = 0; i < ARRAY_COUNT(types); i++)
        if (strcmp(types[i].name, precision) == 0)
            return types[i].bytes;
    return 2; /* the Neural Engine's own */
}

static struct shape read_shape(const char *text)
{
    struct shape s = {.options = text};
    while (s.sizes < ARRAY_COUNT(s.size)) {
        char *end;
        const double size = strtod(s.options, &end);
        if (end == s.options)
            break;
        s.size[s.sizes++] = size;
        s.options = end;
        if (*end != 'x')
            break;
        s.options++;
    }
    return s;
}

/* The number behind "name=", else `otherwise`. */
static double option(const struct shape *s, const char *name, double otherwise)
{
    const size_t length = strlen(name);
    for (const char *at = s->options; at && *at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return strtod(at + length + 1, NULL);
    }
    return otherwise;
}

/* Activations and results are never in fewer bytes than half precision. */
static double value_bytes(double element)
{
    return element < 2 ? 2 : element;
}

static bool product(const struct shape *s, double element, struct spreadsheet_work *w)
{
    const double batch = option(s, "batch", 1), m = s->size[0], n = s->size[1], k = s->size[2];
    *w = (struct spreadsheet_work){2 * batch * m * n * k, batch * (element * k * n + value_bytes(element) * (m * k + m * n))};
    return s->sizes == 3;
}

static bool product_of_vector(const struct shape *s, double element, struct spreadsheet_work *w)
{
    const double m = s->size[0], n = s->size[1];
    *w = (struct spreadsheet_work){2 * m * n, element * m * n + value_bytes(element) * (m + n)};
    return s->sizes == 2;
}

static bool convolution(const struct shape *s, double element, struct spreadsheet_work *w)
{
    const double n = option(s, "n", 1), c = option(s, "c", 0), h = option(s, "h", 0), x = option(s, "w", 0);
    const double k = option(s, "k", c), r = option(s, "r", 3), t = option(s, "s", r), pad = option(s, "pad", 0);
    const double stride = option(s, "stride", 1), groups = option(s, "groups", 1);
    const double oh = (double)(long)((h + 2 * pad - r) / stride) + 1, ow = (double)(long)((x + 2 * pad - t) / stride) + 1;
    *w = (struct spreadsheet_work){2 * n * k * oh * ow * r * t * c / groups,
                                   element * k * c * r * t / groups + value_bytes(element) * n * (c * h * x + k * oh * ow)};
    return c > 0 && h > 0 && x > 0;
}

/* Layers of as many output as input channels, with padding; what lies between them need not leave the engine. */
static bool stack(const struct shape *s, double element, struct spreadsheet_work *w)
{
    const double layers = option(s, "layers", 1), c = option(s, "c", 0), pixels = option(s, "h", 0) * option(s, "w", 0);
    const double taps = option(s, "r", 3) * option(s, "s", option(s, "r", 3));
    *w = (struct spreadsheet_work){2 * layers * c * c * taps * pixels,
                                   layers * element * c * c * taps + value_bytes(element) * 2 * c * pixels};
    return c > 0 && pixels > 0;
}

static bool attention(const struct shape *s, double element, struct spreadsheet_work *w)
{
    const double heads = option(s, "b", 1) * option(s, "h", 1), length = option(s, "s", 0), depth = option(s, "d", 0);
    *w = (struct spreadsheet_work){4 * heads * length * length * depth, element * 4 * heads * length * depth};
    return length > 0 && depth > 0;
}

/* Elements in and out. */
static bool elementwise(const struct shape *s, double element, struct spreadsheet_work *w)
{
    *w = (struct spreadsheet_work){0, 2 * element * s->size[0]};
    return s->sizes == 1;
}

static bool by_rows(const struct shape *s, double element, struct spreadsheet_work *w)
{
    *w = (struct spreadsheet_work){0, 2 * element * s->size[0] * s->size[1]};
    return s->sizes == 2;
}

static bool reduction(const struct shape *s, double element, struct spreadsheet_work *w)
{
    const bool columns = option(s, "axis", 1) == 0;
    *w = (struct spreadsheet_work){0, element * option(s, "batch", 1) * (s->size[0] * s->size[1] + s->size[columns ? 1 : 0])};
    return s->sizes == 2;
}

/* The size of a stream is that of an array in bytes. */
static bool copy(const struct shape *s, double element, struct spreadsheet_work *w)
{
    (void)element;
    *w = (struct spreadsheet_work){0, 2 * s->size[0]};
    return s->sizes == 1;
}

static bool triad(const struct shape *s, double element, struct spreadsheet_work *w)
{
    (void)element;
    *w = (struct spreadsheet_work){0, 3 * s->size[0]};
    return s->sizes == 1;
}

bool spreadsheet_kernel(const char *workload, const char *precision, double times, struct spreadsheet_work *work)
{
    static const struct {
        const char *name;
        bool (*count)(const struct shape *s, double element, struct spreadsheet_work *w);
    } kernels[] = {{"gemm", product},        {"gemv", product_of_vector},  {"conv2d", convolution}, {"conv-stack", stack},
                   {"attention", attention}, {"elementwise", elementwise}, {"softmax", by_rows},    {"reduce", reduction},
                   {"copy", copy},           {"stream-triad", triad}};
    const size_t name = strcspn(workload, ":");
    for (size_t i = 0; workload[name] && i < ARRAY_COUNT(kernels); i++) {
        struct spreadsheet_work w;
        const struct shape shape = read_shape(workload + name + 1);
        if (strlen(kernels[i].name) != name || strncmp(kernels[i].name, workload, name) != 0)
            continue;
        if (!kernels[i].count(&shape, element_bytes(precision), &w))
            return false;
        work->flop += times * w.flop;
        work->bytes += times * w.bytes;
        return true;
    }
    return false;
}
