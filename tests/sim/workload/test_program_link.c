/* Several objects, archives and the runtime as one program; and the runtime's functions against those of the host. */
#define RUNTIME_PREFIX ours_
#include "sim/workload/cpu/native/runtime.c"

#include "sim/workload/cpu/program_link.h"
#include "tests/sim/program_example.h"

#include <ar.h>
#include <math.h>

/* ---- linking ---- */

static bool read_part(unsigned number, struct program_link_file *file)
{
    char name[32];
    size_t size = 0;
    snprintf(name, sizeof name, "library%u", number);
    file->bytes = guest_read(name, &size);
    file->path = number == 1 ? "one.o" : number == 2 ? "two.o" : "more.o";
    file->size = size;
    if (!file->bytes)
        suite_skip("the guests are not built: aarch64-linux-gnu-gcc is not installed");
    return file->bytes != NULL;
}

/* An archive as ar writes it: a member with a short name and one with a long name. */
static uint8_t *make_archive(const struct program_link_file *a, const struct program_link_file *b, size_t *size)
{
    static const char names[] = "a_name_that_is_longer_than_sixteen.o/\n";
    const struct {
        const char *name;
        const void *bytes;
        size_t size;
    } member[] = {{"//", names, sizeof names - 1}, {"three.o/", a->bytes, a->size}, {"/0", b->bytes, b->size}};
    uint8_t *const to = calloc(1, a->size + b->size + 1000);
    size_t at = SARMAG;
    memcpy(to, ARMAG, SARMAG);
    for (int i = 0; i < 3; i++) {
        char header[sizeof(struct ar_hdr) + 1];
        snprintf(header, sizeof header, "%-16s%-12d%-6d%-6d%-8d%-10zu`\n", member[i].name, 0, 0, 0, 644, member[i].size);
        memcpy(to + at, header, sizeof(struct ar_hdr));
        memcpy(to + at + sizeof(struct ar_hdr), member[i].bytes, member[i].size);
        at += sizeof(struct ar_hdr) + member[i].size;
        at += at & 1;
    }
    *size = at;
    return to;
}

static bool call(const uint8_t *bytes, size_t size, const char *entry, const char *const *args, size_t count,
                 struct orch_error *error, uint64_t *x0, double *d0)
{
    const struct program_options o = {
        .path = "linked", .entry = entry, .args = args, .arg_count = count, .space_bytes = GUEST_SPACE_BYTES};
    struct unit_fault fault;
    uint8_t v[16];
    struct program *p = program_open(bytes, size, &o, error);
    if (!p)
        return false;
    const enum cpu_stop stop = cpu_core_run(program_core(p), GUEST_BUDGET, NULL, &fault);
    *x0 = cpu_core_x(program_core(p), 0);
    cpu_core_v(program_core(p), 0, v);
    memcpy(d0, v, sizeof *d0);
    if (stop == CPU_STOP_FAULT)
        program_explain_fault(p, &fault, error);
    program_close(p);
    return stop == CPU_STOP_RETURN;
}

struct parts {
    struct program_link_file file[4];
    uint8_t *archive;
    size_t archive_bytes;
};

static bool open_parts(struct parts *p)
{
    memset(p, 0, sizeof *p);
    for (unsigned i = 0; i < 4; i++)
        if (!read_part(i + 1, &p->file[i]))
            return false;
    p->archive = make_archive(&p->file[2], &p->file[3], &p->archive_bytes);
    return p->archive != NULL;
}

static void close_parts(struct parts *p)
{
    for (unsigned i = 0; i < 4; i++)
        free((void *)(uintptr_t)p->file[i].bytes);
    free(p->archive);
}

