/* The GPU's own controller of its clock, with the gains that device trees record (AsahiLinux t8103.dtsi, t8112.dtsi: gpu node).
 *
 * Device trees have names and numbers, but neither units nor the law. We assume that gains are percent of the controlled range
 * per unit of error (kelvin of the die above its target, watts above the limit), and integral gains that per second. The range
 * goes from the highest operating point (100 %) to the lowest (0) and on to working only part of the time at the lowest. With
 * these units both loops are well damped on the machines of this project, which supports them; nothing published confirms them.
 */
#ifndef ORCHARD_POWER_GPU_CONTROL_H
#define ORCHARD_POWER_GPU_CONTROL_H

/* The KEYs "gpu_control.<field>" of a chip: X(field, unit, lowest, highest, meaning). */
/* clang-format off */
#define GPU_CONTROL_FIELDS(X) \
    X(die_target_c, "degC", 30, 150, "hottest part of the GPU that the fast controller holds") \
    X(die_kp, "%/K", 0, 1000, "its proportional gain") \
    X(die_ki, "%/(K s)", 0, 100000, "its integral gain") \
    X(power_filter_ms, "ms", 0.1, 100000, "time constant of the average power that a limit is held by") \
    X(power_kp, "%/W", 0, 1000, "proportional gain on that power") \
    X(power_ki, "%/(W s)", 0, 100000, "integral gain on it") \
    X(min_duty, "1", 0.01, 1, "least share of the time that the GPU works at its lowest operating point") \
    X(use_period_ms, "ms", 0.1, 1000, "time between two decisions on the clock by how busy the GPU was") \
    X(use_first_ms, "ms", 0, 1000, "from waking up to the first of them") \
    X(use_target, "%", 1, 100, "share of the time that the GPU is to be busy: above it the clock rises, below it falls") \
    X(use_kp, "%/%", 0, 1000, "proportional gain on that share: of the range from the base clock to the highest") \
    X(use_ki, "%/%", 0, 1000, "integral gain on it, a decision") \
    X(base_state, "states", 1, 64, "operating point, counted from 1, at which the GPU wakes up and below which it is not busy") \
    X(off_ms, "ms", 0, 1000, "idle for so long, the GPU switches itself off")
/* clang-format on */

struct gpu_control_params {
#define X(field, unit, lowest, highest, meaning) double field;
    GPU_CONTROL_FIELDS(X)
#undef X
};

struct gpu_control {
    struct gpu_control_params params;
    double die_integral, power_integral; /* shares of the range that the integral parts take, 0 to 2 - min_duty */
    double filtered_w;
};

void gpu_control_init(struct gpu_control *control, const struct gpu_control_params *params);
/* Advances by `seconds` and returns what is left of the range, from min_duty - 1 to 1. limit_w = 0 means no limit. */
double gpu_control_step(struct gpu_control *control, double seconds, double die_c, double watts, double limit_w);

#endif
