/* Golden programs and their listings. */
#ifndef ORCHARD_TESTS_ISA_ANE_LISTING_H
#define ORCHARD_TESTS_ISA_ANE_LISTING_H

#include "isa/ane/ane_text.h"
#include "tests/isa/ane_golden.h"

#include <string.h>

/* Reads and parses a golden file; a failed check when that does not work. Free the program. */
static inline bool listing_open_golden(const char *file, struct ane_program *program)
{
    struct isa_error error = {.text = ""};
    size_t size;
    uint8_t *bytes = ane_golden_read(file, &size);
    const bool ok = bytes && ane_program_parse(bytes, size, program, &error);
    CHECK(ok, "%s: %s", file, error.text);
    free(bytes);
    return ok;
}

/* The listing of a program; free it. It is not inlined because gcc 12 takes the address that open_memstream keeps for a dangling
 * one. */
__attribute__((noinline, unused)) static char *listing_of(const struct ane_program *program)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ane_disassemble(program, out);
    fclose(out);
    return text;
}

static inline void listing_check_bytes(const char *file, const struct ane_program *program, const struct ane_program *back)
{
    CHECK(back->container == program->container, "%s: another container", file);
    CHECK(back->size == program->size && memcmp(back->bytes, program->bytes, program->size) == 0, "%s: other bytes", file);
}

#endif
