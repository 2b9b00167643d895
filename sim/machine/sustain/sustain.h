/* Sustained operation: workloads repeated for seconds to hours in a machine, with energy, heat, clocks and battery in one loop.
 *
 * Every step: the governor reads the sensors and sets clocks; activity of the profiles at those clocks gives joules by domain;
 * joules heat the die; temperature changes leakage and, next time, clocks. Steps grow while nothing moves and end early when a
 * threshold is near; the thermal network itself has no time error (power/thermal_solver.h).
 */
#ifndef ORCHARD_SIM_MACHINE_SUSTAIN_SUSTAIN_H
#define ORCHARD_SIM_MACHINE_SUSTAIN_SUSTAIN_H

#include "power/governor.h"
#include "sim/base/event.h"
#include "sim/chip/chip.h"
#include "sim/machine/device/device.h"
#include "sim/soc/fair_share.h"
#include "sim/machine/power/profile.h"

enum { SUSTAIN_WORKLOADS = EVENT_WORKLOADS };

/* What workloads of one chip share: mean rates at every resource, max-min fairly (sim/soc/fair_share.h). Those of resources that
 * belong to a clocked domain go with its clock. */
struct sustain_sharing {
    const struct fair_resource *resource;
    unsigned resources;
    const enum power_domain *clocked_by; /* of each resource; POWER_DOMAIN_COUNT = by no clock that changes */
    double mhz[POWER_DOMAIN_COUNT];      /* of the domains, at which the capacities hold */
    struct sustain_demand {
        const double *bytes;       /* of a repetition, by resource */
        double weight, latency_ns; /* as struct fair_flow */
        int priority;
        unsigned requesters;
    } demand[SUSTAIN_WORKLOADS];
};

struct sustain_setup {
    const struct chip *chip;
    const struct device *device;
    double ambient_c; /* NAN = the device's */
    double start_c;   /* die and housing at the start; NAN = ambient and idle_rise_k of the device */
    const struct power_profile *profile[SUSTAIN_WORKLOADS];
    unsigned profiles;                     /* 0 = idle */
    const struct sustain_sharing *sharing; /* NULL = nobody slows anybody */
    double begin_s, duration_s; /* the workloads run from begin_s to duration_s; then cooling until end_s (0 = no cooling) */
    double end_s;
    enum governor_policy policy;
    double asked_mhz[POWER_DOMAIN_COUNT]; /* FIXED, PACE, THERMAL_SAFE; 0 = the limit */
    double target_s;                      /* PACE: time that one repetition may take; RACE_TO_IDLE: time between two starts */
    double power_cap_w;                   /* 0 = none */
    bool low_power, on_battery;
    bool low_power_auto; /* also when the battery is below the governor's low_battery_percent */
    double battery_percent;
    /* Work of the P cores that may run on the E cores instead, by workload: the same repetition there; NULL = it stays. */
    const struct power_profile *moved[SUSTAIN_WORKLOADS];
    enum sustain_steering {
        STEER_NEVER,
        STEER_HOT,       /* when temperature leaves the P cores less than the governor's steer_share */
        STEER_LOW_POWER, /* while the low-power mode is on */
        STEER_ALWAYS
    } steering;
    double sample_s;   /* time between samples; 0 = duration / 600 */
    double step_max_s; /* 0 = 1 s; the tick of the governor = no growing steps */
};

struct sustain_sample {
    double time_s;
    double watts[POWER_DOMAIN_COUNT], mhz[POWER_DOMAIN_COUNT];
    double utilisation[POWER_DOMAIN_COUNT];
    double mean_c, hottest_c, case_c; /* die; last stage of the housing */
    double fan_rpm, dram_gbps, battery_percent, wall_w;
    enum thermal_pressure pressure;
};

struct sustain_result {
    struct sustain_sample *sample; /* owned; means over each stretch, temperatures at its end */
    size_t samples;
    double repetitions[SUSTAIN_WORKLOADS];
    double pace[SUSTAIN_WORKLOADS]; /* speed that sharing leaves, mean of the time at work */
    double joules[POWER_DOMAIN_COUNT];
    double seconds, throttled_s, onset_s; /* onset: first time below the wanted clock; NAN = never */
    double watts_peak, celsius_max;
    double last_mhz[POWER_DOMAIN_COUNT];
    double hours_left, wall_w; /* at the mean power of the last tenth */
    bool battery_empty, emergency;
    double clock_changes, clock_change_s;        /* operating points; time of all domains at work that they cost */
    double low_power_s, steered_s;               /* in low-power mode; with work moved to the E cores */
    double duty_least;                           /* least share of the time that a working domain had */
    double heat_in_j, heat_out_j, heat_stored_j; /* in = out + stored */
    size_t steps;
};

/* Free with sustain_result_free. Wrong setups (negative times, no device) are ORCH_USAGE. */
bool sustain_run(const struct sustain_setup *setup, struct sustain_result *result, struct orch_error *error);
void sustain_result_free(struct sustain_result *result);

/* Highest clocks of the domains that pace the workloads that can be held for ever without passing the governor's target, by
 * bisection over steady states: the same share of its range for every domain. Leaves the others as they are. */
bool sustain_safe_clocks(const struct sustain_setup *setup, double mhz[POWER_DOMAIN_COUNT], struct orch_error *error);
/* Of the driver of profile[0]. */
bool sustain_safe_mhz(const struct sustain_setup *setup, double *mhz, struct orch_error *error);

#endif
