/* Fills the parameter structs of units from the values of a chip. Only here do the two meet: units know no chip. */
#ifndef ORCHARD_SIM_CHIP_CHIP_UNITS_H
#define ORCHARD_SIM_CHIP_CHIP_UNITS_H

#include "isa/amx/amx_isa.h"
#include "sim/chip/chip.h"
#include "units/amx/amx_timing.h"
#include "units/ane/ane_exec.h"
#include "units/ane/ane_timing.h"
#include "units/ane/kernels/ane_kernels.h"
#include "units/cpu/cpu_timing.h"
#include "units/gpu/gpu_timing.h"
#include "units/mem/mem_pool.h"
#include "units/mem/mem_timing.h"

enum chip_core { CHIP_P_CORE, CHIP_E_CORE };

/* The CPU clusters in the order of mem_params.cluster: all P clusters, then all E clusters. Of a chip with two dies, the first
 * half of each kind sits on the first die. */
struct chip_cluster {
    enum chip_core kind;
    unsigned cores, die;
    bool has_amx;
};
struct chip_clusters {
    unsigned count;
    struct chip_cluster cluster[MEM_CLUSTERS_MAX];
};
bool chip_clusters(const struct chip *chip, struct chip_clusters *out, struct orch_error *error);

bool chip_amx_gen(const struct chip *chip, enum amx_gen *gen, struct orch_error *error);

/* Clocks depend on how many cores of the cluster are active (at least 1). */
bool chip_cpu_clock_ghz(const struct chip *chip, enum chip_core kind, unsigned active, double *ghz, struct orch_error *error);
bool chip_amx_clock_ghz(const struct chip *chip, enum chip_core kind, unsigned active, double *ghz, struct orch_error *error);

/* Each of these fills the whole struct. False: ORCH_UNMODELLED names a key whose value is not known for this chip. */
bool chip_amx_params(const struct chip *chip, enum chip_core kind, unsigned active, struct amx_params *params,
                     struct orch_error *error);
bool chip_cpu_params(const struct chip *chip, enum chip_core kind, unsigned active, struct cpu_params *params,
                     struct orch_error *error);
/* `active` has the number of active cores of each cluster; NULL: one each. */
bool chip_mem_params(const struct chip *chip, const unsigned *active, struct mem_params *params, struct orch_error *error);
/* The memory of a machine with this chip. `gib` must be one of the sizes on sale; 0 stands for the largest. */
bool chip_memory(const struct chip *chip, unsigned gib, struct mem_pool_params *params, struct orch_error *error);
/* Writes the sizes on sale: "8, 16". */
void chip_memory_options(const struct chip *chip, char *text, size_t size);
/* The ports of one core of `cluster`: its own, and the one that its AMX loads and stores use. */
bool chip_core_port(const struct chip *chip, unsigned cluster, struct mem_port_params *params, struct orch_error *error);
bool chip_amx_port(const struct chip *chip, unsigned cluster, struct mem_port_params *params, struct orch_error *error);

/* The GPU. Each die has an L2, which is a cluster after those of the CPU: chip_gpu_memory adds them to what chip_mem_params
 * gave, and *first_cluster becomes the number of the first. chip_gpu_port describes the port of core 0 to gpu_params.cores - 1.
 */
bool chip_gpu_generation(const struct chip *chip, enum gpu_generation *generation, struct orch_error *error);
bool chip_gpu_params(const struct chip *chip, struct gpu_params *params, struct orch_error *error);
bool chip_gpu_memory(const struct chip *chip, struct mem_params *params, unsigned *first_cluster, struct orch_error *error);
bool chip_gpu_port(const struct chip *chip, unsigned first_cluster, unsigned core, struct mem_port_params *params,
                   struct orch_error *error);

/* The Neural Engine: its generation, timing, what it accepts, and the rules of its arithmetic. */
bool chip_ane_generation(const struct chip *chip, enum ane_generation *generation, struct orch_error *error);
bool chip_ane_params(const struct chip *chip, struct ane_params *params, struct orch_error *error);
bool chip_ane_limits(const struct chip *chip, struct ane_limits *limits, struct orch_error *error);
bool chip_ane_numeric(const struct chip *chip, struct ane_numeric *numeric, struct orch_error *error);

#endif
