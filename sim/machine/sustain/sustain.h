/* Sustained operation: workloads repeated for seconds to hours in a machine, with energy, heat, clocks and battery in one loop.
 *
 * In every step the governor reads the sensors and sets clocks; the activity of the profiles at those clocks gives joules by
 * domain; joules heat the die; temperature changes leakage and, in the next step, clocks. Steps grow while nothing moves and are
 * short when a threshold is near. The thermal network itself has no time error (power/thermal_solver.h).
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

/* What the workloads of a chip share: mean rates at every resource, divided max-min fairly (sim/soc/fair_share.h). The capacity
 * of a resource that belongs to a clocked domain scales with its clock. */
struct sustain_sharing {
    const struct fair_resource *resource;
    unsigned resources;
    const enum power_domain *clocked_by; /* of each resource; POWER_DOMAIN_COUNT when its clock does not change */
    double mhz[POWER_DOMAIN_COUNT];      /* clocks of the domains at which the capacities hold */
    struct sustain_demand {
        const double *bytes;       /* bytes of one repetition, by resource */
        double weight, latency_ns; /* as in struct fair_flow */
        int priority;
        unsigned requesters;
    } demand[SUSTAIN_WORKLOADS];
};

struct sustain_setup {
    const struct chip *chip;
    const struct device *device;
    double ambient_c; /* NAN = that of the device */
    double start_c;   /* die and housing at the start; NAN = ambient plus the idle_rise_k of the device */
    const struct power_profile *profile[SUSTAIN_WORKLOADS];
    unsigned profiles;                     /* 0 = idle */
    const struct sustain_sharing *sharing; /* NULL = workloads do not slow each other down */
    double begin_s,
        duration_s; /* the workloads run from begin_s to duration_s, then the machine cools until end_s (0 = no cooling) */
    double end_s;
    enum governor_policy policy;
    double asked_mhz[POWER_DOMAIN_COUNT]; /* for FIXED, PACE and THERMAL_SAFE; 0 = the limit */
    double target_s;                      /* PACE: time that one repetition may take; RACE_TO_IDLE: time between two starts */
    double power_cap_w;                   /* 0 = none */
    bool low_power, on_battery;
    bool low_power_auto; /* switch it on when the battery falls below the governor's low_battery_percent */
    double battery_percent;
    /* By workload: the same repetition on the E cores, for work of the P cores that may move there; NULL = it stays. */
    const struct power_profile *moved[SUSTAIN_WORKLOADS];
    enum sustain_steering {
        STEER_NEVER,
        STEER_HOT,       /* when heat leaves the P cores less than the governor's steer_share of their clock */
        STEER_LOW_POWER, /* while the low-power mode is on */
        STEER_ALWAYS
    } steering;
    double sample_s;                      /* time between samples; 0 = duration / 600 */
    double step_max_s;                    /* 0 = 1 s; the tick of the governor keeps steps from growing */
    const struct work_progress *progress; /* NULL = nobody waits */
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
    struct sustain_sample *sample; /* owned; means over the time since the sample before, temperatures at its end */
    size_t samples;
    double repetitions[SUSTAIN_WORKLOADS];
    double pace[SUSTAIN_WORKLOADS]; /* share of its own speed that sharing leaves, mean over the time at work */
    double joules[POWER_DOMAIN_COUNT];
    double seconds, throttled_s, onset_s; /* onset: first time below the wanted clock; NAN = never */
    double watts_peak, celsius_max;
    double last_mhz[POWER_DOMAIN_COUNT];
    double hours_left, wall_w; /* at the mean power of the last tenth of the load */
    bool battery_empty, emergency;
    double clock_changes, clock_change_s; /* changes of operating points, and the time that they cost all domains at work */
    double low_power_s, steered_s;        /* time in low-power mode; time with work moved to the E cores */
    double duty_least;                    /* least share of the time in which a domain at work was allowed to work */
    double heat_in_j, heat_out_j, heat_stored_j; /* in = out + stored */
    size_t steps;
};

/* Free with sustain_result_free. Impossible setups (negative times, no device) are ORCH_USAGE. */
bool sustain_run(const struct sustain_setup *setup, struct sustain_result *result, struct orch_error *error);
void sustain_result_free(struct sustain_result *result);

/* The highest clocks, for the domains that pace the workloads, that can be held for ever without passing the governor's target.
 * All take the same share of their range, found by bisection over steady states. Other domains keep their values. */
bool sustain_safe_clocks(const struct sustain_setup *setup, double mhz[POWER_DOMAIN_COUNT], struct orch_error *error);

#endif
