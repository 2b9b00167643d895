/* An OpenCL implementation of the host's own processors (PoCL), loaded when it is there. */
#ifndef ORCHARD_TESTS_OPENCL_NATIVE_H
#define ORCHARD_TESTS_OPENCL_NATIVE_H

#include "tests/opencl/opencl_case.h"

struct opencl_native;

/* NULL with the reason when the machine has none. */
struct opencl_native *opencl_native_open(const char **why);
void opencl_native_close(struct opencl_native *native);
/* A source as a program, in place of the one before. False prints its messages. NATIVE is defined for the source. */
bool opencl_native_build(struct opencl_native *native, const char *source);
/* Runs a kernel of the program. What buffers hold afterwards goes to out[argument], each of the size of the buffer. */
bool opencl_native_run(struct opencl_native *native, const struct opencl_case *c, uint8_t *const out[OPENCL_ARGS]);

#endif
