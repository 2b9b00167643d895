#include "sim/trace/launch_settings.h"
#include "isa/array_count.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

static void put_escaped(FILE *f, const char *text)
{
    for (; *text; text++) {
        if (strchr("%,= ", *text) || (unsigned char)*text < 32)
            fprintf(f, "%%%02x", (unsigned char)*text);
        else
            putc(*text, f);
    }
}

static void put_text(FILE *f, const char *key, const char *value)
{
    if (!value)
        return;
    fprintf(f, "%s%s=", ftell(f) ? "," : "", key);
    put_escaped(f, value);
}

static void put_number(FILE *f, const char *key, double value, double usual)
{
    if (value == usual)
        return;
    fprintf(f, "%s%s=%.17g", ftell(f) ? "," : "", key, value);
}

static void put_args(FILE *f, const struct run_request *q)
{
    if (q->arg_count == 0)
        return;
    fprintf(f, "%sargs=", ftell(f) ? "," : "");
    for (size_t i = 0; i < q->arg_count; i++) {
        if (i)
            putc(' ', f);
        put_escaped(f, q->args[i]);
    }
}

char *launch_settings_write(const struct together_part *part)
{
    static const char *const modes[] = {NULL, "functional", "timing"}, *const cores[] = {NULL, "p", "e"};
    const struct run_request *const q = &part->request;
    char *text = NULL;
    size_t size;
    FILE *const f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    put_text(f, "detail", q->detail);
    put_text(f, "mode", modes[q->mode]);
    put_number(f, "cores", q->cores ? q->cores : 1, 1);
    put_text(f, "core", q->core_choice == SOC_P_CORE ? cores[1] : q->core_choice == SOC_E_CORE ? cores[2] : NULL);
    put_text(f, "entry", q->entry);
    put_text(f, "home", q->home);
    put_number(f, "memory", q->memory_gib, 0);
    put_number(f, "repeat", q->repeat ? q->repeat : 1, 1);
    put_number(f, "seed", (double)(q->seed % (UINT64_C(1) << 53)), 1);
    put_text(f, "buffers", q->one_buffer ? "one" : NULL);
    put_number(f, "evict", q->evict, 0);
    put_number(f, "cold", q->cold, 0);
    put_number(f, "idle", q->idle_s, 0);
    put_number(f, "priority", part->priority, 0);
    put_number(f, "weight", part->weight, 0);
    put_args(f, q);
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- reading ---- */

static bool unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        unsigned value;
        if (*from != '%') {
            *to++ = *from;
            continue;
        }
        if (!isxdigit((unsigned char)from[1]) || !isxdigit((unsigned char)from[2]) || sscanf(from + 1, "%2x", &value) != 1 ||
            value == 0)
            return false;
        *to++ = (char)value;
        from += 2;
    }
    *to = 0;
    return true;
}

static bool wrong(const char *key, const char *value, struct orch_error *error)
{
    return orch_fail(error, ORCH_USAGE, "setting %.40s=%.60s of a launch: not known", key, value);
}

static bool set_args(struct launch_request *r, char *value, struct orch_error *error)
{
    size_t count = 1;
    for (const char *at = value; *at; at++)
        count += *at == ' ';
    r->args = calloc(count, sizeof *r->args);
    if (!r->args)
        return orch_no_memory(error);
    char *rest = value;
    for (char *word; (word = strsep(&rest, " "));) {
        if (!unescape(word))
            return wrong("args", word, error);
        r->args[r->part.request.arg_count++] = word;
    }
    r->part.request.args = r->args;
    return true;
}

static bool set_word(struct run_request *q, const char *key, const char *value, struct orch_error *error)
{
    if (strcmp(key, "detail") == 0)
        q->detail = value;
    else if (strcmp(key, "entry") == 0)
        q->entry = value;
    else if (strcmp(key, "home") == 0)
        q->home = value;
    else if (strcmp(key, "buffers") == 0 && (strcmp(value, "one") == 0 || strcmp(value, "each") == 0))
        q->one_buffer = *value == 'o';
    else if (strcmp(key, "mode") == 0 && strcmp(value, "functional") == 0)
        q->mode = RUN_FUNCTIONAL;
    else if (strcmp(key, "mode") == 0 && strcmp(value, "timing") == 0)
        q->mode = RUN_TIMING;
    else if (strcmp(key, "core") == 0 && (*value == 'p' || *value == 'e') && !value[1])
        q->core_choice = *value == 'p' ? SOC_P_CORE : SOC_E_CORE;
    else
        return wrong(key, value, error);
    return true;
}

static bool set_number(struct together_part *part, const char *key, const char *value, struct orch_error *error)
{
    struct run_request *const q = &part->request;
    char *end;
    const double number = strtod(value, &end);
    if (end == value || *end || !(number >= -1e15 && number <= 1e16))
        return wrong(key, value, error);
    const unsigned count = number >= 0 && number <= 1e6 ? (unsigned)number : 0;
    if (strcmp(key, "cores") == 0)
        q->cores = count <= 64 ? count : 64;
    else if (strcmp(key, "memory") == 0)
        q->memory_gib = count;
    else if (strcmp(key, "repeat") == 0)
        q->repeat = count;
    else if (strcmp(key, "seed") == 0)
        q->seed = number >= 0 ? (uint64_t)number : 0;
    else if (strcmp(key, "cold") == 0)
        q->cold = number != 0 || q->evict;
    else if (strcmp(key, "idle") == 0)
        q->idle_s = number > 0 ? number : 0;
    else if (strcmp(key, "evict") == 0) {
        q->evict = number != 0;
        q->cold = q->cold || q->evict;
    } else if (strcmp(key, "priority") == 0)
        part->priority = number >= -100 && number <= 100 ? (int)number : 0;
    else if (strcmp(key, "weight") == 0)
        part->weight = number;
    else
        return wrong(key, value, error);
    return true;
}

static bool is_number_key(const char *key)
{
    static const char *const keys[] = {"cores", "memory", "repeat", "seed", "evict", "cold", "idle", "priority", "weight"};
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

bool launch_settings_read(const char *settings, struct launch_request *r, struct orch_error *error)
{
    *r = (struct launch_request){.part.request.seed = 1};
    if (!settings)
        return true;
    r->storage = strdup(settings);
    if (!r->storage)
        return orch_no_memory(error);
    char *rest = r->storage;
    for (char *item; (item = strsep(&rest, ","));) {
        if (!*item)
            continue;
        char *value = strchr(item, '=');
        if (!value)
            return wrong(item, "", error);
        *value++ = 0;
        bool ok;
        if (strcmp(item, "args") == 0)
            ok = !r->args ? set_args(r, value, error) : wrong(item, value, error);
        else if (!unescape(value))
            ok = wrong(item, value, error);
        else
            ok = is_number_key(item) ? set_number(&r->part, item, value, error) : set_word(&r->part.request, item, value, error);
        if (!ok)
            return false;
    }
    return true;
}

void launch_request_free(struct launch_request *r)
{
    free(r->storage);
    free(r->args);
    r->storage = NULL;
    r->args = NULL;
}
