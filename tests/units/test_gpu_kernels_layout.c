/* Kernels that move, order or add up elements, executed: against plain loops on the host. Moves and sorts are exact. */
#include "isa/array_count.h"
#include "tests/units/gpu_library_example.h"

static const char *const all_types[] = {"f32", "f16", "bf16", "i32", "u32", "u8"};

/* ---- moves: out[i] must be from[source(i)], or `filler` where source is -1 ---- */

typedef long source_of(const long *shape, long i);

static void check_move(const char *workload, const char *precision, const char *from, const long *shape, source_of *source,
                       double filler)
{
    struct gpu_example x;
    if (example_start(&x, workload, precision, 11)) {
        double *in = example_values(&x, from), *out = example_values(&x, "out");
        const uint64_t count = x.kernel.buffer[example_buffer(&x, "out")].count;
        uint64_t wrong = 0;
        for (uint64_t i = 0; i < count; i++) {
            const long at = source(shape, (long)i);
            wrong += out[i] != (at < 0 ? filler : in[at]);
        }
        CHECK(wrong == 0, "%s %s: %llu of %llu", workload, precision, (unsigned long long)wrong, (unsigned long long)count);
        free(in);
        free(out);
    }
    example_close(&x);
}

static long transposed(const long *s, long i)
{
    const long size = s[0] * s[1], at = i % size;
    return i / size * size + at % s[0] * s[1] + at / s[0];
}

static void test_transpose(void)
{
    static const long shapes[][3] = {{1, 1, 1}, {32, 32, 1}, {33, 31, 1}, {5, 70, 2}, {100, 3, 1}, {65, 64, 3}};
    for (unsigned i = 0; i < ARRAY_COUNT(shapes); i++)
        for (unsigned t = 0; t < 6; t++) {
            char workload[64];
            snprintf(workload, sizeof workload, "transpose:%ldx%ld,batch=%ld", shapes[i][0], shapes[i][1], shapes[i][2]);
            check_move(workload, all_types[t], "x", shapes[i], transposed, 0);
        }
}

static long windowed(const long *s, long i)
{
    const long row = i / s[3] + s[4], column = i % s[3] + s[5];
    return row < 0 || column < 0 || row >= s[0] || column >= s[1] ? -1 : row * s[1] + column;
}

static void test_pad_and_slice(void)
{
    static const long shapes[][6] = {{7, 9, 10, 16, -1, -3}, {1, 1, 5, 4, -2, -1}, {40, 33, 40, 33, 0, 0}};
    static const long cuts[][6] = {{7, 9, 3, 4, 2, 5}, {30, 300, 30, 1, 0, 299}};
    for (unsigned t = 0; t < 6; t++) {
        char workload[96];
        for (unsigned i = 0; i < 3; i++) {
            const long *s = shapes[i];
            snprintf(workload, sizeof workload, "pad:%ldx%ld,top=%ld,bottom=%ld,left=%ld,right=%ld,value=3", s[0], s[1], -s[4],
                     s[2] - s[0] + s[4], -s[5], s[3] - s[1] + s[5]);
            check_move(workload, all_types[t], "x", s, windowed, 3);
        }
        for (unsigned i = 0; i < 2; i++) {
            const long *s = cuts[i];
            snprintf(workload, sizeof workload, "slice:%ldx%ld,row=%ld,column=%ld,h=%ld,w=%ld", s[0], s[1], s[4], s[5], s[2],
                     s[3]);
            check_move(workload, all_types[t], "x", s, windowed, 0);
        }
    }
}

