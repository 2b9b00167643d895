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

/* Parameters with the absolute values of their elasticities. */
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

/* DRAM traffic over the whole time. */
struct interval_traffic {
    double read_gbps, write_gbps;
};
struct activity;
struct interval_traffic interval_traffic_of(const struct activity *activity, double ns);

/* What a core and its AMX block spent their time on (CPU reasons, then AMX reasons, in the unit of `whole`), and how many
 * clusters took part. */
struct interval_cpu {
    const double *stalls;
    double whole;
    struct interval_traffic traffic;
    unsigned clusters;
    bool performance;
};
void interval_add_cpu(struct interval_shares *shares, const struct chip *chip, const struct interval_cpu *cpu);
/* The same for a GPU core and for the Neural Engine. */
void interval_add_gpu(struct interval_shares *shares, const struct chip *chip, const double stalls[GPU_STALL_COUNT], double whole,
                      const struct interval_traffic *traffic);
void interval_add_ane(struct interval_shares *shares, const double stalls[ANE_STALL_COUNT], double whole);
/* Adds the submission and completion of a command buffer. */
void interval_add_launch(struct interval_shares *shares, const struct gpu_params *gpu, double share);

/* One relative standard deviation of the time; the parameters count as independent of one another. */
double interval_parameters(const struct chip *chip, const struct interval_shares *shares);

/* 90 % of a normal distribution lies within so many standard deviations. */
#define INTERVAL_90 1.645

/* The interval as factors of the time, and the part of its variance (of logarithms, both sides together) that parameters explain.
 */
struct interval {
    double low, high;
    double parameters; /* 0 .. 1; the rest is the residual of the model */
    double belief;     /* how much of the stated uncertainty of parameters the measurements bear out: 0 .. 1 */
};
/* `sd_low` and `sd_high`: how far parameters move the time down and up, as one relative standard deviation. */
struct interval interval_of(const struct residual *residual, double sd_low, double sd_high);

/* The same for programs that just ran on these cores (at most 64) until end_ns. Takes the soc's activity. */
double interval_of_cores(struct soc *soc, struct soc_core *const *cores, unsigned count, double end_ns);

/* Stall cycles of the GPU core that was busy longest; the others finished their last threadgroup before it. Returns the share of
 * all cores' time in which they issued. */
double interval_gpu_stalls(const struct gpu_timing *timing, unsigned cores, double cycles[GPU_STALL_COUNT]);

#endif
