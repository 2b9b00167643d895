/* The free choices of the kernel libraries: what a builder decides by a rule of its own unless the request says otherwise. They
 * are options of the request's text ("gemm:512x512x512,tile=32x32"), so that a run of a variant is an ordinary run.
 */
#ifndef ORCHARD_SIM_ASK_TUNE_CHOICE_H
#define ORCHARD_SIM_ASK_TUNE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

enum { TUNE_VALUES = 8 };

struct tune_choice {
    const char *unit, *kernel;      /* kernel NULL: all of the unit */
    const char *option;             /* "tile"; "cores" is an option of the run */
    const char *value[TUNE_VALUES]; /* NULL ends */
    const char *text;               /* what it decides */
};
size_t tune_choice_count(void);
const struct tune_choice *tune_choice_at(size_t index);

/* Variants of a request on a unit: every combination of the choices that its text leaves open, the library's own rule first. */
struct tune_variant {
    char workload[256];
    unsigned cores; /* of the CPU; 0 = as asked */
};
/* How many; fills up to `room`. 0 = the unit's library has no such kernel. */
size_t tune_variants(const char *workload, const char *unit, struct tune_variant *variants, size_t room);

#endif
