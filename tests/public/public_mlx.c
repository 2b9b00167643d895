/* References of MLX's operations that ggml has not. */
#include "tests/public/public_reference.h"

#include "isa/array_count.h"

static void copy(const struct public_op *op)
{
    for (uint64_t i = 0; i < op->out->count; i++)
        op->to[i] = op->a->value[i % op->a->count];
}

static void truncate_all(const struct public_op *op)
{
    for (uint64_t i = 0; i < op->out->count; i++)
        op->to[i] = trunc(op->a->value[i]);
}

static void logsumexp(const struct public_op *op)
{
    for (uint64_t row = 0; row < op->out->count; row++) {
        double sum = 0;
        for (uint64_t i = 0; i < op->a->ne[0]; i++)
            sum += exp(public_at(op->a, i, row, 0, 0));
        op->to[row] = log(sum);
    }
}

/* op 0 the place of the largest, 1 of the smallest. */
static void arg(const struct public_op *op)
{
    const double sign = public_of(op, "op", 0) == 0 ? 1 : -1;
    for (uint64_t row = 0; row < op->out->count; row++) {
        uint64_t best = 0;
        for (uint64_t i = 1; i < op->a->ne[0]; i++)
            if (sign * public_at(op->a, i, row, 0, 0) > sign * public_at(op->a, best, row, 0, 0))
                best = i;
        op->to[row] = (double)best;
    }
}

static void row_sum(const struct public_op *op)
{
    for (uint64_t row = 0; row < op->out->count; row++) {
        op->to[row] = 0;
        for (uint64_t i = 0; i < op->a->ne[0]; i++)
            op->to[row] += public_at(op->a, i, row, 0, 0);
    }
}

/* src0 is K, M and src1 N, K or, with nt, K, N, innermost first: the output N, M. */
static void gemm(const struct public_op *op)
{
    const bool nt = public_of(op, "nt", 0) == 1, tn = public_of(op, "tn", 0) == 1;
    const uint64_t n = op->out->ne[0], k = op->a->ne[tn ? 1 : 0];
    for (uint64_t row = 0; row < op->out->ne[1]; row++)
        for (uint64_t column = 0; column < n; column++) {
            double sum = 0;
            for (uint64_t i = 0; i < k; i++)
                sum += (tn ? public_at(op->a, row, i, 0, 0) : public_at(op->a, i, row, 0, 0)) *
                       (nt ? public_at(op->b, i, column, 0, 0) : public_at(op->b, column, i, 0, 0));
            op->to[row * n + column] = sum;
        }
}

/* Heads are outermost, as MLX has queries, keys and values; one query a head. */
static void attend(const struct public_op *op)
{
    const uint64_t keys = op->b->ne[1], heads = op->a->ne[1];
    double *const weight = calloc(keys + 1, sizeof *weight);
    for (uint64_t h = 0; h < heads && weight; h++) {
        const uint64_t group = h * op->b->ne[2] / heads;
        double all = 0;
        for (uint64_t i = 0; i < keys; i++) {
            weight[i] = 0;
            for (uint64_t d = 0; d < op->a->ne[0]; d++)
                weight[i] += public_at(op->a, d, h, 0, 0) * public_at(op->b, d, i, group, 0);
            all += weight[i] = exp(weight[i] * public_of(op, "scale", 1));
        }
        for (uint64_t d = 0; d < op->d->ne[0]; d++) {
            double sum = 0;
            for (uint64_t i = 0; i < keys; i++)
                sum += weight[i] / all * public_at(op->d, d, i, group, 0);
            op->to[h * op->d->ne[0] + d] = sum;
        }
    }
    free(weight);
}

/* Groups of `gs` numbers of `bits` bits, q * scale + bias: src0 the words, scales and biases apart. */
static void quantised_product(const struct public_op *op)
{
    const unsigned bits = (unsigned)public_of(op, "bits", 4), gs = (unsigned)public_of(op, "gs", 64);
    const uint64_t k = op->b->ne[0];
    const struct public_tensor *const scales = public_tensor(op->c, "scales"), *const biases = public_tensor(op->c, "biases");
    for (uint64_t row = 0; row < op->out->ne[0]; row++) {
        double sum = 0;
        for (uint64_t i = 0; i < k; i++) {
            uint64_t word;
            const uint64_t bit = (row * k + i) * bits;
            memcpy(&word, op->a->start + bit / 8, sizeof word);
            const double q = (double)(word >> bit % 8 & ((1u << bits) - 1));
            sum += (q * scales->value[(row * k + i) / gs] + biases->value[(row * k + i) / gs]) * op->b->value[i];
        }
        op->to[row] = sum;
    }
}

