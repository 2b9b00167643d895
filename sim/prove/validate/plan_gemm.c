/* Matrix products by somebody's library, run as orchard's own kernel of the same size: on AMX, and where the table says that it
 * was NEON code, on cores. Libraries differ in blocking and threads, so these rows say more about the kernel than about the unit;
 * their note says so.
 *
 * Accelerate is taken to share large products by one thread for each AMX block of P cores (plan_launch.h); nothing but rates is
 * published.
 */
#include "isa/array_count.h"
#include "sim/prove/validate/plan_launch.h"
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
    {"dgemm_accelerate", "f64"},
    {"dgemm_openblas", "f64"},
    {"DGEMM", "f64"},
    {"int16 matmul hand-written", "i16"},
    {"generated f32 matmul", "f32"},
    {"PyTorch CPU GEMM f32", "f32"},
    {"torch_matmul_best", "f32"},
};

static const char *precision_of(const struct validate_row *row)
{
    const char *const what = row->what;
    if (strncmp(what, "clpeak_cpu_accelerate_gemm", 26) == 0)
        return strstr(row->shape, "dgemm") ? "f64" : "f32";
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (strstr(what, names[i].part))
            return names[i].precision;
    return NULL;
}

static unsigned size_of(const struct validate_row *row)
{
    unsigned n;
    const char *const size = strstr(row->condition, "N=");
    if ((size && sscanf(size, "N=%u", &n) == 1) || sscanf(row->shape, "%u^3", &n) == 1)
        return n;
    if (sscanf(row->what, "Accelerate SGEMM %u", &n) == 1)
        return n;
    if (sscanf(row->shape, "sgemm %uk", &n) == 1)
        return 1024 * n;
    return 0;
}

/* One thread, in-process; or the row's threads, as a program of one launch. */
static bool take_size(struct validate_row *row, struct validate_program *program, unsigned n, const char *precision, bool one)
{
    const bool small = !validate_accelerate_shares(n, n, n), neon = strcmp(row->device, "cpu") == 0;
    if (!neon && (one || small)) {
        program->threads = 1;
        program->warm = true;
        snprintf(program->workload, sizeof program->workload, "gemm:%ux%ux%u", n, n, n);
        snprintf(program->precision, sizeof program->precision, "%s", precision);
        return true;
    }
    if (strcmp(precision, "f32") != 0 && strcmp(precision, "f64") != 0)
        return validate_refuse(row, "products in %s are not shared by several cores", precision);
    struct validate_launch *const l = &program->launch[program->launches++];
    *l = (struct validate_launch){.times = 1, .cores = one ? 1 : 0};
    l->blocks = neon ? 0 : validate_accelerate_blocks(n, n, n);
    snprintf(l->unit, sizeof l->unit, "%s", neon ? "cpu" : "amx");
    snprintf(l->workload, sizeof l->workload, "gemm:%ux%ux%u", n, n, n);
    snprintf(l->precision, sizeof l->precision, "%s", precision);
    return true;
}

/* ---- whisper.cpp's bench: ggml's product of N x N weights and N x N activations by one thread ---- */

#define GGML_LEAST 64
#define GGML_WHOLE 256 /* larger ones are simulated for two and for one block of sixteen activations */

/* Where there are products of byte matrices, ggml takes two rows of both operands at a time (ggml-cpu.c: nrows = 2 of Q4_0 and
 * Q8_0 with __ARM_FEATURE_MATMUL_INT8). Builds are for the machine that they run on (GGML_NATIVE). */
static bool add_dots(const struct validate_row *row, struct validate_program *program, unsigned rows, unsigned n,
                     const char *precision, double times)
{
    const bool half = strcmp(precision, "f16") == 0, blocks = precision[0] == 'q', first = strncmp(row->chip, "M1", 2) == 0;
    struct validate_launch *const l = &program->launch[program->launches++];
    *l = (struct validate_launch){.times = times, .cores = 1, .unit = "cpu"};
    snprintf(l->workload, sizeof l->workload, "gemm:%ux%ux%u,tb=1%s%s", rows, n, n,
             !blocks ? ",algo=dots"
             : first ? ""
                     : ",algo=pairs",
             half ? ",acc=f16" : "");
    snprintf(l->precision, sizeof l->precision, "%s", precision);
    return true;
}

