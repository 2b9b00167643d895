#include "isa/array_count.h"
#include "sim/workload/amx/kernel.h"

#include "sim/base/suggest.h"
#include "units/gpu/kernels/gpu_kernels.h"
#include "units/kernel_text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNEL_GEMM, KERNEL_GEMV };

static const struct kernel_info kernels[] = {
    [KERNEL_GEMM] = {"gemm",
                     "MxNxK[,batch=B][,ta=0|1][,tb=0|1][,lda=L][,ldb=L][,ldc=L][,alpha=X][,beta=X][,acc=f16|f32][,bm=M][,bn=N][,"
                     "bk=K][,packed=0|1]",
                     "amx", "f64 f32 f16 bf16 i16 i8",
                     "C = alpha * op(A) * op(B) + beta * C, row-major; ta/tb: operand stored transposed; acc: type of sums and "
                     "results for f16 (default f32); bm, bn, bk: block of the packed operands (default: as the caches suggest); "
                     "packed=1: b are constants that were brought into panels before the run"},
    [KERNEL_GEMV] = {"gemv", "MxN[,lda=L]", "amx", "f64 f32", "y = A * x, A row-major"},
};
#define KERNELS (ARRAY_COUNT(kernels))

size_t kernel_count(void)
{
    return KERNELS;
}

const struct kernel_info *kernel_at(size_t index)
{
    return index < KERNELS ? &kernels[index] : NULL;
}

bool kernel_has(const char *workload)
{
    return kernel_info_find(kernels, KERNELS, workload) != NULL;
}

static const struct kernel_info *find_kernel(const char *name, struct orch_error *error)
{
    struct suggest s;
    char phrase[96];
    suggest_start(&s, name);
    for (size_t i = 0; i < KERNELS; i++) {
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
        suggest_offer(&s, kernels[i].name);
    }
    for (size_t i = 0; i < gpu_kernel_count(); i++)
        suggest_offer(&s, gpu_kernel_at(i)->name);
    orch_fail(error, ORCH_USAGE, "unknown kernel '%s'%s; `orchard kernels` lists them", name,
              suggest_phrase(&s, phrase, sizeof phrase));
    return NULL;
}

/* ---- element types ---- */

struct precision_row {
    const char *precision, *accumulate;
    enum gemm_kind kind;
};
static const struct precision_row gemm_precisions[] = {
    {"f64", "f64", GEMM_F64},       {"f32", "f32", GEMM_F32},     {"f16", "f32", GEMM_F16_F32}, {"f16", "f16", GEMM_F16},
    {"bf16", "f32", GEMM_BF16_F32}, {"i16", "i32", GEMM_I16_I32}, {"i8", "i32", GEMM_I8_I32},
};

static bool set_precision(struct kernel_call *call, const char *precision, const char *accumulate, struct orch_error *error)
{
    const bool gemv = call->info == &kernels[KERNEL_GEMV];
    for (size_t i = 0; i < ARRAY_COUNT(gemm_precisions); i++) {
        const struct precision_row *r = &gemm_precisions[i];
        if (strcmp(r->precision, precision) != 0 || (accumulate[0] && strcmp(r->accumulate, accumulate) != 0))
            continue;
        if (gemv && r->kind != GEMM_F32 && r->kind != GEMM_F64)
            break;
        call->kind = r->kind;
        snprintf(call->precision, sizeof call->precision, "%s", r->precision);
        snprintf(call->accumulate, sizeof call->accumulate, "%s", r->accumulate);
        return true;
    }
    return orch_fail(error, ORCH_USAGE, "%s on amx has no precision %s%s%s; it has %s", call->info->name, precision,
                     accumulate[0] ? " with acc=" : "", accumulate, call->info->precisions);
}

/* ---- shapes and options ---- */

static bool parse_count(const char *text, const char **end, uint64_t *value)
{
    char *stop;
    errno = 0;
    if (*text < '0' || *text > '9')
        return false;
    *value = strtoull(text, &stop, 10);
    *end = stop;
    return errno == 0 && stop != text && kernel_size_suffix(end, value);
}

