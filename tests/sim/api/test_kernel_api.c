/* GPU kernels of a program's own: compiled, launched and read back through sim/orchard.h. From stored text, so that no clang is
 * needed. */
#include "sim/orchard.h"
#include "tests/support/suite.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 1000 };

static char folder[] = "/tmp/orchard-kernel-api-XXXXXX";
static char *text; /* of two kernels: scale(x, y, factor, n), count(where) */

static void test_source(void)
{
    const char *const path = suite_golden("agx/source/two.ll");
    FILE *const f = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    text = calloc(1, 1 << 16);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT(fread(text, 1, (1 << 16) - 1, f) > 100);
    fclose(f);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    setenv("XDG_CACHE_HOME", folder, 1);
}

static struct orchard_kernel *compile(const char *entry)
{
    struct orchard_error error = {0};
    struct orchard_kernel *const k = orchard_compile("two.ll", text, (const char *[]){entry, NULL}, &error);
    CHECK(k != NULL, "%s", error.text);
    return k;
}

static void test_inspect(void)
{
    static const struct orchard_kernel_argument rows[] = {{"x", ORCHARD_ARGUMENT_BUFFER, "f32"},
                                                          {"y", ORCHARD_ARGUMENT_BUFFER, "f32"},
                                                          {"factor", ORCHARD_ARGUMENT_NUMBER, "f32"},
                                                          {"n", ORCHARD_ARGUMENT_NUMBER, "u32"}};
    struct orchard_kernel *const k = compile("entry=scale"), *const count = compile("entry=count");
    struct orchard_kernel_info info;
    struct orchard_kernel_argument a;
    CU_ASSERT_FATAL(k && count);
    orchard_kernel_info(k, &info);
    CHECK(strcmp(info.name, "scale") == 0 && info.arguments == ARRAY_COUNT(rows), "%s, %zu", info.name, info.arguments);
    CHECK(info.code && info.code_bytes > 20 && info.registers > 0 && info.registers <= 256 && !info.spills && !info.stack_bytes,
          "%zu bytes, %u registers", info.code_bytes, info.registers);
    CHECK(!info.group[0] && !info.warnings[0] && !info.cached, "%u", info.group[0]);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        CHECK(orchard_kernel_argument(k, i, &a) && strcmp(a.name, rows[i].name) == 0 && a.kind == rows[i].kind &&
                  strcmp(a.type, rows[i].type) == 0,
              "argument %zu", i);
    CU_ASSERT_FALSE(orchard_kernel_argument(k, ARRAY_COUNT(rows), &a));
    orchard_kernel_info(count, &info);
    CHECK(info.arguments == 1, "sizes of the launch are nobody's: %zu", info.arguments);
    orchard_kernel_free(count);
    orchard_kernel_free(k);
    struct orchard_kernel *const again = compile("entry=scale");
    CU_ASSERT_PTR_NOT_NULL_FATAL(again);
    orchard_kernel_info(again, &info);
    CU_ASSERT_TRUE(info.cached);
    orchard_kernel_free(again);
    orchard_kernel_free(NULL);
}

/* One context, used by one thread. */
struct use {
    float factor;
    bool values_only;
    double seconds;
    int wrong;
    char text[600]; /* what went wrong */
};

