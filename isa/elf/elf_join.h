/* Joins relocatable objects and the members of archives that they need into one object, as `ld -r` does, so that the loader has
 * one file to place and to link.
 *
 * Global symbols meet by name: a strong definition wins over weak and common ones, two strong ones are an error. Of sections that
 * several objects bring in equal copies (COMDAT groups) the first stays. What is not loaded (debugging) and tables for unwinding
 * are left out. A member of an archive comes in when it defines what is undefined, whatever the order of the files.
 *
 * Facts: System V ABI (groups, symbol binding); ar(5), the common format with GNU's long names.
 */
#ifndef ORCHARD_ISA_ELF_ELF_JOIN_H
#define ORCHARD_ISA_ELF_ELF_JOIN_H

#include "isa/isa_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An object, or an archive of objects. */
struct elf_join_file {
    const char *name;
    const void *bytes;
    size_t size;
    bool optional; /* an object that comes in only if it is needed */
};

bool elf_is_archive(const void *bytes, size_t size);

/* Whether the file is an object with symbols that it does not define itself. */
bool elf_has_undefined(const void *bytes, size_t size);

/* Returns the joined object in one allocation, which the caller frees; NULL with *error, which begins with the name of a file.
 * `wanted` (may be NULL) is needed like an undefined symbol. */
uint8_t *elf_join(const struct elf_join_file *files, size_t count, const char *wanted, size_t *size, struct isa_error *error);

#endif
