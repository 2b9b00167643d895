#include "isa/array_count.h"
#include "sim/chip/chip_internal.h"
#include "sim/base/suggest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool chip_kind_from_name(const char *name, enum chip_kind *kind)
{
    for (int i = 0; i < CHIP_KIND_COUNT; i++) {
        if (strcmp(chip_kind_name((enum chip_kind)i), name) == 0) {
            *kind = (enum chip_kind)i;
            return true;
        }
    }
    return false;
}

void chip_slot_clear(struct chip_slot *slot)
{
    if (!slot->shared) {
        json_object_put(slot->object);
        free(slot->json);
        free(slot->source);
        free(slot->note);
        free(slot->origin);
        free(slot->list);
    }
    *slot = (struct chip_slot){0};
}

static bool number_of(json_object *object, double *number)
{
    if (!json_object_is_type(object, json_type_int) && !json_object_is_type(object, json_type_double))
        return false;
    *number = json_object_get_double(object);
    return isfinite(*number);
}

static bool check_number(const struct chip_key *key, json_object *object, double *number, struct orch_error *error)
{
    if (!number_of(object, number))
        return orch_fail(error, ORCH_USAGE, "%s: expected a number", key->name);
    if (key->type == CHIP_INT && *number != floor(*number))
        return orch_fail(error, ORCH_USAGE, "%s: expected a whole number, got %g", key->name, *number);
    if (*number < key->lowest || *number > key->highest)
        return orch_fail(error, ORCH_USAGE, "%s: %g is outside %g..%g%s%s", key->name, *number, key->lowest, key->highest,
                         key->unit[0] ? " " : "", key->unit);
    return true;
}

/* Checks the entries of an object: numbers in range, or null for "not found". */
static bool check_entries(const struct chip_key *key, json_object *object, struct orch_error *error)
{
    if (!json_object_is_type(object, json_type_object) || json_object_object_length(object) == 0)
        return orch_fail(error, ORCH_USAGE, "%s: expected {\"name\": number, ...}", key->name);
    json_object_object_foreach(object, name, entry)
    {
        double unused;
        if (entry && !check_number(key, entry, &unused, error))
            return orch_fail_in(error, "entry \"%.40s\"", name);
    }
    return true;
}

static bool set_list(struct chip_slot *slot, const struct chip_key *key, json_object *array, struct orch_error *error)
{
    const size_t count = json_object_array_length(array);
    if (count == 0 || count > 4096)
        return orch_fail(error, ORCH_USAGE, "%s: expected a list of 1 to 4096 numbers", key->name);
    slot->list = calloc(count, sizeof *slot->list);
    if (!slot->list)
        return orch_no_memory(error);
    for (size_t i = 0; i < count; i++)
        if (!check_number(key, json_object_array_get_idx(array, i), &slot->list[i], error))
            return false;
    slot->value.count = count;
    return true;
}

static bool set_table(struct chip_slot *slot, const struct chip_key *key, json_object *array, struct orch_error *error)
{
    if (!json_object_is_type(array, json_type_array) || json_object_array_length(array) == 0)
        return orch_fail(error, ORCH_USAGE, "%s: expected a list of {\"name\": number, ...}", key->name);
    for (size_t i = 0; i < json_object_array_length(array); i++)
        if (!check_entries(key, json_object_array_get_idx(array, i), error))
            return orch_fail_in(error, "row %zu", i + 1);
    slot->value.count = json_object_array_length(array);
    return true;
}

static bool set_cores(struct chip_slot *slot, const struct chip_key *key, json_object *value, struct orch_error *error)
{
    if (json_object_is_type(value, json_type_array)) {
        if (!set_list(slot, key, value, error))
            return false;
    } else {
        slot->list = calloc(1, sizeof *slot->list);
        if (!slot->list)
            return orch_no_memory(error);
        if (!check_number(key, value, &slot->list[0], error))
            return false;
        slot->value.count = 1;
    }
    slot->value.number = slot->list[0];
    return true;
}

static bool set_typed(struct chip_slot *slot, const struct chip_key *key, json_object *value, struct orch_error *error)
{
    switch (key->type) {
    case CHIP_INT:
    case CHIP_REAL: return check_number(key, value, &slot->value.number, error);
    case CHIP_TEXT:
        if (!json_object_is_type(value, json_type_string) || json_object_get_string_len(value) == 0)
            return orch_fail(error, ORCH_USAGE, "%s: expected a text", key->name);
        return true;
    case CHIP_LIST:
        if (!json_object_is_type(value, json_type_array))
            return orch_fail(error, ORCH_USAGE, "%s: expected a list of numbers", key->name);
        return set_list(slot, key, value, error);
    case CHIP_MAP:
        slot->value.count = json_object_is_type(value, json_type_object) ? (size_t)json_object_object_length(value) : 0;
        return check_entries(key, value, error);
    case CHIP_TABLE: return set_table(slot, key, value, error);
    case CHIP_CORES: return set_cores(slot, key, value, error);
    }
    return orch_fail(error, ORCH_INTERNAL, "%s: key without a type", key->name);
}

/* The upper 52 bits of FNV-1a64 over the bytes, which a double holds exactly. */
static double mark_bytes(const void *bytes, size_t count)
{
    const uint8_t *p = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return (double)(hash >> 12);
}

