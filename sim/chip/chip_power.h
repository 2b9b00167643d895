/* From keys to the parameters of power/. */
#ifndef ORCHARD_SIM_CHIP_CHIP_POWER_H
#define ORCHARD_SIM_CHIP_CHIP_POWER_H

#include "power/energy.h"
#include "power/gpu_control.h"
#include "power/opp.h"
#include "sim/chip/chip.h"

/* Fills the whole struct. False with ORCH_UNMODELLED names a key that is not known for this chip. */
bool chip_power_params(const struct chip *chip, struct power_params *params, struct orch_error *error);

/* Operating points of a domain; AMX has those of P_CPU, SLC and FABRIC those of memory (DRAM: constant volts). Voltages that are
 * not published come from the chip's voltage curve and are marked. A chip without states has its highest clock as the only point.
 */
bool chip_opp_table(const struct chip *chip, enum power_domain domain, struct opp_table *table, struct orch_error *error);

/* Slices of a domain: P cores, E cores, AMX blocks, GPU cores, clusters of the Neural Engine (four engines each), SLC and
 * fabric per 64 bits of memory bus, DRAM per channel of 16 bits, 1. */
bool chip_power_slices(const struct chip *chip, unsigned slices[POWER_DOMAIN_COUNT], struct orch_error *error);

/* Controller of the GPU's clock. */
bool chip_gpu_control(const struct chip *chip, struct gpu_control_params *params, struct orch_error *error);

/* Highest clock of the P clusters with `active` busy cores each, MHz. */
bool chip_p_limit_mhz(const struct chip *chip, unsigned active, double *mhz, struct orch_error *error);

/* Keys that energy and operating points read. */
extern const char *const chip_power_prefixes[];
extern const size_t chip_power_prefix_count;

#endif
