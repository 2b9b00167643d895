/* The AArch64 programs that tests/build.mk builds for the suites. */
#ifndef ORCHARD_TESTS_GUEST_HOST_GUEST_FILES_H
#define ORCHARD_TESTS_GUEST_HOST_GUEST_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Path of a guest beside the running suite ("integer_o2" -> .../tests/guest/integer_o2.elf). Static storage. */
const char *guest_path(const char *name);

/* The file's bytes, to be freed; NULL when it is not there: no cross compiler (the test then calls suite_skip). */
uint8_t *guest_read(const char *name, size_t *size);

/* Runs `command` in a shell and keeps its standard output (zero-terminated, to be freed). The exit code is in *code. */
char *guest_shell(const char *command, int *code);

#endif
