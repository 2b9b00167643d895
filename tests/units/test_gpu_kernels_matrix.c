/* GPU kernels around matrices, executed: against plain loops in double precision. Bounds are the worst case of float32 sums: k
 * products of relative error (1 + u)^k, u = 2^-24, and one rounding to the type of the result. */
#include "isa/array_count.h"
#include "tests/units/gpu_library_example.h"

static double *copy_of(const struct gpu_example *x, const char *name)
{
    return example_values(x, name);
}

/* ---- streams ---- */

static void check_stream(const char *workload, const char *precision, double a_factor, double b_factor)
{
    struct gpu_example x;
    if (example_start(&x, workload, precision, 7)) {
        const struct gpu_kernel_buffer *buffer = &x.kernel.buffer[example_buffer(&x, "out")];
        double *a = copy_of(&x, "a"), *b = b_factor != 0 ? copy_of(&x, "b") : NULL, *out = copy_of(&x, "out");
        uint64_t wrong = 0;
        for (uint64_t i = 0; i < buffer->count; i++) {
            const double want = a_factor * a[i] + (b ? b_factor * b[i] : 0);
            const double bound =
                (fabs(a_factor * a[i]) + (b ? fabs(b_factor * b[i]) : 0)) * 2 * example_epsilon(x.request.type) + 0x1p-25;
            wrong += !(fabs(out[i] - want) <= bound);
        }
        CHECK(wrong == 0, "%s %s: %llu of %llu", workload, precision, (unsigned long long)wrong,
              (unsigned long long)buffer->count);
        free(a);
        free(b);
        free(out);
    }
    example_close(&x);
}

static void test_streams(void)
{
    check_stream("stream-triad:4096", "f32", 1, 3);
    check_stream("stream-triad:4100,s=0.3", "f32", 1, (double)0.3F);
    check_stream("stream-triad:30002,s=-2", "f16", 1, -2);
    check_stream("stream-add:1004", "f32", 1, 1);
    check_stream("stream-add:2", "f16", 1, 1);
    check_stream("stream-scale:12,s=7.7", "f32", (double)7.7F, 0);
    check_stream("stream-scale:16398,s=0.5", "f16", 0.5, 0);
}

static void test_copies_bytes(void)
{
    static const unsigned sizes[] = {1, 15, 16, 17, 4096, 10001};
    for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
        struct gpu_example x;
        char workload[32];
        snprintf(workload, sizeof workload, "copy:%u", sizes[i]);
        const bool ok = example_start(&x, workload, "u8", 3);
        CHECK(ok && memcmp(example_bytes(&x, 0), example_bytes(&x, 1), sizes[i]) == 0, "%s", workload);
        example_close(&x);
    }
}

/* ---- gemm ---- */

struct product {
    int m, n, k, batch, ta, tb;
    double alpha, beta;
    uint32_t cores; /* what the tile is chosen for */
};

/* One element: value and the sum of magnitudes. */
static double exact_element(const struct product *p, const double *a, const double *b, int row, int column, double *magnitude)
{
    double sum = 0;
    *magnitude = 0;
    for (int i = 0; i < p->k; i++) {
        const double x = p->ta ? a[(long)i * p->m + row] : a[(long)row * p->k + i];
        const double y = p->tb ? b[(long)column * p->k + i] : b[(long)i * p->n + column];
        sum += x * y;
        *magnitude += fabs(x * y);
    }
    return sum;
}

