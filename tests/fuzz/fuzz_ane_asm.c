/* Arbitrary text as a Neural Engine listing: nothing crashes, and the listing of what assembles assembles to the same bytes. */
#include "isa/ane/ane_text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Whatever the listing looked like, the program that it makes has a complete listing of its own. */
static void check_listing(const struct ane_program *program)
{
    char *text = NULL, detail[64];
    size_t length;
    struct ane_program back;
    struct isa_error error = {.text = ""};
    FILE *out = open_memstream(&text, &length);
    require(out != NULL);
    ane_disassemble(program, out);
    fclose(out);
    require(ane_assemble(text, length, &back, &error));
    require(back.size == program->size && memcmp(back.bytes, program->bytes, back.size) == 0);
    ane_program_operation(program, detail, sizeof detail);
    ane_program_free(&back);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ane_program program;
    struct isa_error error = {.text = ""};
    if (ane_assemble((const char *)data, size, &program, &error)) {
        if (program.size < 1 << 20)
            check_listing(&program);
        ane_program_free(&program);
    } else {
        require(error.text[0] != '\0' && program.bytes == NULL);
    }
    return 0;
}