static void check_concat(const long *s, const char *precision)
{
    struct gpu_example x;
    char workload[64];
    snprintf(workload, sizeof workload, "concat:%ldx%ldx%ld,c=%ld,d=%ld", s[0], s[1], s[2], s[3], s[4]);
    if (example_start(&x, workload, precision, 5)) {
        double *out = example_values(&x, "out");
        const long all = s[1] + s[2] + s[3] + s[4];
        long first = 0;
        for (unsigned input = 0; input < 4; input++) {
            const char name[2] = {(char)('a' + input), '\0'};
            const long width = s[1 + input];
            double *in = width ? example_values(&x, name) : NULL;
            unsigned wrong = 0;
            for (long i = 0; i < s[0] * width; i++)
                wrong += out[i / width * all + first + i % width] != in[i];
            CHECK(wrong == 0, "%s %s: %u of input %u", workload, precision, wrong, input);
            first += width;
            free(in);
        }
        free(out);
    }
    example_close(&x);
}

static void test_concat(void)
{
    static const long shapes[][5] = {{1, 3, 4, 0, 0}, {10, 8, 12, 0, 0}, {7, 5, 1, 9, 0}, {33, 4, 8, 3, 20}};
    for (unsigned i = 0; i < ARRAY_COUNT(shapes); i++)
        for (unsigned t = 0; t < 6; t++)
            check_concat(shapes[i], all_types[t]);
}

/* Indices beyond the table give zeros and touch nothing. */
static void check_gather(unsigned rows, unsigned columns, unsigned count, const char *precision)
{
    struct gpu_example x;
    char workload[64];
    snprintf(workload, sizeof workload, "gather:%ux%ux%u", rows, columns, count);
    bool ok = example_open(&x, workload, precision, 8);
    uint8_t *index_bytes = NULL;
    if (ok) {
        example_fill(&x, 2);
        index_bytes = example_bytes(&x, example_buffer(&x, "index"));
    }
    for (unsigned i = 1; index_bytes && i < count; i += 5)
        example_put(index_bytes, GPU_U32, i, i % 2 ? rows : 4294967295.0);
    ok = ok && example_run(&x, false);
    CHECK(ok, "%s: %s", workload, x.text);
    if (ok) {
        double *table = example_values(&x, "table"), *index = example_values(&x, "index"), *out = example_values(&x, "out");
        unsigned wrong = 0;
        for (unsigned i = 0; i < count * columns; i++) {
            const double row = index[i / columns];
            wrong += out[i] != (row < rows ? table[(size_t)row * columns + i % columns] : 0);
        }
        CHECK(wrong == 0, "%s %s: %u", workload, precision, wrong);
        free(table);
        free(index);
        free(out);
    }
    example_close(&x);
}

static void test_gather(void)
{
    for (unsigned t = 0; t < 6; t++) {
        check_gather(50, 64, 9, all_types[t]);
        check_gather(7, 5, 300, all_types[t]);
        check_gather(1, 1, 2, all_types[t]);
    }
}

/* ---- sort ---- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void check_sort(unsigned rows, unsigned columns, int descending, const char *precision)
{
    struct gpu_example x;
    char workload[64];
    snprintf(workload, sizeof workload, "sort:%ux%u,descending=%d", rows, columns, descending);
    if (example_start(&x, workload, precision, columns)) {
        double *in = example_values(&x, "x"), *out = example_values(&x, "out");
        unsigned wrong = 0;
        for (unsigned r = 0; r < rows; r++) {
            qsort(in + (size_t)r * columns, columns, sizeof *in, compare);
            for (unsigned i = 0; i < columns; i++)
                wrong += out[(size_t)r * columns + i] != in[(size_t)r * columns + (descending ? columns - 1 - i : i)];
        }
        CHECK(wrong == 0, "%s %s: %u", workload, precision, wrong);
        free(in);
        free(out);
    }
    example_close(&x);
}

static void test_sort(void)
{
    static const unsigned shapes[][2] = {{1, 1},    {3, 2},    {5, 7},    {2, 64},    {3, 1000},
                                         {2, 1025}, {1, 4096}, {1, 4097}, {2, 20000}, {1, 70000}};
    for (unsigned i = 0; i < ARRAY_COUNT(shapes); i++) {
        check_sort(shapes[i][0], shapes[i][1], 0, all_types[i % 5]);
        check_sort(shapes[i][0], shapes[i][1], 1, all_types[(i + 2) % 5]);
    }
    check_sort(1, 300000, 0, "f32");
}

/* Signed zeros and infinities have their places, NaN stands last. */
static void test_sort_specials(void)
{
    static const double values[6] = {INFINITY, 3, NAN, -INFINITY, 0.0, -2};
    static const double sorted[5] = {-INFINITY, -2, 0.0, 3, INFINITY};
    struct gpu_example x;
    bool ok = example_open(&x, "sort:1x6", "f32", 8);
    uint8_t *in = ok ? example_bytes(&x, 0) : NULL;
    for (unsigned i = 0; in && i < 6; i++)
        example_put(in, GPU_F32, i, values[i]);
    ok = ok && example_run(&x, false);
    double *out = ok ? example_values(&x, "out") : NULL;
    CHECK(out && isnan(out[5]), "%s", x.text);
    for (unsigned i = 0; out && i < 5; i++)
        CHECK(out[i] == sorted[i], "%g at %u", out[i], i);
    free(out);
    example_close(&x);
}

