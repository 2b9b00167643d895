/* The linker for one object: sections get addresses, then symbols, and then every relocation is applied. */
#include "isa/rounding.h"
#include "units/cpu/cpu_load_internal.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP_CODE, GROUP_RODATA, GROUP_DATA, GROUP_COUNT };

/* Sections are aligned to cache lines or pages at most; a larger figure means a damaged file. */
#define ALIGN_LIMIT (UINT64_C(1) << 20)

static const unsigned group_prot[GROUP_COUNT] = {MEM_READ | MEM_EXEC, MEM_READ, MEM_READ | MEM_WRITE};

struct link {
    struct mem_space *space;
    struct cpu_image *image;
    const struct elf_file *elf;
    struct isa_error *error;
    uint64_t next; /* next free address while laying out */
    uint64_t start[GROUP_COUNT], end[GROUP_COUNT];
    uint32_t *got_slot; /* by symbol: 1-based slot of the offset table, 0 = none */
    uint32_t got_slots;
    uint64_t got_base;
    unsigned code_prot;
};

static int group_of(const struct elf_section *s)
{
    if (!(s->flags & SHF_ALLOC) || s->bytes == 0)
        return -1;
    if (s->flags & SHF_EXECINSTR)
        return GROUP_CODE;
    return s->flags & SHF_WRITE ? GROUP_DATA : GROUP_RODATA;
}

/* Takes `bytes` at `align` from the running address. False when the object cannot fit the space. */
static bool take(struct link *l, uint64_t bytes, uint64_t align, const char *what, uint64_t *addr)
{
    if (align > ALIGN_LIMIT)
        return elf_refuse(l->error, 0, "%.80s wants an alignment of 0x%" PRIx64 ", expected at most 0x%" PRIx64, what, align,
                          ALIGN_LIMIT);
    *addr = round_up(l->next, align ? align : 1);
    if (*addr >= l->space->bytes || bytes > l->space->bytes - *addr)
        return elf_refuse(l->error, 0,
                          "%.80s: 0x%" PRIx64 " bytes at 0x%" PRIx64 " leave the simulated address space of 0x%" PRIx64 " bytes",
                          what, bytes, *addr, l->space->bytes);
    l->next = *addr + bytes;
    return true;
}

static bool place_group(struct link *l, int group)
{
    for (uint32_t i = 1; i < l->elf->section_count; i++) {
        struct elf_section s;
        elf_section(l->elf, i, &s);
        if (group_of(&s) != group)
            continue;
        if (!take(l, s.bytes, s.align, s.name, &l->image->section_addr[i]))
            return false;
        if (group == GROUP_CODE && (s.flags & SHF_WRITE))
            l->code_prot |= MEM_WRITE;
    }
    return true;
}

/* Common symbols (uninitialised globals of old C) carry their alignment as their value. */
static bool place_common(struct link *l)
{
    for (uint32_t i = 1; i < l->elf->symbol_count; i++) {
        struct elf_symbol s;
        elf_symbol(l->elf, i, &s);
        if (s.section != SHN_COMMON)
            continue;
        if (s.value == 0 || (s.value & (s.value - 1)))
            return elf_refuse(l->error, 0, "common symbol %.80s: alignment 0x%" PRIx64 " is not a power of two", s.name, s.value);
        if (!take(l, s.bytes, s.value, s.name, &l->image->symbol_addr[i]))
            return false;
    }
    return true;
}

static bool needs_slot(struct link *l, const struct elf_relocation *r)
{
    return cpu_patch_needs_got(r->type) && l->got_slot[r->symbol] == 0;
}

/* Places one slot for each symbol that is reached through the global offset table. */
static bool place_got(struct link *l)
{
    for (uint32_t i = 1; i < l->elf->section_count; i++) {
        struct elf_section rela;
        elf_section(l->elf, i, &rela);
        const uint32_t count = elf_relocation_count(l->elf, &rela);
        for (uint32_t n = 0; n < count; n++) {
            struct elf_relocation r;
            elf_relocation(l->elf, &rela, n, &r);
            if (needs_slot(l, &r))
                l->got_slot[r.symbol] = ++l->got_slots;
        }
    }
    return take(l, (uint64_t)l->got_slots * 8, 8, "the global offset table", &l->got_base);
}

static bool lay_out(struct link *l)
{
    l->next = l->image->bias;
    l->code_prot = group_prot[GROUP_CODE];
    for (int group = 0; group < GROUP_COUNT; group++) {
        l->next = round_up(l->next, MEM_PAGE_BYTES);
        l->start[group] = l->next;
        if (!place_group(l, group) || (group == GROUP_DATA && (!place_common(l) || !place_got(l))))
            return false;
        l->end[group] = l->next;
    }
    l->image->end = round_up(l->next, MEM_PAGE_BYTES);
    for (int group = 0; group < GROUP_COUNT; group++)
        if (l->end[group] > l->start[group] &&
            !cpu_load_claim(l->space, l->start[group], l->end[group] - l->start[group], "the object", l->error))
            return false;
    return true;
}

static void copy_sections(struct link *l)
{
    for (uint32_t i = 1; i < l->elf->section_count; i++) {
        struct elf_section s;
        elf_section(l->elf, i, &s);
        if (l->image->section_addr[i] && s.type != SHT_NOBITS)
            memcpy(l->space->host + l->image->section_addr[i], l->elf->bytes + s.offset, s.bytes);
    }
}

