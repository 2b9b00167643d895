#include "isa/elf/elf_read.h"

#include <elf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tables are read by memcpy");

/* Addresses above this cannot be user addresses (48-bit virtual address space of AArch64 Linux). */
#define ADDRESS_LIMIT (UINT64_C(1) << 48)
/* Linkers write about ten program headers; more than this is a damaged count. */
#define PHDR_LIMIT 256

void elf_clean_text(char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

__attribute__((format(printf, 3, 4))) static bool refuse(struct isa_error *error, uint64_t offset, const char *format, ...)
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

static bool inside(uint64_t offset, uint64_t bytes, uint64_t size)
{
    return offset <= size && bytes <= size - offset;
}

static bool power_of_two_or_zero(uint64_t n)
{
    return (n & (n - 1)) == 0;
}

static void read_phdr(const struct elf_file *elf, uint32_t index, Elf64_Phdr *out)
{
    memcpy(out, elf->bytes + elf->phdr_offset + (uint64_t)index * sizeof *out, sizeof *out);
}

static void read_shdr(const struct elf_file *elf, uint32_t index, Elf64_Shdr *out)
{
    memcpy(out, elf->bytes + elf->section_offset + (uint64_t)index * sizeof *out, sizeof *out);
}

bool elf_is(const void *bytes, size_t size)
{
    return size >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0;
}

static bool check_identity(const struct elf_file *elf, Elf64_Ehdr *header, struct isa_error *error)
{
    if (!elf_is(elf->bytes, elf->size))
        return refuse(error, 0, "not an ELF file: it does not start with 7f 45 4c 46");
    if (elf->size < sizeof *header)
        return refuse(error, elf->size, "the ELF header is cut off: %zu bytes, expected at least %zu", elf->size, sizeof *header);
    memcpy(header, elf->bytes, sizeof *header);
    if (header->e_ident[EI_CLASS] != ELFCLASS64)
        return refuse(error, EI_CLASS, "ELF class %u, expected 2 (64-bit)", header->e_ident[EI_CLASS]);
    if (header->e_ident[EI_DATA] != ELFDATA2LSB)
        return refuse(error, EI_DATA, "ELF data encoding %u, expected 1 (little-endian)", header->e_ident[EI_DATA]);
    if (header->e_machine != EM_AARCH64)
        return refuse(error, offsetof(Elf64_Ehdr, e_machine),
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
        return refuse(error, offsetof(Elf64_Ehdr, e_type), "ELF type %u, expected 1 (object), 2 (executable) or 3 (static PIE)",
                      header->e_type);
    }
}

/* Both header tables lie in the file and have entries of the size that this format prescribes. */
static bool check_tables(struct elf_file *elf, const Elf64_Ehdr *header, struct isa_error *error)
{
    const uint64_t phdr_bytes = (uint64_t)header->e_phnum * sizeof(Elf64_Phdr);
    const uint64_t shdr_bytes = (uint64_t)header->e_shnum * sizeof(Elf64_Shdr);
    if (header->e_phnum && header->e_phentsize != sizeof(Elf64_Phdr))
        return refuse(error, offsetof(Elf64_Ehdr, e_phentsize), "program header size %u, expected %zu", header->e_phentsize,
                      sizeof(Elf64_Phdr));
    if (header->e_phnum > PHDR_LIMIT)
        return refuse(error, offsetof(Elf64_Ehdr, e_phnum), "%u program headers, expected at most %u", header->e_phnum,
                      PHDR_LIMIT);
    if (!inside(header->e_phoff, phdr_bytes, elf->size))
        return refuse(error, offsetof(Elf64_Ehdr, e_phoff),
                      "%u program headers at offset 0x%" PRIx64 " lie outside the file of %zu bytes", header->e_phnum,
                      header->e_phoff, elf->size);
    if (header->e_shnum && header->e_shentsize != sizeof(Elf64_Shdr))
        return refuse(error, offsetof(Elf64_Ehdr, e_shentsize), "section header size %u, expected %zu", header->e_shentsize,
                      sizeof(Elf64_Shdr));
    if (!inside(header->e_shoff, shdr_bytes, elf->size))
        return refuse(error, offsetof(Elf64_Ehdr, e_shoff),
                      "%u section headers at offset 0x%" PRIx64 " lie outside the file of %zu bytes", header->e_shnum,
                      header->e_shoff, elf->size);
    if (header->e_shnum == 0 && header->e_shoff != 0)
        return refuse(error, offsetof(Elf64_Ehdr, e_shnum),
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
    if (p->p_filesz && !inside(p->p_offset, p->p_filesz, elf->size)) /* without bytes the offset means nothing */
        return refuse(error, at + offsetof(Elf64_Phdr, p_offset),
                      "segment %u: 0x%" PRIx64 " bytes at offset 0x%" PRIx64 " lie outside the file of %zu bytes", index,
                      p->p_filesz, p->p_offset, elf->size);
    if (p->p_filesz > p->p_memsz)
        return refuse(error, at + offsetof(Elf64_Phdr, p_memsz),
                      "segment %u: 0x%" PRIx64 " bytes in memory hold less than the 0x%" PRIx64 " of the file", index, p->p_memsz,
                      p->p_filesz);
    if (!inside(p->p_vaddr, p->p_memsz, ADDRESS_LIMIT))
        return refuse(error, at + offsetof(Elf64_Phdr, p_vaddr),
                      "segment %u: 0x%" PRIx64 " bytes at address 0x%" PRIx64 " leave the 48-bit address space", index,
                      p->p_memsz, p->p_vaddr);
    if (!power_of_two_or_zero(p->p_align))
        return refuse(error, at + offsetof(Elf64_Phdr, p_align), "segment %u: alignment 0x%" PRIx64 " is not a power of two",
                      index, p->p_align);
    if (elf->load_count && p->p_vaddr < elf->high)
        return refuse(error, at + offsetof(Elf64_Phdr, p_vaddr),
                      "segment %u at address 0x%" PRIx64 " overlaps or precedes the one before, which ends at 0x%" PRIx64, index,
                      p->p_vaddr, elf->high);
    if (elf->load_count == 0)
        elf->low = p->p_vaddr;
    elf->high = p->p_vaddr + p->p_memsz;
    elf->load_count++;
    const uint64_t table = (uint64_t)elf->phdr_count * sizeof *p;
    if (p->p_offset <= elf->phdr_offset && inside(elf->phdr_offset - p->p_offset, table, p->p_filesz))
        elf->phdr_addr = p->p_vaddr + (elf->phdr_offset - p->p_offset);
    return true;
}

/* Finds where the segments put [addr, addr+bytes) in the file. */
static bool file_range(const struct elf_file *elf, uint64_t addr, uint64_t bytes, uint64_t *offset)
{
    for (uint32_t i = 0; i < elf->load_count; i++) {
        struct elf_segment s;
        elf_segment(elf, i, &s);
        if (addr >= s.addr && inside(addr - s.addr, bytes, s.file_bytes)) {
            *offset = s.offset + (addr - s.addr);
            return true;
        }
    }
    return false;
}

/* A static PIE relocates itself when it starts; functions called without that start need its RELA table. */
static bool check_dynamic(struct elf_file *elf, const Elf64_Phdr *p, struct isa_error *error)
{
    if (!inside(p->p_offset, p->p_filesz, elf->size))
        return refuse(error, p->p_offset, "the dynamic section lies outside the file of %zu bytes", elf->size);
    uint64_t rela = 0, rela_bytes = 0;
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= p->p_filesz; at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        memcpy(&entry, elf->bytes + p->p_offset + at, sizeof entry);
        if (entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_NEEDED)
            return refuse(error, p->p_offset + at,
                          "the program needs shared libraries, which are not loaded: link it with -static");
        if (entry.d_tag == DT_RELA)
            rela = entry.d_un.d_ptr;
        if (entry.d_tag == DT_RELASZ)
            rela_bytes = entry.d_un.d_val;
    }
    if (rela_bytes && !file_range(elf, rela, rela_bytes, &elf->relative_offset))
        return refuse(error, p->p_offset,
                      "the dynamic relocations (0x%" PRIx64 " bytes at 0x%" PRIx64 ") lie outside the segments", rela_bytes,
                      rela);
    elf->relative_bytes = rela_bytes;
    return true;
}

static bool check_segments(struct elf_file *elf, struct isa_error *error)
{
    for (uint32_t i = 0; i < elf->phdr_count; i++) {
        Elf64_Phdr p;
        read_phdr(elf, i, &p);
        if (p.p_type == PT_INTERP)
            return refuse(error, elf->phdr_offset + (uint64_t)i * sizeof p,
                          "the program wants a dynamic linker, which is not there: link it with -static");
        if (p.p_type == PT_LOAD && p.p_memsz && !check_load(elf, i, &p, error))
            return false;
    }
    for (uint32_t i = 0; i < elf->phdr_count; i++) {
        Elf64_Phdr p;
        read_phdr(elf, i, &p);
        if (p.p_type == PT_DYNAMIC && !check_dynamic(elf, &p, error))
            return false;
    }
    if (elf->kind != ELF_OBJECT && elf->load_count == 0)
        return refuse(error, offsetof(Elf64_Ehdr, e_phnum), "the executable has no loadable segment");
    return true;
}

/* A string table that ends in NUL, so that every offset inside it is the start of a string. */
static bool check_strings(const struct elf_file *elf, uint32_t index, const char *what, Elf64_Shdr *strings,
                          struct isa_error *error)
{
    if (index >= elf->section_count)
        return refuse(error, offsetof(Elf64_Ehdr, e_shstrndx), "%s: section %u does not exist (%u sections)", what, index,
                      elf->section_count);
    read_shdr(elf, index, strings);
    const uint64_t at = elf->section_offset + (uint64_t)index * sizeof *strings;
    if (strings->sh_type != SHT_STRTAB)
        return refuse(error, at, "%s: section %u has type %u, expected 3 (string table)", what, index, strings->sh_type);
    if (!inside(strings->sh_offset, strings->sh_size, elf->size))
        return refuse(error, at, "%s: section %u lies outside the file of %zu bytes", what, index, elf->size);
    if (strings->sh_size == 0 || elf->bytes[strings->sh_offset + strings->sh_size - 1] != 0)
        return refuse(error, strings->sh_offset, "%s: the string table does not end in a zero byte", what);
    return true;
}

static bool check_section(const struct elf_file *elf, uint32_t index, const Elf64_Shdr *names, struct isa_error *error)
{
    Elf64_Shdr s;
    read_shdr(elf, index, &s);
    const uint64_t at = elf->section_offset + (uint64_t)index * sizeof s;
    if (s.sh_name >= names->sh_size)
        return refuse(error, at, "section %u: name at 0x%x lies outside the string table of 0x%" PRIx64 " bytes", index,
                      s.sh_name, names->sh_size);
    if (s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL && !inside(s.sh_offset, s.sh_size, elf->size))
        return refuse(error, at + offsetof(Elf64_Shdr, sh_offset),
                      "section %u: 0x%" PRIx64 " bytes at offset 0x%" PRIx64 " lie outside the file of %zu bytes", index,
                      s.sh_size, s.sh_offset, elf->size);
    if (!power_of_two_or_zero(s.sh_addralign))
        return refuse(error, at + offsetof(Elf64_Shdr, sh_addralign), "section %u: alignment 0x%" PRIx64 " is not a power of two",
                      index, s.sh_addralign);
    if (s.sh_size >= ADDRESS_LIMIT || s.sh_addralign >= ADDRESS_LIMIT)
        return refuse(error, at + offsetof(Elf64_Shdr, sh_size), "section %u: 0x%" PRIx64 " bytes is absurd", index, s.sh_size);
    return true;
}

static bool check_symbols(struct elf_file *elf, uint32_t index, struct isa_error *error)
{
    Elf64_Shdr table, names;
    read_shdr(elf, index, &table);
    const uint64_t at = elf->section_offset + (uint64_t)index * sizeof table;
    if (elf->symbol_count)
        return refuse(error, at, "section %u is a second symbol table, expected one", index);
    if (table.sh_entsize != sizeof(Elf64_Sym) || table.sh_size % sizeof(Elf64_Sym))
        return refuse(error, at + offsetof(Elf64_Shdr, sh_entsize), "symbol size %" PRIu64 ", expected %zu", table.sh_entsize,
                      sizeof(Elf64_Sym));
    if (table.sh_size / sizeof(Elf64_Sym) > UINT32_MAX)
        return refuse(error, at + offsetof(Elf64_Shdr, sh_size), "too many symbols");
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
            return refuse(error, symbol_at, "symbol %u: name at 0x%x lies outside the string table of 0x%" PRIx64 " bytes", i,
                          s.st_name, names.sh_size);
        if (s.st_shndx >= elf->section_count && s.st_shndx < SHN_LORESERVE)
            return refuse(error, symbol_at, "symbol %u: section %u does not exist (%u sections)", i, s.st_shndx,
                          elf->section_count);
    }
    return true;
}

