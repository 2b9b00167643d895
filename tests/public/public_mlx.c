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

/* Convolution of images whose channels are innermost, src0 with filters src1, both as rows of numbers: numbers of the case are
 * C and O channels, extents n, id ih iw, kd kh kw, od oh ow, padding pd ph pw, stride, idil (dilation of the input), and depth=1
 * when each channel has one filter of its own. */
struct convolution {
    int64_t c, o, i[3], k[3], s[3], pad[3], stride, idil;
    bool depth;
};

static double convolve_one(const struct public_op *op, const struct convolution *v, int64_t n, const int64_t *at, int64_t o)
{
    double sum = 0;
    for (int64_t t = 0; t < v->k[0] * v->k[1] * v->k[2]; t++) {
        const int64_t tap[3] = {t / v->k[2] / v->k[1], t / v->k[2] % v->k[1], t % v->k[2]};
        int64_t place = n;
        bool inside = true;
        for (unsigned d = 0; d < 3; d++) {
            const int64_t p = at[d] * v->stride - v->pad[d] + tap[d];
            inside = inside && p >= 0 && p % v->idil == 0 && p / v->idil < v->i[d];
            place = place * v->i[d] + p / v->idil;
        }
        for (int64_t c = v->depth ? o : 0; inside && c < (v->depth ? o + 1 : v->c); c++)
            sum += op->a->value[place * v->c + c] *
                   op->b->value[(o * v->k[0] * v->k[1] * v->k[2] + t) * (v->depth ? 1 : v->c) + (v->depth ? 0 : c)];
    }
    return sum;
}

static void convolve(const struct public_op *op)
{
    static const char *const name[4][3] = {{"id", "ih", "iw"}, {"kd", "kh", "kw"}, {"od", "oh", "ow"}, {"pd", "ph", "pw"}};
    struct convolution v = {.c = (int64_t)public_of(op, "C", 1), .o = (int64_t)public_of(op, "O", 1)};
    for (unsigned d = 0; d < 3; d++) {
        v.i[d] = (int64_t)public_of(op, name[0][d], 1), v.k[d] = (int64_t)public_of(op, name[1][d], 1);
        v.s[d] = (int64_t)public_of(op, name[2][d], 1), v.pad[d] = (int64_t)public_of(op, name[3][d], 0);
    }
    v.stride = (int64_t)public_of(op, "stride", 1), v.idil = (int64_t)public_of(op, "idil", 1);
    v.depth = public_of(op, "depth", 0) == 1;
    for (int64_t to = 0; to < (int64_t)op->out->count; to++) {
        const int64_t pixel = to / v.o, row = pixel / v.s[2], plane = row / v.s[1];
        const int64_t at[3] = {plane % v.s[0], row % v.s[1], pixel % v.s[2]};
        op->to[to] = convolve_one(op, &v, plane / v.s[0], at, to % v.o);
    }
}

/* Fourier transforms of n numbers each, complex ones as pairs: inverse=1, from real ones real=1, to real ones real=2. */
static void transform(const struct public_op *op)
{
    const uint64_t n = (uint64_t)public_of(op, "n", 1);
    const double way = public_of(op, "inverse", 0) == 1 ? 1 : -1, real = public_of(op, "real", 0);
    const uint64_t in = real == 1 ? n : real == 2 ? n / 2 + 1 : n, out = real == 1 ? n / 2 + 1 : n;
    for (uint64_t to = 0; to < op->out->count / (real == 2 ? 1 : 2); to++) {
        const uint64_t row = to / out, k = to % out;
        double sum[2] = {0, 0};
        for (uint64_t j = 0; j < n; j++) {
            const uint64_t from = row * in + (real == 2 && j >= in ? n - j : j); /* the other half is the conjugate */
            const double angle = way * 2 * 3.14159265358979323846 * (double)(j * k % n) / (double)n;
            const double re = op->a->value[real == 1 ? from : 2 * from];
            const double im = real == 1 ? 0
                              : real == 2 && (j == 0 || 2 * j == n)
                                  ? 0
                                  : (real == 2 && j >= in ? -1.0 : 1.0) * op->a->value[2 * from + 1];
            sum[0] += re * cos(angle) - im * sin(angle);
            sum[1] += re * sin(angle) + im * cos(angle);
        }
        for (unsigned part = 0; part < (real == 2 ? 1 : 2); part++)
            op->to[real == 2 ? to : 2 * to + part] = sum[part] / (way > 0 ? (double)n : 1);
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
    {"mlx_copy", copy},         {"mlx_trunc", truncate_all}, {"mlx_logsumexp", logsumexp}, {"mlx_arg", arg},
    {"mlx_row_sum", row_sum},   {"mlx_gemm", gemm},          {"mlx_attend", attend},       {"mlx_quantised", quantised_product},
    {"mlx_convolve", convolve}, {"mlx_transform", transform}};

bool public_reference_mlx(struct public_case *c, double *expected)
{
    return function_of(c, expected) || public_compute(formulas, ARRAY_COUNT(formulas), c, expected);
}
