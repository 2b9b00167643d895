/* liborchard as a program uses it: through sim/orchard.h alone (and a conversion to fp16). */
#include "isa/ane/ane_half.h"
#include "sim/orchard.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

enum { N = 48 };

/* Every product is exact in float. */
static void check_product(const char *unit)
{
    struct orchard_error error = {0};
    struct orchard *o = orchard_open("m1-max", NULL, 0, &error);
    float *a = NULL, *b = NULL, *c = NULL;
    CHECK(o != NULL, "%s", error.text);
    if (!o)
        return;
    const struct orchard_launch launch = {.buffer = {orchard_alloc(o, N * N * 4, (void **)&a, &error),
                                                     orchard_alloc(o, N * N * 4, (void **)&b, &error),
                                                     orchard_alloc(o, N * N * 4, (void **)&c, &error)}};
    CU_ASSERT_FATAL(a && b && c);
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i % 7 - 3);
        b[i] = (float)(i % 5 - 2);
    }
    const int job = orchard_enqueue(o, unit, "gemm:48x48x48", &launch, &error);
    CHECK(job == 0, "%s", error.text);
    CU_ASSERT(isnan(orchard_seconds(o, job)));
    CHECK(orchard_wait(o, &error), "%s", error.text);
    int wrong = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i * N + k] * b[k * N + j];
            wrong += sum != c[i * N + j];
        }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(orchard_seconds(o, job) > 0);
    if (strcmp(unit, "amx") == 0)
        CU_ASSERT(orchard_counter(o, job, "amx.fma32") >= 2 * 2 * 48 * 4)
    else
        CU_ASSERT(orchard_counter(o, job, "gpu.simd_matrix_fmadd32") >= 48 * 48 * 48 / 512)
    CU_ASSERT(isnan(orchard_counter(o, job, "no such counter")));
    CU_ASSERT(isnan(orchard_seconds(o, 17)));
    orchard_close(o);
}

static void test_a_product_on_shared_buffers(void)
{
    check_product("amx");
    check_product("gpu");
}

/* fp16 data in the order of the operator. The weights become coefficients of the program. Whole numbers, so every sum is exact.
 */
static void test_a_product_on_the_neural_engine(void)
{
    struct orchard_error error = {0};
    struct orchard *o = orchard_open("m1", NULL, 0, &error);
    uint16_t *a = NULL, *b = NULL, *c = NULL;
    CHECK(o != NULL, "%s", error.text);
    if (!o)
        return;
    const struct orchard_launch launch = {.buffer = {orchard_alloc(o, N * N * 2, (void **)&a, &error),
                                                     orchard_alloc(o, N * N * 2, (void **)&b, &error),
                                                     orchard_alloc(o, N * N * 2, (void **)&c, &error)}};
    CU_ASSERT_FATAL(a && b && c);
    for (int i = 0; i < N * N; i++) {
        a[i] = ane_half_bits(i % 7 - 3);
        b[i] = ane_half_bits(i % 5 - 2);
    }
    const int job = orchard_enqueue(o, "ane", "gemm:48x48x48", &launch, &error);
    CHECK(job == 0, "%s", error.text);
    CHECK(orchard_wait(o, &error), "%s", error.text);
    int wrong = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += ((i * N + k) % 7 - 3) * ((k * N + j) % 5 - 2);
            wrong += sum != ane_half_value(c[i * N + j]);
        }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(orchard_seconds(o, job) > 190e-6);
    CU_ASSERT_EQUAL(orchard_counter(o, job, "ane.macs"), (double)N * N * N);
    orchard_close(o);
}

/* A program file with the caller's buffers: 1 + 3 (a + b + c), twice (tests/golden/ane/README.md). */
static void test_a_neural_engine_program(void)
{
    struct orchard_error error = {0};
    struct orchard *o = orchard_open("m1", NULL, 0, &error);
    uint16_t *in = NULL, *out = NULL;
    CHECK(o != NULL, "%s", error.text);
    if (!o)
        return;
    const struct orchard_launch launch = {
        .buffer = {orchard_alloc(o, 6, (void **)&in, &error), orchard_alloc(o, 4, (void **)&out, &error)}};
    CU_ASSERT_FATAL(in && out);
    for (int i = 0; i < 3; i++)
        in[i] = ane_half_bits(i + 0.5);
    const int job = orchard_enqueue(o, "ane", suite_golden("ane/tinygrad/golden.1dcaecacc4.hwx.gz"), &launch, &error);
    CHECK(job == 0, "%s", error.text);
    CHECK(orchard_wait(o, &error), "%s", error.text);
    CU_ASSERT_EQUAL(ane_half_value(out[0]), 1 + 3 * 4.5);
    CU_ASSERT_EQUAL(ane_half_value(out[1]), 1 + 3 * 4.5);
    CU_ASSERT(orchard_enqueue(o, "ane", "gemm:512x512x512", &(struct orchard_launch){.buffer = {launch.buffer[1]}}, &error) > 0);
    CU_ASSERT(!orchard_wait(o, &error));
    CHECK(error.code == 2 && strstr(error.text, "shorter"), "%s", error.text);
    orchard_close(o);
}

