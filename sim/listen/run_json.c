#include "sim/listen/run_json.h"

#include "sim/base/json_out.h"
#include "sim/base/returned.h"
#include "sim/chip/chip_peaks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whole numbers keep all their digits, since counts are compared exactly. */
static void add_number(struct json_object *object, const char *key, double number)
{
    if (fabs(number) < 0x1p53 && number == nearbyint(number))
        json_object_object_add(object, key, json_object_new_int64((int64_t)number));
    else
        json_add_number(object, key, number);
}

static void add_values(struct json_object *document, const char *key, const struct run_values *values)
{
    struct json_object *const object = json_object_new_object();
    for (size_t i = 0; i < values->count; i++)
        add_number(object, values->item[i].name, values->item[i].value);
    json_object_object_add(document, key, object);
}

static void add_utilisation(struct json_object *document, const struct run_result *result)
{
    struct json_object *const object = json_object_new_object();
    for (int i = 0; i < RUN_UTILISATION_COUNT; i++)
        add_number(object, orch_part_name((enum orch_part)i), result->utilisation[i]);
    json_object_object_add(document, "utilisation", object);
}

/* Shares under names that say what they are of (run_result.h). A part that has no such share, or took no part, is null. */
static void add_shares(struct json_object *document, const struct run_result *result, const struct chip_peaks *peaks)
{
    static const bool issues[RUN_UTILISATION_COUNT] = {[PART_CPU] = true, [PART_GPU] = true};
    struct json_object *const issue = json_object_new_object(), *const peak = json_object_new_object();
    for (int i = 0; i < RUN_UTILISATION_COUNT; i++) {
        const char *const part = orch_part_name((enum orch_part)i);
        const bool asked = result->unit && strcmp(result->unit, part) == 0;
        const double most = asked ? chip_peak_of(peaks, part, result->precision) : (double)NAN;
        add_number(issue, part, issues[i] ? result->utilisation[i] : (double)NAN);
        add_number(peak, part, i == PART_DRAM ? result->utilisation[i] : result->gflops * 1e9 / most);
    }
    json_object_object_add(document, "issue_share", issue);
    json_object_object_add(document, "peak_share", peak);
}

static void add_placement(struct json_object *document, const struct run_placements *list)
{
    struct json_object *const array = json_object_new_array();
    for (size_t i = 0; i < list->count; i++) {
        struct json_object *const o = json_object_new_object();
        json_add_text(o, "op", list->item[i].op);
        json_add_text(o, "unit", list->item[i].unit);
        json_add_text(o, "kernel", list->item[i].kernel);
        json_add_text(o, "why", list->item[i].why);
        json_object_array_add(array, o);
    }
    json_object_object_add(document, "placement", array);
}

static void add_assumptions(struct json_object *document, const struct run_assumptions *list)
{
    struct json_object *const array = json_object_new_array();
    for (size_t i = 0; i < list->count; i++) {
        struct json_object *const o = json_object_new_object();
        json_add_text(o, "key", list->item[i].key);
        json_add_text(o, "kind", list->item[i].kind);
        json_add_text(o, "effect", list->item[i].effect);
        json_object_array_add(array, o);
    }
    json_object_object_add(document, "assumptions", array);
}

static void add_checksums(struct json_object *document, const struct run_checksums *list)
{
    struct json_object *const object = json_object_new_object();
    for (size_t i = 0; i < list->count; i++)
        if (!returned_is(list->item[i].output))
            json_add_hash(object, list->item[i].output, list->item[i].fnv1a64);
    json_object_object_add(document, "checksum", object);
}

/* Texts of JSON are UTF-8; bytes that are none become the replacement character. */
static void add_bytes(struct json_object *document, const char *key, const char *text)
{
    const size_t length = strlen(text);
    char *const clean = malloc(3 * length + 1);
    size_t used = 0;
    for (size_t at = 0; clean && at < length;) {
        const unsigned char first = (unsigned char)text[at];
        const size_t bytes = first < 0x80                    ? 1
                             : first >= 0xc2 && first < 0xe0 ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
        size_t good = bytes ? 1 : 0;
        while (good && good < bytes && ((unsigned char)text[at + good] & 0xc0) == 0x80)
            good++;
        const bool whole = good && good == bytes;
        memcpy(clean + used, whole ? text + at : "\xef\xbf\xbd", whole ? bytes : 3);
        used += whole ? bytes : 3;
        at += whole ? bytes : 1;
    }
    if (clean)
        json_object_object_add(document, key, json_object_new_string_len(clean, (int)used));
    free(clean);
}

/* What a program did besides its time. */
static void add_program(struct json_object *document, const struct run_result *result)
{
    const double status = run_values_get(&result->counters, "program.exit_code");
    char type[100], value[400];
    if (returned_get(result, type, sizeof type, value, sizeof value)) {
        struct json_object *const o = json_object_new_object();
        json_add_text(o, "type", type);
        json_object_object_add(o, "value", json_tokener_parse(value));
        json_object_object_add(document, "returned", o);
    } else {
        json_add_null(document, "returned");
    }
    if (isnan(status))
        json_add_null(document, "program_exit_status");
    else
        add_number(document, "program_exit_status", status);
    if (result->program_output)
        add_bytes(document, "program_output", result->program_output);
    else
        json_add_null(document, "program_output");
}

struct json_object *run_json(const struct run_result *result, const struct chip *chip)
{
    struct chip_peaks peaks = {.count = 0};
    struct json_object *const document = json_object_new_object();
    if (!document)
        return NULL;
    if (result->run_id > 0)
        json_add_count(document, "run_id", (uint64_t)result->run_id);
    else
        json_add_null(document, "run_id");
    for (size_t i = 0; i < run_text_field_count(); i++)
        json_add_text(document, run_text_field(i)->name, run_text_of(result, run_text_field(i)));
    for (size_t i = 0; i < run_number_field_count(); i++)
        add_number(document, run_number_field(i)->name, run_number_of(result, run_number_field(i)));
    add_values(document, "joules_by", &result->joules_by);
    add_utilisation(document, result);
    if (chip)
        chip_peaks(chip, &peaks);
    add_shares(document, result, &peaks);
    add_values(document, "stalls", &result->stalls);
    add_placement(document, &result->placement);
    add_assumptions(document, &result->assumptions);
    add_checksums(document, &result->checksum);
    add_values(document, "counters", &result->counters);
    add_program(document, result);
    json_object_object_add(document, "generation", result->generation ? json_tokener_parse(result->generation) : NULL);
    if (result->profile)
        json_object_object_add(document, "profile", profile_json(result->profile));
    return document;
}
