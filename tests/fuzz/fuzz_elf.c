/* Arbitrary bytes as an ELF file: read, loaded, linked, symbols and relocations walked. Whatever loads keeps the promise
 * that no simulated page holds host data outside the space (the address sanitizer watches).
 */
#include "isa/elf/elf_read.h"
#include "units/cpu/cpu_load.h"
#include "units/mem/mem_space.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct elf_file *elf, const struct cpu_image *image)
{
    const char *name;
    uint64_t addr, offset;
    for (uint32_t i = 0; i < elf->symbol_count; i++) {
        struct elf_symbol s;
        elf_symbol(elf, i, &s);
        elf_symbol_is_entry(elf, &s);
        if (i < 16 && cpu_image_symbol(image, s.name, &addr))
            cpu_image_locate(image, addr, &name, &offset);
    }
    for (uint32_t i = 0; i < elf->section_count; i++) {
        struct elf_section s;
        elf_section(elf, i, &s);
        const uint32_t count = elf_relocation_count(elf, &s);
        for (uint32_t n = 0; n < count; n++) {
            struct elf_relocation r;
            elf_relocation(elf, &s, n, &r);
            elf_relocation_name(r.type);
        }
    }
}

static void load(const struct elf_file *elf)
{
    static const char *const argv[] = {"fuzz"};
    const struct cpu_stack_params params = {.bytes = 1 << 16, .argv = argv, .argc = 1};
    struct mem_space *space = mem_space_create(UINT64_C(1) << 29);
    struct cpu_image image;
    struct isa_error error;
    struct cpu_stack stack;
    if (!space)
        return;
    if (cpu_load(space, elf, &image, &error)) {
        walk(elf, &image);
        cpu_load_stack(space, &image, &params, &stack, &error);
        cpu_image_release(&image);
    }
    mem_space_free(space);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct elf_file elf;
    struct isa_error error;
    memset(&error, 0, sizeof error);
    if (elf_open(&elf, data, size, &error))
        load(&elf);
    else if (error.text[0] == 0 || strchr(error.text, '\n'))
        __builtin_trap(); /* every refusal is one line */
    return 0;
}
