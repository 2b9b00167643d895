/* What builders of kernels for cores have in common, whether these compute in NEON registers or on the AMX block: the lists of
 * arguments of their operations (units/cpu/kernels/native/arguments.h), and calls that differ in nothing but the function. */
#ifndef ORCHARD_UNITS_ROUTINES_ARGUMENTS_H
#define ORCHARD_UNITS_ROUTINES_ARGUMENTS_H

#include "units/routines/operations.h"

/* A unit's functions are "<prefix>_softmax_<type>"; a row in the thread's own memory is padded to `row_pad` numbers. */
struct arguments_unit {
    const char *prefix;
    unsigned row_pad;
};

/* "neon_softmax_f32" */
void arguments_name_variant(const struct arguments_unit *unit, const struct routine_request *request, struct routine_work *work);

/* softmax, and layernorm or rmsnorm: items are rows. */
void arguments_build_softmax(const struct arguments_unit *unit, const struct routine_request *request, struct routine_work *work);
void arguments_build_norm(const struct arguments_unit *unit, const struct routine_request *request, struct routine_work *work);

/* groupnorm: items are groups of channels; batchnorm: planes. */
void arguments_build_groupnorm(const struct arguments_unit *unit, const struct routine_request *request,
                               struct routine_work *work);
void arguments_build_batchnorm(const struct arguments_unit *unit, const struct routine_request *request,
                               struct routine_work *work);

/* Rows that are centred and scaled, by function "<prefix>_norm". */
struct arguments_norm {
    const char *items;
    uint64_t rows, columns;
    bool centred, by_run;
    unsigned parameters; /* operands: none, gamma, gamma and beta */
    int64_t each, count; /* elements that share one; how many there are */
    double eps;
};
void arguments_norm(const struct arguments_unit *unit, const struct arguments_norm *n, const struct routine_request *request,
                    struct routine_work *work);

/* How a unit cuts attention: panels of keys and of columns of values, blocks of queries; `own`: floats of each thread. */
struct arguments_attention {
    unsigned first; /* operand: q; k, v and out follow */
    unsigned panel, block;
    uint64_t own;
    const char *keys, *values, *queries; /* items */
};
void arguments_build_attention(const struct arguments_unit *unit, const struct arguments_attention *a,
                               const struct routine_request *request, struct routine_work *work);

/* The list of conv2d. Operands that a kernel has no use for are any. */
struct arguments_conv {
    struct operation_conv shape;
    unsigned bias, out, panels, own;
    int64_t chunks;
};
void arguments_pass_conv(const struct arguments_conv *v, const struct routine_request *request, const struct routine_work *work,
                         struct routine_call *call);

#endif
