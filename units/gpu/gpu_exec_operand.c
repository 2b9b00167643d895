/* Reading sources and writing destinations, all 32 lanes at a time. */
#include "units/gpu/gpu_exec.h"
#include "units/gpu/gpu_exec_numeric.h"
#include "units/gpu/gpu_lanes.h"

void gpu_read_int(const struct gpu_simdgroup *group, const struct gpu_operand *from, uint64_t out[GPU_LANES])
{
    gpu_lanes_int(group, from, from->sign_extend, out);
}

void gpu_read_raw(const struct gpu_simdgroup *group, const struct gpu_operand *from, unsigned i, uint32_t out[GPU_LANES])
{
    if (from->kind == GPU_WORD || from->kind == GPU_PAIR) {
        memcpy(out, group->word[from->word + i], GPU_WORD_BYTES);
        return;
    }
    const unsigned half = 2U * from->word + (from->kind == GPU_HIGH) + i;
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        out[lane] = from->kind == GPU_SCALAR ? (uint32_t)from->scalar : gpu_half_of(group->word[half / 2], half & 1, lane);
}

void gpu_read_float(const struct gpu_simdgroup *group, const struct gpu_operand *from, uint32_t out[GPU_LANES])
{
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        uint32_t bits = 0;
        if (from->kind == GPU_WORD || from->kind == GPU_PAIR)
            bits = gpu_flush32(group->word[from->word][lane]);
        else if (from->kind == GPU_SCALAR)
            bits = from->scalar_float;
        else
            bits = gpu_float_from_half(gpu_half_of(group->word[from->word], from->kind == GPU_HIGH, lane));
        if (from->absolute)
            bits &= ~GPU_SIGN32;
        if (from->negate)
            bits ^= GPU_SIGN32;
        out[lane] = bits;
    }
}

void gpu_read_half(const struct gpu_simdgroup *group, const struct gpu_operand *from, uint16_t out[GPU_LANES])
{
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        uint16_t bits;
        if (from->kind == GPU_SCALAR) /* halves and minifloats pass through float32 unchanged */
            bits = from->float_half ? (uint16_t)from->scalar : gpu_half_from_float(from->scalar_float);
        else
            bits = gpu_half_of(group->word[from->word], from->kind == GPU_HIGH, lane);
        if (from->absolute)
            bits &= 0x7fff;
        if (from->negate)
            bits ^= 0x8000;
        out[lane] = bits;
    }
}

static uint32_t set_half(uint32_t word, bool high, uint32_t value)
{
    return high ? (word & 0xffff) | value << 16 : (word & 0xffff0000) | (value & 0xffff);
}

void gpu_write_int(struct gpu_simdgroup *group, const struct gpu_op *op, const uint64_t value[GPU_LANES])
{
    uint32_t *word = group->word[op->dst_word];
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        if (!(group->mask >> lane & 1))
            continue;
        if (op->dst_kind == GPU_LOW || op->dst_kind == GPU_HIGH)
            word[lane] = set_half(word[lane], op->dst_kind == GPU_HIGH, (uint32_t)value[lane]);
        else
            word[lane] = (uint32_t)value[lane];
        if (op->dst_kind == GPU_PAIR)
            group->word[op->dst_word + 1][lane] = (uint32_t)(value[lane] >> 32);
    }
}

void gpu_write_float(struct gpu_simdgroup *group, const struct gpu_op *op, const uint32_t value[GPU_LANES])
{
    uint64_t out[GPU_LANES];
    const bool half = op->dst_kind == GPU_LOW || op->dst_kind == GPU_HIGH;
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        const uint32_t bits = op->inst->saturate ? gpu_saturate32(value[lane]) : value[lane];
        out[lane] = half ? gpu_half_from_float(bits) : bits;
    }
    gpu_write_int(group, op, out);
}

void gpu_write_tuple(struct gpu_simdgroup *group, uint32_t first_half, bool wide, unsigned i, const uint32_t value[GPU_LANES],
                     uint32_t mask)
{
    const uint32_t half = first_half + (wide ? 2 * i : i);
    uint32_t *word = group->word[half / 2];
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        if (mask >> lane & 1)
            word[lane] = wide ? value[lane] : set_half(word[lane], half & 1, value[lane]);
}
