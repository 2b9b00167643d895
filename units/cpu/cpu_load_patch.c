/* Static relocations of AArch64: one row for each type gives what is computed, how far it may reach and which bits it goes to.
 * Facts: ARM "ELF for the Arm 64-bit Architecture" (AAELF64), static AArch64 relocations.
 */
#include "isa/array_count.h"
#include "units/cpu/cpu_load_internal.h"

#include <elf.h>
#include <string.h>

enum value {
    ABSOLUTE,      /* S + A */
    RELATIVE,      /* S + A - P */
    PAGE_RELATIVE, /* Page(S + A) - Page(P) */
    GOT_ABSOLUTE,  /* slot */
    GOT_RELATIVE,  /* slot - P */
    GOT_PAGE,      /* Page(slot) - Page(P) */
    GOT_IN_PAGE    /* slot - Page(table) */
};

enum field {
    DATA,     /* whole bytes */
    IMM26,    /* bits 25..0: b, bl */
    IMM19,    /* bits 23..5: b.cond, cbz, ldr literal */
    IMM14,    /* bits 18..5: tbz */
    ADR21,    /* bits 23..5 and 30..29: adr, adrp */
    IMM12,    /* bits 21..10: add, ldr, str */
    MOVW,     /* bits 20..5: movz, movk */
    MOVW_SIGN /* the same; movn or movz by sign */
};

enum check {
    NO_CHECK,
    SIGNED,   /* -2^bits <= X < 2^bits */
    UNSIGNED, /* 0 <= X < 2^bits */
    EITHER    /* -2^(bits-1) <= X < 2^bits */
};

struct rule {
    uint32_t type;
    uint8_t bytes, value, field, shift, check, bits;
    uint16_t mask; /* of the low bits that count, for the LO12 family; 0 = all bits */
};

static const struct rule rules[] = {
    /*        type                      bytes value          field     shift check    bits mask */
    {R_AARCH64_ABS64, 8, ABSOLUTE, DATA, 0, NO_CHECK, 0, 0},
    {R_AARCH64_ABS32, 4, ABSOLUTE, DATA, 0, EITHER, 32, 0},
    {R_AARCH64_ABS16, 2, ABSOLUTE, DATA, 0, EITHER, 16, 0},
    {R_AARCH64_PREL64, 8, RELATIVE, DATA, 0, NO_CHECK, 0, 0},
    {R_AARCH64_PREL32, 4, RELATIVE, DATA, 0, EITHER, 32, 0},
    {R_AARCH64_PREL16, 2, RELATIVE, DATA, 0, EITHER, 16, 0},
    {R_AARCH64_MOVW_UABS_G0, 4, ABSOLUTE, MOVW, 0, UNSIGNED, 16, 0},
    {R_AARCH64_MOVW_UABS_G0_NC, 4, ABSOLUTE, MOVW, 0, NO_CHECK, 0, 0},
    {R_AARCH64_MOVW_UABS_G1, 4, ABSOLUTE, MOVW, 16, UNSIGNED, 32, 0},
    {R_AARCH64_MOVW_UABS_G1_NC, 4, ABSOLUTE, MOVW, 16, NO_CHECK, 0, 0},
    {R_AARCH64_MOVW_UABS_G2, 4, ABSOLUTE, MOVW, 32, UNSIGNED, 48, 0},
    {R_AARCH64_MOVW_UABS_G2_NC, 4, ABSOLUTE, MOVW, 32, NO_CHECK, 0, 0},
    {R_AARCH64_MOVW_UABS_G3, 4, ABSOLUTE, MOVW, 48, NO_CHECK, 0, 0},
    {R_AARCH64_MOVW_SABS_G0, 4, ABSOLUTE, MOVW_SIGN, 0, SIGNED, 16, 0},
    {R_AARCH64_MOVW_SABS_G1, 4, ABSOLUTE, MOVW_SIGN, 16, SIGNED, 32, 0},
    {R_AARCH64_MOVW_SABS_G2, 4, ABSOLUTE, MOVW_SIGN, 32, SIGNED, 48, 0},
    {R_AARCH64_LD_PREL_LO19, 4, RELATIVE, IMM19, 2, SIGNED, 20, 0},
    {R_AARCH64_ADR_PREL_LO21, 4, RELATIVE, ADR21, 0, SIGNED, 20, 0},
    {R_AARCH64_ADR_PREL_PG_HI21, 4, PAGE_RELATIVE, ADR21, 12, SIGNED, 32, 0},
    {R_AARCH64_ADR_PREL_PG_HI21_NC, 4, PAGE_RELATIVE, ADR21, 12, NO_CHECK, 0, 0},
    {R_AARCH64_ADD_ABS_LO12_NC, 4, ABSOLUTE, IMM12, 0, NO_CHECK, 0, 0xfff},
    {R_AARCH64_LDST8_ABS_LO12_NC, 4, ABSOLUTE, IMM12, 0, NO_CHECK, 0, 0xfff},
    {R_AARCH64_LDST16_ABS_LO12_NC, 4, ABSOLUTE, IMM12, 1, NO_CHECK, 0, 0xfff},
    {R_AARCH64_LDST32_ABS_LO12_NC, 4, ABSOLUTE, IMM12, 2, NO_CHECK, 0, 0xfff},
    {R_AARCH64_LDST64_ABS_LO12_NC, 4, ABSOLUTE, IMM12, 3, NO_CHECK, 0, 0xfff},
    {R_AARCH64_LDST128_ABS_LO12_NC, 4, ABSOLUTE, IMM12, 4, NO_CHECK, 0, 0xfff},
    {R_AARCH64_TSTBR14, 4, RELATIVE, IMM14, 2, SIGNED, 15, 0},
    {R_AARCH64_CONDBR19, 4, RELATIVE, IMM19, 2, SIGNED, 20, 0},
    {R_AARCH64_JUMP26, 4, RELATIVE, IMM26, 2, SIGNED, 27, 0},
    {R_AARCH64_CALL26, 4, RELATIVE, IMM26, 2, SIGNED, 27, 0},
    {R_AARCH64_GOT_LD_PREL19, 4, GOT_RELATIVE, IMM19, 2, SIGNED, 20, 0},
    {R_AARCH64_ADR_GOT_PAGE, 4, GOT_PAGE, ADR21, 12, SIGNED, 32, 0},
    {R_AARCH64_LD64_GOT_LO12_NC, 4, GOT_ABSOLUTE, IMM12, 3, NO_CHECK, 0, 0xfff},
    {R_AARCH64_LD64_GOTPAGE_LO15, 4, GOT_IN_PAGE, IMM12, 3, UNSIGNED, 15, 0},
};

