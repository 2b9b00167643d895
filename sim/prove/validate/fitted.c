/* Rows from which a parameter was taken. They are scored apart: that they fit says nothing about the model. */
#include "isa/array_count.h"
#include "sim/prove/validate/plan_launch.h"

#include <string.h>

/* A NULL field matches anything, "=text" the whole text, anything else a part of it. */
struct origin {
    const char *chip, *source, *what, *condition, *parameter;
};

static const struct origin origins[] = {
    {"M1 Max", "issue 6", "matfp XY=f64[8]", "1 thread(s), 1 Z ", "amx.clock_ghz, amx.z_latency_cycles"},
    {"M1 Max", "issue 6", "matfp XY=f64[8]", "1 thread(s), 4 Z ", "amx.array_f64_cycles"},
    {"M1 Max", "fma.md", "fma32 in matrix mode", "1 thread(s), 4 Z ", "amx.array_f32_cycles"},
    {"M1 Max", "fma.md", "fma16 in matrix mode Z=f16", "6 thread(s), 2 Z ", "amx.array_f16_cycles"},
    {"M1 Max", "fma.md", "fma16 in matrix mode Z=f32", "6 thread(s), 1 Z ", "amx.array_f16_f32_cycles"},
    {"M1 Max", "mac16.md", "both of XY=i8, and each Z accumulator being i16[32][32]", "6 thread(s), 2 Z ",
     "amx.array_i8_i16_cycles"},
    {"M1 Max", "mac16.md", "being i16, and each Z accumulator being i16[32][32]", "1 thread(s), 2 Z ", "amx.array_i16_cycles"},
    {"M1 Max", "fma.md", "fma32 in vector mode", "1 thread(s), 8 Z ", "amx.vector_row_cycles"},
    {"M1 Max", "fma.md", "fma64 in vector mode", "1 thread(s), 9 Z ", "amx.vector_cross_cycles"},
    {"M1 Max", "mac16.md", "mac16 in vector mode, with X or Y", "1 thread(s), 5 Z ", "amx.vector_cross_pass_cycles"},
    {"M1 Max", "mac16.md", "mac16 in vector mode, with X or Y", "1 thread(s), 8 Z ", "amx.vector_i16_row_cycles"},
    {"M1 Max", "fma.md", "fma64 in matrix mode", "6 thread(s), 8 Z ", "amx.array_clock_ghz"},
    {"M1 Max", "fma.md", "fma64 in matrix mode", "3 thread(s), 8 Z ", "amx.array_clock_ghz"},
    {"M1 Max", "issue 7", "vecfp XY=f32", "3 thread(s), 1 Z ", "amx.clock_ghz, two cores"},
    {"M1 Max", "fma.md", "fma32 in vector mode", "6 thread(s), 1 Z ", "amx.clock_ghz, three cores"},
    {"M1 Max", "amx-rs", "set + clr", "Single P-core", "amx.set_cycles, amx.clr_cycles"},
    {"M1 Max", "amx-rs", "ldx + stx", "Single P-core", "amx.load_latency_cycles, amx.store_latency_cycles"},
    {"M1 Max", "amx-rs", "fma32 vector", "All P-cores", "amx.clock_ghz, four cores"},
    {"M1 Max", "amx-rs", "fma64 vector", "All E-cores", "amx_e.clock_ghz"},
    {"M1 Max", "amx-rs", "fma64 matrix", "All E-cores", "amx_e.array_f64_cycles"},
    {"M1 Max", "amx-rs", "fma32 matrix", "All E-cores", "amx_e.array_f32_cycles"},
    {"M1 Max", "amx-rs", "mac16 matrix", "Single E-core", "amx_e.array_i16_cycles"},
    {"M2", "issue 6", "vecfp XY=bf16", "1 thread(s), 1 Z ", "amx.clock_ghz"},
    {"M2", "issue 6", "vecfp XY=bf16", "2 thread(s), 1 Z ", "amx.clock_ghz, two cores"},
    {"M2", "issue 6", "vecfp XY=bf16", "3 thread(s), 1 Z ", "amx.clock_ghz, three cores"},
    {"M2", "issue 6", "vecfp XY=bf16", "2 thread(s), 8 Z ", "amx.vector_shared_cycles"},
    {"M2", "issue 6", "matfp XY=f64", "3 thread(s), 2 Z ", "amx.array_clock_ghz"},
    {"M1 Max", "fma.md", "fma64 in vector mode", "6 thread(s), 16 Z ", "amx.vector_shared_cycles"},
    {"M2 Pro", "zhen8838", "matfp XY=f32", "1 thread(s), 4 Z ", "amx.clock_ghz"},
    {"M2 Pro", "zhen8838", "ldx only", "4 register(s) per ldx, consecutive", "amx.load_request_cycles"},
    {"M2 Pro", "zhen8838", "ldx only", "4 register(s) per ldx, alternating", "mem.p_amx_outstanding"},
    {"M2 Pro", "zhen8838", "ldx pair func1", NULL, "amx.load_bank_cycles"},
    {"M2 Pro", "zhen8838", "sgemm 32x8192x32 on packed", NULL, "amx.queue_entries"},
    {"M2 Pro", "zhen8838", "ldx pair func3", NULL, "mem.p_amx_tlb_refill_ns"},
    {"M2 Pro", "zhen8838", "stz", "1 accumulators, ", "amx.store_bytes_per_cycle"},
    {"M2 Pro", "zhen8838", "stz", "2 accumulators, 1 row(s) per stz", "amx.store_merge_cycles"},
    {"M2 Pro", "zhen8838", "stz", "3 accumulators, 1 row(s) per stz", "amx.store_merge_rows"},
    {"M3 Max", "amx-rs", "fma32 vector", "Single P-core", "amx.clock_ghz"},
    {"M3 Max", "amx-rs", "set + clr", "Single P-core", "amx.set_cycles, amx.clr_cycles"},
    {NULL, "dougallj/applecpu", NULL, NULL, "cpu_p.*, cpu_e.*"},
    {NULL, "metal-benchmarks", "=CONVERT(F->I32)", NULL, "gpu.convert"},
    {NULL, "metal-benchmarks", "=RINT32", NULL, "gpu.round"},
    {NULL, "metal-benchmarks", "=IMUL32", NULL, "gpu.imul"},
    {NULL, "metal-benchmarks", "=IMUL(32x32=64)", NULL, "gpu.imul64"},
    {NULL, "metal-benchmarks", "=BITEXTRACT32", NULL, "gpu.shift"},
    {NULL, "metal-benchmarks", "=EXP2_32", NULL, "gpu.exp2"},
    {NULL, "metal-benchmarks", "=LOG2_32", NULL, "gpu.log2"},
    {NULL, "metal-benchmarks", "=RECIP32", NULL, "gpu.rcp"},
    {NULL, "metal-benchmarks", "=RSQRT32", NULL, "gpu.rsqrt"},
    {NULL, "metal-benchmarks", "=SIN32", NULL, "gpu.sin"},
    {NULL, "metal-benchmarks", "=BROADCAST32", NULL, "gpu.shuffle, gpu.quad_shuffle"},
    {NULL, "metal-benchmarks", "=BALLOT", NULL, "gpu.ballot"},
    {NULL, "metal-benchmarks", "=SUM<F32>", NULL, "gpu.reduce, gpu.quad_reduce"},
    {NULL, "metal-benchmarks", "=SUM<I32>", NULL, "gpu.reduce_int, gpu.quad_reduce_int"},
    {NULL, "metal-benchmarks", "=SUM<F16>", NULL, "gpu.reduce_half_cycles"},
    {NULL, "metal-benchmarks", "=PREFIX_ESUM<F32>", NULL, "gpu.prefix, gpu.quad_prefix"},
    {NULL, "metal-benchmarks", "=MATMUL<8x8xF16>", NULL, "gpu.matrix_f16"},
    {NULL, "metal-benchmarks", "=MATMUL<8x8xF32>", NULL, "gpu.matrix_f32"},
    {NULL, "metal-benchmarks", "=IMUL32 + 3 IADD32", NULL, "gpu.complex_issue_cycles"},
    {NULL, "metal-benchmarks", " simds/core", NULL, "six parameters of gpu.* together"},
    {NULL, "chipsandcheese", "=L1 latency", NULL, "gpu.l1_latency_cycles"},
    {NULL, "chipsandcheese", "=L2 latency", NULL, "gpu.l2_latency_cycles"},
    {NULL, "chipsandcheese", "=L2 bandwidth", NULL, "gpu.l2_port_bytes_per_cycle"},
    {NULL, "chipsandcheese", "=SLC latency", NULL, "gpu.fabric_latency_ns"},
    {NULL, "chipsandcheese", "=DRAM latency", NULL, "gpu.fabric_latency_ns"},
    {NULL, "chipsandcheese", "=SLC bandwidth", NULL, "gpu.fabric_bytes_per_cycle"},
    {NULL, "chipsandcheese", "=gpu_L1_latency", NULL, "gpu.l1_latency_cycles"},
    {NULL, "chipsandcheese", "=gpu_L2_latency", NULL, "gpu.l2_latency_cycles"},
    {NULL, "chipsandcheese", "=gpu_L2_bandwidth", NULL, "gpu.l2_port_bytes_per_cycle"},
    {NULL, "chipsandcheese", "=gpu_SLC_latency", NULL, "gpu.fabric_latency_ns"},
    {NULL, "chipsandcheese", "=gpu_DRAM_latency", NULL, "gpu.fabric_latency_ns"},
    {NULL, "chipsandcheese", "=gpu_SLC_bandwidth", NULL, "gpu.fabric_bytes_per_cycle"},
    {"M1 Pro", "clpeak", "=clpeak_metal_local_memory_bandwidth", NULL, "gpu.threadgroup_pass_cycles"},
    {"M1 Max", "ane-guide", "=dispatch total", NULL, "ane.request_us"},
    {"M1 Max", "ane-guide", "=weight stream bandwidth (wall)", NULL, "ane.dma_GBps"},
    {"M1 Max", "ane-guide", "=wake after 5 s idle", NULL, "ane.deep_wake_us"},
    {"M1 Max", "ane-guide", "=wake after 100 ms idle", NULL, "ane.wake_us, ane.wake_after_us"},
    {"M2", "ane-guide", "=dispatch floor", NULL, "ane.request_us"},
    {"M4", "maderix", "=dispatch floor", NULL, "ane.request_us"},
    {"M4", "maderix", "=dispatch", NULL, "ane.request_us"},
    {"M4 Max", "dev-erik", "single conv1x1", NULL, "ane.dma_GBps"},
    {"M4 Max", "dev-erik", "inmem_peak", NULL, "ane.dma_slc_rate"},
    {NULL, "Anemll", "Llama LM head 1050.67 MB", NULL, "ane.dma_GBps"},
    {"M1 Pro", "clpeak", "L2 latency", NULL, "l2.latency_cycles"},
    {"M1 Pro", "clpeak", "DRAM latency random", NULL, "dram_latency_ns"},
    {"M1 Pro", "clpeak", "DRAM, ", NULL, "outstanding misses"},
};

