/* The joined object: sections as they come, then the tables. */
#include "isa/elf/elf_join_parts.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    uint8_t *bytes;
    size_t used, room;
    Elf64_Shdr *section;
    uint32_t sections, section_room;
    char *names; /* of sections and symbols */
    size_t names_used, names_room;
    Elf64_Sym *symbol;
    uint32_t symbols, symbol_room;
    bool failed;
};

static void *more(struct writer *w, void *list, size_t used, size_t need, size_t *room, size_t item)
{
    if (used + need <= *room)
        return list;
    const size_t wanted = 2 * (used + need) + 64;
    void *const grown = realloc(list, wanted * item);
    if (!grown) {
        w->failed = true;
        return list;
    }
    *room = wanted;
    return grown;
}

static uint64_t put(struct writer *w, const void *bytes, size_t size, uint64_t align)
{
    const size_t at = align > 1 ? (w->used + align - 1) / align * align : w->used;
    w->bytes = more(w, w->bytes, w->used, at - w->used + size, &w->room, 1);
    if (w->failed)
        return 0;
    memset(w->bytes + w->used, 0, at - w->used);
    if (size)
        memcpy(w->bytes + at, bytes, size);
    w->used = at + size;
    return at;
}

static uint32_t put_name(struct writer *w, const char *name)
{
    const size_t n = strlen(name) + 1, at = w->names_used;
    w->names = more(w, w->names, at, n, &w->names_room, 1);
    if (w->failed)
        return 0;
    memcpy(w->names + at, name, n);
    w->names_used += n;
    return (uint32_t)at;
}

static uint32_t put_section(struct writer *w, const Elf64_Shdr *section)
{
    size_t room = w->section_room;
    w->section = more(w, w->section, w->sections, 1, &room, sizeof *w->section);
    w->section_room = (uint32_t)room;
    if (w->failed)
        return 0;
    w->section[w->sections] = *section;
    return w->sections++;
}

static uint32_t put_symbol(struct writer *w, const Elf64_Sym *symbol)
{
    size_t room = w->symbol_room;
    w->symbol = more(w, w->symbol, w->symbols, 1, &room, sizeof *w->symbol);
    w->symbol_room = (uint32_t)room;
    if (w->failed)
        return 0;
    w->symbol[w->symbols] = *symbol;
    return w->symbols++;
}

static bool is_kept(const struct join_object *o, uint32_t index, const struct elf_section *s)
{
    return s->flags & SHF_ALLOC && !o->dropped[index] && strcmp(s->name, ".eh_frame") != 0;
}

static void put_contents(struct writer *w, struct join_object *o)
{
    for (uint32_t i = 1; i < o->elf.section_count; i++) {
        struct elf_section s;
        elf_section(&o->elf, i, &s);
        if (!is_kept(o, i, &s))
            continue;
        Elf64_Shdr h = {.sh_name = put_name(w, s.name),
                        .sh_type = s.type,
                        .sh_flags = s.flags & ~(uint64_t)(SHF_GROUP | SHF_LINK_ORDER | SHF_INFO_LINK),
                        .sh_size = s.bytes,
                        .sh_addralign = s.align};
        h.sh_offset = s.type == SHT_NOBITS ? w->used : put(w, o->elf.bytes + s.offset, s.bytes, s.align < 4096 ? s.align : 4096);
        o->section[i] = put_section(w, &h);
    }
}

static void add_symbol(struct writer *w, const struct join_object *o, const struct elf_symbol *s, uint32_t *number)
{
    const bool undefined = s->section == SHN_UNDEF || (s->section < o->elf.section_count && !o->section[s->section]);
    const bool special = s->section >= o->elf.section_count;
    const Elf64_Sym symbol = {.st_name = s->name[0] ? put_name(w, s->name) : 0,
                              .st_info = ELF64_ST_INFO(s->binding, s->type),
                              .st_shndx = special     ? s->section
                                          : undefined ? SHN_UNDEF
                                                      : (uint16_t)o->section[s->section],
                              .st_value = undefined && !special ? 0 : s->value,
                              .st_size = s->bytes};
    *number = put_symbol(w, &symbol);
}

/* Locals stand before globals. Those of sections that are left out have no number. */
static void put_locals(struct writer *w, struct join_object *o)
{
    for (uint32_t i = 1; i < o->elf.symbol_count; i++) {
        struct elf_symbol s;
        elf_symbol(&o->elf, i, &s);
        const bool placed = s.section >= o->elf.section_count || (s.section != SHN_UNDEF && o->section[s.section]);
        if (!join_is_global(&s) && placed)
            add_symbol(w, o, &s, &o->symbol[i]);
    }
}

static void put_globals(struct writer *w, struct join *j)
{
    for (size_t i = 0; i < j->names; i++) {
        struct join_name *const n = &j->name[i];
        struct elf_symbol s;
        if (n->object == UINT32_MAX)
            continue;
        elf_symbol(&j->object[n->object].elf, n->symbol, &s);
        add_symbol(w, &j->object[n->object], &s, &n->number);
    }
}

