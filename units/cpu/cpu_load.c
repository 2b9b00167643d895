#include "isa/rounding.h"
#include "units/cpu/cpu_load.h"
#include "units/cpu/cpu_load_internal.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_PAGE = 4096 };

static bool page_is_free(const struct mem_space *space, uint64_t addr)
{
    bool unmapped;
    uint64_t first_bad;
    return mem_space_explain(space, addr, 1, MEM_READ, &unmapped, &first_bad) && unmapped;
}

static uint64_t page_of(uint64_t addr)
{
    return addr & ~(MEM_PAGE_BYTES - 1);
}

/* Refuses ranges that leave the space, contain page 0 (null pointers must fault) or contain pages in use. */
static bool check_free(const struct mem_space *space, uint64_t addr, uint64_t bytes, const char *what, struct isa_error *error)
{
    if (addr >= space->bytes || bytes > space->bytes - addr)
        return elf_refuse(error, 0,
                          "%s: 0x%" PRIx64 " bytes at 0x%" PRIx64 " leave the simulated address space of 0x%" PRIx64 " bytes",
                          what, bytes, addr, space->bytes);
    if (addr < MEM_PAGE_BYTES)
        return elf_refuse(error, 0,
                          "%s at 0x%" PRIx64 ": the first 16 KiB stay empty so that null pointers fault; "
                          "link the program higher",
                          what, addr);
    for (uint64_t page = page_of(addr); page < addr + bytes; page += MEM_PAGE_BYTES)
        if (!page_is_free(space, page))
            return elf_refuse(error, 0, "%s at 0x%" PRIx64 ": the page at 0x%" PRIx64 " is in use", what, addr, page);
    return true;
}

bool cpu_load_claim(struct mem_space *space, uint64_t addr, uint64_t bytes, const char *what, struct isa_error *error)
{
    if (!check_free(space, addr, bytes, what, error))
        return false;
    if (!mem_space_map(space, addr, bytes, MEM_READ | MEM_WRITE))
        return elf_refuse(error, 0, "%s: the host has no memory for 0x%" PRIx64 " bytes", what, bytes);
    return true;
}

static unsigned segment_prot(const struct elf_segment *s)
{
    return (s->read ? MEM_READ : 0u) | (s->write ? MEM_WRITE : 0u) | (s->exec ? MEM_EXEC : 0u);
}

/* All permissions that segments request for the page that holds `addr`. */
static unsigned page_prot(const struct cpu_image *image, uint64_t addr)
{
    unsigned prot = 0;
    for (uint32_t i = 0; i < image->elf->load_count; i++) {
        struct elf_segment s;
        elf_segment(image->elf, i, &s);
        const uint64_t first = page_of(s.addr + image->bias), last = page_of(s.addr + image->bias + s.mem_bytes - 1);
        if (page_of(addr) >= first && page_of(addr) <= last)
            prot |= segment_prot(&s);
    }
    return prot;
}

/* Inner pages belong to the segment alone; the first and last may be shared. */
static bool protect_segment(struct mem_space *space, const struct cpu_image *image, const struct elf_segment *s)
{
    const uint64_t addr = s->addr + image->bias, last = addr + s->mem_bytes - 1;
    return mem_space_protect(space, addr, s->mem_bytes, segment_prot(s)) &&
           mem_space_protect(space, addr, 1, page_prot(image, addr)) && mem_space_protect(space, last, 1, page_prot(image, last));
}

static uint32_t told_page_bytes(const struct elf_file *elf)
{
    uint64_t last_page = 0;
    for (uint32_t i = 0; i < elf->load_count; i++) {
        struct elf_segment s;
        elf_segment(elf, i, &s);
        if (s.align < MEM_PAGE_BYTES || (i && page_of(s.addr) == last_page))
            return SMALL_PAGE;
        last_page = page_of(s.addr + s.mem_bytes - 1);
    }
    return (uint32_t)MEM_PAGE_BYTES;
}

