/* Joins base and setting into a request. */
#include "isa/array_count.h"
#include "sim/ask/study/study_internal.h"

#include "sim/base/suggest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words and numbers ---- */

static bool read_choice(const char *key, const char *value, const char *const *words, unsigned count, unsigned *choice,
                        struct orch_error *error)
{
    struct suggest s;
    char phrase[96];
    suggest_start(&s, value);
    for (*choice = 0; *choice < count; ++*choice) {
        if (strcmp(value, words[*choice]) == 0)
            return true;
        suggest_offer(&s, words[*choice]);
    }
    orch_fail(error, ORCH_USAGE, "%s=%.60s: no such choice%s", key, value, suggest_phrase(&s, phrase, sizeof phrase));
    for (unsigned i = 0; i < count; i++)
        orch_fail_more(error, "%s%s%s", i ? "|" : " (", words[i], i + 1 < count ? "" : ")");
    return false;
}

static bool read_number(const char *key, const char *value, double lowest, double highest, double *number,
                        struct orch_error *error)
{
    char *end;
    *number = strtod(value, &end);
    if (end == value || *end)
        return orch_fail(error, ORCH_USAGE, "%s=%.60s: not a number", key, value);
    if (!(*number >= lowest && *number <= highest))
        return orch_fail(error, ORCH_USAGE, "%s=%.60s is outside %g..%g", key, value, lowest, highest);
    return true;
}

static bool read_count(const char *key, const char *value, double highest, unsigned *count, struct orch_error *error)
{
    double number;
    if (!read_number(key, value, 1, highest, &number, error))
        return false;
    if (number != floor(number))
        return orch_fail(error, ORCH_USAGE, "%s=%.60s: not a whole number", key, value);
    *count = (unsigned)number;
    return true;
}

/* ---- the run ---- */

static const char *given(const struct study_setting *setting, const char *key, const char *otherwise)
{
    const char *const value = study_setting_get(setting, key);
    return value ? value : otherwise;
}

static bool ask_run(struct study_asked *a, const struct study_base *base, const struct study_setting *setting,
                    struct orch_error *error)
{
    struct run_request *const q = &a->request;
    const char *const cores = study_setting_get(setting, "cores"), *const memory = study_setting_get(setting, "memory");
    *q = base->request;
    q->chip = NULL;
    q->workload = given(setting, "workload", q->workload);
    q->unit = given(setting, "unit", q->unit);
    q->precision = given(setting, "precision", q->precision);
    q->detail = given(setting, "detail", q->detail);
    a->chip = given(setting, "chip", base->chip ? base->chip : "m1");
    a->fitted = study_setting_get(setting, "fitted");
    if (!q->workload)
        return orch_fail(error, ORCH_USAGE, "a workload is missing, as in gemm:512x512x512");
    if (q->mode == RUN_FUNCTIONAL)
        return orch_fail(error, ORCH_USAGE, "mode functional: a study asks for times");
    return (!cores || read_count("cores", cores, 64, &q->cores, error)) &&
           (!memory || read_count("memory", memory, 65536, &q->memory_gib, error));
}

/* ---- the machine ---- */

static bool ask_policy(struct study_asked *a, const char *policy, const char *mode, struct orch_error *error)
{
    static const char *const modes[] = {"high", "balanced", "low"};
    const char *names[GOVERNOR_POLICY_COUNT];
    unsigned choice;
    a->policy = GOVERNOR_PERFORMANCE;
    for (unsigned i = 0; i < GOVERNOR_POLICY_COUNT; i++)
        names[i] = governor_policy_name((enum governor_policy)i);
    if (policy) {
        if (!read_choice("policy", policy, names, GOVERNOR_POLICY_COUNT, &choice, error))
            return false;
        a->policy = (enum governor_policy)choice;
        if (governor_policy_row(a->policy)->kind == GOVERNOR_TIMED)
            return orch_fail(error, ORCH_UNMODELLED, "policy=%s needs a target time, which a study does not have", policy);
    }
    if (!mode)
        return true;
    if (!read_choice("power-mode", mode, modes, 3, &choice, error))
        return false;
    a->low_power = choice == 2;
    if (choice == 1 && !policy)
        a->policy = GOVERNOR_BALANCED;
    return true;
}

static bool ask_machine(struct study_asked *a, const struct study_base *base, const struct study_setting *setting,
                        struct orch_error *error)
{
    static const char *const keys[] = {"policy", "ambient", "power-mode", "power-cap", "duration"};
    const char *const device = given(setting, "device", base->device);
    const char *const ambient = study_setting_get(setting, "ambient"), *const cap = study_setting_get(setting, "power-cap");
    const char *const duration = study_setting_get(setting, "duration");
    if (!device || strcmp(device, "none") == 0) {
        for (size_t i = 0; i < ARRAY_COUNT(keys); i++)
            if (study_setting_get(setting, keys[i]))
                return orch_fail(error, ORCH_USAGE, "%s needs a device, as in device=macbook-air", keys[i]);
        return true;
    }
    a->device = device;
    a->ambient_c = base->ambient_c;
    a->power_cap_w = base->power_cap_w;
    a->duration_s = base->duration_s;
    return ask_policy(a, given(setting, "policy", base->policy), given(setting, "power-mode", base->power_mode), error) &&
           (!ambient || read_number("ambient", ambient, -40, 60, &a->ambient_c, error)) &&
           (!cap || read_number("power-cap", cap, 0.1, 1e4, &a->power_cap_w, error)) &&
           (!duration || read_number("duration", duration, 1e-6, 1e7, &a->duration_s, error));
}

/* ---- the chip ---- */

static bool ask_chip(struct study_asked *a, const struct study_base *base, const struct study_setting *setting,
                     struct orch_error *error)
{
    const size_t own = setting ? setting->count : 0, most = base->sets.count + own;
    a->text = calloc(own + 1, sizeof *a->text);
    a->all = calloc(most + 1, sizeof *a->all);
    if (!a->text || !a->all)
        return orch_no_memory(error);
    for (size_t i = 0; i < base->sets.count; i++)
        a->all[a->sets.count++] = base->sets.text[i];
    for (size_t i = 0; i < own; i++) {
        if (!study_key_is_chip(setting->key[i]))
            continue;
        const size_t size = strlen(setting->key[i]) + strlen(setting->value[i]) + 2;
        char *const text = malloc(size);
        if (!text)
            return orch_no_memory(error);
        snprintf(text, size, "%s=%s", setting->key[i], setting->value[i]);
        a->text[a->texts++] = text;
        a->all[a->sets.count++] = text;
    }
    a->sets.text = a->all;
    return true;
}

bool study_ask(struct study_asked *asked, const struct study_base *base, const struct study_setting *setting,
               struct orch_error *error)
{
    *asked = (struct study_asked){.ambient_c = NAN};
    for (size_t i = 0; setting && i < setting->count; i++)
        if (!study_key_check(setting->key[i], error))
            return false;
    return ask_run(asked, base, setting, error) && ask_machine(asked, base, setting, error) &&
           ask_chip(asked, base, setting, error);
}

void study_asked_free(struct study_asked *asked)
{
    for (size_t i = 0; i < asked->texts; i++)
        free(asked->text[i]);
    free(asked->text);
    free(asked->all);
    asked->text = NULL;
    asked->all = NULL;
    asked->texts = asked->sets.count = 0;
}
