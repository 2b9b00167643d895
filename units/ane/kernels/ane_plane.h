/* NCHW images for operators that do not care where in its plane an element lies: each plane as a few long rows. */
#ifndef ORCHARD_UNITS_ANE_KERNELS_ANE_PLANE_H
#define ORCHARD_UNITS_ANE_KERNELS_ANE_PLANE_H

#include "units/ane/kernels/ane_build.h"

struct ane_planes {
    uint32_t n, c, h, w;
    uint32_t rows, width; /* of a plane: rows * width = h * w, elements in order */
};
/* One row where h * w fits a dimension; otherwise rows of whole lines of the image that are multiples of 64 bytes, at most
 * `rows_max` of them. Fails with the limit when neither is possible. */
struct ane_planes ane_planes_place(struct ane_builder *b, uint32_t n, uint32_t c, uint32_t h, uint32_t w, uint32_t rows_max);
struct ane_view ane_planes_input(struct ane_builder *b, const struct ane_planes *p, const char *name, double low, double high);
struct ane_view ane_planes_output(struct ane_builder *b, const struct ane_planes *p, const char *name);
/* One value per plane, n x c, as an output. */
struct ane_view ane_planes_values(struct ane_builder *b, const struct ane_planes *p, const char *name);

#endif
