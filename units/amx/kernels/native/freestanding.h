/* The smallest part of a C library, for AArch64 programs that orchard runs without one. */
#ifndef ORCHARD_UNITS_AMX_KERNELS_NATIVE_FREESTANDING_H
#define ORCHARD_UNITS_AMX_KERNELS_NATIVE_FREESTANDING_H

#include <stddef.h>
#include <stdint.h>

void program_exit(int code);
void print_text(const char *text);
void print_number(uint64_t value);
void *memcpy(void *restrict dst, const void *restrict src, size_t count);
void *memset(void *dst, int value, size_t count);

#endif
