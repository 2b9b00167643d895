/* Clocks under limits: what a policy asks for, and what temperature, power and battery leave of it.
 *
 * The governor is called once per tick with sensors and demands, and answers with a clock for each domain. The controller
 * alternates between two operating points, so answers are mean clocks and need not be points of the table. How Apple's
 * controllers work is not published. The law used here (proportional and integral on the mean die temperature, CPU before GPU, a
 * hard limit for each sensor) reproduces the curves of ThomasKaiser/Knowledge (MacBook Air M1); every number is a parameter.
 */
#ifndef ORCHARD_POWER_GOVERNOR_H
#define ORCHARD_POWER_GOVERNOR_H

#include "power/energy.h"
#include "power/governor_policy.h"
#include "power/gpu_control.h"
#include "power/opp.h"

/* The levels that macOS reports (com.apple.system.thermalpressurelevel). */
enum thermal_pressure {
    PRESSURE_NOMINAL,
    PRESSURE_MODERATE,
    PRESSURE_HEAVY,
    PRESSURE_TRAPPING,
    PRESSURE_SLEEPING,
    PRESSURE_COUNT
};
const char *thermal_pressure_name(enum thermal_pressure pressure);

/* The KEYs "governor.<field>" of a device: X(field, unit, lowest, highest, meaning). */
/* clang-format off */
#define GOVERNOR_FIELDS(X) \
    X(tick_ms, "ms", 0.1, 1000, "time between two decisions") \
    X(target_c, "degC", 30, 120, "mean die temperature that is held while the CPU alone is busy") \
    X(target_gpu_c, "degC", 30, 120, "the same while the GPU is busy") \
    X(band_k, "K", 0.1, 50, "clocks begin to fall so far below the target") \
    X(fall_per_k, "1/K", 0, 1, "share of the highest clock that one kelvin in the band takes") \
    X(integral_per_ks, "1/(K s)", 0, 1, "share of the highest clock that a kelvin above the target takes per second") \
    X(sensor_limit_c, "degC", 50, 125, "no block gets hotter: P clocks fall at once") \
    X(critical_c, "degC", 60, 130, "emergency: every domain at its lowest point") \
    X(low_power_share, "1", 0.1, 1, "highest clock in low-power mode, of the highest clock") \
    X(limit_fall_per_s, "1/s", 0.01, 1000, "share of the clock that a whole excess over a power cap (10 K over a sensor limit) takes") \
    X(limit_rise_per_s, "1/s", 0.01, 1000, "the same when there is room again: slower, so that it does not swing") \
    X(balanced_cost, "1", 0.0001, 0.5, "policy balanced: share of the time that a lower clock may cost") \
    X(gpu_grace, "1", 1, 100, "the GPU's share falls so many times later than that of the P cores") \
    X(heavy_share, "1", 0, 1, "pressure is heavy when clocks are below this share, trapping at the lowest point") \
    X(min_duty, "1", 0.01, 1, "least share of the time that cores work at their lowest point when that is too much; 1 = all of it") \
    X(alternate_ms, "ms", 0.1, 1000, "period in which a domain alternates between two operating points") \
    X(switch_stop, "1", 0, 1, "share of a transition in which the domain stands still") \
    X(low_battery_percent, "%", 0, 100, "power mode auto: below this charge the low-power mode is on") \
    X(steer_share, "1", 0, 1, "P cores below this share of their clock: programs that may move go to the E cores") \
    X(steer_hold_s, "s", 0, 3600, "they stay there at least so long") \
    X(steer_us, "us", 0, 1e6, "time that a move costs")
/* clang-format on */

struct governor_params {
#define X(field, unit, lowest, highest, meaning) double field;
    GOVERNOR_FIELDS(X)
#undef X
};

/* One domain that can be clocked: P_CPU, E_CPU, GPU, ANE. */
struct governor_demand {
    const struct opp_table *table; /* NULL when there is no such domain */
    double limit_mhz;              /* highest clock for the active cores; 0 = the last point of the table */
    double asked_mhz;              /* for policies that read it; 0 = the limit */
    double running;                /* share of the tick at work, 0..1 */
    double memory_bound;           /* share of that time which does not scale with the clock, 0..1 */
};
struct governor_sensors {
    double mean_c, hottest_c; /* of the die */
    double watts;             /* of the last tick, chip and memory */
    double gpu_c;             /* hottest part of the GPU; only read when the GPU has a controller of its own */
};
struct governor_limits {
    double watts;   /* power cap, 0 = none */
    bool low_power; /* the low-power mode is on */
};
struct governor_answer {
    double mhz[POWER_DOMAIN_COUNT];
    double duty[POWER_DOMAIN_COUNT]; /* share of the time at work; below 1 only at the lowest point */
    enum thermal_pressure pressure;
    bool throttled; /* a running domain is below what its policy asked for */
    bool emergency;
};

struct governor { /* plain state, which may be copied to try things out */
    struct governor_params params;
    enum governor_policy policy;
    double integral;          /* share of the clock that the integral part takes, 0..1 */
    double cap_share;         /* share of the clock that the power cap leaves, from 1 to 0, and below, to min_duty - 1, when the
                                 domain works only part of the time */
    double sensor_share;      /* the same for the sensor limit */
    double temperature_share; /* share of the clock that the mean temperature left, 0..1 */
    struct gpu_control gpu;   /* valid when gpu_known */
    bool gpu_known;
};

void governor_init(struct governor *governor, const struct governor_params *params, enum governor_policy policy);
/* Gives the GPU a controller of its own, which replaces gpu_grace and the sensor limit and cap of the cores. */
void governor_set_gpu(struct governor *governor, const struct gpu_control_params *params);
/* The temperature of the hottest block at which the first clock begins to fall. */
double governor_first_limit_c(const struct governor *governor, bool gpu_busy);
/* Decides the clocks of the next `seconds`. Only the demands of P_CPU, E_CPU, GPU and ANE are read. */
void governor_tick(struct governor *governor, double seconds, const struct governor_demand demand[POWER_DOMAIN_COUNT],
                   const struct governor_sensors *sensors, const struct governor_limits *limits, struct governor_answer *answer);

#endif
