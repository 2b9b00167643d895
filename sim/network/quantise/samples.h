/* Samples of the inputs of a network: arrays, archives and images from files. */
#ifndef ORCHARD_SIM_NETWORK_QUANTISE_SAMPLES_H
#define ORCHARD_SIM_NETWORK_QUANTISE_SAMPLES_H

#include "sim/network/image/image.h"

struct net_samples {
    struct net_array ***set; /* by sample, by input of the graph */
    size_t count, inputs, room;
};

/* From a folder, each file a sample in the order of the names: .npz with an array for each input, .npy or an image for the only
 * one. From a file: .npz or .npy whose arrays hold the samples one behind the other in their first dimension. */
bool net_samples_load(const char *path, const struct net_model *model, const struct image_scale *scale,
                      struct net_samples *samples, struct orch_error *error);
void net_samples_free(struct net_samples *samples);

#endif
