/* The AMX code that is checked in (units/amx/kernels/amx_kernels_code.inc) is what its sources give. A cross compiler of the
 * version that its first line names has to be there; tests/build.mk compiles before this suite runs. */
#include "tests/support/suite.h"
#include "units/amx/kernels/amx_kernels.h"

#include "isa/elf/elf_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT  ORCHARD_SOURCE_DIR "/units/amx/kernels/amx_kernels_code.inc"
#define FRESH ORCHARD_BUILD_DIR "/amx/amx_kernels_code.inc"

static char *read_file(const char *path)
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

static void test_code_is_that_of_the_sources(void)
{
    char *const kept = read_file(KEPT), *const fresh = read_file(FRESH);
    CHECK(kept != NULL, "%s", KEPT);
    if (kept && !fresh)
        suite_skip("there is no cross compiler (make deps)");
    else if (kept && fresh && strcspn(kept, "\n") == strcspn(fresh, "\n") && memcmp(kept, fresh, strcspn(kept, "\n")) == 0)
        CHECK(strcmp(kept, fresh) == 0, "the sources give other code: make amx-kernels");
    else if (kept && fresh)
        suite_skip("the cross compiler is of another version than the one whose code is checked in");
    free(kept);
    free(fresh);
}

/* Every function is there, nothing is left undefined, and none of the names is known to a linker of programs. */
static void test_code_stands_alone(void)
{
    size_t bytes;
    struct elf_file elf;
    struct isa_error error = {0};
    const void *const code = amx_kernels_code(&bytes);
    const bool opened = elf_open(&elf, code, bytes, &error);
    CHECK(opened && elf.kind == ELF_OBJECT, "%s", error.text);
    for (uint32_t i = 1; opened && i < elf.symbol_count; i++) {
        struct elf_symbol s;
        elf_symbol(&elf, i, &s);
        CHECK(s.name[0] == 0 || s.section != 0, "%s is undefined", s.name);
    }
}

static const struct suite_test tests[] = {
    {"the code is that of the sources", test_code_is_that_of_the_sources},
    {"the code stands alone", test_code_stands_alone},
};
SUITE_MAIN("amx code", tests)
