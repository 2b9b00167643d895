/* 32 lanes as a few host vectors: reading sources, writing destinations. The including file says how wide a host vector is and
 * provides the primitives that GNU vectors lack:
 *
 *   VECTOR_BYTES, HOST_FLUSHES (1: denormals are off while handlers run, see enter)
 *   vec_select(bits, yes, no), vec_bits(all-ones lanes), vec_eq ... (bits), vec_fma, vec_from_half, vec_to_half, vec_gather,
 *   vec_floor ..., and on doubles (half a vector of lanes) vec_wide_low, vec_wide_high, vec_narrow, vec_wide_fma,
 *   vec_inverse_root
 */
#include "units/gpu/gpu_exec.h"
#include "units/gpu/gpu_exec_function.h"
#include "units/gpu/gpu_exec_numeric.h"

#define PARTS             (GPU_WORD_BYTES / VECTOR_BYTES)
#define PART_LANES        (VECTOR_BYTES / 4)
#define PART_MASK         (PART_LANES == 32 ? UINT32_MAX : (1U << (PART_LANES % 32)) - 1)
#define ALWAYS            static inline __attribute__((always_inline))
#define EACH_PART         _Pragma("GCC unroll 8") for (unsigned p = 0; p < PARTS; p++)
#define LIKELY(condition) __builtin_expect((condition), 1)

struct lanes {
    vu part[PARTS];
};

ALWAYS vu vec_all(uint32_t value)
{
    return value - (vu){0};
}

/* 0, 1, 2 ... */
ALWAYS vu vec_count(void)
{
    vu out;
    for (unsigned i = 0; i < PART_LANES; i++)
        out[i] = i;
    return out;
}

ALWAYS uint32_t part_bits(uint32_t mask, unsigned p)
{
    return mask >> (p * PART_LANES % 32) & PART_MASK;
}

ALWAYS struct lanes load_word(const struct gpu_simdgroup *group, unsigned word)
{
    const vu *from = (const vu *)(const void *)group->word[word];
    struct lanes out;
    EACH_PART out.part[p] = from[p];
    return out;
}

ALWAYS struct lanes all_lanes(uint32_t value)
{
    struct lanes out;
    EACH_PART out.part[p] = vec_all(value);
    return out;
}

/* Kinds that a specialised handler knows in advance; GPU_NONE = inspect the operand. */
ALWAYS struct lanes read_int(const struct gpu_simdgroup *group, const struct gpu_operand *from, unsigned known)
{
    const unsigned kind = known ? known : from->kind;
    if (kind == GPU_SCALAR)
        return all_lanes((uint32_t)from->scalar);
    struct lanes out = load_word(group, from->word);
    if (kind == GPU_WORD || kind == GPU_PAIR)
        return out;
    if (kind == GPU_LOW)
        EACH_PART out.part[p] = out.part[p] << 16;
    if (from->sign_extend)
        EACH_PART out.part[p] = (vu)((vi)out.part[p] >> 16);
    else
        EACH_PART out.part[p] = out.part[p] >> 16;
    return out;
}

ALWAYS vu flush_part(vu bits)
{
    return vec_choose((vu)((bits & GPU_INF32) == 0), bits & GPU_SIGN32, bits);
}

/* Float32 bits, with halves converted. Denormals are left to the host where it flushes. */
ALWAYS struct lanes read_float(const struct gpu_simdgroup *group, const struct gpu_operand *from, unsigned known)
{
    const unsigned kind = known ? known : from->kind;
    struct lanes out;
    if (kind == GPU_SCALAR) {
        out = all_lanes(from->scalar_float);
    } else {
        out = load_word(group, from->word);
        if (kind == GPU_LOW)
            EACH_PART out.part[p] = (vu)vec_from_half(out.part[p] & 0xffff);
        else if (kind == GPU_HIGH)
            EACH_PART out.part[p] = (vu)vec_from_half(out.part[p] >> 16);
        else if (!HOST_FLUSHES)
            EACH_PART out.part[p] = flush_part(out.part[p]);
    }
    if (known)
        return out;
    const uint32_t keep = from->absolute ? ~GPU_SIGN32 : UINT32_MAX, turn = from->negate ? GPU_SIGN32 : 0;
    EACH_PART out.part[p] = (out.part[p] & keep) ^ turn;
    return out;
}

/* Writes the active lanes of a register. */
ALWAYS void write_word(struct gpu_simdgroup *group, unsigned word, const struct lanes *value)
{
    vu *to = (vu *)(void *)group->word[word];
    if (LIKELY(group->mask == UINT32_MAX)) {
        EACH_PART to[p] = value->part[p];
    } else {
        EACH_PART to[p] = vec_select(part_bits(group->mask, p), value->part[p], to[p]);
    }
}

ALWAYS void write_half(struct gpu_simdgroup *group, unsigned word, bool high, const struct lanes *value)
{
    struct lanes out = load_word(group, word);
    if (high)
        EACH_PART out.part[p] = (out.part[p] & 0xffff) | value->part[p] << 16;
    else
        EACH_PART out.part[p] = (out.part[p] & 0xffff0000) | (value->part[p] & 0xffff);
    write_word(group, word, &out);
}

ALWAYS void write_int(struct gpu_simdgroup *group, const struct gpu_op *op, const struct lanes *value)
{
    if (LIKELY(op->dst_kind == GPU_WORD))
        write_word(group, op->dst_word, value);
    else
        write_half(group, op->dst_word, op->dst_kind == GPU_HIGH, value);
}

ALWAYS void write_float(struct gpu_simdgroup *group, const struct gpu_op *op, const struct lanes *value)
{
    struct lanes out = *value;
    if (op->inst->saturate) {
        /* NaN compares false with 0 and becomes 0, like negative values. */
        EACH_PART out.part[p] &= (vu)((vf)out.part[p] > 0.0f);
        EACH_PART out.part[p] = vec_choose((vu)((vf)out.part[p] > 1.0f), vec_all(GPU_ONE32), out.part[p]);
    }
    if (op->dst_kind != GPU_WORD)
        EACH_PART out.part[p] = vec_to_half((vf)out.part[p]);
    write_int(group, op, &out);
}
