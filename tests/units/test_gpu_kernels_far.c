/* GPU kernels whose operands have more elements than 31 or 32 bits count. Single threadgroups are executed: the first, one in the
 * middle and the last. The host only holds the pages that these touch; inputs are a function of their place, so that an element
 * from a wrong place is a wrong element.
 */
#include "isa/array_count.h"
#include "tests/units/gpu_library_example.h"

/* Between -1 and 1 in steps of 1/8, exact in every type. */
static double value_at(uint64_t index)
{
    const uint64_t mixed = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (double)(mixed >> 60) / 8 - 1;
}

static void fill(struct gpu_example *x, const char *name, uint64_t first, uint64_t count)
{
    const unsigned b = example_buffer(x, name);
    const enum gpu_type type = x->kernel.buffer[b].type;
    const uint64_t size = gpu_type_bytes(type, 1);
    uint8_t *to = mem_at(x->space, x->address[b] + first * size, count * size, MEM_READ | MEM_WRITE);
    CHECK(to != NULL, "%s: elements from %llu on do not exist", name, (unsigned long long)first);
    for (uint64_t i = 0; to && i < count; i++)
        example_put(to, type, i, value_at(first + i));
}

static double element(const struct gpu_example *x, const char *name, uint64_t index)
{
    const unsigned b = example_buffer(x, name);
    const enum gpu_type type = x->kernel.buffer[b].type;
    const uint8_t *at = mem_at(x->space, x->address[b] + index * gpu_type_bytes(type, 1), gpu_type_bytes(type, 1), MEM_READ);
    return at ? example_get(at, type, 0) : NAN;
}

static bool open_far(struct gpu_example *x, const char *workload, const char *precision)
{
    const bool ok = example_open(x, workload, precision, 8);
    CHECK(ok, "%s: %s", workload, x->text);
    return ok;
}

static void run_one(struct gpu_example *x, const struct gpu_kernel_step *step, const uint32_t position[3])
{
    x->only = position;
    const bool ok = example_run_step(x, step, false);
    CHECK(ok, "%s: %s", step->variant, x->text);
}

/* ---- gemm ---- */

struct product {
    const char *text;
    uint64_t m, n, k, batch;
    bool ta, tb;
};

static uint64_t place_a(const struct product *p, uint64_t batch, uint64_t row, uint64_t k)
{
    return batch * p->m * p->k + (p->ta ? k * p->m + row : row * p->k + k);
}

static uint64_t place_b(const struct product *p, uint64_t batch, uint64_t k, uint64_t column)
{
    return batch * p->k * p->n + (p->tb ? column * p->k + k : k * p->n + column);
}

/* The rows [row, row + rows) and columns of one threadgroup. */
static void check_tile(struct gpu_example *x, const struct product *p, uint64_t batch, uint64_t row, uint64_t column)
{
    const uint64_t rows = p->m - row < 64 ? p->m - row : 64, columns = p->n - column < 64 ? p->n - column : 64;
    const double bound = (double)p->k * 0x1p-20 + 0x1p-10 * (double)p->k;
    double worst = 0;
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t c = 0; c < columns; c++) {
            double sum = 0;
            for (uint64_t k = 0; k < p->k; k++)
                sum += value_at(place_a(p, batch, row + r, k)) * value_at(place_b(p, batch, k, column + c));
            const double off = fabs(element(x, "c", batch * p->m * p->n + (row + r) * p->n + column + c) - sum);
            worst = !(off <= worst) ? off : worst;
        }
    CHECK(worst <= bound, "%s: row %llu, column %llu, batch %llu: off by %g", p->text, (unsigned long long)row,
          (unsigned long long)column, (unsigned long long)batch, worst);
}

static void fill_tile(struct gpu_example *x, const struct product *p, uint64_t batch, uint64_t row, uint64_t column)
{
    const uint64_t rows = p->m - row < 64 ? p->m - row : 64, columns = p->n - column < 64 ? p->n - column : 64;
    for (uint64_t r = 0; !p->ta && r < rows; r++)
        fill(x, "a", place_a(p, batch, row + r, 0), p->k);
    for (uint64_t k = 0; p->ta && k < p->k; k++)
        fill(x, "a", place_a(p, batch, row, k), rows);
    for (uint64_t c = 0; p->tb && c < columns; c++)
        fill(x, "b", place_b(p, batch, 0, column + c), p->k);
    for (uint64_t k = 0; !p->tb && k < p->k; k++)
        fill(x, "b", place_b(p, batch, k, column), columns);
}

