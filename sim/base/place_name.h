/* Names of the places that a time series belongs to. */
#ifndef ORCHARD_SIM_BASE_PLACE_NAME_H
#define ORCHARD_SIM_BASE_PLACE_NAME_H

#include <stddef.h>
#include <stdint.h>

/* Writes what instance `instance` of a part means in the series `series`: "gpu", "P cores", "hottest block". `part` is a name
 * that orch_part_name returns. Returns `text`. */
const char *place_name(const char *series, const char *part, uint32_t instance, char *text, size_t size);

#endif
