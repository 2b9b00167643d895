/* Opening a file: header, tables, segments and the dynamic section. */
#include "isa/elf/elf_read_parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Linkers write about ten program headers; a count above this is damaged. */
#define PHDR_LIMIT 256

void elf_clean_text(char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

bool elf_refuse(struct isa_error *error, uint64_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error->line = 0;
    error->offset = (unsigned long)offset;
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    elf_clean_text(error->text);
    return false;
}

bool elf_is(const void *bytes, size_t size)
{
    return size >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0;
}

static bool check_identity(const struct elf_file *elf, Elf64_Ehdr *header, struct isa_error *error)
{
    if (!elf_is(elf->bytes, elf->size))
        return elf_refuse(error, 0, "not an ELF file: it does not start with 7f 45 4c 46");
    if (elf->size < sizeof *header)
        return elf_refuse(error, elf->size, "the ELF header is cut off: %zu bytes, expected at least %zu", elf->size,
                          sizeof *header);
    memcpy(header, elf->bytes, sizeof *header);
    if (header->e_ident[EI_CLASS] != ELFCLASS64)
        return elf_refuse(error, EI_CLASS, "ELF class %u, expected 2 (64-bit)", header->e_ident[EI_CLASS]);
    if (header->e_ident[EI_DATA] != ELFDATA2LSB)
        return elf_refuse(error, EI_DATA, "ELF data encoding %u, expected 1 (little-endian)", header->e_ident[EI_DATA]);
    if (header->e_machine != EM_AARCH64)
        return elf_refuse(error, offsetof(Elf64_Ehdr, e_machine),
                          "ELF machine %u, expected 183 (AArch64): compile with aarch64-linux-gnu-gcc", header->e_machine);
    return true;
}

static bool check_kind(struct elf_file *elf, const Elf64_Ehdr *header, struct isa_error *error)
{
    switch (header->e_type) {
    case ET_EXEC: elf->kind = ELF_EXECUTABLE; return true;
    case ET_DYN: elf->kind = ELF_PIE; return true;
    case ET_REL: elf->kind = ELF_OBJECT; return true;
    default:
        return elf_refuse(error, offsetof(Elf64_Ehdr, e_type),
                          "ELF type %u, expected 1 (object), 2 (executable) or 3 (static PIE)", header->e_type);
    }
}

/* Checks that both header tables lie in the file and have entries of the size that the format prescribes. */
static bool check_tables(struct elf_file *elf, const Elf64_Ehdr *header, struct isa_error *error)
{
    const uint64_t phdr_bytes = (uint64_t)header->e_phnum * sizeof(Elf64_Phdr);
    const uint64_t shdr_bytes = (uint64_t)header->e_shnum * sizeof(Elf64_Shdr);
    if (header->e_phnum && header->e_phentsize != sizeof(Elf64_Phdr))
        return elf_refuse(error, offsetof(Elf64_Ehdr, e_phentsize), "program header size %u, expected %zu", header->e_phentsize,
                          sizeof(Elf64_Phdr));
    if (header->e_phnum > PHDR_LIMIT)
        return elf_refuse(error, offsetof(Elf64_Ehdr, e_phnum), "%u program headers, expected at most %u", header->e_phnum,
                          PHDR_LIMIT);
    if (!elf_inside(header->e_phoff, phdr_bytes, elf->size))
        return elf_refuse(error, offsetof(Elf64_Ehdr, e_phoff),
                          "%u program headers at offset 0x%" PRIx64 " lie outside the file of %zu bytes", header->e_phnum,
                          header->e_phoff, elf->size);
    if (header->e_shnum && header->e_shentsize != sizeof(Elf64_Shdr))
        return elf_refuse(error, offsetof(Elf64_Ehdr, e_shentsize), "section header size %u, expected %zu", header->e_shentsize,
                          sizeof(Elf64_Shdr));
    if (!elf_inside(header->e_shoff, shdr_bytes, elf->size))
        return elf_refuse(error, offsetof(Elf64_Ehdr, e_shoff),
                          "%u section headers at offset 0x%" PRIx64 " lie outside the file of %zu bytes", header->e_shnum,
                          header->e_shoff, elf->size);
    if (header->e_shnum == 0 && header->e_shoff != 0)
        return elf_refuse(error, offsetof(Elf64_Ehdr, e_shnum),
                          "section count 0 with a section table: files of more than 65279 sections are not read");
    elf->phdr_offset = header->e_phoff;
    elf->phdr_count = header->e_phnum;
    elf->section_offset = header->e_shoff;
    elf->section_count = header->e_shnum;
    elf->entry = header->e_entry;
    return true;
}

static bool check_load(struct elf_file *elf, uint32_t index, const Elf64_Phdr *p, struct isa_error *error)
{
    const uint64_t at = elf->phdr_offset + (uint64_t)index * sizeof *p;
    if (p->p_filesz && !elf_inside(p->p_offset, p->p_filesz, elf->size)) /* the offset of no bytes means nothing */
        return elf_refuse(error, at + offsetof(Elf64_Phdr, p_offset),
                          "segment %u: 0x%" PRIx64 " bytes at offset 0x%" PRIx64 " lie outside the file of %zu bytes", index,
                          p->p_filesz, p->p_offset, elf->size);
    if (p->p_filesz > p->p_memsz)
        return elf_refuse(error, at + offsetof(Elf64_Phdr, p_memsz),
                          "segment %u: 0x%" PRIx64 " bytes in memory hold less than the 0x%" PRIx64 " of the file", index,
                          p->p_memsz, p->p_filesz);
    if (!elf_inside(p->p_vaddr, p->p_memsz, ELF_ADDRESS_LIMIT))
        return elf_refuse(error, at + offsetof(Elf64_Phdr, p_vaddr),
                          "segment %u: 0x%" PRIx64 " bytes at address 0x%" PRIx64 " leave the 48-bit address space", index,
                          p->p_memsz, p->p_vaddr);
    if (!elf_power_of_two_or_zero(p->p_align))
        return elf_refuse(error, at + offsetof(Elf64_Phdr, p_align), "segment %u: alignment 0x%" PRIx64 " is not a power of two",
                          index, p->p_align);
    if (elf->load_count && p->p_vaddr < elf->high)
        return elf_refuse(error, at + offsetof(Elf64_Phdr, p_vaddr),
                          "segment %u at address 0x%" PRIx64 " overlaps or precedes the one before, which ends at 0x%" PRIx64,
                          index, p->p_vaddr, elf->high);
    if (elf->load_count == 0)
        elf->low = p->p_vaddr;
    elf->high = p->p_vaddr + p->p_memsz;
    elf->load_count++;
    const uint64_t table = (uint64_t)elf->phdr_count * sizeof *p;
    if (p->p_offset <= elf->phdr_offset && elf_inside(elf->phdr_offset - p->p_offset, table, p->p_filesz))
        elf->phdr_addr = p->p_vaddr + (elf->phdr_offset - p->p_offset);
    return true;
}

/* Finds where the segments put [addr, addr+bytes) in the file. */
static bool file_range(const struct elf_file *elf, uint64_t addr, uint64_t bytes, uint64_t *offset)
{
    for (uint32_t i = 0; i < elf->load_count; i++) {
        struct elf_segment s;
        elf_segment(elf, i, &s);
        if (addr >= s.addr && elf_inside(addr - s.addr, bytes, s.file_bytes)) {
            *offset = s.offset + (addr - s.addr);
            return true;
        }
    }
    return false;
}

/* A static PIE relocates itself when it starts. To call its functions without starting it, the RELA table is needed. */
static bool check_dynamic(struct elf_file *elf, const Elf64_Phdr *p, struct isa_error *error)
{
    if (!elf_inside(p->p_offset, p->p_filesz, elf->size))
        return elf_refuse(error, p->p_offset, "the dynamic section lies outside the file of %zu bytes", elf->size);
    uint64_t rela = 0, rela_bytes = 0;
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= p->p_filesz; at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        memcpy(&entry, elf->bytes + p->p_offset + at, sizeof entry);
        if (entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_NEEDED)
            return elf_refuse(error, p->p_offset + at,
                              "the program needs shared libraries, which are not loaded: link it with -static");
        if (entry.d_tag == DT_RELA)
            rela = entry.d_un.d_ptr;
        if (entry.d_tag == DT_RELASZ)
            rela_bytes = entry.d_un.d_val;
    }
    if (rela_bytes && !file_range(elf, rela, rela_bytes, &elf->relative_offset))
        return elf_refuse(error, p->p_offset,
                          "the dynamic relocations (0x%" PRIx64 " bytes at 0x%" PRIx64 ") lie outside the segments", rela_bytes,
                          rela);
    elf->relative_bytes = rela_bytes;
    return true;
}

