/* Random kernels in OpenCL C that have one right result: integers never overflow where that is undefined, real numbers stay away
 * from what devices do differently (zero, infinity, too small to be normal), every loop ends, and no two work items touch the
 * same memory without a barrier or an atomic operation between. */
#ifndef ORCHARD_TESTS_OPENCL_GENERATE_H
#define ORCHARD_TESTS_OPENCL_GENERATE_H

#include <stdint.h>
#include <stdio.h>

/* What all kernels of a source share; goes in front of them. */
void opencl_generate_head(FILE *out);
/* One kernel with its launch (opencl_case.h), of the name "random_SEED". */
void opencl_generate(FILE *out, uint64_t seed);

#endif
