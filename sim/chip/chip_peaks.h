/* The peaks of a chip's units: what they could do if nothing ever waited, computed from the values of the chip. */
#ifndef ORCHARD_SIM_CHIP_CHIP_PEAKS_H
#define ORCHARD_SIM_CHIP_CHIP_PEAKS_H

#include "sim/chip/chip.h"

struct chip_peak {
    const char *unit;      /* "cpu", "amx", "gpu", "ane", "dram" */
    const char *precision; /* "f32", "f16 -> f32" ...; "" for dram */
    double value;          /* operations per second (a multiply-add is two) or bytes per second */
    const char *measure;   /* "FLOPS", "OPS" or "B/s" */
    bool supported;        /* false: the unit has no such operation; value is 0 */
    char formula[160];
};

enum { CHIP_PEAKS_MAX = 32 };
struct chip_peaks {
    struct chip_peak peak[CHIP_PEAKS_MAX];
    unsigned count;
};

/* Leaves out peaks whose inputs are not known. All cores are busy, so the clocks are those of full clusters. */
void chip_peaks(const struct chip *chip, struct chip_peaks *out);
/* Whether the peak is that of elements of a type: that of "f16" also holds for "f16 -> f32". Precision may be NULL. */
bool chip_peak_is_of(const struct chip_peak *peak, const char *precision);
/* The first supported peak of a unit for a type, in operations per second; NAN when there is none. Unit may be NULL. */
double chip_peak_of(const struct chip_peaks *peaks, const char *unit, const char *precision);

#endif