static bool check_segments(struct elf_file *elf, struct isa_error *error)
{
    for (uint32_t i = 0; i < elf->phdr_count; i++) {
        Elf64_Phdr p;
        elf_read_phdr(elf, i, &p);
        if (p.p_type == PT_INTERP)
            return elf_refuse(error, elf->phdr_offset + (uint64_t)i * sizeof p,
                              "the program wants a dynamic linker, which is not there: link it with -static");
        if (p.p_type == PT_LOAD && p.p_memsz && !check_load(elf, i, &p, error))
            return false;
    }
    for (uint32_t i = 0; i < elf->phdr_count; i++) {
        Elf64_Phdr p;
        elf_read_phdr(elf, i, &p);
        if (p.p_type == PT_DYNAMIC && !check_dynamic(elf, &p, error))
            return false;
    }
    if (elf->kind != ELF_OBJECT && elf->load_count == 0)
        return elf_refuse(error, offsetof(Elf64_Ehdr, e_phnum), "the executable has no loadable segment");
    return true;
}

bool elf_open(struct elf_file *elf, const void *bytes, size_t size, struct isa_error *error)
{
    Elf64_Ehdr header;
    memset(elf, 0, sizeof *elf);
    elf->bytes = bytes;
    elf->size = size;
    return check_identity(elf, &header, error) && check_kind(elf, &header, error) && check_tables(elf, &header, error) &&
           check_segments(elf, error) && elf_check_sections(elf, &header, error);
}