static void test_gemm(void)
{
    static const struct product products[] = {
        {"gemm:40000001x128x110,tile=64x64", 40000001, 128, 110, 1, false, false},
        {"gemm:40000001x128x110,ta=1,tile=64x64", 40000001, 128, 110, 1, true, false},
        {"gemm:120x45000002x100,tile=64x64", 120, 45000002, 100, 1, false, false},
        {"gemm:120x45000002x100,tb=1,tile=64x64", 120, 45000002, 100, 1, false, true},
        {"gemm:20000001x128x110,batch=3,tile=64x64", 20000001, 128, 110, 3, false, false},
        {"gemm:66x98x70,batch=1000000,tile=64x64", 66, 98, 70, 1000000, false, false},
    };
    for (unsigned i = 0; i < ARRAY_COUNT(products); i++) {
        const struct product *p = &products[i];
        struct gpu_example x;
        if (!open_far(&x, p->text, "f16"))
            continue;
        const uint32_t across = (uint32_t)((p->n + 63) / 64), down = (uint32_t)((p->m + 63) / 64);
        CU_ASSERT_EQUAL(x.kernel.steps, 1);
        for (unsigned part = 0; part < 3; part++) {
            /* Threadgroups of one strip are side by side, which only moves those in the middle. */
            const uint32_t z = (uint32_t)((p->batch - 1) * part / 2);
            const uint32_t position[3] = {part == 0 ? 0 : across - 1, part == 0 ? 0 : down - 1, z};
            const uint64_t row = 64ULL * position[1], column = 64ULL * position[0];
            fill_tile(&x, p, z, row, column);
            run_one(&x, &x.kernel.step[0], position);
            check_tile(&x, p, z, row, column);
        }
        example_close(&x);
    }
}

/* ---- elementwise, copy: the end of the last launch ---- */

/* Runs the last threadgroup of the last launch. */
static void run_end(struct gpu_example *x)
{
    const struct gpu_kernel_step *step = &x->kernel.step[x->kernel.steps - 1];
    uint32_t position[3];
    for (unsigned i = 0; i < 3; i++)
        position[i] = (step->grid_threads[i] + step->group_threads[i] - 1) / step->group_threads[i] - 1;
    run_one(x, step, position);
}

static void check_end_of_chain(const char *workload, const char *precision, uint64_t n, uint64_t period, unsigned steps)
{
    struct gpu_example x;
    unsigned wrong = 0;
    if (!open_far(&x, workload, precision))
        return;
    CU_ASSERT_EQUAL(x.kernel.steps, steps);
    fill(&x, "a", n - 1024, 1024);
    fill(&x, "b", period ? 0 : n - 1024, period ? period : 1024);
    run_end(&x);
    for (uint64_t i = n - 1; i > n - 4; i--)
        wrong += element(&x, "out", i) != value_at(i) + value_at(period ? i % period : i);
    CHECK(wrong == 0, "%s: %u of the last elements are wrong", workload, wrong);
    example_close(&x);
}

