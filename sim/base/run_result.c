#include "isa/list_grow.h"
#include "sim/base/run_result.h"
#include "isa/array_count.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT, REAL };

static const struct run_text_field text_fields[] = {
#define X(name, definition) {#name, definition, offsetof(struct run_result, name)},
    RUN_TEXT_TABLE(X)
#undef X
};

static const struct run_number_field number_fields[] = {
#define X(name, unit, kind, better, definition)                                                                                  \
    {#name, unit, definition, (kind) == COUNT, better, offsetof(struct run_result, name)},
    RUN_NUMBER_TABLE(X)
#undef X
};

const char *orch_part_name(enum orch_part part)
{
    static const char *const names[PART_COUNT] = {
#define X(name, text) [PART_##name] = text,
        ORCH_PART_TABLE(X)
#undef X
    };
    return (unsigned)part < PART_COUNT ? names[part] : NULL;
}

const char *orch_part_share_name(enum orch_part part)
{
    static const char *const names[RUN_UTILISATION_COUNT] = {
        [PART_CPU] = "dispatch slots of cpu", [PART_AMX] = "arrays of amx", [PART_GPU] = "issue slots of gpu",
        [PART_ANE] = "MAC lanes of ane",      [PART_DRAM] = "rate of dram",
    };
    return (unsigned)part < RUN_UTILISATION_COUNT ? names[part] : NULL;
}

size_t run_text_field_count(void)
{
    return ARRAY_COUNT(text_fields);
}

const struct run_text_field *run_text_field(size_t index)
{
    return index < run_text_field_count() ? &text_fields[index] : NULL;
}

size_t run_number_field_count(void)
{
    return ARRAY_COUNT(number_fields);
}

const struct run_number_field *run_number_field(size_t index)
{
    return index < run_number_field_count() ? &number_fields[index] : NULL;
}

const char *run_text_of(const struct run_result *result, const struct run_text_field *field)
{
    const char *text;
    memcpy(&text, (const char *)result + field->offset, sizeof text);
    return text;
}

double run_number_of(const struct run_result *result, const struct run_number_field *field)
{
    double number;
    memcpy(&number, (const char *)result + field->offset, sizeof number);
    return number;
}

void run_result_init(struct run_result *result)
{
    memset(result, 0, sizeof *result);
#define X(name, unit, kind, better, definition) result->name = NAN;
    RUN_NUMBER_TABLE(X)
#undef X
    for (int i = 0; i < RUN_UTILISATION_COUNT; i++)
        result->utilisation[i] = NAN;
}

bool run_counter_is_sum(const char *name)
{
    static const char *const sums[] = {"mem.", "activity.", "cpu.", "amx.", "gpu.", "ane."};
    static const char *const others[] = {"_share", "_per_", "occupancy"};
    const size_t length = strlen(name);
    for (size_t i = 0; i < ARRAY_COUNT(others); i++)
        if (strstr(name, others[i]))
            return false;
    for (size_t i = 0; i < ARRAY_COUNT(sums); i++)
        if (strncmp(name, sums[i], strlen(sums[i])) == 0)
            return true;
    return strncmp(name, "traffic.", 8) == 0 && length > 6 && strcmp(name + length - 6, "_bytes") == 0;
}

void run_values_free(struct run_values *values)
{
    for (size_t i = 0; i < values->count; i++)
        free(values->item[i].name);
    free(values->item);
}

static void free_placement(struct run_placement *p)
{
    free(p->op);
    free(p->unit);
    free(p->kernel);
    free(p->why);
}

static void free_assumption(struct run_assumption *a)
{
    free(a->key);
    free(a->kind);
    free(a->effect);
}

void run_checksums_free(struct run_checksums *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->item[i].output);
    free(list->item);
    *list = (struct run_checksums){0};
}

void run_result_free(struct run_result *result)
{
#define X(name, definition) free(result->name);
    RUN_TEXT_TABLE(X)
#undef X
    run_values_free(&result->joules_by);
    run_values_free(&result->stalls);
    run_values_free(&result->counters);
    for (size_t i = 0; i < result->placement.count; i++)
        free_placement(&result->placement.item[i]);
    free(result->placement.item);
    for (size_t i = 0; i < result->assumptions.count; i++)
        free_assumption(&result->assumptions.item[i]);
    free(result->assumptions.item);
    run_checksums_free(&result->checksum);
    line_profile_free(result->profile);
    free(result->program_output);
    free(result->generation);
    run_result_init(result);
}

bool run_result_set_text(char **field, const char *text)
{
    char *copy = NULL;
    if (text) {
        copy = strdup(text);
        if (!copy)
            return false;
    }
    free(*field);
    *field = copy;
    return true;
}

