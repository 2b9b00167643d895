/* One chip, assembled from timing models: its memory system, CPU clusters with their cores, one AMX block per cluster, the GPU
 * and the Neural Engine. Their parameters come from the chip database. Functional state (programs, address spaces) belongs to
 * the tasks that use the chip.
 */
#ifndef ORCHARD_SIM_SOC_SOC_H
#define ORCHARD_SIM_SOC_SOC_H

#include "power/energy.h"
#include "sim/chip/chip.h"
#include "units/amx/amx_timing.h"
#include "units/ane/ane_timing.h"
#include "units/cpu/cpu_timing.h"
#include "units/gpu/gpu_timing.h"
#include "units/mem/mem_bulk.h"

struct soc_core {
    bool performance;       /* a P core; otherwise an E core */
    unsigned cluster, slot; /* index of the cluster on the chip; index of the core in the cluster and in its AMX block */
    unsigned number;        /* counted over all cores of its kind */
    /* Valid once soc_place has picked a core of the cluster. */
    struct mem_port *port, *amx_port;
    struct cpu_timing *timing;
    struct amx_block *amx;
    enum amx_gen gen;
    double clock_ghz, amx_clock_ghz; /* with the current number of active cores in the cluster */
    unsigned amx_issue_per_cycle;    /* AMX instructions that may leave the core per cycle */
};

/* The GPU; timing is NULL until soc_gpu opens it. */
struct soc_gpu {
    struct gpu_params params;
    struct gpu_timing *timing;
    struct mem_port **port; /* one per GPU core */
};

/* The Neural Engine; timing is NULL until soc_ane opens it. */
struct soc_ane {
    struct ane_params params;
    struct ane_timing *timing;
    struct mem_bulk *bulk;
    /* Buffer addresses of the request that is timed next, set by the caller; a buffer with address 0 gets a region of its own. */
    uint64_t address[ANE_BARS];
};

struct soc;

struct soc *soc_create(const struct chip *chip, struct orch_error *error);
void soc_free(struct soc *soc);
const struct chip *soc_chip(const struct soc *soc);
enum amx_gen soc_amx_gen(const struct soc *soc);
struct mem_system *soc_memory(struct soc *soc);

/* Each is opened by the first call and owned by the soc. NULL with *error when the database lacks what the model needs. */
struct soc_gpu *soc_gpu(struct soc *soc, struct orch_error *error);
struct soc_ane *soc_ane(struct soc *soc, struct orch_error *error);

enum soc_core_choice { SOC_ANY_CORE, SOC_P_CORE, SOC_E_CORE };

/* Picks `count` cores as an operating system would for busy threads: P cores first, spread over the clusters, then E cores;
 * `choice` restricts it to one kind. Sets the clocks of each cluster for its number of active cores. The soc owns the cores. */
bool soc_place(struct soc *soc, unsigned count, enum soc_core_choice choice, struct soc_core **cores, struct orch_error *error);
/* Gives a core the address space of another one: what both access is the same in the caches. With itself: one of its own again.
 */
void soc_share_space(struct soc *soc, struct soc_core *core, const struct soc_core *with);
unsigned soc_core_count(const struct soc *soc, bool performance);

/* Separates the warm-up from the run: sets all local times to 0, clears the counters, keeps or drops the cache contents. */
void soc_restart(struct soc *soc, bool keep_caches);
/* Adds to *into the activity since the last call. */
void soc_take_activity(struct soc *soc, struct activity *into);
/* Adds what GPU and memory did since the last call of that, which this is not: what happens later does not hang on it. */
void soc_gpu_activity(const struct soc *soc, struct activity *into);
/* The same, split by the power domain that reported it: the domain of a CPU cluster includes the cluster's caches and AMX block;
 * SLC and DRAM traffic goes to POWER_FABRIC. */
void soc_take_activity_by(struct soc *soc, struct activity by[POWER_DOMAIN_COUNT]);

/* Sends AMX instructions that leave the core from sent_ns on, with step_ns from soc_core_send_step_ns, to the core's block;
 * returns when the next one can leave. */
double soc_core_send_amx_batch(struct soc_core *core, double sent_ns, double step_ns, const uint8_t *op, const uint64_t *operand,
                               uint32_t count);
/* Sends all passes of a loop; returns when the next instruction can leave. */
double soc_core_send_amx_passes(struct soc_core *core, double sent_ns, double step_ns, const struct amx_passes *passes);
/* Count AMX instructions that are not timed; their loads and stores reach the caches, and no time passes. */
void soc_core_skip_amx_batch(struct soc_core *core, double now_ns, const uint8_t *op, const uint64_t *operand, uint32_t count);
void soc_core_skip_amx_passes(struct soc_core *core, double now_ns, const struct amx_passes *passes);
/* To be called when timing goes on after something was skipped. */
void soc_core_resume(struct soc_core *core, double now_ns);
/* Time between two AMX instructions that leave the core back to back, in ns. */
double soc_core_send_step_ns(const struct soc_core *core);
/* Time at which everything that the core and its block were given is complete. */
double soc_core_done_at(const struct soc_core *core);
/* Time until then in which the core had no thread to run. */
double soc_core_idle_ns(const struct soc_core *core);

#endif