/* Sets the address of every symbol. Undefined ones get addresses where nothing is. */
static bool resolve_symbols(struct link *l)
{
    if (l->elf->symbol_count > (CPU_LOAD_BASE - CPU_UNRESOLVED_BASE) / CPU_UNRESOLVED_BYTES)
        return elf_refuse(l->error, 0, "%u symbols are more than an object may have here", l->elf->symbol_count);
    for (uint32_t i = 1; i < l->elf->symbol_count; i++) {
        struct elf_symbol s;
        elf_symbol(l->elf, i, &s);
        if (s.section == SHN_ABS)
            l->image->symbol_addr[i] = s.value;
        else if (s.section < l->elf->section_count && s.section != SHN_UNDEF)
            l->image->symbol_addr[i] = l->image->section_addr[s.section] + s.value;
        else if (s.section == SHN_UNDEF && strcmp(s.name, "_GLOBAL_OFFSET_TABLE_") == 0)
            l->image->symbol_addr[i] = l->got_base;
        else if (s.section == SHN_UNDEF && s.binding != STB_WEAK && s.name[0])
            l->image->symbol_addr[i] = CPU_UNRESOLVED_BASE + (uint64_t)i * CPU_UNRESOLVED_BYTES;
    }
    return true;
}

static bool apply_one(struct link *l, const struct elf_section *target, uint64_t target_addr, uint64_t file_offset,
                      const struct elf_relocation *r)
{
    struct elf_symbol s;
    elf_symbol(l->elf, r->symbol, &s);
    const uint32_t bytes = cpu_patch_bytes(r->type);
    const char *name = elf_relocation_name(r->type), *why = NULL;
    if (r->type == R_AARCH64_NONE)
        return true;
    if (bytes == 0 || name == NULL)
        return elf_refuse(l->error, file_offset,
                          "relocation type %u at %.60s+0x%" PRIx64
                          " (symbol %.60s) is not linked here: link with aarch64-linux-gnu-gcc -static",
                          r->type, target->name, r->offset, s.name);
    if (bytes > target->bytes - r->offset)
        return elf_refuse(l->error, file_offset, "%s at %.60s+0x%" PRIx64 " reaches past the end of the section", name,
                          target->name, r->offset);
    const struct cpu_patch patch = {.type = r->type,
                                    .place = target_addr + r->offset,
                                    .value = l->image->symbol_addr[r->symbol] + (uint64_t)r->addend,
                                    .got_slot =
                                        l->got_base + (l->got_slot[r->symbol] ? (l->got_slot[r->symbol] - 1) * UINT64_C(8) : 0),
                                    .got_base = l->got_base,
                                    .undefined_weak = s.section == SHN_UNDEF && s.binding == STB_WEAK};
    if (!cpu_patch_apply(&patch, l->space->host + patch.place, &why))
        return elf_refuse(l->error, file_offset, "%s at %.60s+0x%" PRIx64 " to %.60s (0x%" PRIx64 ") %s", name, target->name,
                          r->offset, s.name, patch.value, why);
    return true;
}

static bool apply_relocations(struct link *l)
{
    for (uint32_t i = 1; i < l->elf->section_count; i++) {
        struct elf_section rela, target;
        elf_section(l->elf, i, &rela);
        const uint32_t count = elf_relocation_count(l->elf, &rela);
        if (count == 0)
            continue;
        elf_section(l->elf, rela.info, &target);
        const uint64_t addr = l->image->section_addr[rela.info];
        for (uint32_t n = 0; addr && n < count; n++) {
            struct elf_relocation r;
            elf_relocation(l->elf, &rela, n, &r);
            if (!apply_one(l, &target, addr, rela.offset + (uint64_t)n * sizeof(Elf64_Rela), &r))
                return false;
        }
    }
    return true;
}

static void fill_got(struct link *l)
{
    for (uint32_t i = 0; i < l->elf->symbol_count; i++)
        if (l->got_slot[i])
            memcpy(l->space->host + l->got_base + (l->got_slot[i] - 1) * UINT64_C(8), &l->image->symbol_addr[i], 8);
}

static bool protect_groups(struct link *l)
{
    for (int group = 0; group < GROUP_COUNT; group++) {
        const unsigned prot = group == GROUP_CODE ? l->code_prot : group_prot[group];
        if (l->end[group] > l->start[group] &&
            !mem_space_protect(l->space, l->start[group], l->end[group] - l->start[group], prot))
            return elf_refuse(l->error, 0, "the object's pages could not be protected");
    }
    return true;
}

bool cpu_load_object(struct mem_space *space, struct cpu_image *image, struct isa_error *error)
{
    struct link l = {.space = space, .image = image, .elf = image->elf, .error = error};
    image->section_addr = calloc(image->elf->section_count + 1u, sizeof *image->section_addr);
    image->symbol_addr = calloc(image->elf->symbol_count + 1u, sizeof *image->symbol_addr);
    l.got_slot = calloc(image->elf->symbol_count + 1u, sizeof *l.got_slot);
    bool ok = image->section_addr && image->symbol_addr && l.got_slot;
    if (!ok)
        elf_refuse(error, 0, "no memory for the tables of an object with %u symbols", image->elf->symbol_count);
    ok = ok && lay_out(&l) && resolve_symbols(&l);
    if (ok) {
        copy_sections(&l);
        fill_got(&l);
        ok = apply_relocations(&l) && protect_groups(&l);
    }
    free(l.got_slot);
    return ok;
}
