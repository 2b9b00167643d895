/* A long row of elements as an image: full rows of a multiple of 64 bytes follow one another, so that the elements keep their
 * places; the elements that fill no row are a part of their own. */
#ifndef ORCHARD_UNITS_ANE_KERNELS_ANE_FOLD_H
#define ORCHARD_UNITS_ANE_KERNELS_ANE_FOLD_H

#include "units/ane/kernels/ane_build.h"

enum { ANE_FOLD_PARTS = 3 };

struct ane_fold {
    uint32_t width, height; /* of the whole: height rows, of which the last one may not be full */
    unsigned parts;
    struct ane_fold_part {
        uint32_t first_row, channels, height, width; /* channels of `height` rows each */
    } part[ANE_FOLD_PARTS];
};

/* Folds into rows of at most `width_max` elements (a multiple of 32). `channels` > 1 splits as many rows as possible into so many
 * channels. */
struct ane_fold ane_fold_elements(uint64_t count, uint32_t width_max, uint32_t channels);
/* Part `index` of each channel of `whole`, whose planes have fold->height rows of fold->width elements. Only one of the part and
 * the whole may have several channels. */
struct ane_view ane_fold_view(const struct ane_fold *fold, unsigned index, struct ane_view whole);

#endif
