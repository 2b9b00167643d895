/* Operands of kernels that are compiled functions (units/routines/routine.h): generated contents, values, and the comparison of
 * results with the operation's reference. */
#ifndef ORCHARD_SIM_WORKLOAD_ROUTINE_DATA_H
#define ORCHARD_SIM_WORKLOAD_ROUTINE_DATA_H

#include "units/routines/routine.h"

/* Writes the generated contents of operand number `index`: those that the GPU's library gives its buffer of that number. */
void routine_fill(const struct routine_operand *operand, unsigned index, uint64_t seed, uint8_t *to);

/* All elements as doubles, blocks decoded; the caller frees them. NULL = memory is out. */
double *routine_values(const struct routine_operand *operand, const uint8_t *from);

/* How far a result is from the reference: an element may be off by the error that the operation allows and by one rounding to its
 * type. */
struct routine_difference {
    uint64_t wrong;            /* elements beyond that */
    uint64_t at;               /* the worst one */
    double got, want, allowed; /* of it */
    double share;              /* its error as a share of what is allowed */
};
/* before: values of all operands before the kernel ran, NULL for those that it only writes. False when memory is out. */
bool routine_compare(const struct routine_request *request, const struct routine_work *work, const double *const *before,
                     const uint8_t *result, struct routine_difference *difference);

#endif