/* A static PIE applies its table itself when it starts at _start, with the same result. A function that is called without that
 * start needs the table applied here. Other relocation types are left to the program's own start-up. */
static bool apply_relative(struct mem_space *space, const struct cpu_image *image, struct isa_error *error)
{
    const struct elf_file *elf = image->elf;
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= elf->relative_bytes; at += sizeof(Elf64_Rela)) {
        Elf64_Rela r;
        memcpy(&r, elf->bytes + elf->relative_offset + at, sizeof r);
        if (ELF64_R_TYPE(r.r_info) != R_AARCH64_RELATIVE)
            continue;
        uint8_t *host = mem_at(space, image->bias + r.r_offset, 8, MEM_WRITE);
        if (!host)
            return elf_refuse(error, elf->relative_offset + at,
                              "a relative relocation patches 0x%" PRIx64 ", outside the program", r.r_offset);
        const uint64_t value = image->bias + (uint64_t)r.r_addend;
        memcpy(host, &value, sizeof value);
    }
    return true;
}

static bool load_segments(struct mem_space *space, struct cpu_image *image, struct isa_error *error)
{
    const struct elf_file *elf = image->elf;
    struct elf_segment s;
    for (uint32_t i = 0; i < elf->load_count; i++) {
        elf_segment(elf, i, &s);
        if (!check_free(space, s.addr + image->bias, s.mem_bytes, "a segment", error))
            return false;
    }
    for (uint32_t i = 0; i < elf->load_count; i++) {
        elf_segment(elf, i, &s);
        const uint64_t addr = s.addr + image->bias;
        if (!mem_space_map(space, addr, s.mem_bytes, MEM_READ | MEM_WRITE))
            return elf_refuse(error, 0, "the host has no memory for a segment of 0x%" PRIx64 " bytes", s.mem_bytes);
        if (s.file_bytes)
            memcpy(space->host + addr, elf->bytes + s.offset, s.file_bytes);
    }
    if (!apply_relative(space, image, error))
        return false;
    for (uint32_t i = 0; i < elf->load_count; i++) {
        elf_segment(elf, i, &s);
        if (!protect_segment(space, image, &s))
            return elf_refuse(error, 0, "a segment could not be protected");
    }
    image->entry = elf->entry ? elf->entry + image->bias : 0;
    image->end = round_up(elf->high + image->bias, MEM_PAGE_BYTES);
    image->phdr_addr = elf->phdr_addr ? elf->phdr_addr + image->bias : 0;
    image->page_bytes = told_page_bytes(elf);
    return true;
}

bool cpu_load(struct mem_space *space, const struct elf_file *elf, struct cpu_image *image, struct isa_error *error)
{
    *image = (struct cpu_image){
        .elf = elf, .bias = elf->kind == ELF_EXECUTABLE ? 0 : CPU_LOAD_BASE, .page_bytes = (uint32_t)MEM_PAGE_BYTES};
    const bool ok = elf->kind == ELF_OBJECT ? cpu_load_object(space, image, error) : load_segments(space, image, error);
    if (!ok)
        cpu_image_release(image);
    return ok;
}

void cpu_image_release(struct cpu_image *image)
{
    free(image->section_addr);
    free(image->symbol_addr);
    image->section_addr = image->symbol_addr = NULL;
}

/* Finds the address of symbol number `index` of the file. False when it is undefined or its section was not loaded. */
static bool cpu_image_symbol_at(const struct cpu_image *image, uint32_t index, uint64_t *addr)
{
    struct elf_symbol s;
    elf_symbol(image->elf, index, &s);
    if (s.section == SHN_UNDEF)
        return false;
    if (image->elf->kind == ELF_OBJECT) {
        *addr = image->symbol_addr[index];
        return s.section >= image->elf->section_count || image->section_addr[s.section] != 0;
    }
    *addr = s.section == SHN_ABS ? s.value : s.value + image->bias;
    return true;
}