static struct run_named_value *find_value(const struct run_values *values, const char *name)
{
    for (size_t i = 0; i < values->count; i++)
        if (strcmp(values->item[i].name, name) == 0)
            return &values->item[i];
    return NULL;
}

bool run_values_append(struct run_values *values, const char *name, double value)
{
    struct run_named_value *const items = list_grow(values->item, values->count, &values->capacity, sizeof *items);
    if (!items)
        return false;
    values->item = items;
    char *const copy = strdup(name);
    if (!copy)
        return false;
    items[values->count++] = (struct run_named_value){copy, value};
    return true;
}

bool run_values_set(struct run_values *values, const char *name, double value)
{
    struct run_named_value *const v = find_value(values, name);
    if (!v)
        return run_values_append(values, name, value);
    v->value = value;
    return true;
}

bool run_values_add(struct run_values *values, const char *name, double value)
{
    struct run_named_value *const v = find_value(values, name);
    if (!v)
        return run_values_append(values, name, value);
    v->value += value;
    return true;
}

double run_values_get(const struct run_values *values, const char *name)
{
    const struct run_named_value *const v = find_value(values, name);
    return v ? v->value : NAN;
}

bool run_placement_add(struct run_placements *list, const char *op, const char *unit, const char *kernel, const char *why)
{
    struct run_placement *const items = list_grow(list->item, list->count, &list->capacity, sizeof *items);
    if (!items)
        return false;
    list->item = items;
    struct run_placement p = {0};
    if (!run_result_set_text(&p.op, op) || !run_result_set_text(&p.unit, unit) || !run_result_set_text(&p.kernel, kernel) ||
        !run_result_set_text(&p.why, why)) {
        free_placement(&p);
        return false;
    }
    items[list->count++] = p;
    return true;
}

bool run_assumption_add(struct run_assumptions *list, const char *key, const char *kind, const char *effect)
{
    struct run_assumption *const items = list_grow(list->item, list->count, &list->capacity, sizeof *items);
    if (!items)
        return false;
    list->item = items;
    struct run_assumption a = {0};
    if (!run_result_set_text(&a.key, key) || !run_result_set_text(&a.kind, kind) || !run_result_set_text(&a.effect, effect)) {
        free_assumption(&a);
        return false;
    }
    items[list->count++] = a;
    return true;
}

const struct run_assumption *run_assumption_find(const struct run_assumptions *list, const char *key)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->item[i].key, key) == 0)
            return &list->item[i];
    return NULL;
}

bool run_checksum_add(struct run_checksums *list, const char *output, uint64_t fnv1a64)
{
    struct run_checksum *const items = list_grow(list->item, list->count, &list->capacity, sizeof *items);
    if (!items)
        return false;
    list->item = items;
    char *const copy = strdup(output);
    if (!copy)
        return false;
    items[list->count++] = (struct run_checksum){copy, fnv1a64};
    return true;
}

/* The names in one list are known to differ. */
static bool copy_values(struct run_values *to, const struct run_values *from)
{
    bool ok = true;
    for (size_t i = 0; ok && i < from->count; i++)
        ok = run_values_append(to, from->item[i].name, from->item[i].value);
    return ok;
}

static bool copy_lists(struct run_result *to, const struct run_result *from)
{
    bool ok = true;
    for (size_t i = 0; ok && i < from->placement.count; i++) {
        const struct run_placement *const p = &from->placement.item[i];
        ok = run_placement_add(&to->placement, p->op, p->unit, p->kernel, p->why);
    }
    for (size_t i = 0; ok && i < from->assumptions.count; i++) {
        const struct run_assumption *const a = &from->assumptions.item[i];
        ok = run_assumption_add(&to->assumptions, a->key, a->kind, a->effect);
    }
    for (size_t i = 0; ok && i < from->checksum.count; i++)
        ok = run_checksum_add(&to->checksum, from->checksum.item[i].output, from->checksum.item[i].fnv1a64);
    return ok;
}

bool run_result_copy(struct run_result *to, const struct run_result *from)
{
    bool ok = true;
    run_result_free(to);
    to->run_id = from->run_id;
#define X(name, definition) ok = ok && run_result_set_text(&to->name, from->name);
    RUN_TEXT_TABLE(X)
#undef X
#define X(name, unit, kind, better, definition) to->name = from->name;
    RUN_NUMBER_TABLE(X)
#undef X
    memcpy(to->utilisation, from->utilisation, sizeof to->utilisation);
    ok = ok && run_result_set_text(&to->program_output, from->program_output) &&
         run_result_set_text(&to->generation, from->generation);
    return ok && copy_values(&to->joules_by, &from->joules_by) && copy_values(&to->stalls, &from->stalls) &&
           copy_values(&to->counters, &from->counters) && copy_lists(to, from) &&
           (!from->profile || (to->profile = line_profile_copy(from->profile)));
}
