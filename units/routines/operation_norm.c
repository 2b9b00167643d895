/* softmax and normalisations. u is the epsilon of sums; C/16 + 8 roundings of a sum of C numbers: sums run in sixteen lanes. */
#include "units/routines/operations.h"

#include <math.h>

static double roundings(int64_t count)
{
    return (double)count / 16 + 8;
}

static bool row_operands(const struct routine_request *r, struct routine_work *w, double low, double high,
                         struct isa_error *error)
{
    const uint64_t *const dims = ROUTINE_DIMS((uint64_t)r->value[ROWS_ROWS], (uint64_t)r->value[ROWS_COLUMNS]);
    if (!routine_check_count(r->row->operation->name, dims, error))
        return false;
    routine_add_operand(w, "x", r->type, ROUTINE_INPUT, dims);
    routine_set_range(w, low, high);
    routine_add_operand(w, "out", r->type, ROUTINE_OUTPUT, dims);
    w->min_bytes = 2 * (double)routine_type_bytes(r->type, dims[0] * dims[1]);
    return true;
}

/* A parameter for each column or channel. */
static void add_parameter(struct routine_work *w, const struct routine_request *r, const char *name, int64_t count, double low,
                          double high)
{
    routine_add_operand(w, name, r->type, ROUTINE_INPUT, ROUTINE_DIMS((uint64_t)count));
    routine_set_range(w, low, high);
    w->min_bytes += (double)routine_type_bytes(r->type, (uint64_t)count);
}

/* ---- softmax ---- */

static bool softmax_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    if (!row_operands(r, w, -4, 4, error))
        return false;
    w->flops = 5.0 * (double)w->operand[0].count; /* compare, subtract, exp, add, multiply */
    return true;
}

/* Each term is off by 3 + (max - x) roundings, so is their sum on the mean, which is at most log C above. */
static void softmax_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t columns = r->value[ROWS_COLUMNS];
    for (int64_t i = 0; i < r->value[ROWS_ROWS]; i++) {
        const double *const x = operand[0] + i * columns;
        double most = x[0], sum = 0;
        for (int64_t j = 1; j < columns; j++)
            most = fmax(most, x[j]);
        for (int64_t j = 0; j < columns; j++)
            sum += exp(x[j] - most);
        for (int64_t j = 0; j < columns; j++) {
            const double far = most - x[j], common = roundings(columns) + 12 + log((double)columns);
            const double value = r->value[SOFTMAX_LOG] ? -far - log(sum) : exp(-far) / sum;
            t->value[i * columns + j] = value;
            t->error[i * columns + j] =
                t->epsilon * (r->value[SOFTMAX_LOG] ? common + 2 * far + 6 * log(sum) : value * (common + 2 * far));
        }
    }
}

const struct routine_operation operation_softmax = {
    .name = "softmax", .positional = 2, .operands = softmax_operands, .reference = softmax_reference};

/* ---- a group of elements that is centred and scaled ---- */

struct moments {
    double mean, mean_error, scale, scale_share; /* scale_share: relative error of scale */
};

/* An error of the mean moves the variance by its square. */
static struct moments moments_of(const double *x, int64_t count, bool centred, double eps, double u)
{
    struct moments m = {.mean = 0};
    double size = 0, squares = 0;
    for (int64_t j = 0; centred && j < count; j++) {
        m.mean += x[j] / (double)count;
        size += fabs(x[j]) / (double)count;
    }
    for (int64_t j = 0; j < count; j++)
        squares += (x[j] - m.mean) * (x[j] - m.mean) / (double)count;
    m.mean_error = u * (roundings(count) + 2) * size;
    m.scale = 1 / sqrt(squares + eps);
    m.scale_share = u * (roundings(count) + 8) + m.mean_error * m.mean_error * m.scale * m.scale;
    return m;
}

static void normalise(const struct moments *m, double x, double gamma, double beta, double u, double *value, double *error)
{
    const double far = x - m->mean, scaled = far * m->scale * gamma;
    *value = scaled + beta;
    *error = fabs(gamma) * m->scale * (m->mean_error + u * (fabs(far) + fabs(m->mean))) +
             fabs(scaled) * (m->scale_share + 3 * u) + 2 * u * (fabs(scaled) + fabs(beta));
}

static bool norm_operands(const struct routine_request *r, struct routine_work *w, bool centred, struct isa_error *error)
{
    if (!row_operands(r, w, -2, 3, error))
        return false;
    if (r->value[NORM_AFFINE])
        add_parameter(w, r, "gamma", r->value[ROWS_COLUMNS], 0.5, 1.5);
    if (r->value[NORM_AFFINE] && centred)
        add_parameter(w, r, "beta", r->value[ROWS_COLUMNS], -1, 1);
    w->flops = (centred ? 7.0 : 4.0) * (double)w->operand[0].count;
    return true;
}

