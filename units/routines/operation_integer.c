/* Arithmetic, comparisons, choices and conversions of whole numbers. */
#include "units/routines/operations.h"

#include <math.h>

static enum routine_type type_of(const struct routine_request *r, int64_t word)
{
    return word == WHOLE_NUMBER                     ? r->type
           : word == WHOLE_F32                      ? ROUTINE_F32
           : word == WHOLE_I32 || word == WHOLE_I64 ? ROUTINE_I32
                                                    : ROUTINE_U8;
}

/* Elements of memory that one of these takes. */
static uint64_t width_of(int64_t word)
{
    return word == WHOLE_I64 ? 2 : 1;
}

/* Few different values, so that many pairs are equal. */
static void add_operand(struct routine_work *w, const struct routine_request *r, const char *name, int64_t word,
                        enum routine_role role, uint64_t count)
{
    const enum routine_type type = type_of(r, word);
    routine_add_operand(w, name, type, role, ROUTINE_DIMS(count, width_of(word)));
    if (role == ROUTINE_INPUT && word != WHOLE_NUMBER)
        routine_set_range(w, type == ROUTINE_U8 ? 0 : -9, type == ROUTINE_U8 ? 3 : 10);
}

static void add_costs(const struct routine_request *r, struct routine_work *w)
{
    w->flops = (double)r->value[PAIR_N];
    for (unsigned i = 0; i < w->operands; i++)
        w->min_bytes += (double)routine_type_bytes(w->operand[i].type, w->operand[i].count);
}

static uint64_t bits_at(const double *operand, int64_t word, int64_t at)
{
    return word == WHOLE_I64 ? (uint32_t)(int32_t)operand[2 * at] | (uint64_t)(uint32_t)(int32_t)operand[2 * at + 1] << 32
                             : (uint64_t)(int64_t)operand[at];
}

static void put_bits(double *value, int64_t word, int64_t at, uint64_t bits)
{
    if (word == WHOLE_I64) {
        value[2 * at] = (int32_t)(uint32_t)bits;
        value[2 * at + 1] = (int32_t)(uint32_t)(bits >> 32);
    } else {
        value[at] = word == WHOLE_I32 ? (double)(int32_t)(uint32_t)bits : (double)(uint8_t)bits;
    }
}

/* ---- two operands ---- */

static bool pair_operands(const struct routine_request *r, struct routine_work *w, int64_t result, struct isa_error *error)
{
    const int64_t count = r->value[PAIR_N], period = r->value[PAIR_PERIOD], of = r->value[PAIR_OF];
    if (period && (period > count || count % period))
        return kernel_refuse(error, "%s: n must be a multiple of period", r->row->operation->name);
    add_operand(w, r, "a", of, ROUTINE_INPUT, (uint64_t)count);
    add_operand(w, r, "b", of, ROUTINE_INPUT, (uint64_t)(period ? period : count));
    add_operand(w, r, "out", result, ROUTINE_OUTPUT, (uint64_t)count);
    add_costs(r, w);
    return true;
}

static bool integer_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    if (r->value[PAIR_OF] == WHOLE_NUMBER)
        return kernel_refuse(error, "integer: of=u8|i32|i64 is missing; numbers are elementwise's");
    return pair_operands(r, w, r->value[PAIR_OF], error);
}

static bool compare_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    return pair_operands(r, w, WHOLE_U8, error);
}

static int64_t second_place(const struct routine_request *r, int64_t i)
{
    return r->value[PAIR_PERIOD] ? i % r->value[PAIR_PERIOD] : i;
}

static int64_t divide(int64_t x, int64_t y)
{
    return y == 0 ? 0 : y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

/* Divisions and shifts; by 0 nothing is divided. */
static uint64_t parts_of(int64_t op, int64_t of, uint64_t x, uint64_t y)
{
    const uint64_t width = of == WHOLE_U8 ? 8 : of == WHOLE_I32 ? 32 : 64, bits = of == WHOLE_I32 ? (uint32_t)x : x;
    const int64_t a = (int64_t)x, b = (int64_t)y;
    const uint64_t rest = x - (uint64_t)divide(a, b) * y, by = of == WHOLE_I32 ? (uint32_t)y : y;
    switch (op) {
    case INTEGER_DIV: return (uint64_t)divide(a, b);
    case INTEGER_REM: return rest;
    case INTEGER_MOD: return rest != 0 && ((int64_t)rest < 0) != (b < 0) ? rest + y : rest;
    case INTEGER_SHL: return by < width ? bits << by : 0;
    default: return by < width ? bits >> by : 0;
    }
}

static void integer_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t of = r->value[PAIR_OF];
    for (int64_t i = 0; i < r->value[PAIR_N]; i++) {
        const uint64_t x = bits_at(operand[0], of, i), y = bits_at(operand[1], of, second_place(r, i));
        const bool less = (int64_t)x < (int64_t)y;
        uint64_t result = 0;
        switch (r->value[PAIR_OP]) {
        case INTEGER_ADD: result = x + y; break;
        case INTEGER_SUB: result = x - y; break;
        case INTEGER_MUL: result = x * y; break;
        case INTEGER_MIN: result = less ? x : y; break;
        case INTEGER_MAX: result = less ? y : x; break;
        case INTEGER_AND: result = x & y; break;
        case INTEGER_OR: result = x | y; break;
        case INTEGER_XOR: result = x ^ y; break;
        default: result = parts_of(r->value[PAIR_OP], of, x, y);
        }
        put_bits(t->value, of, i, result);
    }
}

