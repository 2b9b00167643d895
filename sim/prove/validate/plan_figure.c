/* Rows with a single figure for a kernel on the GPU: products, copies and matrix times vector, without the time that a framework
 * adds. They are built from kernels of orchard's GPU library. */
#include "isa/array_count.h"
#include "sim/prove/validate/plan_launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB 1073741824.0

struct figure {
    struct validate_row *row;
    struct validate_program *program;
};

static bool launch(struct figure *f, const char *precision, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool launch(struct figure *f, const char *precision, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const bool ok = validate_launch_add(f->program, 1, precision, format, args);
    va_end(args);
    return ok || validate_refuse(f->row, "more than %d launches", VALIDATE_LAUNCHES);
}

/* Reads "f32", "f16", "bf16(emulated)" or "bf16/f16" (operands in bf16 on chips that have it; both have two bytes); NULL for
 * others. */
static const char *precision_of(const struct validate_row *row)
{
    const char *const text = validate_cell(row, "precision");
    return strcmp(text, "f32") == 0                                    ? "f32"
           : strcmp(text, "f16") == 0 || strcmp(text, "bf16/f16") == 0 ? "f16"
           : strncmp(text, "bf16", 4) == 0                             ? "bf16"
                                                                       : NULL;
}

static bool no_precision(const struct figure *f)
{
    return validate_refuse(f->row, "no kernel for the precision '%.20s'", validate_cell(f->row, "precision"));
}

/* Sets what is measured: `work` operations (or bytes), in the row's own unit. */
static bool as_rate(struct figure *f, double work)
{
    static const struct {
        const char *unit;
        double divisor;
    } units[] = {{"GFLOPS", 1}, {"TFLOPS", 1000}, {"GB/s", 1}};
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        if (strcmp(f->row->unit, units[i].unit) != 0)
            continue;
        f->program->measure = VALIDATE_RATE;
        f->program->work = work / units[i].divisor;
        return true;
    }
    return validate_refuse(f->row, "unit '%.20s' is not read", f->row->unit);
}

/* ---- products ---- */

/* Rows of metal-flash-attention run kernels after its own from M3 on. Up to M2 the originals leave copies to an engine, for which
 * no public instruction is known: a kernel whose threads copy is another one. */
static void as_mfa(struct figure *f)
{
    struct validate_launch *const l = &f->program->launch[f->program->launches - 1];
    const bool early = strncmp(f->row->chip, "M1", 2) == 0 || strncmp(f->row->chip, "M2", 2) == 0;
    if (!f->row->own_kernels && !early)
        snprintf(l->kernels, sizeof l->kernels, "mfa");
    validate_launch_note(f->row, f->program);
}

/* The rows' programme has the GPU idle for seconds while it checks the results, then times so many command buffers of so many
 * launches by the GPU's own times and keeps the fastest (metal-flash-attention, DerivativeSoftmaxTest.swift and main.cpp). */
static void as_burst(struct figure *f, unsigned buffers, unsigned launches)
{
    f->program->idle_seconds = 1;
    f->program->burst = (struct run_burst){buffers, launches};
}

static bool add_product(struct figure *f, const char *precision, unsigned m, unsigned n, unsigned k, const char *options)
{
    return launch(f, precision, "gemm:%ux%ux%u%s", m, n, k, options);
}

/* "Best" and "large" products without a size: takes one that fills every chip. */
static bool plan_large_product(struct figure *f)
{
    enum { N = 4096 };
    const char *const precision = precision_of(f->row);
    if (!precision)
        return no_precision(f);
    f->program->guess = "the size";
    return add_product(f, precision, N, N, N, "") && as_rate(f, 2.0 * N * N * N);
}

/* Multiply-adds per core and cycle of a product. */
static bool plan_rate_per_core(struct figure *f)
{
    enum { N = 4096 };
    const char *const precision = precision_of(f->row);
    if (!precision)
        return no_precision(f);
    f->program->guess = "the size";
    f->program->measure = VALIDATE_WORK_PER_CYCLE;
    f->program->work = (double)N * N * N;
    return add_product(f, precision, N, N, N, "");
}

