/* Opening a file: sections, symbols and relocations. */
#include "isa/elf/elf_read_parts.h"

#include <inttypes.h>

/* Checks that a string table ends in NUL, so that every offset inside it is the start of a string. */
static bool check_strings(const struct elf_file *elf, uint32_t index, const char *what, Elf64_Shdr *strings,
                          struct isa_error *error)
{
    if (index >= elf->section_count)
        return elf_refuse(error, offsetof(Elf64_Ehdr, e_shstrndx), "%s: section %u does not exist (%u sections)", what, index,
                          elf->section_count);
    elf_read_shdr(elf, index, strings);
    const uint64_t at = elf->section_offset + (uint64_t)index * sizeof *strings;
    if (strings->sh_type != SHT_STRTAB)
        return elf_refuse(error, at, "%s: section %u has type %u, expected 3 (string table)", what, index, strings->sh_type);
    if (!elf_inside(strings->sh_offset, strings->sh_size, elf->size))
        return elf_refuse(error, at, "%s: section %u lies outside the file of %zu bytes", what, index, elf->size);
    if (strings->sh_size == 0 || elf->bytes[strings->sh_offset + strings->sh_size - 1] != 0)
        return elf_refuse(error, strings->sh_offset, "%s: the string table does not end in a zero byte", what);
    return true;
}

static bool check_section(const struct elf_file *elf, uint32_t index, const Elf64_Shdr *names, struct isa_error *error)
{
    Elf64_Shdr s;
    elf_read_shdr(elf, index, &s);
    const uint64_t at = elf->section_offset + (uint64_t)index * sizeof s;
    if (s.sh_name >= names->sh_size)
        return elf_refuse(error, at, "section %u: name at 0x%x lies outside the string table of 0x%" PRIx64 " bytes", index,
                          s.sh_name, names->sh_size);
    if (s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL && !elf_inside(s.sh_offset, s.sh_size, elf->size))
        return elf_refuse(error, at + offsetof(Elf64_Shdr, sh_offset),
                          "section %u: 0x%" PRIx64 " bytes at offset 0x%" PRIx64 " lie outside the file of %zu bytes", index,
                          s.sh_size, s.sh_offset, elf->size);
    if (!elf_power_of_two_or_zero(s.sh_addralign))
        return elf_refuse(error, at + offsetof(Elf64_Shdr, sh_addralign),
                          "section %u: alignment 0x%" PRIx64 " is not a power of two", index, s.sh_addralign);
    if (s.sh_size >= ELF_ADDRESS_LIMIT || s.sh_addralign >= ELF_ADDRESS_LIMIT)
        return elf_refuse(error, at + offsetof(Elf64_Shdr, sh_size), "section %u: 0x%" PRIx64 " bytes is absurd", index,
                          s.sh_size);
    return true;
}

static bool check_symbols(struct elf_file *elf, uint32_t index, struct isa_error *error)
{
    Elf64_Shdr table, names;
    elf_read_shdr(elf, index, &table);
    const uint64_t at = elf->section_offset + (uint64_t)index * sizeof table;
    if (elf->symbol_count)
        return elf_refuse(error, at, "section %u is a second symbol table, expected one", index);
    if (table.sh_entsize != sizeof(Elf64_Sym) || table.sh_size % sizeof(Elf64_Sym))
        return elf_refuse(error, at + offsetof(Elf64_Shdr, sh_entsize), "symbol size %" PRIu64 ", expected %zu", table.sh_entsize,
                          sizeof(Elf64_Sym));
    if (table.sh_size / sizeof(Elf64_Sym) > UINT32_MAX)
        return elf_refuse(error, at + offsetof(Elf64_Shdr, sh_size), "too many symbols");
    if (!check_strings(elf, table.sh_link, "symbol names", &names, error))
        return false;
    elf->symbol_offset = table.sh_offset;
    elf->symbol_names_offset = names.sh_offset;
    elf->symbol_count = (uint32_t)(table.sh_size / sizeof(Elf64_Sym));
    for (uint32_t i = 0; i < elf->symbol_count; i++) {
        Elf64_Sym s;
        const uint64_t symbol_at = table.sh_offset + (uint64_t)i * sizeof s;
        memcpy(&s, elf->bytes + symbol_at, sizeof s);
        if (s.st_name >= names.sh_size)
            return elf_refuse(error, symbol_at, "symbol %u: name at 0x%x lies outside the string table of 0x%" PRIx64 " bytes", i,
                              s.st_name, names.sh_size);
        if (s.st_shndx >= elf->section_count && s.st_shndx < SHN_LORESERVE)
            return elf_refuse(error, symbol_at, "symbol %u: section %u does not exist (%u sections)", i, s.st_shndx,
                              elf->section_count);
    }
    return true;
}