static bool holds(int64_t op, bool less, bool equal, bool greater)
{
    return op == COMPARE_EQ   ? equal
           : op == COMPARE_LT ? less
           : op == COMPARE_LE ? less || equal
           : op == COMPARE_GT ? greater
                              : greater || equal;
}

static void compare_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t of = r->value[PAIR_OF], op = r->value[PAIR_OP];
    for (int64_t i = 0; i < r->value[PAIR_N]; i++) {
        const int64_t k = second_place(r, i);
        if (of == WHOLE_NUMBER) {
            const double x = operand[0][i], y = operand[1][k];
            t->value[i] = holds(op, x<y, x == y, x> y);
        } else {
            const int64_t x = (int64_t)bits_at(operand[0], of, i), y = (int64_t)bits_at(operand[1], of, k);
            t->value[i] = holds(op, x<y, x == y, x> y);
        }
    }
}

/* ---- choices ---- */

static bool select_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t count = (uint64_t)r->value[SELECT_N];
    const int64_t of = r->value[SELECT_OF], single = r->value[SELECT_SINGLE];
    (void)error;
    add_operand(w, r, "condition", WHOLE_U8, ROUTINE_INPUT, count);
    add_operand(w, r, "a", of, ROUTINE_INPUT, single == SINGLE_A || single == SINGLE_BOTH ? 1 : count);
    add_operand(w, r, "b", of, ROUTINE_INPUT, single == SINGLE_B || single == SINGLE_BOTH ? 1 : count);
    add_operand(w, r, "out", of, ROUTINE_OUTPUT, count);
    add_costs(r, w);
    return true;
}

static void select_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t single = r->value[SELECT_SINGLE], width = (int64_t)width_of(r->value[SELECT_OF]);
    const bool one_a = single == SINGLE_A || single == SINGLE_BOTH, one_b = single == SINGLE_B || single == SINGLE_BOTH;
    for (int64_t i = 0; i < r->value[SELECT_N]; i++)
        for (int64_t k = 0; k < width; k++)
            t->value[width * i + k] =
                operand[0][i] != 0 ? operand[1][one_a ? k : width * i + k] : operand[2][one_b ? k : width * i + k];
}

/* ---- conversions ---- */

static bool cast_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t count = (uint64_t)r->value[CAST_N];
    const int64_t from = r->value[CAST_FROM], to = r->value[CAST_TO];
    const bool single = from == WHOLE_F32 || to == WHOLE_F32;
    if (from == to || from == WHOLE_BOOL)
        return kernel_refuse(error, "cast: from=number|u8|i32|i64 and to=number|u8|i32|i64|bool must differ");
    if (single && (r->type == ROUTINE_F32 || (from != WHOLE_NUMBER && to != WHOLE_NUMBER)))
        return kernel_refuse(error, "cast: f32 stands beside numbers of 16 bits (f16, bf16)");
    add_operand(w, r, "x", from, ROUTINE_INPUT, count);
    if (from == WHOLE_NUMBER || from == WHOLE_F32)
        routine_set_range(w, to == WHOLE_U8 ? 0 : -200, 200);
    add_operand(w, r, "out", to, ROUTINE_OUTPUT, count);
    add_costs(r, w);
    return true;
}

/* Whole numbers of 64 bits beyond words of 32 may be rounded twice on their way to float32. */
static void cast_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t from = r->value[CAST_FROM], to = r->value[CAST_TO];
    for (int64_t i = 0; i < r->value[CAST_N]; i++) {
        const bool real = from == WHOLE_NUMBER || from == WHOLE_F32;
        const double number = real ? operand[0][i] : (double)(int64_t)bits_at(operand[0], from, i);
        if (to == WHOLE_NUMBER && r->type == ROUTINE_F16 && fabs(number) >= 65520) { /* nearer to 2^16 than to the largest half */
            t->value[i] = copysign(INFINITY, number);
        } else if (to == WHOLE_F32) {
            t->value[i] = number;
        } else if (to == WHOLE_NUMBER) {
            t->value[i] = number;
            t->error[i] = fabs(number) < 0x1p24 ? 0 : 0x1p-23 * fabs(number);
        } else if (to == WHOLE_BOOL) {
            t->value[i] = number != 0;
        } else {
            put_bits(t->value, to, i, from == WHOLE_NUMBER ? (uint64_t)(int64_t)number : bits_at(operand[0], from, i));
        }
    }
}

const struct routine_operation operation_integer = {
    .name = "integer", .positional = 1, .operands = integer_operands, .reference = integer_reference};
const struct routine_operation operation_compare = {
    .name = "compare", .positional = 1, .operands = compare_operands, .reference = compare_reference};
const struct routine_operation operation_select = {
    .name = "select", .positional = 1, .operands = select_operands, .reference = select_reference};
const struct routine_operation operation_cast = {
    .name = "cast", .positional = 1, .operands = cast_operands, .reference = cast_reference};
