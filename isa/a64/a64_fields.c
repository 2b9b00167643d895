/* Where operand fields lie, and which fields the layouts have. */
#include "isa/a64/a64_fields.h"

#include <string.h>

#define AT(member) (uint8_t) offsetof(struct a64_insn, member)
const struct a64_plain_field a64_plain_fields[F_PLAIN_END] = {
    [F_RD] = {0, 5, AT(rd)},
    [F_RN] = {5, 5, AT(rn)},
    [F_RM] = {16, 5, AT(rm)},
    [F_RM4] = {16, 4, AT(rm)},
    [F_RA] = {10, 5, AT(ra)},
    [F_Q] = {30, 1, AT(q)},
    [F_SF_Y] = {31, 1, AT(q)},
    [F_COND] = {12, 4, AT(cond)},
    [F_COND0] = {0, 4, AT(cond)},
    [F_NZCV] = {0, 4, AT(amount)},
    [F_SHIFT] = {22, 2, AT(shift)},
    [F_OPTION] = {13, 3, AT(shift)},
    [F_AMOUNT3] = {10, 3, AT(amount)},
    [F_SCALED] = {12, 1, AT(amount)},
    [F_CRM] = {8, 4, AT(amount)},
    [F_ORDER] = {22, 2, AT(amount)},
    [F_EXT_INDEX] = {11, 4, AT(amount)},
    [F_ROT1] = {12, 1, AT(shift)},
    [F_ROT2] = {11, 2, AT(shift)},
    [F_ROT_ELEMENT] = {13, 2, AT(shift)},
};

const uint8_t a64_layout_fields[A64_LAYOUT_COUNT][A64_LAYOUT_FIELDS] = {
#define A64_LAYOUT(name, ...) [A64_L_##name] = {__VA_ARGS__},
#include "isa/a64/a64_layouts.inc"
#undef A64_LAYOUT
};

bool a64_layout_has_q(unsigned layout)
{
    return memchr(a64_layout_fields[layout], F_Q, A64_LAYOUT_FIELDS) != NULL;
}

uint64_t a64_fp_imm(unsigned imm8, unsigned size)
{
    const uint64_t sign = imm8 >> 7 & 1, top = imm8 >> 6 & 1, low = imm8 & 0x3f;
    if (size == 1)
        return sign << 15 | (top ^ 1) << 14 | (top ? UINT64_C(3) : 0) << 12 | low << 6;
    if (size == 2)
        return sign << 31 | (top ^ 1) << 30 | (top ? UINT64_C(0x1f) : 0) << 25 | low << 19;
    return sign << 63 | (top ^ 1) << 62 | (top ? UINT64_C(0xff) : 0) << 54 | low << 48;
}
