/* How far cores come behind others because of the lines that they fetch for them.
 *
 * Cores whose threadgroups read the same lines at about the same time do not stay at the distances that they have by chance: the
 * first one waits for lines that those behind it then find in the GPU's L2, so they catch up with it, and from then on all wait
 * at the same moments. Cores that read others meanwhile wait longer where these come from DRAM, or less, and come behind or
 * ahead. Who times parts of a launch and begins each of them with cores at distances of chance finds more in the caches, and
 * less waiting, than the launch has. This learns from the timed parts what lines from beyond the L2 cost the core that waits for
 * them, so that cores can be held up as much where they are not timed.
 */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_CONVOY_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_CONVOY_H

struct gpu_convoy;

/* What a core has accessed beyond the L2, or what that costs. */
struct gpu_fetched {
    double slc, dram; /* found in the SLC; in DRAM */
};

/* NULL when memory ran out. */
struct gpu_convoy *gpu_convoy_create(unsigned cores);
void gpu_convoy_free(struct gpu_convoy *convoy);

/* A timed part begins. */
void gpu_convoy_begin(struct gpu_convoy *convoy);
/* By core: how many instructions it has issued and how many lines it has accessed, at some moment of the part, since any time
 * that is the same for all its moments. */
void gpu_convoy_moment(struct gpu_convoy *convoy, const double *issued, const struct gpu_fetched *fetched);

/* How many instructions a core comes behind the others for each line, as the parts so far tell; 0 where that may be chance. */
struct gpu_fetched gpu_convoy_cost(const struct gpu_convoy *convoy);

#endif
