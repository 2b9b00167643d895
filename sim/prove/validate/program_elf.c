#include "sim/prove/validate/validate.h"

#include "isa/elf/elf_write.h"

#include <stdlib.h>
#include <string.h>

#define FILE_DATA_LIMIT (UINT64_C(64) << 20)

/* The bytes of the data up to the last word that is not 0. */
static uint8_t *data_bytes(const struct validate_program *program, size_t *bytes)
{
    *bytes = 0;
    for (size_t i = 0; i < program->patches; i++)
        if (program->patch[i].offset + 8 > *bytes)
            *bytes = program->patch[i].offset + 8;
    uint8_t *const data = *bytes <= FILE_DATA_LIMIT ? calloc(1, *bytes + 1) : NULL;
    for (size_t i = 0; data && i < program->patches; i++)
        for (unsigned b = 0; b < 8; b++)
            data[program->patch[i].offset + b] = (uint8_t)(program->patch[i].value >> 8 * b);
    return data;
}

static uint8_t *write_file(const struct validate_program *program, const uint8_t *data, size_t used, size_t *bytes,
                           struct orch_error *error)
{
    const uint64_t bss = (VALIDATE_DATA_ADDR + used + ELF_WRITE_ALIGN - 1) / ELF_WRITE_ALIGN * ELF_WRITE_ALIGN;
    const uint64_t end = VALIDATE_DATA_ADDR + program->data_bytes;
    const struct elf_label start = {"_start", VALIDATE_CODE_ADDR, program->words * 4, true};
    const struct elf_program elf = {
        .code = {VALIDATE_CODE_ADDR, program->code, program->words * 4},
        .data = {VALIDATE_DATA_ADDR, used ? data : NULL, used},
        .bss_addr = bss,
        .bss_bytes = end > bss ? end - bss : 0,
        .labels = &start,
        .label_count = 1,
    };
    struct isa_error why = {0};
    uint8_t *const file = elf_write(&elf, bytes, &why);
    if (!file)
        orch_fail(error, ORCH_INTERNAL, "%.200s", why.text);
    return file;
}

uint8_t *validate_program_elf(const struct validate_program *program, bool with_data, size_t *bytes, struct orch_error *error)
{
    if (!with_data)
        return write_file(program, NULL, 0, bytes, error);
    size_t used;
    uint8_t *const data = data_bytes(program, &used);
    if (!data) {
        orch_fail(error, ORCH_USAGE, "its data take more than %u MiB", (unsigned)(FILE_DATA_LIMIT >> 20));
        return NULL;
    }
    uint8_t *const file = write_file(program, data, used, bytes, error);
    free(data);
    return file;
}

bool validate_program_patch(const struct validate_program *program, struct mem_space *space)
{
    if (program->data_bytes >= program->patches * MEM_PAGE_BYTES / 2) /* a chase over pages: one word of each */
        mem_space_sparse(space, VALIDATE_DATA_ADDR, program->data_bytes);
    for (size_t i = 0; i < program->patches; i++) {
        uint8_t *const word = mem_at(space, VALIDATE_DATA_ADDR + program->patch[i].offset, 8, MEM_READ | MEM_WRITE);
        if (!word)
            return false;
        memcpy(word, &program->patch[i].value, 8); /* simulated memory is little-endian, as the host */
    }
    return true;
}