static void test_jobs_run_in_order(void)
{
    struct orchard_error error = {0};
    struct orchard *o = orchard_open("m2", NULL, 0, &error);
    float *a = NULL, *c = NULL, *d = NULL;
    CHECK(o != NULL, "%s", error.text);
    if (!o)
        return;
    const uint64_t ga = orchard_alloc(o, N * N * 4, (void **)&a, &error), gc = orchard_alloc(o, N * N * 4, (void **)&c, &error),
                   gd = orchard_alloc(o, N * N * 4, (void **)&d, &error);
    for (int i = 0; i < N; i++)
        a[i * N + i] = 2;
    /* c = a * a, d = c * c: 16 on the diagonal. */
    CU_ASSERT_EQUAL(orchard_enqueue(o, "amx", "gemm:48x48x48", &(struct orchard_launch){.buffer = {ga, ga, gc}}, &error), 0);
    CU_ASSERT_EQUAL(orchard_enqueue(o, "amx", "gemm:48x48x48", &(struct orchard_launch){.buffer = {gc, gc, gd}}, &error), 1);
    CHECK(orchard_wait(o, &error), "%s", error.text);
    CU_ASSERT_EQUAL(d[0], 16);
    CU_ASSERT_EQUAL(d[N + 1], 16);
    CU_ASSERT_EQUAL(d[1], 0);
    orchard_close(o);
}

static void test_errors_are_reported_immediately(void)
{
    struct orchard_error error = {0};
    CU_ASSERT_PTR_NULL(orchard_open("m9", NULL, 0, &error));
    CU_ASSERT_EQUAL(error.code, 2);
    const char *const bad_set[] = {"amx.no_such_key=1"};
    CU_ASSERT_PTR_NULL(orchard_open("m1", bad_set, 1, &error));
    CU_ASSERT_EQUAL(error.code, 2);
    struct orchard *o = orchard_open("m1", NULL, 0, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(o);
    CU_ASSERT_EQUAL(orchard_enqueue(o, "amx", "gem:4x4x4", NULL, &error), -1);
    CU_ASSERT_EQUAL(error.code, 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "gemm"));
    CU_ASSERT_EQUAL(orchard_enqueue(o, "ane", "conv2d:c=4,h=64,w=64,k=4,r=31,s=31", NULL, &error), -1);
    CU_ASSERT_EQUAL(error.code, 3);
    CU_ASSERT_EQUAL(orchard_enqueue_program(o, "/no/such/file", NULL, NULL, 0, &error), -1);
    CU_ASSERT_EQUAL(error.code, 2);
    /* A buffer that is too short is detected when the job runs. */
    const uint64_t small = orchard_alloc(o, 16, NULL, &error);
    CU_ASSERT(orchard_enqueue(o, "amx", "gemm:512x512x512", &(struct orchard_launch){.buffer = {small}}, &error) >= 0);
    CU_ASSERT(!orchard_wait(o, &error));
    CU_ASSERT_EQUAL(error.code, 2);
    orchard_close(o);
}

static void test_buffers_come_and_go(void)
{
    struct orchard_error error = {0};
    struct orchard *o = orchard_open("m1", NULL, 0, &error);
    struct orchard_memory now;
    uint8_t *host = NULL;
    CHECK(o != NULL, "%s", error.text);
    if (!o)
        return;
    const uint64_t first = orchard_alloc(o, 40000, (void **)&host, &error), second = orchard_alloc(o, 100, NULL, &error);
    CU_ASSERT(first && second && first % 16384 == 0 && second % 16384 == 0 && host);
    if (host)
        memset(host, 0xee, 40000);
    orchard_memory(o, &now);
    CU_ASSERT_EQUAL(now.capacity_bytes, UINT64_C(16) << 30);
    CU_ASSERT(now.used_bytes >= 40100 && now.used_bytes < 80000 && now.pressure == 0);
    CU_ASSERT(orchard_free(o, first));
    CU_ASSERT(!orchard_free(o, first));
    CU_ASSERT_EQUAL(orchard_alloc(o, 40000, (void **)&host, &error), first);
    CU_ASSERT(host && host[0] == 0 && host[39999] == 0);
    CU_ASSERT_EQUAL(orchard_alloc(o, UINT64_C(17) << 30, NULL, &error), 0);
    CHECK(error.code == 2 && strstr(error.text, "16 GiB"), "%s", error.text);
    orchard_close(o);
}

static const struct suite_test tests[] = {
    {"buffers can be allocated, copied and freed", test_buffers_come_and_go},
    {"a product runs on the caller's buffers", test_a_product_on_shared_buffers},
    {"a product runs on the Neural Engine", test_a_product_on_the_neural_engine},
    {"a Neural Engine program runs on the caller's buffers", test_a_neural_engine_program},
    {"jobs run in the order they were enqueued", test_jobs_run_in_order},
    {"errors are reported immediately", test_errors_are_reported_immediately},
};
SUITE_MAIN("library", tests)
