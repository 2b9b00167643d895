/* The AMX gemm family against plain host loops: all element types, odd sizes, edges, transposes, leading dimensions, batches,
 * alpha and beta. The results come from AMX instructions, of which the loops know nothing.
 */
#include "isa/array_count.h"
#include "sim/workload/amx/amx_job.h"
#include "sim/workload/amx/kernel.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double f16_value(uint16_t bits)
{
    _Float16 h;
    memcpy(&h, &bits, sizeof h);
    return (double)h;
}

/* Element `index` of an array of the call's input (or output) type as a number. */
static double element(const struct kernel_call *c, const uint8_t *base, uint64_t index, bool output)
{
    const struct gemm_shape *s = gemm_shape_of(c->kind);
    const uint32_t bytes = output ? s->out_bytes : s->in_bytes;
    const uint8_t *at = base + index * bytes;
    uint16_t h;
    uint32_t w;
    float f;
    double d;
    int32_t i;
    switch (c->kind) {
    case GEMM_F64: memcpy(&d, at, 8); return d;
    case GEMM_F16: memcpy(&h, at, 2); return f16_value(h);
    case GEMM_I8_I32:
    case GEMM_I16_I32:
        memcpy(&i, at, output ? 4 : 0);
        if (output)
            return i;
        memcpy(&h, at, bytes);
        return bytes == 1 ? (int8_t)*at : (int16_t)h;
    case GEMM_F16_F32:
        if (!output) {
            memcpy(&h, at, 2);
            return f16_value(h);
        }
        break;
    case GEMM_BF16_F32:
        if (!output) {
            memcpy(&h, at, 2);
            w = (uint32_t)h << 16;
            memcpy(&f, &w, 4);
            return f;
        }
        break;
    default: break;
    }
    memcpy(&f, at, 4);
    return f;
}

static double epsilon_of(const struct kernel_call *c)
{
    return c->kind == GEMM_F64 ? 0x1p-52 : c->kind == GEMM_F16 ? 0x1p-10 : 0x1p-23;
}

static bool is_integer(const struct kernel_call *c)
{
    return c->kind == GEMM_I8_I32 || c->kind == GEMM_I16_I32;
}

/* Integers wrap modulo 2^32. */
static double wrapped(double value)
{
    return (double)(int32_t)(uint32_t)(int64_t)fmod(value, 0x1p32);
}

struct reference {
    double sum, magnitude; /* of the terms, for the error bound */
};

static struct reference dot(const struct kernel_call *c, const struct kernel_data *d, const struct mem_space *space, uint32_t b,
                            uint32_t i, uint32_t j)
{
    const uint8_t *a = mem_at(space, d->a, d->a_bytes, MEM_READ), *bb = mem_at(space, d->b, d->b_bytes, MEM_READ);
    const uint64_t a0 = b * d->args.gemm.stride_a, b0 = b * d->args.gemm.stride_b;
    struct reference r = {0, 0};
    for (uint32_t k = 0; k < c->k; k++) {
        const double x = element(c, a, a0 + (c->transpose_a ? k * c->lda + i : i * c->lda + k), false);
        const double y = element(c, bb, b0 + (c->transpose_b ? j * c->ldb + k : k * c->ldb + j), false);
        r.sum += x * y;
        r.magnitude += fabs(x * y);
    }
    return r;
}

static void check_gemm(const char *text, const char *precision, enum amx_gen gen)
{
    struct orch_error error = {0};
    struct kernel_call c;
    struct kernel_data d;
    struct mem_space *space = mem_space_create(0);
    CHECK(kernel_parse(text, precision, &c, &error), "%s: %s", text, error.text);
    CHECK(kernel_data_create(&c, gen, space, NULL, 7, &d, &error), "%s: %s", text, error.text);
    uint8_t *old = malloc(d.c_bytes);
    memcpy(old, mem_at(space, d.c, d.c_bytes, MEM_READ), d.c_bytes);
    struct amx_job *job = amx_job_create(&c, &d, space, gen, NULL, AMX_JOB_FUNCTIONAL, 1, &error);
    const struct engine_task task = amx_job_task(job);
    task.start(task.context, 0);
    CHECK(task.step(task.context, INFINITY, &error) == ENGINE_DONE, "%s: %s", text, error.text);

    const uint8_t *got = mem_at(space, d.c, d.c_bytes, MEM_READ);
    unsigned wrong = 0;
    for (uint32_t b = 0; b < c.batch && wrong < 3; b++) {
        for (uint32_t i = 0; i < c.m && wrong < 3; i++) {
            for (uint32_t j = 0; j < c.n && wrong < 3; j++) {
                const uint64_t at = b * d.args.gemm.stride_c + i * c.ldc + j;
                const struct reference r = dot(&c, &d, space, b, i, j);
                const double before = c.beta != 0 ? element(&c, old, at, true) : 0;
                double want = c.alpha * r.sum + c.beta * before;
                double bound = epsilon_of(&c) * ((c.k + 2) * fabs(c.alpha) * r.magnitude + 2 * fabs(c.beta * before)) + 1e-30;
                if (is_integer(&c)) {
                    want = wrapped(want);
                    bound = 0;
                }
                const double value = element(&c, got, at, true);
                if (!(fabs(value - want) <= bound)) {
                    wrong++;
                    CHECK(0, "%s %s M%d: c[%u][%u][%u] = %.9g, want %.9g +- %.3g", text, precision, (int)gen, b, i, j, value,
                          want, bound);
                }
            }
        }
    }
    /* Bytes between the rows are unchanged. */
    for (uint32_t i = 0; i + 1 < c.m && c.ldc > c.n; i++) {
        const uint32_t size = gemm_shape_of(c.kind)->out_bytes;
        CU_ASSERT(memcmp(got + (i * c.ldc + c.n) * size, old + (i * c.ldc + c.n) * size, (c.ldc - c.n) * size) == 0);
    }
    free(old);
    amx_job_free(job);
    mem_space_free(space);
}

