/* Launches of three compiled kernels that are large enough to be measured. */
#ifndef ORCHARD_TESTS_BENCH_GPU_BENCH_CASES_H
#define ORCHARD_TESTS_BENCH_GPU_BENCH_CASES_H

#include "tests/units/gpu_kernel_example.h"

#include <time.h>

/* Launches with the hash (FNV-1a 64) of the output. An independent interpreter of the machine code gave the same outputs
 * (SHA-256). */
struct bench_case {
    struct kernel_example kernel;
    uint64_t hash;
};

static const struct bench_case bench_cases[] = {
    {{.name = "sgemm_tiled",
      .main = 128,
      .constant_first = 16,
      .constant_halves = 32,
      .register_halves = 22,
      .threadgroup_memory = 2048,
      .group = {16, 16, 1},
      .groups = {32, 32, 1},
      .argument = {{"A", 'f', 1001, 262144, 0},
                   {"B", 'f', 1002, 262144, 0},
                   {"C", '0', 0, 262144, 0},
                   {"N", 's', 512, 0, 0},
                   {"K", 's', 512, 0, 0}},
      .out = 2,
      .instructions = 27140096},
     UINT64_C(0x3acb56b046ba42d4)},
    {{.name = "mandelbrot",
      .register_halves = 18,
      .group = {8, 8, 1},
      .groups = {32, 32, 1},
      .argument = {{"out", '0', 0, 65536, 0},
                   {"width", 's', 256, 0, 0},
                   {"x0", 's', 0xbff00000, 0, 0},
                   {"y0", 's', 0xbfa00000, 0, 0},
                   {"step", 's', 0x3c200000, 0, 0},
                   {"limit", 's', 256, 0, 0}},
      .out = 0,
      .instructions = 2021164},
     UINT64_C(0xc30236fb3b2c6b7d)},
    {{.name = "hash_u32",
      .main = 128,
      .constant_first = 10,
      .constant_halves = 8,
      .register_halves = 10,
      .group = {64, 1, 1},
      .groups = {1024, 1, 1},
      .argument = {{"x", 'u', 1003, 65536, 0}, {"y", '0', 0, 65536, 0}, {"rounds", 's', 64, 0, 0}},
      .out = 1,
      .instructions = 1751040},
     UINT64_C(0xcfb0ef5f47d06864)},
};

static inline double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The host is shared, so only the time of this process counts. */
static inline double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline uint64_t fnv(const uint8_t *bytes, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Hash of the output in the simulated memory. */
static inline uint64_t bench_output_hash(const struct bench_case *c, const struct kernel_machine *m)
{
    const size_t bytes = 4U * c->kernel.argument[c->kernel.out].count;
    const uint8_t *out = mem_at(m->space, m->address[c->kernel.out], bytes, MEM_READ);
    return out ? fnv(out, bytes) : 0;
}

#endif
