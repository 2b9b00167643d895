/* The AArch64 programs that tests/build.mk builds for the suites. */
#ifndef ORCHARD_TESTS_GUEST_HOST_GUEST_FILES_H
#define ORCHARD_TESTS_GUEST_HOST_GUEST_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Path of a guest in the build directory ("integer_o2" -> .../tests/guest/integer_o2.elf). Static storage. */
const char *guest_path(const char *name);

/* The bytes of the file, which the caller frees. NULL without a cross compiler; the test then calls suite_skip. */
uint8_t *guest_read(const char *name, size_t *size);

/* Runs `command` in a shell and returns its standard output (zero-terminated; the caller frees it). *code is the exit code. */
char *guest_shell(const char *command, int *code);

#endif