/* Relocations of loaded sections of an object: the only ones that anybody applies. */
static bool applies(const struct elf_file *elf, const struct elf_section *rela, struct elf_section *target)
{
    if (elf->kind != ELF_OBJECT || rela->type != SHT_RELA || rela->info >= elf->section_count)
        return false;
    elf_section(elf, rela->info, target);
    return (target->flags & SHF_ALLOC) && target->type != SHT_NOBITS;
}

static bool check_relocations(const struct elf_file *elf, uint32_t index, uint64_t *total, struct isa_error *error)
{
    Elf64_Shdr raw;
    struct elf_section rela, target;
    read_shdr(elf, index, &raw);
    elf_section(elf, index, &rela);
    const uint64_t at = elf->section_offset + (uint64_t)index * sizeof raw;
    if (elf->kind == ELF_OBJECT && raw.sh_type == SHT_REL)
        return refuse(error, at, "section %u holds relocations without addends, which AArch64 does not use", index);
    if (raw.sh_type != SHT_RELA || elf->kind != ELF_OBJECT)
        return true;
    if (raw.sh_info >= elf->section_count)
        return refuse(error, at, "section %u: relocates section %u, which does not exist", index, raw.sh_info);
    if (raw.sh_entsize != sizeof(Elf64_Rela) || raw.sh_size % sizeof(Elf64_Rela))
        return refuse(error, at + offsetof(Elf64_Shdr, sh_entsize), "section %u: relocation size %" PRIu64 ", expected %zu",
                      index, raw.sh_entsize, sizeof(Elf64_Rela));
    *total += raw.sh_size;
    if (*total > elf->size) /* tables do not share bytes, so all of them fit the file; bounds the work below */
        return refuse(error, at, "section %u: the relocation tables together are larger than the file", index);
    if (!applies(elf, &rela, &target))
        return true;
    const uint32_t count = elf_relocation_count(elf, &rela);
    for (uint32_t i = 0; i < count; i++) {
        struct elf_relocation r;
        elf_relocation(elf, &rela, i, &r);
        const uint64_t relocation_at = raw.sh_offset + (uint64_t)i * sizeof(Elf64_Rela);
        if (r.symbol >= elf->symbol_count)
            return refuse(error, relocation_at, "relocation %u of %.60s: symbol %u does not exist (%u symbols)", i, target.name,
                          r.symbol, elf->symbol_count);
        if (r.offset >= target.bytes)
            return refuse(error, relocation_at,
                          "relocation %u of %.60s: offset 0x%" PRIx64 " lies outside the section of 0x%" PRIx64 " bytes", i,
                          target.name, r.offset, target.bytes);
    }
    return true;
}

