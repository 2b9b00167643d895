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

static void read_material(const struct json_node *thermal, const char *name, struct thermal_material *m)
{
    const struct json_node o = json_get_object(thermal, name);
    KNOWN(&o, "thickness_m", "conductivity_w_per_mk", "capacity_j_per_m3k");
    m->thickness_m = json_get_number(&o, "thickness_m", JSON_FINITE);
    m->conductivity_w_per_mk = json_get_number(&o, "conductivity_w_per_mk", JSON_FINITE);
    m->capacity_j_per_m3k = json_get_number(&o, "capacity_j_per_m3k", JSON_FINITE);
}

static void read_stages(const struct json_node *thermal, struct thermal_device *d)
{
    const struct json_node list = json_get_array(thermal, "stages", 1, THERMAL_STAGES);
    struct json_node o;
    for (struct json_walk walk = {.of = &list}; json_next(&walk, &o);) {
        struct thermal_stage *const s = &d->stage[d->stages++];
        KNOWN(&o, "name", "j_per_k", "k_per_w");
        json_get_text(&o, "name", s->name, sizeof s->name);
        s->j_per_k = json_get_number(&o, "j_per_k", JSON_FINITE);
        s->k_per_w = json_get_number(&o, "k_per_w", JSON_FINITE);
    }
}

static void read_fan(const struct json_node *thermal, struct thermal_device *d)
{
    struct json_node o;
    if (!json_has(thermal, "fan"))
        return;
    const struct json_node list = json_get_array(thermal, "fan", 2, THERMAL_FAN_POINTS);
    for (struct json_walk walk = {.of = &list}; json_next(&walk, &o);) {
        struct thermal_fan_point *const p = &d->fan[d->fan_points++];
        KNOWN(&o, "rpm", "k_per_w");
        p->rpm = json_get_number(&o, "rpm", JSON_FINITE);
        p->k_per_w = json_get_number(&o, "k_per_w", JSON_FINITE);
    }
    d->fan_start_c = json_get_number(thermal, "fan_start_c", JSON_FINITE);
    d->fan_full_c = json_get_number(thermal, "fan_full_c", JSON_FINITE);
}

static void read_thermal(const struct json_node *top, struct device *device)
{
    const struct json_node o = json_get_object(top, "thermal");
    struct thermal_device *const d = &device->thermal;
    KNOWN(&o, "kind", "source", "note", "chip", "interface", "spreader", "spreader_side_m", "contact_k_per_w", "stages", "fan",
          "fan_start_c", "fan_full_c", "idle_rise_k");
    json_get_text(&o, "kind", device->thermal_kind, sizeof device->thermal_kind);
    json_get_text(&o, "source", device->thermal_source, sizeof device->thermal_source);
    read_material(&o, "chip", &d->chip);
    read_material(&o, "interface", &d->interface);
    read_material(&o, "spreader", &d->spreader);
    d->spreader_side_m = json_get_number(&o, "spreader_side_m", JSON_FINITE);
    d->contact_k_per_w = json_get_number(&o, "contact_k_per_w", JSON_FINITE);
    read_stages(&o, d);
    read_fan(&o, d);
    device->idle_rise_k = json_find_number(&o, "idle_rise_k", 0, 40, 0);
}

static void read_governor(const struct json_node *top, struct device *device)
{
    const struct json_node o = json_get_object(top, "governor");
#define X(field, unit, lowest, highest, meaning) #field,
    KNOWN(&o, GOVERNOR_FIELDS(X) "kind", "source", "note");
#undef X
    json_get_text(&o, "kind", device->governor_kind, sizeof device->governor_kind);
    json_get_text(&o, "source", device->governor_source, sizeof device->governor_source);
#define X(field, unit, lowest, highest, meaning) device->governor.field = json_get_number(&o, #field, lowest, highest);
    GOVERNOR_FIELDS(X)
#undef X
}

static void read_battery(const struct json_node *top, struct device *device)
{
    const struct json_node o = json_get_object(top, "battery");
    struct battery_params *const b = &device->battery;
    KNOWN(&o, "kind", "source", "note", "capacity_wh", "efficiency", "adapter_w", "adapter_efficiency", "floor_w");
    json_get_text(&o, "kind", device->battery_kind, sizeof device->battery_kind);
    json_get_text(&o, "source", device->battery_source, sizeof device->battery_source);
    b->capacity_wh = json_get_number(&o, "capacity_wh", 0, 1000);
    b->efficiency = json_get_number(&o, "efficiency", 0.1, 1);
    b->adapter_w = json_get_number(&o, "adapter_w", 1, 5000);
    b->adapter_efficiency = json_get_number(&o, "adapter_efficiency", 0.1, 1);
    b->floor_w = json_get_number(&o, "floor_w", 0, 1000);
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
