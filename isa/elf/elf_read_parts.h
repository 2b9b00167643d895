/* What the files of the reader share. */
#ifndef ORCHARD_ISA_ELF_ELF_READ_PARTS_H
#define ORCHARD_ISA_ELF_ELF_READ_PARTS_H

#include "isa/elf/elf_read.h"

#include <elf.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tables are read by memcpy");

/* User addresses lie below this: AArch64 Linux has a virtual address space of 48 bits. */
#define ELF_ADDRESS_LIMIT (UINT64_C(1) << 48)

/* The checks of elf_open for sections, symbols and relocations. */
bool elf_check_sections(struct elf_file *elf, const Elf64_Ehdr *header, struct isa_error *error);
/* Whether somebody applies these relocations: those of loaded sections of an object. */
bool elf_relocations_apply(const struct elf_file *elf, const struct elf_section *rela, struct elf_section *target);

static inline bool elf_inside(uint64_t offset, uint64_t bytes, uint64_t size)
{
    return offset <= size && bytes <= size - offset;
}

static inline bool elf_power_of_two_or_zero(uint64_t n)
{
    return (n & (n - 1)) == 0;
}

static inline void elf_read_phdr(const struct elf_file *elf, uint32_t index, Elf64_Phdr *out)
{
    memcpy(out, elf->bytes + elf->phdr_offset + (uint64_t)index * sizeof *out, sizeof *out);
}

static inline void elf_read_shdr(const struct elf_file *elf, uint32_t index, Elf64_Shdr *out)
{
    memcpy(out, elf->bytes + elf->section_offset + (uint64_t)index * sizeof *out, sizeof *out);
}

#endif
