/* Images as inputs of networks: JPEG and PNG files, resized and laid out as an input wants them. */
#ifndef ORCHARD_SIM_NETWORK_IMAGE_IMAGE_H
#define ORCHARD_SIM_NETWORK_IMAGE_IMAGE_H

#include "sim/network/graph/graph.h"

/* Neither side is longer, and a file is not larger. */
enum { IMAGE_SIDE_MAX = 1 << 14, IMAGE_FILE_MAX = 1 << 28 };

struct image {
    unsigned width, height;
    uint8_t *rgb; /* three bytes a pixel, rows from the top */
};

/* Recognised by its content; 8 bits a channel, whatever the file has. What is transparent is taken as it is coloured, and a
 * camera's note of how it was held is not read. False with an error that begins with the path. */
bool image_load(const char *path, struct image *image, struct orch_error *error);
bool image_decode(const uint8_t *bytes, size_t size, struct image *image, struct orch_error *error);
void image_free(struct image *image);

/* Numbers are (pixel - mean) / std, with pixels from 0 to 255, by channel: red, green, blue. */
struct image_scale {
    double mean[3], std[3];
};
/* "127" or "123.7,116.3,103.5", of the option of that name; absent (NULL) leaves what is there. */
bool image_scale_parse(const char *option, const char *text, double number[3], struct orch_error *error);

/* The image as an input: [N,C,H,W], [N,H,W,C], [C,H,W], [H,W,C] or [H,W] with one or three channels. Sizes that are open are the
 * image's own; else it is resized: each pixel is the average of those that it covers, weighted by a triangle (which is linear
 * interpolation where the image grows). NULL with an error. */
struct net_array *image_input(const struct net_model *model, const struct net_value *input, const struct image *image,
                              const struct image_scale *scale, struct orch_error *error);
/* Rows, columns and colours of what image_input made. */
void image_input_size(const struct net_model *model, const struct net_value *input, const struct net_array *made, int64_t *rows,
                      int64_t *columns, unsigned *colours);
/* The input that an image can be given to: the only one of such a shape. NET_NONE with an error. */
net_id image_input_find(const struct net_model *model, struct orch_error *error);

#endif
