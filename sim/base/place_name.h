/* Names for the places of a time series. */
#ifndef ORCHARD_SIM_BASE_PLACE_NAME_H
#define ORCHARD_SIM_BASE_PLACE_NAME_H

#include <stddef.h>
#include <stdint.h>

/* "gpu", "P cores", "hottest block": what instance `instance` of a part is in a series of that name. `part` is one of
 * orch_part_name. Returns text. */
const char *place_name(const char *series, const char *part, uint32_t instance, char *text, size_t size);

#endif
