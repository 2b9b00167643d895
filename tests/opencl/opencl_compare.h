/* How far results are from one another, or from the exact ones. */
#ifndef ORCHARD_TESTS_OPENCL_COMPARE_H
#define ORCHARD_TESTS_OPENCL_COMPARE_H

#include "tests/opencl/opencl_ways.h"

/* The worst element of what a kernel has written. */
struct opencl_off {
    double units; /* in the last place of what was expected; 0: every bit is the same */
    unsigned arg; /* where */
    size_t element;
    double expected, got;
};

/* Elements that are off by less than c->absolute count as the same. */
struct opencl_off opencl_compare(const struct opencl_case *c, const struct opencl_result *expected,
                                 const struct opencl_result *got);
/* From the exact results of c->reference, which the kernel must know; the first argument is the result, inputs follow it. */
struct opencl_off opencl_compare_exact(const struct opencl_case *c, const struct opencl_result *got);
bool opencl_has_reference(const struct opencl_case *c);
double opencl_value(enum opencl_type type, const uint8_t *at);
/* Of all bits of what a kernel has written. */
uint64_t opencl_hash(const struct opencl_case *c, const struct opencl_result *result);

#endif
