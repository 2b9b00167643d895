/* Chooses the threadgroups that stand for a big launch, and derives the time of the launch from theirs.
 *
 * Stretches of neighbouring threadgroups are timed as one launch without pauses: the start of the launch, its end, and some waves
 * in between (a wave is as many threadgroups as the GPU holds at a time). Threadgroups between stretches are taken to run at the
 * pace of the stretches beside them; what they leave in the caches is put there before the next stretch begins.
 */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_SAMPLE_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_SAMPLE_H

#include "sim/workload/gpu/gpu_job.h"

#define GPU_SAMPLE_STRETCHES_MAX 9

struct gpu_sample {
    struct gpu_stretch stretch[GPU_SAMPLE_STRETCHES_MAX];
    struct gpu_progress progress[GPU_SAMPLE_STRETCHES_MAX];
    unsigned stretches;
    uint64_t groups, groups_timed; /* threadgroups of the launch; those in stretches */
};

/* True when the launch is so big that a sample is smaller and still stands for it. `work` is roughly the number of simdgroup
 * instructions of the launch. */
bool gpu_sample_worthwhile(uint64_t groups, uint64_t wave, double work);
/* Chooses the stretches of a launch that is worth sampling. The first one has `least` threadgroups or more, where there are so
 * many. At most `warm` threadgroups run untimed before a stretch. */
void gpu_sample_choose(uint64_t groups, uint64_t wave, uint64_t least, uint64_t warm, struct gpu_sample *sample);

/* What a pass took. */
struct gpu_part {
    double ns, work;            /* time; instructions */
    double timed_work;          /* instructions that were timed */
    struct gpu_counted counted; /* by the pass as a whole, leaps included */
    struct gpu_counted beside;  /* what is taken to count in the parts that were not timed */
};
/* What the pass over the sample would have taken over the whole launch. `work` has the instructions of each threadgroup; NULL
 * when they are known only for those that ran. What lies between stretches counts as much for its work as the stretches do;
 * without the first one when that found empty caches (`fresh`), which take writes for a while before any line has to go.
 * *uncertainty (relative, one standard deviation) says how far the paces of the stretches differ. */
struct gpu_part gpu_sample_scale(const struct gpu_sample *sample, struct gpu_part part, const uint32_t *work, bool fresh,
                                 double *uncertainty);

/* Time per instruction of the first stretch, in ns: from an empty GPU until all threadgroups of the stretch have begun. */
double gpu_sample_first_pace(const struct gpu_sample *sample);

#endif
