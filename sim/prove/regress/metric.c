#include "sim/prove/regress/metric.h"
#include "isa/array_count.h"

#include <math.h>
#include <stdio.h>

#define MIB (1024.0 * 1024.0)

/* Sizes are small, so that all chips are measured in less than a minute. Kernels of the Neural Engine cost nothing and are as
 * large as layers of networks. */
enum {
    TIME_AND_ENERGY = REGRESS_SECONDS | REGRESS_JOULES,
    STREAM = REGRESS_GBPS | REGRESS_JOULES,
    HEAT = REGRESS_CELSIUS | REGRESS_GFLOPS
};

#define AMX(name, what, accumulators, unit)                                                                                      \
    {                                                                                                                            \
        name, REGRESS_AMX_LOOP, what, "1 thread(s), " accumulators " Z accumulators per thread, no loads or stores", unit, 0, 0, \
            0                                                                                                                    \
    }
#define CPU(name, core, what, unit)                                                                                              \
    {                                                                                                                            \
        name, REGRESS_CPU_LOOP, what, core, unit, 0, 0, 0                                                                        \
    }
#define GPU(name, category, what, unit)                                                                                          \
    {                                                                                                                            \
        name, REGRESS_GPU_LOOP, what, category, unit, 0, 0, 0                                                                    \
    }

static const struct regress_program loops[] = {
    /* peaks and latencies of AMX: one thread, as many accumulators as hide the latency; one shows it */
    AMX("amx.peak_f32", "fma32 in matrix mode Z=f32[16][16]", "4", "GFLOPS"),
    AMX("amx.peak_f64", "fma64 in matrix mode Z=f64[8][8]", "8", "GFLOPS"),
    AMX("amx.peak_f16", "fma16 in matrix mode Z=f16[32][32]", "2", "GFLOPS"),
    AMX("amx.peak_f16_f32", "fma16 in matrix mode Z=f32[32][32]", "1", "GFLOPS"),
    AMX("amx.peak_i16", "mac16 in matrix mode, with X or Y or both being i16, and each Z accumulator being i16[32][32]", "2",
        "GFLOPS"),
    AMX("amx.peak_vector_f32", "fma32 in vector mode Z=f32[16]", "16", "GFLOPS"),
    AMX("amx.dependent_f32", "fma32 in matrix mode Z=f32[16][16]", "1", "GFLOPS"),
    /* cores */
    CPU("cpu_p.fma_latency", "P", "FMLA/FMUL vector any type latency", "cycles"),
    CPU("cpu_p.fma_interval", "P", "FMLA/FMUL vector any type reciprocal throughput", "cycles"),
    CPU("cpu_e.fma_interval", "E (", "FMLA/FMUL vector any type reciprocal throughput", "cycles"),
    CPU("cpu_p.add_interval", "P", "integer ADD vector reciprocal throughput", "cycles"),
    CPU("cpu_p.divide_latency", "P", "FDIV 4S latency", "cycles"),
    CPU("cpu_p.atomic_latency", "P", "atomic add uncontended", "ns"),
    CPU("mem.l1_latency", "P", "L1 latency", "ns"),
    CPU("mem.l2_latency", "P", "L2 latency", "ns"),
    CPU("mem.dram_latency", "P", "DRAM latency random", "ns"),
    CPU("mem.l1_read", "P", "L1 read one thread", "GB/s"),
    CPU("mem.l1_write", "P", "L1 write one thread", "GB/s"),
    CPU("mem.l2_read", "P", "L2 read one thread", "GB/s"),
    CPU("mem.dram_read", "P", "DRAM read one thread", "GB/s"),
    /* GPU */
    GPU("gpu.peak_f32", "rate", "f32 FMA float8 (Metal)", "GFLOPS"),
    GPU("gpu.peak_mixed", "rate", "mixed fp16 x fp16 + fp32 (Metal)", "GFLOPS"),
    GPU("gpu.peak_imad", "rate", "int32 multiply-add (OpenCL)", "GFLOPS"),
    GPU("gpu.fma_f16_interval", "fp", "FFMA16", "cycles"),
    GPU("gpu.fma_f32_interval", "fp", "FFMA32", "cycles"),
    GPU("gpu.fma_f32_latency", "dependency", "FFMA 32-bit ILP=1 occupancy=4 simds/core", "cycles"),
    GPU("gpu.matrix_f16_interval", "simd", "MATMUL<8x8xF16>", "cycles"),
    GPU("gpu.matrix_f32_interval", "simd", "MATMUL<8x8xF32>", "cycles"),
    GPU("gpu.l1_latency", "memory", "L1 latency", "ns"),
    GPU("gpu.l2_latency", "memory", "L2 latency", "ns"),
    GPU("gpu.slc_latency", "memory", "SLC latency", "ns"),
    GPU("gpu.dram_latency", "memory", "DRAM latency", "ns"),
    GPU("gpu.l1_read", "memory", "L1 bandwidth", "GB/s"),
    GPU("gpu.l2_read", "memory", "L2 bandwidth", "GB/s"),
    GPU("gpu.slc_read", "memory", "SLC bandwidth", "GB/s"),
    GPU("gpu.dram_read", "memory", "DRAM bandwidth", "GB/s"),
};

