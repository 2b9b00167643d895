/* Vector handlers: plain integer loads and stores of device and threadgroup memory. Included once per host instruction set.
 * op->small[0] is the number of bytes of a component, op->small[1] the shift of the offset (device memory only). */
#include "units/gpu/gpu_vector_reach.h"

ALWAYS struct reach device_reach(const struct gpu_op *op, unsigned prot)
{
    const uint32_t item = op->small[0];
    return (struct reach){.base = op->source[1].scalar & ~(uint64_t)(item - 1),
                          .scale = item << op->small[1],
                          .item = item,
                          .device = true,
                          .sign = !op->inst->zero_extend_offset,
                          .prot = prot};
}

/* Offsets in bytes: base half + index half * item. Neither can reach 2^32. */
ALWAYS struct lanes threadgroup_offsets(const struct gpu_simdgroup *group, const struct gpu_op *op)
{
    struct lanes base = read_int(group, &op->source[1], GPU_NONE);
    if (op->source[2].kind == GPU_SCALAR && op->source[2].scalar == 0)
        return base;
    const struct lanes index = read_int(group, &op->source[2], GPU_NONE);
    EACH_PART base.part[p] += index.part[p] * op->small[0];
    return base;
}

/* The number of components when an access has them contiguous from the first on and a record can hold them, otherwise 0. */
ALWAYS unsigned together(const struct gpu_op *op)
{
    const unsigned mask = op->inst->component_mask;
    return mask == 3 ? 2 : mask == 15 ? 4 : 0;
}

/* The position of component i in the words of a record. */
struct place {
    unsigned word, shift;
    uint32_t mask;
};

ALWAYS struct place place_of(unsigned i, uint32_t item)
{
    return (struct place){i * item / 4, i * item % 4 * 8, item == 4 ? UINT32_MAX : (1U << (8 * item % 32)) - 1};
}

ALWAYS void write_component(struct gpu_simdgroup *group, const struct gpu_op *op, unsigned i, const struct lanes *value)
{
    const unsigned half = 2U * op->dst_word + (op->dst_kind == GPU_HIGH) + i;
    if (op->dst_kind == GPU_WORD)
        write_word(group, op->dst_word + i, value);
    else
        write_half(group, half / 2, half & 1, value);
}

ALWAYS struct lanes read_component(const struct gpu_simdgroup *group, const struct gpu_op *op, unsigned i)
{
    struct gpu_operand from = op->source[0];
    const unsigned half = 2U * from.word + (from.kind == GPU_HIGH) + i;
    if (from.kind == GPU_WORD) {
        from.word = (uint8_t)(from.word + i);
    } else {
        from.word = (uint8_t)(half / 2);
        from.kind = half & 1 ? GPU_HIGH : GPU_LOW;
    }
    return read_int(group, &from, GPU_NONE);
}

ALWAYS bool load_together(struct gpu_simdgroup *group, const struct gpu_op *op, const struct reach *r, const struct lanes *offset,
                          unsigned count)
{
    struct reach at = *r;
    vu word[PARTS][4];
    at.item *= count;
    EACH_PART
    {
        if (!load_part(group, &at, offset->part[p], part_bits(group->mask, p), word[p]))
            return false;
    }
    for (unsigned i = 0; i < count; i++) {
        const struct place place = place_of(i, r->item);
        struct lanes value;
        EACH_PART value.part[p] = word[p][place.word] >> place.shift & place.mask;
        write_component(group, op, i, &value);
    }
    return true;
}

ALWAYS const struct gpu_op *load_op(struct gpu_simdgroup *group, const struct gpu_op *op, const struct reach *r,
                                    const struct lanes *offset)
{
    struct lanes value[4];
    unsigned count = together(op);
    if (count)
        return load_together(group, op, r, offset, count) ? op->next : op->plain(group, op);
    for (unsigned c = 0; c < 4; c++) {
        if (!(op->inst->component_mask >> c & 1))
            continue;
        struct reach at = *r;
        at.base += c * r->item;
        bool fine = true;
        EACH_PART fine = fine && load_part(group, &at, offset->part[p], part_bits(group->mask, p), &value[count].part[p]);
        if (!fine)
            return op->plain(group, op);
        count++;
    }
    for (unsigned i = 0; i < count; i++)
        write_component(group, op, i, &value[i]);
    return op->next;
}

/* False also when records overlap partly: which lane wins then depends on the component. */
ALWAYS bool store_together(struct gpu_simdgroup *group, const struct gpu_op *op, const struct reach *r,
                           const struct lanes *offset, unsigned count)
{
    struct reach at = *r;
    struct lanes word[4] = {0};
    uint32_t apart = 0;
    at.item *= count;
    const uint32_t first = group->mask ? (uint32_t)__builtin_ctz(group->mask) : 0;
    const vu same = vec_all(offset->part[first / PART_LANES][first % PART_LANES]);
    EACH_PART apart |= vec_ne((offset->part[p] - same) * r->scale & (at.item - 1), vec_all(0)) & part_bits(group->mask, p);
    if (apart)
        return false;
    for (unsigned i = 0; i < count; i++) {
        const struct place place = place_of(i, r->item);
        const struct lanes value = read_component(group, op, i);
        EACH_PART word[place.word].part[p] |= (value.part[p] & place.mask) << place.shift;
    }
    EACH_PART
    {
        const vu record[4] = {word[0].part[p], word[1].part[p], word[2].part[p], word[3].part[p]};
        if (!store_part(group, &at, offset->part[p], part_bits(group->mask, p), record))
            return false;
    }
    return true;
}

