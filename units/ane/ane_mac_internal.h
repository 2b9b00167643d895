/* A convolution or matrix product that is being computed; shared by ane_mac.c, ane_mac_operands.c and ane_mac_panels.c only. */
#ifndef ORCHARD_UNITS_ANE_ANE_MAC_INTERNAL_H
#define ORCHARD_UNITS_ANE_ANE_MAC_INTERNAL_H

#include "units/ane/ane_internal.h"

enum { ANE_GEMM_CHUNK = 16 /* floats copied at once */ };

struct ane_gemm {
    struct ane_job *job;
    uint32_t groups, channels_in, channels_out; /* channels of one group */
    uint32_t width, height;                     /* of the padded image, including what the kernel reads beyond */
    size_t taps, k;                             /* products of an output; rounded up to groups of the adder */
    uint32_t pixels;
    bool by_channel;    /* columns are output channels */
    float *image;       /* [channels of all groups][height][width] */
    float *weight;      /* [output channels of all groups][k] */
    float *bias;        /* of each output channel */
    float *channel_sum; /* sum of the magnitudes of a channel's weights */
    float *column;      /* by_channel: [groups][pixels][k] */
    float *result;      /* [output channels][pixels] */
    float largest;      /* of the image, by magnitude */
};

/* Aligned memory for so many floats, NULL when memory is out. The caller frees it. */
float *ane_gemm_room(uint64_t floats);
float *ane_gemm_zeros(uint64_t floats);

/* ane_mac_operands.c: the padded image, and the weights and biases. False = fault. */
bool ane_gemm_load_image(struct ane_gemm *g);
bool ane_gemm_load_weights(struct ane_gemm *g);

/* ane_mac_panels.c: fills `count` columns of a panel of ANE_MAC_LANES columns, whose rows are taps. Columns are output pixels of
 * a group, or output channels, from `first` on. */
void ane_gemm_pixel_panel(const struct ane_gemm *g, uint32_t group, uint32_t first, uint32_t count, float *panel);
void ane_gemm_channel_panel(const struct ane_gemm *g, uint32_t first, uint32_t count, float *panel);
/* Lists the windows of all output pixels, which are the rows where columns are channels. False = fault. */
bool ane_gemm_make_columns(struct ane_gemm *g);

#endif
