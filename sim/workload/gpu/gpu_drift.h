/* How fast the cores of a GPU are beside one another.
 *
 * Cores meet in the memory system, and where they wait for it, those that are served first come ahead of the others, by a percent
 * or more and the same ones all along. So cores that begin a launch in step do not stay in step, and when they have fallen apart
 * they wait less. Who times parts of a launch sees little of that in each part; this keeps what the parts have in common, so that
 * cores can be moved as far from one another as they would have come meanwhile.
 */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_DRIFT_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_DRIFT_H

#include <stdbool.h>
#include <stdint.h>

struct gpu_drift;

/* Of cores, or (slots > 1) of the slots of cores: place i * slots + k is slot k of core i. NULL when memory ran out. */
struct gpu_drift *gpu_drift_create(unsigned cores, unsigned slots);
void gpu_drift_free(struct gpu_drift *drift);

/* A part of the launch begins. */
void gpu_drift_begin(struct gpu_drift *drift);
/* How many instructions each place has issued so far, at some moments of the part. */
void gpu_drift_moment(struct gpu_drift *drift, double ns, const double *issued);
/* The part ends. Parts without a second moment do not count. */
void gpu_drift_end(struct gpu_drift *drift);

/* A whole part at once, in which places had these paces, relative to what is expected of each; 0 = it was free. */
void gpu_drift_part(struct gpu_drift *drift, const double *pace);

/* The pace of a place relative to the mean of all, as the parts so far tell; 1 before them. */
double gpu_drift_pace(const struct gpu_drift *drift, unsigned place);

#endif