/* ---- scan: bound as of sums, at most columns / threads + 70 additions behind a term (see the suite of reductions) ---- */

static void check_scan(unsigned rows, unsigned columns, int exclusive, const char *precision)
{
    struct gpu_example x;
    char workload[64];
    snprintf(workload, sizeof workload, "scan:%ux%u,exclusive=%d", rows, columns, exclusive);
    if (example_start(&x, workload, precision, columns)) {
        double *in = example_values(&x, "x"), *out = example_values(&x, "out"), worst = 0;
        const bool whole = x.request.type >= GPU_I32;
        for (unsigned r = 0; r < rows; r++) {
            double sum = 0, magnitude = 0;
            for (unsigned i = 0; i < columns; i++) {
                const size_t at = (size_t)r * columns + i;
                const double next = sum + in[at], want = exclusive ? sum : next;
                magnitude += fabs(in[at]);
                const double rounding =
                    x.request.type == GPU_F32 ? 0 : 1.01 * example_epsilon(x.request.type) * fabs(want) + 0x1p-25;
                const double bound = whole ? 0 : (columns / 512.0 + 72) * 0x1p-24 * magnitude + rounding;
                worst = fmax(worst, out[at] == want ? 0 : fabs(out[at] - want) / (bound + 1e-300));
                sum = next;
            }
        }
        CHECK(worst <= 1, "%s %s: %g times the bound", workload, precision, worst);
        free(in);
        free(out);
    }
    example_close(&x);
}

static void test_scan(void)
{
    static const unsigned shapes[][2] = {{1, 1},   {3, 31},   {2, 32},   {5, 33},    {4, 511},
                                         {3, 513}, {2, 1024}, {2, 5001}, {1, 40000}, {3, 30001}};
    for (unsigned i = 0; i < ARRAY_COUNT(shapes); i++)
        for (unsigned t = 0; t < 5; t++)
            check_scan(shapes[i][0], shapes[i][1], (int)(i + t) % 2, all_types[t]);
}

/* ---- between numbers and integers ---- */

struct conversion {
    const char *shape;
    char from, to; /* n = number, u, i = bytes, w = words */
    long channels, inner;
    bool bias;
};

static double as_byte(double byte, char type)
{
    return type == 'i' && byte > 127 ? byte - 256 : byte;
}

static double converted(const struct conversion *c, double x, double scale, double zero, double offset, double bias)
{
    const double value = c->from == 'n' ? x / scale : (as_byte(x, c->from) - zero) * scale;
    const double low = c->to == 'u' ? 0 : c->to == 'i' ? -128 : -0x1p31, high = c->to == 'u' ? 255 : c->to == 'i' ? 127 : 0x1p31;
    return c->to == 'n' ? value + bias : fmin(fmax(nearbyint(value) + offset, low), high);
}

