/* Joules from activity: energy of events, clock trees, leakage and gating, by power domain. There are no watts of workloads and
 * no utilisation here: what a domain burns follows from what was counted, its voltage, its clock and its temperature.
 *
 *     dynamic = sum of events x pJ x (V / V_nominal)^2
 *     clock   = (running slices + idle_fraction x waiting slices) x C V^2 f
 *     leakage = slices x W x (V / V_nominal)^a x exp(b (T - T_reference)), of which a fraction is left when gated
 *
 * A slice is a core of a CPU cluster or GPU, an AMX block, a quarter of the Neural Engine, a controller of SLC or DRAM.
 */
#ifndef ORCHARD_POWER_ENERGY_H
#define ORCHARD_POWER_ENERGY_H

#include "power/activity.h"

/* The domains that have a supply or a meter of their own: X(ENUMERATOR, name, what). */
/* clang-format off */
#define POWER_DOMAIN_TABLE(X) \
    X(P_CPU, p_cpu, "performance cores and their L2") \
    X(E_CPU, e_cpu, "efficiency cores and their L2") \
    X(AMX, amx, "AMX blocks; on the rail of their cluster") \
    X(GPU, gpu, "GPU cores and GPU L2") \
    X(ANE, ane, "Neural Engine") \
    X(SLC, slc, "system-level cache") \
    X(FABRIC, fabric, "interconnect between units, SLC and memory controllers") \
    X(DRAM, dram, "memory chips and their PHY") \
    X(SOC, soc, "always-on rest of the chip")
/* clang-format on */

enum power_domain {
#define X(enumerator, name, text) POWER_##enumerator,
    POWER_DOMAIN_TABLE(X)
#undef X
        POWER_DOMAIN_COUNT
};
const char *power_domain_name(enum power_domain domain); /* "p_cpu" */

/* The parameters of a domain, KEYs "power.<domain>.<field>" of the chip database: X(field, unit, lowest, highest, meaning). */
/* clang-format off */
#define POWER_DOMAIN_FIELDS(X) \
    X(volts, "V", 0.1, 3, "voltage at which the energies and the leakage hold") \
    X(clock_nf, "nF", 0, 1000, "switched capacitance of a running slice beyond its counted events: clock tree, control") \
    X(shared_nf, "nF", 0, 1000, "the same of what runs while any slice does") \
    X(idle_fraction, "1", 0, 1, "share of clock_nf and shared_nf that still switches in a slice that only waits") \
    X(leakage_w, "W", 0, 100, "leakage of a slice at the reference temperature") \
    X(gated_fraction, "1", 0, 1, "share of the leakage that is left behind a closed power gate") \
    X(gate_after_us, "us", 0, 1e9, "idle time after which a slice is gated") \
    X(wake_us, "us", 0, 1e9, "time to open the gate") \
    X(wake_uj, "uJ", 0, 1e9, "energy to open the gate, of a slice")
/* clang-format on */

struct power_domain_params {
#define X(field, unit, lowest, highest, meaning) double field;
    POWER_DOMAIN_FIELDS(X)
#undef X
};

/* Parameters that hold for all domains: KEYs "power.<field>". X(field, unit, lowest, highest, meaning). The exponent and the
 * coefficient of the leakage are a and b of the formula at the top. */
/* clang-format off */
#define POWER_FIELDS(X) \
    X(e_core_energy, "1", 0.01, 1, "an event in an E core over the same event in a P core") \
    X(fabric_pj_per_byte, "pJ/B", 0, 1000, "interconnect, per byte from or to SLC or DRAM") \
    X(leakage_volt_exponent, "1", 0, 10, "leakage grows with this power of the voltage") \
    X(leakage_per_k, "1/K", 0, 0.1, "and exponentially with the temperature") \
    X(leakage_reference_c, "degC", -50, 150, "temperature at which leakage is given")
/* clang-format on */

struct power_params {
    struct power_domain_params domain[POWER_DOMAIN_COUNT];
    double event_pj[ACT_COUNT]; /* KEYs "power.pj.<event>", in the domain that does the work, at its nominal voltage */
#define X(field, unit, lowest, highest, meaning) double field;
    POWER_FIELDS(X)
#undef X
};

/* What a domain did in an interval. */
struct power_use {
    double seconds;       /* length of the interval */
    double running_s;     /* slice-seconds at work */
    double waiting_s;     /* slice-seconds clocked without work */
    double gated_s;       /* slice-seconds behind a closed gate */
    double any_running_s; /* seconds in which at least one slice ran */
    double any_waiting_s; /* seconds in which at least one slice was clocked, but none ran */
    double wakes;         /* gates opened */
    double event_j;       /* energy of its events at nominal voltage */
};
struct power_point {
    double volts, mhz, celsius;
};
struct power_energy {
    double dynamic_j, clock_j, leakage_j, wake_j;
};
double power_energy_sum(const struct power_energy *energy);

/* Adds the events of a reporting unit to event_j, the joules of every domain at nominal voltage. `from` is the domain that
 * reported them, which also pays for the caches of its cluster. SLC, fabric and DRAM pay for their events, and AMX for AMX events
 * that were counted beside CPU events. */
void power_price(const struct power_params *params, const struct activity *activity, enum power_domain from,
                 double event_j[POWER_DOMAIN_COUNT]);
struct power_energy power_interval(const struct power_params *params, enum power_domain domain, const struct power_use *use,
                                   const struct power_point *point);

#endif
