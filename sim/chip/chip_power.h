/* Fills the parameters of power/ from the values of a chip. */
#ifndef ORCHARD_SIM_CHIP_CHIP_POWER_H
#define ORCHARD_SIM_CHIP_CHIP_POWER_H

#include "power/energy.h"
#include "power/gpu_control.h"
#include "power/opp.h"
#include "sim/chip/chip.h"

/* Fills the whole struct. False: ORCH_UNMODELLED names a key whose value is not known for this chip. */
bool chip_power_params(const struct chip *chip, struct power_params *params, struct orch_error *error);

/* The operating points of a domain. AMX has those of P_CPU, SLC and FABRIC have those of memory, DRAM has a constant voltage. A
 * voltage that is not published comes from the voltage curve of the chip, and its point says so. A chip without states has its
 * highest clock as the only point. */
bool chip_opp_table(const struct chip *chip, enum power_domain domain, struct opp_table *table, struct orch_error *error);

/* The number of slices of each domain. A slice is a P core, an E core, an AMX block, a GPU core, four engines of the Neural
 * Engine, 64 bits of the memory bus (SLC, fabric) or 16 bits (DRAM). The rest of the chip is one slice. */
bool chip_power_slices(const struct chip *chip, unsigned slices[POWER_DOMAIN_COUNT], struct orch_error *error);

/* The controller of the GPU's clock. */
bool chip_gpu_control(const struct chip *chip, struct gpu_control_params *params, struct orch_error *error);

/* The highest clock of the P clusters, in MHz, with `active` busy cores each. */
bool chip_p_limit_mhz(const struct chip *chip, unsigned active, double *mhz, struct orch_error *error);

#endif