/* In single precision what lies half way may be rounded either way. */
static void check_conversion(const struct conversion *c)
{
    struct gpu_example x;
    uint64_t wrong = 0;
    if (!example_start(&x, c->shape, "f32", 13))
        return;
    double *const in = example_values(&x, "x"), *const scale = example_values(&x, "scale"),
                  *const out = example_values(&x, "out");
    double *const zero = c->from == 'n' ? NULL : example_values(&x, "zero");
    double *const offset = c->to == 'n' ? NULL : example_values(&x, "offset");
    double *const bias = c->bias ? example_values(&x, "bias") : NULL;
    for (uint64_t i = 0; i < x.kernel.buffer[example_buffer(&x, "out")].count; i++) {
        const uint64_t k = i / (uint64_t)c->inner % (uint64_t)c->channels;
        const double want = converted(c, in[i], scale[k], zero ? zero[k] : 0, offset ? offset[k] : 0, bias ? bias[k] : 0);
        const double value = c->from == 'n' ? in[i] / scale[k] : want, half = fabs(fabs(value - floor(value)) - 0.5);
        const double bound = c->to == 'n' ? 0x1p-21 * (fabs(want) + 1) : c->from == 'n' && half < 1e-4 ? 1 : 0;
        wrong += fabs(as_byte(out[i], c->to) - want) > bound;
    }
    CHECK(wrong == 0, "%s: %llu elements are wrong", c->shape, (unsigned long long)wrong);
    free(in);
    free(scale);
    free(out);
    free(zero);
    free(offset);
    free(bias);
    example_close(&x);
}

static void test_convert(void)
{
    static const struct conversion cases[] = {{"convert:1,to=u8", 'n', 'u', 1, 1, false},
                                              {"convert:1030,to=u8", 'n', 'u', 1, 1, false},
                                              {"convert:1023,to=i8", 'n', 'i', 1, 1, false},
                                              {"convert:640,to=i32,channels=64", 'n', 'w', 64, 1, false},
                                              {"convert:105,to=u8,channels=5,inner=7", 'n', 'u', 5, 7, false},
                                              {"convert:51,to=i8,channels=17", 'n', 'i', 17, 1, false},
                                              {"convert:513,from=u8", 'u', 'n', 1, 1, false},
                                              {"convert:240,from=i8,channels=3,inner=20,bias=1", 'i', 'n', 3, 20, true},
                                              {"convert:96,from=i32,channels=32,bias=1", 'w', 'n', 32, 1, true}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        check_conversion(&cases[i]);
    example_refused("convert:8", "f32", "is missing");
    example_refused("convert:8,to=u8,channels=3", "f32", "multiple of channels times inner");
}

static void test_texts(void)
{
    example_refused("pad:100000x100000", NULL, "2^31");
    example_refused("slice:4x4,row=2,h=3,w=1", NULL, "beyond");
    example_refused("gather:4x4", NULL, "count is missing");
}

static void test_clean_under_checks(void)
{
    static const char *const workloads[] = {
        "transpose:33x40", "concat:5x4x3,c=2", "gather:20x7x9",     "pad:5x5,top=1,left=2",
        "sort:2x9000",     "scan:2x20000",     "convert:333,to=u8", "convert:80,from=i8,channels=5,inner=4,bias=1"};
    example_all_clean(workloads, ARRAY_COUNT(workloads), "f16");
}

static const struct suite_test tests[] = {
    {"transpose", test_transpose},
    {"pad and slice", test_pad_and_slice},
    {"concat", test_concat},
    {"gather", test_gather},
    {"sort", test_sort},
    {"sort: infinities and NaN", test_sort_specials},
    {"scan", test_scan},
    {"numbers from and to integers", test_convert},
    {"workloads that cannot be are explained", test_texts},
    {"programs pass the device's checks", test_clean_under_checks},
};
SUITE_MAIN("gpu_kernels_layout", tests)
