/* One case on its way: what its arguments and its run share. */
#ifndef ORCHARD_TESTS_PUBLIC_PUBLIC_ATTEMPT_H
#define ORCHARD_TESTS_PUBLIC_PUBLIC_ATTEMPT_H

#include "tests/public/public.h"

#include "sim/compile/compile.h"
#include "sim/workload/gpu/gpu_setup.h"

struct attempt {
    struct public_case *c;
    struct compile_result compiled;
    char *llvm;
    size_t llvm_bytes;
    int tensor[ABI_ARGS_MAX]; /* which tensor an argument is; -1 = none */
    uint64_t threadgroup_first, threadgroup_bytes;
    struct gpu_setup setup;
    struct mem_space *space;
    uint8_t *copy[ABI_ARGS_MAX]; /* buffers of the interpreter */
    char *text;
    size_t size;
};

/* Gives every argument of the compiled kernel what the case says, and the launch its sizes; false with *why. */
bool public_give(struct attempt *a, char *why, size_t size);

#endif
