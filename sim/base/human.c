#include "sim/base/human.h"
#include "isa/array_count.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct prefix {
    double factor;
    const char *text;
};

/* Chooses the prefix that leaves 1 to 999 in front of it. The limit lies half a digit early, so that 999.6 becomes 1.00 k. */
static struct prefix prefix_of(double value)
{
    static const struct prefix table[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"},  {1e6, "M"},  {1e3, "k"},
                                          {1, ""},     {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}, {1e-12, "p"}};
    const size_t count = ARRAY_COUNT(table);
    for (size_t i = 0; i < count; i++)
        if (fabs(value) >= table[i].factor * 0.9995)
            return table[i];
    return value == 0 ? (struct prefix){1, ""} : table[count - 1];
}

/* How many decimals leave `digits` significant digits. */
static int decimals_of(double value, int digits)
{
    const double size = fabs(value);
    if (size == 0)
        return 0;
    int before = 1;
    for (double limit = 10; size >= limit * (1 - 0.5 * pow(10, -digits)); limit *= 10)
        before++;
    for (double limit = 1; before > -6 && size < limit * (1 - 0.5 * pow(10, -digits)); limit /= 10)
        before--;
    return before < digits ? digits - before : 0;
}

const char *human_quantity(double value, const char *unit, char text[HUMAN_SIZE])
{
    if (!isfinite(value)) {
        snprintf(text, HUMAN_SIZE, "-");
        return text;
    }
    const struct prefix p = prefix_of(value);
    const double shown = value / p.factor;
    snprintf(text, HUMAN_SIZE, "%.*f %s%s", decimals_of(shown, 3), shown, p.text, unit);
    return text;
}

const char *human_bytes(double bytes, char text[HUMAN_SIZE])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t i = 0;
    if (!isfinite(bytes)) {
        snprintf(text, HUMAN_SIZE, "-");
        return text;
    }
    while (fabs(bytes) >= 1024 * 0.9995 && i + 1 < ARRAY_COUNT(units)) {
        bytes /= 1024;
        i++;
    }
    snprintf(text, HUMAN_SIZE, "%.*f %s", i == 0 ? 0 : decimals_of(bytes, 3), bytes, units[i]);
    return text;
}

const char *human_interval(double value, double low, double high, const char *unit, char text[HUMAN_SIZE])
{
    human_quantity(value, unit, text);
    if (!isfinite(value) || !isfinite(low) || !isfinite(high))
        return text;
    const double factor = prefix_of(value).factor;
    const size_t used = strlen(text);
    snprintf(text + used, HUMAN_SIZE - used, " (%.*f–%.*f)", decimals_of(low / factor, 2), low / factor,
             decimals_of(high / factor, 2), high / factor);
    return text;
}

const char *human_count(double value, char text[HUMAN_SIZE])
{
    if (!isfinite(value)) {
        snprintf(text, HUMAN_SIZE, "-");
        return text;
    }
    if (value != nearbyint(value) || fabs(value) >= 0x1p63) {
        snprintf(text, HUMAN_SIZE, "%.4g", value);
        return text;
    }
    char digits[32];
    snprintf(digits, sizeof digits, "%lld", (long long)value);
    size_t to = 0;
    for (size_t i = 0, length = strlen(digits); i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-')
            text[to++] = ',';
        text[to++] = digits[i];
    }
    text[to] = 0;
    return text;
}

const char *human_share(double share, char text[HUMAN_SIZE])
{
    if (!isfinite(share))
        snprintf(text, HUMAN_SIZE, "-");
    else
        snprintf(text, HUMAN_SIZE, "%.1f %%", share * 100);
    return text;
}
