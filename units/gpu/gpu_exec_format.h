/* Memory formats of loads and stores: convert one component, or one packed word, to register values and back. Rules of loads:
 * dougallj/applegpu; stores are the reverse with rounding to nearest (not documented).
 */
#ifndef ORCHARD_UNITS_GPU_GPU_EXEC_FORMAT_H
#define ORCHARD_UNITS_GPU_GPU_EXEC_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

uint32_t gpu_format_bytes(unsigned format);
/* Number of values in a packed word (3 or 4); 0 = components are stored one after another. */
unsigned gpu_format_packed(unsigned format);
/* Returns the register value of component `c`. wide: 32-bit registers, otherwise 16-bit. */
uint32_t gpu_format_load(unsigned format, unsigned c, uint32_t raw, bool wide);
/* Returns the memory bits of value[0], or of all values of a packed word. */
uint32_t gpu_format_store(unsigned format, unsigned c, const uint32_t value[4], bool wide);

#endif