/* Reads "4x5x6": exactly `count` positive numbers up to 2^28: the kernels count rows and their bytes in 32 bits. */
static bool parse_shape(const char *text, const char **end, uint32_t *out, int count)
{
    for (int i = 0; i < count; i++) {
        uint64_t v;
        if (i && *text++ != 'x')
            return false;
        if (!parse_count(text, &text, &v) || v == 0 || v > (1u << 28))
            return false;
        out[i] = (uint32_t)v;
    }
    *end = text;
    return *text == 0 || *text == ',';
}

struct option_place {
    const char *name;
    enum { OPTION_FLAG, OPTION_U32, OPTION_U64, OPTION_REAL, OPTION_TEXT } type;
    void *to;
    size_t size;
};

static bool store_option(const struct option_place *o, const char *value)
{
    const char *end;
    char *stop;
    uint64_t v;
    switch (o->type) {
    case OPTION_TEXT: return snprintf(o->to, o->size, "%s", value) < (int)o->size;
    case OPTION_REAL:
        errno = 0;
        *(double *)o->to = strtod(value, &stop);
        return stop != value && *stop == 0 && errno == 0 && isfinite(*(double *)o->to);
    default: break;
    }
    if (!parse_count(value, &end, &v) || *end)
        return false;
    if (o->type == OPTION_U64) {
        *(uint64_t *)o->to = v;
        return v <= (UINT64_C(1) << 24);
    }
    *(uint32_t *)o->to = (uint32_t)v;
    return o->type == OPTION_FLAG ? v <= 1 : v >= 1 && v <= (1u << 20);
}

static bool parse_options(const char *text, const char *kernel, const struct option_place *options, size_t count,
                          struct orch_error *error)
{
    while (*text == ',') {
        char item[64];
        const size_t length = strcspn(++text, ",");
        if (length >= sizeof item)
            return orch_fail(error, ORCH_USAGE, "%s: option '%.40s...' is too long", kernel, text);
        memcpy(item, text, length);
        item[length] = 0;
        text += length;
        char *equals = strchr(item, '=');
        if (equals)
            *equals = 0;
        const struct option_place *o = NULL;
        struct suggest near;
        char phrase[96];
        suggest_start(&near, item);
        for (size_t i = 0; i < count; i++) {
            suggest_offer(&near, options[i].name);
            if (strcmp(item, options[i].name) == 0)
                o = &options[i];
        }
        if (!o)
            return orch_fail(error, ORCH_USAGE, "%s has no option '%s'%s", kernel, item,
                             suggest_phrase(&near, phrase, sizeof phrase));
        if (!equals || !store_option(o, equals + 1))
            return orch_fail(error, ORCH_USAGE, "%s: '%s' needs a value in range, as in %s", kernel, item,
                             o->type == OPTION_FLAG   ? "ta=1"
                             : o->type == OPTION_TEXT ? "acc=f16"
                                                      : "batch=8");
    }
    return true;
}

static bool check_leading(const struct kernel_call *c, struct orch_error *error)
{
    const uint64_t a = c->transpose_a ? c->m : c->k, b = c->transpose_b ? c->k : c->n;
    if (c->lda < a || c->ldb < b || c->ldc < c->n)
        return orch_fail(error, ORCH_USAGE,
                         "gemm: a leading dimension is shorter than its row (lda >= %" PRIu64 ", ldb >= %" PRIu64 ", ldc >= %u)",
                         a, b, c->n);
    return true;
}