bool cpu_image_symbol(const struct cpu_image *image, const char *name, uint64_t *addr)
{
    uint32_t index = 0;
    return elf_find_symbol(image->elf, name, &index) && cpu_image_symbol_at(image, index, addr);
}

/* Labels without a size reach to the next one in their section. Mapping symbols ($x, $d) name nothing. */
static bool covers(const struct cpu_image *image, const struct elf_symbol *s, uint64_t start, uint64_t addr)
{
    struct elf_section section;
    if (s->section >= image->elf->section_count || s->section == SHN_UNDEF || s->name[0] == '$' || s->name[0] == 0 ||
        start > addr || (s->bytes && addr - start >= s->bytes))
        return false;
    if (s->type != STT_FUNC && s->type != STT_OBJECT && s->type != STT_NOTYPE)
        return false;
    elf_section(image->elf, s->section, &section);
    const uint64_t base = image->elf->kind == ELF_OBJECT ? image->section_addr[s->section] : section.addr + image->bias;
    return addr >= base && addr - base < section.bytes;
}

bool cpu_image_locate(const struct cpu_image *image, uint64_t addr, const char **name, uint64_t *offset)
{
    uint64_t best = 0;
    bool found = false;
    for (uint32_t i = 1; i < image->elf->symbol_count; i++) {
        struct elf_symbol s;
        uint64_t start;
        elf_symbol(image->elf, i, &s);
        if (!cpu_image_symbol_at(image, i, &start) || !covers(image, &s, start, addr) || (found && start < best))
            continue;
        best = start;
        *name = s.name;
        *offset = addr - start;
        found = true;
    }
    return found;
}

const char *cpu_image_unresolved(const struct cpu_image *image, uint64_t addr)
{
    struct elf_symbol s;
    const uint64_t index = (addr - CPU_UNRESOLVED_BASE) / CPU_UNRESOLVED_BYTES;
    if (addr < CPU_UNRESOLVED_BASE || image->elf->kind != ELF_OBJECT || index == 0 || index >= image->elf->symbol_count)
        return NULL;
    elf_symbol(image->elf, (uint32_t)index, &s);
    return s.section == SHN_UNDEF && s.name[0] ? s.name : NULL;
}

bool cpu_image_is_resolver(const struct cpu_image *image, const char *name)
{
    struct elf_symbol s;
    uint32_t index;
    if (!elf_find_symbol(image->elf, name, &index))
        return false;
    elf_symbol(image->elf, index, &s);
    return s.type == STT_GNU_IFUNC;
}

/* Entry `*left` of a table in the file, counting those of the type only. */
static bool find_indirect(const struct cpu_image *image, uint64_t offset, uint64_t bytes, uint32_t *left, Elf64_Rela *found)
{
    const struct elf_file *const elf = image->elf;
    for (uint64_t at = 0; at + sizeof *found <= bytes && offset + at + sizeof *found <= elf->size; at += sizeof *found) {
        memcpy(found, elf->bytes + offset + at, sizeof *found);
        if (ELF64_R_TYPE(found->r_info) == R_AARCH64_IRELATIVE && (*left)-- == 0)
            return true;
    }
    return false;
}

bool cpu_image_indirect(const struct cpu_image *image, uint32_t index, uint64_t *place, uint64_t *resolver)
{
    const struct elf_file *const elf = image->elf;
    Elf64_Rela r = {.r_offset = 0};
    bool found = false;
    if (elf->kind == ELF_OBJECT)
        return false;
    if (elf->kind == ELF_PIE && elf->section_count == 0)
        found = find_indirect(image, elf->relative_offset, elf->relative_bytes, &index, &r);
    for (uint32_t i = 1; !found && i < elf->section_count; i++) {
        struct elf_section s;
        elf_section(elf, i, &s);
        found = s.type == SHT_RELA && s.flags & SHF_ALLOC && find_indirect(image, s.offset, s.bytes, &index, &r);
    }
    *place = r.r_offset + image->bias;
    *resolver = (uint64_t)r.r_addend + image->bias;
    return found;
}