/* A clock given as one number and as a list of one number is the same clock. */
static double mark_of(const struct chip_slot *slot, const struct chip_key *key)
{
    if (slot->list && slot->value.count != 1)
        return mark_bytes(slot->list, slot->value.count * sizeof *slot->list);
    if (slot->list)
        return slot->list[0];
    return (key->type == CHIP_INT || key->type == CHIP_REAL) && slot->value.known ? slot->value.number
                                                                                  : mark_bytes(slot->json, strlen(slot->json));
}

bool chip_slot_set(struct chip_slot *slot, const struct chip_key *key, json_object *value, struct orch_error *error)
{
    chip_slot_clear(slot);
    slot->value.key = key;
    slot->object = value;
    if (value && !set_typed(slot, key, value, error))
        return false;
    const char *json = !value                   ? "null"
                       : key->type == CHIP_TEXT ? json_object_get_string(value)
                                                : json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
    slot->json = strdup(json ? json : "null");
    slot->value.json = slot->json;
    slot->value.list = slot->list;
    slot->value.known = value != NULL;
    slot->value.source = "";
    slot->value.origin = "";
    if (!slot->json)
        return orch_no_memory(error);
    slot->mark = mark_of(slot, key);
    return true;
}

static void replace(char **text, const char *with)
{
    char *copy = with ? strdup(with) : NULL;
    free(*text);
    *text = copy;
}

void chip_slot_describe(struct chip_slot *slot, enum chip_kind kind, double uncertainty, const char *source, const char *note,
                        const char *origin)
{
    replace(&slot->source, source);
    replace(&slot->note, note);
    replace(&slot->origin, origin);
    slot->value.kind = kind;
    slot->value.uncertainty = uncertainty;
    slot->value.source = slot->source ? slot->source : "";
    slot->value.note = slot->note;
    slot->value.origin = slot->origin ? slot->origin : "";
}

/* The value in a file, and what stands beside it. */
struct annotations {
    const char *unit, *kind, *source, *note;
    double uncertainty; /* negative: not stated */
    json_object *value;
    bool has_value;
};

static bool read_annotation(const char *name, json_object *object, struct annotations *a)
{
    const struct {
        const char *name;
        const char **text;
    } texts[] = {{"unit", &a->unit}, {"kind", &a->kind}, {"source", &a->source}, {"note", &a->note}};
    if (strcmp(name, "value") == 0) {
        a->value = object;
        a->has_value = true;
        return true;
    }
    if (strcmp(name, "uncertainty") == 0)
        return number_of(object, &a->uncertainty) && a->uncertainty >= 0 && a->uncertainty <= 10;
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].text = json_object_is_type(object, json_type_string) ? json_object_get_string(object) : NULL;
            return *texts[i].text != NULL;
        }
    }
    return false;
}

static bool read_annotations(const struct chip_key *key, json_object *object, struct annotations *a, enum chip_kind *kind,
                             struct orch_error *error)
{
    *a = (struct annotations){.uncertainty = -1};
    json_object_object_foreach(object, name, entry)
    {
        if (!read_annotation(name, entry, a))
            return orch_fail(error, ORCH_USAGE,
                             "%s: \"%.40s\" is none of value, unit, kind, source, note (texts), uncertainty (0..10)", key->name,
                             name);
    }
    if (!a->has_value || !a->unit || !a->kind || !a->source || !a->source[0])
        return orch_fail(error, ORCH_USAGE, "%s: value, unit, kind and source must be given", key->name);
    if (strcmp(a->unit, key->unit) != 0)
        return orch_fail(error, ORCH_USAGE, "%s: unit is \"%s\", not \"%.40s\"", key->name, key->unit, a->unit);
    if (!chip_kind_from_name(a->kind, kind))
        return orch_fail(error, ORCH_USAGE,
                         "%s: kind \"%.40s\" is none of vendor-spec, measured, reverse-engineered, inferred, guess", key->name,
                         a->kind);
    return true;
}

static char *joined(const char *a, const char *b)
{
    if (!a || !b)
        return strdup(a ? a : b ? b : "");
    char *text = malloc(strlen(a) + strlen(b) + 3);
    if (text)
        strcat(strcat(strcpy(text, a), "; "), b);
    return text;
}

bool chip_slot_parse(struct chip_slot *slot, const struct chip_key *key, const struct chip_found *found, struct orch_error *error)
{
    struct annotations a;
    enum chip_kind kind = CHIP_GUESS;
    if (!read_annotations(key, found->object, &a, &kind, error) || !chip_slot_set(slot, key, json_object_get(a.value), error))
        return orch_fail_in(error, "%s.json", found->stem);
    /* A value that is taken over from a relative is less sure than it was there. */
    const bool weaker = found->kind > (int)kind && key->type != CHIP_TEXT;
    if (weaker)
        kind = (enum chip_kind)found->kind;
    const double stated = weaker ? fmax(a.uncertainty, chip_kind_uncertainty(kind, key->type)) : a.uncertainty;
    const double uncertainty = stated >= 0 ? stated : chip_kind_uncertainty(kind, key->type);
    char *note = a.note || weaker ? joined(a.note, weaker ? found->note : NULL) : NULL;
    chip_slot_describe(slot, kind, slot->value.known ? uncertainty : 0, a.source, note, found->stem);
    free(note);
    return true;
}