/* Kernels, at the places that their rows name. Bytes are those of STREAM: every array counts once. */
static const struct regress_program kernels[] = {
#define METRIC(place, name, workload, unit, precision, answers)                                                                  \
    [place] = {name, REGRESS_KERNEL, workload, unit, precision, answers, 0, 0},
#define METRIC_STREAM(place, name, workload, unit, precision, bytes, cores)                                                      \
    [place] = {name, REGRESS_KERNEL, workload, unit, precision, STREAM, bytes, cores},
#define METRIC_DEVICE(place, name, workload, unit, precision)                                                                    \
    [place] = {name, REGRESS_DEVICE, workload, unit, precision, HEAT, 0, 0},
#include "sim/workload/kernels.inc"
};

/* No place twice (the compiler warns), and none left out. */
enum {
    KERNEL_ROWS = 0
#define METRIC(...)        +1
#define METRIC_STREAM(...) +1
#define METRIC_DEVICE(...) +1
#include "sim/workload/kernels.inc"
};
_Static_assert(ARRAY_COUNT(kernels) == KERNEL_ROWS, "places of METRIC rows count from 0 without gaps");

size_t regress_program_count(void)
{
    return ARRAY_COUNT(loops) + ARRAY_COUNT(kernels);
}

const struct regress_program *regress_program_at(size_t index)
{
    return index < ARRAY_COUNT(loops) ? &loops[index] : &kernels[index - ARRAY_COUNT(loops)];
}

/* Loops repeat one operation and are reproduced to the last digit. The time of a kernel moves by a few cycles whenever something
 * in the memory system does; energies add small tables, and temperatures follow from both. */
static const struct answer_row {
    const char *suffix, *unit;
    double tolerance;
} answers[] = {{"seconds", "s", 2e-3}, {"joules", "J", 5e-3},     {"gflops", "GFLOPS", 2e-3},
               {"gbps", "GB/s", 2e-3}, {"celsius", "degC", 2e-3}, {"overhead", "s", 2e-3}};
enum { ANSWERS = ARRAY_COUNT(answers) };
#define LOOP_TOLERANCE 1e-3

static bool is_loop(const struct regress_program *program)
{
    return program->way < REGRESS_KERNEL;
}

static size_t answers_of(const struct regress_program *program)
{
    return is_loop(program) ? 1 : (size_t)__builtin_popcount(program->answers);
}

size_t regress_metric_count(void)
{
    size_t count = 0;
    for (size_t i = 0; i < regress_program_count(); i++)
        count += answers_of(regress_program_at(i));
    return count;
}

static void fill(struct regress_metric *metric, const struct regress_program *program, size_t number)
{
    *metric = (struct regress_metric){.unit = program->unit, .tolerance = LOOP_TOLERANCE, .program = program};
    if (is_loop(program)) {
        snprintf(metric->name, sizeof metric->name, "%s", program->name);
        return;
    }
    for (unsigned a = 0; a < ANSWERS; a++) {
        if (!(program->answers >> a & 1) || number-- > 0)
            continue;
        metric->answer = (enum regress_answer)(1U << a);
        metric->unit = answers[a].unit;
        metric->tolerance = answers[a].tolerance;
        snprintf(metric->name, sizeof metric->name, "%s.%s", program->name, answers[a].suffix);
        return;
    }
}

bool regress_metric_at(size_t index, struct regress_metric *metric)
{
    for (size_t i = 0; i < regress_program_count(); i++) {
        const size_t count = answers_of(regress_program_at(i));
        if (index < count) {
            fill(metric, regress_program_at(i), index);
            return true;
        }
        index -= count;
    }
    return false;
}

double regress_metric_of(const struct regress_metric *metric, const struct run_result *result)
{
    switch (metric->answer) {
    case REGRESS_SECONDS: return result->device_seconds;
    case REGRESS_OVERHEAD: return result->overhead_seconds;
    case REGRESS_JOULES: return result->joules;
    case REGRESS_GFLOPS: return result->gflops;
    case REGRESS_GBPS: return 1e-9 * metric->program->bytes / result->device_seconds;
    case REGRESS_CELSIUS: return result->celsius_max;
    default: return NAN;
    }
}
