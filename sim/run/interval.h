/* The 90 % interval of a simulated time: what is not known about parameters, and how far runs of this kind were from hardware.
 *
 * The cheap way, of every run: a parameter's elasticity (by how many percent the time changes when it changes by one) is taken
 * from the share of the time that its reason has. Waiting for DRAM is divided into what bandwidth and what latency decide. Real
 * elasticities, by simulation, are in sim/ask/study/uncertainty.h.
 */
#ifndef ORCHARD_SIM_RUN_INTERVAL_H
#define ORCHARD_SIM_RUN_INTERVAL_H

#include "sim/chip/chip.h"
#include "sim/run/residual.h"
#include "sim/soc/soc.h"
#include "units/amx/amx_timing.h"
#include "units/ane/ane_timing.h"
#include "units/cpu/cpu_timing.h"
#include "units/gpu/gpu_timing.h"

/* Parameters and the absolute values of their elasticities. */
struct interval_share {
    const char *key; /* of the chip database, valid as long as the program */
    double share;
};
enum { INTERVAL_SHARES_MAX = 64 };
struct interval_shares {
    struct interval_share item[INTERVAL_SHARES_MAX];
    size_t count;
};
void interval_share_add(struct interval_shares *shares, const char *key, double share);

/* Of DRAM, during the whole. */
struct interval_traffic {
    double read_gbps, write_gbps;
};
struct activity;
struct interval_traffic interval_traffic_of(const struct activity *activity, double ns);

/* Time of a core and its AMX block by reason (CPU reasons, then AMX reasons), in the unit of `whole`; clusters that took part. */
struct interval_cpu {
    const double *stalls;
    double whole;
    struct interval_traffic traffic;
    unsigned clusters;
    bool performance;
};
void interval_add_cpu(struct interval_shares *shares, const struct chip *chip, const struct interval_cpu *cpu);
/* The same of a GPU core, and of the Neural Engine. */
void interval_add_gpu(struct interval_shares *shares, const struct chip *chip, const double stalls[GPU_STALL_COUNT], double whole,
                      const struct interval_traffic *traffic);
void interval_add_ane(struct interval_shares *shares, const double stalls[ANE_STALL_COUNT], double whole);
/* Submission and completion of a command buffer. */
void interval_add_launch(struct interval_shares *shares, const struct gpu_params *gpu, double share);

/* Relative, one standard deviation: parameters taken as independent of one another. */
double interval_parameters(const struct chip *chip, const struct interval_shares *shares);

/* The interval as factors of the time, and what part of its variance (of logarithms, both sides together) parameters are. */
struct interval {
    double low, high;
    double parameters; /* 0 .. 1; the rest is the residual of the model */
    double belief;     /* how much of the stated uncertainty of parameters the measurements bear out: 0 .. 1 */
};
/* From how far parameters move the time down and up: relative, one standard deviation. */
struct interval interval_of(const struct residual *residual, double sd_low, double sd_high);

/* Of programs that just ran on these cores (at most 64) until end_ns; takes the soc's activity. */
double interval_of_cores(struct soc *soc, struct soc_core *const *cores, unsigned count, double end_ns);

/* The GPU core that was busy longest: the others had their last threadgroup before. Returns the share of issuing of all cores'
 * time. */
double interval_gpu_stalls(const struct gpu_timing *timing, unsigned cores, double cycles[GPU_STALL_COUNT]);

#endif