/* Builds with a BLAS widen the weights to f32, row after row (ggml-blas.cpp: to_float, by one thread), and call it. */
static bool plan_ggml_blas(struct validate_row *row, struct validate_program *program, unsigned n, const char *precision)
{
    program->note = "orchard's AMX kernel instead of Accelerate's, and its look-up of rows instead of ggml's widening of weights";
    if (strcmp(precision, "f32") == 0)
        return take_size(row, program, n, "f32", false);
    const bool small = !validate_accelerate_shares(n, n, n);
    struct validate_launch *const widen = &program->launch[program->launches++], *const product =
                                                                                     &program->launch[program->launches++];
    *widen = (struct validate_launch){.times = 1, .cores = 1, .unit = "cpu"};
    *product = (struct validate_launch){.times = 1, .cores = small ? 1 : 0, .unit = "amx", .precision = "f32"};
    product->blocks = validate_accelerate_blocks(n, n, n);
    snprintf(widen->workload, sizeof widen->workload, "embedding:%ux%ux%u", n, n, n);
    snprintf(widen->precision, sizeof widen->precision, "%s", precision);
    snprintf(product->workload, sizeof product->workload, "gemm:%ux%ux%u", n, n, n);
    return true;
}

/* Builds without a BLAS take one dot product after the other. */
static bool plan_ggml(struct validate_row *row, struct validate_program *program)
{
    static const char *const types[][2] = {{"f32", "f32"}, {"f16", "f16"}, {"Q4_0", "q4_0"}, {"Q8_0", "q8_0"}};
    const char *precision = NULL;
    unsigned m, n, k;
    if (sscanf(row->shape, "%ux%ux%u", &m, &n, &k) != 3 || m != n || n != k || strcmp(row->unit, "GFLOPS") != 0)
        return validate_refuse(row, "shape '%.60s' is not read", row->shape);
    program->core = VALIDATE_P_CORE;
    program->measure = VALIDATE_RATE;
    program->work = 2.0 * n * n * n;
    for (size_t i = 0; i < ARRAY_COUNT(types); i++)
        if (strcmp(validate_cell(row, "precision"), types[i][0]) == 0)
            precision = types[i][1];
    if (!precision)
        return validate_refuse(row, "ggml multiplies %.10s in another way: no kernel for it", validate_cell(row, "precision"));
    if (strcmp(row->device, "amx") == 0)
        return plan_ggml_blas(row, program, n, precision);
    program->note = "orchard's kernel after ggml's dot products";
    /* What a graph takes to be computed at all is measured by its smallest products. */
    snprintf(program->framework, sizeof program->framework, "ggml-cpu");
    program->framework_bytes = 4.0 * n * n;
    program->measures_overhead = n == GGML_LEAST;
    if (n <= GGML_WHOLE)
        return add_dots(row, program, n, n, precision, 1);
    program->beyond_caches = true;
    const double rest = n / 16.0 - 1;
    return add_dots(row, program, 16, n, precision, 1 - rest) && add_dots(row, program, 32, n, precision, rest);
}

bool validate_plan_gemm(struct validate_row *row, struct validate_program *program)
{
    if (strncmp(row->what, "ggml_mul_mat_", 13) == 0)
        return plan_ggml(row, program);
    const char *const precision = precision_of(row);
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
    if (!take_size(row, program, n, precision, one))
        return false;
    program->core = VALIDATE_P_CORE;
    program->note = OUR_KERNEL;
    program->work = 2.0 * n * n * n / (tera ? 1000 : 1);
    program->measure = VALIDATE_RATE;
    return true;
}
