#include "isa/array_count.h"
#include "sim/base/checksum.h"
#include "sim/base/json_read.h"
#include "sim/machine/device/device.h"

#include <stdio.h>
#include <string.h>

#define KNOWN(node, ...)                                                                                                         \
    do {                                                                                                                         \
        static const char *const names[] = {__VA_ARGS__};                                                                        \
        json_known(node, names, ARRAY_COUNT(names));                                                                             \
    } while (0)

/* For one row of a list of power/: the name of the field; reading it from the object `o` into the struct `to`. */
#define NAME(field, ...) #field,
#define READ(field, ...) to->field = json_get_number(&o, #field, JSON_FINITE);
/* The same for a list whose rows give the range of the value. */
#define READ_IN_RANGE(field, unit, lowest, highest, meaning) to->field = json_get_number(&o, #field, lowest, highest);

static void read_material(const struct json_node *thermal, const char *name, struct thermal_material *to)
{
    const struct json_node o = json_get_object(thermal, name);
    KNOWN(&o, THERMAL_MATERIAL_FIELDS(NAME));
    THERMAL_MATERIAL_FIELDS(READ)
}

static void read_stages(const struct json_node *thermal, struct thermal_device *d)
{
    const struct json_node list = json_get_array(thermal, "stages", 1, THERMAL_STAGES);
    struct json_node o;
    for (struct json_walk walk = {.of = &list}; json_next(&walk, &o);) {
        struct thermal_stage *const to = &d->stage[d->stages++];
        KNOWN(&o, "name", THERMAL_STAGE_FIELDS(NAME));
        json_get_text(&o, "name", to->name, sizeof to->name);
        THERMAL_STAGE_FIELDS(READ)
    }
}

static void read_fan_points(const struct json_node *thermal, struct thermal_device *d)
{
    const struct json_node list = json_get_array(thermal, "fan", 2, THERMAL_FAN_POINTS);
    struct json_node o;
    for (struct json_walk walk = {.of = &list}; json_next(&walk, &o);) {
        struct thermal_fan_point *const to = &d->fan[d->fan_points++];
        KNOWN(&o, THERMAL_FAN_POINT_FIELDS(NAME));
        THERMAL_FAN_POINT_FIELDS(READ)
    }
}

static void read_thermal(const struct json_node *top, struct device *device)
{
    const struct json_node o = json_get_object(top, "thermal");
    struct thermal_device *const to = &device->thermal;
    KNOWN(&o, "kind", "source", "note", "chip", "interface", "spreader", THERMAL_DEVICE_FIELDS(NAME) "stages", "fan",
          THERMAL_FAN_FIELDS(NAME) "idle_rise_k");
    json_get_text(&o, "kind", device->thermal_kind, sizeof device->thermal_kind);
    json_get_text(&o, "source", device->thermal_source, sizeof device->thermal_source);
    read_material(&o, "chip", &to->chip);
    read_material(&o, "interface", &to->interface);
    read_material(&o, "spreader", &to->spreader);
    THERMAL_DEVICE_FIELDS(READ)
    read_stages(&o, to);
    if (json_has(&o, "fan")) {
        read_fan_points(&o, to);
        THERMAL_FAN_FIELDS(READ)
    }
    device->idle_rise_k = json_find_number(&o, "idle_rise_k", 0, 40, 0);
}

static void read_governor(const struct json_node *top, struct device *device)
{
    const struct json_node o = json_get_object(top, "governor");
    struct governor_params *const to = &device->governor;
    KNOWN(&o, GOVERNOR_FIELDS(NAME) "kind", "source", "note");
    json_get_text(&o, "kind", device->governor_kind, sizeof device->governor_kind);
    json_get_text(&o, "source", device->governor_source, sizeof device->governor_source);
    GOVERNOR_FIELDS(READ_IN_RANGE)
}

static void read_battery(const struct json_node *top, struct device *device)
{
    const struct json_node o = json_get_object(top, "battery");
    struct battery_params *const to = &device->battery;
    KNOWN(&o, "kind", "source", "note", BATTERY_FIELDS(NAME));
    json_get_text(&o, "kind", device->battery_kind, sizeof device->battery_kind);
    json_get_text(&o, "source", device->battery_source, sizeof device->battery_source);
    BATTERY_FIELDS(READ_IN_RANGE)
}

static unsigned read_names(const struct json_node *top, const char *name, char (*to)[40], unsigned room)
{
    const struct json_node list = json_get_array(top, name, 0, room);
    struct json_node item;
    unsigned count = 0;
    for (struct json_walk walk = {.of = &list}; json_next(&walk, &item); count++)
        json_get_text(&item, NULL, to[count], sizeof to[count]);
    return count;
}

static void read_device(const struct json_node *top, const char *stem, struct device *device)
{
    KNOWN(top, "device", "aliases", "name", "chips", "ambient_c", "thermal", "governor", "battery", "about");
    json_get_text(top, "device", device->id, sizeof device->id);
    json_get_text(top, "name", device->name, sizeof device->name);
    device->aliases = read_names(top, "aliases", device->alias, DEVICE_ALIASES);
    device->chips = read_names(top, "chips", device->chip, DEVICE_CHIPS);
    device->ambient_c = json_get_number(top, "ambient_c", -50, 80);
    read_thermal(top, device);
    read_governor(top, device);
    read_battery(top, device);
    if (strcmp(device->id, stem) != 0)
        json_wrong(top, "device", "must be the name of the file");
}

bool device_parse(const char *stem, const char *source, size_t size, struct device *device, struct orch_error *error)
{
    char file[264];
    struct json_reader r;
    snprintf(file, sizeof file, "%s.json", stem);
    memset(device, 0, sizeof *device);
    device->hash = checksum_add(CHECKSUM_START, source, size);
    if (!json_reader_open(&r, file, source, size, error))
        return false;
    const struct json_node top = json_top(&r);
    read_device(&top, stem, device);
    return json_reader_close(&r);
}