static double worst_ratio(const struct gpu_example *x, const struct product *p, const double *old, bool gated)
{
    double *a = copy_of(x, "a"), *b = copy_of(x, "b"), *c = copy_of(x, "c"), worst = 0;
    double *d = gated ? copy_of(x, "d") : NULL;
    for (long t = 0; t < p->batch; t++)
        for (int row = 0; row < p->m; row++)
            for (int column = 0; column < p->n; column++) {
                const long at = (t * p->m + row) * p->n + column;
                double magnitude;
                const double sum = exact_element(p, a + t * p->m * p->k, b + t * p->k * p->n, row, column, &magnitude);
                const double less = d ? d[t * p->m + row] : 0;
                const double want =
                    d ? old[at] * (p->alpha * sum - less) : p->alpha * sum + (p->beta != 0 ? p->beta * old[at] : 0);
                const double all = (fabs(p->alpha) * magnitude + fabs(less)) * (d ? fabs(old[at]) : 1) +
                                   (p->beta != 0 ? fabs(p->beta * old[at]) : 0);
                const double bound = (p->k + 4) * 0x1p-24 * all + example_epsilon(x->request.type) * fabs(want) + 0x1p-25;
                const double ratio = fabs(c[at] - want) / bound;
                worst = !(ratio <= worst) ? ratio : worst;
            }
    free(a);
    free(b);
    free(c);
    free(d);
    return worst;
}

static void check_gemm(struct product p, const char *precision, const char *more)
{
    struct gpu_example x;
    char workload[128];
    snprintf(workload, sizeof workload, "gemm:%dx%dx%d,batch=%d,ta=%d,tb=%d,alpha=%g,beta=%g%s", p.m, p.n, p.k, p.batch, p.ta,
             p.tb, p.alpha, p.beta, more);
    const bool open = example_open(&x, workload, precision, p.cores);
    if (open)
        example_fill(&x, (uint64_t)(p.m * 31 + p.n * 7 + p.k));
    double *old = open ? copy_of(&x, "c") : NULL;
    const bool ok = open && example_run(&x, p.k % 2); /* both ways of executing: with all checks, and fast */
    CHECK(ok, "%s %s: %s", workload, precision, x.text);
    const double ratio = ok ? worst_ratio(&x, &p, old, strstr(more, "gate=1") != NULL) : 0;
    CHECK(ratio <= 1, "%s %s: %g times the bound", workload, precision, ratio);
    free(old);
    example_close(&x);
}

static void test_gemm_sizes(void)
{
    static const int sizes[][3] = {{64, 64, 64},  {128, 128, 32}, {1, 4, 1},    {7, 5, 3},    {33, 17, 16},   {65, 66, 31},
                                   {100, 70, 50}, {31, 129, 47},  {16, 32, 15}, {200, 4, 33}, {70, 131, 100}, {130, 67, 79}};
    static const char *const precisions[] = {"f32", "f16", "bf16"};
    for (unsigned t = 0; t < 3; t++)
        for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++)
            check_gemm((struct product){sizes[i][0], sizes[i][1], sizes[i][2], 1, 0, 0, 1, 0, 8}, precisions[t], "");
}

/* With one core to fill the largest tile is taken; all lengths of the pipeline over k, with and without a rest. */
static void test_gemm_large_tiles(void)
{
    static const char *const precisions[] = {"f32", "f16", "bf16"};
    for (unsigned t = 0; t < 3; t++)
        for (int k = 15; k < 180; k += 16)
            check_gemm((struct product){67, 70, k + (k / 16) % 2, 1, (k / 16) % 3 == 1, (k / 16) % 4 == 2, 1, 0, 1},
                       precisions[t], "");
    check_gemm((struct product){128, 192, 96, 1, 1, 1, 1, 0, 1}, "bf16", "");
    check_gemm((struct product){130, 640, 20, 2, 0, 0, 1, 0, 1}, "f16", ""); /* strips of columns */
    check_gemm((struct product){72, 770, 20, 1, 0, 1, 1, 0, 1}, "f32", "");
    check_gemm((struct product){96, 130, 400, 1, 0, 0, 1, 1, 1}, "f32", ",split=3");
}