/* "1488^3 TN": kernels of one command buffer, timed by the GPU. */
static bool plan_square(struct figure *f)
{
    unsigned n;
    char a, b;
    const char *const precision = precision_of(f->row);
    if (!precision)
        return no_precision(f);
    if (sscanf(f->row->shape, "%u^3 %c%c", &n, &a, &b) != 3 || n > 8192)
        return validate_refuse(f->row, "shape '%.60s' is not read", f->row->shape);
    char options[16];
    snprintf(options, sizeof options, ",ta=%d,tb=%d", a == 'T', b == 'T');
    if (!add_product(f, precision, n, n, n, options))
        return false;
    as_mfa(f);
    as_burst(f, 15, 20);
    return as_rate(f, 2.0 * n * n * n);
}

/* The gradient of a softmax's scores: N x N results of D products each gate a matrix that is read and written. */
static bool plan_softmax_gradient(struct figure *f)
{
    unsigned n, d;
    const char *const precision = precision_of(f->row);
    if (!precision)
        return no_precision(f);
    if (sscanf(f->row->shape, "N=%u D=%u", &n, &d) != 2 || n > 8192 || d > 8192 || strcmp(f->row->unit, "us") != 0)
        return validate_refuse(f->row, "shape '%.60s' is not read", f->row->shape);
    f->program->measure = VALIDATE_NS_PER_WORK;
    f->program->work = 1e3;
    if (!add_product(f, precision, n, n, d, ",tb=1,gate=1"))
        return false;
    as_mfa(f);
    as_burst(f, 10, 10);
    return true;
}

/* ---- memory ---- */

static bool plan_gemv(struct figure *f)
{
    /* The script went through 32 feed-forward matrices of that size in turn (philipturner in llama.cpp issue 1545). A block of 32
     * weights takes 18 bytes. */
    enum { ROWS = 16384, COLUMNS = 4096 };
    f->program->beyond_caches = true; /* a network uses other matrices in between */
    if (!launch(f, "q4_0", "gemv:%dx%d", ROWS, COLUMNS))
        return false;
    /* the first kernel of llama.cpp (pull request 1642), of which another measured 167 GB/s on an M1 Max (pull request 2188) */
    if (strncmp(f->row->what, "gemv_llama.cpp", 14) == 0 && !f->row->own_kernels)
        snprintf(f->program->launch[0].kernels, sizeof f->program->launch[0].kernels, "ggml@2023-06");
    return as_rate(f, (double)ROWS * COLUMNS * 18 / 32);
}

static bool plan_copy(struct figure *f)
{
    return launch(f, "f32", "copy:%.0f", GIB / 4) && as_rate(f, 2 * GIB / 4);
}

static bool plan_triad(struct figure *f)
{
    return launch(f, "f32", "stream-triad:%.0f", GIB / 4) && as_rate(f, 3 * GIB / 4);
}

/* ---- lattices ---- */

/* FluidX3D's steps, "FP32/FP16S": arithmetic and storage. MLUP/s are millions of cells a second; thousands of steps are queued at
 * a time, so that none waits for its command buffer. */
static bool plan_lattice(struct figure *f)
{
    enum { SIDE = 256 };
    const char *const precision = validate_cell(f->row, "precision");
    if (strcmp(f->row->unit, "MLUP/s") != 0 || strncmp(f->row->shape, "256^3", 5) != 0)
        return validate_refuse(f->row, "unit '%.20s' or shape '%.60s' is not read", f->row->unit, f->row->shape);
    if (strcmp(precision, "FP32/FP32") != 0 && strcmp(precision, "FP32/FP16S") != 0)
        return validate_refuse(f->row, "the library stores populations as f32 or f16, not '%.20s'", precision);
    f->program->measure = VALIDATE_RATE;
    f->program->work = 1e3 * SIDE * SIDE * SIDE;
    return launch(f, strcmp(precision, "FP32/FP32") == 0 ? "f32" : "f16", "lattice:%dx%dx%d", SIDE, SIDE, SIDE);
}

