#include "sim/base/place_name.h"
#include "isa/array_count.h"

#include <stdio.h>
#include <string.h>

/* The instances that sim/scenario/run_sustained.c emits. */
static const struct {
    const char *series, *part;
    uint32_t instance;
    const char *name;
} known[] = {
    {"temperature", "soc", 0, "die, mean"}, {"temperature", "soc", 1, "die, hottest block"},
    {"temperature", "soc", 2, "housing"},   {"power", "cpu", 0, "P cores"},
    {"power", "cpu", 1, "E cores"},         {"clock", "cpu", 0, "P cores"},
    {"clock", "cpu", 1, "E cores"},         {"utilisation", "cpu", 0, "P cores"},
    {"utilisation", "cpu", 1, "E cores"},   {"power", "soc", 0, "rest of the chip"},
};

const char *place_name(const char *series, const char *part, uint32_t instance, char *text, size_t size)
{
    for (size_t i = 0; i < ARRAY_COUNT(known); i++)
        if (known[i].instance == instance && strcmp(known[i].series, series) == 0 && strcmp(known[i].part, part) == 0) {
            snprintf(text, size, "%s", known[i].name);
            return text;
        }
    if (instance)
        snprintf(text, size, "%s %u", part, instance);
    else
        snprintf(text, size, "%s", part);
    return text;
}