static const char *const precisions[] = {"f64", "f32", "f16", "bf16", "i16", "i8"};

static void each_precision(const char *text)
{
    for (size_t p = 0; p < 6; p++)
        for (int gen = AMX_GEN_M1; gen <= AMX_GEN_M2; gen++)
            if (strcmp(precisions[p], "bf16") != 0 || gen >= AMX_GEN_M2)
                check_gemm(text, precisions[p], (enum amx_gen)gen);
}

static void test_whole_tiles(void)
{
    each_precision("gemm:64x64x64");
    check_gemm("gemm:64x128x64,acc=f16", "f16", AMX_GEN_M1);
    check_gemm("gemm:64x128x64,acc=f16", "f16", AMX_GEN_M2);
}

static void test_edges(void)
{
    each_precision("gemm:1x1x1");
    each_precision("gemm:33x65x17");
    each_precision("gemm:7x130x3");
    each_precision("gemm:100x31x50");
    check_gemm("gemm:33x65x17,acc=f16", "f16", AMX_GEN_M1);
}

/* Every form of an f32 tile, with panels, with lines read from the matrices, and with sides transposed in pieces of k. */
static void test_few_rows_or_columns(void)
{
    static const char *const sizes[] = {"16x16", "13x9",   "16x32",  "5x30",  "16x64", "16x1024", "11x70", "32x16",
                                        "64x16", "100x16", "129x13", "64x32", "40x32", "32x64",   "30x96", "200x64"};
    static const char *const deep[] = {"1", "7", "16", "127", "256", "300", "1030"};
    static const char *const stored[] = {"", ",ta=1", ",tb=1", ",ta=1,tb=1", ",batch=2", ",beta=1", ",ldc=1031,beta=1,tb=1"};
    char text[96];
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++)
        for (size_t k = 0; k < ARRAY_COUNT(deep); k++) {
            const size_t way = i + k;
            snprintf(text, sizeof text, "gemm:%sx%s%s", sizes[i], deep[k], stored[way % ARRAY_COUNT(stored)]);
            check_gemm(text, "f32", way % 2 ? AMX_GEN_M1 : AMX_GEN_M2);
        }
    for (uint32_t k = 64; k <= 176; k += 8) /* turned in the unit, by blocks, with and without touches ahead */
        for (size_t i = 0; i < 4; i++) {
            snprintf(text, sizeof text, "gemm:%sx%u,batch=2%s", sizes[i], k, i % 2 ? ",tb=1" : ",tb=1,beta=1");
            check_gemm(text, "f32", AMX_GEN_M1);
        }
    check_gemm("gemm:16x256x33", "f32", AMX_GEN_M1); /* one tile reads b, packed in the order of memory */
    check_gemm("gemm:31x200x40,batch=2", "f32", AMX_GEN_M2);
    check_gemm("gemm:16x200x300,alpha=0.5,beta=2", "f32", AMX_GEN_M1);
    check_gemm("gemm:200x16x300,tb=1,alpha=2", "f32", AMX_GEN_M2);
    check_gemm("gemm:48x64x200,ldb=64,lda=203", "f32", AMX_GEN_M1);
    check_gemm("gemm:48x64x200,ldb=67,ta=1,lda=49", "f32", AMX_GEN_M1);
}

static void test_transposes_and_leading_dimensions(void)
{
    each_precision("gemm:40x50x30,ta=1");
    each_precision("gemm:40x50x30,tb=1,ldc=77");
    each_precision("gemm:40x50x30,ta=1,tb=1,lda=64,ldb=33,ldc=51");
}

static void test_batches(void)
{
    each_precision("gemm:20x24x28,batch=3");
}