static void use_in(struct orchard *o, struct use *u)
{
    struct orchard_error error = {0};
    float *x = NULL, *y = NULL;
    uint32_t *where = NULL;
    struct orchard_kernel *const scale = orchard_compile("two.ll", text, (const char *[]){"entry=scale", NULL}, &error);
    struct orchard_kernel *const count = orchard_compile("two.ll", text, (const char *[]){"entry=count", NULL}, &error);
    const struct orchard_kernel_value value[] = {{.buffer = orchard_alloc(o, 4 * COUNT, (void **)&x, &error)},
                                                 {.buffer = orchard_alloc(o, 4 * COUNT, (void **)&y, &error)},
                                                 {.number = (double)u->factor},
                                                 {.integer = COUNT - 1}};
    const struct orchard_kernel_value back[] = {
        {.buffer = value[1].buffer}, {.buffer = value[0].buffer}, {.number = 1}, {.integer = 3}};
    const struct orchard_kernel_value place = {.buffer = orchard_alloc(o, 4 * 64, (void **)&where, &error)};
    struct orchard_kernel_launch launch = {
        .grid = {COUNT}, .group = {32}, .value = value, .values = 4, .values_only = u->values_only};
    if (!scale || !count || !x || !y || !where) {
        snprintf(u->text, sizeof u->text, "%s", error.text);
        return;
    }
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)i;
    const int first = orchard_enqueue_kernel(o, scale, &launch, &error);
    launch.value = back;
    const int second = orchard_enqueue_kernel(o, scale, &launch, &error);
    const struct orchard_kernel_launch sizes = {.grid = {64, 2}, .group = {8}, .value = &place, .values = 1};
    const int third = orchard_enqueue_kernel(o, count, &sizes, &error);
    orchard_kernel_free(scale); /* launches have what they need */
    orchard_kernel_free(count);
    if (first != 0 || second != 1 || third != 2 || !orchard_wait(o, &error)) {
        snprintf(u->text, sizeof u->text, "%d %d %d %s", first, second, third, error.text);
        return;
    }
    for (int i = 0; i < COUNT; i++)
        u->wrong += y[i] != (i < COUNT - 1 ? u->factor * (float)i : 0) || x[i] != (i < 3 ? u->factor : 1) * (float)i;
    for (int i = 0; i < 64; i++) /* groups times 1000 and threads, along x */
        u->wrong += where[i] != 8 * 1000 + 64;
    u->seconds = orchard_seconds(o, first);
    if (!u->values_only && !(orchard_joules(o, first) > 0 && orchard_counter(o, first, "gpu.threadgroups") == 32))
        snprintf(u->text, sizeof u->text, "%g J, %g threadgroups", orchard_joules(o, first),
                 orchard_counter(o, first, "gpu.threadgroups"));
}

static void *use(void *context)
{
    struct use *const u = context;
    struct orchard_error error = {0};
    struct orchard *const o = orchard_open("m1", NULL, 0, &error);
    if (o)
        use_in(o, u);
    else
        snprintf(u->text, sizeof u->text, "%s", error.text);
    orchard_close(o);
    return NULL;
}

static void test_launches(void)
{
    struct use timed = {.factor = 2.5f}, plain = {.factor = -3, .values_only = true};
    use(&timed);
    use(&plain);
    CHECK(!timed.text[0] && !timed.wrong, "%s, %d wrong", timed.text, timed.wrong);
    CHECK(!plain.text[0] && !plain.wrong, "%s, %d wrong", plain.text, plain.wrong);
    CHECK(timed.seconds > 1e-6 && timed.seconds < 1e-2, "%g s", timed.seconds);
    CHECK(!(plain.seconds > 0), "%g s without time", plain.seconds);
}

/* Contexts of several threads do not meet. */
static void test_threads(void)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    struct use u[THREADS] = {{.factor = 1}, {.factor = 2}, {.factor = 3}, {.factor = 4}};
    for (int i = 0; i < THREADS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, use, &u[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        CHECK(!u[i].text[0] && !u[i].wrong, "thread %d: %s, %d wrong", i, u[i].text, u[i].wrong);
        CHECK(u[i].seconds == u[0].seconds, "%g and %g s", u[i].seconds, u[0].seconds);
    }
}

/* A launch that has to fail: at once, or when it runs. */
static void check_refused(struct orchard *o, const struct orchard_kernel *k, const struct orchard_kernel_launch *launch, int code,
                          const char *says)
{
    struct orchard_error error = {0};
    const int job = orchard_enqueue_kernel(o, k, launch, &error);
    if (job >= 0)
        CU_ASSERT_FALSE(orchard_wait(o, &error));
    CHECK(error.code == code && strstr(error.text, says), "%d, %s instead of %s", error.code, error.text, says);
}