static bool check_sections(struct elf_file *elf, const Elf64_Ehdr *header, struct isa_error *error)
{
    Elf64_Shdr names;
    if (elf->section_count == 0)
        return elf->kind == ELF_OBJECT ? refuse(error, offsetof(Elf64_Ehdr, e_shnum), "the object file has no sections") : true;
    if (!check_strings(elf, header->e_shstrndx, "section names", &names, error))
        return false;
    for (uint32_t i = 0; i < elf->section_count; i++)
        if (!check_section(elf, i, &names, error))
            return false;
    for (uint32_t i = 0; i < elf->section_count; i++) {
        Elf64_Shdr s;
        read_shdr(elf, i, &s);
        if (s.sh_type == SHT_SYMTAB && !check_symbols(elf, i, error))
            return false;
    }
    uint64_t total = 0;
    for (uint32_t i = 0; i < elf->section_count; i++)
        if (!check_relocations(elf, i, &total, error))
            return false;
    return true;
}

bool elf_open(struct elf_file *elf, const void *bytes, size_t size, struct isa_error *error)
{
    Elf64_Ehdr header;
    memset(elf, 0, sizeof *elf);
    elf->bytes = bytes;
    elf->size = size;
    return check_identity(elf, &header, error) && check_kind(elf, &header, error) && check_tables(elf, &header, error) &&
           check_segments(elf, error) && check_sections(elf, &header, error);
}

