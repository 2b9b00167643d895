/* Reads "A[unit=gpu] + B[cores=4]" as requests. */
#include "isa/array_count.h"
#include "sim/scenario/together.h"

#include "sim/base/suggest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Finds the " + " after which the next workload begins; NULL when there is none. One inside brackets does not count. */
static const char *next_plus(const char *text)
{
    int depth = 0;
    for (const char *at = text; *at; at++) {
        depth += *at == '[' && strchr(at, ']') ? 1 : *at == ']' ? -1 : 0;
        if (depth <= 0 && *at == '+' && (at == text || at[-1] == ' ') && (at[1] == ' ' || !at[1]))
            return at;
    }
    return NULL;
}

bool together_is(const char *text)
{
    return next_plus(text) != NULL;
}

static bool whole_number(const char *key, const char *value, unsigned least, unsigned most, unsigned *to,
                         struct orch_error *error)
{
    char *end;
    errno = 0;
    const unsigned long v = strtoul(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno || v < least || v > most)
        return orch_fail(error, ORCH_USAGE, "[%s=%.40s]: expected %u to %u", key, value, least, most);
    *to = (unsigned)v;
    return true;
}

static bool real_number(const char *key, const char *value, double least, double most, double *to, struct orch_error *error)
{
    char *end;
    *to = strtod(value, &end);
    if (end == value || *end || !(*to >= least && *to <= most))
        return orch_fail(error, ORCH_USAGE, "[%s=%.40s]: expected %g to %g", key, value, least, most);
    return true;
}

static bool word(const char *key, const char *value, const char *const *words, unsigned *to, struct orch_error *error)
{
    for (*to = 0; words[*to]; ++*to)
        if (strcmp(words[*to], value) == 0)
            return true;
    orch_fail(error, ORCH_USAGE, "[%s=%.40s]: no such choice", key, value);
    for (unsigned i = 0; words[i]; i++)
        orch_fail_more(error, "%s%s%s", i ? "|" : " (", words[i], words[i + 1] ? "" : ")");
    return false;
}

static bool unknown(const char *key, struct orch_error *error)
{
    static const char *const keys[] = {"unit",   "precision", "detail", "mode", "cores",    "core",   "entry", "home",
                                       "repeat", "buffers",   "evict",  "cold", "priority", "weight", "start"};
    struct suggest s;
    char phrase[96];
    suggest_start(&s, key);
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++)
        suggest_offer(&s, keys[i]);
    return orch_fail(error, ORCH_USAGE, "[%.40s]: not an option of one workload among several%s", key,
                     suggest_phrase(&s, phrase, sizeof phrase));
}

static bool set_option(struct together_part *p, const char *key, const char *value, struct orch_error *error)
{
    static const char *const modes[] = {"full", "functional", "timing", NULL}, *const cores[] = {"any", "p", "e", NULL};
    static const char *const buffers[] = {"each", "one", NULL};
    struct run_request *q = &p->request;
    unsigned choice;
    double number;
    if (strcmp(key, "unit") == 0)
        q->unit = value;
    else if (strcmp(key, "precision") == 0)
        q->precision = value;
    else if (strcmp(key, "detail") == 0)
        q->detail = value;
    else if (strcmp(key, "entry") == 0)
        q->entry = value;
    else if (strcmp(key, "home") == 0)
        q->home = value;
    else if (strcmp(key, "cold") == 0)
        q->cold = true;
    else if (strcmp(key, "evict") == 0)
        q->cold = q->evict = true;
    else if (strcmp(key, "cores") == 0)
        return whole_number(key, value, 1, 64, &q->cores, error);
    else if (strcmp(key, "repeat") == 0)
        return whole_number(key, value, 1, 1000000, &q->repeat, error);
    else if (strcmp(key, "weight") == 0)
        return real_number(key, value, 1e-3, 1e3, &p->weight, error);
    else if (strcmp(key, "start") == 0)
        return real_number(key, value, 0, 1e6, &p->start_seconds, error);
    else if (strcmp(key, "priority") == 0) {
        if (!real_number(key, value, -100, 100, &number, error))
            return false;
        p->priority = (int)number;
        return number == p->priority || orch_fail(error, ORCH_USAGE, "[priority=%.40s]: expected a whole number", value);
    } else if (strcmp(key, "mode") == 0) {
        if (!word(key, value, modes, &choice, error))
            return false;
        q->mode = (enum run_mode)choice;
    } else if (strcmp(key, "buffers") == 0) {
        if (!word(key, value, buffers, &choice, error))
            return false;
        q->one_buffer = choice == 1;
    } else if (strcmp(key, "core") == 0) {
        if (!word(key, value, cores, &choice, error))
            return false;
        q->core_choice = choice == 0 ? SOC_ANY_CORE : choice == 1 ? SOC_P_CORE : SOC_E_CORE;
    } else {
        return unknown(key, error);
    }
    return true;
}

static bool read_options(struct together_part *p, char *text, struct orch_error *error)
{
    for (char *item = strtok_r(text, ",", &text); item; item = strtok_r(NULL, ",", &text)) {
        char *equals = strchr(item, '=');
        if (equals)
            *equals = 0;
        else if (strcmp(item, "cold") != 0 && strcmp(item, "evict") != 0)
            return orch_fail(error, ORCH_USAGE, "[%.40s]: expected NAME=VALUE", item);
        if (!set_option(p, item, equals ? equals + 1 : "", error))
            return false;
    }
    return true;
}

static void trim(char **text)
{
    *text += strspn(*text, " ");
    for (size_t n = strlen(*text); n > 0 && (*text)[n - 1] == ' '; n--)
        (*text)[n - 1] = 0;
}

static bool read_part(struct together_part *p, char *text, struct orch_error *error)
{
    trim(&text);
    const size_t length = strlen(text);
    char *open = length && text[length - 1] == ']' ? strrchr(text, '[') : NULL;
    if (open) {
        text[length - 1] = 0;
        *open = 0;
        trim(&text);
    }
    if (strchr(text, '['))
        return orch_fail(error, ORCH_USAGE, "%.60s: '[' without ']' at the end", text);
    if (!*text)
        return orch_fail(error, ORCH_USAGE,
                         "a workload is missing beside '+'; expected A + B, as in gemm:512x512x512 + copy:64M[unit=gpu]");
    p->request.workload = text;
    return !open || read_options(p, open + 1, error);
}

bool together_parse(const char *text, const struct run_request *common, struct together_part *part, unsigned *count,
                    char **storage, struct orch_error *error)
{
    *count = 0;
    *storage = strdup(text);
    if (!*storage)
        return orch_no_memory(error);
    for (char *at = *storage; at;) {
        const char *plus = next_plus(at);
        char *next = plus ? at + (plus - at) + 1 : NULL;
        if (*count == TOGETHER_PARTS)
            return orch_fail(error, ORCH_USAGE, "more than %d workloads at once", TOGETHER_PARTS);
        if (next)
            next[-1] = 0;
        part[*count] = (struct together_part){.request = *common};
        if (!read_part(&part[(*count)++], at, error))
            return false;
        at = next;
    }
    return true;
}
