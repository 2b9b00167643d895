/* A chip in its housing as the loop sees it: parameters, floorplan and thermal state. Shared by the files of this folder. */
#ifndef ORCHARD_SIM_MACHINE_SUSTAIN_MACHINE_H
#define ORCHARD_SIM_MACHINE_SUSTAIN_MACHINE_H

#include "power/thermal_solver.h"
#include "sim/chip/chip_floorplan.h"
#include "sim/machine/sustain/sustain.h"

enum { MACHINE_FAN_LEVELS = 9 };

struct machine {
    const struct device *device;
    struct power_params power;
    struct opp_table opp[POWER_DOMAIN_COUNT];
    unsigned slices[POWER_DOMAIN_COUNT];
    double p_limit_mhz;
    struct chip_floorplan floorplan;
    double ambient_k;
    /* A solver per fan speed, made when it is first needed; `now` holds the state. */
    struct thermal_solver *solver[MACHINE_FAN_LEVELS];
    unsigned now;
    size_t nodes;
    double *block_w, *kelvin;                                      /* power of the blocks; temperatures of the nodes */
    double domain_c[POWER_DOMAIN_COUNT], mean_c, hottest_c, gpu_c; /* gpu_c: hottest block of the GPU */
    struct gpu_control_params gpu_control;
    bool gpu_control_known;
    struct thermal_balance before; /* heat that went through solvers that are no longer in use */
};

/* active_p: busy P cores per cluster, which limit the clock. */
bool machine_open(struct machine *m, const struct sustain_setup *setup, unsigned active_p, struct orch_error *error);
void machine_close(struct machine *m);
/* Sets the fan to its nearest level and keeps the temperatures. */
bool machine_set_fan(struct machine *m, double rpm, struct orch_error *error);
/* Heats the die with the power of each domain for some seconds and reads the temperatures. */
void machine_step(struct machine *m, const double domain_w[POWER_DOMAIN_COUNT], const unsigned busy[POWER_DOMAIN_COUNT],
                  double seconds);
/* Mean die temperature that constant power leads to in the end. Does not change the state. */
double machine_steady_mean_c(struct machine *m, const double domain_w[POWER_DOMAIN_COUNT],
                             const unsigned busy[POWER_DOMAIN_COUNT], double domain_c[POWER_DOMAIN_COUNT]);
double machine_case_c(const struct machine *m);
struct thermal_balance machine_balance(const struct machine *m);

#endif
