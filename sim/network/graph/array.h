/* Tensors with values: what constants hold, and what running a network makes.
 *
 * An array is counted by reference and never changes once it has been handed on, so views share their elements.
 */
#ifndef ORCHARD_SIM_NETWORK_GRAPH_ARRAY_H
#define ORCHARD_SIM_NETWORK_GRAPH_ARRAY_H

#include "sim/base/error.h"
#include "sim/network/graph/element.h"

#define NET_DIMS_MAX 8
/* Nothing larger is made; what a file claims beyond that is refused before memory is asked for. */
#define NET_ARRAY_BYTES_MAX (INT64_C(1) << 33)

struct net_array {
    enum net_type type;
    unsigned dims;
    int64_t shape[NET_DIMS_MAX];
    int64_t count; /* elements */
    void *data;    /* row-major, no gaps */
    unsigned references;
    struct net_array *lender; /* of data; NULL when data is the array's own */
    bool blank;               /* nobody has said what its elements are: they read as zeros, and must not be written */
};

/* Elements of a shape; false when they do not fit NET_ARRAY_BYTES_MAX. Dimensions must not be negative. */
bool net_shape_count(enum net_type type, const int64_t *shape, unsigned dims, int64_t *count);
/* Zeros. NULL with an error. */
struct net_array *net_array_new(enum net_type type, const int64_t *shape, unsigned dims, struct orch_error *error);
/* One that takes no memory, for where only shapes count. */
struct net_array *net_array_blank(enum net_type type, const int64_t *shape, unsigned dims, struct orch_error *error);
/* The same elements in another shape of the same count. */
struct net_array *net_array_view(struct net_array *of, const int64_t *shape, unsigned dims, struct orch_error *error);
struct net_array *net_array_retain(struct net_array *array); /* NULL is allowed */
void net_array_release(struct net_array *array);             /* NULL is allowed */

/* One-dimensional and scalar constants. */
struct net_array *net_array_of_integers(enum net_type type, const int64_t *number, size_t count, struct orch_error *error);
struct net_array *net_array_of_scalar(enum net_type type, double number, struct orch_error *error);

int64_t net_array_integer(const struct net_array *array, int64_t index);
double net_array_double(const struct net_array *array, int64_t index);
size_t net_array_bytes(const struct net_array *array);
/* Same type, shape and bits; a blank one is the same as itself only. */
bool net_array_same(const struct net_array *a, const struct net_array *b);
/* Elements between one and the next along each dimension. */
void net_strides(const int64_t *shape, unsigned dims, int64_t *stride);
/* Product of shape[from .. to). */
int64_t net_extent(const int64_t *shape, unsigned from, unsigned to);

#endif
