/* How outputs of a GPU kernel are compared with the expected ones. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_ABI_COMPARE_H
#define ORCHARD_SIM_WORKLOAD_GPU_ABI_COMPARE_H

#include "sim/workload/element_type.h"

#include <stddef.h>

enum abi_compare_mode {
    ABI_COMPARE_BITS,     /* identical bytes */
    ABI_COMPARE_FLOAT_EQ, /* identical values, except that +0 equals -0 */
    ABI_COMPARE_TOL       /* |got - expected| <= atol + rtol * |expected| */
};
struct abi_compare {
    enum abi_compare_mode mode;
    double rtol, atol;
};

/* Whether `count` elements agree; if not, `text` says where the first difference is and how many there are. */
bool abi_compare(const struct abi_compare *rule, enum element_type type, uint64_t count, const uint8_t *got,
                 const uint8_t *expected, char *text, size_t size);

#endif
