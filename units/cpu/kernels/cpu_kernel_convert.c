/* convert: native/convert.c. */
#include "units/cpu/kernels/cpu_kernel_family.h"

#include <stdio.h>

enum { BLOCK = 4096 }; /* ORDER: native/convert.c */

static const struct kernel_parameter parameters[] = {ROUTINE_CONVERT_PARAMETERS, {.name = NULL}};

static bool is_whole(const struct routine_request *r, int parameter)
{
    return routine_type_epsilon(operation_convert_type(r, parameter)) == 0;
}

/* An operand, or nothing. */
static void pass_if(struct routine_call *c, bool is_there, unsigned *next)
{
    if (is_there)
        routine_pass_operand(c, (*next)++, 0);
    else
        routine_pass(c, 0);
}

static bool build(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const int64_t count = r->value[CONVERT_N], channels = r->value[CONVERT_CHANNELS], inner = r->value[CONVERT_INNER];
    const bool from = is_whole(r, CONVERT_FROM), to = is_whole(r, CONVERT_TO), bias = r->value[CONVERT_BIAS] != 0;
    const int64_t items = channels == 1 ? (count + BLOCK - 1) / BLOCK : inner == 1 ? count / channels : count / inner;
    const char *const share = channels == 1 ? "blocks of 4096 elements"
                              : inner == 1  ? "rows of all channels"
                                            : "runs of a channel";
    struct routine_call *const c = routine_add_call(w, "neon_convert", r->type, share, (uint64_t)items);
    unsigned next = 2, points = 2 + from + to;
    (void)error;
    routine_pass_operand(c, 0, 0);
    routine_pass_operand(c, w->operands - 1, 0);
    routine_pass_operand(c, 1, 0);
    pass_if(c, bias, &points);
    pass_if(c, from, &next);
    pass_if(c, to, &next);
    routine_pass(c, r->value[CONVERT_FROM]);
    routine_pass(c, r->value[CONVERT_TO]);
    routine_pass(c, channels);
    routine_pass(c, channels == 1 ? count : inner);
    routine_pass(c, bias);
    snprintf(w->variant, sizeof w->variant, "neon_convert_%s_as_%s", routine_type_name(operation_convert_type(r, CONVERT_FROM)),
             routine_type_name(operation_convert_type(r, CONVERT_TO)));
    return true;
}

const struct routine cpu_kernel_convert = {&operation_convert,
                                           "N[,from=TYPE][,to=TYPE][,channels=C][,inner=I][,bias=0|1]",
                                           "f32 f16 bf16",
                                           "N numbers as integers (u8, i8, i32) by x / scale + offset, or integers as numbers by "
                                           "(x - zero) scale + bias, or integers as "
                                           "integers; element i has the parameters of channel i / I % C",
                                           parameters,
                                           build};
