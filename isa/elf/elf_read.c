/* Access to what elf_open has checked. */
#include "isa/elf/elf_read_parts.h"

void elf_segment(const struct elf_file *elf, uint32_t index, struct elf_segment *out)
{
    Elf64_Phdr p = {0};
    uint32_t seen = 0;
    for (uint32_t i = 0; i < elf->phdr_count; i++) {
        elf_read_phdr(elf, i, &p);
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
    elf_read_shdr(elf, header.e_shstrndx, &names);
    return (const char *)elf->bytes + names.sh_offset + name;
}

void elf_section(const struct elf_file *elf, uint32_t index, struct elf_section *out)
{
    Elf64_Shdr s;
    elf_read_shdr(elf, index, &s);
    if (s.sh_type == SHT_NULL) /* the other fields of an unused entry mean nothing */
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

bool elf_relocations_apply(const struct elf_file *elf, const struct elf_section *rela, struct elf_section *target)
{
    if (elf->kind != ELF_OBJECT || rela->type != SHT_RELA || rela->info >= elf->section_count)
        return false;
    elf_section(elf, rela->info, target);
    return (target->flags & SHF_ALLOC) && target->type != SHT_NOBITS;
}

uint32_t elf_relocation_count(const struct elf_file *elf, const struct elf_section *rela)
{
    struct elf_section target;
    return elf_relocations_apply(elf, rela, &target) ? (uint32_t)(rela->bytes / sizeof(Elf64_Rela)) : 0;
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
