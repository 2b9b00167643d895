/* Code of a unit's kernels that was compiled ahead and checked in: it is what its sources give, and stands alone. The cross
 * compiler of the version that its first line names has to be there; tests/build.mk compiles before the suites run. */
#ifndef ORCHARD_TESTS_UNITS_KERNELS_CODE_EXAMPLE_H
#define ORCHARD_TESTS_UNITS_KERNELS_CODE_EXAMPLE_H

#include "isa/elf/elf_read.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline char *kernels_code_read(const char *path)
{
    enum { MOST = 16 << 20 };
    FILE *const f = fopen(path, "rb");
    char *const text = f ? calloc(1, MOST) : NULL;
    if (text && fread(text, 1, MOST - 1, f) == 0)
        text[0] = 0;
    if (f)
        fclose(f);
    return text;
}

/* Whether what is checked in at `old` is what was compiled to `now`; `how` makes it anew. */
static inline void kernels_code_compare(const char *old, const char *now, const char *how)
{
    char *const kept = kernels_code_read(old), *const fresh = kernels_code_read(now);
    CHECK(kept != NULL, "%s", old);
    if (kept && !fresh)
        suite_skip("there is no cross compiler (make deps)");
    else if (kept && fresh && strcspn(kept, "\n") == strcspn(fresh, "\n") && memcmp(kept, fresh, strcspn(kept, "\n")) == 0)
        CHECK(strcmp(kept, fresh) == 0, "the sources give other code: %s", how);
    else if (kept && fresh)
        suite_skip("the cross compiler is of another version than the one whose code is checked in");
    free(kept);
    free(fresh);
}

/* Every function is there, nothing is left undefined, and none of the names is known to a linker of programs. */
static inline void kernels_code_alone(const void *code, size_t bytes)
{
    struct elf_file elf;
    struct isa_error error = {0};
    const bool opened = elf_open(&elf, code, bytes, &error);
    CHECK(opened && elf.kind == ELF_OBJECT, "%s", error.text);
    for (uint32_t i = 1; opened && i < elf.symbol_count; i++) {
        struct elf_symbol s;
        elf_symbol(&elf, i, &s);
        CHECK(s.name[0] == 0 || s.section != 0, "%s is undefined", s.name);
    }
}

#endif
