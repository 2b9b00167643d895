#include "isa/list_grow.h"
#include "sim/prove/regress/baseline.h"

#include <stdlib.h>
#include <string.h>

void baseline_free(struct baseline *b)
{
    for (size_t i = 0; i < b->values; i++) {
        free(b->value[i].chip);
        free(b->value[i].name);
    }
    for (size_t i = 0; i < b->parameters; i++) {
        free(b->parameter[i].chip);
        free(b->parameter[i].key);
        free(b->parameter[i].json);
    }
    free(b->value);
    free(b->parameter);
    *b = (struct baseline){0};
}

bool baseline_add_value(struct baseline *b, const char *chip, const char *name, double value, double tolerance)
{
    struct baseline_value *const grown = list_grow(b->value, b->values, &b->value_room, sizeof *grown);
    if (!grown)
        return false;
    b->value = grown;
    struct baseline_value *const v = &b->value[b->values++];
    *v = (struct baseline_value){strdup(chip), strdup(name), value, tolerance};
    return v->chip && v->name;
}

bool baseline_add_parameter(struct baseline *b, const char *chip, const char *key, const char *json)
{
    struct baseline_parameter *const grown = list_grow(b->parameter, b->parameters, &b->parameter_room, sizeof *grown);
    if (!grown)
        return false;
    b->parameter = grown;
    struct baseline_parameter *const p = &b->parameter[b->parameters++];
    *p = (struct baseline_parameter){strdup(chip), strdup(key), strdup(json)};
    return p->chip && p->key && p->json;
}

bool baseline_add_chip(struct baseline *b, const struct chip *chip)
{
    for (size_t i = 0; i < chip_key_count(); i++) {
        const struct chip_value *const v = chip_value_at(chip, i);
        if (v && v->known && !baseline_add_parameter(b, chip_id(chip), v->key->name, v->json))
            return false;
    }
    return true;
}

static int by_two(const char *a, const char *b, const char *c, const char *d)
{
    const int first = strcmp(a, b);
    return first ? first : strcmp(c, d);
}

static int compare_values(const void *a, const void *b)
{
    const struct baseline_value *const x = a, *const y = b;
    return by_two(x->name, y->name, x->chip, y->chip);
}

static int compare_parameters(const void *a, const void *b)
{
    const struct baseline_parameter *const x = a, *const y = b;
    return by_two(x->key, y->key, x->chip, y->chip);
}

void baseline_sort(struct baseline *b)
{
    if (b->values)
        qsort(b->value, b->values, sizeof *b->value, compare_values);
    if (b->parameters)
        qsort(b->parameter, b->parameters, sizeof *b->parameter, compare_parameters);
}

/* bsearch only compares the key, so casting const away is safe. */
const struct baseline_value *baseline_find(const struct baseline *b, const char *chip, const char *name)
{
    const struct baseline_value key = {.chip = (char *)(uintptr_t)chip, .name = (char *)(uintptr_t)name};
    return b->values ? bsearch(&key, b->value, b->values, sizeof key, compare_values) : NULL;
}

const char *baseline_parameter_of(const struct baseline *b, const char *chip, const char *key)
{
    const struct baseline_parameter wanted = {.chip = (char *)(uintptr_t)chip, .key = (char *)(uintptr_t)key};
    const struct baseline_parameter *const found =
        b->parameters ? bsearch(&wanted, b->parameter, b->parameters, sizeof wanted, compare_parameters) : NULL;
    return found ? found->json : NULL;
}

bool baseline_has_chip(const struct baseline *b, const char *chip)
{
    for (size_t i = 0; i < b->values; i++)
        if (strcmp(b->value[i].chip, chip) == 0)
            return true;
    return false;
}