static void test_gemm_transposes(void)
{
    for (int which = 1; which < 4; which++) {
        check_gemm((struct product){64, 64, 48, 1, which & 1, which >> 1, 1, 0, 8}, "f32", "");
        check_gemm((struct product){37, 45, 29, 1, which & 1, which >> 1, 1, 0, 8}, "f32", "");
        check_gemm((struct product){70, 90, 33, 1, which & 1, which >> 1, 1, 0, 8}, "f16", "");
        check_gemm((struct product){65, 10, 33, 1, which & 1, which >> 1, 1, 0, 8}, "bf16", "");
    }
}

static void test_gemm_scales_and_batches(void)
{
    check_gemm((struct product){40, 24, 19, 3, 0, 0, 1, 0, 8}, "f32", "");
    check_gemm((struct product){33, 35, 40, 2, 0, 1, 0.5, -1.5, 8}, "f32", "");
    check_gemm((struct product){64, 64, 16, 1, 0, 0, 2.5, 1, 8}, "f32", "");
    check_gemm((struct product){30, 47, 20, 2, 1, 0, -3, 0.3, 8}, "f16", "");
    check_gemm((struct product){30, 47, 20, 2, 1, 1, 1, 2, 8}, "bf16", "");
}

static void test_gemm_gates(void)
{
    check_gemm((struct product){40, 24, 19, 3, 0, 1, 1, 0, 8}, "f32", ",gate=1");
    check_gemm((struct product){64, 64, 320, 1, 0, 0, 0.5, 0, 8}, "f32", ",gate=1"); /* where parts of k would be chosen */
    check_gemm((struct product){67, 70, 48, 2, 1, 1, 1, 0, 1}, "f16", ",gate=1");
    check_gemm((struct product){30, 47, 20, 1, 0, 0, 1, 0, 1}, "bf16", ",gate=1");
    example_refused("gemm:8x8x8,gate=1,beta=1", NULL, "one of them");
}

static void test_gemm_parts_of_k(void)
{
    check_gemm((struct product){64, 64, 320, 1, 0, 0, 1, 0, 8}, "f32", ",split=4");
    check_gemm((struct product){33, 37, 331, 2, 0, 0, 2, 1, 8}, "f32", ",split=3");
    check_gemm((struct product){33, 37, 331, 1, 1, 1, 1, 0, 8}, "f16", ",split=20");
    check_gemm((struct product){20, 21, 700, 1, 0, 0, 1, 0.5, 8}, "bf16", "");
}

static void test_gemm_narrow(void)
{
    check_gemm((struct product){50, 1, 60, 1, 0, 0, 1, 0, 8}, "f32", "");
    check_gemm((struct product){50, 3, 60, 2, 1, 1, 2, 1, 8}, "f16", "");
    check_gemm((struct product){1, 2, 5, 1, 0, 1, 1, 0, 8}, "bf16", "");
}

/* ---- gemv ---- */

/* Weight `index` of a quantised row as ggml defines it, in double precision; *size = what its parts may be as large as. */
static double weight_q4_0(const uint8_t *blocks, uint64_t index, double *size)
{
    const uint8_t *block = blocks + index / 32 * 18;
    const unsigned i = index % 32, byte = block[2 + i % 16], q = i < 16 ? byte & 15 : byte >> 4;
    const double d = example_get(block, GPU_F16, 0);
    *size = fabs(d) * (q + 8.0);
    return d * ((double)q - 8);
}

static double weight_q8_0(const uint8_t *blocks, uint64_t index, double *size)
{
    const uint8_t *block = blocks + index / 32 * 34;
    const int8_t q = (int8_t)block[2 + index % 32];
    const double d = example_get(block, GPU_F16, 0);
    *size = fabs(d) * (abs(q) + 256.0);
    return d * q;
}

