/* The verb run with the option device: a workload in a machine. */
#ifndef ORCHARD_SIM_API_VERB_RUN_DEVICE_H
#define ORCHARD_SIM_API_VERB_RUN_DEVICE_H

#include "sim/api/api.h"
#include "sim/api/record.h"
#include "sim/db/db.h"
#include "sim/scenario/run_sustained.h"

struct json_object;

/* Names of all policies, and of those that start work at fixed times, each behind ", ". */
#define VERB_RUN_POLICY(enumerator, name, ...)                            ", " name
#define VERB_RUN_TIMED_POLICY(enumerator, name, clock, asked, kind, text) VERB_RUN_NAME_IF_##kind(name)
#define VERB_RUN_NAME_IF_PLAIN(name)
#define VERB_RUN_NAME_IF_FREE(name)
#define VERB_RUN_NAME_IF_TIMED(name) ", " name

/* The options of the verb run that need a machine, for its table. */
#define VERB_RUN_DEVICE_OPTIONS                                                                                                  \
    {"device", 0, "NAME", false,                                                                                                 \
     "machine around the chip: macbook-air, macbook-pro-13, macbook-pro-14, macbook-pro-16, mac-mini, mac-studio"},              \
        {"duration", 0, "SECONDS", false, "repeat the workload for so long (with --device)"},                                    \
        {"ambient", 0, "C", false, "temperature of the room (default: 23)"},                                                     \
        {"policy", 0, "NAME", false,                                                                                             \
         &(GOVERNOR_POLICIES(                                                                                                    \
             VERB_RUN_POLICY) " (default: performance); networks on auto: cost (default), energy, edp, power:WATTS, "            \
                              "thermal (in a machine), list, split[:SHARE], predictive, size[:SMALL:LARGE], memory, class, or "  \
                              "all of these")[2]},                                                                               \
        {"power-mode", 0, "MODE", false, "high, balanced (default), low, or auto: low when the battery is nearly empty"},        \
        {"steer", 0, "WHEN", false, "CPU work moves to the E cores: never (default), hot, low-power (mode) or always"},          \
        {"steer-to", 0, "UNIT", false, "the work, on whichever unit, moves there instead, when it is hot unless --steer says"},  \
        {"power-cap", 0, "W", false, "most power of chip and memory"},                                                           \
        {"target", 0, "SECONDS", false,                                                                                          \
         &(GOVERNOR_POLICIES(VERB_RUN_TIMED_POLICY) ": time between two repetitions under these policies")[2]},                  \
    {                                                                                                                            \
        "battery", 0, "PERCENT", false, "run from the battery, so full at the start"                                             \
    }

/* Whether one of them is given. */
bool verb_run_wants_device(const struct api_context *context);
/* Simulates and records on one chip; prints the text and adds the document to `rows`. */
bool verb_run_in_device(const struct api_record *record, const struct run_request *request, uint64_t number,
                        struct json_object *rows, struct orch_error *error);

#endif
