/* Countable events: the one table of what units count and power/ prices.
 *
 * A unit adds to these counters while it times a program; nothing here knows what an event costs. Adding an event is one line in
 * ACTIVITY_TABLE.
 */
#ifndef ORCHARD_POWER_ACTIVITY_H
#define ORCHARD_POWER_ACTIVITY_H

#include <stdint.h>

/*      name                 unit          definition */
/* clang-format off */
#define ACTIVITY_TABLE(X) \
    X(CPU_INSTRUCTIONS, "instructions", "AArch64 instructions retired, AMX words included") \
    X(CPU_INT_OPS, "operations", "integer ALU micro-operations") \
    X(CPU_MUL_DIV_OPS, "operations", "integer multiply and divide micro-operations") \
    X(CPU_BRANCHES, "branches", "branches executed, taken or not") \
    X(CPU_MISPREDICTS, "branches", "branches predicted wrongly") \
    X(CPU_FP_LANE_OPS, "lanes", "scalar and NEON floating-point lane operations; a fused multiply-add is one") \
    X(CPU_SIMD_INT_LANE_OPS, "lanes", "NEON integer lane operations") \
    X(CPU_LOADS, "accesses", "CPU load instructions that reached the data cache") \
    X(CPU_STORES, "accesses", "CPU store instructions that reached the data cache") \
    X(AMX_INSTRUCTIONS, "instructions", "AMX instructions issued, all kinds") \
    X(AMX_F64_MACS, "macs", "f64 multiply-accumulates in enabled lanes") \
    X(AMX_F32_MACS, "macs", "f32 multiply-accumulates in enabled lanes, widened f16/bf16 inputs included") \
    X(AMX_F16_MACS, "macs", "f16 and bf16 multiply-accumulates with 16-bit results in enabled lanes") \
    X(AMX_INT_MACS, "macs", "integer multiply-accumulates in enabled lanes") \
    X(AMX_XY_READ_BYTES, "bytes", "bytes read from the X and Y register pools by compute instructions") \
    X(AMX_Z_READ_BYTES, "bytes", "bytes read from Z") \
    X(AMX_Z_WRITE_BYTES, "bytes", "bytes written to Z") \
    X(AMX_LOAD_BYTES, "bytes", "bytes moved from memory to X, Y or Z") \
    X(AMX_STORE_BYTES, "bytes", "bytes moved from X, Y or Z to memory") \
    X(GPU_INSTRUCTIONS, "instructions", "GPU instructions issued, of a simdgroup each") \
    X(GPU_F32_LANE_OPS, "lanes", "GPU f32 adds, multiplies, fmas of active lanes") \
    X(GPU_F16_LANE_OPS, "lanes", "GPU f16 adds, multiplies, fmas of active lanes") \
    X(GPU_INT_LANE_OPS, "lanes", "GPU integer adds, compares, bit operations and moves of active lanes") \
    X(GPU_COMPLEX_LANE_OPS, "lanes", "GPU multiplies, shifts, conversions and special functions of active lanes") \
    X(GPU_SHUFFLE_LANE_OPS, "lanes", "GPU shuffles, ballots and reductions of active lanes") \
    X(GPU_F32_FLOPS, "flop", "GPU f32 operations in active lanes, an fma is two, matrix instructions left out") \
    X(GPU_F16_FLOPS, "flop", "GPU f16 operations in active lanes, an fma is two, matrix instructions left out") \
    X(GPU_MATRIX_F32_FLOPS, "flop", "operations of GPU matrix instructions with f32 results") \
    X(GPU_MATRIX_F16_FLOPS, "flop", "operations of GPU matrix instructions with f16 results") \
    X(GPU_REGISTER_READ_BYTES, "bytes", "bytes that GPU instructions read from registers") \
    X(GPU_REGISTER_WRITE_BYTES, "bytes", "bytes that GPU instructions write to registers") \
    X(GPU_THREADGROUP_BYTES, "bytes", "bytes moved from and to threadgroup memory") \
    X(GPU_L1_READ_BYTES, "bytes", "bytes that GPU loads and atomics of device and stack memory bring") \
    X(GPU_L1_WRITE_BYTES, "bytes", "bytes that GPU stores and atomics of device and stack memory send") \
    X(ANE_F16_MACS, "macs", "multiply-accumulates of the Neural Engine with an f16 factor, idle lanes left out") \
    X(ANE_INT8_MACS, "macs", "multiply-accumulates of the Neural Engine of two 8-bit factors") \
    X(ANE_TABLE_LOOKUPS, "lookups", "elements that went through an activation table of the Neural Engine") \
    X(ANE_PLANAR_OPS, "operations", "operations of the planar engine on one element, reductions and pooling per input") \
    X(ANE_TILE_READ_BYTES, "bytes", "bytes read from the tile memory of the Neural Engine, by engines and DMA") \
    X(ANE_TILE_WRITE_BYTES, "bytes", "bytes written to the tile memory of the Neural Engine, by engines and DMA") \
    X(ANE_COEFFICIENT_BYTES, "bytes", "bytes that the kernel DMA brought into coefficient memory, tables included") \
    X(ANE_DMA_BYTES, "bytes", "bytes that kernel and tile DMA of the Neural Engine moved from and to memory") \
    X(ANE_TASKS, "tasks", "task descriptors that the Neural Engine carried out") \
    X(L1D_READ_BYTES, "bytes", "bytes read from L1 data caches of CPU cores") \
    X(L1D_WRITE_BYTES, "bytes", "bytes written to L1 data caches of CPU cores") \
    X(L2_READ_BYTES, "bytes", "bytes read from L2 caches of clusters and GPU") \
    X(L2_WRITE_BYTES, "bytes", "bytes written to L2 caches of clusters and GPU, fills and write-backs") \
    X(SLC_READ_BYTES, "bytes", "bytes read from the system-level cache") \
    X(SLC_WRITE_BYTES, "bytes", "bytes written to the system-level cache") \
    X(DRAM_READ_BYTES, "bytes", "bytes read from DRAM") \
    X(DRAM_WRITE_BYTES, "bytes", "bytes written to DRAM") \
    X(DRAM_ACTIVATES, "commands", "rows of DRAM opened, each closed again later") \
    X(DRAM_REFRESHES, "commands", "refreshes of an eighth of a DRAM channel's banks; one of all banks counts as eight")
/* clang-format on */

enum activity_event {
#define X(name, unit, definition) ACT_##name,
    ACTIVITY_TABLE(X)
#undef X
        ACT_COUNT
};

/* The counts of one unit over an interval. They start at zero. */
struct activity {
    uint64_t count[ACT_COUNT];
};

static inline void activity_add(struct activity *into, const struct activity *from)
{
    for (int i = 0; i < ACT_COUNT; i++)
        into->count[i] += from->count[i];
}

/* Name, unit and definition of an event, as in the table; NULL when there is no such event. */
const char *activity_name(enum activity_event event);
const char *activity_unit(enum activity_event event);
const char *activity_definition(enum activity_event event);

#endif
