/* Elements in device memory. */
#include "units/gpu/kernels/gpu_emit.h"

static const struct element {
    const char *format;
    bool word;
} elements[GPU_TYPE_COUNT] = {
    [GPU_F32] = {"i32", true},  [GPU_F16] = {"i16", false}, [GPU_BF16] = {"i16", false}, [GPU_I32] = {"i32", true},
    [GPU_U32] = {"i32", true},  [GPU_U8] = {"i8", false},   [GPU_Q4_0] = {"i8", false},  [GPU_Q8_0] = {"i8", false},
    [GPU_Q4_K] = {"i8", false}, [GPU_Q6_K] = {"i8", false},
};
static const char *const components[] = {"", "x", "xy", "xyz", "xyzw"};

void gpu_wait(struct gpu_emit *e, unsigned slot)
{
    gpu_emit(e, "wait %u", slot);
}

/* Writes an address such as "u4_u5, r7, unsigned". */
static void address_text(char *text, size_t size, struct gpu_base base, const char *index)
{
    const char file = base.in_registers ? 'r' : 'u';
    snprintf(text, size, "%c%u_%c%u, %s, unsigned", file, base.number, file, base.number + 1, index);
}

static const char *data_text(struct gpu_emit *e, enum gpu_type type, unsigned count, unsigned half)
{
    return elements[type].word ? gpu_run(e, half / 2, count) : gpu_half_run(e, half, count);
}

void gpu_load_raw(struct gpu_emit *e, unsigned slot, enum gpu_type type, unsigned count, unsigned to_half, struct gpu_base base,
                  const char *index)
{
    char address[64];
    address_text(address, sizeof address, base, index);
    gpu_emit(e, "device_load %u, %s, %s, %s, %s", slot, elements[type].format, components[count],
             data_text(e, type, count, to_half), address);
}

void gpu_store_raw(struct gpu_emit *e, unsigned slot, enum gpu_type type, unsigned count, unsigned from_half,
                   struct gpu_base base, const char *index)
{
    char address[64];
    address_text(address, sizeof address, base, index);
    gpu_emit(e, "device_store %u, %s, %s, %s, %s, 0", slot, elements[type].format, components[count],
             data_text(e, type, count, from_half), address);
}

void gpu_group_load_raw(struct gpu_emit *e, enum gpu_type type, unsigned count, unsigned to_half, const char *base,
                        const char *offset)
{
    gpu_emit(e, "threadgroup_load %s, %s, %s, %s, %s", elements[type].format, components[count],
             data_text(e, type, count, to_half), base, offset);
}

void gpu_group_store_raw(struct gpu_emit *e, enum gpu_type type, unsigned count, unsigned from_half, const char *base,
                         const char *offset)
{
    gpu_emit(e, "threadgroup_store %s, %s, %s, %s, %s", elements[type].format, components[count],
             data_text(e, type, count, from_half), base, offset);
}

/* From the last to the first, because raw halves at the start of the words themselves must be read before they are overwritten.
 */
void gpu_widen(struct gpu_emit *e, enum gpu_type type, unsigned count, unsigned to, unsigned raw_half)
{
    if (elements[type].word)
        return;
    for (unsigned i = count; i-- > 0;) {
        if (type == GPU_BF16)
            gpu_emit(e, "bfi r%u, 0, %s, 16", to + i, gpu_h(e, raw_half + i));
        else
            gpu_emit(e, "fadd32 r%u, %s, -0.0", to + i, gpu_h(e, raw_half + i));
    }
}

/* A bfloat16 is the upper half of a float32: add half a unit in its last place minus one, and one more when that place is odd.
 * Arithmetic gives NaNs as 7fc00000, which this leaves a NaN. */
static void narrow_bf16(struct gpu_emit *e, unsigned to_half, unsigned from, unsigned scratch)
{
    gpu_emit(e, "bfeil r%u, 0, r%u, 16, mask 0x1", scratch, from);
    gpu_emit(e, "iadd r%u, r%u, %s", scratch, scratch, gpu_int(e, 0x7fff));
    gpu_emit(e, "iadd r%u, r%u, r%u", scratch, scratch, from);
    gpu_emit(e, "bfeil %s, 0, r%u, 16", gpu_h(e, to_half), scratch);
}

void gpu_narrow(struct gpu_emit *e, enum gpu_type type, unsigned count, unsigned to_half, unsigned from, unsigned scratch)
{
    if (elements[type].word)
        return;
    for (unsigned i = 0; i < count; i++) {
        if (type == GPU_BF16)
            narrow_bf16(e, to_half + i, from + i, scratch);
        else
            gpu_emit(e, "fadd32 %s, r%u, -0.0", gpu_h(e, to_half + i), from + i);
    }
}

void gpu_load_element(struct gpu_emit *e, unsigned slot, enum gpu_type type, unsigned to, struct gpu_base base, const char *index)
{
    gpu_load_raw(e, slot, type, 1, 2 * to, base, index);
    gpu_wait(e, slot);
    gpu_widen(e, type, 1, to, 2 * to);
}

void gpu_store_element(struct gpu_emit *e, unsigned slot, enum gpu_type type, unsigned from, struct gpu_base base,
                       const char *index)
{
    const unsigned scratch = type == GPU_BF16 ? gpu_register(e, 1) : GPU_NO_REGISTER;
    gpu_narrow(e, type, 1, 2 * from, from, scratch);
    gpu_store_raw(e, slot, type, 1, 2 * from, base, index);
    if (scratch != GPU_NO_REGISTER)
        gpu_register_free(e, scratch, 1);
}
