/* Images that go into a network, and the classes that come out. */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_IMAGE_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_IMAGE_H

#include "sim/network/graph/graph.h"
#include "sim/run/network/run_network_around.h"

#include <stdint.h>
#include <stdio.h>

struct run_network_images {
    const char *const *file; /* "FILE", or "NAME=FILE" where several inputs can be images */
    size_t count;
    const char *mean, *std; /* of pixels from 0 to 255: one number or three; NULL = 0 and 1 */
    const char *boxes;      /* PNG file that what a detector found is drawn to; NULL = none */
    double least_score;     /* of a box that is drawn */
    const char *labels;     /* a file with a name of a class on each line; NULL = those that the model holds */
};

/* Puts the images into their inputs, in place of what is there, and fills in a picture for each. */
bool run_network_read_images(const struct run_network_images *images, const struct net_model *model, struct net_array **input,
                             struct run_network_picture *picture, struct orch_error *error);
/* Labels of a file in place of the model's own. */
bool run_network_read_labels(const char *path, struct net_model *model, struct orch_error *error);
/* The best five classes of an output that has as many numbers as there are labels, as lines; "" when none has. From malloc; NULL
 * when memory is out. */
char *run_network_classes(const struct net_model *model, struct net_array *const *output);
/* Draws the boxes of a detector's outputs (sim/network/image/boxes.h) on the first image, and names them, as lines. From malloc;
 * NULL with *error. */
char *run_network_boxes(const struct run_network_images *images, const struct net_model *model, struct net_array *const *output,
                        struct orch_error *error);

#endif
