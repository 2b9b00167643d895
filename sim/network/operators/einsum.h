/* The equation of an Einsum, which passes read as well. */
#ifndef ORCHARD_SIM_NETWORK_OPERATORS_EINSUM_H
#define ORCHARD_SIM_NETWORK_OPERATORS_EINSUM_H

#include "sim/network/operators/operator.h"

enum { NET_LABELS = 26 + 26 + NET_DIMS_MAX, NET_TERMS_MAX = 8 };

/* Labels of each dimension of the operands and the result; those of an ellipsis count from 52 on, aligned at the end. */
struct net_equation {
    unsigned terms;
    int label[NET_TERMS_MAX + 1][NET_DIMS_MAX]; /* the last is the result */
    unsigned dims[NET_TERMS_MAX + 1];
    int64_t size[NET_LABELS];
    bool used[NET_LABELS];
};

/* Of a node whose operands have known shapes; false with an error when it does not fit them. */
bool net_read_equation(struct net_infer *i, struct net_equation *e);

#endif