/* The same as bytes that each cell moves at least. */
static bool plan_lattice_bytes(struct figure *f)
{
    enum { SIDE = 256, BYTES_F32 = 153, BYTES_F16 = 77 };
    const bool whole = strstr(f->row->what, "FP32/FP32") != NULL;
    if (!whole && !strstr(f->row->what, "FP32/FP16S"))
        return validate_refuse(f->row, "the library stores populations as f32 or f16, not as '%.60s' says", f->row->what);
    return launch(f, whole ? "f32" : "f16", "lattice:%dx%dx%d", SIDE, SIDE, SIDE) &&
           as_rate(f, (whole ? 1.0 * BYTES_F32 : BYTES_F16) * SIDE * SIDE * SIDE);
}

/* ---- the row ---- */

static const struct {
    const char *name;
    bool (*plan)(struct figure *f);
} figures[] = {
    {"torch_matmul_best", plan_large_product},
    {"tf_matmul_best", plan_large_product},
    {"sgemm_mps", plan_large_product},
    {"sgemm_metal", plan_large_product},
    {"clpeak_metal_mps-gemm-fp", plan_large_product},
    {"matrix_ffma_per_core_cycle", plan_rate_per_core},
    {"gemm_square", plan_square},
    {"gemm_NxNxD_fused_softmax_gradient", plan_softmax_gradient},
    {"gemv_llama.cpp_new_kernel", plan_gemv},
    {"gemv_int4_tuned_kernel", plan_gemv},
    {"torch_copy_gpu", plan_copy},
    {"stream_gpu_best", plan_triad},
    {"lbm_d3q19", plan_lattice},
    {"GPU bandwidth in LBM", plan_lattice_bytes},
};

/* Rows of the GPU for which no launch of the library stands. */
static const char *const refusals[][2] = {
    {"llama", "a whole network"},
    {"llm_", "a whole network"},
    {"gptoss", "a whole network"},
    {"ds4flash", "a whole network"},
    {"whisper", "a whole network"},
    {"calm_", "a whole network"},
    {"GPU decode bandwidth", "a whole network, with weights in fp8 or gf4"},
    {"ollama", "a whole network"},
    {"mlc_", "a whole network"},
    {"distilbert", "a whole network, in training"},
    {"webgpu_sgemm", "a product without matrix instructions: the library's kernel has them"},
    {"flash_attention_", "a share of the peak for sequences and backward passes whose size is not given"},
    {"clpeak_metal_mps-attention", "the source does not give the size"},
    {"kernel_launch_latency", "the time of an empty command buffer, a parameter itself"},
    {"image_memory_bandwidth", "textures are not modelled"},
    {"texture_sample_rate", "textures are not modelled"},
    {"transfer_bandwidth", "a copy by the CPU, in the driver"},
    {"gpu_copy_", "a copy by the driver"},
};

/* A figure's name, and behind it what the table of CPU and memory says of the size. */
static bool is_named(const struct validate_row *row, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(row->what, name, length) == 0 && (row->what[length] == '\0' || row->what[length] == ' ');
}

static bool is_gpu_row(const struct validate_row *row)
{
    static const char *const of_memory[] = {"torch_copy_gpu",         "stream_gpu_best",      "gemv_llama.cpp_new_kernel",
                                            "gemv_int4_tuned_kernel", "GPU bandwidth in LBM", "GPU decode bandwidth"};
    for (size_t i = 0; i < ARRAY_COUNT(of_memory) && !*row->device; i++)
        if (is_named(row, of_memory[i]))
            return true;
    return strcmp(row->device, "gpu") == 0 ||
           (strcmp(row->device, "mem") == 0 &&
            (strncmp(row->what, "torch_copy_gpu", 14) == 0 || strncmp(row->what, "stream_gpu", 10) == 0 ||
             strncmp(row->what, "gpu_copy", 8) == 0));
}

bool validate_plan_figure(struct validate_row *row, struct validate_program *program)
{
    struct figure f = {row, program};
    if (!is_gpu_row(row))
        return false;
    validate_launch_note(row, program);
    for (size_t i = 0; i < ARRAY_COUNT(figures); i++)
        if (is_named(row, figures[i].name))
            return figures[i].plan(&f);
    for (size_t i = 0; i < ARRAY_COUNT(refusals); i++)
        if (strstr(row->what, refusals[i][0]))
            return validate_refuse(row, "%s", refusals[i][1]);
    program->note = NULL;
    return false;
}
