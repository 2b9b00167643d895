/* What a detector found: boxes with scores, the best of those that overlap, drawn on the image. */
#ifndef ORCHARD_SIM_NETWORK_IMAGE_BOXES_H
#define ORCHARD_SIM_NETWORK_IMAGE_BOXES_H

#include "sim/network/image/image.h"

#include <stdio.h>

struct found_box {
    double score;
    unsigned kind;                   /* class; 0 is the background where there are several */
    double left, top, right, bottom; /* as shares of the image's sides, within [0, 1] */
};

/* Two of the outputs that belong together: [..., N, 4] corners (left, top, right, bottom) as shares of the sides, and [..., N, C]
 * scores of classes, of which the first is the background when there are two or more. False when no two outputs look so. */
bool boxes_outputs(struct net_array *const *output, size_t outputs, const struct net_array **corners,
                   const struct net_array **scores);
/* Boxes of at least that score, the best first; of those of one class that overlap by half of what they cover together or more
 * only the best (greedy non-maximum suppression). The caller frees *box. */
bool boxes_find(const struct net_array *corners, const struct net_array *scores, double least, struct found_box **box,
                size_t *count, struct orch_error *error);

/* Frames on the pixels, a colour for each class. */
void boxes_draw(struct image *image, const struct found_box *box, size_t count);
/* Three bytes: red, green, blue. */
const uint8_t *boxes_colour(unsigned kind);
/* The same as an SVG file: the image without frames inside, a frame and a name for each box, "class N" where it has none. */
bool boxes_write_svg(const char *path, const struct image *image, const struct found_box *box, size_t count, char *const *name,
                     size_t names, struct orch_error *error);
/* The caller frees *file. */
bool image_make_png(const struct image *image, uint8_t **file, size_t *size, struct orch_error *error);
/* A PNG file. */
bool image_write_png(const char *path, const struct image *image, struct orch_error *error);

#endif