/* When an access is left to a slower way, what was already written is written again. */
ALWAYS const struct gpu_op *store_op(struct gpu_simdgroup *group, const struct gpu_op *op, const struct reach *r,
                                     const struct lanes *offset)
{
    unsigned count = together(op);
    if (count && store_together(group, op, r, offset, count))
        return op->next;
    count = 0;
    for (unsigned c = 0; c < 4; c++) {
        if (!(op->inst->component_mask >> c & 1))
            continue;
        const struct lanes value = read_component(group, op, count);
        struct reach at = *r;
        at.base += c * r->item;
        bool fine = true;
        EACH_PART fine = fine && store_part(group, &at, offset->part[p], part_bits(group->mask, p), &value.part[p]);
        if (!fine)
            return op->plain(group, op);
        count++;
    }
    return op->next;
}

#define THREADGROUP_REACH(access)                                                                                                \
    {                                                                                                                            \
        .base = 0, .scale = 1, .item = op->small[0], .device = false, .sign = false, .prot = (access)                            \
    }

HANDLER(device_load)
{
    const struct reach r = device_reach(op, MEM_READ);
    const struct lanes offset = read_int(group, &op->source[2], GPU_NONE);
    return load_op(group, op, &r, &offset);
}

HANDLER(device_store)
{
    const struct reach r = device_reach(op, MEM_WRITE);
    const struct lanes offset = read_int(group, &op->source[2], GPU_NONE);
    return store_op(group, op, &r, &offset);
}

/* The usual bases in registers lie within a gibibyte, and offsets are below 2^27: distances from the lowest base then have 31
 * bits. */
ALWAYS bool near_reach(const struct gpu_simdgroup *group, const struct gpu_op *op, const struct lanes *offset, struct reach *r,
                       struct lanes *distance)
{
    struct lanes low = load_word(group, op->source[1].word);
    const struct lanes high = load_word(group, op->source[1].word + 1U);
    if (!LIKELY(group->mask))
        return false;
    const uint32_t first = (uint32_t)__builtin_ctz(group->mask);
    const uint32_t top = group->word[op->source[1].word + 1U][first];
    uint32_t far = 0, least = UINT32_MAX, most = 0;
    EACH_PART
    {
        const uint32_t active = part_bits(group->mask, p);
        low.part[p] &= ~(r->item - 1);
        far |= (vec_ne(high.part[p], vec_all(top)) | vec_gt(offset->part[p], vec_all((1U << 27) - 1))) & active;
        if (active) {
            const uint32_t part_least = vec_least(low.part[p], active), part_most = ~vec_least(~low.part[p], active);
            least = part_least < least ? part_least : least;
            most = part_most > most ? part_most : most;
        }
    }
    if (far || most - least >= 1U << 30)
        return false;
    EACH_PART distance->part[p] = low.part[p] - least + offset->part[p] * r->scale;
    r->base = (uint64_t)top << 32 | least;
    r->scale = 1;
    r->sign = false;
    return true;
}

/* 64-bit bases in registers: any addresses that lie within 2 GiB become distances from the lowest. */
ALWAYS bool register_reach(const struct gpu_simdgroup *group, const struct gpu_op *op, struct reach *r, struct lanes *distance)
{
    const struct lanes offset = read_int(group, &op->source[2], GPU_NONE);
    if (LIKELY(near_reach(group, op, &offset, r, distance)))
        return true;
    const uint32_t *low_word = group->word[op->source[1].word], *high_word = group->word[op->source[1].word + 1U];
    uint32_t by[GPU_LANES];
    uint64_t address[GPU_LANES], low = UINT64_MAX, high = 0;
    memcpy(by, &offset, sizeof by);
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        const uint64_t base = (low_word[lane] | (uint64_t)high_word[lane] << 32) & ~(uint64_t)(r->item - 1);
        address[lane] = base + (r->sign ? (uint64_t)(int64_t)(int32_t)by[lane] : by[lane]) * r->scale;
    }
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        const bool on = group->mask >> lane & 1;
        low = on && address[lane] < low ? address[lane] : low;
        high = on && address[lane] > high ? address[lane] : high;
    }
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        by[lane] = (uint32_t)(address[lane] - low);
    memcpy(distance, by, sizeof by);
    r->base = low;
    r->scale = 1;
    r->sign = false;
    return high - low < INT32_MAX;
}

HANDLER(device_load_by_register)
{
    struct reach r = device_reach(op, MEM_READ);
    struct lanes distance;
    return register_reach(group, op, &r, &distance) ? load_op(group, op, &r, &distance) : op->plain(group, op);
}

