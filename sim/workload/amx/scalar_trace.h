/* The scalar part of in-process AMX kernels, for timing. The copy and transpose loops of gemm_pack.c run on the host; the core's
 * timing model reads the basic blocks that an AArch64 compiler makes of them, with the addresses they touch.
 */
#ifndef ORCHARD_SIM_WORKLOAD_AMX_SCALAR_TRACE_H
#define ORCHARD_SIM_WORKLOAD_AMX_SCALAR_TRACE_H

#include "units/cpu/cpu_timing.h"

struct scalar_trace;

struct scalar_trace *scalar_trace_create(void);
void scalar_trace_free(struct scalar_trace *trace);

/* Whether what follows is timed (at first it is) or only leaves the caches as if it had been. */
void scalar_trace_time(struct scalar_trace *trace, bool timed);

/* Times a copy of `rows` rows of row_bytes from strided src to dense dst, 64 bytes per iteration. Addresses are simulated ones.
 */
void scalar_trace_copy(struct scalar_trace *trace, struct cpu_timing *timing, uint64_t dst, uint64_t dst_row, uint64_t src,
                       uint64_t src_row, uint32_t rows, uint32_t row_bytes);
/* Times a transpose of `vectors` strided source vectors of `count` elements into rows of dst, in 16-byte blocks. */
void scalar_trace_transpose(struct scalar_trace *trace, struct cpu_timing *timing, uint64_t dst, uint64_t dst_row, uint64_t src,
                            uint64_t src_row, uint32_t vectors, uint32_t count, uint32_t element_bytes);

#endif
