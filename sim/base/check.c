#include "isa/list_grow.h"
#include "sim/base/check.h"

#include <json-c/json.h>
#include <stdarg.h>
#include <stdlib.h>

enum { TEXT_BYTES = 1024 };

/* Keeps a text as long as memory and the limit allow it. The counters are exact even when a text is dropped. */
static void keep(struct check_texts *texts, size_t limit, const char *format, va_list args)
{
    char line[TEXT_BYTES];
    if (texts->count >= limit)
        return;
    char **const grown = list_grow(texts->text, texts->count, &texts->room, sizeof *grown);
    if (!grown)
        return;
    texts->text = grown;
    const int length = vsnprintf(line, sizeof line, format, args);
    if (length < 0)
        return;
    const size_t bytes = (size_t)length < sizeof line ? (size_t)length + 1 : sizeof line;
    char *const copy = malloc(bytes);
    if (!copy)
        return;
    snprintf(copy, bytes, "%s", line);
    texts->text[texts->count++] = copy;
}

static void free_texts(struct check_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->text[i]);
    free(texts->text);
    *texts = (struct check_texts){.text = NULL};
}

void check_report_free(struct check_report *report)
{
    free_texts(&report->failures);
    free_texts(&report->skips);
    *report = (struct check_report){.passed = 0};
}

void check_pass(struct check_report *report)
{
    report->passed++;
}

void check_fail(struct check_report *report, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    keep(&report->failures, CHECK_FAILURES_KEPT, format, args);
    va_end(args);
    report->failed++;
}

void check_skip(struct check_report *report, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    keep(&report->skips, CHECK_SKIPS_KEPT, format, args);
    va_end(args);
    report->skipped++;
}

bool check_holds(const struct check_report *report)
{
    return report->failed == 0 && report->passed > 0;
}

static void print_texts(const struct check_texts *texts, unsigned long total, const char *what, FILE *out)
{
    for (size_t i = 0; i < texts->count; i++)
        fprintf(out, "%s: %s\n", what, texts->text[i]);
    if (total > texts->count)
        fprintf(out, "%s: %lu more not listed\n", what, total - (unsigned long)texts->count);
}

void check_print_details(const struct check_report *report, FILE *out)
{
    print_texts(&report->failures, report->failed, "failed", out);
    print_texts(&report->skips, report->skipped, "skipped", out);
}

void check_print_closing(const struct check_report *report, FILE *out)
{
    fprintf(out, "%lu passed, %lu failed", report->passed, report->failed);
    if (report->skipped)
        fprintf(out, ", %lu skipped", report->skipped);
    fprintf(out, "\n");
}

static bool add_number(struct json_object *object, const char *key, unsigned long value)
{
    struct json_object *const number = json_object_new_int64((int64_t)value);
    return number && json_object_object_add(object, key, number) == 0;
}

static bool add_texts(struct json_object *object, const char *key, const struct check_texts *texts)
{
    struct json_object *const array = json_object_new_array();
    if (!array || json_object_object_add(object, key, array) != 0)
        return false;
    for (size_t i = 0; i < texts->count; i++) {
        struct json_object *const text = json_object_new_string(texts->text[i]);
        if (!text || json_object_array_add(array, text) != 0)
            return false;
    }
    return true;
}

struct json_object *check_report_json(const struct check_report *report)
{
    struct json_object *const object = json_object_new_object();
    if (!object)
        return NULL;
    if (add_number(object, "passed", report->passed) && add_number(object, "failed", report->failed) &&
        add_number(object, "skipped", report->skipped) && add_texts(object, "failures", &report->failures) &&
        add_texts(object, "skips", &report->skips))
        return object;
    json_object_put(object);
    return NULL;
}
