/* The GPU's clock from its waking up on: it starts at a base clock and rises when it is busy.
 *
 * Published are names and numbers of the controller (device trees of Asahi Linux; AsahiLinux/m1n1
 * proxyclient/m1n1/agx/initdata.py: its output goes from 0 to 95, over which the states above the base one are spread), and what
 * it does: a GPU that was switched off starts each burst at its base clock, stays there under light loads and jumps to the
 * highest under heavy ones (igneous-prose/apple-gpu-dvfs, M4). The law that we take is the simplest with these names: every
 * period, the share of it in which the GPU was busy, less the target, times a gain, and an integral of that. It reproduces what
 * is published of an M1 (joshuaswarren/omarchy-mlx docs/gpu-base-pstate.md): first tokens after a pause take 7.7 to 8.7 ms longer
 * than from the highest clock; from states 3 and 4, 38 and 62 to 65 % of that is gone. With a target of 40 %, 30 % is, which is
 * the mean over when the first decision comes (use_first_ms). An M1 Max, whose first tokens take 4.2 to 5.1 ms longer, comes out
 * 3 ms too slow.
 */
#ifndef ORCHARD_POWER_GPU_RAMP_H
#define ORCHARD_POWER_GPU_RAMP_H

#include "power/gpu_control.h"
#include "power/opp.h"

struct gpu_ramp { /* plain state, which may be copied to try things out */
    const struct gpu_control_params *params;
    const struct opp_table *table;
    double integral;         /* in percent of the range */
    double left_ms, busy_ms; /* until the next decision; at work since the last one */
    size_t state;            /* in the table */
};

/* Work whose time is fixed_ms at any clock and cycles / clock beside that. */
struct gpu_ramp_work {
    double fixed_ms, mcycles; /* 1000 cycles: ms times MHz */
};

/* The GPU has been switched off, and wakes up. Both must live as long as the ramp; the table has a point at least. */
void gpu_ramp_wake(struct gpu_ramp *ramp, const struct gpu_control_params *params, const struct opp_table *table);
double gpu_ramp_mhz(const struct gpu_ramp *ramp);
/* Does work, and returns how long it took; *mhz (may be NULL): the mean clock of its cycles. */
double gpu_ramp_do(struct gpu_ramp *ramp, const struct gpu_ramp_work *work, double *mhz);
/* Nothing to do for so long; longer than off_ms, and it wakes up again at the base clock. */
void gpu_ramp_rest(struct gpu_ramp *ramp, double ms);

#endif
