#include "sim/base/quantity.h"

#include "isa/array_count.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum kind { TIME, CLOCK, POWER, ENERGY, BYTES, RATE, HEAT };

/* Factors are those of the SI, and of IEC 80000-13 for KiB and its like. */
static const struct unit {
    enum kind kind;
    const char *name;
    double factor;
    bool hidden; /* another spelling: no need to list it */
} units[] = {
    {TIME, "ns", 1e-9, false},     {TIME, "us", 1e-6, false},      {TIME, "µs", 1e-6, true},      {TIME, "ms", 1e-3, false},
    {TIME, "s", 1, false},         {TIME, "sec", 1, true},         {TIME, "seconds", 1, true},    {TIME, "min", 60, false},
    {TIME, "minutes", 60, true},   {TIME, "h", 3600, false},       {TIME, "hours", 3600, true},   {TIME, "d", 86400, false},
    {TIME, "days", 86400, true},   {CLOCK, "Hz", 1, false},        {CLOCK, "kHz", 1e3, false},    {CLOCK, "MHz", 1e6, false},
    {CLOCK, "GHz", 1e9, false},    {POWER, "uW", 1e-6, false},     {POWER, "mW", 1e-3, false},    {POWER, "W", 1, false},
    {POWER, "kW", 1e3, false},     {ENERGY, "pJ", 1e-12, false},   {ENERGY, "nJ", 1e-9, false},   {ENERGY, "uJ", 1e-6, false},
    {ENERGY, "mJ", 1e-3, false},   {ENERGY, "J", 1, false},        {ENERGY, "Wh", 3600, false},   {BYTES, "bytes", 1, true},
    {BYTES, "B", 1, false},        {BYTES, "kB", 1e3, false},      {BYTES, "MB", 1e6, false},     {BYTES, "GB", 1e9, false},
    {BYTES, "TB", 1e12, false},    {BYTES, "KiB", 1024, false},    {BYTES, "MiB", 0x1p20, false}, {BYTES, "GiB", 0x1p30, false},
    {BYTES, "TiB", 0x1p40, false}, {RATE, "B/s", 1, false},        {RATE, "MB/s", 1e6, false},    {RATE, "GB/s", 1e9, false},
    {RATE, "TB/s", 1e12, false},   {RATE, "MiB/s", 0x1p20, false}, {RATE, "GiB/s", 0x1p30, true}, {RATE, "GBps", 1e9, true},
    {RATE, "TBps", 1e12, true},    {HEAT, "degC", 1, true},        {HEAT, "C", 1, false},         {HEAT, "°C", 1, true},
};

/* As it is written, else the only one that is spelled so in any case. */
static const struct unit *find(const char *name, const enum kind *kind)
{
    const struct unit *found = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(units); i++)
        if ((!kind || units[i].kind == *kind) && strcmp(units[i].name, name) == 0)
            return &units[i];
    for (size_t i = 0; i < ARRAY_COUNT(units); i++)
        if ((!kind || units[i].kind == *kind) && strcasecmp(units[i].name, name) == 0) {
            if (found)
                return NULL;
            found = &units[i];
        }
    return found;
}

static const char *skip_space(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

bool quantity_read(const char *text, const char *unit, double *value)
{
    char *end;
    const double number = strtod(text, &end);
    if (end == text || !isfinite(number))
        return false;
    const char *const name = skip_space(end);
    *value = number;
    if (!*name || strcasecmp(name, unit) == 0)
        return true;
    const struct unit *const to = find(unit, NULL), *const from = to ? find(name, &to->kind) : NULL;
    if (from)
        /* Both ways give the same for decimal factors but for the last bit: 3 GHz are 3000 MHz. */
        *value = from->factor >= to->factor ? number * (from->factor / to->factor) : number / (to->factor / from->factor);
    return from && isfinite(*value);
}

const char *quantity_units(const char *unit, char *text, size_t size)
{
    const struct unit *const of = find(unit, NULL);
    size_t used = 0, count = 0;
    text[0] = 0;
    for (size_t i = 0; of && i < ARRAY_COUNT(units); i++)
        if (units[i].kind == of->kind && !units[i].hidden && used + 16 < size) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", units[i].name);
            count++;
        }
    if (count < 2)
        text[0] = 0;
    return text;
}

bool quantity_factor(const char *text, double *factor)
{
    char *end;
    const bool is_signed = *text == '+' || *text == '-';
    const double number = strtod(text, &end);
    if (end == text || !isfinite(number))
        return false;
    *factor = *end == '%' ? 1 + number / 100 : number;
    return (*end == '%' ? is_signed : (*end == 'x' || *end == 'X') && !is_signed) && !end[1] && *factor >= 0;
}
