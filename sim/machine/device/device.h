/* Machines: the housing, cooling, battery and power supply around a chip. One JSON file each in sim/devices/; a name such as
 * "macbook-air" may be shared by several, of which one has the chip.
 */
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
    uint64_t hash; /* of the file's text: decides answers */
    char alias[DEVICE_ALIASES][40];
    unsigned aliases;
    char chip[DEVICE_CHIPS][40]; /* ids of the chip database */
    unsigned chips;
    double ambient_c;   /* when nothing else is said */
    double idle_rise_k; /* die and housing above the room before any load: a machine that is on; 0 = not known */
    struct thermal_device thermal;
    struct governor_params governor;
    struct battery_params battery;
    /* Origin of each group of values: kind ("measured", "inferred", "guess") and source. */
    char thermal_kind[24], governor_kind[24], battery_kind[24];
    char thermal_source[400], governor_source[400], battery_source[400];
};

struct device_list {
    struct device *device; /* owned, in order of the file names */
    size_t count;
};

/* Every machine. folder NULL: beside the chips. Free with device_list_free. */
bool device_list_load(const char *folder, struct device_list *list, struct orch_error *error);
void device_list_free(struct device_list *list);
/* The machine of that name that has the chip. ORCH_USAGE when no machine has the name (with the nearest one), or none of that
 * name the chip (with those that have it). */
const struct device *device_find(const struct device_list *list, const char *name, const char *chip_id, struct orch_error *error);
/* One file's text, for tests and fuzzing. */
bool device_parse(const char *stem, const char *text, size_t size, struct device *device, struct orch_error *error);

#endif