static const struct rule *rule_of(uint32_t type)
{
    for (size_t i = 0; i < ARRAY_COUNT(rules); i++)
        if (rules[i].type == type)
            return &rules[i];
    return NULL;
}

uint32_t cpu_patch_bytes(uint32_t type)
{
    const struct rule *rule = rule_of(type);
    return rule ? rule->bytes : 0;
}

bool cpu_patch_needs_got(uint32_t type)
{
    const struct rule *rule = rule_of(type);
    return rule &&
           (rule->value == GOT_ABSOLUTE || rule->value == GOT_RELATIVE || rule->value == GOT_PAGE || rule->value == GOT_IN_PAGE);
}

static uint64_t page(uint64_t addr) /* adrp counts in 4 KiB, whatever the page size of the system */
{
    return addr & ~UINT64_C(0xfff);
}

static uint64_t compute(const struct rule *rule, const struct cpu_patch *p)
{
    /* A branch to an undefined weak symbol continues after the branch (AAELF64, "Weak references"). */
    const bool skip = p->undefined_weak && (rule->field == IMM26 || rule->field == IMM19 || rule->field == IMM14);
    switch ((enum value)rule->value) {
    case RELATIVE: return skip ? 4 : p->value - p->place;
    case PAGE_RELATIVE: return page(p->value) - page(p->place);
    case GOT_ABSOLUTE: return p->got_slot;
    case GOT_RELATIVE: return p->got_slot - p->place;
    case GOT_PAGE: return page(p->got_slot) - page(p->place);
    case GOT_IN_PAGE: return p->got_slot - page(p->got_base);
    case ABSOLUTE: break;
    }
    return p->value;
}

static bool in_range(const struct rule *rule, uint64_t x)
{
    const int64_t s = (int64_t)x, limit = rule->bits ? (int64_t)(UINT64_C(1) << rule->bits) : 0;
    switch ((enum check)rule->check) {
    case SIGNED: return s >= -limit && s < limit;
    case UNSIGNED: return s >= 0 && s < limit;
    case EITHER: return s >= -(limit / 2) && s < limit;
    case NO_CHECK: break;
    }
    return true;
}

static uint32_t insert(uint32_t word, uint64_t value, unsigned at, unsigned bits)
{
    const uint32_t mask = ((UINT32_C(1) << bits) - 1) << at;
    return (word & ~mask) | ((uint32_t)(value << at) & mask);
}

static uint32_t patch_word(const struct rule *rule, uint32_t word, uint64_t x)
{
    const uint64_t shifted = (uint64_t)((int64_t)x >> rule->shift);
    switch ((enum field)rule->field) {
    case IMM26: return insert(word, shifted, 0, 26);
    case IMM19: return insert(word, shifted, 5, 19);
    case IMM14: return insert(word, shifted, 5, 14);
    case ADR21: return insert(insert(word, shifted, 29, 2), shifted >> 2, 5, 19);
    case IMM12: return insert(word, shifted, 10, 12);
    case MOVW: return insert(word, shifted, 5, 16);
    case MOVW_SIGN: /* bit 30 distinguishes movz from movn */
        return (int64_t)x < 0 ? insert(insert(word, ~shifted, 5, 16), 0, 30, 1) : insert(insert(word, shifted, 5, 16), 1, 30, 1);
    case DATA: break;
    }
    return word;
}

bool cpu_patch_apply(const struct cpu_patch *patch, uint8_t *host, const char **why)
{
    const struct rule *rule = rule_of(patch->type);
    uint64_t x = compute(rule, patch);
    if (!in_range(rule, x)) {
        *why = "is out of range: the sections lie too far apart for this instruction";
        return false;
    }
    if (rule->mask)
        x &= rule->mask;
    if (rule->field == DATA) {
        memcpy(host, &x, rule->bytes);
        return true;
    }
    /* Branches and scaled offsets drop low bits; adrp and movk take theirs from elsewhere. */
    const bool scaled = rule->field != ADR21 && rule->field != MOVW && rule->field != MOVW_SIGN;
    if (scaled && x & ((UINT64_C(1) << rule->shift) - 1)) {
        *why = "is not aligned as the instruction needs";
        return false;
    }
    uint32_t word;
    memcpy(&word, host, sizeof word);
    word = patch_word(rule, word, x);
    memcpy(host, &word, sizeof word);
    return true;
}