void elf_segment(const struct elf_file *elf, uint32_t index, struct elf_segment *out)
{
    Elf64_Phdr p = {0};
    uint32_t seen = 0;
    for (uint32_t i = 0; i < elf->phdr_count; i++) {
        read_phdr(elf, i, &p);
        if (p.p_type == PT_LOAD && p.p_memsz && seen++ == index)
            break;
    }
    *out = (struct elf_segment){p.p_offset,
                                p.p_filesz,
                                p.p_vaddr,
                                p.p_memsz,
                                p.p_align ? p.p_align : 1,
                                (p.p_flags & PF_R) != 0,
                                (p.p_flags & PF_W) != 0,
                                (p.p_flags & PF_X) != 0};
}

static const char *section_name(const struct elf_file *elf, uint32_t name)
{
    Elf64_Ehdr header;
    Elf64_Shdr names;
    memcpy(&header, elf->bytes, sizeof header);
    read_shdr(elf, header.e_shstrndx, &names);
    return (const char *)elf->bytes + names.sh_offset + name;
}

void elf_section(const struct elf_file *elf, uint32_t index, struct elf_section *out)
{
    Elf64_Shdr s;
    read_shdr(elf, index, &s);
    if (s.sh_type == SHT_NULL) /* an unused entry: its other fields mean nothing */
        s = (Elf64_Shdr){.sh_name = s.sh_name};
    *out = (struct elf_section){
        section_name(elf, s.sh_name),       s.sh_type, s.sh_link, s.sh_info, s.sh_flags, s.sh_addr, s.sh_offset, s.sh_size,
        s.sh_addralign ? s.sh_addralign : 1};
}

