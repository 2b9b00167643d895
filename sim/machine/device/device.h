/* Machines: the housing, cooling, battery and power supply around a chip, one JSON file each in sim/devices/. Several machines
 * may share a name such as "macbook-air" when each has another chip. */
#ifndef ORCHARD_SIM_MACHINE_DEVICE_DEVICE_H
#define ORCHARD_SIM_MACHINE_DEVICE_DEVICE_H

#include "power/battery.h"
#include "power/governor.h"
#include "power/thermal_device.h"
#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DEVICE_ALIASES = 4, DEVICE_CHIPS = 12 };

struct device {
    char id[40], name[64];
    uint64_t hash; /* hash of the file's text, which decides answers */
    char alias[DEVICE_ALIASES][40];
    unsigned aliases;
    char chip[DEVICE_CHIPS][40]; /* ids of the chip database */
    unsigned chips;
    double ambient_c;   /* used when a run gives no ambient temperature */
    double idle_rise_k; /* rise of die and housing above the room when the machine is on without load; 0 = not known */
    struct thermal_device thermal;
    struct governor_params governor;
    struct battery_params battery;
    /* Origin of each group of values: kind ("measured", "inferred", "guess") and source. */
    char thermal_kind[24], governor_kind[24], battery_kind[24];
    char thermal_source[400], governor_source[400], battery_source[400];
};

struct device_list {
    struct device *device; /* owned, sorted by id */
    size_t count;
};

/* Loads every machine; folder NULL means the folder beside the chips. Free with device_list_free. */
bool device_list_load(const char *folder, struct device_list *list, struct orch_error *error);
void device_list_free(struct device_list *list);
/* Finds the machine with that name and that chip. ORCH_USAGE when no machine has the name (with the nearest one), or when none of
 * that name has the chip (with the machines that do). */
const struct device *device_find(const struct device_list *list, const char *name, const char *chip_id, struct orch_error *error);
/* Parses the text of one file; also for tests. */
bool device_parse(const char *stem, const char *text, size_t size, struct device *device, struct orch_error *error);

#endif