static bool check_relocations(const struct elf_file *elf, uint32_t index, uint64_t *total, struct isa_error *error)
{
    Elf64_Shdr raw;
    struct elf_section rela, target;
    elf_read_shdr(elf, index, &raw);
    elf_section(elf, index, &rela);
    const uint64_t at = elf->section_offset + (uint64_t)index * sizeof raw;
    if (elf->kind == ELF_OBJECT && raw.sh_type == SHT_REL)
        return elf_refuse(error, at, "section %u holds relocations without addends, which AArch64 does not use", index);
    if (raw.sh_type != SHT_RELA || elf->kind != ELF_OBJECT)
        return true;
    if (raw.sh_info >= elf->section_count)
        return elf_refuse(error, at, "section %u: relocates section %u, which does not exist", index, raw.sh_info);
    if (raw.sh_entsize != sizeof(Elf64_Rela) || raw.sh_size % sizeof(Elf64_Rela))
        return elf_refuse(error, at + offsetof(Elf64_Shdr, sh_entsize), "section %u: relocation size %" PRIu64 ", expected %zu",
                          index, raw.sh_entsize, sizeof(Elf64_Rela));
    *total += raw.sh_size;
    if (*total > elf->size) /* tables that share no bytes fit the file; this bounds the work below */
        return elf_refuse(error, at, "section %u: the relocation tables together are larger than the file", index);
    if (!elf_relocations_apply(elf, &rela, &target))
        return true;
    const uint32_t count = elf_relocation_count(elf, &rela);
    for (uint32_t i = 0; i < count; i++) {
        struct elf_relocation r;
        elf_relocation(elf, &rela, i, &r);
        const uint64_t relocation_at = raw.sh_offset + (uint64_t)i * sizeof(Elf64_Rela);
        if (r.symbol >= elf->symbol_count)
            return elf_refuse(error, relocation_at, "relocation %u of %.60s: symbol %u does not exist (%u symbols)", i,
                              target.name, r.symbol, elf->symbol_count);
        if (r.offset >= target.bytes)
            return elf_refuse(error, relocation_at,
                              "relocation %u of %.60s: offset 0x%" PRIx64 " lies outside the section of 0x%" PRIx64 " bytes", i,
                              target.name, r.offset, target.bytes);
    }
    return true;
}

bool elf_check_sections(struct elf_file *elf, const Elf64_Ehdr *header, struct isa_error *error)
{
    Elf64_Shdr names;
    if (elf->section_count == 0)
        return elf->kind == ELF_OBJECT ? elf_refuse(error, offsetof(Elf64_Ehdr, e_shnum), "the object file has no sections")
                                       : true;
    if (!check_strings(elf, header->e_shstrndx, "section names", &names, error))
        return false;
    for (uint32_t i = 0; i < elf->section_count; i++)
        if (!check_section(elf, i, &names, error))
            return false;
    for (uint32_t i = 0; i < elf->section_count; i++) {
        Elf64_Shdr s;
        elf_read_shdr(elf, i, &s);
        if (s.sh_type == SHT_SYMTAB && !check_symbols(elf, i, error))
            return false;
    }
    uint64_t total = 0;
    for (uint32_t i = 0; i < elf->section_count; i++)
        if (!check_relocations(elf, i, &total, error))
            return false;
    return true;
}
