/* Published networks by name, as graphs: the architectures with their true dimensions, in the compact notation of networks.inc.
 *
 * Weights have no contents of their own: they are blank (graph/array.h), or numbers made from a seed, of the size that keeps
 * values in bounds.
 */
#ifndef ORCHARD_SIM_NETWORK_ZOO_ZOO_H
#define ORCHARD_SIM_NETWORK_ZOO_ZOO_H

#include "sim/network/graph/graph.h"

#define NET_ZOO "model:" /* begins their names where files may stand as well */

struct net_zoo_model {
    const char *name, *text; /* what it is */
    uint64_t parameters;     /* as published, without the statistics of normalisations */
    const char *source;      /* of that number and of the architecture */
    const char *notation;
};

const struct net_zoo_model *net_zoo_at(size_t index); /* NULL past the last */
/* With or without NET_ZOO before it; capitals, points, dashes and underlines do not matter. NULL = there is none. */
const struct net_zoo_model *net_zoo_find(const char *name);

/* What is built. Dimensions are "NAME=N"; the others have the values of the notation. */
struct net_zoo_options {
    const char *const *dims;
    size_t dim_count;
    bool contents; /* false = weights are blank */
    uint64_t seed;
};
/* The graph, whose shapes are known; *parameters counts those of the published number. NULL with an error. */
struct net_model *net_zoo_build(const struct net_zoo_model *zoo, const struct net_zoo_options *options, uint64_t *parameters,
                                struct orch_error *error);

#endif