static void test_streams(void)
{
    struct gpu_example x;
    const uint64_t bytes = 20000000005;
    check_end_of_chain("elementwise:5000000003,op=add", "f16", 5000000003, 0, 3);
    check_end_of_chain("elementwise:5000000000,op=add,period=1000", "f16", 5000000000, 1000, 3);
    check_end_of_chain("stream-add:18000000008", "f32", 4500000002, 0, 2);
    if (!open_far(&x, "copy:20000000005", "u8"))
        return;
    for (unsigned i = 0; i < 5; i++)
        mem_at(x.space, x.address[0] + bytes - 5, 5, MEM_WRITE)[i] = (uint8_t)(i + 1);
    run_end(&x);
    for (unsigned i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(element(&x, "out", bytes - 5 + i), i + 1);
    example_close(&x);
}

/* ---- slices of rows ---- */

static void test_last_row_of_softmax(void)
{
    const uint64_t rows = 600001, columns = 8192, first = (rows - 1) * columns;
    struct gpu_example x;
    double sum = 0, worst = 0;
    if (!open_far(&x, "softmax:600001x8192", "f16"))
        return;
    CU_ASSERT_EQUAL(x.kernel.steps, 3);
    CU_ASSERT_EQUAL(x.kernel.buffer[0].count, rows * columns);
    fill(&x, "x", first, columns);
    run_end(&x);
    for (uint64_t i = 0; i < columns; i++)
        sum += exp(value_at(first + i));
    for (uint64_t i = 0; i < columns; i++)
        worst = fmax(worst, fabs(element(&x, "out", first + i) * sum / exp(value_at(first + i)) - 1));
    CHECK(worst <= 0x1p-8, "off by %g", worst);
    example_close(&x);
}

static void test_last_row_of_gemv(void)
{
    const uint64_t rows = 300001, columns = 16384, first = (rows - 1) * columns;
    struct gpu_example x;
    double sum = 0, magnitude = 0;
    if (!open_far(&x, "gemv:300001x16384", "f16"))
        return;
    fill(&x, "a", first, columns);
    fill(&x, "x", 0, columns);
    run_end(&x);
    for (uint64_t i = 0; i < columns; i++) {
        sum += value_at(first + i) * value_at(i);
        magnitude += fabs(value_at(first + i) * value_at(i));
    }
    CHECK(fabs(element(&x, "y", rows - 1) - sum) <= 0x1p-10 * fabs(sum) + 0x1p-14 * magnitude, "got %g, not %g",
          element(&x, "y", rows - 1), sum);
    example_close(&x);
}

/* A reduction of more rows than a grid has threads for: 32 threads each. */
static void test_rows_beyond_a_grid(void)
{
    const uint64_t rows = 140000001, columns = 8;
    struct gpu_example x;
    double sum = 0;
    if (!open_far(&x, "reduce:140000001x8", "f32"))
        return;
    CU_ASSERT_EQUAL(x.kernel.steps, 2);
    fill(&x, "x", (rows - 1) * columns, columns);
    run_end(&x);
    for (uint64_t i = 0; i < columns; i++)
        sum += value_at((rows - 1) * columns + i);
    CU_ASSERT_DOUBLE_EQUAL(element(&x, "out", rows - 1), sum, 1e-6);
    example_close(&x);
}

/* Equal operands have one key with weight 1, so that the result is the value. */
static void test_last_head_of_attention(void)
{
    const uint64_t s = 1, d = 128, heads = 64, batch = 600001, first = (batch * heads - 1) * s * d;
    struct gpu_example x;
    unsigned wrong = 0;
    if (!open_far(&x, "attention:b=600001,h=64,s=1,d=128", "f16"))
        return;
    fill(&x, "q", first, d);
    fill(&x, "k", first, d);
    fill(&x, "v", first, d);
    run_end(&x);
    for (uint64_t i = 0; i < d; i++)
        wrong += element(&x, "out", first + i) != value_at(first + i);
    CHECK(wrong == 0, "%u elements are wrong", wrong);
    example_close(&x);
}

static void test_transpose(void)
{
    const uint64_t rows = 70001, columns = 65003, x0 = 65003 / 32 * 32, y0 = 70001 / 32 * 32;
    const uint32_t position[3] = {65003 / 32, 70001 / 32, 1};
    struct gpu_example x;
    unsigned wrong = 0;
    if (!open_far(&x, "transpose:70001x65003,batch=2", "f16"))
        return;
    for (uint64_t r = y0; r < rows; r++)
        fill(&x, "x", (rows + r) * columns + x0, columns - x0);
    run_one(&x, &x.kernel.step[0], position);
    for (uint64_t r = y0; r < rows; r++)
        for (uint64_t c = x0; c < columns; c++)
            wrong += element(&x, "out", (columns + c) * rows + r) != value_at((rows + r) * columns + c);
    CHECK(wrong == 0, "%u elements are wrong", wrong);
    example_close(&x);
}

/* A few rows that are so long that their starts lie beyond 2^32 elements. */
static void test_sums_down_columns(void)
{
    const uint64_t rows = 5, columns = 1000000003;
    struct gpu_example x;
    unsigned wrong = 0;
    if (!open_far(&x, "reduce:5x1000000003,axis=0,op=max", "f16"))
        return;
    for (uint64_t r = 0; r < rows; r++)
        fill(&x, "x", (r + 1) * columns - 35, 35);
    run_end(&x);
    for (uint64_t c = columns - 3; c < columns; c++) {
        double most = -2;
        for (uint64_t r = 0; r < rows; r++)
            most = fmax(most, value_at(r * columns + c));
        wrong += element(&x, "out", c) != most;
    }
    CHECK(wrong == 0, "%u columns are wrong", wrong);
    example_close(&x);
}

/* ---- what is refused ---- */

static void test_refused(void)
{
    static const char *const texts[][2] = {
        {"gemm:8x100000000x64", "at most 67108863"},
        {"gemm:1073741824x1073741824x1,batch=1000", "any memory"},
        {"gemm:100000x100000x4096,split=2", "split=1"},
        {"scan:1x5000000000", "a number from"},
    };
    for (unsigned i = 0; i < ARRAY_COUNT(texts); i++) {
        struct gpu_example x;
        const bool opened = example_open(&x, texts[i][0], "f32", 8);
        CHECK(!opened && strstr(x.text, texts[i][1]) != NULL, "%s: %s", texts[i][0], x.text);
        example_close(&x);
    }
}

static const struct suite_test tests[] = {
    {"products of matrices with more than 2^32 elements", test_gemm},
    {"the last elements of streams beyond 2^32", test_streams},
    {"the last row of a softmax in slices", test_last_row_of_softmax},
    {"the last row of a gemv in slices", test_last_row_of_gemv},
    {"more rows than a grid has threads for", test_rows_beyond_a_grid},
    {"the last head of attention in slices", test_last_head_of_attention},
    {"the last tile of a transposed matrix", test_transpose},
    {"the last columns of long rows", test_sums_down_columns},
    {"what no launch reaches is refused", test_refused},
};
SUITE_MAIN("gpu_kernels_far", tests)