static void test_parts(void)
{
    static const char *const five[] = {"5"}, *const minus[] = {"-5"};
    struct parts p;
    struct orch_error error = {0};
    uint64_t x0 = 0;
    double d0;
    size_t size = 0;
    if (!open_parts(&p)) {
        close_parts(&p);
        return;
    }
    const struct program_link_file all[] = {p.file[0], p.file[1], {"lib.a", p.archive, p.archive_bytes}};
    CU_ASSERT(program_needs_link(all[0].bytes, all[0].size) && program_is_archive(p.archive, p.archive_bytes));
    uint8_t *joined = program_link(all, 3, "library_sum", &size, &error);
    CHECK(joined && call(joined, size, "library_sum", five, 1, &error, &x0, &d0), "%s", error.text);
    CHECK((int)x0 == 5 + 6 + 2 * (5 + 100) + 5, "%d", (int)x0);
    CHECK(joined && !call(joined, size, "never_wanted", NULL, 0, &error, &x0, &d0) && strstr(error.text, "no function is named"),
          "a member that nobody needs came in: %s", error.text);
    CHECK(joined && call(joined, size, "library_broken", minus, 1, &error, &x0, &d0) && (int)x0 == -5, "%s", error.text);
    CHECK(joined && !call(joined, size, "library_broken", five, 1, &error, &x0, &d0) && strstr(error.text, "calls not_there") &&
              strstr(error.text, "library_broken+") && error.exit_code == ORCH_FAULT,
          "%s", error.text);
    free(joined);
    joined = program_link(&all[2], 1, "third", &size, &error);
    CHECK(joined && call(joined, size, "third", NULL, 0, &error, &x0, &d0) && x0 == 3, "an archive alone: %s", error.text);
    free(joined);
    const struct program_link_file twice[] = {p.file[1], p.file[1]};
    CHECK(!program_link(twice, 2, NULL, &size, &error) && strstr(error.text, "helper is defined a second time"), "%s",
          error.text);
    CHECK(!program_link(&(struct program_link_file){"cut.a", p.archive, 200}, 1, NULL, &size, &error) &&
              strstr(error.text, "cut.a: damaged archive"),
          "%s", error.text);
    close_parts(&p);
}

/* ---- the runtime ---- */

/* The compiled object does to the last bit what its source does here: the object is no older than the source. */
static void test_compiled(void)
{
    static const double points[] = {0.1, 0.5, 1, 1.75, 2.5, 3.9, 7, 20};
    struct parts p;
    struct orch_error error = {0};
    size_t size = 0;
    if (!open_parts(&p)) {
        close_parts(&p);
        return;
    }
    uint8_t *const joined = program_link(p.file, 1, "library_math", &size, &error);
    for (int which = 0; joined && which < 10; which++)
        for (size_t i = 0; i < ARRAY_COUNT(points); i++) {
            const double x = points[i], y = 1.5;
            const double want[] = {ours_exp(x),      ours_log(x),  ours_pow(x, y), ours_sin(x),     ours_cos(x),
                                   ours_atan2(x, y), ours_tanh(x), ours_erf(x),    ours_fmod(x, y), (double)ours_expf((float)x)};
            char a[32], b[32];
            const char *const args[] = {a, b, "1.5d"};
            uint64_t x0;
            double got = 0;
            snprintf(a, sizeof a, "%d", which);
            snprintf(b, sizeof b, "%.17gd", x);
            CHECK(call(joined, size, "library_math", args, 3, &error, &x0, &got) && got == want[which],
                  "function %d of %g: %.17g, here %.17g (make runtime): %s", which, x, got, want[which], error.text);
        }
    free(joined);
    close_parts(&p);
}

static double ulps(double a, double b)
{
    int64_t x, y;
    if (a == b || (isnan(a) && isnan(b)))
        return 0;
    if (isnan(a) || isnan(b) || signbit(a) != signbit(b))
        return 1e18;
    memcpy(&x, &a, 8);
    memcpy(&y, &b, 8);
    return fabs((double)(x - y));
}

