/* The GPU's own controller of its clock, with the gains that device trees record (AsahiLinux t8103.dtsi, t8112.dtsi: gpu node).
 *
 * Recorded are names and numbers, not units or the law. Assumed: gains are in percent of the controlled range per unit of error
 * (kelvin of the die over its target; watts over the limit) and, integral, per second of it; the range goes from the highest
 * operating point (100 %) to the lowest (0) and on to working part of the time at the lowest. With these units both loops are
 * well damped on the machines of this project, which speaks for them; nothing published says so.
 */
#ifndef ORCHARD_POWER_GPU_CONTROL_H
#define ORCHARD_POWER_GPU_CONTROL_H

/* KEYs "gpu_control.<field>" of a chip. X(field, unit, lowest, highest, meaning) */
/* clang-format off */
#define GPU_CONTROL_FIELDS(X) \
    X(die_target_c, "degC", 30, 150, "hottest part of the GPU that the fast controller holds") \
    X(die_kp, "%/K", 0, 1000, "its proportional gain") \
    X(die_ki, "%/(K s)", 0, 100000, "its integral gain") \
    X(power_filter_ms, "ms", 0.1, 100000, "time constant of the average power that a limit is held by") \
    X(power_kp, "%/W", 0, 1000, "proportional gain on that power") \
    X(power_ki, "%/(W s)", 0, 100000, "integral gain on it") \
    X(min_duty, "1", 0.01, 1, "least share of the time that the GPU works at its lowest operating point")
/* clang-format on */

struct gpu_control_params {
#define X(field, unit, lowest, highest, meaning) double field;
    GPU_CONTROL_FIELDS(X)
#undef X
};

struct gpu_control {
    struct gpu_control_params params;
    double die_integral, power_integral; /* share of the range that they take, 0 to 2 - min_duty */
    double filtered_w;
};

void gpu_control_init(struct gpu_control *control, const struct gpu_control_params *params);
/* What of the range is left after so many seconds: from min_duty - 1 to 1. limit_w 0 = none. */
double gpu_control_step(struct gpu_control *control, double seconds, double die_c, double watts, double limit_w);

#endif
