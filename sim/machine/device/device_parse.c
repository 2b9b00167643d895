#include "isa/array_count.h"
#include "sim/base/checksum.h"
#include "sim/base/suggest.h"
#include "sim/machine/device/device.h"
#include "sim/base/json_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Reads members of one object; the first that is missing, unknown or of the wrong kind ends it. */
struct reader {
    const char *stem;
    struct orch_error *error;
    bool ok;
};

static json_object *get(struct reader *r, json_object *object, const char *name, json_type type)
{
    json_object *value = NULL;

    if (!r->ok)
        return NULL;
    if (!json_object_object_get_ex(object, name, &value) ||
        !(json_object_is_type(value, type) || (type == json_type_double && json_object_is_type(value, json_type_int)))) {
        r->ok = orch_fail(r->error, ORCH_USAGE, "%s.json: \"%s\" must be %s", r->stem, name,
                          type == json_type_object   ? "an object"
                          : type == json_type_array  ? "a list"
                          : type == json_type_string ? "a text"
                                                     : "a number");
        return NULL;
    }
    return value;
}

static double number(struct reader *r, json_object *object, const char *name)
{
    json_object *const value = get(r, object, name, json_type_double);
    const double x = value ? json_object_get_double(value) : 0;

    if (r->ok && !isfinite(x))
        r->ok = orch_fail(r->error, ORCH_USAGE, "%s.json: \"%s\" is not finite", r->stem, name);
    return x;
}

static void text(struct reader *r, json_object *object, const char *name, char *to, size_t size)
{
    json_object *const value = get(r, object, name, json_type_string);

    if (value && snprintf(to, size, "%s", json_object_get_string(value)) >= (int)size)
        r->ok = orch_fail(r->error, ORCH_USAGE, "%s.json: \"%s\" is longer than %zu letters", r->stem, name, size - 1);
}

static void known_only(struct reader *r, json_object *object, const char *const *known, size_t count)
{
    if (!r->ok || !object)
        return;
    json_object_object_foreach(object, name, unused)
    {
        struct suggest s;
        char hint[96];
        bool found = false;
        (void)unused;
        suggest_start(&s, name);
        for (size_t i = 0; i < count; i++) {
            found |= strcmp(known[i], name) == 0;
            suggest_offer(&s, known[i]);
        }
        if (!found)
            r->ok = orch_fail(r->error, ORCH_USAGE, "%s.json: unknown member \"%.60s\"%s", r->stem, name,
                              suggest_phrase(&s, hint, sizeof hint));
    }
}

#define KNOWN(r, object, ...)                                                                                                    \
    do {                                                                                                                         \
        static const char *const names[] = {__VA_ARGS__};                                                                        \
        known_only(r, object, names, ARRAY_COUNT(names));                                                                        \
    } while (0)

/* For one row of a list of power/: the name of the field; reading it from the object `o` into the struct `to`. */
#define NAME(field, ...) #field,
#define READ(field, ...) to->field = number(r, o, #field);

static void read_material(struct reader *r, json_object *from, const char *name, struct thermal_material *to)
{
    json_object *const o = get(r, from, name, json_type_object);

    if (!o)
        return;
    KNOWN(r, o, THERMAL_MATERIAL_FIELDS(NAME));
    THERMAL_MATERIAL_FIELDS(READ)
}

static void read_stages(struct reader *r, json_object *thermal, struct thermal_device *d)
{
    json_object *const list = get(r, thermal, "stages", json_type_array);
    const size_t count = list ? json_object_array_length(list) : 0;

    if (r->ok && (count == 0 || count > THERMAL_STAGES))
        r->ok = orch_fail(r->error, ORCH_USAGE, "%s.json: 1 to %d stages are needed", r->stem, THERMAL_STAGES);
    for (size_t i = 0; r->ok && i < count; i++) {
        json_object *const o = json_object_array_get_idx(list, i);
        struct thermal_stage *const to = &d->stage[d->stages++];
        KNOWN(r, o, "name", THERMAL_STAGE_FIELDS(NAME));
        text(r, o, "name", to->name, sizeof to->name);
        THERMAL_STAGE_FIELDS(READ)
    }
}

static void read_fan_points(struct reader *r, json_object *thermal, struct thermal_device *d)
{
    json_object *const list = get(r, thermal, "fan", json_type_array);
    const size_t count = list ? json_object_array_length(list) : 0;

    if (r->ok && (count < 2 || count > THERMAL_FAN_POINTS))
        r->ok = orch_fail(r->error, ORCH_USAGE, "%s.json: a fan has 2 to %d points", r->stem, THERMAL_FAN_POINTS);
    for (size_t i = 0; r->ok && i < count; i++) {
        json_object *const o = json_object_array_get_idx(list, i);
        struct thermal_fan_point *const to = &d->fan[d->fan_points++];
        KNOWN(r, o, THERMAL_FAN_POINT_FIELDS(NAME));
        THERMAL_FAN_POINT_FIELDS(READ)
    }
}

