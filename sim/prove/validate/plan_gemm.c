/* Matrix products by somebody's library, run as orchard's own AMX kernel of the same size. Libraries differ in blocking and
 * threads, so these rows say more about the kernel than about the unit; their note says so. */
#include "isa/array_count.h"
#include "sim/prove/validate/program.h"

#include <string.h>

#define OUR_KERNEL "our kernel instead of the measured library's"
#define LARGE      1024 /* "large matrices": a size that is simulated in a second */

struct gemm_name {
    const char *part;
    const char *precision;
};

static const struct gemm_name names[] = {
    {"sgemm", "f32"},
    {"SGEMM", "f32"},
    {"DGEMM", "f64"},
    {"int16 matmul hand-written", "i16"},
    {"generated f32 matmul", "f32"},
    {"PyTorch CPU GEMM f32", "f32"},
};

static const char *precision_of(const char *what)
{
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (strstr(what, names[i].part))
            return names[i].precision;
    return NULL;
}

static unsigned size_of(const struct validate_row *row)
{
    unsigned n;
    const char *const size = strstr(row->condition, "N=");
    if (size && sscanf(size, "N=%u", &n) == 1)
        return n;
    if (sscanf(row->what, "Accelerate SGEMM %u", &n) == 1)
        return n;
    return 0;
}

#define SIMULATED_PRODUCTS                                                                                                       \
    (UINT64_C(1) << 27) /* most multiply-adds that are simulated; more rows or batches are extrapolated                          \
                         */

/* Reads "64x256 * 256x32", "100x64x256 * 256x32" (one tall product) or "100x64x256 * 100x256x32" (a batch). */
static bool read_shape(const char *shape, uint64_t *batch, uint64_t *m, uint64_t *n, uint64_t *k)
{
    unsigned long long a, b, c, d, e, f;
    if (sscanf(shape, "%llux%llux%llu * %llux%llux%llu", &a, &b, &c, &d, &e, &f) == 6 && a == d && c == e)
        return *batch = a, *m = b, *k = c, *n = f, true;
    if (sscanf(shape, "%llux%llux%llu * %llux%llu", &a, &b, &c, &d, &e) == 5 && c == d)
        return *batch = 1, *m = a * b, *k = c, *n = e, true;
    if (sscanf(shape, "%llux%llu * %llux%llu", &a, &b, &c, &d) == 4 && b == c)
        return *batch = 1, *m = a, *k = b, *n = d, true;
    return false;
}

/* Products of frameworks that use Accelerate: a part of the rows (or of the batch) is simulated and its time extrapolated, since
 * the rest repeats it. */
static bool plan_framework(struct validate_row *row, struct validate_program *program)
{
    uint64_t batch, m, n, k;
    if (!read_shape(row->shape, &batch, &m, &n, &k) || !m || !n || !k || !batch)
        return validate_refuse(row, "shape '%.60s' is not read", row->shape);
    if (strcmp(row->unit, "ms") != 0)
        return validate_refuse(row, "a product in '%.20s', not a time", row->unit);
    const double whole = (double)batch * (double)m;
    while (batch > 1 && batch * m * n * k > SIMULATED_PRODUCTS)
        batch = (batch + 1) / 2;
    while (m > 64 && m * n * k > SIMULATED_PRODUCTS)
        m = (m + 1) / 2;
    if (n * k > SIMULATED_PRODUCTS / 16)
        return validate_refuse(row, "%llu x %llu takes minutes to simulate", (unsigned long long)n, (unsigned long long)k);
    snprintf(program->workload, sizeof program->workload, "gemm:%llux%llux%llu,batch=%llu", (unsigned long long)m,
             (unsigned long long)n, (unsigned long long)k, (unsigned long long)batch);
    snprintf(program->precision, sizeof program->precision, "f32");
    program->core = VALIDATE_P_CORE;
    program->warm = true;
    program->note = OUR_KERNEL;
    program->measure = VALIDATE_NS_PER_WORK;
    program->work = 1e6 * (double)batch * (double)m / whole; /* milliseconds of the complete product */
    return true;
}

bool validate_plan_gemm(struct validate_row *row, struct validate_program *program)
{
    if (strcmp(row->device, "amx") == 0 && (strncmp(row->what, "matmul_", 7) == 0 || strncmp(row->what, "linear_", 7) == 0))
        return plan_framework(row, program);
    const char *const precision = precision_of(row->what);
    if (!precision)
        return false;
    const bool tera = strcmp(row->unit, "TFLOPS") == 0;
    if (!tera && strcmp(row->unit, "GFLOPS") != 0 && strcmp(row->unit, "GOPS") != 0)
        return validate_refuse(row, "a product in '%.20s', not in operations per second", row->unit);
    if (strstr(row->what, "largest observed"))
        return validate_refuse(row, "the best figure seen, without its size");
    if (strstr(row->what, "on-line packing"))
        return validate_refuse(row, "the CPU packs while the unit works: the author's code is not rebuilt");
    const unsigned given = size_of(row), n = given ? given : LARGE;
    program->guess = given ? NULL : "the size";
    if (n > 2048)
        return validate_refuse(row, "%u x %u x %u takes minutes to simulate", n, n, n);
    const bool one =
        strstr(row->condition, "single thread") || strstr(row->condition, "1 core") || strstr(row->condition, "1 caller thread");
    program->core = VALIDATE_P_CORE;
    program->threads = one ? 1 : 0;
    program->warm = true;
    snprintf(program->workload, sizeof program->workload, "gemm:%ux%ux%u", n, n, n);
    snprintf(program->precision, sizeof program->precision, "%s", precision);
    program->note = OUR_KERNEL;
    program->work = 2.0 * n * n * n / (tera ? 1000 : 1);
    program->measure = VALIDATE_RATE;
    return true;
}
