/* Chains of functions over arrays. */
#include "units/routines/operations.h"

unsigned operation_chain(const struct routine_request *r, enum kernel_function function[OPERATION_CHAIN_MOST])
{
    const int64_t words[] = {r->value[ELEMENTWISE_OP], r->value[ELEMENTWISE_FUSED]};
    unsigned length = 0;
    for (int i = 0; i < 2; i++)
        for (int64_t left = words[i]; left && length < OPERATION_CHAIN_MOST; left >>= KERNEL_CHAIN_BITS)
            function[length++] = (enum kernel_function)((left & ((1 << KERNEL_CHAIN_BITS) - 1)) - 1);
    return length;
}

/* The lower end of inputs that the functions of the chain accept: log, roots and powers need positive numbers. */
static double lowest_input(const enum kernel_function *function, unsigned length)
{
    for (unsigned f = 0; f < length; f++)
        switch (function[f]) {
        case KERNEL_LOG:
        case KERNEL_LOG2:
        case KERNEL_SQRT:
        case KERNEL_RSQRT:
        case KERNEL_RCP:
        case KERNEL_POW:
        case KERNEL_DIV: return 0.25;
        default: break;
        }
    return -4;
}

static bool operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    enum { OPERANDS_MOST = 8 };
    enum kernel_function function[OPERATION_CHAIN_MOST];
    const unsigned length = operation_chain(r, function);
    const uint64_t all = (uint64_t)r->value[ELEMENTWISE_N], period = (uint64_t)r->value[ELEMENTWISE_PERIOD];
    unsigned arrays = 1;
    for (unsigned f = 0; f < length; f++)
        arrays += function[f] >= KERNEL_FIRST_BINARY;
    if (length == 0)
        return kernel_refuse(error, "elementwise: op=NAME or fused=NAME+NAME is missing, of %s", KERNEL_FUNCTION_WORDS);
    if (arrays > OPERANDS_MOST)
        return kernel_refuse(error, "elementwise: at most %d functions of two operands in one chain", OPERANDS_MOST - 1);
    if (period > all || (period && all % period))
        return kernel_refuse(error, "elementwise: n must be a multiple of period");
    w->min_bytes = (double)routine_type_bytes(r->type, all);
    for (unsigned i = 0; i < arrays; i++) {
        const char name[2] = {(char)('a' + i), '\0'};
        routine_add_operand(w, name, r->type, ROUTINE_INPUT, ROUTINE_DIMS(i && period ? period : all));
        routine_set_range(w, lowest_input(function, length), 4);
        w->min_bytes += (double)routine_type_bytes(r->type, i && period ? period : all);
    }
    routine_add_operand(w, "out", r->type, ROUTINE_OUTPUT, ROUTINE_DIMS(all));
    w->flops = (double)length * (double)all;
    return true;
}

static void reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    enum kernel_function function[OPERATION_CHAIN_MOST];
    const unsigned length = operation_chain(r, function);
    const int64_t period = r->value[ELEMENTWISE_PERIOD];
    const double alpha = r->decimal[ELEMENTWISE_ALPHA];
    for (int64_t i = 0; i < r->value[ELEMENTWISE_N]; i++) {
        double x = operand[0][i], error = 0;
        for (unsigned f = 0, next = 1; f < length; f++) {
            const double y = function[f] >= KERNEL_FIRST_BINARY ? operand[next++][period ? i % period : i] : 0;
            const double value = function_value(function[f], x, y, alpha);
            error = function_carried(function[f], x, y, alpha, value, error) + function_error(function[f], x, y, value);
            x = value;
        }
        t->value[i] = x;
        t->error[i] = error;
    }
}

const struct routine_operation operation_elementwise = {
    .name = "elementwise", .positional = 1, .operands = operands, .reference = reference};
