/* ELF files are read, loaded and linked, and their symbols and relocations are walked. An input that starts like an ELF file is
 * taken as it is. Any other is a list of patches (offset, value) of a good executable or object, so that mutations without a
 * corpus reach the linker too. The address sanitizer watches.
 */
#include "isa/elf/elf_read.h"
#include "isa/elf/elf_write.h"
#include "units/cpu/cpu_load.h"
#include "units/mem/mem_space.h"

#include <elf.h>
#include <stdlib.h>
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

static void try_file(const uint8_t *file, size_t size)
{
    struct elf_file elf;
    struct isa_error error;
    memset(&error, 0, sizeof error);
    if (elf_open(&elf, file, size, &error))
        load(&elf);
    else if (error.text[0] == 0 || strchr(error.text, '\n'))
        __builtin_trap(); /* every refusal is one line */
}

static uint8_t *good_executable(size_t *size)
{
    static const uint32_t code[16] = {0xd65f03c0};
    static const struct elf_label labels[] = {{"_start", 0x400000, 64, true}, {"table", 0x404000, 8, false}};
    const struct elf_program program = {.code = {0x400000, code, sizeof code},
                                        .data = {0x404000, code, 8},
                                        .bss_addr = 0x408000,
                                        .bss_bytes = 64,
                                        .labels = labels,
                                        .label_count = 2};
    struct isa_error error;
    return elf_write(&program, size, &error);
}

/* An object with a call, an address in data, a common symbol and an access through the global offset table. */
struct object {
    Elf64_Ehdr header;
    uint32_t text[8];
    uint64_t data[2];
    Elf64_Rela text_rela[4], data_rela[1];
    Elf64_Sym symbol[5];
    char names[24];
    Elf64_Shdr section[7];
};

#define AT(member) offsetof(struct object, member)
#define PART(kind, flag, member, l, i, entry)                                                                                    \
    {                                                                                                                            \
        .sh_type = kind, .sh_flags = flag, .sh_offset = AT(member), .sh_size = sizeof(((struct object *)0)->member),             \
        .sh_link = l, .sh_info = i, .sh_addralign = 8, .sh_entsize = entry                                                       \
    }

static const struct object good_object = {
    .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
               .e_type = ET_REL,
               .e_machine = EM_AARCH64,
               .e_version = 1,
               .e_shoff = AT(section),
               .e_ehsize = sizeof(Elf64_Ehdr),
               .e_shentsize = sizeof(Elf64_Shdr),
               .e_shnum = 7,
               .e_shstrndx = 6},
    .text = {0x94000000, 0x90000000, 0xf9400000, 0x90000001, 0xf9400021, 0xd65f03c0},
    .text_rela = {{0, ELF64_R_INFO(1, R_AARCH64_CALL26), 4},
                  {4, ELF64_R_INFO(2, R_AARCH64_ADR_PREL_PG_HI21), 0},
                  {8, ELF64_R_INFO(2, R_AARCH64_LDST64_ABS_LO12_NC), 8},
                  {12, ELF64_R_INFO(3, R_AARCH64_ADR_GOT_PAGE), 0}},
    .data_rela = {{0, ELF64_R_INFO(1, R_AARCH64_ABS64), 0}},
    .symbol = {{0},
               {1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0, 24},
               {3, ELF64_ST_INFO(STB_LOCAL, STT_OBJECT), 0, 2, 0, 16},
               {5, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, SHN_COMMON, 16, 64},
               {7, ELF64_ST_INFO(STB_WEAK, STT_NOTYPE), 0, SHN_UNDEF, 0, 0}},
    .names = "\0f\0d\0c\0w\0.text\0.data",
    .section = {{0},
                PART(SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, text, 0, 0, 0),
                PART(SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, data, 0, 0, 0),
                PART(SHT_RELA, 0, text_rela, 5, 1, sizeof(Elf64_Rela)),
                PART(SHT_RELA, 0, data_rela, 5, 2, sizeof(Elf64_Rela)),
                PART(SHT_SYMTAB, 0, symbol, 6, 3, sizeof(Elf64_Sym)),
                PART(SHT_STRTAB, 0, names, 0, 0, 0)}};

/* Two bytes of offset, one of value. The executable's headers and tables are hit as often as its long empty middle. */
static void patch(uint8_t *file, size_t file_size, const uint8_t *data, size_t size)
{
    for (; size >= 3; data += 3, size -= 3) {
        const size_t at = (size_t)data[0] | (size_t)data[1] << 8;
        file[(at & 1 ? at : file_size - 1 - at % 1024) % file_size] = data[2];
    }
    try_file(file, file_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || elf_is(data, size)) {
        try_file(data, size);
        return 0;
    }
    size_t file_size = sizeof good_object;
    uint8_t *file = data[0] & 1 ? malloc(file_size) : good_executable(&file_size);
    if (file && data[0] & 1)
        memcpy(file, &good_object, file_size);
    if (file)
        patch(file, file_size, data + 1, size - 1);
    free(file);
    return 0;
}
