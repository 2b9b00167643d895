/* What lies where inside a coefficient bank: the one place that decides it. Inside isa/ane only. */
#ifndef ORCHARD_ISA_ANE_BANK_H
#define ORCHARD_ISA_ANE_BANK_H

#include "isa/ane/ane_coefficients.h"

#define ANE_BANK_ROUND 64u

/* Shape of a convolution's weights and their packing. */
struct ane_bank_shape {
    uint64_t channels, groups, per_group; /* output channels in all, convolution groups, output channels of one */
    uint64_t per_channel;                 /* weights of an output channel */
    uint32_t engines;                     /* banks in use */
    uint32_t bits;                        /* of a stored weight */
    uint32_t palette;                     /* values of the codebook, 0 = none */
    bool sparse, bias;
};
/* False when the task has no weights or its numbers do not fit one another. */
bool ane_bank_shape(const struct ane_task *task, struct ane_bank_shape *shape, struct isa_error *error);

/* Output channels of a bank, and the n-th of them. */
uint64_t ane_bank_channels(const struct ane_bank_shape *shape, unsigned bank);
uint64_t ane_bank_channel(const struct ane_bank_shape *shape, unsigned bank, uint64_t n);

/* Byte offsets of the parts of a bank. `stored`: weights that are present (all of them unless sparse). */
struct ane_bank_parts {
    uint64_t bias, mask, weights, end; /* the codebook is at 0 */
};
struct ane_bank_parts ane_bank_parts(const struct ane_bank_shape *shape, uint64_t channels, uint64_t stored);

/* Codebook of 2^bits values for these weights: the distinct values, or the centres of clusters when there are more (Lloyd's
 * iteration from equal shares). Weights that are zero count only with `zeros`. False when memory is out. */
bool ane_palette_choose(const uint16_t *weight, size_t count, bool zeros, unsigned bits, uint16_t palette[256]);
/* Nearest value of a codebook that ane_palette_choose made. */
unsigned ane_palette_index(const uint16_t *palette, unsigned bits, uint16_t weight);

#endif