/* Rows of power, by the unit on the rail, with parameters power.*. The energies of the Neural Engine come from rows of M1 and M2,
 * and so do their clocks and what they draw while waiting. */
static const struct {
    const char *chip, *unit, *source, *what, *parameter;
} power_origins[] = {
    {"M1", NULL, "singhkays", "idle", "power.*.gated_fraction, power.soc.idle_fraction, power.soc.leakage_w"},
    {"M1", NULL, "singhkays", "Cinebench R23, 1 thread", "power.pj.CPU_*"},
    {"M1", "P-cluster", "ThomasKaiser", "Cinebench R23", "power.pj.CPU_*"},
    {"M1", "E-cluster", "ThomasKaiser", "Cinebench R23", "power.e_core_energy"},
    {"M1 family", "GPU", "ane-guide", NULL, "power.pj.GPU_*, power.gpu.clock_nf"},
    {"M2", "GPU", "ane-guide", NULL, "power.pj.GPU_*, power.gpu.clock_nf"},
    {"M2", "ANE", "ane-guide", "=GEMM M128 K1024 N1024", "the time between requests in this table"},
    {"M2", "ANE", "ane-guide", "=GEMM M64 K256 N256", "the time between requests in this table"},
    {"M2", "ANE", "ane-guide", "4096-inner matmul", "power.pj.ANE_*, power.ane.*"},
    {"M2", "ANE", "ane-guide", "matmul 4096 weights-bound power", "power.pj.ANE_*, power.ane.*"},
    {NULL, "ANE", "ANEForge repository", " power", "power.pj.ANE_*, power.ane.*"},
};

