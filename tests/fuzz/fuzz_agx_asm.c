/* Arbitrary text as an AGX program: nothing crashes, and accepted instructions disassemble and assemble to the same bytes. */
#include "isa/agx/agx_asm.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_instruction(const struct agx_inst *inst)
{
    char text[AGX_TEXT_BYTES];
    uint8_t bytes[AGX_MAX_BYTES], again[AGX_MAX_BYTES];
    struct agx_inst back;
    struct isa_error error;
    require(agx_disasm(inst, text, sizeof text) < (int)sizeof text);
    require(agx_asm_one(text, &back, &error));
    const size_t length = agx_encode(inst, bytes);
    require(agx_encode(&back, again) == length && memcmp(bytes, again, length) == 0);
}

static void check_line(const uint8_t *data, size_t size)
{
    char line[256];
    struct agx_inst inst;
    struct isa_error error = {.line = 0};
    const size_t length = size < sizeof line ? size : sizeof line - 1;
    memcpy(line, data, length);
    line[length] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (agx_asm_one(line, &inst, &error))
        check_instruction(&inst);
    else
        require(error.text[0] != '\0');
}

static void check_program(const struct agx_assembly *assembly)
{
    require(assembly->main_end <= assembly->code_bytes && assembly->main_offset < assembly->main_end);
    for (size_t i = 0; i < assembly->line_count && i < 64; i++) {
        struct agx_inst inst;
        const size_t offset = assembly->lines[i].offset;
        require(offset < assembly->code_bytes);
        require(agx_decode(assembly->code + offset, assembly->code_bytes - offset, &inst) != 0);
        check_instruction(&inst);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct agx_assembly assembly;
    struct isa_error error;
    check_line(data, size);
    if (agx_assemble((const char *)data, size, &assembly, &error)) {
        check_program(&assembly);
        agx_assembly_free(&assembly);
    } else {
        require(error.text[0] != '\0' && assembly.code == NULL);
    }
    return 0;
}
