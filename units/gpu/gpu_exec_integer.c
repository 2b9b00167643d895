/* Integer arithmetic, shifts, bit operations, selects; moves. */
#include "units/gpu/gpu_exec_plain.h"

typedef __int128 wide; /* exact sums and products of 64-bit values */

static wide as_wide(uint64_t value, const struct gpu_operand *from)
{
    return from->sign_extend ? (wide)(int64_t)value : (wide)value;
}

static unsigned dst_bits(const struct gpu_op *op)
{
    return op->dst_kind == GPU_PAIR ? 64 : op->dst_kind == GPU_WORD ? 32 : 16;
}

static wide clamp(wide value, unsigned bits, bool is_signed)
{
    const wide top = is_signed ? ((wide)1 << (bits - 1)) - 1 : ((wide)1 << bits) - 1;
    const wide bottom = is_signed ? -((wide)1 << (bits - 1)) : 0;
    return value > top ? top : value < bottom ? bottom : value;
}

/* left +- (right << shift); shifts of 5 and more give 0 (hardware-tested by dougallj/applegpu). */
static void add_shifted(const struct gpu_op *op, const wide left[GPU_LANES], const wide right[GPU_LANES], bool saturate,
                        bool is_signed, uint64_t out[GPU_LANES])
{
    const unsigned shift = op->inst->shift, bits = dst_bits(op);
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        const wide term = shift >= 5 ? 0 : right[lane] * ((wide)1 << shift);
        const wide sum = op->inst->subtract ? left[lane] - term : left[lane] + term;
        out[lane] = (uint64_t)(saturate ? clamp(sum, bits, is_signed) : sum);
    }
}

static const struct gpu_op *iadd(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const struct gpu_operand *a = &op->source[0], *b = &op->source[1];
    uint64_t x[GPU_LANES], y[GPU_LANES], out[GPU_LANES];
    wide left[GPU_LANES], right[GPU_LANES];
    gpu_read_int(group, a, x);
    gpu_read_int(group, b, y);
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        left[lane] = as_wide(x[lane], a);
        right[lane] = as_wide(y[lane], b);
    }
    const bool saturate = op->inst->saturate && op->inst->shift == 0 && dst_bits(op) <= 32 && a->bits <= 32 && b->bits <= 32;
    add_shifted(op, left, right, saturate, a->sign_extend || b->sign_extend, out);
    gpu_write_int(group, op, out);
    return op->next;
}

static const struct gpu_op *imadd(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const struct gpu_operand *a = &op->source[0], *b = &op->source[1], *c = &op->source[2];
    uint64_t x[GPU_LANES], y[GPU_LANES], z[GPU_LANES], out[GPU_LANES];
    wide left[GPU_LANES], right[GPU_LANES];
    gpu_read_int(group, a, x);
    gpu_read_int(group, b, y);
    gpu_read_int(group, c, z);
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        left[lane] = as_wide(x[lane], a) * as_wide(y[lane], b);
        right[lane] = as_wide(z[lane], c);
    }
    const bool saturate = op->inst->saturate && op->inst->shift == 0 && dst_bits(op) <= 32 && c->bits <= 32;
    add_shifted(op, left, right, saturate, a->sign_extend || b->sign_extend || c->sign_extend, out);
    gpu_write_int(group, op, out);
    return op->next;
}

/* --- shifts and bit fields: unbounded, then truncated; amounts 0..127 --- */

static uint64_t field_mask(const struct gpu_op *op)
{
    const unsigned bits = op->inst->field_bits;
    return bits == 0 || bits >= 32 ? UINT32_MAX : (UINT64_C(1) << bits) - 1;
}

static uint64_t left_shift(uint64_t value, unsigned by)
{
    return by >= 64 ? 0 : value << by;
}

static uint64_t right_shift(uint64_t value, unsigned by)
{
    return by >= 64 ? 0 : value >> by;
}

static uint64_t bfi(uint64_t a, uint64_t b, unsigned c, uint64_t mask)
{
    return (a & ~left_shift(mask, c)) | left_shift(b & mask, c);
}

static uint64_t bfeil(uint64_t a, uint64_t b, unsigned c, uint64_t mask)
{
    return (a & ~mask) | (right_shift(b, c) & mask);
}

static uint64_t extr(uint64_t a, uint64_t b, unsigned c, uint64_t mask)
{
    return right_shift(b << 32 | a, c) & mask;
}

static uint64_t shlhi(uint64_t a, uint64_t b, unsigned c, uint64_t mask)
{
    const uint64_t where = left_shift(mask, c > 32 ? c - 32 : 0);
    const uint64_t high = c >= 32 ? left_shift(b, c - 32) : b >> (32 - c);
    return (high & where) | (a & ~where);
}

static uint64_t shrhi(uint64_t a, uint64_t b, unsigned c, uint64_t mask)
{
    const uint64_t where = (mask << 32) >> (c < 32 ? c : 32);
    return (right_shift(b << 32, c) & where) | (a & ~where);
}

static void bit_field(struct gpu_simdgroup *group, const struct gpu_op *op,
                      uint64_t (*function)(uint64_t a, uint64_t b, unsigned c, uint64_t mask))
{
    uint64_t a[GPU_LANES], b[GPU_LANES], c[GPU_LANES];
    gpu_read_int(group, &op->source[0], a);
    gpu_read_int(group, &op->source[1], b);
    gpu_read_int(group, &op->source[2], c);
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        a[lane] = function(a[lane], b[lane], c[lane] & 0x7f, field_mask(op));
    gpu_write_int(group, op, a);
}

