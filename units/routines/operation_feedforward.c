/* The feed-forward block of a transformer: out = f(x w1 + b1) w2 + b2. */
#include "isa/array_count.h"
#include "units/routines/operations.h"

#include <math.h>
#include <stdlib.h>

/* ORDER: the words of "act". */
static const enum kernel_function functions[] = {KERNEL_GELU, KERNEL_GELU_TANH, KERNEL_RELU,
                                                 KERNEL_SILU, KERNEL_SIGMOID,   KERNEL_TANH};

enum kernel_function operation_feedforward_function(const struct routine_request *r)
{
    return functions[(size_t)r->value[FEED_ACT] < ARRAY_COUNT(functions) ? r->value[FEED_ACT] : 0];
}

static void add_matrix(struct routine_work *w, const char *name, uint64_t rows, uint64_t columns, double most)
{
    routine_add_operand(w, name, ROUTINE_F32, ROUTINE_INPUT, ROUTINE_DIMS(rows, columns));
    routine_set_range(w, -most, most);
}

static bool operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t m = (uint64_t)r->value[FEED_M], e = (uint64_t)r->value[FEED_E], f = (uint64_t)r->value[FEED_F];
    if (!routine_check_count("feedforward", ROUTINE_DIMS(m, e), error) ||
        !routine_check_count("feedforward", ROUTINE_DIMS(e, f), error) ||
        !routine_check_count("feedforward", ROUTINE_DIMS(m, f), error))
        return false;
    add_matrix(w, "x", m, e, 1);
    add_matrix(w, "w1", e, f, 3 / sqrt((double)e)); /* sums of about 1 */
    add_matrix(w, "b1", f, 1, 1);
    add_matrix(w, "w2", f, e, 3 / sqrt((double)f));
    add_matrix(w, "b2", e, 1, 1);
    routine_add_operand(w, "out", ROUTINE_F32, ROUTINE_OUTPUT, ROUTINE_DIMS(m, e));
    w->macs = 2 * (double)m * (double)e * (double)f;
    w->flops = 2 * w->macs;
    for (unsigned i = 0; i < w->operands; i++)
        w->min_bytes += 4 * (double)w->operand[i].count;
    return true;
}

/* A sum of products of numbers that are off by error[i] each, plus an offset: its value, and how far it may be off. */
static double sum_of(const double *x, const double *error, const double *matrix, int64_t count, int64_t step, double offset,
                     double epsilon, double *off)
{
    double sum = 0, size = 0, carried = 0;
    for (int64_t i = 0; i < count; i++) {
        const double product = x[i] * matrix[i * step];
        sum += product;
        size += fabs(product);
        carried += error ? error[i] * fabs(matrix[i * step]) : 0;
    }
    *off = carried + epsilon * ((double)(count + 3) * size + fabs(sum + offset));
    return sum + offset;
}

/* The bound of a product (operation_gemm.c) and of an addition, what the function makes of it and adds, and the same once more.
 */
static void reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t m = r->value[FEED_M], e = r->value[FEED_E], f = r->value[FEED_F];
    const enum kernel_function act = operation_feedforward_function(r);
    double *const hidden = calloc((size_t)f, 2 * sizeof *hidden), *const off = hidden ? hidden + f : NULL;
    for (int64_t row = 0; row < m; row++) {
        for (int64_t j = 0; hidden && j < f; j++) {
            double away;
            const double x = sum_of(operand[0] + row * e, NULL, operand[1] + j, e, f, operand[2][j], t->epsilon, &away);
            hidden[j] = function_value(act, x, 0, 0);
            off[j] = function_carried(act, x, 0, 0, hidden[j], away) + function_error(act, x, 0, hidden[j]);
        }
        for (int64_t j = 0; j < e; j++)
            t->value[row * e + j] =
                hidden ? sum_of(hidden, off, operand[3] + j, f, e, operand[4][j], t->epsilon, &t->error[row * e + j])
                       : (double)NAN; /* memory is out: nothing is right */
    }
    free(hidden);
}

const struct routine_operation operation_feedforward = {
    .name = "feedforward", .positional = 3, .operands = operands, .reference = reference};
