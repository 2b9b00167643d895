/* A run in a machine: the workload repeats for some time, with heat, clocks, power limits and battery. */
#ifndef ORCHARD_SIM_SCENARIO_RUN_SUSTAINED_H
#define ORCHARD_SIM_SCENARIO_RUN_SUSTAINED_H

#include "sim/run/run.h"
#include "sim/scenario/together.h"
#include "sim/machine/sustain/sustain.h"

/* Counters of language models. Joules of a token are all that the chip took, prompts included. */
#define DEVICE_TOKENS       "device.tokens"
#define DEVICE_TOKEN_JOULES "device.joules_per_token"
#define DEVICE_TOKENS_COOL  "device.tokens_per_second_cool"

struct run_sustained_request {
    struct run_request run;
    const struct together_part *part; /* workloads at the same time; `run` has what they have in common. NULL = only `run` */
    unsigned parts;
    const char *text; /* the whole of what was asked for */
    const struct chip_db *db;
    struct chip_overrides overrides; /* with which run.chip was opened */
    const char *device;              /* name of the machine */
    const struct device *machine;    /* the machine of that name */
    double duration_s;               /* 0 = run.repeat times */
    double ambient_c;                /* NAN = the machine's */
    enum governor_policy policy;
    bool low_power;
    bool low_power_auto;            /* on battery below the machine's low_battery_percent */
    enum sustain_steering steering; /* CPU programs and kernels that fit the E cores may move there, */
    const char *steer_unit;         /* or any workload to this unit; NULL = the E cores */
    double power_cap_w, target_s;   /* 0 = none */
    double battery_percent;         /* NAN = on the adapter */
};

/* One of the workloads, after execution. */
struct run_sustained_part {
    const char *workload, *unit;
    double repetitions;
    double seconds, seconds_alone; /* of a repetition: the mean; alone, at the clocks of a cool machine */
    double slowdown;         /* seconds / seconds_alone, from falling clocks, from sharing, and from waiting for its start */
    double sharing_slowdown; /* the factor of it that comes from sharing */
    double dram_gbps;
};

struct run_sustained;
/* Prepares the workload, and a begin event with everything that decides the answer. NULL with *error. */
struct run_sustained *run_sustained_prepare(const struct run_sustained_request *request, struct orch_error *error);
void run_sustained_free(struct run_sustained *run);
/* Simulates, and emits run_begin, samples and run_end. *result must be initialised; free *series with sustain_result_free. */
bool run_sustained_execute(struct run_sustained *run, struct event_bus *bus, uint64_t number, struct run_result *result,
                           struct sustain_result *series, struct orch_error *error);

/* The policy of networks, among those by time, by joules times time and by joules, that is done with the workload most often in
 * the time of the request: a plan that is the fastest while the machine is cool may be the one whose clocks fall. */
struct run_sustained_choice {
    const char *policy;
    double repetitions, by_time; /* of it, of the policy by time */
};
bool run_sustained_policy(const struct run_sustained_request *request, struct run_sustained_choice *choice,
                          struct orch_error *error);

/* How fast the only workload was during a sample, as a share of its speed at the clocks of a cool machine. */
double run_sustained_pace(const struct run_sustained *run, const struct sustain_sample *sample);

unsigned run_sustained_parts(const struct run_sustained *run);
struct run_sustained_part run_sustained_part(const struct run_sustained *run, const struct sustain_result *series,
                                             unsigned number);

#endif