void elf_symbol(const struct elf_file *elf, uint32_t index, struct elf_symbol *out)
{
    Elf64_Sym s;
    memcpy(&s, elf->bytes + elf->symbol_offset + (uint64_t)index * sizeof s, sizeof s);
    *out = (struct elf_symbol){(const char *)elf->bytes + elf->symbol_names_offset + s.st_name,
                               s.st_value,
                               s.st_size,
                               s.st_shndx,
                               ELF64_ST_TYPE(s.st_info),
                               ELF64_ST_BIND(s.st_info)};
}

uint32_t elf_relocation_count(const struct elf_file *elf, const struct elf_section *rela)
{
    struct elf_section target;
    return applies(elf, rela, &target) ? (uint32_t)(rela->bytes / sizeof(Elf64_Rela)) : 0;
}

void elf_relocation(const struct elf_file *elf, const struct elf_section *rela, uint32_t index, struct elf_relocation *out)
{
    Elf64_Rela r;
    memcpy(&r, elf->bytes + rela->offset + (uint64_t)index * sizeof r, sizeof r);
    *out = (struct elf_relocation){r.r_offset, (uint32_t)ELF64_R_TYPE(r.r_info), (uint32_t)ELF64_R_SYM(r.r_info), r.r_addend};
}

static int binding_rank(const struct elf_symbol *s)
{
    return s->binding == STB_GLOBAL ? 2 : s->binding == STB_WEAK ? 1 : 0;
}

bool elf_find_symbol(const struct elf_file *elf, const char *name, uint32_t *index)
{
    int best = -1;
    for (uint32_t i = 1; i < elf->symbol_count; i++) {
        struct elf_symbol s;
        elf_symbol(elf, i, &s);
        if (s.section == SHN_UNDEF || s.type == STT_FILE || s.type == STT_SECTION || strcmp(s.name, name) != 0)
            continue;
        if (binding_rank(&s) > best) {
            best = binding_rank(&s);
            *index = i;
        }
    }
    return best >= 0;
}

bool elf_symbol_is_entry(const struct elf_file *elf, const struct elf_symbol *symbol)
{
    if (symbol->section == SHN_UNDEF || symbol->binding == STB_LOCAL || symbol->section >= elf->section_count)
        return false;
    if (symbol->type == STT_FUNC)
        return true;
    struct elf_section section;
    elf_section(elf, symbol->section, &section);
    return symbol->type == STT_NOTYPE && (section.flags & SHF_EXECINSTR);
}

const char *elf_relocation_name(uint32_t type)
{
#define ROW(name)                                                                                                                \
    case R_AARCH64_##name: return "R_AARCH64_" #name;
    switch (type) {
        /* clang-format off */
        ROW(NONE) ROW(ABS64) ROW(ABS32) ROW(ABS16) ROW(PREL64) ROW(PREL32) ROW(PREL16)
        ROW(MOVW_UABS_G0) ROW(MOVW_UABS_G0_NC) ROW(MOVW_UABS_G1) ROW(MOVW_UABS_G1_NC) ROW(MOVW_UABS_G2)
        ROW(MOVW_UABS_G2_NC) ROW(MOVW_UABS_G3) ROW(MOVW_SABS_G0) ROW(MOVW_SABS_G1) ROW(MOVW_SABS_G2)
        ROW(LD_PREL_LO19) ROW(ADR_PREL_LO21) ROW(ADR_PREL_PG_HI21) ROW(ADR_PREL_PG_HI21_NC) ROW(ADD_ABS_LO12_NC)
        ROW(LDST8_ABS_LO12_NC) ROW(LDST16_ABS_LO12_NC) ROW(LDST32_ABS_LO12_NC) ROW(LDST64_ABS_LO12_NC)
        ROW(LDST128_ABS_LO12_NC) ROW(TSTBR14) ROW(CONDBR19) ROW(JUMP26) ROW(CALL26) ROW(GOT_LD_PREL19) ROW(ADR_GOT_PAGE)
        ROW(LD64_GOT_LO12_NC) ROW(LD64_GOTPAGE_LO15) ROW(RELATIVE) ROW(IRELATIVE)
            /* clang-format on */
            default : return NULL;
    }
#undef ROW
}
