/* Times what an in-process kernel sends: AMX instructions, loops of them, and the scalar code between them. Nothing that is timed
 * tells the kernel what to do next, so the timing may run behind on a thread of its own. It does the same things in the same
 * order there: times and counts do not depend on the number of threads.
 */
#ifndef ORCHARD_SIM_WORKLOAD_AMX_AMX_TIMER_H
#define ORCHARD_SIM_WORKLOAD_AMX_AMX_TIMER_H

#include "sim/workload/core_sample.h"
#include "sim/soc/soc.h"

struct amx_timer;

/* NULL when memory is out. The core stays the caller's; with `apart`, nobody else touches it between start and finish. */
struct amx_timer *amx_timer_create(struct soc_core *core, bool apart);
void amx_timer_free(struct amx_timer *timer);

/* The core can send its first AMX instruction at `now_ns`. */
void amx_timer_start(struct amx_timer *timer, double now_ns);
/* In program order, between start and finish. What the arguments point to may change afterwards. */
void amx_timer_batch(struct amx_timer *timer, const uint8_t *op, const uint64_t *operand, uint32_t count);
void amx_timer_passes(struct amx_timer *timer, const struct amx_passes *passes);
/* Scalar code follows the AMX instructions sent so far and comes before the next ones. Addresses are simulated ones. */
void amx_timer_copy(struct amx_timer *timer, uint64_t dst, uint64_t dst_row, uint64_t src, uint64_t src_row, uint32_t rows,
                    uint32_t row_bytes);
void amx_timer_transpose(struct amx_timer *timer, uint64_t dst, uint64_t dst_row, uint64_t src, uint64_t src_row,
                         uint32_t vectors, uint32_t count, uint32_t element_bytes);
/* Returns the time at which everything is complete. */
double amx_timer_finish(struct amx_timer *timer);

/* Times only a sample of what comes. To be called before the start, with the block to itself. */
void amx_timer_sample(struct amx_timer *timer, const struct core_sample_shape *shape);
/* After the last finish. */
struct core_sampled amx_timer_sampled(struct amx_timer *timer);

/* How far it has come: when the core can send its next AMX instruction. Between start and finish it may be some way behind. */
double amx_timer_now(const struct amx_timer *timer);

#endif
