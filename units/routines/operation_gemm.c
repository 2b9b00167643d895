/* Products of matrices, and of matrices and vectors. */
#include "units/routines/operations.h"

#include <math.h>

/* ---- c = alpha * op(a) * op(b) + beta * c ---- */

static bool gemm_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t m = (uint64_t)r->value[GEMM_M], n = (uint64_t)r->value[GEMM_N], k = (uint64_t)r->value[GEMM_K];
    const uint64_t batch = (uint64_t)r->value[GEMM_BATCH];
    const bool whole = r->type == ROUTINE_I8, adds = r->decimal[GEMM_BETA] != 0;
    const unsigned block = routine_type_block(r->type);
    const enum routine_type number = block > 1 ? ROUTINE_F32 : r->type, result = whole ? ROUTINE_I32 : number;
    const bool ta = r->value[GEMM_TA], tb = r->value[GEMM_TB];
    const uint64_t *const a = ta ? ROUTINE_DIMS(batch, k, m) : ROUTINE_DIMS(batch, m, k);
    const uint64_t *const b = tb ? ROUTINE_DIMS(batch, n, k) : ROUTINE_DIMS(batch, k, n), *const c = ROUTINE_DIMS(batch, m, n);
    if (!routine_check_count("gemm", a, error) || !routine_check_count("gemm", b, error) ||
        !routine_check_count("gemm", c, error))
        return false;
    if (whole && (r->decimal[GEMM_ALPHA] != 1 || (adds && r->decimal[GEMM_BETA] != 1)))
        return kernel_refuse(error, "gemm: integer products take alpha=1 and beta=0 or 1");
    if (block > 1 && (!tb || ta || k % block))
        return kernel_refuse(error, "gemm: rows of b in %s are stored side by side (ta=0, tb=1), in whole blocks of %u",
                             routine_type_name(r->type), block);
    routine_add_operand(w, "a", number, ROUTINE_INPUT, a);
    routine_set_range(w, whole ? -128 : -1, whole ? 128 : 1);
    routine_add_operand(w, "b", r->type, ROUTINE_INPUT, b);
    routine_set_range(w, whole ? -128 : -1, whole ? 128 : 1);
    routine_add_operand(w, "c", result, adds ? ROUTINE_IN_OUT : ROUTINE_OUTPUT, c);
    routine_set_range(w, whole ? -1000 : -1, whole ? 1000 : 1);
    w->macs = (double)batch * (double)m * (double)n * (double)k;
    w->flops = 2 * w->macs;
    w->min_bytes = 0;
    for (unsigned i = 0; i < w->operands; i++)
        w->min_bytes += (double)routine_type_bytes(w->operand[i].type, w->operand[i].count) * (i == 2 && adds ? 2 : 1);
    return true;
}

/* How far an element of a may be from what is multiplied, where a is rounded to bytes: half a step of its block of 32, whose
 * scale is rounded to half precision. */
static double rounded_by(const struct routine_request *r, const double *a, int64_t l)
{
    enum { BLOCK = 32 };
    double most = 0;
    if (routine_type_block(r->type) == 1)
        return 0;
    for (int64_t i = l / BLOCK * BLOCK; i < l / BLOCK * BLOCK + BLOCK; i++)
        most = fmax(most, fabs(a[i]));
    return most / 254 * 1.001 + 0x1p-11 * most;
}

/* |error| <= epsilon (k + 3) |alpha| sum |a b| + 2 epsilon |beta c|: k roundings of sums in any order, three of the end; with b
 * in blocks also |alpha| sum |b| times what a is rounded by. */
static void gemm_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t m = r->value[GEMM_M], n = r->value[GEMM_N], k = r->value[GEMM_K], ta = r->value[GEMM_TA],
                  tb = r->value[GEMM_TB];
    const double alpha = r->decimal[GEMM_ALPHA], beta = r->decimal[GEMM_BETA];
    for (int64_t at = 0; at < r->value[GEMM_BATCH] * m * n; at++) {
        const int64_t image = at / (m * n), i = at / n % m, j = at % n;
        const double *const a = operand[0] + image * m * k, *const b = operand[1] + image * k * n;
        double sum = 0, size = 0, away = 0;
        for (int64_t l = 0; l < k; l++) {
            away += rounded_by(r, a + i * k, l) * fabs(b[tb ? j * k + l : l * n + j]);
            const double product = a[ta ? l * m + i : i * k + l] * b[tb ? j * k + l : l * n + j];
            sum += product;
            size += fabs(product);
        }
        const double before = beta != 0 ? beta * operand[2][at] : 0;
        t->value[at] = alpha * sum + before;
        t->error[at] = t->epsilon * ((double)(k + 3) * fabs(alpha) * size + 2 * fabs(before)) + fabs(alpha) * away;
    }
}

const struct routine_operation operation_gemm = {
    .name = "gemm", .positional = 3, .operands = gemm_operands, .reference = gemm_reference};

/* ---- signed bytes, requantised ---- */