static double weight_q4_k(const uint8_t *blocks, uint64_t index, double *size)
{
    const uint8_t *block = blocks + index / 256 * 144, *scales = block + 4;
    const unsigned i = index % 256, j = i / 32, byte = block[16 + i / 64 * 32 + i % 32], q = j & 1 ? byte >> 4 : byte & 15;
    const unsigned scale = j < 4 ? scales[j] & 63 : (scales[j + 4] & 15) | scales[j - 4] >> 6 << 4;
    const unsigned least = j < 4 ? scales[j + 4] & 63 : scales[j + 4] >> 4 | scales[j] >> 6 << 4;
    const double d = example_get(block, GPU_F16, 0) * scale, m = example_get(block, GPU_F16, 1) * least;
    *size = fabs(d) * q + fabs(m);
    return d * q - m;
}

/* As ggml's dequantize_row_q6_K counts: halves of 128, in them four groups of 32. */
static double weight_q6_k(const uint8_t *blocks, uint64_t index, double *size)
{
    const uint8_t *const block = blocks + index / 256 * 210;
    const unsigned i = index % 256, n = i / 128, l = i % 32;
    const uint8_t *const low = block + 64 * n, *const up = block + 128 + 32 * n;
    const unsigned numbers[] = {(low[l] & 15) + (up[l] & 3) * 16, (low[l + 32] & 15) + (up[l] >> 2 & 3) * 16,
                                (low[l] >> 4) + (up[l] >> 4 & 3) * 16, (low[l + 32] >> 4) + (up[l] >> 6) * 16};
    const unsigned number = numbers[i % 128 / 32];
    const double d = example_get(block, GPU_F16, 104) * (int8_t)block[192 + i / 16];
    *size = fabs(example_get(block, GPU_F16, 104)) * (abs((int8_t)block[192 + i / 16]) + 256.0) * (number + 32.0);
    return d * ((double)number - 32);
}

static double weight(const uint8_t *a, enum gpu_type type, uint64_t index, double *size)
{
    if (type == GPU_Q4_0)
        return weight_q4_0(a, index, size);
    if (type == GPU_Q8_0)
        return weight_q8_0(a, index, size);
    if (type == GPU_Q4_K)
        return weight_q4_k(a, index, size);
    if (type == GPU_Q6_K)
        return weight_q6_k(a, index, size);
    const double value = example_get(a, type, index);
    *size = fabs(value);
    return value;
}

/* Random bytes for blocks, with scales that are ordinary numbers. */
static void fill_blocks(const struct gpu_example *x)
{
    const struct gpu_kernel_buffer *b = &x->kernel.buffer[0];
    const uint64_t bytes = gpu_type_bytes(b->type, b->count), block = gpu_type_bytes(b->type, 1);
    uint8_t *a = example_bytes(x, 0);
    uint64_t seed = 99;
    if (b->type < GPU_Q4_0)
        return;
    for (uint64_t i = 0; i < bytes; i++)
        a[i] = (uint8_t)(suite_random(&seed) >> 40);
    for (uint64_t i = 0; i < bytes; i += block) {
        example_put(a + i, GPU_F16, b->type == GPU_Q6_K ? 104 : 0, example_uniform(&seed, -0.1, 0.1));
        if (b->type == GPU_Q4_K)
            example_put(a + i, GPU_F16, 1, example_uniform(&seed, -0.1, 0.1));
    }
}

static double worst_row(const struct gpu_example *x, uint64_t m, uint64_t n)
{
    const uint8_t *a = example_bytes(x, example_buffer(x, "a"));
    double *v = copy_of(x, "x"), *y = copy_of(x, "y"), worst = 0;
    const enum gpu_type type = x->kernel.buffer[example_buffer(x, "y")].type;
    for (uint64_t row = 0; row < m; row++) {
        double sum = 0, magnitude = 0, size;
        for (uint64_t i = 0; i < n; i++) {
            sum += weight(a, x->request.type, row * n + i, &size) * v[i];
            magnitude += size * fabs(v[i]);
        }
        /* Products, sums of lanes and five steps of the sum over them: n / 32 + 16 roundings at the most. */
        const double bound = ((double)n / 32 + 24) * 0x1p-24 * magnitude + example_epsilon(type) * fabs(sum) + 0x1p-25;
        const double ratio = fabs(y[row] - sum) / bound;
        worst = !(ratio <= worst) ? ratio : worst;
    }
    free(v);
    free(y);
    return worst;
}