static void test_wrong_launches(void)
{
    struct orchard_error error = {0};
    struct orchard *const o = orchard_open("m1", NULL, 0, &error);
    struct orchard_kernel *const k = compile("entry=scale");
    CU_ASSERT_FATAL(o && k);
    const uint64_t x = orchard_alloc(o, 4 * COUNT, NULL, &error);
    struct orchard_kernel_value v[] = {{.buffer = x}, {.buffer = x}, {.number = 1}, {.integer = COUNT}};
    struct orchard_kernel_launch l = {.grid = {COUNT}, .group = {32}, .value = v, .values = 4};
    v[1].buffer = x + 4 * COUNT;
    check_refused(o, k, &l, 2, "y: 0x");
    v[1].buffer = 0;
    check_refused(o, k, &l, 2, "no buffer of orchard_alloc");
    v[1].buffer = x + 2;
    check_refused(o, k, &l, 2, "no multiple of 4");
    v[1].buffer = x;
    v[3].integer = INT64_C(1) << 32;
    check_refused(o, k, &l, 2, "does not fit u32");
    v[3].integer = COUNT;
    l.values = 3;
    check_refused(o, k, &l, 2, "has 4 arguments, not 3");
    l.values = 4;
    l.group[0] = 0;
    check_refused(o, k, &l, 2, "group");
    l.group[0] = 2048;
    check_refused(o, k, &l, 2, "at most 1024");
    l.group[0] = 32;
    l.grid[0] = 0;
    check_refused(o, k, &l, 2, "grid");
    l.grid[0] = COUNT;
    l.values_only = l.timing_only = true;
    check_refused(o, k, &l, 2, "exclude each other");
    l.values_only = l.timing_only = false;
    orchard_free(o, x);
    check_refused(o, k, &l, 2, "no buffer of orchard_alloc");
    orchard_kernel_free(k);
    orchard_close(o);
}

/* Reading behind the end of a buffer is a fault of the program, told with the buffer. */
static void test_fault(void)
{
    struct orchard_error error = {0};
    struct orchard *const o = orchard_open("m1", NULL, 0, &error);
    struct orchard_kernel *const k = compile("entry=scale");
    CU_ASSERT_FATAL(o && k);
    const uint64_t x = orchard_alloc(o, 64, NULL, &error), y = orchard_alloc(o, 1 << 20, NULL, &error);
    const struct orchard_kernel_value v[] = {{.buffer = x}, {.buffer = y}, {.number = 1}, {.integer = 1 << 18}};
    const struct orchard_kernel_launch l = {.grid = {1 << 18}, .group = {32}, .value = v, .values = 4, .sanitize = true};
    check_refused(o, k, &l, 4, "two.ll");
    orchard_kernel_free(k);
    orchard_close(o);
}

static void test_wrong_sources(void)
{
    static const struct {
        const char *name, *source, *option;
        int code;
        const char *says;
    } rows[] = {
        {"two.ll", NULL, "entry=scale", 2, "two.ll"},
        {"two.txt", "", "entry=scale", 2, ".cl, .metal or .ll"},
        {"a.ll", "define void", "entry=scale", 2, "a.ll:1"},
        {"a.ll", "", "entry=scale", 2, "no kernel in it"},
        {"two.ll", "T", "entry=scal", 2, "did you mean scale?"},
        {"two.ll", "T", "optimise=9", 2, "expected 0 to 3"},
        {"two.ll", "T", "entri=scale", 2, "did you mean entry?"},
        {"two.ll", "T", "define", 2, "expected NAME=VALUE"},
        {"two.ll", "T", "fast-math", 2, "choose one with entry"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct orchard_error error = {0};
        const char *const source = rows[i].source && rows[i].source[0] == 'T' ? text : rows[i].source;
        struct orchard_kernel *const k = orchard_compile(rows[i].name, source, (const char *[]){rows[i].option, NULL}, &error);
        CHECK(!k && error.code == rows[i].code && strstr(error.text, rows[i].says), "row %zu: %d, %s", i, error.code, error.text);
        orchard_kernel_free(k);
    }
}

static void test_nothing_is_left(void)
{
    free(text);
    CU_ASSERT_TRUE(suite_remove(folder));
}

static const struct suite_test tests[] = {
    {"a source in memory", test_source},
    {"what was compiled", test_inspect},
    {"launches on buffers of the caller", test_launches},
    {"several threads", test_threads},
    {"wrong launches", test_wrong_launches},
    {"a program that faults", test_fault},
    {"wrong sources", test_wrong_sources},
    {"files are deleted", test_nothing_is_left},
};
SUITE_MAIN("kernel api", tests)
