#include "sim/base/format.h"
#include "isa/array_count.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static char *special(char text[FORMAT_SIZE], double number)
{
    snprintf(text, FORMAT_SIZE, "%s", isnan(number) ? "-" : number > 0 ? "inf" : "-inf");
    return text;
}

/* How many decimals show `digits` significant digits. The exponent is that of the rounded number: 9.996 -> 10.0. */
static int decimals_for(double number, int digits)
{
    char scientific[40];
    int exponent = 0;
    snprintf(scientific, sizeof scientific, "%.*e", digits - 1, number);
    const char *e = strchr(scientific, 'e');
    if (e)
        sscanf(e + 1, "%d", &exponent);
    const int decimals = digits - 1 - exponent;
    return decimals < 0 ? 0 : decimals;
}

char *format_digits(char text[FORMAT_SIZE], double number, int digits)
{
    if (!isfinite(number))
        return special(text, number);
    const double size = fabs(number);
    if (size != 0 && (size < 1e-4 || size >= 1e15))
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

static const struct {
    double factor;
    const char *prefix;
} si[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"},  {1e6, "M"},  {1e3, "k"},
          {1, ""},     {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}, {1e-12, "p"}};
enum { SI_COUNT = ARRAY_COUNT(si), SI_ONE = 5 };

static int si_index(double number)
{
    const double size = fabs(number);
    if (size == 0 || !isfinite(size))
        return SI_ONE;
    for (int i = 0; i < SI_COUNT; i++)
        if (size >= si[i].factor * 0.9995) /* 0.9996 ms prints as 1.00 ms */
            return i;
    return SI_COUNT - 1;
}

char *format_si(char text[FORMAT_SIZE], double number, const char *unit)
{
    const int i = si_index(number);
    char digits[FORMAT_SIZE];
    snprintf(text, FORMAT_SIZE, "%.24s %s%.16s", format_digits(digits, number / si[i].factor, 3), si[i].prefix, unit);
    return text;
}

char *format_bytes(char text[FORMAT_SIZE], uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double number = (double)bytes;
    int i = 0;
    while (number >= 1024 && i < 6) {
        number /= 1024;
        i++;
    }
    char digits[FORMAT_SIZE];
    snprintf(text, FORMAT_SIZE, "%.24s %s", format_number(digits, number, 4), units[i]);
    return text;
}

char *format_seconds(char text[FORMAT_SIZE], double seconds, double low, double high)
{
    const int i = si_index(seconds);
    char middle[FORMAT_SIZE], from[FORMAT_SIZE], to[FORMAT_SIZE];
    format_digits(middle, seconds / si[i].factor, 3);
    if (!isfinite(low) || !isfinite(high)) {
        snprintf(text, FORMAT_SIZE, "%.12s %ss", middle, si[i].prefix);
        return text;
    }
    snprintf(text, FORMAT_SIZE, "%.12s %ss (%.12s-%.12s)", middle, si[i].prefix, format_digits(from, low / si[i].factor, 3),
             format_digits(to, high / si[i].factor, 3));
    return text;
}

char *format_percent(char text[FORMAT_SIZE], double share)
{
    char digits[FORMAT_SIZE];
    snprintf(text, FORMAT_SIZE, "%.24s %%", format_number(digits, share * 100, 3));
    return text;
}

void format_csv(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}
