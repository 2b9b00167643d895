/* An operation of an ML program (MIL) while it is imported. */
#ifndef ORCHARD_SIM_NETWORK_COREML_MIL_H
#define ORCHARD_SIM_NETWORK_COREML_MIL_H

#include "sim/network/coreml/coreml_names.h"

#include <math.h>

enum { MIL_OUTPUTS_MAX = 64, MIL_OPERANDS_MAX = 256 };

struct mil_file; /* of weights */

struct mil_program {
    struct coreml *c;
    int64_t opset; /* 5 = CoreML5 .. */
    struct mil_file *files;
    struct coreml_list *lists;
    size_t steps, listed; /* operations and items of lists so far */
    unsigned depth;
};

struct mil_op {
    struct mil_program *p;
    struct coreml *c;
    const struct coreml_names *names;
    struct pb body;
    struct coreml_value out[MIL_OUTPUTS_MAX];
    size_t outputs;
    const char *op; /* of the row: what it becomes, where one function serves several */
};

struct mil_row {
    const char *name;
    void (*import)(struct mil_op *o);
    const char *op;
};
const struct mil_row *mil_row_find(struct pb name);

/* ---- parameters: by name; a value, or a constant ---- */

/* Value `index` of a parameter; nothing when it is absent. */
struct coreml_value mil_value(struct mil_op *o, const char *name, size_t index);
size_t mil_count(struct mil_op *o, const char *name);
bool mil_has(struct mil_op *o, const char *name);
/* The tensor; an error or NET_NONE when it is absent. */
net_id mil_in(struct mil_op *o, const char *name);
net_id mil_maybe(struct mil_op *o, const char *name);
/* All values of a parameter that takes several; the count. */
size_t mil_all(struct mil_op *o, const char *name, net_id *id, size_t room);
/* Constants; an error when they are there and hang on something. */
size_t mil_ints(struct mil_op *o, const char *name, int64_t *list, size_t room);
int64_t mil_int(struct mil_op *o, const char *name, int64_t absent);
double mil_real(struct mil_op *o, const char *name, double absent);
bool mil_flag(struct mil_op *o, const char *name, bool absent);
/* A word, cut to the room. */
const char *mil_word(struct mil_op *o, const char *name, const char *absent, char *text, size_t size);
static inline void mil_set(struct mil_op *o, net_id id)
{
    o->out[0] = coreml_tensor(id);
}

/* ---- mil_value.c ---- */

/* A Value message. */
struct coreml_value mil_constant(struct mil_program *p, struct pb value);
void mil_files_free(struct mil_program *p);
/* Dimensions of a tensor's ValueType: -1 where they are open. False for what is no tensor. */
bool mil_shape(struct pb type, int64_t *shape, size_t *dims, int64_t *kind);

/* ---- mil_control.c, mil_program.c ---- */

struct coreml_list *mil_list_new(struct mil_program *p, size_t count);
/* Imports a block: `in` are the values of its inputs; its outputs go to `out`. */
size_t mil_block(struct mil_program *p, struct pb block, const struct coreml_names *outer, const struct coreml_value *in,
                 size_t inputs, struct coreml_value *out, size_t room);

/* ---- operations, by file ---- */

/* clang-format off */
#define MIL_FUNCTIONS(X) \
    X(one) X(two) X(compare_not) X(floor_div) X(exp2) X(square) X(log) X(rsqrt) X(inverse) X(clip) X(relu6) X(alpha) \
    X(clamped) X(gelu) X(hard) X(silu) X(scaled_tanh) X(linear_activation) X(threshold) X(parametric) X(prelu) X(logical) \
    X(cast) X(select) X(softmax) X(reduce) X(arg) X(top_k) X(cum_sum) X(mod) X(conv) X(conv_transpose) X(batch_norm) \
    X(instance_norm) X(layer_norm) X(l2_norm) X(lrn) X(linear) X(matmul) X(einsum) X(attention) X(pool) X(lstm) X(gru) \
    X(reshape) X(transpose) X(axes) X(squeeze) X(concat) X(stack) X(split) X(tile) X(flatten) X(slice_by_index) \
    X(slice_by_size) X(gather) X(pad) X(upsample) X(resize) X(shuffle) X(reverse) X(one_hot) X(range) X(fill) X(shape_of) \
    X(same) X(band) X(constant_op) X(affine) X(table) X(sparse) X(blockwise) X(dequantize) X(quantize) X(constexpr_cast) \
    X(make_list) X(list_read) X(list_write) X(list_gather) X(list_scatter) X(list_length) X(while_loop) X(cond) \
    X(classify)
/* clang-format on */
#define MIL_DECLARE(name) void mil_##name(struct mil_op *o);
MIL_FUNCTIONS(MIL_DECLARE)
#undef MIL_DECLARE

#endif