HANDLER(device_store_by_register)
{
    struct reach r = device_reach(op, MEM_WRITE);
    struct lanes distance;
    return register_reach(group, op, &r, &distance) ? store_op(group, op, &r, &distance) : op->plain(group, op);
}

HANDLER(threadgroup_load)
{
    const struct reach r = THREADGROUP_REACH(MEM_READ);
    const struct lanes offset = threadgroup_offsets(group, op);
    return load_op(group, op, &r, &offset);
}

/* The hot shape: one 32-bit word at a byte address in half registers, where each host vector of lanes reads one word, or
 * contiguous words. Everything else goes the long way. */
ALWAYS const struct gpu_op *load_words(struct gpu_simdgroup *group, const struct gpu_op *op, bool high)
{
    const uint8_t *memory = group->group->memory;
    const uint32_t room = group->group->memory_bytes;
    const struct lanes offset = load_word(group, op->source[1].word);
    struct lanes value;
    if (!LIKELY(group->mask == UINT32_MAX && room >= VECTOR_BYTES))
        return threadgroup_load(group, op);
    EACH_PART
    {
        const vu at = high ? offset.part[p] >> 16 : offset.part[p] & 0xffff;
        const uint32_t first = at[0];
        if (vec_ne(at, vec_all(first)) == 0 && first <= room - 4)
            value.part[p] = vec_all(load_item(memory + first, 4));
        else if (vec_ne(at, vec_all(first) + 4 * vec_count()) == 0 && first <= room - VECTOR_BYTES)
            value.part[p] = load_items(memory + first, 4);
        else
            return threadgroup_load(group, op);
    }
    write_word(group, op->dst_word, &value);
    return op->next;
}

HANDLER(load_words_low)
{
    return load_words(group, op, false);
}
HANDLER(load_words_high)
{
    return load_words(group, op, true);
}

HANDLER(threadgroup_store)
{
    const struct reach r = THREADGROUP_REACH(MEM_WRITE);
    const struct lanes offset = threadgroup_offsets(group, op);
    return store_op(group, op, &r, &offset);
}

/* True when one pass over the banks of threadgroup memory certainly serves all lanes: words of one row, or contiguous ones. */
static bool one_turn(const struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const struct lanes offset = threadgroup_offsets(group, op);
    const uint32_t first = offset.part[0][0];
    uint32_t other_row = 0, apart = 0;
    EACH_PART
    {
        const uint32_t active = part_bits(group->mask, p);
        other_row |= vec_ne((offset.part[p] ^ first) & ~127U, vec_all(0)) & active;
        apart |= vec_ne(offset.part[p], first + 4 * (vec_count() + p * PART_LANES)) & active;
    }
    return other_row == 0 || apart == 0;
}

/* True when the lanes certainly stay inside the threadgroup's memory. */
static bool inside(const struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const uint32_t components = op->inst->component_mask & 15U, room = group->group->memory_bytes;
    const uint32_t bytes = (32 - (unsigned)__builtin_clz(components | 1)) * op->small[0];
    const struct lanes offset = threadgroup_offsets(group, op);
    uint32_t beyond = 0;
    if (bytes > room)
        return false;
    EACH_PART beyond |= vec_gt(offset.part[p], vec_all(room - bytes)) & part_bits(group->mask, p);
    return beyond == 0;
}

static gpu_handler *pick_memory(struct gpu_op *op)
{
    const struct agx_inst *inst = op->inst;
    static const uint8_t bytes[] = {[AGX_FORMAT_I8] = 1, [AGX_FORMAT_I16] = 2, [AGX_FORMAT_I32] = 4, [AGX_FORMAT_F16] = 2};
    if (inst->format > AGX_FORMAT_F16)
        return NULL;
    op->small[0] = bytes[inst->format];
    op->small[1] = inst->shift > 2 ? 2 : inst->shift;
    const bool store = inst->op == AGX_OP_DEVICE_STORE || inst->op == AGX_OP_THREADGROUP_STORE;
    if (inst->op == AGX_OP_DEVICE_LOAD || inst->op == AGX_OP_DEVICE_STORE) {
        /* An immediate offset is signed, whatever the flag says. */
        if (op->source[2].kind == GPU_SCALAR && (int64_t)op->source[2].scalar < 0)
            return NULL;
        if (op->source[1].kind == GPU_PAIR)
            return store ? device_store_by_register : device_load_by_register;
        if (op->source[1].kind != GPU_SCALAR)
            return NULL;
        return store ? device_store : device_load;
    }
    if (op->source[2].kind == GPU_SCALAR && (int64_t)op->source[2].scalar < 0)
        return NULL;
    if (store)
        return threadgroup_store;
    const bool words = inst->format == AGX_FORMAT_I32 && inst->component_mask == 1 && op->dst_kind == GPU_WORD &&
                       op->source[2].kind == GPU_SCALAR && op->source[2].scalar == 0;
    if (words && op->source[1].kind == GPU_LOW)
        return load_words_low;
    return words && op->source[1].kind == GPU_HIGH ? load_words_high : threadgroup_load;
}
