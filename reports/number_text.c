#include "reports/number_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- digits ---- */

/* Decimals that show `digits` significant digits; the exponent is that of the number after rounding (9.996 -> 10.0). */
static int decimals_for(double number, int digits)
{
    char scientific[40];
    snprintf(scientific, sizeof scientific, "%.*e", digits - 1, number);
    const char *const e = strchr(scientific, 'e');
    const int decimals = digits - 1 - (e ? atoi(e + 1) : 0);
    return decimals < 0 ? 0 : decimals;
}

char *format_digits(char text[FORMAT_SIZE], double number, int digits)
{
    const double size = fabs(number);
    if (!isfinite(number))
        snprintf(text, FORMAT_SIZE, "%s", isnan(number) ? "-" : number > 0 ? "inf" : "-inf");
    else if (size != 0 && (size < 1e-4 || size >= 1e15))
        snprintf(text, FORMAT_SIZE, "%.*e", digits - 1, number);
    else
        snprintf(text, FORMAT_SIZE, "%.*f", decimals_for(number, digits), number);
    return text;
}

char *format_number(char text[FORMAT_SIZE], double number, int digits)
{
    format_digits(text, number, digits);
    if (strchr(text, '.') && !strchr(text, 'e')) {
        char *end = text + strlen(text);
        while (end[-1] == '0')
            *--end = 0;
        if (end[-1] == '.')
            *--end = 0;
    }
    return text;
}

char *format_count(char text[FORMAT_SIZE], double number)
{
    char digits[32];
    if (number != nearbyint(number) || fabs(number) >= 0x1p63) {
        snprintf(text, FORMAT_SIZE, isfinite(number) ? "%.4g" : "-", number);
        return text;
    }
    snprintf(digits, sizeof digits, "%lld", (long long)number);
    size_t to = 0;
    for (size_t i = 0, length = strlen(digits); i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-')
            text[to++] = ',';
        text[to++] = digits[i];
    }
    text[to] = 0;
    return text;
}

/* ---- prefixes ---- */

struct format_prefix format_prefix(double size, double from)
{
    static const struct format_prefix table[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"},  {1e6, "M"},  {1e3, "k"},
                                                 {1, ""},     {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}, {1e-12, "p"}};
    enum { PREFIXES = sizeof table / sizeof table[0], NONE = 5 };
    if (size == 0 || !isfinite(size))
        return table[NONE];
    for (int i = 0; i < PREFIXES; i++)
        if (size >= table[i].factor * from)
            return table[i];
    return table[PREFIXES - 1];
}

/* With three digits. */
static struct format_prefix prefix_of(double number)
{
    return format_prefix(fabs(number), 0.9995);
}

/* A unit that has a prefix of its own loses it, so that none gets two. */
static double without_prefix(double number, const char **unit)
{
    static const char *const of_giga[] = {"GFLOPS", "GOPS", "GB/s"};
    for (size_t i = 0; i < sizeof of_giga / sizeof *of_giga; i++)
        if (strcmp(*unit, of_giga[i]) == 0) {
            ++*unit;
            return 1e9 * number;
        }
    return number;
}

char *format_si(char text[FORMAT_SIZE], double number, const char *unit)
{
    number = without_prefix(number, &unit);
    const struct format_prefix p = prefix_of(number);
    char digits[FORMAT_SIZE];
    snprintf(text, FORMAT_SIZE, "%.24s %s%.16s", format_digits(digits, number / p.factor, 3), p.text, unit);
    return text;
}

char *format_seconds(char text[FORMAT_SIZE], double seconds, double low, double high)
{
    const struct format_prefix p = prefix_of(seconds);
    char from[FORMAT_SIZE], to[FORMAT_SIZE];
    format_si(text, seconds, "s");
    const size_t used = strlen(text);
    if (isfinite(low) && isfinite(high))
        snprintf(text + used, FORMAT_SIZE - used, " (%.12s-%.12s)", format_digits(from, low / p.factor, 3),
                 format_digits(to, high / p.factor, 3));
    return text;
}

const char *format_unit(const char *unit)
{
    return strcmp(unit, "us") == 0 ? "µs" : strcmp(unit, "uJ") == 0 ? "µJ" : unit;
}

/* Zero has no digits to show. */
static char *digits_or_zero(char text[FORMAT_SIZE], double number, int digits)
{
    return format_digits(text, number, number == 0 ? 1 : digits);
}

char *format_quantity(char text[FORMAT_SIZE], double number, const char *unit)
{
    if (number != 0 && isfinite(number))
        return format_si(text, number, unit);
    snprintf(text, FORMAT_SIZE, number == 0 ? "0 %.16s" : "-", unit);
    return text;
}

char *format_interval(char text[FORMAT_SIZE], double number, double low, double high, const char *unit)
{
    const struct format_prefix p = prefix_of(number);
    char from[FORMAT_SIZE], to[FORMAT_SIZE];
    format_quantity(text, number, unit);
    const size_t used = strlen(text);
    if (isfinite(number) && isfinite(low) && isfinite(high))
        snprintf(text + used, FORMAT_SIZE - used, " (%.12s–%.12s)", digits_or_zero(from, low / p.factor, 2),
                 digits_or_zero(to, high / p.factor, 2));
    return text;
}

char *format_duration(char text[FORMAT_SIZE], double seconds)
{
    if (!(fabs(seconds) >= 120) || isinf(seconds))
        return format_quantity(text, seconds, "s");
    const bool hours = fabs(seconds) >= 2 * 3600;
    char digits[FORMAT_SIZE];
    snprintf(text, FORMAT_SIZE, "%.24s %s", format_digits(digits, seconds / (hours ? 3600 : 60), 3), hours ? "h" : "min");
    return text;
}

/* ---- bytes and shares ---- */

/* The power of 1024 that leaves at least `from` times itself in front. */
static unsigned power_of_1024(double *bytes, double from)
{
    unsigned power = 0;
    for (; fabs(*bytes) >= 1024 * from && power < 6; power++)
        *bytes /= 1024;
    return power;
}

static const char *const iec[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

char *format_bytes(char text[FORMAT_SIZE], uint64_t bytes)
{
    double number = (double)bytes;
    char digits[FORMAT_SIZE];
    const unsigned power = power_of_1024(&number, 1);
    snprintf(text, FORMAT_SIZE, "%.24s %s", format_number(digits, number, 4), iec[power]);
    return text;
}

char *format_volume(char text[FORMAT_SIZE], double bytes)
{
    char digits[FORMAT_SIZE];
    const unsigned power = isfinite(bytes) ? power_of_1024(&bytes, 0.9995) : 0;
    if (!isfinite(bytes))
        snprintf(text, FORMAT_SIZE, "-");
    else if (power == 0)
        snprintf(text, FORMAT_SIZE, "%.0f bytes", bytes);
    else
        snprintf(text, FORMAT_SIZE, "%.24s %s", format_digits(digits, bytes, 3), iec[power]);
    return text;
}

char *format_percent(char text[FORMAT_SIZE], double share)
{
    char digits[FORMAT_SIZE];
    snprintf(text, FORMAT_SIZE, "%.24s %%", format_number(digits, share * 100, 3));
    return text;
}

char *format_share(char text[FORMAT_SIZE], double share)
{
    snprintf(text, FORMAT_SIZE, isfinite(share) ? "%.1f %%" : "-", share * 100);
    return text;
}