static void test_accuracy(void)
{
    static const struct {
        const char *name;
        double (*ours)(double), (*host)(double);
        double low, high, most;
    } cases[] = {{"exp", ours_exp, exp, -700, 700, 1},     {"exp2", ours_exp2, exp2, -1000, 1000, 2},
                 {"expm1", ours_expm1, expm1, -30, 30, 3}, {"log", ours_log, log, 1e-300, 1e3, 1},
                 {"log2", ours_log2, log2, 1e-9, 1e9, 1},  {"log10", ours_log10, log10, 1e-9, 1e9, 1},
                 {"log1p", ours_log1p, log1p, -0.9, 5, 2}, {"sin", ours_sin, sin, -100, 100, 1},
                 {"cos", ours_cos, cos, -1e6, 1e6, 2},     {"tan", ours_tan, tan, -10, 10, 3},
                 {"atan", ours_atan, atan, -20, 20, 3},    {"asin", ours_asin, asin, -1, 1, 4},
                 {"acos", ours_acos, acos, -1, 1, 4},      {"sinh", ours_sinh, sinh, -3, 710.4, 5},
                 {"cosh", ours_cosh, cosh, -710.4, 3, 5},  {"tanh", ours_tanh, tanh, -25, 25, 4},
                 {"cbrt", ours_cbrt, cbrt, -1e9, 1e9, 4},  {"erf", ours_erf, erf, -5, 5, 12},
                 {"round", ours_round, round, -50, 50, 0}, {"floor", ours_floor, floor, -50, 50, 0}};
    static const double special[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 1e-310, 1000, 0.5, 8};
    uint64_t state = 5;
    for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
        double worst = 0, at = 0;
        for (int i = 0; i < 20000; i++) {
            const double u = (double)(suite_random(&state) >> 11) * 0x1p-53,
                         x = cases[c].low + u * (cases[c].high - cases[c].low);
            const double error = ulps(cases[c].ours(x), cases[c].host(x));
            if (error > worst)
                worst = error, at = x;
        }
        CHECK(worst <= cases[c].most, "%s is off by %g units in the last place at %.17g", cases[c].name, worst, at);
        for (size_t i = 0; i < ARRAY_COUNT(special); i++) {
            const double ours = cases[c].ours(special[i]), host = cases[c].host(special[i]);
            const bool circle = isinf(special[i]) && isnan(host);
            CHECK(circle ? isnan(ours) : ulps(ours, host) <= cases[c].most, "%s(%g) is %.17g, not %.17g", cases[c].name,
                  special[i], ours, host);
        }
    }
}

static void test_two_arguments(void)
{
    static const double special[] = {0, -0.0, 1, -1, 2, 3, -3, 0.5, -0.5, INFINITY, -INFINITY, NAN, 1e300, -1e-300};
    uint64_t state = 6;
    double worst = 0;
    for (int i = 0; i < 50000; i++) {
        const double x = ldexp((double)(suite_random(&state) >> 11), -53 + (int)(suite_random(&state) % 40) - 20);
        const double y = ((double)(suite_random(&state) >> 11) * 0x1p-52 - 1) * 40;
        worst = fmax(worst, ulps(ours_pow(x, y), pow(x, y)));
        CHECK(ours_fmod(y, x) == fmod(y, x), "fmod(%g, %g)", y, x);
        CHECK(ulps(ours_atan2(x, y), atan2(x, y)) <= 4, "atan2(%g, %g)", x, y);
        CHECK(ulps(ours_hypot(x, y), hypot(x, y)) <= 2, "hypot(%g, %g)", x, y);
    }
    CHECK(worst <= 2, "pow is off by %g units in the last place", worst);
    for (size_t i = 0; i < ARRAY_COUNT(special); i++)
        for (size_t k = 0; k < ARRAY_COUNT(special); k++) {
            const double x = special[i], y = special[k];
            CHECK(ulps(ours_pow(x, y), pow(x, y)) <= 1, "pow(%g, %g) is %g, not %g", x, y, ours_pow(x, y), pow(x, y));
            CHECK(ulps(ours_atan2(x, y), atan2(x, y)) <= 1, "atan2(%g, %g) is %g, not %g", x, y, ours_atan2(x, y), atan2(x, y));
        }
}

static void test_memory(void)
{
    uint8_t a[100], b[100];
    for (size_t from = 0; from < 20; from++)
        for (size_t to = 0; to < 20; to++)
            for (size_t n = 0; n < 60; n += 7) {
                for (size_t i = 0; i < sizeof a; i++)
                    a[i] = b[i] = (uint8_t)(i * 7);
                memmove(a + to, a + from, n);
                ours_memmove(b + to, b + from, n);
                CU_ASSERT_EQUAL(memcmp(a, b, sizeof a), 0);
                memset(a + to, 0x5a, n);
                ours_memset(b + to, 0x5a, n);
                CU_ASSERT_EQUAL(ours_memcmp(a, b, sizeof a), 0);
            }
    CU_ASSERT(ours_memcmp("abc", "abd", 3) < 0 && ours_strcmp("b", "abc") > 0 && ours_strncmp("abx", "aby", 2) == 0);
    CU_ASSERT_EQUAL(ours_strlen("seven.."), 7);
}

static const struct suite_test tests[] = {
    {"objects and archives become one program", test_parts},
    {"the runtime that is checked in is that of its source", test_compiled},
    {"its functions agree with the host's", test_accuracy},
    {"and those of two arguments", test_two_arguments},
    {"memory and strings", test_memory},
};
SUITE_MAIN("program link", tests)
