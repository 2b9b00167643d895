/* Quantising a network: weights, and before products with them also activations, as integers with scales, in ONNX's form of pairs
 * QuantizeLinear, DequantizeLinear; and how far the result is from the network that it was.
 *
 *     net_calibrate(model, &samples, NET_BY_ENTROPY, 0, &ranges, error)       from a network in single precision
 *     net_quantise(model, NET_TO_INT8, &ranges, &count, error)                changes the graph
 *     net_compare_networks(before, model, &samples, &report, error)
 */
#ifndef ORCHARD_SIM_NETWORK_QUANTISE_QUANTISE_H
#define ORCHARD_SIM_NETWORK_QUANTISE_QUANTISE_H

#include "sim/network/quantise/samples.h"

enum net_quantise_to { NET_TO_INT8, NET_TO_INT4, NET_TO_F16 };
enum net_range_method { NET_BY_MINMAX, NET_BY_PERCENTILE, NET_BY_ENTROPY };

/* By value of the model: the largest magnitude that is kept, 0 where none was seen. */
struct net_ranges {
    double *most;
    size_t count;
};
/* Runs the samples through the reference and looks at the inputs of products. `percentile` is used by that method alone. */
bool net_calibrate(const struct net_model *model, const struct net_samples *samples, enum net_range_method method,
                   double percentile, struct net_ranges *ranges, struct orch_error *error);
void net_ranges_free(struct net_ranges *ranges);

/* What was changed. */
struct net_quantised_count {
    unsigned products, weights;         /* Conv, MatMul, Gemm whose weights are constant; tensors of weights */
    uint64_t bytes_before, bytes_after; /* of these weights, with their scales */
};
/* int8: weights by output channel, activations by tensor, both without zero point, so that padding stays zero; int4: weights in
 * groups of 32 along the sum (by channel in convolutions); f16: weights. `ranges` is for int8 alone. */
bool net_quantise(struct net_model *model, enum net_quantise_to to, const struct net_ranges *ranges,
                  struct net_quantised_count *count, struct orch_error *error);
/* The same but for nodes that are marked, by node of the graph. */
bool net_quantise_but(struct net_model *model, enum net_quantise_to to, const struct net_ranges *ranges, const bool *whole,
                      struct net_quantised_count *count, struct orch_error *error);
/* The numbers that such weights and activations stand for, in f32. NULL with *error. */
struct net_array *net_weights_in_bytes(const struct net_model *model, const struct net_node *node, struct orch_error *error);
struct net_array *net_numbers_in_bytes(const struct net_array *numbers, double most, struct orch_error *error);

/* Of one output, over all samples. */
struct net_likeness {
    double cosine, largest_error, largest; /* largest: of the numbers that are expected */
    double top1;                           /* share of rows with the same largest element; NAN = rows of one element */
};
struct net_likenesses {
    struct net_likeness *output;
    size_t outputs, samples;
};
bool net_compare_networks(const struct net_model *before, const struct net_model *after, const struct net_samples *samples,
                          struct net_likenesses *report, struct orch_error *error);
void net_likenesses_free(struct net_likenesses *report);

/* The place of the weights among a node's inputs if the node is a product with constant weights in f32; 0 = it is none. */
size_t net_weights_of(const struct net_model *model, const struct net_node *node);

#endif
