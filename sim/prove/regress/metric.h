/* The characteristics of a chip that regress compares, each with the way it is measured on the simulated chip. Nothing is read
 * from the chip files: microbenchmarks and kernels run. */
#ifndef ORCHARD_SIM_PROVE_REGRESS_METRIC_H
#define ORCHARD_SIM_PROVE_REGRESS_METRIC_H

#include "sim/base/run_result.h"

#include <stdbool.h>
#include <stddef.h>

/* The kind of program that measures it. The first three are rows of tables that `orchard validate` reads. */
enum regress_way { REGRESS_AMX_LOOP, REGRESS_CPU_LOOP, REGRESS_GPU_LOOP, REGRESS_KERNEL, REGRESS_DEVICE };

/* The quantity taken from a kernel's run: seconds are those of the unit, overhead is what submission and launch add. Loops have a
 * single answer in the unit of the program. */
enum regress_answer {
    REGRESS_SECONDS = 1,
    REGRESS_JOULES = 2,
    REGRESS_GFLOPS = 4,
    REGRESS_GBPS = 8,
    REGRESS_CELSIUS = 16,
    REGRESS_OVERHEAD = 32
};

struct regress_program {
    const char *name;
    enum regress_way way;
    const char *what, *detail; /* loops: item and condition, category or core; kernels: workload and unit */
    const char *unit;          /* loops: unit of the answer; kernels: precision, NULL = the usual one of the unit */
    unsigned answers;          /* kernels: bits of enum regress_answer */
    double bytes;              /* GBPS: bytes that the program moves */
    unsigned cores;            /* cores of the CPU; 0 = 1 */
};
size_t regress_program_count(void);
const struct regress_program *regress_program_at(size_t index);

enum { REGRESS_NAME_SIZE = 64 };

struct regress_metric {
    char name[REGRESS_NAME_SIZE]; /* "amx.f32_peak", "gpu.gemm_f16.seconds" */
    const char *unit;
    double tolerance; /* relative change that does not count as a change */
    const struct regress_program *program;
    enum regress_answer answer; /* for kernels */
};
size_t regress_metric_count(void);
bool regress_metric_at(size_t index, struct regress_metric *metric); /* In the order of the table; false behind its end. */
/* Takes the answer from a run; NAN when the run has none. */
double regress_metric_of(const struct regress_metric *metric, const struct run_result *result);

#endif
