/* Clocks and heat of a machine under a load that comes and goes: what the instances did in a step becomes joules by domain,
 * joules become heat, and the governor sets the clocks of the next step. The models are those of sustained runs
 * (sim/machine/sustain). */
#ifndef ORCHARD_SIM_LOAD_LOAD_HEAT_H
#define ORCHARD_SIM_LOAD_LOAD_HEAT_H

#include "sim/machine/sustain/sustain.h"

struct load_heat;
struct load_window;

struct load_heat_setup {
    const struct chip *chip;
    const struct device *device;
    double ambient_c; /* NAN = the machine's */
    enum governor_policy policy;
    bool low_power;
    double power_cap_w;     /* 0 = none */
    double battery_percent; /* NAN = on the adapter */
    unsigned p_cores;       /* that may be busy at a time */
};

struct load_heat *load_heat_open(const struct load_heat_setup *setup, struct orch_error *error);
void load_heat_close(struct load_heat *heat);

/* Clock of a domain in this step. */
double load_heat_mhz(const struct load_heat *heat, enum power_domain domain);
/* Time between two decisions. */
double load_heat_step_s(const struct load_heat *heat);
/* In this step a workload of that profile was done so many times. */
void load_heat_add(struct load_heat *heat, const struct power_profile *profile, double repetitions);
/* Ends the step. */
bool load_heat_step(struct load_heat *heat, double seconds, struct orch_error *error);

double load_heat_joules(const struct load_heat *heat);
/* Power since the last call, temperature and clocks, for a window. */
void load_heat_read(struct load_heat *heat, struct load_window *window);

struct load_heat_summary {
    double joules[POWER_DOMAIN_COUNT];
    double watts_peak, celsius_max, celsius_last;
    double throttled_s, onset_s; /* onset: NAN = never */
    double battery_hours;        /* left at the end, at the mean power; NAN without a battery */
    double wall_w;
    bool battery_empty;
    enum thermal_pressure pressure; /* after the last step */
};
struct load_heat_summary load_heat_summary(const struct load_heat *heat);

#endif
