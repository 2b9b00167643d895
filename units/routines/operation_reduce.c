/* One result per row or column. */
#include "units/routines/operations.h"

#include <math.h>

static bool operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t rows = (uint64_t)r->value[REDUCE_ROWS], columns = (uint64_t)r->value[REDUCE_COLUMNS];
    const int64_t op = r->value[REDUCE_OP];
    const enum routine_type out = op >= REDUCE_ARGMAX ? ROUTINE_U32 : r->type;
    if (!routine_check_count("reduce", ROUTINE_DIMS(rows, columns), error))
        return false;
    if (op >= REDUCE_ARGMAX && (r->value[REDUCE_AXIS] ? columns : rows) > UINT32_MAX)
        return kernel_refuse(error, "reduce: places are counted in 32 bits");
    routine_add_operand(w, "x", r->type, ROUTINE_INPUT, ROUTINE_DIMS(rows, columns));
    routine_set_range(w, op == REDUCE_PROD ? 0.5 : -1, op == REDUCE_PROD ? 1.5 : 1);
    routine_add_operand(w, "out", out, ROUTINE_OUTPUT, ROUTINE_DIMS(r->value[REDUCE_AXIS] ? rows : columns));
    w->flops = (double)w->operand[0].count * (op == REDUCE_NORM2 ? 2 : 1);
    w->min_bytes = (double)(routine_type_bytes(r->type, w->operand[0].count) + routine_type_bytes(out, w->operand[1].count));
    return true;
}

struct series {
    const double *x;
    int64_t count, step;
};

/* Rows: C/16 + 8 roundings, for sums run in sixteen lanes; columns: one for each row. A product has as many as factors. */
static void reduce_one(const struct series *s, int64_t op, double u, double *value, double *error)
{
    double sum = 0, size = 0, squares = 0, product = 1, most = s->x[0], place = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const double x = s->x[i * s->step];
        const bool beyond = op == REDUCE_MIN || op == REDUCE_ARGMIN ? x < most : x > most;
        sum += x;
        size += fabs(x);
        squares += x * x;
        product *= x;
        place = beyond ? (double)i : place;
        most = beyond ? x : most;
    }
    const double roundings = (s->step == 1 ? (double)s->count / 16 : (double)s->count) + 8;
    *error = 0;
    switch (op) {
    case REDUCE_SUM:
    case REDUCE_MEAN:
        *value = op == REDUCE_SUM ? sum : sum / (double)s->count;
        *error = u * roundings * size / (op == REDUCE_SUM ? 1 : (double)s->count);
        break;
    case REDUCE_PROD:
        *value = product;
        *error = u * (double)(s->count + 1) * fabs(product);
        break;
    case REDUCE_NORM2:
        *value = sqrt(squares);
        *error = u * (roundings + 2) * *value;
        break;
    default: *value = op >= REDUCE_ARGMAX ? place : most;
    }
}

static void reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t rows = r->value[REDUCE_ROWS], columns = r->value[REDUCE_COLUMNS];
    for (int64_t i = 0; i < (r->value[REDUCE_AXIS] ? rows : columns); i++) {
        const struct series s = r->value[REDUCE_AXIS] ? (struct series){operand[0] + i * columns, columns, 1}
                                                      : (struct series){operand[0] + i, rows, columns};
        reduce_one(&s, r->value[REDUCE_OP], t->epsilon, &t->value[i], &t->error[i]);
    }
}

const struct routine_operation operation_reduce = {
    .name = "reduce", .positional = 2, .operands = operands, .reference = reference};
