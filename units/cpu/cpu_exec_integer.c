/* Integer instructions that are too rare for a place in the loop. */
#include "units/cpu/cpu_exec.h"

static uint64_t cut(const struct a64_insn *insn, uint64_t value)
{
    return insn->size == 3 ? value : (uint32_t)value;
}

/* Logical operations with a rotated operand; shifted operands are in the loop. */
static void logic_rotated(struct cpu_core *core, const struct a64_insn *insn)
{
    const unsigned width = 8u << insn->size;
    const uint64_t n = cut(insn, cpu_reg(core, insn->rn)), value = cut(insn, cpu_reg(core, insn->rm));
    uint64_t m = cut(insn, value >> insn->amount | value << (width - insn->amount)); /* amount is never 0 here */
    const bool inverts = insn->word >> 21 & 1;
    if (inverts)
        m = ~m;
    const unsigned kind = insn->word >> 29 & 3; /* and, orr, eor, ands */
    const uint64_t r = cut(insn, kind == 1 ? n | m : kind == 2 ? n ^ m : n & m);
    if (kind == 3)
        core->flags = (struct cpu_flags){insn->size == 3 ? (int64_t)r : (int32_t)r, r, 0, 0};
    cpu_set_reg(core, insn->rd, r);
}

static void count_sign_bits(struct cpu_core *core, const struct a64_insn *insn)
{
    const uint64_t n = cpu_reg(core, insn->rn);
    const int64_t wide = insn->size == 3 ? (int64_t)n : (int32_t)n;
    const uint64_t changes = (uint64_t)(wide ^ (wide >> 1)); /* the highest one marks the first bit that differs from the sign */
    const uint64_t zeros = changes ? (uint64_t)__builtin_clzll(changes) : 64;
    cpu_set_reg(core, insn->rd, zeros - 1 - (insn->size == 3 ? 0 : 32));
}

static void reverse_bits(struct cpu_core *core, const struct a64_insn *insn)
{
    uint64_t v = cpu_reg(core, insn->rn);
    v = (v >> 1 & UINT64_C(0x5555555555555555)) | (v & UINT64_C(0x5555555555555555)) << 1;
    v = (v >> 2 & UINT64_C(0x3333333333333333)) | (v & UINT64_C(0x3333333333333333)) << 2;
    v = (v >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (v & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
    v = __builtin_bswap64(v);
    cpu_set_reg(core, insn->rd, insn->size == 3 ? v : v >> 32);
}

static void reverse_parts(struct cpu_core *core, const struct a64_insn *insn)
{
    const uint64_t v = cut(insn, cpu_reg(core, insn->rn)), low = UINT64_C(0x00ff00ff00ff00ff);
    const uint64_t halves = (v >> 8 & low) | (v & low) << 8;
    cpu_set_reg(core, insn->rd,
                insn->form == A64_REV16
                    ? halves
                    : (uint64_t)__builtin_bswap32((uint32_t)(v >> 32)) << 32 | __builtin_bswap32((uint32_t)v));
}

/* CRC-32 of `bytes` bytes, with bit-reversed polynomials: 0xedb88320 (zip) and 0x82f63b78 (Castagnoli). */
static void crc32(struct cpu_core *core, const struct a64_insn *insn)
{
    const uint32_t poly = insn->form >= A64_CRC32CB ? UINT32_C(0x82f63b78) : UINT32_C(0xedb88320);
    uint32_t crc = (uint32_t)cpu_reg(core, insn->rn);
    uint64_t data = cpu_reg(core, insn->rm);
    for (unsigned i = 0; i < 1u << insn->size; i++, data >>= 8) {
        crc ^= (uint8_t)data;
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (poly & (0 - (crc & 1)));
    }
    cpu_set_reg(core, insn->rd, crc);
}

static void flags_changed(struct cpu_core *core, const struct a64_insn *insn)
{
    uint32_t nzcv = cpu_flags_pack(&core->flags);
    const uint32_t z = nzcv >> 30 & 1, c = nzcv >> 29 & 1, v = nzcv >> 28 & 1;
    if (insn->form == A64_CFINV)
        nzcv ^= UINT32_C(1) << 29;
    else if (insn->form == A64_AXFLAG)
        nzcv = (z | v) << 30 | (c & (v ^ 1)) << 29;
    else /* XAFLAG */
        nzcv = ((c | z) ^ 1) << 31 | (z & c) << 30 | (c | z) << 29 | ((c ^ 1) & z) << 28;
    cpu_flags_unpack(&core->flags, nzcv);
}

/* Rotates a register and copies its low bits to the flags that the mask names. */
static void rotate_into_flags(struct cpu_core *core, const struct a64_insn *insn)
{
    const uint64_t n = cpu_reg(core, insn->rn);
    const unsigned by = (unsigned)insn->imm & 63;
    const uint32_t bits = (uint32_t)(by ? n >> by | n << (64 - by) : n) & 15, mask = insn->amount;
    const uint32_t nzcv = cpu_flags_pack(&core->flags) >> 28;
    cpu_flags_unpack(&core->flags, ((nzcv & ~mask) | (bits & mask)) << 28);
}

static void set_flags_of_part(struct cpu_core *core, const struct a64_insn *insn)
{
    const unsigned top = insn->form == A64_SETF8 ? 7 : 15;
    const uint32_t value = (uint32_t)cpu_reg(core, insn->rn);
    core->flags.n = value >> top & 1 ? -1 : 0;
    core->flags.z = value & ((2u << top) - 1);
    core->flags.v = (value >> top ^ value >> (top + 1)) & 1;
}

cpu_handler *cpu_integer_handler_of(const struct a64_insn *insn)
{
    switch (insn->form) {
    case A64_AND_REG:
    case A64_BIC_REG:
    case A64_ORR_REG:
    case A64_ORN_REG:
    case A64_EOR_REG:
    case A64_EON_REG:
    case A64_ANDS_REG:
    case A64_BICS_REG: return logic_rotated;
    case A64_CLS: return count_sign_bits;
    case A64_RBIT: return reverse_bits;
    case A64_REV16:
    case A64_REV32: return reverse_parts;
    case A64_CRC32B:
    case A64_CRC32H:
    case A64_CRC32W:
    case A64_CRC32X:
    case A64_CRC32CB:
    case A64_CRC32CH:
    case A64_CRC32CW:
    case A64_CRC32CX: return crc32;
    case A64_CFINV:
    case A64_AXFLAG:
    case A64_XAFLAG: return flags_changed;
    case A64_RMIF: return rotate_into_flags;
    case A64_SETF8:
    case A64_SETF16: return set_flags_of_part;
    default: return NULL;
    }
}