/* ---- functions of one and two numbers ---- */

static double square(double x)
{
    return x * x;
}
static double negative(double x)
{
    return -x;
}
static double rsqrt_of(double x)
{
    return 1 / sqrt(x);
}
static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}
static double sign(double x)
{
    return (x > 0) - (x < 0);
}
/* By Newton's way on erf. */
static double erfinv(double x)
{
    double y = 0;
    for (int i = 0; i < 100; i++)
        y -= (erf(y) - x) / (2 / sqrt(acos(-1)) * exp(-y * y));
    return y;
}
static double add(double x, double y)
{
    return x + y;
}
static double subtract(double x, double y)
{
    return x - y;
}
static double multiply(double x, double y)
{
    return x * y;
}
static double divide(double x, double y)
{
    return x / y;
}
static double remainder_of(double x, double y)
{
    return x - y * floor(x / y);
}
static double log_add_exp(double x, double y)
{
    return log(exp(x) + exp(y));
}

static const struct {
    const char *name;
    double (*one)(double);
    double (*two)(double, double);
} functions[] = {{"Abs", fabs, NULL},          {"Ceil", ceil, NULL},
                 {"Cos", cos, NULL},           {"Exp", exp, NULL},
                 {"Expm1", expm1, NULL},       {"Floor", floor, NULL},
                 {"Log", log, NULL},           {"Log2", log2, NULL},
                 {"Log10", log10, NULL},       {"Log1p", log1p, NULL},
                 {"Negative", negative, NULL}, {"Round", rint, NULL},
                 {"Rsqrt", rsqrt_of, NULL},    {"Sigmoid", sigmoid, NULL},
                 {"Erf", erf, NULL},           {"ErfInv", erfinv, NULL},
                 {"Sign", sign, NULL},         {"Sin", sin, NULL},
                 {"Square", square, NULL},     {"Sqrt", sqrt, NULL},
                 {"Tan", tan, NULL},           {"Tanh", tanh, NULL},
                 {"ArcTan", atan, NULL},       {"ArcCos", acos, NULL},
                 {"ArcSin", asin, NULL},       {"ArcCosh", acosh, NULL},
                 {"ArcSinh", asinh, NULL},     {"ArcTanh", atanh, NULL},
                 {"Sinh", sinh, NULL},         {"Cosh", cosh, NULL},
                 {"Add", NULL, add},           {"Subtract", NULL, subtract},
                 {"Multiply", NULL, multiply}, {"Divide", NULL, divide},
                 {"Maximum", NULL, fmax},      {"Minimum", NULL, fmin},
                 {"Power", NULL, pow},         {"Remainder", NULL, remainder_of},
                 {"ArcTan2", NULL, atan2},     {"LogAddExp", NULL, log_add_exp}};

static bool function_of(struct public_case *c, double *expected)
{
    const struct public_tensor *const a = public_tensor(c, "src0"), *const b = public_tensor(c, "src1");
    const char *const name = strncmp(c->reference, "mlx_", 4) == 0 ? c->reference + 4 : "";
    for (size_t f = 0; f < ARRAY_COUNT(functions); f++)
        if (strcmp(functions[f].name, name) == 0 && a && (functions[f].one || b)) {
            for (uint64_t i = 0; i < a->count; i++)
                expected[i] = functions[f].one ? functions[f].one(a->value[i]) : functions[f].two(a->value[i], b->value[i]);
            return true;
        }
    return false;
}

static const struct public_formula formulas[] = {
    {"mlx_copy", copy},       {"mlx_trunc", truncate_all}, {"mlx_logsumexp", logsumexp}, {"mlx_arg", arg},
    {"mlx_row_sum", row_sum}, {"mlx_gemm", gemm},          {"mlx_attend", attend},       {"mlx_quantised", quantised_product}};

bool public_reference_mlx(struct public_case *c, double *expected)
{
    return function_of(c, expected) || public_compute(formulas, ARRAY_COUNT(formulas), c, expected);
}
