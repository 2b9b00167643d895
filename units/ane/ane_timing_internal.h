/* What the files of the Neural Engine's timing share. */
#ifndef ORCHARD_UNITS_ANE_ANE_TIMING_INTERNAL_H
#define ORCHARD_UNITS_ANE_ANE_TIMING_INTERNAL_H

#include "units/ane/ane_timing.h"

/* One operand beyond the tile memory. */
struct ane_stream {
    uint64_t bytes; /* 0 = none */
    uint64_t offset;
    unsigned bar;
    double ns, memory_ns; /* set when it is timed: the whole time, and the memory side's part */
};

/* The demand of one task on each part of the engine. */
struct ane_demand {
    /* Cycles of the MAC engines: with every lane busy, and with the lanes that the shape leaves idle. */
    double mac_full, mac;
    double planar;
    uint32_t engines;
    uint64_t macs, elements;
    bool int8, table;
    /* Tiles that load, work and store overlapped; and the number of those that need all coefficients again. */
    double tiles;
    uint32_t passes;
    uint32_t second_passes;                                 /* the same for the second source of a product */
    struct ane_stream source, second, result, coefficients; /* coefficients and second source: of one pass */
    double coefficient_first;                               /* share of a pass that must arrive before work starts */
    uint64_t coefficient_bank;                              /* bytes of the largest bank */
    uint64_t tile_read, tile_write;                         /* bytes of tile memory, DMA included */
};

/* ane_timing_mac.c: sets mac_full, mac, engines, macs, and the operand bytes that the engines read from and write to tile memory.
 */
void ane_demand_mac(const struct ane_params *params, const struct ane_task *task, struct ane_demand *demand);
/* ane_timing_pe.c: sets planar. */
void ane_demand_planar(const struct ane_params *params, const struct ane_task *task, struct ane_demand *demand);
/* ane_timing_dma.c: sets tiles, streams, passes. */
void ane_demand_dma(const struct ane_params *params, const struct ane_task *task, struct ane_demand *demand);
/* Adds the time of a stream at the rate of the DMA or of the memory, whichever is slower, and counts it at its level. */
void ane_stream_time(const struct ane_params *params, const struct ane_memory *memory, struct ane_stream *stream, bool write);

/* Elements of an operand of the task: those of the image, once per group where rows are reduced. */
uint64_t ane_elements_in(const struct ane_task *task);
uint64_t ane_elements_out(const struct ane_task *task);
static inline uint64_t ane_ceil_div(uint64_t a, uint64_t b)
{
    return b ? (a + b - 1) / b : 0;
}

#endif