static uint32_t number_of(const struct join *j, const struct join_object *o, uint32_t symbol)
{
    struct elf_symbol s;
    elf_symbol(&o->elf, symbol, &s);
    const struct join_name *const n = join_is_global(&s) ? join_find(j, s.name) : NULL;
    return n ? n->number : o->symbol[symbol];
}

static void put_relocations(struct writer *w, const struct join *j, const struct join_object *o, uint32_t symbol_section)
{
    for (uint32_t i = 1; i < o->elf.section_count; i++) {
        struct elf_section s;
        elf_section(&o->elf, i, &s);
        const uint32_t count = elf_relocation_count(&o->elf, &s);
        const uint32_t target = count && s.info < o->elf.section_count ? o->section[s.info] : 0;
        if (!target)
            continue;
        Elf64_Shdr h = {.sh_name = put_name(w, s.name),
                        .sh_type = SHT_RELA,
                        .sh_flags = SHF_INFO_LINK,
                        .sh_link = symbol_section,
                        .sh_info = target,
                        .sh_entsize = sizeof(Elf64_Rela),
                        .sh_size = count * sizeof(Elf64_Rela),
                        .sh_addralign = 8};
        h.sh_offset = put(w, NULL, 0, 8);
        for (uint32_t n = 0; n < count; n++) {
            struct elf_relocation r;
            elf_relocation(&o->elf, &s, n, &r);
            const Elf64_Rela rela = {
                .r_offset = r.offset, .r_info = ELF64_R_INFO((uint64_t)number_of(j, o, r.symbol), r.type), .r_addend = r.addend};
            put(w, &rela, sizeof rela, 1);
        }
        put_section(w, &h);
    }
}

/* The table of symbols is the first section after the null one, so that its number is known before its contents. */
static void finish(struct writer *w, uint32_t first_global)
{
    Elf64_Shdr names = {.sh_name = put_name(w, ".strtab"), .sh_type = SHT_STRTAB, .sh_addralign = 1};
    Elf64_Shdr *const table = &w->section[1];
    table->sh_name = put_name(w, ".symtab");
    table->sh_offset = put(w, w->symbol, w->symbols * sizeof *w->symbol, 8);
    table->sh_size = w->symbols * sizeof *w->symbol;
    table->sh_info = first_global;
    table->sh_link = w->sections;
    names.sh_size = w->names_used;
    names.sh_offset = put(w, w->names, w->names_used, 1);
    const uint32_t names_section = put_section(w, &names);
    const uint64_t sections = put(w, w->section, w->sections * sizeof *w->section, 8);
    if (w->failed)
        return;
    const Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                               .e_type = ET_REL,
                               .e_machine = EM_AARCH64,
                               .e_version = EV_CURRENT,
                               .e_shoff = sections,
                               .e_ehsize = sizeof header,
                               .e_shentsize = sizeof(Elf64_Shdr),
                               .e_shnum = (uint16_t)w->sections,
                               .e_shstrndx = (uint16_t)names_section};
    memcpy(w->bytes, &header, sizeof header);
}

uint8_t *join_write(struct join *j, size_t *size)
{
    struct writer w = {.used = 0};
    const Elf64_Ehdr no_header = {.e_type = 0};
    const Elf64_Shdr none = {.sh_type = SHT_NULL},
                     table = {.sh_type = SHT_SYMTAB, .sh_entsize = sizeof(Elf64_Sym), .sh_addralign = 8};
    const Elf64_Sym no_symbol = {.st_name = 0};
    put(&w, &no_header, sizeof no_header, 1);
    put_name(&w, "");
    put_section(&w, &none);
    put_section(&w, &table);
    put_symbol(&w, &no_symbol);
    for (size_t i = 0; i < j->objects; i++)
        if (j->object[i].included)
            put_contents(&w, &j->object[i]);
    for (size_t i = 0; i < j->objects; i++)
        if (j->object[i].included)
            put_locals(&w, &j->object[i]);
    const uint32_t first_global = w.symbols;
    put_globals(&w, j);
    for (size_t i = 0; i < j->objects; i++)
        if (j->object[i].included)
            put_relocations(&w, j, &j->object[i], 1);
    if (w.sections < SHN_LORESERVE - 8)
        finish(&w, first_global);
    else
        elf_refuse(j->error, 0, "the objects have too many sections together: %u", w.sections);
    const bool ok = !w.failed && w.sections < SHN_LORESERVE - 8;
    if (w.failed)
        elf_refuse(j->error, 0, "no memory");
    free(w.section);
    free(w.symbol);
    free(w.names);
    if (!ok)
        free(w.bytes);
    *size = w.used;
    return ok ? w.bytes : NULL;
}
