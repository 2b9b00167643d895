/* Multi-head attention with its projections: each head h has q, k, v = x wq[h], x wk[h], x wv[h]; what the heads make of them
 * stands side by side and is multiplied by wo. */
#include "units/routines/operations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    static const char *const weights[] = {"wq", "wk", "wv"};
    const uint64_t s = (uint64_t)r->value[MHA_S], e = (uint64_t)r->value[MHA_E], h = (uint64_t)r->value[MHA_H];
    const double length = (double)s, pairs = r->value[MHA_CAUSAL] ? length * (length + 1) / 2 : length * length;
    if (e % h)
        return kernel_refuse(error, "mha: e = %llu is no multiple of h = %llu", (unsigned long long)e, (unsigned long long)h);
    if (!routine_check_count("mha", ROUTINE_DIMS(s, e), error) || !routine_check_count("mha", ROUTINE_DIMS(e, e), error))
        return false;
    routine_add_operand(w, "x", ROUTINE_F32, ROUTINE_INPUT, ROUTINE_DIMS(s, e));
    for (unsigned i = 0; i < 3; i++) {
        routine_add_operand(w, weights[i], ROUTINE_F32, ROUTINE_INPUT, ROUTINE_DIMS(h, e, e / h));
        routine_set_range(w, -3 / sqrt((double)e), 3 / sqrt((double)e)); /* sums of about 1 */
    }
    routine_add_operand(w, "wo", ROUTINE_F32, ROUTINE_INPUT, ROUTINE_DIMS(e, e));
    routine_set_range(w, -3 / sqrt((double)e), 3 / sqrt((double)e));
    routine_add_operand(w, "out", ROUTINE_F32, ROUTINE_OUTPUT, ROUTINE_DIMS(s, e));
    w->macs = 4 * length * (double)e * (double)e + 2 * pairs * (double)e;
    w->flops = 2 * w->macs;
    for (unsigned i = 0; i < w->operands; i++)
        w->min_bytes += 4 * (double)w->operand[i].count;
    return true;
}

/* A number and how far float32 may be from it. */
struct number {
    double value, off;
};

/* Row `row` of x (s x e) times column `column` of a matrix of `columns`: (e + 3) u sum |x w|, and what x is off by. */
static struct number product(const struct number *x, const double *matrix, int64_t e, int64_t columns, int64_t column, double u)
{
    struct number sum = {0, 0};
    double size = 0;
    for (int64_t i = 0; i < e; i++) {
        const double w = matrix[i * columns + column];
        sum.value += x[i].value * w;
        sum.off += x[i].off * fabs(w);
        size += fabs(x[i].value * w);
    }
    sum.off += u * (double)(e + 3) * size;
    return sum;
}

static struct number score_of(const struct number *q, const struct number *k, int64_t d, double u)
{
    const double scale = 1 / sqrt((double)d);
    struct number sum = {0, 0};
    double size = 0;
    for (int64_t i = 0; i < d; i++) {
        sum.value += q[i].value * k[i].value;
        sum.off += q[i].off * fabs(k[i].value) + fabs(q[i].value) * k[i].off + q[i].off * k[i].off;
        size += fabs(q[i].value * k[i].value);
    }
    return (struct number){scale * sum.value, scale * (sum.off + u * (double)(d + 3) * size)};
}

/* As in operation_attention.c: a term is off by the errors of both scores and by 4 + 2 (max - s) roundings; so is the sum by
 * which it is divided, on the mean; sums of n products add 2 n + 8. score has room for the keys. */
static void attend(const struct number *q, const struct number *k, const struct number *v, int64_t keys, int64_t d, double u,
                   struct number *score, struct number *out)
{
    double most = -INFINITY, worst = 0, sum = 0, shares = 0;
    for (int64_t j = 0; j < keys; j++) {
        score[j] = score_of(q, k + j * d, d, u);
        most = fmax(most, score[j].value);
        worst = fmax(worst, score[j].off);
    }
    for (int64_t j = 0; j < keys; j++)
        sum += exp(score[j].value - most);
    memset(out, 0, (size_t)d * sizeof *out);
    for (int64_t j = 0; j < keys; j++) {
        const double p = exp(score[j].value - most) / sum;
        const double share = score[j].off + worst + u * (4 + 2 * (most - score[j].value));
        shares += p * share;
        for (int64_t i = 0; i < d; i++) {
            const struct number *const x = &v[j * d + i];
            out[i].value += p * x->value;
            out[i].off += p * (x->off + (fabs(x->value) + x->off) * (share + u * (2 * (double)keys + 8)));
        }
    }
    for (int64_t i = 0; i < d; i++)
        out[i].off += fabs(out[i].value) * shares;
}

/* q, k and v of a head. */
static void project(const struct routine_request *r, const double *const *operand, const struct number *x, int64_t head, double u,
                    struct number *to[3])
{
    const int64_t s = r->value[MHA_S], e = r->value[MHA_E], d = e / r->value[MHA_H];
    for (unsigned which = 0; which < 3; which++)
        for (int64_t row = 0; row < s; row++)
            for (int64_t i = 0; i < d; i++)
                to[which][row * d + i] = product(x + row * e, operand[1 + which] + head * e * d, e, d, i, u);
}

static void reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t s = r->value[MHA_S], e = r->value[MHA_E], heads = r->value[MHA_H], d = e / heads;
    struct number *const room = calloc((size_t)(2 * s * e + 3 * s * d + s + d), sizeof *room), *const x = room;
    struct number *const side = x + s * e, *const score = side + s * e + 3 * s * d, *const out = score + s;
    for (int64_t i = 0; i < s * e; i++)
        t->value[i] = (double)NAN; /* when memory is out nothing is right */
    if (!room)
        return;
    struct number *to[3] = {side + s * e, side + s * e + s * d, side + s * e + 2 * s * d};
    for (int64_t i = 0; i < s * e; i++)
        x[i].value = operand[0][i];
    for (int64_t head = 0; head < heads; head++) {
        project(r, operand, x, head, t->epsilon, to);
        for (int64_t row = 0; row < s; row++) {
            attend(to[0] + row * d, to[1], to[2], r->value[MHA_CAUSAL] ? row + 1 : s, d, t->epsilon, score, out);
            memcpy(side + row * e + head * d, out, (size_t)d * sizeof *out);
        }
    }
    for (int64_t i = 0; i < s * e; i++) {
        const struct number n = product(side + i / e * e, operand[4], e, e, i % e, t->epsilon);
        t->value[i] = n.value;
        t->error[i] = n.off;
    }
    free(room);
}

const struct routine_operation operation_mha = {.name = "mha", .positional = 2, .operands = operands, .reference = reference};