static bool part_of(const char *text, const char *part)
{
    if (part && part[0] == '=')
        return strcmp(text, part + 1) == 0;
    return !part || strstr(text, part) != NULL;
}

/* "M1" must not match "M1 Max", nor "M2" match "M2 Pro"; a bracket may follow ("M1 Pro (8P+2E)"). */
static bool is_chip(const char *text, const char *chip)
{
    if (!chip)
        return true;
    const size_t length = strlen(chip);
    return strncmp(text, chip, length) == 0 && (text[length] == '\0' || strncmp(text + length, " (", 2) == 0);
}

static const char *power_fitted(const struct validate_row *row)
{
    for (size_t i = 0; i < ARRAY_COUNT(power_origins); i++)
        if (is_chip(row->chip, power_origins[i].chip) && part_of(row->source, power_origins[i].source) &&
            part_of(row->what, power_origins[i].what) &&
            (!power_origins[i].unit || strcmp(validate_cell(row, "unit"), power_origins[i].unit) == 0))
            return power_origins[i].parameter;
    return NULL;
}

const char *validate_fitted(const struct validate_row *row)
{
    for (size_t i = 0; i < ARRAY_COUNT(origins); i++) {
        const struct origin *const o = &origins[i];
        if (is_chip(row->chip, o->chip) && part_of(row->source, o->source) && part_of(row->what, o->what) &&
            part_of(row->condition, o->condition))
            return o->parameter;
    }
    return validate_is_power(row) || validate_is_ane(row) ? power_fitted(row) : NULL;
}