static void norm_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t,
                           bool centred)
{
    const int64_t columns = r->value[ROWS_COLUMNS];
    const bool affine = r->value[NORM_AFFINE];
    for (int64_t i = 0; i < r->value[ROWS_ROWS]; i++) {
        const double *const x = operand[0] + i * columns;
        const struct moments m = moments_of(x, columns, centred, r->decimal[NORM_EPS], t->epsilon);
        for (int64_t j = 0; j < columns; j++)
            normalise(&m, x[j], affine ? operand[2][j] : 1, affine && centred ? operand[3][j] : 0, t->epsilon,
                      &t->value[i * columns + j], &t->error[i * columns + j]);
    }
}

static bool layernorm_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    return norm_operands(r, w, true, error);
}

static void layernorm_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    norm_reference(r, operand, t, true);
}

static bool rmsnorm_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    return norm_operands(r, w, false, error);
}

static void rmsnorm_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    norm_reference(r, operand, t, false);
}

const struct routine_operation operation_layernorm = {
    .name = "layernorm", .positional = 2, .operands = layernorm_operands, .reference = layernorm_reference};
const struct routine_operation operation_rmsnorm = {
    .name = "rmsnorm", .positional = 2, .operands = rmsnorm_operands, .reference = rmsnorm_reference};

/* ---- images ---- */

static bool image_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const int64_t *const v = r->value;
    const uint64_t *const dims =
        ROUTINE_DIMS((uint64_t)v[IMAGE_N], (uint64_t)v[IMAGE_C], (uint64_t)v[IMAGE_H], (uint64_t)v[IMAGE_W]);
    if (!routine_check_count(r->row->operation->name, dims, error))
        return false;
    routine_add_operand(w, "x", r->type, ROUTINE_INPUT, dims);
    routine_set_range(w, -2, 3);
    routine_add_operand(w, "out", r->type, ROUTINE_OUTPUT, dims);
    w->min_bytes = 2 * (double)routine_type_bytes(r->type, w->operand[0].count);
    return true;
}

static bool groupnorm_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    if (r->value[IMAGE_C] % r->value[IMAGENORM_GROUPS])
        return kernel_refuse(error, "groupnorm: c must be a multiple of groups");
    if (!image_operands(r, w, error))
        return false;
    add_parameter(w, r, "gamma", r->value[IMAGE_C], 0.5, 1.5);
    add_parameter(w, r, "beta", r->value[IMAGE_C], -1, 1);
    w->flops = 7.0 * (double)w->operand[0].count;
    return true;
}

static void groupnorm_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t channels = r->value[IMAGE_C], groups = r->value[IMAGENORM_GROUPS],
                  pixels = r->value[IMAGE_H] * r->value[IMAGE_W];
    const int64_t length = channels / groups * pixels;
    for (int64_t g = 0; g < r->value[IMAGE_N] * groups; g++) {
        const struct moments m = moments_of(operand[0] + g * length, length, true, r->decimal[IMAGENORM_EPS], t->epsilon);
        for (int64_t j = 0; j < length; j++) {
            const int64_t at = g * length + j, channel = at / pixels % channels;
            normalise(&m, operand[0][at], operand[2][channel], operand[3][channel], t->epsilon, &t->value[at], &t->error[at]);
        }
    }
}

static bool batchnorm_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    if (!image_operands(r, w, error))
        return false;
    add_parameter(w, r, "mean", r->value[IMAGE_C], -1, 1);
    add_parameter(w, r, "var", r->value[IMAGE_C], 0.5, 2);
    add_parameter(w, r, "gamma", r->value[IMAGE_C], 0.5, 1.5);
    add_parameter(w, r, "beta", r->value[IMAGE_C], -1, 1);
    w->flops = 2.0 * (double)w->operand[0].count;
    return true;
}

/* Four roundings of the scale, two of the end. The factor and the sum of a channel may be computed first: the sum then has the
 * error of mean times scale. */
static void batchnorm_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t channels = r->value[IMAGE_C], pixels = r->value[IMAGE_H] * r->value[IMAGE_W];
    for (int64_t at = 0; at < r->value[IMAGE_N] * channels * pixels; at++) {
        const int64_t c = at / pixels % channels;
        const double scale = operand[4][c] / sqrt(operand[3][c] + r->decimal[IMAGENORM_EPS]);
        t->value[at] = (operand[0][at] - operand[2][c]) * scale + operand[5][c];
        t->error[at] = t->epsilon * 8 * ((fabs(operand[0][at]) + fabs(operand[2][c])) * fabs(scale) + fabs(operand[5][c]));
    }
}

const struct routine_operation operation_groupnorm = {
    .name = "groupnorm", .positional = 0, .operands = groupnorm_operands, .reference = groupnorm_reference};
const struct routine_operation operation_batchnorm = {
    .name = "batchnorm", .positional = 0, .operands = batchnorm_operands, .reference = batchnorm_reference};