static void read_fan(struct reader *r, json_object *o, struct thermal_device *to)
{
    if (!r->ok || !json_object_object_get_ex(o, "fan", NULL))
        return;
    read_fan_points(r, o, to);
    THERMAL_FAN_FIELDS(READ)
}

static void read_thermal(struct reader *r, json_object *root, struct device *device)
{
    json_object *const o = get(r, root, "thermal", json_type_object);
    struct thermal_device *const to = &device->thermal;

    if (!o)
        return;
    KNOWN(r, o, "kind", "source", "note", "chip", "interface", "spreader", THERMAL_DEVICE_FIELDS(NAME) "stages", "fan",
          THERMAL_FAN_FIELDS(NAME) "idle_rise_k");
    text(r, o, "kind", device->thermal_kind, sizeof device->thermal_kind);
    text(r, o, "source", device->thermal_source, sizeof device->thermal_source);
    read_material(r, o, "chip", &to->chip);
    read_material(r, o, "interface", &to->interface);
    read_material(r, o, "spreader", &to->spreader);
    THERMAL_DEVICE_FIELDS(READ)
    read_stages(r, o, to);
    read_fan(r, o, to);
    if (r->ok && json_object_object_get_ex(o, "idle_rise_k", NULL))
        device->idle_rise_k = number(r, o, "idle_rise_k");
}

static void in_range(struct reader *r, const char *name, double value, double lowest, double highest)
{
    if (r->ok && !(value >= lowest && value <= highest))
        r->ok = orch_fail(r->error, ORCH_USAGE, "%s.json: \"%s\" must be from %g to %g", r->stem, name, lowest, highest);
}

static void read_governor(struct reader *r, json_object *root, struct device *device)
{
    json_object *const o = get(r, root, "governor", json_type_object);
    struct governor_params *const to = &device->governor;

    if (!o)
        return;
    KNOWN(r, o, GOVERNOR_FIELDS(NAME) "kind", "source", "note");
    text(r, o, "kind", device->governor_kind, sizeof device->governor_kind);
    text(r, o, "source", device->governor_source, sizeof device->governor_source);
#define X(field, unit, lowest, highest, meaning)                                                                                 \
    READ(field)                                                                                                                  \
    in_range(r, #field, to->field, lowest, highest);
    GOVERNOR_FIELDS(X)
#undef X
}

static void read_battery(struct reader *r, json_object *root, struct device *device)
{
    json_object *const o = get(r, root, "battery", json_type_object);
    struct battery_params *const to = &device->battery;

    if (!o)
        return;
    KNOWN(r, o, "kind", "source", "note", BATTERY_FIELDS(NAME));
    text(r, o, "kind", device->battery_kind, sizeof device->battery_kind);
    text(r, o, "source", device->battery_source, sizeof device->battery_source);
    BATTERY_FIELDS(READ)
#define X(field, unit, lowest, highest, meaning) in_range(r, #field, to->field, lowest, highest);
    BATTERY_FIELDS(X)
#undef X
}

static unsigned read_names(struct reader *r, json_object *root, const char *name, char (*to)[40], unsigned room)
{
    json_object *const list = get(r, root, name, json_type_array);
    const size_t count = list ? json_object_array_length(list) : 0;

    if (r->ok && count > room)
        r->ok = orch_fail(r->error, ORCH_USAGE, "%s.json: \"%s\" lists at most %u names", r->stem, name, room);
    for (size_t i = 0; r->ok && i < count; i++) {
        json_object *const o = json_object_array_get_idx(list, i);
        if (!json_object_is_type(o, json_type_string) || snprintf(to[i], 40, "%s", json_object_get_string(o)) >= 40)
            r->ok = orch_fail(r->error, ORCH_USAGE, "%s.json: \"%s\" lists names of at most 39 letters", r->stem, name);
    }
    return (unsigned)count;
}

bool device_parse(const char *stem, const char *source, size_t size, struct device *device, struct orch_error *error)
{
    struct reader r = {stem, error, true};
    json_object *const root = json_text_parse(stem, source, size, error);

    memset(device, 0, sizeof *device);
    device->hash = checksum_add(CHECKSUM_START, source, size);
    if (!root)
        return false;
    KNOWN(&r, root, "device", "aliases", "name", "chips", "ambient_c", "thermal", "governor", "battery", "about");
    text(&r, root, "device", device->id, sizeof device->id);
    text(&r, root, "name", device->name, sizeof device->name);
    device->aliases = read_names(&r, root, "aliases", device->alias, DEVICE_ALIASES);
    device->chips = read_names(&r, root, "chips", device->chip, DEVICE_CHIPS);
    device->ambient_c = number(&r, root, "ambient_c");
    in_range(&r, "ambient_c", device->ambient_c, -50, 80);
    read_thermal(&r, root, device);
    in_range(&r, "idle_rise_k", device->idle_rise_k, 0, 40);
    read_governor(&r, root, device);
    read_battery(&r, root, device);
    if (r.ok && strcmp(device->id, stem) != 0)
        r.ok = orch_fail(error, ORCH_USAGE, "%s.json: \"device\" must be the name of the file", stem);
    json_object_put(root);
    return r.ok;
}
