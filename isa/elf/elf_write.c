#include "isa/rounding.h"
#include "isa/elf/elf_write.h"

#include <elf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tables are written by memcpy");

enum { PART_TEXT, PART_RODATA, PART_DATA, PART_BSS, PART_COUNT };

/* One part on its way into the file. */
struct placed {
    const char *name;
    uint32_t type, flags_segment;
    uint64_t flags_section, addr, bytes, offset;
    const void *content;
    uint16_t section; /* index in the section table, 0 = left out */
};

struct layout {
    struct placed part[PART_COUNT];
    uint16_t parts, sections;
    uint64_t symbols_offset, names_offset, names_bytes, section_names_offset, sections_offset, end;
};

static const char section_names[] = "\0.text\0.rodata\0.data\0.bss\0.symtab\0.strtab\0.shstrtab";

__attribute__((format(printf, 2, 3))) static bool refuse(struct isa_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error->line = 0;
    error->offset = 0;
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return false;
}

static uint32_t section_name_offset(const char *name)
{
    uint32_t at = 1;
    while (strcmp(section_names + at, name) != 0)
        at += (uint32_t)strlen(section_names + at) + 1;
    return at;
}

static struct placed place(const char *name, const struct elf_part *part, uint32_t segment, uint64_t section)
{
    return (struct placed){.name = name,
                           .type = SHT_PROGBITS,
                           .flags_segment = segment,
                           .flags_section = SHF_ALLOC | section,
                           .addr = part->addr,
                           .bytes = part->size,
                           .content = part->bytes};
}

static bool check_part(const struct layout *l, unsigned index, struct isa_error *error)
{
    const struct placed *p = &l->part[index];
    const uint64_t limit = UINT64_C(1) << 48;
    if (p->bytes == 0)
        return true;
    if (p->addr % ELF_WRITE_ALIGN || p->addr == 0)
        return refuse(error, "%s at 0x%" PRIx64 ": expected a non-zero multiple of 0x%" PRIx64, p->name, p->addr,
                      ELF_WRITE_ALIGN);
    if (p->addr >= limit || p->bytes > limit - p->addr)
        return refuse(error, "%s: 0x%" PRIx64 " bytes at 0x%" PRIx64 " leave the 48-bit address space", p->name, p->bytes,
                      p->addr);
    for (unsigned i = 0; i < index; i++) {
        const struct placed *q = &l->part[i];
        if (q->bytes && p->addr < round_up(q->addr + q->bytes, ELF_WRITE_ALIGN) &&
            q->addr < round_up(p->addr + p->bytes, ELF_WRITE_ALIGN))
            return refuse(error, "%s at 0x%" PRIx64 " shares a page with %s at 0x%" PRIx64, p->name, p->addr, q->name, q->addr);
    }
    return true;
}

static bool check_label(const struct layout *l, const struct elf_label *label, uint16_t *section, struct isa_error *error)
{
    for (unsigned i = 0; i < PART_COUNT; i++) {
        const struct placed *p = &l->part[i];
        if (p->bytes && label->addr >= p->addr && label->addr - p->addr <= p->bytes) {
            *section = p->section;
            if (label->addr - p->addr < p->bytes)
                return true;
        }
    }
    return refuse(error, "label %.100s at 0x%" PRIx64 " lies in no part", label->name, label->addr);
}

/* Addresses come from the caller. File offsets follow in the order of the parts, and each is congruent to its address. */
static bool lay_out(const struct elf_program *program, struct layout *l, struct isa_error *error)
{
    *l = (struct layout){.part = {place(".text", &program->code, PF_R | PF_X, SHF_EXECINSTR),
                                  place(".rodata", &program->rodata, PF_R, 0),
                                  place(".data", &program->data, PF_R | PF_W, SHF_WRITE)}};
    const struct elf_part bss = {program->bss_addr, NULL, program->bss_bytes};
    l->part[PART_BSS] = place(".bss", &bss, PF_R | PF_W, SHF_WRITE);
    l->part[PART_BSS].type = SHT_NOBITS;
    if (program->code.size == 0)
        return refuse(error, "the program has no code");
    l->sections = 1;
    l->end = ELF_WRITE_ALIGN; /* the headers have the first page to themselves and are not loaded */
    for (unsigned i = 0; i < PART_COUNT; i++) {
        struct placed *p = &l->part[i];
        if (!check_part(l, i, error))
            return false;
        if (p->bytes == 0)
            continue;
        l->parts++;
        p->section = l->sections++;
        p->offset = p->type == SHT_PROGBITS ? round_up(l->end, ELF_WRITE_ALIGN) : ELF_WRITE_ALIGN;
        if (p->type == SHT_PROGBITS)
            l->end = p->offset + p->bytes;
    }
    l->names_bytes = 1;
    for (size_t i = 0; i < program->label_count; i++)
        l->names_bytes += strlen(program->labels[i].name) + 1;
    l->symbols_offset = round_up(l->end, 8);
    l->names_offset = l->symbols_offset + (program->label_count + 1) * sizeof(Elf64_Sym);
    l->section_names_offset = l->names_offset + l->names_bytes;
    l->sections_offset = round_up(l->section_names_offset + sizeof section_names, 8);
    l->sections += 3;
    l->end = l->sections_offset + (uint64_t)l->sections * sizeof(Elf64_Shdr);
    return true;
}

