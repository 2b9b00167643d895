/* What regress compares: the characteristics of a chip, each with how it is measured on the simulated chip. Nothing here is read
 * from the chip files: microbenchmarks and kernels run.
 */
#ifndef ORCHARD_SIM_PROVE_REGRESS_METRIC_H
#define ORCHARD_SIM_PROVE_REGRESS_METRIC_H

#include "sim/base/run_result.h"

#include <stdbool.h>
#include <stddef.h>

/* Which program measures it. The first three are rows of tables as `orchard validate` reads them. */
enum regress_way { REGRESS_AMX_LOOP, REGRESS_CPU_LOOP, REGRESS_GPU_LOOP, REGRESS_KERNEL, REGRESS_DEVICE };

/* What of a kernel's run counts: seconds are those of the unit, overhead is what submission and launch take besides; loops have
 * one answer in the program's unit. */
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
    const char *unit;          /* loops: of the answer; kernels: the precision, NULL = the unit's usual one */
    unsigned answers;          /* kernels: bits of enum regress_answer */
    double bytes;              /* GBPS: moved by the program */
    unsigned cores;            /* of the CPU; 0 = 1 */
};
size_t regress_program_count(void);
const struct regress_program *regress_program_at(size_t index);

enum { REGRESS_NAME_SIZE = 64 };

struct regress_metric {
    char name[REGRESS_NAME_SIZE]; /* "amx.f32_peak", "gpu.gemm_f16.seconds" */
    const char *unit;
    double tolerance; /* relative change that counts as none */
    const struct regress_program *program;
    enum regress_answer answer; /* kernels */
};
size_t regress_metric_count(void);
bool regress_metric_at(size_t index, struct regress_metric *metric); /* in the order of the table */
/* The answer of a run; NAN when it has none. */
double regress_metric_of(const struct regress_metric *metric, const struct run_result *result);

#endif