#define BIT_FIELD(name)                                                                                                          \
    static const struct gpu_op *op_##name(struct gpu_simdgroup *group, const struct gpu_op *op)                                  \
    {                                                                                                                            \
        bit_field(group, op, name);                                                                                              \
        return op->next;                                                                                                         \
    }
BIT_FIELD(bfi)
BIT_FIELD(bfeil)
BIT_FIELD(extr)
BIT_FIELD(shlhi)
BIT_FIELD(shrhi)

static const struct gpu_op *asr(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    uint64_t a[GPU_LANES], b[GPU_LANES];
    struct gpu_operand from = op->source[0];
    from.sign_extend = from.kind != GPU_SCALAR; /* scalars: gpu_bind has extended uniforms, and immediates are never negative */
    gpu_read_int(group, &from, a);
    gpu_read_int(group, &op->source[1], b);
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        const wide value = op->inst->op == AGX_OP_ASRH ? (wide)(int64_t)a[lane] * ((wide)1 << 32) : (wide)(int64_t)a[lane];
        a[lane] = (uint64_t)(value >> (b[lane] & 0x7f));
    }
    gpu_write_int(group, op, a);
    return op->next;
}

/* --- bits --- */

/* Tables 0011 and 1100 would be B and not B, but give A (hardware-tested by dougallj/applegpu). */
static uint64_t truth(unsigned table, uint64_t a, uint64_t b)
{
    if (table == 12 || table == 3)
        return a;
    uint64_t out = 0;
    if (table & 1)
        out |= ~a & ~b;
    if (table & 2)
        out |= a & ~b;
    if (table & 4)
        out |= ~a & b;
    if (table & 8)
        out |= a & b;
    return out;
}

static const struct gpu_op *bitop(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    uint64_t a[GPU_LANES], b[GPU_LANES];
    gpu_read_int(group, &op->source[0], a);
    gpu_read_int(group, &op->source[1], b);
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        a[lane] = truth(op->inst->truth, a[lane], b[lane]);
    gpu_write_int(group, op, a);
    return op->next;
}

static uint32_t reverse(uint32_t value)
{
    uint32_t out = 0;
    for (unsigned i = 0; i < 32; i++)
        out |= (value >> i & 1) << (31 - i);
    return out;
}

static uint32_t spread(uint32_t value) /* moves bits 0..15 to even places */
{
    uint32_t out = 0;
    for (unsigned i = 0; i < 16; i++)
        out |= (value >> i & 1) << (2 * i);
    return out;
}

static const struct gpu_op *unary_bits(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    uint64_t a[GPU_LANES];
    gpu_read_int(group, &op->source[0], a);
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        const uint32_t x = (uint32_t)a[lane];
        if (op->inst->op == AGX_OP_BITREV)
            a[lane] = reverse(x);
        else if (op->inst->op == AGX_OP_POPCOUNT)
            a[lane] = (unsigned)__builtin_popcount(x);
        else /* ffs: the highest set bit */
            a[lane] = x ? 31 - (unsigned)__builtin_clz(x) : UINT64_MAX;
    }
    gpu_write_int(group, op, a);
    return op->next;
}

static const struct gpu_op *intl(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    uint64_t a[GPU_LANES], b[GPU_LANES];
    gpu_read_int(group, &op->source[0], a);
    gpu_read_int(group, &op->source[1], b);
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        a[lane] = spread((uint32_t)a[lane]) | spread((uint32_t)b[lane]) << 1;
    gpu_write_int(group, op, a);
    return op->next;
}

static const struct gpu_op *mov_imm(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    uint64_t a[GPU_LANES];
    gpu_read_int(group, &op->source[0], a);
    gpu_write_int(group, op, a);
    return op->next;
}

static const struct gpu_op *compare_select(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const uint32_t holds = gpu_condition(group, op);
    uint64_t x[GPU_LANES], y[GPU_LANES];
    gpu_read_int(group, &op->source[2], x);
    gpu_read_int(group, &op->source[3], y);
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        x[lane] = holds >> lane & 1 ? x[lane] : y[lane];
    gpu_write_int(group, op, x);
    return op->next;
}

gpu_handler *gpu_plain_integer(unsigned op)
{
    switch (op) {
    case AGX_OP_MOV_IMM: return mov_imm;
    case AGX_OP_IADD: return iadd;
    case AGX_OP_IMADD: return imadd;
    case AGX_OP_BFI: return op_bfi;
    case AGX_OP_BFEIL: return op_bfeil;
    case AGX_OP_EXTR: return op_extr;
    case AGX_OP_SHLHI: return op_shlhi;
    case AGX_OP_SHRHI: return op_shrhi;
    case AGX_OP_ASR:
    case AGX_OP_ASRH: return asr;
    case AGX_OP_BITOP: return bitop;
    case AGX_OP_BITREV:
    case AGX_OP_POPCOUNT:
    case AGX_OP_FFS: return unary_bits;
    case AGX_OP_INTL: return intl;
    case AGX_OP_ICMPSEL:
    case AGX_OP_FCMPSEL: return compare_select;
    default: return NULL;
    }
}
