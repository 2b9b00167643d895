#include "isa/array_count.h"
#include "sim/chip/chip_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The kind that a member names. */
enum chip_kind chip_kind_read(const struct json_node *node, const char *name)
{
    const char *names[CHIP_KIND_COUNT];
    for (int i = 0; i < CHIP_KIND_COUNT; i++)
        names[i] = chip_kind_name((enum chip_kind)i);
    return (enum chip_kind)json_get_word(node, name, names, CHIP_KIND_COUNT);
}

void chip_slot_clear(struct chip_slot *slot)
{
    if (!slot->shared) {
        json_object_put(slot->object);
        free(slot->json);
        free(slot->source);
        free(slot->note);
        free(slot->origin);
        free(slot->adopted);
        free(slot->list);
    }
    *slot = (struct chip_slot){0};
}

/* A string that says something; "" when refused. */
static const char *read_text(const struct json_node *node, const char *name)
{
    const char *const text = json_get_string(node, name);
    if (json_ok(node) && !*text)
        json_wrong(node, name, "expected a string that is not empty");
    return text;
}

static double read_number(const struct chip_key *key, const struct json_node *node)
{
    const double number = json_get_number(node, NULL, JSON_FINITE);
    const bool whole = key->type == CHIP_INT;
    if (json_ok(node) && (number < key->lowest || number > key->highest || (whole && number != floor(number))))
        json_wrong(node, NULL, "expected %s from %g to %g%s%s, got %g", whole ? "an integer" : "a number", key->lowest,
                   key->highest, key->unit[0] ? " " : "", key->unit, number);
    return number;
}

/* The entries of an object: numbers in range, or null for "not found". Returns how many there are. */
static size_t read_entries(const struct chip_key *key, const struct json_node *node)
{
    struct json_node entry;
    if (!json_object_is_type(node->value, json_type_object) || json_count(node) == 0)
        return json_wrong(node, NULL, "expected an object {\"name\": number, ...}");
    for (struct json_walk walk = {.of = node}; json_next(&walk, &entry);)
        if (entry.value)
            read_number(key, &entry);
    return json_count(node);
}

static size_t read_table(const struct chip_key *key, const struct json_node *node)
{
    const struct json_node array = json_get_array(node, NULL, 1, SIZE_MAX);
    struct json_node row;
    for (struct json_walk walk = {.of = &array}; json_next(&walk, &row);)
        read_entries(key, &row);
    return json_count(&array);
}

static size_t read_list(const struct chip_key *key, const struct json_node *node, double **list)
{
    const struct json_node array = json_get_array(node, NULL, 1, CHIP_LIST_MAX);
    struct json_node item;
    if (!json_ok(node))
        return 0;
    *list = calloc(json_count(&array), sizeof **list);
    if (!*list)
        return node->reader->ok = orch_no_memory(node->reader->error);
    for (struct json_walk walk = {.of = &array}; json_next(&walk, &item);)
        (*list)[item.index] = read_number(key, &item);
    return json_count(&array);
}

/* One number stands for an array of that number alone. */
static size_t read_cores(const struct chip_key *key, const struct json_node *node, double **list)
{
    if (json_object_is_type(node->value, json_type_array))
        return read_list(key, node, list);
    if (!json_object_is_type(node->value, json_type_int) && !json_object_is_type(node->value, json_type_double))
        return json_wrong(node, NULL, "expected a number, or an array of numbers");
    *list = calloc(1, sizeof **list);
    if (!*list)
        return node->reader->ok = orch_no_memory(node->reader->error);
    (*list)[0] = read_number(key, node);
    return 1;
}

static void read_value(struct chip_slot *slot, const struct chip_key *key, const struct json_node *node)
{
    struct chip_value *const v = &slot->value;
    switch (key->type) {
    case CHIP_INT:
    case CHIP_REAL: v->number = read_number(key, node); break;
    case CHIP_TEXT: read_text(node, NULL); break;
    case CHIP_LIST: v->count = read_list(key, node, &slot->list); break;
    case CHIP_MAP: v->count = read_entries(key, node); break;
    case CHIP_TABLE: v->count = read_table(key, node); break;
    case CHIP_CORES:
        v->count = read_cores(key, node, &slot->list);
        v->number = v->count ? slot->list[0] : 0;
        break;
    }
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

bool chip_slot_set(struct chip_slot *slot, const struct chip_key *key, const struct json_node *node)
{
    json_object *const value = node->value;
    chip_slot_clear(slot);
    slot->value.key = key;
    slot->object = json_object_get(value);
    if (value)
        read_value(slot, key, node);
    if (!json_ok(node))
        return false;
    const char *const json = !value                   ? "null"
                             : key->type == CHIP_TEXT ? json_object_get_string(value)
                                                      : json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
    slot->json = strdup(json ? json : "null");
    slot->value.json = slot->json;
    slot->value.list = slot->list;
    slot->value.known = value != NULL;
    slot->value.source = "";
    slot->value.origin = "";
    if (!slot->json)
        return node->reader->ok = orch_no_memory(node->reader->error);
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
    replace(&slot->adopted, NULL);
    slot->value.adopted = NULL;
}

/* What stands beside a value in a file. */
struct annotations {
    const char *source, *note;
    enum chip_kind kind;
    double uncertainty; /* negative: not stated */
};

static bool read_annotations(const struct chip_key *key, const struct json_node *node, struct annotations *a)
{
    static const char *const known[] = {"value", "unit", "kind", "source", "note", "uncertainty"};
    json_known(node, known, ARRAY_COUNT(known));
    json_require(node, "value", "what nobody has found is null");
    const char *const unit = json_get_string(node, "unit");
    if (json_ok(node) && strcmp(unit, key->unit) != 0)
        json_wrong(node, "unit", "expected \"%s\", got \"%.40s\"", key->unit, unit);
    a->kind = chip_kind_read(node, "kind");
    a->source = read_text(node, "source");
    a->note = json_find_string(node, "note", NULL);
    a->uncertainty = json_find_number(node, "uncertainty", 0, 10, -1);
    return json_ok(node);
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
    char file[CHIP_FILE_NAME_SIZE];
    struct annotations a;
    chip_file_name(found->file, file);
    struct json_reader r = json_reader_of(file, found->file->root, error);
    const struct json_node top = json_top(&r), values = json_member(&top, "values"), node = json_member(&values, key->name),
                           value = json_member(&node, "value");
    if (!read_annotations(key, &node, &a) || !chip_slot_set(slot, key, &value))
        return false;
    /* A value that is taken over from a relative is less sure than it was there. */
    enum chip_kind kind = a.kind;
    const bool weaker = found->kind > (int)kind && key->type != CHIP_TEXT;
    if (weaker)
        kind = (enum chip_kind)found->kind;
    const double stated = weaker ? fmax(a.uncertainty, chip_kind_uncertainty(kind, key->type)) : a.uncertainty;
    const double uncertainty = stated >= 0 ? stated : chip_kind_uncertainty(kind, key->type);
    char *note = a.note || weaker ? joined(a.note, weaker ? found->note : NULL) : NULL;
    chip_slot_describe(slot, kind, slot->value.known ? uncertainty : 0, a.source, note, found->file->stem);
    free(note);
    replace(&slot->adopted, found->note);
    slot->value.adopted = slot->adopted;
    return true;
}
