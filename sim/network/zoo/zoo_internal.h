/* Between the files of sim/network/zoo. */
#ifndef ORCHARD_SIM_NETWORK_ZOO_ZOO_INTERNAL_H
#define ORCHARD_SIM_NETWORK_ZOO_ZOO_INTERNAL_H

#include "sim/network/zoo/zoo.h"

enum { ZOO_ARGS = 12, ZOO_NAME = 24, ZOO_NAMES = 24, ZOO_STACK = 24, ZOO_DIMS = 8, ZOO_DEPTH = 16 };

/* What one operation is given: "conv:64,3,s=2" has the arguments 64 and 3, and s. */
struct zoo_args {
    struct {
        char key[ZOO_NAME]; /* "" = by its place */
        char text[ZOO_NAME];
        int64_t number; /* when it is one */
        bool is_number;
    } arg[ZOO_ARGS];
    unsigned count;
};

/* Values that a macro has named. */
struct zoo_frame {
    const struct zoo_frame *outer;
    struct {
        char name[ZOO_NAME];
        net_id id;
    } named[ZOO_NAMES];
    unsigned names;
    const struct zoo_args *args;
};

struct zoo_build {
    const struct net_zoo_model *zoo;
    const struct net_zoo_options *options;
    struct net_model *model;
    net_id current;
    net_id stack[ZOO_STACK]; /* of push */
    unsigned depth;
    struct zoo_frame *frame;
    struct {
        char name[ZOO_NAME];
        int64_t size;
        bool given;
    } dim[ZOO_DIMS];
    unsigned dims;
    unsigned weights, nodes;
    uint64_t parameters, random;
    struct orch_error *error;
};

/* ---- zoo_build.c ---- */

bool zoo_fail(struct zoo_build *z, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* By place, and by key, with what it is when it is missing. */
int64_t zoo_number(const struct zoo_args *args, unsigned place, int64_t missing);
int64_t zoo_key(const struct zoo_args *args, const char *key, int64_t missing);
const char *zoo_text(const struct zoo_args *args, unsigned place);      /* NULL = missing */
const char *zoo_key_text(const struct zoo_args *args, const char *key); /* NULL = missing */
/* A value that was named; NET_NONE with an error. */
net_id zoo_named(struct zoo_build *z, const char *name);
bool zoo_name(struct zoo_build *z, const char *name, net_id id);

/* ---- zoo_node.c: nodes and constants ---- */

/* Dimension of a value, from the back when negative; 0 when there is none. */
int64_t zoo_dim(const struct zoo_build *z, net_id id, int axis);
unsigned zoo_dims(const struct zoo_build *z, net_id id);
/* Weights that count as parameters (`inputs`: how many are added up into one number), and numbers that do not. */
net_id zoo_weight(struct zoo_build *z, const int64_t *shape, unsigned dims, int64_t inputs);
/* The same number everywhere: scales, offsets, statistics. */
net_id zoo_filled(struct zoo_build *z, int64_t count, double number, bool parameter);
net_id zoo_scalar(struct zoo_build *z, double number);
net_id zoo_integers(struct zoo_build *z, const int64_t *number, size_t count);
/* A node whose attributes the caller sets; NULL when memory is out or an input is missing. */
struct net_node *zoo_node(struct zoo_build *z, const char *op, const net_id *input, size_t inputs, size_t outputs);
/* Puts it into the graph; its first output is then the current value. */
bool zoo_put(struct zoo_build *z, struct net_node *node);
/* The same of nodes without attributes. */
bool zoo_one(struct zoo_build *z, const char *op, net_id x);
bool zoo_two(struct zoo_build *z, const char *op, net_id a, net_id b);
bool zoo_reshape(struct zoo_build *z, net_id x, const int64_t *shape, unsigned dims);
bool zoo_transpose(struct zoo_build *z, net_id x, const int64_t *order, unsigned dims);
bool zoo_slice(struct zoo_build *z, net_id x, int64_t from, int64_t to, int64_t axis);
bool zoo_linear(struct zoo_build *z, net_id x, int64_t outputs, bool bias);

/* ---- the operations ---- */

struct zoo_operation {
    const char *name;
    bool (*make)(struct zoo_build *z, const struct zoo_args *args, const char *word);
    const char *word; /* its own: the operator */
};
extern const struct zoo_operation zoo_image_operations[], zoo_sequence_operations[]; /* the last has no name */

#endif
