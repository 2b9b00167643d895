/* What lies where in a coefficient bank; nothing else decides it. Inside isa/ane only. */
#ifndef ORCHARD_ISA_ANE_ANE_BANK_H
#define ORCHARD_ISA_ANE_ANE_BANK_H

#include "isa/ane/ane_coefficients.h"

#define ANE_BANK_ROUND 64u

/* The shape of a convolution's weights and their packing. */
struct ane_bank_shape {
    uint64_t channels, groups, per_group; /* output channels in all, convolution groups, output channels of one */
    uint64_t inputs, per_channel;         /* input channels and weights of an output channel */
    uint32_t kernel_width, kernel_height;
    uint32_t phases_x, phases_y; /* sparse: the stride, by whose phases the taps are sorted; else 1 */
    uint32_t engines;            /* banks in use */
    uint32_t lanes;              /* the most output channels of a plane */
    uint32_t slots;              /* sparse: the least mask bits of a place */
    uint32_t bits;               /* of a stored weight */
    uint32_t palette;            /* values of the codebook, 0 = none */
    bool sparse, bias;
};
/* False when the task has no weights or its numbers do not fit one another. */
bool ane_bank_shape(const struct ane_task *task, struct ane_bank_shape *shape, struct isa_error *error);

/* Visits the planes of a bank in order; the walk begins as {.shape, .bank}. */
struct ane_bank_plane {
    uint64_t channel;  /* first output channel */
    uint32_t lanes;    /* channels */
    bool begins_group; /* first of its group in the bank: starts at a multiple of ANE_BANK_ROUND */
};
struct ane_bank_walk {
    const struct ane_bank_shape *shape;
    unsigned bank;
    uint64_t group, first;
};
bool ane_bank_next(struct ane_bank_walk *walk, struct ane_bank_plane *plane);

/* The places of an input channel in a sparse plane, the tap (row * width + column) at a place, and the mask bits of a place. */
#define ANE_BANK_NO_TAP UINT64_MAX
uint64_t ane_bank_places(const struct ane_bank_shape *shape);
uint64_t ane_bank_tap(const struct ane_bank_shape *shape, uint64_t place);
uint32_t ane_bank_slots(const struct ane_bank_shape *shape, uint32_t lanes);

/* ane_bank_start is where the first plane begins, after the codebook. ane_bank_bytes are those of a bank before rounding, with
 * all weights (`most`) or, in sparse banks, with none; 0 when it has no planes. */
#define ANE_BANK_COUNT_BYTES 3u /* of the number that begins a sparse plane */
uint64_t ane_bank_start(const struct ane_bank_shape *shape);
uint64_t ane_bank_bytes(const struct ane_bank_shape *shape, unsigned bank, bool most);

/* Chooses a codebook of 2^bits values for these weights: the distinct values or, when there are more, the centres of clusters
 * (Lloyd's iteration from equal shares). Zero weights count only with `zeros`. False when memory ran out. */
bool ane_palette_choose(const uint16_t *weight, size_t count, bool zeros, unsigned bits, uint16_t palette[256]);
/* The values of a codebook that ane_palette_choose made, ascending, to be searched for many weights. */
struct ane_palette {
    unsigned size;
    double value[256];
};
void ane_palette_prepare(struct ane_palette *palette, const uint16_t *codebook, unsigned bits);
/* The index of the nearest value; of two equally near ones, the greater. */
unsigned ane_palette_index(const struct ane_palette *palette, uint16_t weight);

#endif
