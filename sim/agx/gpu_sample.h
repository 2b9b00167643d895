/* Which threadgroups stand for a big launch, and what their times say about the whole.
 *
 * A wave is as many threadgroups as the GPU holds at a time. Whole waves of neighbours are taken, spread evenly over the grid: a
 * few and twice as many. The difference of their times is the pace without start and end; the rest goes on at that pace.
 */
#ifndef ORCHARD_SIM_AGX_GPU_SAMPLE_H
#define ORCHARD_SIM_AGX_GPU_SAMPLE_H

#include "sim/agx/gpu_job.h"

struct gpu_sample {
    uint64_t *few, *many;
    uint64_t few_count, many_count;
};

/* How many threadgroups make a wave of a sample: at least `wave`, and enough of them to touch `bytes` of the `all_bytes` of the
 * launch, so that what stays behind in a cache of that size does not matter. */
uint64_t gpu_sample_wave(uint64_t groups, uint64_t wave, double bytes, double all_bytes);
/* Whether a launch of so many threadgroups is big enough for a sample to be smaller. */
bool gpu_sample_worthwhile(uint64_t groups, uint64_t wave);
bool gpu_sample_choose(uint64_t groups, uint64_t wave, struct gpu_sample *sample);
void gpu_sample_free(struct gpu_sample *sample);

/* Time and work (instructions) of a part of the launch. */
struct gpu_part {
    double ns, work;
};
/* Time of the whole. *uncertainty: half of what a second estimate, plain proportion, differs by. */
double gpu_sample_scale(struct gpu_part few, struct gpu_part many, double whole_work, double *uncertainty);

#endif