static void test_alpha_and_beta(void)
{
    static const char *const floats[] = {"f64", "f32", "f16"};
    for (size_t p = 0; p < 3; p++) {
        check_gemm("gemm:48x70x33,alpha=0.5", floats[p], AMX_GEN_M1);
        check_gemm("gemm:48x70x33,beta=1", floats[p], AMX_GEN_M1);
        check_gemm("gemm:48x70x33,alpha=-2,beta=0.25,ldc=75", floats[p], AMX_GEN_M2);
    }
    check_gemm("gemm:48x70x33,alpha=0.5,beta=2,acc=f16", "f16", AMX_GEN_M1);
    check_gemm("gemm:48x70x33,beta=1", "i8", AMX_GEN_M1);
    check_gemm("gemm:48x70x33,beta=1", "i16", AMX_GEN_M1);
    check_gemm("gemm:48x70x33,alpha=3,beta=1", "bf16", AMX_GEN_M2);
}

/* k is longer than one block, so that partial sums go through C. */
static void test_long_k(void)
{
    check_gemm("gemm:5x6x9000", "f32", AMX_GEN_M2);
    check_gemm("gemm:5x6x9000,alpha=0.5,beta=1", "f64", AMX_GEN_M1);
    check_gemm("gemm:5x6x20000", "i8", AMX_GEN_M1);
}

static void check_gemv(const char *text, const char *precision)
{
    struct orch_error error = {0};
    struct kernel_call c;
    struct kernel_data d;
    struct mem_space *space = mem_space_create(0);
    CHECK(kernel_parse(text, precision, &c, &error), "%s: %s", text, error.text);
    CHECK(kernel_data_create(&c, AMX_GEN_M1, space, NULL, 7, &d, &error), "%s: %s", text, error.text);
    struct amx_job *job = amx_job_create(&c, &d, space, AMX_GEN_M1, NULL, AMX_JOB_FUNCTIONAL, 1, &error);
    const struct engine_task task = amx_job_task(job);
    task.start(task.context, 0);
    CHECK(task.step(task.context, INFINITY, &error) == ENGINE_DONE, "%s: %s", text, error.text);
    for (uint32_t i = 0; i < c.m; i++) {
        double sum = 0, magnitude = 0;
        for (uint32_t j = 0; j < c.n; j++) {
            const double t = element(&c, mem_at(space, d.a, d.a_bytes, MEM_READ), i * c.lda + j, false) *
                             element(&c, mem_at(space, d.b, d.b_bytes, MEM_READ), j, false);
            sum += t;
            magnitude += fabs(t);
        }
        const double value = element(&c, mem_at(space, d.c, d.c_bytes, MEM_READ), i, true);
        CHECK(fabs(value - sum) <= epsilon_of(&c) * (c.n + 2) * magnitude + 1e-30, "%s %s: y[%u] = %.9g, want %.9g", text,
              precision, i, value, sum);
    }
    amx_job_free(job);
    mem_space_free(space);
}

static void test_gemv(void)
{
    static const char *const shapes[] = {"gemv:64x64", "gemv:1x1", "gemv:37x129,lda=131", "gemv:16x32", "gemv:50x1000"};
    for (size_t i = 0; i < 5; i++) {
        check_gemv(shapes[i], "f32");
        check_gemv(shapes[i], "f64");
    }
}

static void test_wrong_requests(void)
{
    static const char *const wrong[] = {
        "gem:4x4x4",         "gemm:4x4",           "gemm:4x4x0",   "gemm:4x4x4,bach=2",  "gemm:4x4x4,ta=2",
        "gemm:8x8x8,lda=4",  "gemm:4x4x4,batch=0", "gemm:4x4x4x4", "gemm:4x4x4,alpha=z", "gemm:",
        "gemm:4x4x999999999"};
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        struct orch_error error = {0};
        struct kernel_call c;
        CHECK(!kernel_parse(wrong[i], "f32", &c, &error), "%s was accepted", wrong[i]);
        CHECK(error.exit_code == ORCH_USAGE && error.text[0], "%s: exit code %d", wrong[i], error.exit_code);
    }
    struct orch_error error = {0};
    struct kernel_call c;
    CU_ASSERT(!kernel_parse("gem:4x4x4", "f32", &c, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "gemm"));
    CU_ASSERT(!kernel_parse("gemm:4x4x4", "f8", &c, &error));
    CU_ASSERT(kernel_parse("gemm:4x4x4", "bf16", &c, &error));
    CU_ASSERT(!kernel_check_generation(&c, AMX_GEN_M1, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_UNMODELLED);
}

static const struct suite_test tests[] = {
    {"whole tiles equal the host loops", test_whole_tiles},
    {"edges of any size equal the host loops", test_edges},
    {"products of few rows or columns equal the host loops", test_few_rows_or_columns},
    {"transposes and leading dimensions equal the host loops", test_transposes_and_leading_dimensions},
    {"batches equal the host loops", test_batches},
    {"alpha and beta equal the host loops", test_alpha_and_beta},
    {"k longer than a block equals the host loops", test_long_k},
    {"gemv equals the host loops", test_gemv},
    {"wrong requests are refused by name", test_wrong_requests},
};
SUITE_MAIN("gemm_kernels", tests)
