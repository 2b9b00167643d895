/* Why an answer is what it is, in words: from the limits that the run met. */
#include "sim/report/claims_internal.h"

#include "sim/base/format.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REASONS = 32 };

const char *claim_quantity(char *text, size_t size, double value, const char *unit)
{
    char number[FORMAT_SIZE];
    if (isnan(value))
        snprintf(text, size, "-");
    else if (strcmp(unit, "s") == 0 || strcmp(unit, "W") == 0)
        snprintf(text, size, "%s", format_si(number, value, unit));
    else if (strcmp(unit, "op/J") == 0)
        snprintf(text, size, "%s TOPS/W", format_digits(number, value * 1e-12, 3));
    else if (strcmp(unit, "1/s") == 0)
        snprintf(text, size, "%s a second", format_digits(number, value, 3));
    else if (strcmp(unit, "1/J") == 0)
        snprintf(text, size, "%s a joule", format_digits(number, value, 3));
    else if (strcmp(unit, "yes") == 0)
        snprintf(text, size, "%s", value > 0 ? "as claimed" : "not as claimed");
    else if (strcmp(unit, "1") == 0)
        snprintf(text, size, "%s", format_digits(number, value, 3));
    else
        snprintf(text, size, "%s %s", format_digits(number, value, 3), unit);
    return text;
}

/* ---- what took the time ---- */

struct share {
    const char *reason;
    double share;
};

static int larger_first(const void *a, const void *b)
{
    const double x = ((const struct share *)a)->share, y = ((const struct share *)b)->share;
    return x < y ? 1 : x > y ? -1 : strcmp(((const struct share *)a)->reason, ((const struct share *)b)->reason);
}

static size_t shares_of(json_object *run, struct share *list)
{
    json_object *stalls = NULL;
    size_t count = 0;
    if (!json_object_object_get_ex(run, "stalls", &stalls) || !json_object_is_type(stalls, json_type_object))
        return 0;
    json_object_object_foreach(stalls, name, value)
    {
        if (count < REASONS)
            list[count++] = (struct share){name, json_object_get_double(value)};
    }
    qsort(list, count, sizeof *list, larger_first);
    return count;
}

static double number(json_object *run, const char *name)
{
    json_object *value = NULL;
    return json_object_object_get_ex(run, name, &value) && value ? json_object_get_double(value) : (double)NAN;
}

static void put(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void put(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

/* `where` names the run among others; "" = it is the only one. */
static void say_limits(json_object *run, const char *where, char *text, size_t size)
{
    struct share list[REASONS];
    const size_t count = shares_of(run, list);
    const double seconds = number(run, "seconds"), overhead = number(run, "overhead_seconds");
    for (size_t i = 0; i < count && i < 3 && list[i].share >= 0.05; i++) {
        if (i == 0)
            put(text, size, "%s%s%stime goes to ", *text ? "; " : "", where, *where ? ": " : "");
        put(text, size, "%s%s %.0f %%", i ? ", " : "", list[i].reason, 100 * list[i].share);
    }
    if (overhead > 0.05 * seconds)
        put(text, size, "; launches and requests %.0f %%", 100 * overhead / seconds);
}

static const char *text_of(json_object *run, const char *name)
{
    json_object *value = NULL;
    const char *const text = json_object_object_get_ex(run, name, &value) ? json_object_get_string(value) : NULL;
    return text ? text : "";
}

/* Two runs are told apart by what differs between them; nothing more is said of those that are alike in this. */
static void say_both(const struct claim_number *n, char *text, size_t size)
{
    static const char *const names[] = {"unit", "chip"};
    for (size_t i = 0; n->below && i < sizeof names / sizeof *names; i++)
        if (strcmp(text_of(n->run, names[i]), text_of(n->below, names[i])) != 0) {
            say_limits(n->run, text_of(n->run, names[i]), text, size);
            say_limits(n->below, text_of(n->below, names[i]), text, size);
            return;
        }
    say_limits(n->run, "", text, size);
}

/* Of runs in machines. */
static void say_heat(json_object *run, char *text, size_t size)
{
    char throttled[FORMAT_SIZE], all[FORMAT_SIZE];
    const double throttled_s = number(run, "throttled_seconds"), seconds = number(run, "seconds");
    const double celsius = number(run, "celsius_max");
    if (throttled_s > 0 && isfinite(celsius))
        put(text, size, "; clocks were held down for %s of %s, at %.0f degrees at most", format_duration(throttled, throttled_s),
            format_duration(all, seconds), celsius);
}

/* ---- what the claim would need ---- */

/* A claim of a shorter time is out of reach when what bounds the run alone takes longer. */
static void say_time(const struct claim *c, const struct claim_number *n, char *text, size_t size)
{
    struct share list[REASONS];
    char alone[64];
    const size_t count = shares_of(n->run, list);
    const double seconds = number(n->run, "seconds");
    if (count == 0 || !n->is_run_time || c->claimed_high >= n->value || !isfinite(seconds))
        return;
    const double least = list[0].share * n->value;
    claim_quantity(alone, sizeof alone, least, "s");
    put(text, size, least > c->claimed_high ? "; %s alone takes %s, more than is claimed" : "; %s alone takes %s", list[0].reason,
        alone);
}

static void say_distance(const struct claim *c, const struct claim_number *n, char *text, size_t size)
{
    const double nearest = fmin(fmax(n->value, c->claimed_low), c->claimed_high);
    const double factor = nearest > 0 && n->value > 0 ? fmax(n->value / nearest, nearest / n->value) : 1;
    const bool over = nearest > n->value;
    if (c->how == CLAIM_AT_LEAST ? !over : c->how == CLAIM_AT_MOST ? over : factor < 1.005)
        put(text, size, "; the answer itself meets the claim");
    else if (factor > 1)
        put(text, size, "; the claim is %.3g times %s the answer", factor, over ? "as large as" : "smaller than");
    if (n->low > 0 && n->high / n->low > 10)
        put(text, size, "; the interval spans a factor of %.0f, so the verdict says little", n->high / n->low);
}

void claim_reason(const struct claim *c, const struct claim_number *n, char *text, size_t size)
{
    *text = 0;
    if (n->run) {
        say_both(n, text, size);
        say_time(c, n, text, size);
        say_heat(n->run, text, size);
    }
    say_distance(c, n, text, size);
    if (text[0] == ';')
        memmove(text, text + 2, strlen(text + 2) + 1);
}