static void check_gemv_as(uint64_t m, uint64_t n, const char *vectors, const char *precision, uint32_t cores)
{
    struct gpu_example x;
    char workload[64];
    snprintf(workload, sizeof workload, "gemv:%llux%llu,vectors=%s", (unsigned long long)m, (unsigned long long)n, vectors);
    bool ok = example_open(&x, workload, precision, cores);
    if (ok) {
        example_fill(&x, m + n);
        fill_blocks(&x);
    }
    ok = ok && example_run(&x, true);
    CHECK(ok, "%s %s: %s", workload, precision, x.text);
    const double ratio = ok ? worst_row(&x, m, n) : 0;
    CHECK(ratio <= 1, "%s %s: %g times the bound", workload, precision, ratio);
    example_close(&x);
}

static void check_gemv(uint64_t m, uint64_t n, const char *precision, uint32_t cores)
{
    check_gemv_as(m, n, "own", precision, cores);
    check_gemv_as(m, n, "f32", precision, cores);
}

/* Rows in f32 are what the table stands for, to the bit; zeros beyond it. */
static void check_embedding_as(uint64_t rows, uint64_t columns, uint64_t count, const char *out_type, const char *precision)
{
    struct gpu_example x;
    char workload[64];
    snprintf(workload, sizeof workload, "embedding:%llux%llux%llu,out=%s", (unsigned long long)rows, (unsigned long long)columns,
             (unsigned long long)count, out_type);
    bool ok = example_open(&x, workload, precision, 8);
    if (ok) {
        example_fill(&x, rows + columns);
        fill_blocks(&x);
        uint8_t *const places = example_bytes(&x, 1);
        if (places)
            example_put(places, GPU_U32, 0, (double)rows);
    }
    ok = ok && example_run(&x, true);
    CHECK(ok, "%s %s: %s", workload, precision, x.text);
    double *const index = ok ? copy_of(&x, "index") : NULL, *const out = ok ? copy_of(&x, "out") : NULL;
    const uint8_t *const table = ok ? example_bytes(&x, 0) : NULL;
    unsigned long long wrong = 0;
    for (uint64_t i = 0; table && i < count * columns; i++) {
        const uint64_t place = (uint64_t)index[i / columns] * columns + i % columns;
        double size, want = 0;
        if (i >= columns)
            want = x.request.type >= GPU_Q4_0 ? weight(table, x.request.type, place, &size)
                                              : example_get(table, x.request.type, place);
        want = strcmp(out_type, "f16") == 0 ? (double)(_Float16)want : want;
        wrong += (float)want != (float)out[i];
    }
    CHECK(wrong == 0, "%s %s: %llu elements are wrong", workload, precision, wrong);
    free(index);
    free(out);
    example_close(&x);
}

static void check_embedding(uint64_t rows, uint64_t columns, uint64_t count, const char *precision)
{
    check_embedding_as(rows, columns, count, "f32", precision);
    check_embedding_as(rows, columns, count, "f16", precision);
}

static void test_embedding(void)
{
    static const char *const precisions[] = {"f32", "f16", "bf16", "q4_0", "q8_0"};
    for (unsigned t = 0; t < ARRAY_COUNT(precisions); t++) {
        check_embedding(3, 32, 5, precisions[t]);
        check_embedding(70, 320, 33, precisions[t]);
    }
    example_refused("embedding:3x33x1", "q8_0", "a multiple of 32 columns");
    example_refused("embedding:3x33x1", "f16", "a multiple of 4 columns");
}