static void put_segments(const struct layout *l, uint8_t *file)
{
    uint8_t *at = file + sizeof(Elf64_Ehdr);
    /* Loaders want segments in ascending order of address. */
    uint64_t last = 0;
    for (unsigned n = 0; n < l->parts; n++) {
        const struct placed *next = NULL;
        for (unsigned i = 0; i < PART_COUNT; i++)
            if (l->part[i].bytes && l->part[i].addr > last && (!next || l->part[i].addr < next->addr))
                next = &l->part[i];
        if (!next)
            return;
        const Elf64_Phdr p = {.p_type = PT_LOAD,
                              .p_flags = next->flags_segment,
                              .p_offset = next->offset,
                              .p_vaddr = next->addr,
                              .p_paddr = next->addr,
                              .p_filesz = next->type == SHT_PROGBITS ? next->bytes : 0,
                              .p_memsz = next->bytes,
                              .p_align = ELF_WRITE_ALIGN};
        memcpy(at, &p, sizeof p);
        at += sizeof p;
        last = next->addr;
    }
}

static bool put_symbols(const struct elf_program *program, const struct layout *l, uint8_t *file, uint64_t *entry,
                        struct isa_error *error)
{
    const char *const start = program->entry ? program->entry : "_start";
    uint64_t name = 1;
    bool found = false;
    for (size_t i = 0; i < program->label_count; i++) {
        const struct elf_label *label = &program->labels[i];
        Elf64_Sym s = {.st_name = (Elf64_Word)name,
                       .st_value = label->addr,
                       .st_size = label->bytes,
                       .st_info = ELF64_ST_INFO(STB_GLOBAL, label->is_function ? STT_FUNC : STT_OBJECT)};
        if (!check_label(l, label, &s.st_shndx, error))
            return false;
        memcpy(file + l->symbols_offset + (i + 1) * sizeof s, &s, sizeof s);
        memcpy(file + l->names_offset + name, label->name, strlen(label->name) + 1);
        name += strlen(label->name) + 1;
        if (strcmp(label->name, start) == 0) {
            *entry = label->addr;
            found = true;
        }
    }
    return found ? true : refuse(error, "no label is named %.100s, where the program would start", start);
}

static void put_section(const struct layout *l, uint8_t *file, unsigned index, const Elf64_Shdr *s)
{
    memcpy(file + l->sections_offset + index * sizeof *s, s, sizeof *s);
}

static void put_sections(const struct elf_program *program, const struct layout *l, uint8_t *file)
{
    for (unsigned i = 0; i < PART_COUNT; i++) {
        const struct placed *p = &l->part[i];
        if (p->section)
            put_section(l, file, p->section,
                        &(Elf64_Shdr){.sh_name = section_name_offset(p->name),
                                      .sh_type = p->type,
                                      .sh_flags = p->flags_section,
                                      .sh_addr = p->addr,
                                      .sh_offset = p->offset,
                                      .sh_size = p->bytes,
                                      .sh_addralign = ELF_WRITE_ALIGN});
    }
    const unsigned symtab = l->sections - 3u, strtab = symtab + 1, shstrtab = symtab + 2;
    put_section(l, file, symtab,
                &(Elf64_Shdr){.sh_name = section_name_offset(".symtab"),
                              .sh_type = SHT_SYMTAB,
                              .sh_offset = l->symbols_offset,
                              .sh_size = (program->label_count + 1) * sizeof(Elf64_Sym),
                              .sh_link = strtab,
                              .sh_info = 1,
                              .sh_addralign = 8,
                              .sh_entsize = sizeof(Elf64_Sym)});
    put_section(l, file, strtab,
                &(Elf64_Shdr){.sh_name = section_name_offset(".strtab"),
                              .sh_type = SHT_STRTAB,
                              .sh_offset = l->names_offset,
                              .sh_size = l->names_bytes,
                              .sh_addralign = 1});
    put_section(l, file, shstrtab,
                &(Elf64_Shdr){.sh_name = section_name_offset(".shstrtab"),
                              .sh_type = SHT_STRTAB,
                              .sh_offset = l->section_names_offset,
                              .sh_size = sizeof section_names,
                              .sh_addralign = 1});
    memcpy(file + l->section_names_offset, section_names, sizeof section_names);
}

static void put_header(const struct layout *l, uint64_t entry, uint8_t *file)
{
    Elf64_Ehdr h = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                    .e_type = ET_EXEC,
                    .e_machine = EM_AARCH64,
                    .e_version = EV_CURRENT,
                    .e_entry = entry,
                    .e_phoff = sizeof h,
                    .e_shoff = l->sections_offset,
                    .e_ehsize = sizeof h,
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = l->parts,
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = l->sections,
                    .e_shstrndx = (Elf64_Half)(l->sections - 1)};
    memcpy(file, &h, sizeof h);
}

uint8_t *elf_write(const struct elf_program *program, size_t *size, struct isa_error *error)
{
    struct layout l;
    uint64_t entry = 0;
    if (!lay_out(program, &l, error))
        return NULL;
    uint8_t *file = calloc(1, l.end);
    if (!file) {
        refuse(error, "no memory for a file of %" PRIu64 " bytes", l.end);
        return NULL;
    }
    for (unsigned i = 0; i < PART_COUNT; i++)
        if (l.part[i].type == SHT_PROGBITS && l.part[i].bytes)
            memcpy(file + l.part[i].offset, l.part[i].content, l.part[i].bytes);
    if (!put_symbols(program, &l, file, &entry, error)) {
        free(file);
        return NULL;
    }
    put_segments(&l, file);
    put_sections(program, &l, file);
    put_header(&l, entry, file);
    *size = l.end;
    return file;
}
