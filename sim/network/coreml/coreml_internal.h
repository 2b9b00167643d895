/* Shared by the files of the Core ML import.
 *
 * What makes nodes is sticky: after the first failure nothing more is made and NET_NONE is returned, which is allowed as an
 * input. A layer or an operation therefore builds its nodes one after another, and who called it asks `failed` once.
 */
#ifndef ORCHARD_SIM_NETWORK_COREML_COREML_INTERNAL_H
#define ORCHARD_SIM_NETWORK_COREML_COREML_INTERNAL_H

#include "sim/network/coreml/coreml.h"
#include "sim/network/coreml/pb.h"
#include "sim/network/operators/operator.h"

enum { COREML_TEXT = 256 };

struct coreml {
    struct net_model *model;
    const char *folder_of; /* the model's file, for its weights; NULL = none */
    struct pb_state wire;
    struct pb file;
    int64_t specification;
    struct orch_error *error;
    bool failed;
    char place[COREML_TEXT]; /* "layer 'conv1' (convolution)" */
    char name[COREML_TEXT];  /* what nodes that are made now are called after */
    size_t nodes, made;      /* in all; of this place */
};

/* ---- coreml_build.c ---- */

/* Notes an error at the present place; returns NET_NONE. */
net_id coreml_fail(struct coreml *c, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Damage of the wire format, if there is any, becomes the error. Returns whether all is well. */
bool coreml_holds(struct coreml *c);
/* Where what follows stands: kind "layer", name, type. */
void coreml_enter(struct coreml *c, const char *kind, const char *name, const char *type);

/* Calls a value after the file, if it was made at this place (it is none of the `first` values that were there before). */
void coreml_rename(struct coreml *c, net_id id, struct pb name, size_t first);

/* A node of so many outputs, not yet in the graph; NULL after a failure. */
struct net_node *coreml_node(struct coreml *c, const char *op, size_t outputs, const net_id *in, size_t inputs);
void coreml_set_int(struct coreml *c, struct net_node *node, const char *name, int64_t value);
void coreml_set_real(struct coreml *c, struct net_node *node, const char *name, double value);
void coreml_set_text(struct coreml *c, struct net_node *node, const char *name, const char *value);
void coreml_set_ints(struct coreml *c, struct net_node *node, const char *name, const int64_t *value, size_t count);
/* Puts the node into the graph, infers its shapes, and computes it when that is little work on constants. Its outputs go to
 * `out`; the first is returned. */
net_id coreml_add(struct coreml *c, struct net_node *node, net_id *out);

net_id coreml_constant(struct coreml *c, struct net_array *array); /* takes it over; NULL is an error that was noted */
net_id coreml_number(struct coreml *c, double number);             /* f32 */
net_id coreml_ints(struct coreml *c, const int64_t *number, size_t count);
net_id coreml_one(struct coreml *c, const char *op, net_id x);
net_id coreml_two(struct coreml *c, const char *op, net_id x, net_id y);
net_id coreml_scaled(struct coreml *c, net_id x, double scale, double shift); /* scale x + shift; x itself when that is it */
net_id coreml_axis(struct coreml *c, const char *op, net_id x, int64_t axis); /* with the attribute `axis` */
net_id coreml_reshape(struct coreml *c, net_id x, const int64_t *shape, size_t dims);
net_id coreml_transpose(struct coreml *c, net_id x, const int64_t *order, size_t dims);
net_id coreml_axes(struct coreml *c, const char *op, net_id x, const int64_t *axes, size_t count); /* Squeeze, Unsqueeze */
net_id coreml_cast(struct coreml *c, net_id x, enum net_type type);
net_id coreml_clip(struct coreml *c, net_id x, double low, double high); /* infinite: no bound */
net_id coreml_slice(struct coreml *c, net_id x, int64_t axis, int64_t from, int64_t to, int64_t step);
/* Sums and the like; axes NULL = over all. */
net_id coreml_reduce(struct coreml *c, const char *op, net_id x, const int64_t *axes, size_t count, bool keep);
/* Linear or nearest, to sizes of the last two dimensions; `where` is ONNX's coordinate_transformation_mode. */
net_id coreml_resize(struct coreml *c, net_id x, const char *mode, const char *where, const int64_t *size);
/* An average, maximum or root mean square of windows. */
struct coreml_pool {
    int kind; /* 0 maximum, 1 average, 2 root of the sum of squares */
    unsigned dims;
    int64_t kernel[3], stride[3], pad[6]; /* all begins, then all ends */
    const char *automatic;                /* auto_pad; NULL = by pad */
    bool ceil, skips_padding;
};
net_id coreml_pooled(struct coreml *c, net_id x, const struct coreml_pool *pool);

/* The rank, and a dimension (counted from the end when negative); failures are noted when they are not known. */
unsigned coreml_rank(struct coreml *c, net_id x);
int64_t coreml_dim(struct coreml *c, net_id x, int64_t axis);
/* A constant's integers; false when the value is none. */
bool coreml_integers_of(const struct coreml *c, net_id x, int64_t *list, size_t room, size_t *count);

/* ---- coreml_tensor.c ---- */

/* Elements from little-endian bytes. Floats become f32; integers i64, but for those of eight bits. */
struct net_array *coreml_from_bytes(struct coreml *c, enum net_type type, struct pb bytes, const int64_t *shape, unsigned dims);
/* A WeightParams message: field `number` of a layer, as a constant of that shape. */
net_id coreml_weights(struct coreml *c, struct pb layer, unsigned number, const int64_t *shape, unsigned dims);

/* ---- coreml_file.c ---- */

/* A file below the folder that `path` is in, whole, unpacked when it is compressed. The caller frees *bytes. */
bool coreml_read_inside(const char *path, const char *inside, uint8_t **bytes, size_t *size, struct orch_error *error);

/* ---- the two kinds of models ---- */

struct coreml_feature {
    struct pb type; /* FeatureType */
    char name[COREML_TEXT];
};
/* An input of the graph as the description has it: arrays in f32, images as [C, H, W] in u8 numbers. */
net_id coreml_array_input(struct coreml *c, const struct coreml_feature *feature);
net_id coreml_image_input(struct coreml *c, const struct coreml_feature *feature);
bool coreml_output(struct coreml *c, const char *name, net_id value);

bool coreml_network(struct coreml *c, struct pb description, struct pb network);
bool coreml_program(struct coreml *c, struct pb description, struct pb program);

#endif
