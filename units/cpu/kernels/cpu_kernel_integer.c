/* integer, compare, select and cast: native/integer.c and native/compare.c. */
#include "units/cpu/kernels/cpu_kernel_family.h"

#include <stdio.h>

enum { BLOCK = 4096 }; /* ORDER: native/whole.h */

static const struct kernel_parameter integer_parameters[] = {ROUTINE_PAIR_PARAMETERS(ROUTINE_INTEGER_WORDS), {.name = NULL}};
static const struct kernel_parameter compare_parameters[] = {ROUTINE_PAIR_PARAMETERS(ROUTINE_COMPARE_WORDS), {.name = NULL}};
static const struct kernel_parameter select_parameters[] = {ROUTINE_SELECT_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter cast_parameters[] = {ROUTINE_CAST_PARAMETERS, {.name = NULL}};

static const char *name_of(const struct routine_request *r, int64_t word)
{
    static const char *const names[] = {NULL, "u8", "i32", "i64", "bool", "f32"};
    return word == WHOLE_NUMBER ? routine_type_name(r->type) : names[word];
}

static struct routine_call *add_call(struct routine_work *w, const char *name, enum routine_type type, int64_t count)
{
    return routine_add_call(w, name, type, "blocks of 4096 elements", ((uint64_t)count + BLOCK - 1) / BLOCK);
}

/* What integer and compare have in common. */
static bool build_pair(const struct routine_request *r, struct routine_work *w, struct routine_call *c)
{
    static const char *const integer[] = {"add", "sub", "mul", "min", "max", "and", "or",
                                          "xor", "div", "mod", "rem", "shl", "shr"}; /* ORDER: operations.h */
    static const char *const compare[] = {"eq", "lt", "le", "gt", "ge"};
    const int64_t op = r->value[PAIR_OP], of = r->value[PAIR_OF];
    for (unsigned operand = 0; operand < 3; operand++)
        routine_pass_operand(c, operand, 0);
    routine_pass(c, op);
    routine_pass(c, of);
    routine_pass(c, r->value[PAIR_N]);
    routine_pass(c, r->value[PAIR_PERIOD]);
    snprintf(w->variant, sizeof w->variant, "neon_%s_%s", r->row->operation == &operation_integer ? integer[op] : compare[op],
             name_of(r, of));
    return true;
}

static bool build_integer(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    (void)error;
    return build_pair(r, w, add_call(w, "neon_integer", ROUTINE_TYPES, r->value[PAIR_N]));
}

static bool build_compare(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const bool number = r->value[PAIR_OF] == WHOLE_NUMBER;
    (void)error;
    return build_pair(
        r, w, add_call(w, number ? "neon_compare" : "neon_compare_whole", number ? r->type : ROUTINE_TYPES, r->value[PAIR_N]));
}

static bool build_select(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const int64_t of = r->value[SELECT_OF];
    const uint64_t bytes = routine_type_bytes(w->operand[3].type, 1) * (of == WHOLE_I64 ? 2 : 1);
    struct routine_call *const c = add_call(w, "neon_select", ROUTINE_TYPES, r->value[SELECT_N]);
    (void)error;
    for (unsigned operand = 0; operand < 4; operand++)
        routine_pass_operand(c, operand, 0);
    routine_pass(c, (int64_t)bytes);
    routine_pass(c, r->value[SELECT_N]);
    routine_pass(c, r->value[SELECT_SINGLE]);
    snprintf(w->variant, sizeof w->variant, "neon_select_%s", name_of(r, of));
    return true;
}

static bool build_cast(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const int64_t from = r->value[CAST_FROM], to = r->value[CAST_TO];
    const bool number = from == WHOLE_NUMBER || to == WHOLE_NUMBER;
    struct routine_call *const c =
        add_call(w, number ? "neon_cast" : "neon_cast_whole", number ? r->type : ROUTINE_TYPES, r->value[CAST_N]);
    (void)error;
    routine_pass_operand(c, 0, 0);
    routine_pass_operand(c, 1, 0);
    routine_pass(c, from);
    routine_pass(c, to);
    routine_pass(c, r->value[CAST_N]);
    snprintf(w->variant, sizeof w->variant, "neon_cast_%s_as_%s", name_of(r, from), name_of(r, to));
    return true;
}

const struct routine cpu_kernel_integer = {
    &operation_integer, "N,of=u8|i32|i64[,op=add|sub|mul|min|max|and|or|xor|div|mod|rem|shl|shr][,period=P]",
    "f32 f16 bf16",     "N whole numbers a op b, which wrap as their type does; b may begin again after P",
    integer_parameters, build_integer};
const struct routine cpu_kernel_compare = {
    &operation_compare, "N[,of=number|u8|i32|i64][,op=eq|lt|le|gt|ge][,period=P]",
    "f32 f16 bf16",     "N bytes, 1 where a op b holds and 0 elsewhere; b may begin again after P",
    compare_parameters, build_compare};
const struct routine cpu_kernel_select = {
    &operation_select, "N[,of=number|u8|i32|i64][,single=none|a|b|both]",
    "f32 f16 bf16",    "N elements: a where the condition's byte is not 0, else b; either may be one for all",
    select_parameters, build_select};
const struct routine cpu_kernel_cast = {
    &operation_cast,
    "N,from=TYPE,to=TYPE",
    "f32 f16 bf16",
    "N elements in another type (number, u8, i32, i64; also bool, and f32 beside f16 and bf16): "
    "numbers toward zero, low "
    "bits of what is wider",
    cast_parameters,
    build_cast};
