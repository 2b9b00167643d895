/* Which threadgroups stand for a big launch, and what their times say about the whole.
 *
 * Stretches of neighbouring threadgroups are timed as one launch without pauses: its start, its end, and some waves in between (a
 * wave is as many threadgroups as the GPU holds at a time). Threadgroups between stretches run at the pace of the stretches
 * beside them; what they leave in the caches is brought there before the next stretch comes.
 */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_SAMPLE_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_SAMPLE_H

#include "sim/workload/gpu/gpu_job.h"

#define GPU_SAMPLE_STRETCHES_MAX 9

struct gpu_sample {
    struct gpu_stretch stretch[GPU_SAMPLE_STRETCHES_MAX];
    struct gpu_progress progress[GPU_SAMPLE_STRETCHES_MAX];
    unsigned stretches;
    uint64_t groups, groups_timed; /* of the launch; in stretches */
};

/* Whether a launch is big enough for a sample to be smaller and yet stand for it. `work`: about so many instructions of
 * simdgroups. */
bool gpu_sample_worthwhile(uint64_t groups, uint64_t wave, double work);
/* For a launch that is worthwhile. Before a stretch at most `warm` threadgroups are run untimed. */
void gpu_sample_choose(uint64_t groups, uint64_t wave, uint64_t warm, struct gpu_sample *sample);

/* Work of a pass over the sample. */
struct gpu_part {
    double ns, work; /* instructions */
};
/* What the pass would have been over the whole launch. `work` has the instructions of each threadgroup, NULL = known only of
 * those that ran. *uncertainty (relative, one standard deviation): how far the paces of stretches differ. */
struct gpu_part gpu_sample_scale(const struct gpu_sample *sample, struct gpu_part part, const uint32_t *work,
                                 double *uncertainty);

/* Time per instruction of its first stretch, ns: from an empty GPU until all its threadgroups have begun. */
double gpu_sample_first_pace(const struct gpu_sample *sample);

#endif