static bool parse_gemm(const char *shape, const char *precision, struct kernel_call *c, struct orch_error *error)
{
    const char *rest;
    uint32_t mnk[3];
    char acc[8] = "";
    if (!parse_shape(shape, &rest, mnk, 3))
        return orch_fail(error, ORCH_USAGE,
                         "gemm wants MxNxK, three numbers up to 268435456, as in gemm:1024x1024x1024; got '%s'", shape);
    c->m = mnk[0];
    c->n = mnk[1];
    c->k = mnk[2];
    const struct option_place options[] = {
        {"batch", OPTION_U32, &c->batch, 0},
        {"ta", OPTION_FLAG, &c->transpose_a, 0},
        {"tb", OPTION_FLAG, &c->transpose_b, 0},
        {"lda", OPTION_U64, &c->lda, 0},
        {"ldb", OPTION_U64, &c->ldb, 0},
        {"ldc", OPTION_U64, &c->ldc, 0},
        {"alpha", OPTION_REAL, &c->alpha, 0},
        {"beta", OPTION_REAL, &c->beta, 0},
        {"acc", OPTION_TEXT, acc, sizeof acc},
        {"bm", OPTION_U32, &c->blocks.m, 0},
        {"bn", OPTION_U32, &c->blocks.n, 0},
        {"bk", OPTION_U32, &c->blocks.k, 0},
        {"packed", OPTION_FLAG, &c->blocks.loaded, 0},
    };
    if (!parse_options(rest, "gemm", options, ARRAY_COUNT(options), error) || !set_precision(c, precision, acc, error))
        return false;
    c->lda = c->lda ? c->lda : c->transpose_a ? c->m : c->k;
    c->ldb = c->ldb ? c->ldb : c->transpose_b ? c->k : c->n;
    c->ldc = c->ldc ? c->ldc : c->n;
    if ((c->kind == GEMM_I8_I32 || c->kind == GEMM_I16_I32) && (c->alpha != 1 || (c->beta != 0 && c->beta != 1)))
        return orch_fail(error, ORCH_USAGE, "gemm: integer products take alpha=1 and beta=0 or 1");
    if (c->blocks.loaded && c->batch > 1)
        return orch_fail(error, ORCH_USAGE, "gemm: packed=1 wants one b for all that is multiplied by it (batch=1)");
    return check_leading(c, error);
}

static bool parse_gemv(const char *shape, const char *precision, struct kernel_call *c, struct orch_error *error)
{
    const char *rest;
    uint32_t mn[2];
    if (!parse_shape(shape, &rest, mn, 2))
        return orch_fail(error, ORCH_USAGE, "gemv wants MxN, two numbers up to 268435456, as in gemv:4096x4096; got '%s'", shape);
    c->m = mn[0];
    c->n = mn[1];
    c->k = 1;
    const struct option_place options[] = {{"lda", OPTION_U64, &c->lda, 0}};
    if (!parse_options(rest, "gemv", options, 1, error) || !set_precision(c, precision, "", error))
        return false;
    c->lda = c->lda ? c->lda : c->n;
    if (c->lda < c->n)
        return orch_fail(error, ORCH_USAGE, "gemv: lda is shorter than a row (lda >= %u)", c->n);
    return true;
}

bool kernel_parse(const char *workload, const char *precision, struct kernel_call *call, struct orch_error *error)
{
    char name[32];
    const char *colon = strchr(workload, ':');
    if (!colon || (size_t)(colon - workload) >= sizeof name)
        return orch_fail(error, ORCH_USAGE, "'%.60s' is not KERNEL:SHAPE", workload);
    snprintf(name, sizeof name, "%.*s", (int)(colon - workload), workload);
    memset(call, 0, sizeof *call);
    call->batch = 1;
    call->alpha = 1;
    call->info = find_kernel(name, error);
    if (!call->info)
        return false;
    if (!precision)
        precision = "f32";
    return call->info == &kernels[KERNEL_GEMM] ? parse_gemm(colon + 1, precision, call, error)
                                               : parse_gemv(colon + 1, precision, call, error);
}

double kernel_flops(const struct kernel_call *c)
{
    return 2.0 * c->m * c->n * c->k * c->batch;
}

double kernel_min_bytes(const struct kernel_call *c)
{
    const struct gemm_shape *s = gemm_shape_of(c->kind);
    if (c->info == &kernels[KERNEL_GEMV])
        return s->in_bytes * ((double)c->m * c->n + c->m + c->n);
    return c->batch * (s->in_bytes * ((double)c->m * c->k + (double)c->k * c->n) +
                       s->out_bytes * (double)c->m * c->n * (c->beta != 0 ? 2 : 1));
}

