/* One chip, wired: its memory system, CPU clusters with their cores, and one AMX block per cluster, all timing parts
 * filled from the chip database. Functional parts (programs, address spaces) belong to the tasks that use the cores.
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
    bool performance;                 /* P core, else E core */
    unsigned cluster, slot;           /* cluster of the chip; place inside its AMX block */
    unsigned number;                  /* over all cores of its kind */
    struct mem_port *port, *amx_port; /* from here on: once soc_place has picked a core of the cluster */
    struct cpu_timing *timing;
    struct amx_block *amx;
    enum amx_gen gen;
    double clock_ghz, amx_clock_ghz; /* with the present number of active cores */
    unsigned amx_issue_per_cycle;    /* AMX instructions that may leave the core in a cycle */
};

/* The GPU; timing is NULL until soc_gpu opens it. */
struct soc_gpu {
    struct gpu_params params;
    struct gpu_timing *timing;
    struct mem_port **port; /* of each core */
};

/* The Neural Engine; timing is NULL until soc_ane opens it. */
struct soc_ane {
    struct ane_params params;
    struct ane_timing *timing;
    struct mem_bulk *bulk;
    uint64_t address[ANE_BARS]; /* of the buffers of the request that is timed next, set by the caller; 0 = a region of its own */
};

struct soc;

struct soc *soc_create(const struct chip *chip, struct orch_error *error);
void soc_free(struct soc *soc);
const struct chip *soc_chip(const struct soc *soc);
enum amx_gen soc_amx_gen(const struct soc *soc);
struct mem_system *soc_memory(struct soc *soc);

/* Opened at the first call; the soc's. NULL with *error when the chip's GPU is not known well enough. */
struct soc_gpu *soc_gpu(struct soc *soc, struct orch_error *error);
struct soc_ane *soc_ane(struct soc *soc, struct orch_error *error);

enum soc_core_choice { SOC_ANY_CORE, SOC_P_CORE, SOC_E_CORE };

/* Picks `count` cores as an operating system would for busy threads: P cores first, spread over the clusters, then E cores
 * (or only one kind), and sets every clock to the number of active cores of its cluster. Cores stay the soc's. */
bool soc_place(struct soc *soc, unsigned count, enum soc_core_choice choice, struct soc_core **cores, struct orch_error *error);
unsigned soc_core_count(const struct soc *soc, bool performance);

/* Border between warm-up and run: clocks to 0, counters cleared, cache contents kept (or dropped). */
void soc_restart(struct soc *soc, bool keep_caches);
void soc_take_activity(struct soc *soc, struct activity *into);
/* The same apart, added to what reported it: P and E clusters (their caches and AMX blocks too), GPU, Neural Engine; traffic of
 * SLC and DRAM to POWER_FABRIC. */
void soc_take_activity_by(struct soc *soc, struct activity by[POWER_DOMAIN_COUNT]);

/* The link through which a core's instructions reach its AMX block. */
double soc_core_send_amx(struct soc_core *core, double sent_ns, unsigned op, uint64_t operand);
/* Many at once, step_ns as from soc_core_send_step_ns; returns when the next one can leave. */
double soc_core_send_amx_batch(struct soc_core *core, double sent_ns, double step_ns, const uint8_t *op, const uint64_t *operand,
                               uint32_t count);
/* The same of a loop. */
double soc_core_send_amx_passes(struct soc_core *core, double sent_ns, double step_ns, const struct amx_passes *passes);
/* Time between two AMX instructions that leave the core back to back. */
double soc_core_send_step_ns(const struct soc_core *core);
/* Everything the core and its block were given is complete. */
double soc_core_done_at(const struct soc_core *core);

#endif
