#include "sim/ask/study/setting.h"

#include "isa/array_count.h"
#include "sim/chip/chip.h"
#include "sim/base/suggest.h"
#include "sim/base/json_out.h"
#include "sim/base/json_read.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define KEY_NAME(key, what) key,
static const char *const own_keys[] = {STUDY_KEY_TABLE(KEY_NAME)};
enum { OWN_KEYS = ARRAY_COUNT(own_keys) };

static bool is_own(const char *key)
{
    for (size_t i = 0; i < OWN_KEYS; i++)
        if (strcmp(own_keys[i], key) == 0)
            return true;
    return false;
}

bool study_key_is_chip(const char *key)
{
    return chip_key_find(key) != NULL;
}

bool study_key_check(const char *key, struct orch_error *error)
{
    struct suggest s;
    char phrase[128];
    if (is_own(key) || study_key_is_chip(key))
        return true;
    suggest_start(&s, key);
    for (size_t i = 0; i < OWN_KEYS; i++)
        suggest_offer(&s, own_keys[i]);
    for (size_t i = 0; i < chip_key_count(); i++)
        suggest_offer(&s, chip_key_at(i)->name);
    return orch_fail(error, ORCH_USAGE, "unknown key '%.60s'%s", key, suggest_phrase(&s, phrase, sizeof phrase));
}

/* ---- the list ---- */

void study_setting_free(struct study_setting *setting)
{
    for (size_t i = 0; i < setting->count; i++) {
        free(setting->key[i]);
        free(setting->value[i]);
    }
    free(setting->key);
    free(setting->value);
    *setting = (struct study_setting){0};
}

static bool grow(struct study_setting *s)
{
    char **key = reallocarray(s->key, s->count + 1, sizeof *key);
    if (key)
        s->key = key;
    char **value = reallocarray(s->value, s->count + 1, sizeof *value);
    if (value)
        s->value = value;
    return key && value;
}

static bool append(struct study_setting *s, const char *key, const char *value)
{
    if (!grow(s))
        return false;
    char *const k = strdup(key), *const v = strdup(value);
    if (!k || !v) {
        free(k);
        free(v);
        return false;
    }
    s->key[s->count] = k;
    s->value[s->count++] = v;
    return true;
}

static bool find(const struct study_setting *s, const char *key, size_t *at)
{
    for (*at = 0; *at < s->count; ++*at)
        if (strcmp(s->key[*at], key) == 0)
            return true;
    return false;
}

bool study_setting_set(struct study_setting *setting, const char *key, const char *value)
{
    size_t at;
    if (!find(setting, key, &at))
        return append(setting, key, value);
    char *const copy = strdup(value);
    if (!copy)
        return false;
    free(setting->value[at]);
    setting->value[at] = copy;
    return true;
}

const char *study_setting_get(const struct study_setting *setting, const char *key)
{
    size_t at;
    return setting && find(setting, key, &at) ? setting->value[at] : NULL;
}

bool study_setting_copy(struct study_setting *to, const struct study_setting *from)
{
    struct study_setting copy = {0};
    for (size_t i = 0; i < from->count; i++)
        if (!append(&copy, from->key[i], from->value[i])) {
            study_setting_free(&copy);
            return false;
        }
    study_setting_free(to);
    *to = copy;
    return true;
}

/* ---- JSON ---- */

static const char *digits(const char *p)
{
    while (isdigit((unsigned char)*p))
        p++;
    return p;
}

/* Whether the text is a number of JSON (RFC 8259). Others stay strings: "007" and "3GHz", too. */
static bool is_json_number(const char *text)
{
    const char *p = text + (*text == '-'), *end = digits(p);
    if (end == p || (*p == '0' && end != p + 1))
        return false;
    p = end;
    if (*p == '.' && (end = digits(p + 1)) != p + 1)
        p = end;
    if (*p == 'e' || *p == 'E') {
        const char *const from = p + 1 + (p[1] == '+' || p[1] == '-');
        end = digits(from);
        p = end != from ? end : p;
    }
    return *p == 0;
}

struct pair {
    const char *key, *value;
};

static int by_key(const void *a, const void *b)
{
    const struct pair *const x = a, *const y = b;
    return strcmp(x->key, y->key);
}

static bool add_pairs(json_object *object, const struct pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *const v = pairs[i].value;
        json_object *const value = is_json_number(v) ? json_object_new_double_s(strtod(v, NULL), v) : json_object_new_string(v);
        if (!value || json_object_object_add(object, pairs[i].key, value) != 0)
            return false;
    }
    return true;
}

char *study_setting_json(const struct study_setting *setting)
{
    struct pair *const pairs = calloc(setting->count + 1, sizeof *pairs);
    json_object *const object = json_object_new_object();
    char *text = NULL;
    for (size_t i = 0; pairs && i < setting->count; i++)
        pairs[i] = (struct pair){setting->key[i], setting->value[i]};
    if (pairs)
        qsort(pairs, setting->count, sizeof *pairs, by_key);
    if (pairs && object && add_pairs(object, pairs, setting->count))
        text = json_line(json_object_get(object));
    json_object_put(object);
    free(pairs);
    return text;
}
