/* The free choices of the kernel libraries: what a builder decides by a rule of its own unless the request says otherwise. They
 * are options in the text of the request ("gemm:512x512x512,tile=32x32"), so that a run of a variant is an ordinary run. */
#ifndef ORCHARD_SIM_ASK_TUNE_CHOICE_H
#define ORCHARD_SIM_ASK_TUNE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

enum { TUNE_VALUES = 8 };

struct tune_choice {
    const char *unit, *kernel;      /* kernel NULL: holds for all kernels of the unit */
    const char *option;             /* "tile"; "cores" is an option of the run instead */
    const char *value[TUNE_VALUES]; /* ends with NULL */
    const char *text;               /* what the option decides */
};
size_t tune_choice_count(void);
const struct tune_choice *tune_choice_at(size_t index);

/* A variant of a request on a unit. Variants are all combinations of the choices that the text leaves open, the library's own
 * rule first. */
struct tune_variant {
    char workload[256];
    unsigned cores; /* of the CPU; 0 = as requested */
};
/* Returns the number of variants and fills in up to `room`; 0 when the library of the unit has no such kernel. */
size_t tune_variants(const char *workload, const char *unit, struct tune_variant *variants, size_t room);

#endif
