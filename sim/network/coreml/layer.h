/* A layer of a neural network while it is imported. */
#ifndef ORCHARD_SIM_NETWORK_COREML_LAYER_H
#define ORCHARD_SIM_NETWORK_COREML_LAYER_H

#include "sim/network/coreml/coreml_internal.h"

enum { LAYER_OPERANDS_MAX = 64 };

struct layer {
    struct coreml *c;
    struct pb body; /* the message of its kind */
    net_id in[LAYER_OPERANDS_MAX], out[LAYER_OPERANDS_MAX];
    size_t inputs, outputs;
    const char *op; /* of the row: what the layer becomes, where one function serves several */
};

/* A row for each kind; without a function, it is known by name only. */
struct layer_kind {
    unsigned field;
    const char *name;
    void (*import)(struct layer *l);
    const char *op;
};
const struct layer_kind *layer_kind_find(unsigned field);

static inline int64_t layer_int(const struct layer *l, unsigned field, int64_t absent)
{
    return pb_integer(l->body, field, absent);
}
static inline double layer_real(const struct layer *l, unsigned field, double absent)
{
    return pb_real(l->body, field, absent);
}
/* A list; `count` integers of which absent ones are `absent`. */
void layer_ints(struct layer *l, unsigned field, int64_t *list, size_t count, int64_t absent);
/* A list as long as it is; notes an error when it has more than eight numbers. */
size_t layer_list(struct layer *l, unsigned field, int64_t *list);
/* BorderAmounts [H, W] as all begins, then all ends. */
void layer_borders(struct layer *l, struct pb borders, int64_t *pad);
/* A value of rank 4 for operators on images: leading dimensions become one; what was made of it gets them back. */
net_id layer_as_image(struct layer *l, net_id x);
net_id layer_as_before(struct layer *l, net_id image, net_id x);

/* layer_image.c */
void layer_convolution(struct layer *l);
void layer_pooling(struct layer *l);
void layer_upsample(struct layer *l);
void layer_resize_bilinear(struct layer *l);
void layer_crop(struct layer *l);
void layer_padding(struct layer *l);
void layer_reorganise(struct layer *l);
/* layer_math.c */
void layer_activation(struct layer *l);
void layer_unary(struct layer *l);
void layer_scale(struct layer *l);
void layer_bias(struct layer *l);
void layer_batch_norm(struct layer *l);
void layer_mvn(struct layer *l);
void layer_l2_norm(struct layer *l);
void layer_lrn(struct layer *l);
void layer_softmax(struct layer *l);
void layer_layer_norm(struct layer *l);
void layer_inner_product(struct layer *l);
void layer_batched_matmul(struct layer *l);
void layer_embedding(struct layer *l);
void layer_embedding_nd(struct layer *l);
/* layer_pairs.c */
void layer_sum(struct layer *l);
void layer_product(struct layer *l);
void layer_variadic(struct layer *l);
void layer_pair(struct layer *l);
void layer_one(struct layer *l);
void layer_compare(struct layer *l);
void layer_logical(struct layer *l);
void layer_floor_div(struct layer *l);
void layer_not_equal(struct layer *l);
void layer_exp2(struct layer *l);
void layer_clip(struct layer *l);
void layer_clamped_relu(struct layer *l);
void layer_gelu(struct layer *l);
void layer_where(struct layer *l);
void layer_dot(struct layer *l);
void layer_reduce(struct layer *l);
void layer_reduce_nd(struct layer *l);
void layer_arg(struct layer *l);
void layer_top_k(struct layer *l);
/* layer_shape.c */
void layer_copy(struct layer *l);
void layer_constant(struct layer *l);
void layer_reshape(struct layer *l);
void layer_flatten(struct layer *l);
void layer_permute(struct layer *l);
void layer_concat(struct layer *l);
void layer_split(struct layer *l);
void layer_slice(struct layer *l);
void layer_sequence_repeat(struct layer *l);
void layer_transpose(struct layer *l);
void layer_softmax_nd(struct layer *l);
void layer_concat_nd(struct layer *l);
void layer_split_nd(struct layer *l);
void layer_stack(struct layer *l);
void layer_gather(struct layer *l);
void layer_tile(struct layer *l);
void layer_slice_static(struct layer *l);
void layer_squeeze(struct layer *l);
void layer_expand_dims(struct layer *l);
void layer_flatten_2d(struct layer *l);
void layer_reshape_static(struct layer *l);
void layer_reshape_like(struct layer *l);
void layer_shape(struct layer *l);
void layer_fill(struct layer *l);
void layer_broadcast(struct layer *l);
void layer_constant_pad(struct layer *l);
/* layer_recurrent.c */
void layer_lstm(struct layer *l);
void layer_gru(struct layer *l);
void layer_rnn(struct layer *l);

#endif