int kernel_describe(const struct kernel_call *c, char *text, size_t size)
{
    if (c->info == &kernels[KERNEL_GEMV])
        return snprintf(text, size, "gemv:%ux%u,lda=%" PRIu64 " %s", c->m, c->n, c->lda, c->precision);
    char blocks[80] = "";
    if (c->blocks.m || c->blocks.n || c->blocks.k)
        snprintf(blocks, sizeof blocks, ",bm=%u,bn=%u,bk=%u", c->blocks.m, c->blocks.n, c->blocks.k);
    if (c->blocks.loaded)
        strcat(blocks, ",packed=1");
    return snprintf(text, size,
                    "gemm:%ux%ux%u,batch=%u,ta=%u,tb=%u,lda=%" PRIu64 ",ldb=%" PRIu64 ",ldc=%" PRIu64
                    ",alpha=%.17g,beta=%.17g%s %s->%s",
                    c->m, c->n, c->k, c->batch, c->transpose_a, c->transpose_b, c->lda, c->ldb, c->ldc, c->alpha, c->beta, blocks,
                    c->precision, c->accumulate);
}

bool kernel_check_generation(const struct kernel_call *c, enum amx_gen gen, struct orch_error *error)
{
    if (c->kind == GEMM_BF16_F32 && gen < AMX_GEN_M2)
        return orch_fail(error, ORCH_UNMODELLED,
                         "gemm in bf16 on amx needs an M2 or later chip: M1 blocks have no bf16 instructions");
    return true;
}

const char *kernel_variant(const struct kernel_call *c, enum amx_gen gen)
{
    static const char *const names[GEMM_KIND_COUNT][2] = {
        [GEMM_F64] = {"dgemm_32x16", "dgemm_32x16_quad"},    [GEMM_F32] = {"sgemm_32x32", "sgemm_32x32_quad"},
        [GEMM_F16] = {"hgemm_32x64", "hgemm_32x64_quad"},    [GEMM_F16_F32] = {"hsgemm_32x32", "hsgemm_32x32"},
        [GEMM_BF16_F32] = {"bsgemm_32x32", "bsgemm_32x32"},  [GEMM_I8_I32] = {"igemm8_16x64", "igemm8_16x64_quad"},
        [GEMM_I16_I32] = {"igemm16_32x32", "igemm16_32x32"},
    };
    /* f32 of few rows or columns, by the form of the tile: [y][x]. */
    static const char *const thin[5][5] = {[1] = {[1] = "sgemm_16x16", [2] = "sgemm_16x32", [4] = "sgemm_16x64"},
                                           [2] = {[1] = "sgemm_32x16"},
                                           [4] = {[1] = "sgemm_64x16"}};
    if (c->info == &kernels[KERNEL_GEMV])
        return c->kind == GEMM_F64 ? "dgemv_8_rows" : "sgemv_16_rows";
    const struct gemm_form form = gemm_form_of(c->kind, c->m, c->n, c->transpose_a, c->transpose_b);
    if (c->alpha == 1 && (c->beta == 0 || c->beta == 1) && thin[form.y][form.x])
        return thin[form.y][form.x];
    return names[c->kind][gen >= AMX_GEN_M2];
}

#define CLOSE_SIZE 512u

bool kernel_in_process_is_close(const struct kernel_call *c)
{
    const struct gemm_shape *s = gemm_shape_of(c->kind);
    return c->info == &kernels[KERNEL_GEMM] && c->kind != GEMM_F16 && c->m >= CLOSE_SIZE && c->n >= CLOSE_SIZE &&
           c->k >= CLOSE_SIZE && c->m % s->tile_m == 0 && c->n % s->tile_n == 0 && c->alpha == 1 && c->beta == 0 &&
           !c->transpose_a && !c->transpose_b;
}
