/* What cores do around a network: an image becomes its input, the best classes are found in its output. Values are those of
 * run_network_image.h; here is what kernels of the CPU's library take for such work on an E core, as lines of the network's. */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_AROUND_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_AROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct net_array;
struct orch_error;
struct run_network;

struct run_network_picture {
    unsigned width, height, colours; /* of the file */
    int64_t columns, rows;           /* of the input */
    bool scaled;                     /* by a mean or a deviation */
    const struct net_array *input;
};

/* From the file's pixels to the input. Kernels are timed by themselves, whatever the mode. */
bool run_network_time_pictures(struct run_network *network, const struct run_network_picture *picture, size_t count,
                               struct orch_error *error);
/* The best five of an output that has as many numbers as there are labels. */
bool run_network_time_classes(struct run_network *network, struct net_array *const *output, struct orch_error *error);

#endif