static bool qgemm_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t m = (uint64_t)r->value[QGEMM_M], n = (uint64_t)r->value[QGEMM_N], k = (uint64_t)r->value[QGEMM_K];
    const uint64_t *const a = ROUTINE_DIMS(m, k), *const b = ROUTINE_DIMS(k, n), *const c = ROUTINE_DIMS(m, n);
    if (!routine_check_count("qgemm", a, error) || !routine_check_count("qgemm", b, error) ||
        !routine_check_count("qgemm", c, error))
        return false;
    routine_add_operand(w, "a", ROUTINE_I8, ROUTINE_INPUT, a);
    routine_set_range(w, -128, 128);
    routine_add_operand(w, "b", ROUTINE_I8, ROUTINE_INPUT, b);
    routine_set_range(w, -128, 128);
    routine_add_operand(w, "bias", ROUTINE_I32, ROUTINE_INPUT, ROUTINE_DIMS(n));
    routine_set_range(w, -10000, 10000);
    /* Sums of products of such bytes spread by 5461 sqrt(k): most results are inside the range of a byte, some at its ends. */
    routine_add_operand(w, "scale", ROUTINE_F32, ROUTINE_INPUT, ROUTINE_DIMS(n));
    routine_set_range(w, 0.004 / sqrt((double)k), 0.02 / sqrt((double)k));
    routine_add_operand(w, "c", ROUTINE_I8, ROUTINE_OUTPUT, c);
    w->macs = (double)m * (double)n * (double)k;
    w->flops = 2 * w->macs;
    w->min_bytes = (double)(m * k + k * n + m * n + 8 * n);
    return true;
}

/* Exact: the sum is a whole number, and what f32 makes of it is rounded here as there. */
static void qgemm_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t m = r->value[QGEMM_M], n = r->value[QGEMM_N], k = r->value[QGEMM_K];
    const double zero = (double)r->value[QGEMM_ZERO], least = r->value[QGEMM_ACT] ? zero : -128;
    for (int64_t at = 0; at < m * n; at++) {
        const int64_t j = at % n;
        double sum = operand[2][j];
        for (int64_t l = 0; l < k; l++)
            sum += operand[0][at / n * k + l] * operand[1][l * n + j];
        const float scaled = (float)((double)(float)sum * operand[3][j]);
        t->value[at] = fmin(127, fmax(least, rint((double)scaled) + zero));
        t->error[at] = 0;
    }
}

const struct routine_operation operation_qgemm = {
    .name = "qgemm", .positional = 3, .operands = qgemm_operands, .reference = qgemm_reference};

/* ---- y = a x ---- */

static bool gemv_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t m = (uint64_t)r->value[GEMV_M], n = (uint64_t)r->value[GEMV_N];
    const unsigned block = routine_type_block(r->type);
    const enum routine_type vector = block > 1 || r->value[GEMV_VECTORS] ? ROUTINE_F32 : r->type;
    const enum routine_type result = r->type == ROUTINE_I8 ? ROUTINE_I32 : vector;
    if (n % block)
        return kernel_refuse(error, "gemv: rows of %s are whole blocks of %u weights; n = %llu is not",
                             routine_type_name(r->type), block, (unsigned long long)n);
    if (r->type == ROUTINE_I8 && r->value[GEMV_VECTORS])
        return kernel_refuse(error, "gemv: vectors=f32 goes with matrices of floating point");
    if (!routine_check_count("gemv", ROUTINE_DIMS(m, n), error))
        return false;
    routine_add_operand(w, "a", r->type, ROUTINE_INPUT, ROUTINE_DIMS(m, n));
    if (r->type == ROUTINE_I8)
        routine_set_range(w, -128, 128);
    routine_add_operand(w, "x", vector, ROUTINE_INPUT, ROUTINE_DIMS(n));
    if (r->type == ROUTINE_I8)
        routine_set_range(w, -128, 128);
    routine_add_operand(w, "y", result, ROUTINE_OUTPUT, ROUTINE_DIMS(m));
    w->macs = (double)m * (double)n;
    w->flops = 2 * w->macs;
    w->min_bytes = (double)(routine_type_bytes(r->type, m * n) + routine_type_bytes(vector, n) + routine_type_bytes(result, m));
    return true;
}

/* |error| <= epsilon (n + 3) sum |a x|; blocks add two roundings of each weight. */
static void gemv_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t n = r->value[GEMV_N];
    const double more = routine_type_block(r->type) > 1 ? 8 : 3;
    for (int64_t i = 0; i < r->value[GEMV_M]; i++) {
        double sum = 0, size = 0;
        for (int64_t j = 0; j < n; j++) {
            sum += operand[0][i * n + j] * operand[1][j];
            size += fabs(operand[0][i * n + j] * operand[1][j]);
        }
        t->value[i] = sum;
        t->error[i] = t->epsilon * ((double)n + more) * size;
    }
}

const struct routine_operation operation_gemv = {
    .name = "gemv", .positional = 2, .operands = gemv_operands, .reference = gemv_reference};