static void test_gemv_plain(void)
{
    static const char *const precisions[] = {"f32", "f16", "bf16"};
    for (unsigned t = 0; t < 3; t++) {
        check_gemv(1, 1, precisions[t], 8);
        check_gemv(5, 3, precisions[t], 1);
        check_gemv(77, 131, precisions[t], 1);
        check_gemv(64, 4, precisions[t], 1);
        check_gemv(33, 1030, precisions[t], 8);
    }
}

static void test_gemv_quantised(void)
{
    static const char *const precisions[] = {"q4_0", "q8_0", "q4_k", "q6_k"};
    for (unsigned t = 0; t < 4; t++) {
        check_gemv(1, 256, precisions[t], 8);
        check_gemv(35, 768, precisions[t], 1);
        check_gemv(100, 2304, precisions[t], 1);
        if (t < 2)
            check_gemv(19, 96, precisions[t], 2);
    }
}

/* ---- what users write ---- */

static void test_parsing(void)
{
    example_refused("gem:1x2x3", NULL, "did you mean gemm?");
    example_refused("gemm:1x2", NULL, "k is missing");
    example_refused("gemm:1x2x3x4", NULL, "too much");
    example_refused("gemm:8x8x8,bach=2", NULL, "did you mean batch?");
    example_refused("gemm:8x8x8,batch=2,batch=2", NULL, "twice");
    example_refused("gemm:0x8x8", NULL, "from 1");
    example_refused("gemm:8x8x8,alpha=x", NULL, "alpha");
    example_refused("gemm:8x8x8", "i8", "no precision 'i8'");
    example_refused("gemm:8x100000000x64", NULL, "2^31");
    example_refused("gemv:8x48", "q4_0", "whole blocks of 32");
    example_refused("attention:h=4,s=8,d=8,kvh=3", NULL, "no multiple");
    example_refused("attention:h=4,s=8,d=6", NULL, "variant=naive");
    example_refused("attention:h=4,s=8,d=8,variant=fast", NULL, "flash|naive");
    example_refused("rope:h=1,s=8,d=7", NULL, "even");
    example_refused("copy", NULL, "bytes is missing");
    example_refused("stream-add:7", "f32", "no whole number");
}

static void test_canonical_text(void)
{
    static const char *const same[][2] = {{"gemm:8x9x10,beta=0,alpha=1,ta=0", "gemm:8x9x10"},
                                          {"gemm:8x9x10,tb=1,batch=3,alpha=0.5", "gemm:8x9x10,batch=3,tb=1,alpha=0.5"},
                                          {"copy:100", "copy:100"}};
    for (unsigned i = 0; i < ARRAY_COUNT(same); i++) {
        struct gpu_kernel_request r = {.cores = 1};
        struct isa_error error;
        char text[128];
        const bool ok = gpu_kernel_parse(same[i][0], NULL, &r, &error);
        CHECK(ok && gpu_kernel_describe(&r, text, sizeof text) == (int)strlen(same[i][1]) && strcmp(text, same[i][1]) == 0, "%s",
              ok ? text : error.text);
    }
}

static const struct suite_test tests[] = {
    {"streams compute what they say", test_streams},
    {"copy moves every byte", test_copies_bytes},
    {"gemm: odd sizes in all types", test_gemm_sizes},
    {"gemm: large tiles, every number of steps", test_gemm_large_tiles},
    {"gemm: transposed operands", test_gemm_transposes},
    {"gemm: alpha, beta, batches", test_gemm_scales_and_batches},
    {"products that gate what is there", test_gemm_gates},
    {"gemm: parts of k", test_gemm_parts_of_k},
    {"gemm: fewer than four columns", test_gemm_narrow},
    {"gemv: plain matrices", test_gemv_plain},
    {"rows of any table as f32", test_embedding},
    {"gemv: quantised matrices", test_gemv_quantised},
    {"workloads that cannot be are explained", test_parsing},
    {"equal requests have equal texts", test_canonical_text},
};
SUITE_MAIN("gpu_kernels_matrix", tests)
